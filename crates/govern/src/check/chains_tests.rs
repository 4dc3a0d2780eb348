//! Ways to fire besides the plain ones of the fixtures, and what comes close.

use super::*;
use crate::check::trial::{codes, has_codes, until, world};
use std::format;
use std::vec::Vec;

use std::string::String;

const ENVELOPE: &str = "EvaluationResultEnvelope";
const CHAIN: &str = "EvaluationChainRegistryRecord";
const RECEIPT: &str = "EvaluationChainResolutionReceipt";
const FINDING: &str = "EvaluationFindingEvent";

fn chain(status: &str, received: &str) -> String {
    format!(
        r#"{{"chain_id":"c","chain_kind":"pattern_c_evaluator_then_judge","run_id":"run","status":"{status}",
        "evaluation_snapshot_ref":"evaluation_snapshot:s","received_result_ids":[{received}],
        "timeout_at":"2026-03-02T08:30:00Z","participant_roles":[
        {{"producer_kind":"outcome_evaluator","role":"upstream_evaluator","required":true}},
        {{"producer_kind":"judge","role":"downstream_judge","required":true}},
        {{"producer_kind":"sub_agent","role":"observer","required":false}}]}}"#
    )
}

fn result(id: &str, producer: &str, verdict: &str, snapshot: &str) -> String {
    format!(
        r#"{{"result_id":"{id}","producer_kind":"{producer}","run_id":"run","outcome_id":"o",
        "target_evaluation_chain_id":"c","evaluation_snapshot_ref":"evaluation_snapshot:{snapshot}",
        "evaluation_basis":{{"snapshot_ref":"evaluation_snapshot:{snapshot}"}},"decision":{{"verdict":"{verdict}"}}}}"#
    )
}

fn receipt(verdict: &str, route: &str, conflict: &str) -> String {
    format!(
        r#"{{"chain_id":"c","result_ids_considered":["e","j"],"resolved_verdict":"{verdict}","policy_ref":"p",
        "resolved_route":"{route}","conflict_type":"{conflict}"}}"#
    )
}

const BLOCKER: (&str, &str) = (
    FINDING,
    r#"{"finding_id":"f","result_id":"e","severity":"blocking","emitted_state":"active",
    "blocking_authority":{"satisfied":true}}"#,
);
const CONTESTED: (&str, &str) = (
    "FindingLifecycleTransitionReceipt",
    r#"{"finding_id":"f","from_state":"active","to_state":"contested","transition_reason":"user_contested"}"#,
);

#[test]
fn a_receipt_says_what_its_policy_yields() {
    let code = &["pattern_c_route_conflict_unresolved"] as &[&str];
    let (both, failed) = (chain("complete", r#""e","j""#), result("e", "outcome_evaluator", "failed", "s"));
    let judge = result("j", "judge", "passed", "s");
    let conflict = "qualitative_fail_quantitative_pass";
    let rows = |more: &[(&str, &str)], expected: &[&str]| {
        let mut rows = Vec::from([(ENVELOPE, failed.as_str()), (ENVELOPE, &judge), (CHAIN, &both)]);
        rows.extend(more);
        has_codes(&AREA, &rows, expected);
    };
    let (human, fail) =
        (receipt("indeterminate", "human_review_path", conflict), receipt("failed", "fail_path", conflict));
    rows(&[(RECEIPT, &human)], &[]);
    rows(&[(RECEIPT, &receipt("indeterminate", "human_review_path", "none"))], code);
    rows(&[(RECEIPT, &receipt("passed", "pass_path", conflict))], code);
    // With a blocker it fails, unless the user disputes that; what comes later changes nothing.
    rows(&[BLOCKER, (RECEIPT, &fail)], &[]);
    rows(&[BLOCKER, (RECEIPT, &human)], code);
    // What the receipt says of blockers is what the results yield.
    let flags = |preserved: bool, overridden: bool| {
        let flags = format!(
            r#"{{"qualitative_blockers_preserved":{preserved},"quantitative_pass_overridden_by_blocker":{overridden},"#
        );
        fail.replacen('{', &flags, 1)
    };
    rows(&[BLOCKER, (RECEIPT, &flags(true, true))], &[]);
    rows(&[BLOCKER, (RECEIPT, &flags(true, false))], code);
    rows(&[BLOCKER, (RECEIPT, &flags(false, true))], code);
    rows(&[BLOCKER, CONTESTED, (RECEIPT, &human)], &[]);
    rows(&[BLOCKER, (RECEIPT, &fail), CONTESTED], &[]);
    rows(&[(RECEIPT, &human), BLOCKER], &[]);
    let strict = r#"{"policy_id":"p","qualitative_blockers_survive_numeric_pass":true,
        "judge_can_override_evaluator":false,"route_precedence":"blocking_qualitative_first",
        "disagreement_route":"block_until_resolved"}"#;
    let policy = ("EvaluationChainResolutionPolicy", strict);
    rows(&[policy, (RECEIPT, &human)], code);
    rows(&[policy, (RECEIPT, &receipt("indeterminate", "block_until_resolved", conflict))], &[]);
    // A result that was received and left out counts.
    let hiding = human.replace(r#""e","j""#, r#""j""#).replace("indeterminate", "passed");
    let hiding = hiding.replace("human_review_path", "pass_path").replace(conflict, "none");
    rows(&[(RECEIPT, &hiding)], code);
}

#[test]
fn observers_are_heard_and_not_counted() {
    let all = chain("complete", r#""e","j","w""#);
    let [evaluator, judge, observer] = [
        ("e", "outcome_evaluator", "passed", "s"),
        ("j", "judge", "passed", "s"),
        ("w", "sub_agent", "failed", "z"),
    ]
    .map(|(id, producer, verdict, snapshot)| result(id, producer, verdict, snapshot));
    let passed = receipt("passed", "pass_path", "none");
    has_codes(
        &AREA,
        &[
            (ENVELOPE, &evaluator),
            (ENVELOPE, &judge),
            (ENVELOPE, &observer),
            (CHAIN, &all),
            (RECEIPT, &passed),
        ],
        &[],
    );
}

/// Who leaves out a verdict, a producer or the policy gets no further than who says it.
#[test]
fn what_is_not_said_switches_no_rule_off() {
    // Who does not say what they are is missing.
    let either = ["pattern_c_route_conflict_unresolved", "pattern_c_missing_expected_producer"];
    let of_chain = chain("complete", r#""e","j","w""#);
    let (failed, passed) =
        (result("e", "outcome_evaluator", "failed", "s"), result("j", "judge", "passed", "s"));
    let unsaid = |text: &str| {
        text.replace(r#","decision":{"verdict":"failed"}"#, "")
            .replace(r#","decision":{"verdict":"passed"}"#, "")
    };
    let watcher = unsaid(&result("w", "sub_agent", "passed", "s"));
    let pass = receipt("passed", "pass_path", "none");
    let nameless = pass.replace(r#""policy_ref":"p","#, "");
    for (evaluator, judge, receipt) in [
        (failed.clone(), passed.clone(), &pass),
        (unsaid(&failed), passed.clone(), &pass),
        (failed.clone(), unsaid(&passed), &pass),
        (unsaid(&failed), unsaid(&passed), &pass),
        (failed.replace(r#""producer_kind":"outcome_evaluator","#, ""), passed.clone(), &nameless),
        (failed.clone(), passed.clone(), &nameless),
    ] {
        let rows = [
            (ENVELOPE, evaluator.as_str()),
            (ENVELOPE, &judge),
            (ENVELOPE, &watcher),
            BLOCKER,
            (CHAIN, &of_chain),
            (RECEIPT, receipt),
        ];
        let found = codes(&AREA, &world(&rows));
        assert!(found.iter().any(|one| either.contains(one)), "{evaluator} {judge} {receipt}: {found:?}");
    }
    // Without a blocker a receipt may be right, whatever was not said.
    let rows = [
        (ENVELOPE, unsaid(&failed)),
        (ENVELOPE, passed),
        (CHAIN, of_chain.replace(r#","w""#, "")),
        (RECEIPT, pass),
    ];
    let rows: Vec<(&str, &str)> = rows.iter().map(|(kind, row)| (*kind, row.as_str())).collect();
    has_codes(&AREA, &rows, &[]);
}

#[test]
fn who_is_missing_is_told_once() {
    let code = &["pattern_c_missing_expected_producer"] as &[&str];
    let evaluator = result("e", "outcome_evaluator", "passed", "s");
    let rows = |status: &str, more: Option<&str>, now: usize| {
        let chain = chain(status, r#""e""#);
        let mut rows = Vec::from([(ENVELOPE, evaluator.as_str()), (CHAIN, &chain)]);
        rows.extend(more.map(|receipt| (RECEIPT, receipt)));
        codes(&AREA, &until(now, &rows))
    };
    let alone = |receipt: String| receipt.replace(r#""e","j""#, r#""e""#);
    let right = alone(receipt("indeterminate", "human_review_path", "missing_expected_producer"));
    assert_eq!(rows("timed_out", Some(&right), 40), &[] as &[&str]);
    assert_eq!(rows("timed_out", Some(&receipt("passed", "pass_path", "none")), 40), code);
    let wrong = receipt("passed", "pass_path", "missing_expected_producer");
    assert_eq!(rows("timed_out", Some(&wrong), 40), ["pattern_c_route_conflict_unresolved"]);
    assert_eq!(rows("timed_out", None, 40), ["pattern_c_chain_without_resolution_receipt"]);
    assert_eq!(rows("complete", Some(&right), 40), code);
    assert_eq!(rows("partial", None, 29), &[] as &[&str]);
    assert_eq!(rows("partial", None, 30), code);
    assert_eq!(rows("superseded", None, 40), &[] as &[&str]);
}

#[test]
fn nothing_uses_a_result_before_its_chain_is_resolved() {
    let code = &["pattern_c_chain_without_resolution_receipt"] as &[&str];
    let (both, evaluator) =
        (chain("complete", r#""e","j""#), result("e", "outcome_evaluator", "failed", "s"));
    let (judge, resolved) = (result("j", "judge", "failed", "s"), receipt("failed", "fail_path", "none"));
    let uses = [
        ("FeedbackDeliveryRecord", r#"{"result_id":"e"}"#),
        ("OutcomeStateTransitionEvent", r#"{"result_id":"e","to_state":"unrecoverable"}"#),
        ("RevisionPlan", r#"{"run_id":"run","outcome_ids":["o"]}"#),
    ];
    for one in uses {
        let start = [(ENVELOPE, evaluator.as_str()), (ENVELOPE, &judge), (CHAIN, &both)];
        let early: Vec<_> = start.into_iter().chain([one, (RECEIPT, &resolved)]).collect();
        let late: Vec<_> = start.into_iter().chain([(RECEIPT, resolved.as_str()), one]).collect();
        has_codes(&AREA, &early, code);
        has_codes(&AREA, &late, &[]);
    }
}

#[test]
fn results_belong_to_their_chain() {
    let code = &["pattern_c_chain_id_mismatch"] as &[&str];
    let evaluator = result("e", "outcome_evaluator", "passed", "s");
    let open = chain("partial", r#""e""#);
    has_codes(&AREA, &[(ENVELOPE, &evaluator), (CHAIN, &open)], &[]);
    has_codes(&AREA, &[(ENVELOPE, &evaluator)], code);
    has_codes(&AREA, &[(ENVELOPE, &evaluator.replace(r#""run""#, r#""other""#)), (CHAIN, &open)], code);
    let target = r#""run_id":"run","target_artifact_ref":"artifact:a""#;
    has_codes(&AREA, &[(ENVELOPE, &evaluator), (CHAIN, &open.replace(r#""run_id":"run""#, target))], code);
}

#[test]
fn a_snapshot_is_the_same_with_its_hash() {
    let hashed = format!("s#{}", "0".repeat(64));
    let evaluator = result("e", "outcome_evaluator", "passed", &hashed);
    has_codes(&AREA, &[(ENVELOPE, &evaluator), (CHAIN, &chain("partial", r#""e""#))], &[]);
}

#[test]
fn copies_and_names_drift() {
    let basis = r#""evaluation_basis":{"criteria_refs":["criterion:c"]}"#;
    let envelope = format!(r#"{{"result_id":"e",{basis},"target_artifact_ref":"artifact:a"}}"#);
    let bundle = ("EvaluationFeedbackBundle", r#"{"result_id":"e","target_artifact_ref":"artifact:b"}"#);
    has_codes(&AREA, &[(ENVELOPE, &envelope), bundle], &["envelope_target_projection_drift"]);
    has_codes(&AREA, &[(ENVELOPE, r#"{"result_id":"e"}"#)], &["envelope_basis_missing"]);
    let drift = &["chain_id_name_drift"] as &[&str];
    has_codes(&AREA, &[("RevisionPlan", r#"{"chain_ref":"c"}"#)], drift);
    has_codes(&AREA, &[("RelianceInputManifest", r#"{"chain_id":"c"}"#)], drift);
    has_codes(&AREA, &[("RelianceInputManifest", r#"{"evaluation_chain_ids":["c"]}"#)], &[]);
    has_codes(&AREA, &[("UnifiedEvaluationChainView", r#"{"chain_id":"c"}"#)], &[]);
}

/// Two who must answer are two answers, also where they are of one kind.
#[test]
fn each_of_several_who_must_answer_does() {
    let code = &["pattern_c_missing_expected_producer"] as &[&str];
    let both = |first: &str, second: &str| {
        let judge = |module: &str| {
            format!(r#"{{"producer_kind":"judge",{module}"role":"downstream_judge","required":true}}"#)
        };
        let plain = r#"{"producer_kind":"judge","role":"downstream_judge","required":true}"#;
        chain("complete", r#""e","j","k""#).replace(plain, &format!("{},{}", judge(first), judge(second)))
    };
    let module = |id: &str| format!(r#""producer_module_id":"{id}","#);
    let of =
        |id: &str, module: &str| result(id, "judge", "passed", "s").replacen('{', &format!("{{{module}"), 1);
    let evaluator = result("e", "outcome_evaluator", "passed", "s");
    let passed = receipt("passed", "pass_path", "none").replace(r#""e","j""#, r#""e","j","k""#);
    let (m, n, other) = (module("m"), module("n"), module("o"));
    for (chain, judges, expected) in [
        (both(&m, &n), [of("j", &m)].as_slice(), code),
        (both(&m, &n), &[of("j", &m), of("k", &n)], &[]),
        (both(&m, &n), &[of("j", &m), of("k", &m)], code),
        (both(&m, &n), &[of("j", &m), of("k", &other)], code),
        // Who does not say of which module he is may be the other one.
        (both(&m, &n), &[of("j", &m), of("k", "")], &[]),
        (both("", ""), &[of("j", "")], code),
        (both("", ""), &[of("j", ""), of("k", "")], &[]),
        (both("", &n), &[of("j", &other), of("k", &n)], &[]),
        (both("", &n), &[of("j", &n)], code),
    ] {
        let mut rows = Vec::from([(ENVELOPE, evaluator.as_str())]);
        rows.extend(judges.iter().map(|judge| (ENVELOPE, judge.as_str())));
        rows.extend([(CHAIN, chain.as_str()), (RECEIPT, &passed)]);
        has_codes(&AREA, &rows, expected);
    }
}

#[test]
fn snapshots_are_the_same_by_version_and_hash() {
    let code = &["pattern_c_snapshot_mismatch"] as &[&str];
    let [a, b] = ["a", "b"].map(|digit| digit.repeat(64));
    for (one, other, expected) in [
        (format!("s#{a}"), format!("s#{b}"), code),
        (format!("s#{a}"), format!("s#{a}"), &[]),
        (format!("s#{a}"), "s".into(), &[]),
        ("s@1".into(), "s@2".into(), code),
        ("s@1".into(), format!("s#{a}"), &[]),
    ] {
        let of_chain = chain("complete", r#""e","j""#)
            .replace("evaluation_snapshot:s", &format!("evaluation_snapshot:{one}"));
        let (evaluator, judge) =
            (result("e", "outcome_evaluator", "passed", &one), result("j", "judge", "passed", &other));
        let passed = receipt("passed", "pass_path", "none");
        let rows =
            [(ENVELOPE, evaluator.as_str()), (ENVELOPE, &judge), (CHAIN, &of_chain), (RECEIPT, &passed)];
        has_codes(&AREA, &rows, expected);
    }
}

/// A result that names its chain waits for it, also where the chain does not list it.
#[test]
fn what_names_a_chain_waits_for_its_receipt() {
    let code = &["pattern_c_chain_without_resolution_receipt"] as &[&str];
    let (judge, open) = (result("j", "judge", "passed", "s"), chain("open", ""));
    let delivered = ("FeedbackDeliveryRecord", r#"{"delivery_id":"d","result_id":"j"}"#);
    let told = receipt("indeterminate", "block_until_resolved", "missing_expected_producer");
    let told = told.replace(r#""e","j""#, r#""j""#);
    has_codes(&AREA, &[(ENVELOPE, &judge), (CHAIN, &open), delivered], code);
    has_codes(&AREA, &[(ENVELOPE, &judge), (CHAIN, &open), (RECEIPT, &told), delivered], &[]);
    let alone = judge.replace(r#""target_evaluation_chain_id":"c","#, "");
    has_codes(&AREA, &[(ENVELOPE, &alone), (CHAIN, &open), delivered], &[]);
    let superseded = chain("superseded", "");
    has_codes(&AREA, &[(ENVELOPE, &judge), (CHAIN, &superseded), delivered], &[]);
}

/// What a receipt says that it considered is what was there and comes to what it says; whose result decided is one of them.
#[test]
fn what_was_considered_is_what_was_resolved() {
    let code = &["pattern_c_route_conflict_unresolved"] as &[&str];
    let both = chain("complete", r#""e","j","w""#);
    let of = |id: &str, producer: &str, verdict: &str| result(id, producer, verdict, "s");
    let (failed, judge, other) =
        (of("e", "outcome_evaluator", "failed"), of("j", "judge", "passed"), of("w", "sub_agent", "failed"));
    let elsewhere = of("x", "judge", "passed").replace(r#"chain_id":"c""#, r#"chain_id":"d""#);
    let conflict = "qualitative_fail_quantitative_pass";
    let fail = receipt("failed", "fail_path", conflict);
    for (considered, decisive, expected) in [
        (r#""e","j""#, "", &[] as &[&str]),
        (r#""j","e""#, "", &[]),
        // An observer may be told or not.
        (r#""e","j","w""#, "", &[]),
        (r#""e","j""#, "e", &[]),
        (r#""nope""#, "", code),
        ("", "", code),
        (r#""j""#, "", code),
        (r#""e""#, "", code),
        (r#""e","j","nope""#, "", code),
        (r#""e","j","x""#, "", code),
        (r#""e","j","later""#, "", code),
        (r#""e","j""#, "nope", code),
        (r#""e","j""#, "w", code),
        // The judge passed it and the chain failed.
        (r#""e","j""#, "j", code),
    ] {
        let text = fail.replace(r#""e","j""#, considered);
        let text = match decisive {
            "" => text,
            decisive => text.replacen('{', &format!(r#"{{"decisive_result_id":"{decisive}","#), 1),
        };
        let later = of("later", "sub_agent", "failed");
        let rows = [
            (ENVELOPE, failed.as_str()),
            (ENVELOPE, &judge),
            (ENVELOPE, &other),
            (ENVELOPE, &elsewhere),
            BLOCKER,
            (CHAIN, &both),
            (RECEIPT, &text),
            (ENVELOPE, &later),
        ];
        let found: Vec<&str> =
            codes(&AREA, &world(&rows)).into_iter().filter(|one| code.contains(one)).collect();
        assert_eq!(found, expected, "{considered} {decisive}");
    }
}

/// For all pairs of states: a move takes a blocker out of the way only where the table has it, from where the blocker is.
#[test]
fn only_moves_that_the_table_has_close_a_blocker() {
    let machine = crate::machine::FINDING;
    let states: Vec<&str> = machine.states().collect();
    let (both, judge) = (chain("complete", r#""e","j""#), result("j", "judge", "passed", "s"));
    let evaluator = result("e", "outcome_evaluator", "passed", "s");
    let passed = receipt("passed", "pass_path", "none");
    let mut closed = Vec::new();
    for (from, to) in states.iter().flat_map(|from| states.iter().map(move |to| (*from, *to))) {
        let reason = machine.ways(from, to).next().map_or("revision_resolved", |way| way.by);
        let reason = reason.split(' ').next().unwrap_or_default();
        let moved = format!(
            r#"{{"finding_id":"f","from_state":"{from}","to_state":"{to}","transition_reason":"{reason}",
            "evidence_refs":["evaluation_finding_record:g"]}}"#
        );
        let rows = [
            (ENVELOPE, evaluator.as_str()),
            (ENVELOPE, &judge),
            BLOCKER,
            (CONTESTED.0, &moved),
            (CHAIN, &both),
            (RECEIPT, &passed),
        ];
        if codes(&AREA, &world(&rows)).is_empty() {
            closed.push((from, to));
        }
    }
    closed.sort_unstable();
    let expected = [
        "dismissed",
        "rejected_by_user",
        "resolved",
        "superseded_by_revision",
        "superseded_by_source_change",
    ];
    assert_eq!(closed, expected.map(|to| ("active", to)));
}

/// Many findings of one result are told as few are.
#[test]
fn many_findings_stand_as_few_do() {
    let evaluator = result("e", "outcome_evaluator", "failed", "s");
    let (judge, both) = (result("j", "judge", "passed", "s"), chain("complete", r#""e","j""#));
    let conflict = "qualitative_fail_quantitative_pass";
    let (human, fail) =
        (receipt("indeterminate", "human_review_path", conflict), receipt("failed", "fail_path", conflict));
    for count in [1, 40] {
        let name =
            |text: &str, at: usize| text.replace(r#""finding_id":"f""#, &format!(r#""finding_id":"f{at}""#));
        let findings: Vec<String> = (0..count).map(|at| name(BLOCKER.1, at)).collect();
        let contested: Vec<String> = (0..count).map(|at| name(CONTESTED.1, at)).collect();
        let mut rows = Vec::from([(ENVELOPE, evaluator.as_str()), (ENVELOPE, &judge), (CHAIN, &both)]);
        rows.extend(findings.iter().map(|text| (BLOCKER.0, text.as_str())));
        rows.push((RECEIPT, &fail));
        has_codes(&AREA, &rows, &[]);
        // All but one are disputed, and then that one too.
        rows.extend(contested.iter().skip(1).map(|text| (CONTESTED.0, text.as_str())));
        rows.push((RECEIPT, &fail));
        has_codes(&AREA, &rows, &[]);
        rows.push((CONTESTED.0, &contested[0]));
        rows.push((RECEIPT, &human));
        has_codes(&AREA, &rows, &[]);
        rows.push((RECEIPT, &fail));
        has_codes(&AREA, &rows, &["pattern_c_route_conflict_unresolved"]);
    }
}

#[test]
fn ids_of_chains_have_their_names_at_any_depth() {
    let check = |kind: &str, record: &str, expected: &[(u64, &str)]| {
        crate::check::trial::has_places("chain_id_name_drift", &[(kind, record)], expected);
    };
    check("TaskReliancePacket", r#"{"input_manifest":{"evaluation_chain_ids":["c"]}}"#, &[]);
    let manifest = r#"{"input_manifest":{"chain_id":"c","pattern_c_chain_ids":["c"]}}"#;
    check(
        "TaskReliancePacket",
        manifest,
        &[(1, "/input_manifest/chain_id"), (1, "/input_manifest/pattern_c_chain_ids")],
    );
    check(ENVELOPE, r#"{"decision":{"chain_ref":"c"}}"#, &[(1, "/decision/chain_ref")]);
    check(
        "RevisionPlan",
        r#"{"steps":[{"evaluation_chain_id":"c"}]}"#,
        &[(1, "/steps/0/evaluation_chain_id")],
    );
    // What somebody keeps in a payload may be called anything.
    check("RevisionPlan", r#"{"steps":[{"payload":{"chainId":1}}],"payload":{"chain_ref":"c"}}"#, &[]);
    check("EvaluationChainView", r#"{"chains":[{"chain_id":"c"}]}"#, &[]);
    check("RelianceInputManifest", r#"{"chain_refs":["c"]}"#, &[(1, "/chain_refs")]);
}
