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

const EVENT: &str = "EvaluationFindingEvent";
const ENVELOPE: &str = "EvaluationResultEnvelope";

#[test]
fn a_state_is_found_wherever_it_stands() {
    let code = &["finding_state_mutated_inside_immutable_envelope"];
    check(&[(EVENT, r#"{"emitted_state":"resolved"}"#)], code);
    check(&[(EVENT, r#"{"emitted_state":"proposed"}"#)], &[]);
    check(&[(ENVELOPE, r#"{"findings":[{"lifecycle_state":"resolved"}]}"#)], code);
    check(&[("EvaluationFeedbackBundle", r#"{"findings":[{"resolved":true}]}"#)], code);
    // A disposition has a word of its own that is also one of a finding.
    check(&[(ENVELOPE, r#"{"decision":{"disposition":"unrecoverable"}}"#)], &[]);
    check(&[("FeedbackFindingView", r#"{"lifecycle_state":"resolved"}"#)], &[]);
}

#[test]
fn an_event_stays_as_it_was_appended() {
    let code = &["finding_state_mutated_inside_immutable_envelope"];
    let (one, other) =
        (r#"{"finding_event_id":"e","finding_text":"x"}"#, r#"{"finding_event_id":"e","finding_text":"y"}"#);
    check(&[(EVENT, one), (EVENT, other)], code);
    check(&[(EVENT, one), (EVENT, one)], &[]);
}

#[test]
fn a_record_needs_an_event_of_its_own_finding() {
    let event = (EVENT, r#"{"finding_event_id":"e","finding_id":"g"}"#);
    let record = |finding: &str| {
        format!(r#"{{"finding_id":"{finding}","canonical_event_ref":"evaluation_finding_event:e"}}"#)
    };
    check(&[event, ("EvaluationFindingRecord", &record("f"))], &["finding_current_projection_without_event"]);
    check(&[event, ("EvaluationFindingRecord", &record("g"))], &[]);
}

fn blocker(assurance: &str, satisfied: bool, basis: &str, permission: &str) -> String {
    format!(
        r#"{{"severity":"blocking","assurance_basis":[{assurance}],"target_criterion_id":"c","blocking_authority":
        {{"satisfied":{satisfied},"basis":[{basis}],"subjective_blocking_permission":"{permission}"}}}}"#
    )
}

#[test]
fn a_blocker_has_at_most_one_of_two_codes() {
    let (none, opinion) =
        (&["blocking_finding_without_authority"], &["model_judgment_only_blocker_without_permission"]);
    let model = r#""model_judgment""#;
    let (check_, rubric) = (r#""deterministic_check""#, r#""rubric_criterion""#);
    check(&[(EVENT, r#"{"severity":"blocking"}"#)], none);
    check(&[(EVENT, &blocker(check_, true, "", "not_allowed"))], none);
    check(&[(EVENT, &blocker(model, false, rubric, "not_allowed"))], none);
    check(&[(EVENT, &blocker(model, true, check_, "not_allowed"))], opinion);
    check(&[(EVENT, &blocker(check_, true, rubric, "not_allowed"))], opinion);
    check(&[(EVENT, &blocker(check_, true, rubric, "allowed_by_user_instruction"))], &[]);
    check(&[(EVENT, &blocker(r#""rubric_anchored_judgment""#, true, rubric, "not_allowed"))], &[]);
    let anchored = ("Criterion", r#"{"criterion_id":"c","scoring_basis":"anchored_rubric"}"#);
    check(&[anchored, (EVENT, &blocker(check_, true, rubric, "not_allowed"))], &[]);
    check(&[(EVENT, &blocker(r#""model_judgment","tool_verification""#, true, check_, "not_allowed"))], &[]);
}

#[test]
fn a_view_shows_its_record_as_it_stood() {
    let record = |state: &str| format!(r#"{{"finding_id":"f","current_state":"{state}"}}"#);
    let view = r#"{"current_finding_record_ref":"evaluation_finding_record:f","lifecycle_state":"active"}"#;
    let kind = "EvaluationFindingRecord";
    let (active, moved) = (record("active"), record("contested"));
    let drift = "feedback_finding_view_authority_drift";
    let of = |rows: &[(&str, &str)]| codes(0, rows).contains(&drift);
    assert!(!of(&[(kind, &active), ("FeedbackFindingView", view), (kind, &moved)]));
    assert!(of(&[(kind, &active), (kind, &moved), ("FeedbackFindingView", view)]));
}

#[test]
fn an_artifact_is_no_non_artifact() {
    let finding = |reason: &str| {
        format!(
            r#"{{"target_artifact_ref":"artifact:a","based_on_artifact_version_absent_reason":"{reason}"}}"#
        )
    };
    let code = &["artifact_targeted_finding_missing_version_ref"];
    check(&[(EVENT, &finding("non_artifact_target"))], code);
    check(&[(EVENT, &finding("human_review_no_artifact"))], &[]);
    check(&[(EVENT, r#"{"based_on_artifact_version_absent_reason":"process_observation"}"#)], &[]);
}

#[test]
fn observations_count_together_and_a_config_is_that_of_its_outcome() {
    let config = |outcome: &str| {
        format!(r#"{{"config_id":"c","outcome_id":{outcome},"positive_observation_required":true}}"#)
    };
    let envelope = r#"{"result_id":"r","outcome_id":"o","decision":{"verdict":"passed"},
        "evaluation_basis":{"criteria_refs":["criterion:a","criterion:b"]}}"#;
    let seen = |id: &str| format!(r#"{{"result_id":"r","observed_passed_criterion_ids":["{id}"]}}"#);
    let (a, b) = (seen("a"), seen("b"));
    let code = &["positive_observation_missing_for_passed_criteria_when_required"];
    let (kind, seen) = ("OutcomeComplianceScoringConfig", "PositiveEvaluationObservation");
    check(&[(kind, &config("null")), (ENVELOPE, envelope)], code);
    check(&[(kind, &config(r#""another""#)), (ENVELOPE, envelope)], &[]);
    check(&[(kind, &config("null")), (ENVELOPE, envelope), (seen, &a)], code);
    check(&[(kind, &config("null")), (ENVELOPE, envelope), (seen, &a), (seen, &b)], &[]);
}
