//! Ways to fire besides the plain ones of the fixtures, and what comes close.

use super::*;
use crate::check::trial::{codes, has_codes, rows_with, until, world};
use std::vec::Vec;

use crate::derive::keys::Delivery;

const POLICY_ROW: &str = r#"{"policy_id":"p","duplicate_suppression_window_ms":60000,"branch_order":["on_satisfied",
    "on_needs_revision","on_needs_more_sources","on_needs_source_verification","on_needs_human_judgment",
    "on_blocked_by_policy","on_upstream_failure","on_unrecoverable","on_repeated_failure"],
    "branch_handlers":{"on_satisfied":["m:1"],"on_needs_revision":["m:1"],"on_needs_more_sources":["m:1"],
    "on_needs_source_verification":["m:1"],"on_needs_human_judgment":["m:1"],"on_blocked_by_policy":["m:1"],
    "on_upstream_failure":["m:1"],"on_unrecoverable":["m:1"],"on_repeated_failure":["m:1"]}}"#;
const ENVELOPE: (&str, &str) = ("EvaluationResultEnvelope", r#"{"result_id":"r","run_id":"run"}"#);

#[test]
fn a_policy_handles_what_the_matrix_names() {
    let missing = "feedback_branch_missing_handler";
    has_codes(&AREA, &[(POLICY, POLICY_ROW)], &[]);
    let less = POLICY_ROW.replace(r#""on_unrecoverable":["m:1"],"#, "").replace(r#""on_unrecoverable","#, "");
    has_codes(&AREA, &[(POLICY, &less)], &[missing, "feedback_branch_unregistered"]);
    // The last version counts; a row of the matrix may send a state nowhere.
    has_codes(&AREA, &[(POLICY, &less), (POLICY, POLICY_ROW)], &[]);
    let nowhere = r#"{"state":"unrecoverable","feedback_branch":"none"}"#;
    has_codes(&AREA, &[("OutcomeStateMatrixEntry", nowhere), (POLICY, &less)], &[]);
    // A matrix that the rows bring stands for the one that is built in.
    let short =
        r#"{"policy_id":"p","branch_order":["on_satisfied"],"branch_handlers":{"on_satisfied":["m:1"]}}"#;
    let sends = |branch: &str| format!(r#"{{"state":"satisfied","feedback_branch":"{branch}"}}"#);
    has_codes(&AREA, &[("OutcomeStateMatrixEntry", &sends("on_satisfied")), (POLICY, short)], &[]);
    has_codes(
        &AREA,
        &[("OutcomeStateMatrixEntry", &sends("on_unrecoverable")), (POLICY, short)],
        &[missing, "feedback_branch_unregistered"],
    );
    let listed =
        short.replace(r#"["on_satisfied"],"branch"#, r#"["on_satisfied","on_upstream_failure"],"branch"#);
    has_codes(&AREA, &[("OutcomeStateMatrixEntry", &sends("on_satisfied")), (POLICY, &listed)], &[missing]);
    let odd = r#"{"state":"unrecoverable","feedback_branch":"on_doom"}"#;
    has_codes(&AREA, &[("OutcomeStateMatrixEntry", odd)], &["feedback_branch_unregistered"]);
}

fn delivery(minute: u32, key: Option<&str>, more: &str) -> std::string::String {
    let own = Delivery { run_id: "run", result_id: "r", branch: "on_satisfied", consumer_module_id: "m" };
    let key = key.map_or_else(|| format!("{}", own.key()), Into::into);
    format!(
        r#"{{"result_id":"r","branch":"on_satisfied","consumer_module_id":"m","delivery_idempotency_key":"{key}",
        "created_at":"2026-03-02T08:{minute:02}:00Z"{more}}}"#
    )
}

#[test]
fn a_delivery_is_known_by_its_key() {
    let (kind, code) =
        ("FeedbackDeliveryRecord", &["feedback_delivery_duplicate_without_idempotency"] as &[&str]);
    let twice = |second: &str, expected: &[&str]| {
        has_codes(
            &AREA,
            &[(POLICY, POLICY_ROW), ENVELOPE, (kind, &delivery(0, None, "")), (kind, second)],
            expected,
        );
    };
    twice(&delivery(0, None, ""), code);
    // The window is half-open: a minute later is out of it.
    twice(&delivery(1, None, ""), &[]);
    twice(&delivery(0, None, r#","suppressed":true"#), &[]);
    has_codes(&AREA, &[ENVELOPE, (kind, &delivery(0, Some(""), ""))], code);
    has_codes(&AREA, &[ENVELOPE, (kind, &delivery(0, Some("run/r/m"), ""))], code);
    has_codes(&AREA, &[ENVELOPE, (kind, &delivery(0, None, ""))], &[]);
    has_codes(
        &AREA,
        &[(kind, r#"{"branch":"on_doom","delivery_idempotency_key":"k"}"#)],
        &["feedback_branch_unregistered"],
    );
}

#[test]
fn a_receipt_comes_within_the_grace_period() {
    let whose = r#""feedback_bundle_id":"b","consumer_module_id":"m","consumer_activation_seq":1"#;
    let expectation = format!(r#"{{{whose},"grace_period_ms":600000,"created_at":"2026-03-02T08:00:00Z"}}"#);
    let receipt = |minute: u32| format!(r#"{{{whose},"created_at":"2026-03-02T08:{minute:02}:00Z"}}"#);
    let code = &["feedback_consumed_without_receipt"];
    let rows = |now: usize, minute: Option<u32>| {
        let receipt = minute.map(receipt);
        let mut rows = Vec::from([("FeedbackDispatchExpectation", expectation.as_str())]);
        rows.extend(receipt.as_deref().map(|receipt| ("FeedbackConsumptionReceipt", receipt)));
        codes(&AREA, &until(now, &rows))
    };
    assert_eq!(rows(9, None), &[] as &[&str]);
    assert_eq!(rows(10, None), code);
    assert_eq!(rows(30, Some(9)), &[] as &[&str]);
    assert_eq!(rows(30, Some(10)), code);
}

#[test]
fn a_receipt_comes_before_the_activation_is_over() {
    let whose = |activation: u32| {
        format!(
            r#"{{"feedback_bundle_id":"b","consumer_module_id":"m","consumer_activation_seq":{activation},
                "grace_period_ms":600000,"created_at":"2026-03-02T08:00:00Z"}}"#
        )
    };
    let [own, next] = [1, 2].map(whose);
    let expected = ("FeedbackDispatchExpectation", own.as_str());
    let receipt = ("FeedbackConsumptionReceipt", own.as_str());
    let later = ("FeedbackDeliveryRecord", next.as_str());
    let rows = |rows: &[(&str, &str)]| rows_with("feedback_consumed_without_receipt", &until(1, rows));
    assert_eq!(rows(&[expected, later]), [1]);
    assert_eq!(rows(&[expected, later, receipt]), [1]);
    assert_eq!(rows(&[expected, receipt, later]), &[] as &[u64]);
    assert_eq!(rows(&[later, expected]), &[] as &[u64]);
    // Two may be asked for at once.
    let both = ("FeedbackDispatchExpectation", next.as_str());
    let answered = ("FeedbackConsumptionReceipt", next.as_str());
    assert_eq!(rows(&[expected, both, receipt, answered]), &[] as &[u64]);
    assert_eq!(rows(&[expected, both, answered]), [1]);
    assert_eq!(rows(&[expected, ("FeedbackDeliveryRecord", own.as_str())]), &[] as &[u64]);
}

#[test]
fn the_matrix_says_which_results_have_a_bundle() {
    let code = &["feedback_bundle_emitted_against_matrix"] as &[&str];
    let rows = |producer: &str, verdict: &str, emission: &str, expected: &[&str]| {
        let envelope = format!(
            r#"{{"result_id":"r","producer_kind":"{producer}","decision":{{"verdict":"{verdict}"}}}}"#
        );
        let emission = format!(r#"{{"result_id":"r",{emission}}}"#);
        let bundle = ("EvaluationFeedbackBundle", r#"{"feedback_bundle_id":"b","result_id":"r"}"#);
        let emission = ("EvaluationResultEmissionRecord", emission.as_str());
        has_codes(&AREA, &[("EvaluationResultEnvelope", &envelope), bundle, emission], expected);
    };
    let (bundle, none) = (
        r#""feedback_bundle_ref":"evaluation_feedback_bundle:b""#,
        r#""feedback_bundle_absent_reason":"not_emitted_by_design""#,
    );
    let filtered = r#""feedback_bundle_absent_reason":"policy_filtered""#;
    rows("outcome_evaluator", "not_applicable", bundle, code);
    rows("judge", "passed", bundle, code);
    rows("judge", "failed", bundle, &[]);
    rows("deterministic_scorer", "failed", none, code);
    rows("outcome_evaluator", "indeterminate", filtered, &[]);
    rows("human_reviewer", "failed", none, &[]);
    // A bundle that is not there is none.
    let gone = r#""feedback_bundle_ref":"evaluation_feedback_bundle:c""#;
    rows("judge", "failed", gone, &["feedback_bundle_absence_unexplained"]);
}

#[test]
fn what_names_a_result_needs_its_envelope() {
    let code = &["envelope_missing_for_result"] as &[&str];
    let finding = |producer: &str| format!(r#"{{"result_id":"r","producer_kind":"{producer}"}}"#);
    let kind = "EvaluationFindingEvent";
    has_codes(&AREA, &[(kind, &finding("judge"))], code);
    has_codes(&AREA, &[(kind, &finding("judge")), ENVELOPE], &[]);
    has_codes(&AREA, &[(kind, &finding("human_reviewer"))], &[]);
    let silent = (
        "FeedbackEmissionMatrixEntry",
        r#"{"producer_kind":"judge","verdict":"passed","emits_envelope":false}"#,
    );
    has_codes(&AREA, &[silent, (kind, &finding("judge"))], &[]);
    has_codes(&AREA, &[("EvaluationChainRegistryRecord", r#"{"received_result_ids":["r"]}"#)], code);
    let emitted = |envelope: &str| {
        let none = r#""feedback_bundle_absent_reason":"policy_filtered""#;
        let record = format!(r#"{{"result_id":"r","envelope_ref":"{envelope}",{none}}}"#);
        codes(&AREA, &world(&[ENVELOPE, ("EvaluationResultEmissionRecord", record.as_str())]))
    };
    assert_eq!(emitted("evaluation_result_envelope:r"), &[] as &[&str]);
    assert_eq!(emitted("evaluation_result_envelope:s"), code);
    assert_eq!(emitted("outcome_record:r"), code);
}
