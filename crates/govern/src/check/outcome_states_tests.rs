//! Ways to fire besides the plain ones of the fixtures, and what comes close.

use super::*;
use crate::check::trial::has_codes;

const ENVELOPE: &str = "EvaluationResultEnvelope";
const MATRIX: &str = "OutcomeStateMatrixEntry";

#[test]
fn a_matrix_never_tells_a_state_on_the_way() {
    let code = &["runtime_state_emitted_to_envelope"];
    has_codes(
        &AREA,
        &[(MATRIX, r#"{"state":"dirty","state_class":"runtime","emitted_to_envelope":true}"#)],
        code,
    );
    has_codes(
        &AREA,
        &[(MATRIX, r#"{"state":"dirty","state_class":"runtime","emitted_to_envelope":false}"#)],
        &[],
    );
    has_codes(&AREA, &[(ENVELOPE, r#"{"decision":{"state":"pending"}}"#)], code);
}

#[test]
fn a_disposition_stands_for_one_verdict() {
    let code = &["disposition_without_verdict_mapping"];
    let row = |state: &str, verdict: &str| {
        format!(r#"{{"state":"{state}","state_class":"disposition","verdict_mapping":"{verdict}"}}"#)
    };
    let (regressed, own) = (row("regressed", "failed"), row("on_hold", "indeterminate"));
    has_codes(&AREA, &[(MATRIX, &regressed), (MATRIX, &regressed)], code);
    has_codes(&AREA, &[(MATRIX, &row("regressed", "maybe"))], code);
    let told = |disposition: &str, verdict: &str| {
        format!(
            r#"{{"decision":{{"disposition":"{disposition}","verdict":"{verdict}","indeterminate_causes":["timeout"]}}}}"#
        )
    };
    has_codes(&AREA, &[(ENVELOPE, &told("satisfied", "failed"))], code);
    has_codes(&AREA, &[(ENVELOPE, &told("satisfied", "passed"))], &[]);
    has_codes(&AREA, &[(ENVELOPE, &told("on_hold", "indeterminate"))], code);
    has_codes(&AREA, &[(MATRIX, &own), (ENVELOPE, &told("on_hold", "indeterminate"))], &[]);
    has_codes(
        &AREA,
        &[(MATRIX, &row("regressed", "indeterminate")), (ENVELOPE, &told("regressed", "failed"))],
        code,
    );
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
    has_codes(&AREA, &[(kind, &open)], code);
    has_codes(&AREA, &[(kind, &receipt("null"))], code);
    has_codes(&AREA, &[(kind, &receipt(r#""indeterminate_mismatch""#))], &[]);
    let cause = (
        ENVELOPE,
        r#"{"result_id":"r","decision":{"verdict":"indeterminate","indeterminate_causes":["timeout"]}}"#,
    );
    has_codes(&AREA, &[cause, (kind, &open)], &[]);
    let blocker = (
        "EvaluationFindingEvent",
        r#"{"finding_id":"f","result_id":"r","severity":"blocking","emitted_state":"active",
        "blocking_authority":{"satisfied":true}}"#,
    );
    let contested = (
        "FindingLifecycleTransitionReceipt",
        r#"{"finding_id":"f","from_state":"active","to_state":"contested","transition_reason":"user_contested"}"#,
    );
    has_codes(&AREA, &[blocker, contested, (kind, &open)], &[]);
    has_codes(&AREA, &[blocker, (kind, &open), contested], code);
}

#[test]
fn only_a_boolean_verdict_is_legacy() {
    let code = &["evaluation_decision_boolean_pass_legacy"];
    has_codes(&AREA, &[("EvaluationFeedbackBundle", r#"{"passed":true}"#)], code);
    has_codes(&AREA, &[(ENVELOPE, r#"{"pass":false}"#)], code);
    has_codes(&AREA, &[("BlockingAuthorityEvaluation", r#"{"satisfied":true}"#)], &[]);
    has_codes(&AREA, &[("ConformanceFixtureRun", r#"{"passed":true}"#)], &[]);
}
