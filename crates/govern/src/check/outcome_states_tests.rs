//! Ways to fire besides the plain ones of the fixtures, and what comes close.

use super::*;
use crate::bundle::Bundle;
use std::vec::Vec;

/// The codes of this area for some rows; `now` is the time up to which is looked, in minutes after eight.
fn codes(now: u32, rows: &[(&str, &str)]) -> Vec<&'static str> {
    let row = |(kind, record): &(&str, &str)| format!(r#"{{"kind":"{kind}","record":{record}}}"#);
    let rows = rows.iter().map(row).collect::<Vec<_>>().join(",");
    let text = format!(r#"{{"schema_version":"1.0","as_of":"2026-03-02T08:{now:02}:00Z","rows":[{rows}]}}"#);
    let bundle = Bundle::read(countersign_record::json::parse(text.as_bytes()).unwrap()).unwrap();
    let (world, mut all) = (bundle.world(), Vec::new());
    for rule in AREA.rules {
        (rule.check)(&world, &mut Found { rule, all: &mut all });
    }
    let mut codes: Vec<&'static str> = all.into_iter().map(|one| one.code).collect();
    codes.dedup();
    codes
}

#[track_caller]
fn check(rows: &[(&str, &str)], expected: &[&str]) {
    assert_eq!(codes(0, rows), expected, "{rows:?}");
}

const ENVELOPE: &str = "EvaluationResultEnvelope";
const MATRIX: &str = "OutcomeStateMatrixEntry";

#[test]
fn a_matrix_never_tells_a_state_on_the_way() {
    let code = &["runtime_state_emitted_to_envelope"];
    check(&[(MATRIX, r#"{"state":"dirty","state_class":"runtime","emitted_to_envelope":true}"#)], code);
    check(&[(MATRIX, r#"{"state":"dirty","state_class":"runtime","emitted_to_envelope":false}"#)], &[]);
    check(&[(ENVELOPE, r#"{"decision":{"state":"pending"}}"#)], code);
}

#[test]
fn a_disposition_stands_for_one_verdict() {
    let code = &["disposition_without_verdict_mapping"];
    let row = |state: &str, verdict: &str| {
        format!(r#"{{"state":"{state}","state_class":"disposition","verdict_mapping":"{verdict}"}}"#)
    };
    let (regressed, own) = (row("regressed", "failed"), row("on_hold", "indeterminate"));
    check(&[(MATRIX, &regressed), (MATRIX, &regressed)], code);
    check(&[(MATRIX, &row("regressed", "maybe"))], code);
    let told = |disposition: &str, verdict: &str| {
        format!(
            r#"{{"decision":{{"disposition":"{disposition}","verdict":"{verdict}","indeterminate_causes":["timeout"]}}}}"#
        )
    };
    check(&[(ENVELOPE, &told("satisfied", "failed"))], code);
    check(&[(ENVELOPE, &told("satisfied", "passed"))], &[]);
    check(&[(ENVELOPE, &told("on_hold", "indeterminate"))], code);
    check(&[(MATRIX, &own), (ENVELOPE, &told("on_hold", "indeterminate"))], &[]);
    check(&[(MATRIX, &row("regressed", "indeterminate")), (ENVELOPE, &told("regressed", "failed"))], code);
}

#[test]
fn a_chain_that_could_not_tell_has_a_cause_a_conflict_or_a_dispute() {
    let code = &["indeterminate_without_cause"];
    let receipt = |conflict: &str| {
        format!(
            r#"{{"resolved_verdict":"indeterminate","conflict_type":{conflict},"result_ids_considered":["r"]}}"#
        )
    };
    let (open, kind) = (receipt(r#""none""#), "EvaluationChainResolutionReceipt");
    check(&[(kind, &open)], code);
    check(&[(kind, &receipt("null"))], code);
    check(&[(kind, &receipt(r#""indeterminate_mismatch""#))], &[]);
    let cause = (
        ENVELOPE,
        r#"{"result_id":"r","decision":{"verdict":"indeterminate","indeterminate_causes":["timeout"]}}"#,
    );
    check(&[cause, (kind, &open)], &[]);
    let blocker = (
        "EvaluationFindingEvent",
        r#"{"finding_id":"f","result_id":"r","severity":"blocking","emitted_state":"active",
        "blocking_authority":{"satisfied":true}}"#,
    );
    let contested = ("FindingLifecycleTransitionReceipt", r#"{"finding_id":"f","to_state":"contested"}"#);
    check(&[blocker, contested, (kind, &open)], &[]);
    check(&[blocker, (kind, &open), contested], code);
}

#[test]
fn only_a_boolean_verdict_is_legacy() {
    let code = &["evaluation_decision_boolean_pass_legacy"];
    check(&[("EvaluationFeedbackBundle", r#"{"passed":true}"#)], code);
    check(&[(ENVELOPE, r#"{"pass":false}"#)], code);
    check(&[("BlockingAuthorityEvaluation", r#"{"satisfied":true}"#)], &[]);
    check(&[("ConformanceFixtureRun", r#"{"passed":true}"#)], &[]);
}
