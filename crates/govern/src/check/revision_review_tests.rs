//! Other ways in which reviews go wrong.

use super::AREA;
use crate::check::trial::has_found;
use std::format;

const PACKET: &str = "RevisionReviewPacket";
const DECISION: &str = "RevisionReviewDecisionReceipt";
const FOLD: &str = "revision_review_packet_contains_current_action /state";
const ALONE: &str = "review_decision_without_receipt /state";

#[test]
fn states_are_the_fold_of_receipts() {
    let packet = |state: &str, refs: &str| {
        format!(
            r#"{{"packet_id":"p","candidate_artifact_version_ref":"artifact_version:v2","state":"{state}",
            "decision_receipt_refs":[{refs}]}}"#
        )
    };
    let decision = |action: &str| format!(r#"{{"receipt_id":"d","packet_id":"p","action":"{action}"}}"#);
    let listed = r#""revision_review_decision_receipt:d""#;
    let cases = [
        ("accept", "accepted", listed, None),
        ("no_user_review_required", "accepted", listed, None),
        ("fork", "forked", listed, None),
        ("restore_known_good_state", "restored_known_good", listed, None),
        ("request_changes", "changes_requested", listed, None),
        ("accept", "superseded", listed, None),
        ("accept", "review_pending", "", None),
        ("accept", "review_pending", listed, Some(FOLD)),
        ("accept", "accepted", "", Some(FOLD)),
        ("reject", "accepted", listed, Some(ALONE)),
    ];
    for (action, state, refs, expected) in cases {
        let rows = [(DECISION, decision(action)), (PACKET, packet(state, refs))];
        let expected = expected.map(|one| format!("2 {one}"));
        let rows = rows.each_ref().map(|(kind, record)| (*kind, record.as_str()));
        has_found(&AREA, &rows, &expected.as_deref().into_iter().collect::<std::vec::Vec<_>>());
    }
    // Where the packet stood before, its receipt comes before what it became.
    let (before, after, receipt) =
        (packet("review_pending", ""), packet("accepted", listed), decision("accept"));
    has_found(&AREA, &[(PACKET, &before), (DECISION, &receipt), (PACKET, &after)], &[]);
    has_found(&AREA, &[(PACKET, &before), (PACKET, &after), (DECISION, &receipt)], &[&format!("2 {ALONE}")]);
}

#[test]
fn meaning_passes_a_person_or_a_policy() {
    let version = r#"{"artifact_version_id":"v2","artifact_stable_id":"a","produced_by_step_id":"s"}"#;
    let plan = r#"{"plan_id":"n","safety_class":"meaning_bearing","steps":[{"step_id":"s"}]}"#;
    let packet = r#"{"packet_id":"p","candidate_artifact_version_ref":"artifact_version:v2","state":"review_pending"}"#;
    let accept = r#"{"receipt_id":"d","packet_id":"p","action":"accept"}"#;
    let policy = r#"{"policy_evaluation_id":"y","decision":"allow"}"#;
    let head = (
        "ArtifactVersionTransitionEvent",
        r#"{"event_id":"e","artifact_version_ref":"artifact_version:v2","to_state":"accepted_head"}"#,
    );
    let wrong = |seq| {
        format!("{seq} meaning_bearing_revision_without_review_packet_or_policy_waiver /artifact_version_ref")
    };
    let rows = [
        ("ArtifactVersion", version),
        ("RevisionPlan", plan),
        (PACKET, packet),
        ("PolicyEvaluation", policy),
    ];
    let [version, plan, packet, policy] = rows;
    // Nobody says that the step was mechanical.
    has_found(&AREA, &[version, head], &[&wrong(2)]);
    let mechanical = r#"{"plan_id":"n","safety_class":"mechanical","steps":[{"step_id":"s"}]}"#;
    has_found(&AREA, &[version, ("RevisionPlan", mechanical), head], &[]);
    // What calls itself mechanical is not, where its plan bears meaning.
    let own = version.1.replacen('{', r#"{"safety_class":"mechanical","#, 1);
    let meaning = mechanical.replace(r#""safety_class":"mechanical""#, r#""safety_class":"meaning_bearing""#);
    let told = "3 meaning_bearing_revision_without_review_packet_or_policy_waiver /artifact_version_ref";
    has_found(&AREA, &[(version.0, own.as_str()), ("RevisionPlan", meaning.as_str()), head], &[told]);
    has_found(&AREA, &[(version.0, own.as_str()), ("RevisionPlan", mechanical), head], &[]);
    has_found(&AREA, &[version, plan, packet, head], &[&wrong(4)]);
    has_found(&AREA, &[version, plan, packet, (DECISION, accept), head], &[]);
    // Too late; and once it has been the head, it may be so again.
    has_found(&AREA, &[version, plan, packet, head, (DECISION, accept), head], &[&wrong(4)]);
    let waiver = |why: &str| {
        format!(
            r#"{{"receipt_id":"d","packet_id":"p","action":"no_user_review_required","rationale":"{why}"}}"#
        )
    };
    let (bare, cited) = (waiver("nobody needs to look"), waiver("waived by policy_evaluation:y."));
    has_found(&AREA, &[version, plan, packet, policy, (DECISION, &bare), head], &[&wrong(6)]);
    has_found(&AREA, &[version, plan, packet, policy, (DECISION, &cited), head], &[]);
}

const MEANING: &str = "meaning_bearing_revision_without_review_packet_or_policy_waiver /artifact_version_ref";

/// Steps are called alike in many plans: which one made a version follows from the run, the artifact and what ran.
#[test]
fn a_step_is_that_of_its_own_plan() {
    let plan = |id: &str, run: &str, class: &str, target: &str| {
        let text = format!(
            r#"{{"plan_id":"{id}","run_id":"{run}","safety_class":"{class}",
            "steps":[{{"step_id":"s","step_kind":"edit_artifact","target_refs":[{target}]}}]}}"#
        );
        ("RevisionPlan", text)
    };
    let ran = |plan: &str| {
        let text = format!(r#"{{"plan_id":"{plan}","step_id":"s","operation_kind":"step_started"}}"#);
        ("RevisionOperationReceipt", text)
    };
    let version = || {
        let text =
            r#"{"artifact_version_id":"v","artifact_stable_id":"a","run_id":"r","produced_by_step_id":"s"}"#;
        ("ArtifactVersion", text.into())
    };
    let head = || {
        let text =
            r#"{"event_id":"e","artifact_version_ref":"artifact_version:v","to_state":"accepted_head"}"#;
        ("ArtifactVersionTransitionEvent", text.into())
    };
    let check = |rows: &[(&str, std::string::String)], is_wrong: bool| {
        let at = rows.iter().position(|(kind, _)| *kind == "ArtifactVersionTransitionEvent").unwrap() + 1;
        let expected = format!("{at} {MEANING}");
        let expected = if is_wrong { std::vec![expected.as_str()] } else { std::vec![] };
        let rows: std::vec::Vec<(&str, &str)> =
            rows.iter().map(|(kind, text)| (*kind, text.as_str())).collect();
        has_found(&AREA, &rows, &expected);
    };
    let (bears, mere) = ("meaning_bearing", "mechanical");
    // A plan from behind the version did not make it, whatever it says.
    check(&[plan("p", "r", bears, ""), version(), head(), plan("q", "r", mere, "")], true);
    check(&[plan("p", "r", mere, ""), version(), head(), plan("q", "r", bears, "")], false);
    // Nor did one of another run or for another artifact.
    for [own, other] in [[bears, mere], [mere, bears]] {
        check(&[plan("p", "r", own, ""), plan("q", "r2", other, ""), version(), head()], own == bears);
        let (at_own, at_other) = (r#""artifact:a""#, r#""artifact:b""#);
        check(
            &[plan("p", "r", own, at_own), plan("q", "r", other, at_other), version(), head()],
            own == bears,
        );
        // Of two plans the one that ran.
        let [one, two] = [plan("p", "r", own, ""), plan("q", "r", other, "")];
        check(&[one, two, ran("p"), version(), head(), ran("q")], own == bears);
    }
    // Where nobody says which ran, the stricter one counts.
    check(&[plan("p", "r", bears, ""), plan("q", "r", mere, ""), version(), head()], true);
}

#[test]
fn the_last_decision_before_the_head_counts() {
    let packet = (
        PACKET,
        r#"{"packet_id":"p","candidate_artifact_version_ref":"artifact_version:v","state":"review_pending"}"#,
    );
    let version = ("ArtifactVersion", r#"{"artifact_version_id":"v","produced_by_step_id":"s"}"#);
    let head = (
        "ArtifactVersionTransitionEvent",
        r#"{"event_id":"e","artifact_version_ref":"artifact_version:v","to_state":"accepted_head"}"#,
    );
    let decision =
        |action: &str| format!(r#"{{"receipt_id":"d-{action}","packet_id":"p","action":"{action}"}}"#);
    let (accept, reject) = (decision("accept"), decision("reject"));
    let (waiver, changes) = (decision("no_user_review_required"), decision("request_changes"));
    for (decisions, is_wrong) in [
        ([&accept, &reject], true),
        ([&accept, &changes], true),
        ([&reject, &accept], false),
        // A waiver that no policy stands behind decides nothing.
        ([&accept, &waiver], false),
        ([&reject, &waiver], true),
    ] {
        let [one, two] = decisions.map(|one| (DECISION, one.as_str()));
        let wrong = format!("5 {MEANING}");
        let expected = if is_wrong { std::vec![wrong.as_str()] } else { std::vec![] };
        has_found(&AREA, &[version, packet, one, two, head], &expected);
    }
}

#[test]
fn a_decision_inside_a_packet_is_found_in_its_body() {
    let code = "1 revision_review_packet_contains_current_action";
    for (member, path) in [
        (r#""body":{"current_action":"accept"}"#, Some("/body/current_action")),
        (r#""body":{"action":"accept"}"#, Some("/body/action")),
        (r#""parts":[{"of":{"reviewer_decision":"accept"}}]"#, Some("/parts/0/of/reviewer_decision")),
        (r#""hunks":[{"action":"insert"}]"#, None),
        (r#""body":{"current_action":null}"#, None),
    ] {
        let expected = path.map(|path| format!("{code} {path}"));
        let expected: std::vec::Vec<&str> = expected.as_deref().into_iter().collect();
        has_found(&AREA, &[(PACKET, &format!(r#"{{"packet_id":"p",{member}}}"#))], &expected);
    }
}
