//! Ways to fire besides the plain ones of the fixtures, and what comes close.

use super::*;
use crate::check::trial::{codes, has_codes, world};
use std::format;

use std::string::String;

const EVENT: &str = "EvaluationFindingEvent";
const SIGNAL: &str = "ProgressSignalRecord";
const ENVELOPE: (&str, &str) =
    ("EvaluationResultEnvelope", r#"{"result_id":"r","run_id":"run","outcome_id":"o"}"#);

fn event(more: &str, key: &str) -> String {
    format!(r#"{{"result_id":"r"{more},"match_key":{{"failure_kind":"timeout"{key}}}}}"#)
}

fn signal(run: &str, same: bool, current: &str, previous: &str) -> String {
    format!(
        r#"{{"run_id":"{run}","outcome_id":"o","same_reason_as_previous":{same},
        "current_finding_match_key":{{"failure_kind":"timeout"{current}}}{previous}}}"#
    )
}

#[test]
fn a_key_is_one_of_its_run_and_outcome() {
    let (drift, artifact) = (&["progress_signal_match_key_drift"], r#","artifact_stable_id":"a""#);
    let raised = event("", artifact);
    let rows = |signal: &str| codes(&AREA, &world(&[ENVELOPE, (EVENT, &raised), (SIGNAL, signal)]));
    assert_eq!(rows(&signal("run", false, artifact, "")), &[] as &[&str]);
    assert_eq!(rows(&signal("another", false, artifact, "")), drift);
    assert_eq!(rows(&signal("run", false, r#","artifact_stable_id":"b""#, "")), drift);
    // Without a key before, it is no repetition.
    assert_eq!(rows(&signal("run", true, artifact, "")), drift);
    let before = r#","previous_finding_match_key":{"failure_kind":"timeout","artifact_stable_id":"a",
        "source_workspace_snapshot_hash":"w","target_scope_ref":null}"#;
    assert_eq!(rows(&signal("run", true, artifact, before)), &[] as &[&str]);
    assert_eq!(rows(&signal("run", false, artifact, before)), drift);
}

#[test]
fn a_version_is_no_stable_id() {
    let code = &["repeated_failure_key_missing_artifact_stable_id"];
    let target =
        r#","target_artifact_ref":"artifact:a","target_artifact_version_ref":"artifact_version:a-1""#;
    for (id, expected) in
        [("a", &[] as &[&str]), ("a-1", code), ("artifact_version:a-1", code), ("artifact:a@2", code)]
    {
        let key = format!(r#","artifact_stable_id":"{id}""#);
        has_codes(&AREA, &[(EVENT, &event(target, &key))], expected);
    }
}

#[test]
fn a_process_fails_again_without_an_artifact() {
    let before = r#","previous_finding_match_key":{"failure_kind":"timeout"}"#;
    let again = signal("run", true, "", before);
    has_codes(&AREA, &[ENVELOPE, (EVENT, &event("", "")), (SIGNAL, &again)], &[]);
    let code = "repeated_failure_key_missing_artifact_stable_id";
    let targeted = event(r#","target_artifact_ref":"artifact:a""#, "");
    assert!(codes(&AREA, &world(&[ENVELOPE, (EVENT, &targeted), (SIGNAL, &again)])).contains(&code));
}

#[test]
fn a_workspace_is_evidence() {
    let bound = event(r#","based_on_source_workspace_snapshot_ref":"snapshot:s""#, "");
    has_codes(&AREA, &[(EVENT, &bound)], &["evidence_signature_hash_missing_for_source_bound_finding"]);
}

/// What fails again is known by the artifact, not by a version of it.
#[test]
fn a_repeated_failure_is_by_a_lasting_id() {
    let missing = &["repeated_failure_key_missing_artifact_stable_id"];
    let of = |id: &str| {
        let record =
            format!(r#"{{"repeated_failure_id":"f","run_id":"run","outcome_id":"o"{id},"repeat_count":2}}"#);
        codes(&AREA, &world(&[("RepeatedFailureRecord", &record)]))
    };
    assert_eq!(of(r#","artifact_stable_id":"memo""#), &[] as &[&str]);
    assert_eq!(of(r#","artifact_stable_id":"artifact_version:memo-3""#), missing);
    assert_eq!(of(""), missing);
}
