//! Ways to fire besides the plain ones of the fixtures, and what comes close.

use super::*;
use crate::check::trial::{codes, has_codes, world};

const EVENT: &str = "EvaluationFindingEvent";
const ENVELOPE: &str = "EvaluationResultEnvelope";

#[test]
fn a_state_is_found_wherever_it_stands() {
    let code = &["finding_state_mutated_inside_immutable_envelope"];
    has_codes(&AREA, &[(EVENT, r#"{"emitted_state":"resolved"}"#)], code);
    has_codes(&AREA, &[(EVENT, r#"{"emitted_state":"proposed"}"#)], &[]);
    has_codes(&AREA, &[(ENVELOPE, r#"{"findings":[{"lifecycle_state":"resolved"}]}"#)], code);
    has_codes(&AREA, &[("EvaluationFeedbackBundle", r#"{"findings":[{"resolved":true}]}"#)], code);
    // A disposition has a word of its own that is also one of a finding.
    has_codes(&AREA, &[(ENVELOPE, r#"{"decision":{"disposition":"unrecoverable"}}"#)], &[]);
    has_codes(&AREA, &[("FeedbackFindingView", r#"{"lifecycle_state":"resolved"}"#)], &[]);
}

#[test]
fn an_event_stays_as_it_was_appended() {
    let code = &["finding_state_mutated_inside_immutable_envelope"];
    let (one, other) =
        (r#"{"finding_event_id":"e","finding_text":"x"}"#, r#"{"finding_event_id":"e","finding_text":"y"}"#);
    has_codes(&AREA, &[(EVENT, one), (EVENT, other)], code);
    has_codes(&AREA, &[(EVENT, one), (EVENT, one)], &[]);
}

#[test]
fn a_record_needs_an_event_of_its_own_finding() {
    let event = (EVENT, r#"{"finding_event_id":"e","finding_id":"g"}"#);
    let record = |finding: &str| {
        format!(r#"{{"finding_id":"{finding}","canonical_event_ref":"evaluation_finding_event:e"}}"#)
    };
    has_codes(
        &AREA,
        &[event, ("EvaluationFindingRecord", &record("f"))],
        &["finding_current_projection_without_event"],
    );
    has_codes(&AREA, &[event, ("EvaluationFindingRecord", &record("g"))], &[]);
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
    has_codes(&AREA, &[(EVENT, r#"{"severity":"blocking"}"#)], none);
    has_codes(&AREA, &[(EVENT, &blocker(check_, true, "", "not_allowed"))], none);
    has_codes(&AREA, &[(EVENT, &blocker(model, false, rubric, "not_allowed"))], none);
    has_codes(&AREA, &[(EVENT, &blocker(model, true, check_, "not_allowed"))], opinion);
    has_codes(&AREA, &[(EVENT, &blocker(check_, true, rubric, "not_allowed"))], opinion);
    has_codes(&AREA, &[(EVENT, &blocker(check_, true, rubric, "allowed_by_user_instruction"))], &[]);
    has_codes(&AREA, &[(EVENT, &blocker(r#""rubric_anchored_judgment""#, true, rubric, "not_allowed"))], &[]);
    let anchored = ("Criterion", r#"{"criterion_id":"c","scoring_basis":"anchored_rubric"}"#);
    has_codes(&AREA, &[anchored, (EVENT, &blocker(check_, true, rubric, "not_allowed"))], &[]);
    has_codes(
        &AREA,
        &[(EVENT, &blocker(r#""model_judgment","tool_verification""#, true, check_, "not_allowed"))],
        &[],
    );
}

#[test]
fn a_view_shows_its_record_as_it_stood() {
    let record = |state: &str| format!(r#"{{"finding_id":"f","current_state":"{state}"}}"#);
    let view = r#"{"current_finding_record_ref":"evaluation_finding_record:f","lifecycle_state":"active"}"#;
    let kind = "EvaluationFindingRecord";
    let (active, moved) = (record("active"), record("contested"));
    let drift = "feedback_finding_view_authority_drift";
    let of = |rows: &[(&str, &str)]| codes(&AREA, &world(rows)).contains(&drift);
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
    has_codes(&AREA, &[(EVENT, &finding("non_artifact_target"))], code);
    has_codes(&AREA, &[(EVENT, &finding("human_review_no_artifact"))], &[]);
    has_codes(&AREA, &[(EVENT, r#"{"based_on_artifact_version_absent_reason":"process_observation"}"#)], &[]);
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
    has_codes(&AREA, &[(kind, &config("null")), (ENVELOPE, envelope)], code);
    has_codes(&AREA, &[(kind, &config(r#""another""#)), (ENVELOPE, envelope)], &[]);
    has_codes(&AREA, &[(kind, &config("null")), (ENVELOPE, envelope), (seen, &a)], code);
    has_codes(&AREA, &[(kind, &config("null")), (ENVELOPE, envelope), (seen, &a), (seen, &b)], &[]);
}

#[test]
fn a_finding_has_no_other_state_inside_what_raised_it() {
    let code = &["finding_state_mutated_inside_immutable_envelope"] as &[&str];
    for (kind, record, expected) in [
        (EVENT, r#"{"finding_id":"f","state":"resolved"}"#, code),
        (EVENT, r#"{"finding_id":"f","state":"active"}"#, &[]),
        (EVENT, r#"{"finding_id":"f","emitted_state":"proposed"}"#, &[]),
        (ENVELOPE, r#"{"result_id":"r","seen":[{"of":{"finding_id":"f","status":"dismissed"}}]}"#, code),
        (ENVELOPE, r#"{"result_id":"r","seen":[{"task_id":"t","status":"resolved"}]}"#, &[]),
    ] {
        let own = codes(&AREA, &world(&[(kind, record)]));
        let is_it = |one: &&&str| **one == code[0];
        assert_eq!(own.iter().filter(is_it).copied().collect::<Vec<_>>(), expected, "{record}");
    }
}
