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
