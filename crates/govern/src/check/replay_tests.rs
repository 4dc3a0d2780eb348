//! Other ways in which replays go wrong.

use super::AREA;
use crate::check::trial::has_found;
use std::format;

const STEP: &str = "ReplayStepResult";

fn request(mode: &str, queries: bool, models: &str) -> std::string::String {
    format!(
        r#"{{"replay_request_id":"q","replay_mode":"{mode}","allow_external_side_effects":false,
        "allow_external_queries":{queries},"model_reexecution_policy":"{models}"}}"#
    )
}

#[test]
fn replays_leave_the_world_alone() {
    let left = |kind: &str, status: &str| {
        format!(
            r#"{{"receipt_id":"e","externalization_kind":"{kind}","status":"{status}","replay_request_id":"q"}}"#
        )
    };
    let cases = [
        ("best_effort_rerun", true, "api_call", "completed", true),
        ("best_effort_rerun", true, "save_as", "completed", false),
        ("best_effort_rerun", true, "save_as", "blocked_by_policy", true),
        ("best_effort_rerun", false, "api_call", "completed", false),
        ("audit_reconstruction", true, "api_call", "completed", false),
    ];
    for (mode, queries, kind, status, is_legal) in cases {
        let request = request(mode, queries, "reuse_recorded_outputs");
        let rows = [
            ("TaskReplayRequest", request.as_str()),
            ("WorkspaceExternalizationReceipt", &left(kind, status)),
        ];
        let wrong = ["2 replay_attempts_external_side_effect /externalization_kind"];
        has_found(&AREA, &rows, if is_legal { &[] } else { &wrong });
    }
    let sent = r#"{"side_effect_id":"s","kind":"mail","state":"executed","replay_request_id":"q"}"#;
    let request = request("best_effort_rerun", true, "reuse_recorded_outputs");
    let rows = [("TaskReplayRequest", request.as_str()), ("SideEffectLedgerEntry", sent)];
    has_found(&AREA, &rows, &["2 replay_attempts_external_side_effect /kind"]);
}

#[test]
fn deterministic_means_deterministic() {
    let again = request("deterministic_reexecution", false, "same_model_if_available");
    let wrong = "1 deterministic_replay_with_nondeterministic_step /model_reexecution_policy";
    has_found(&AREA, &[("TaskReplayRequest", &again)], &[wrong]);
    let request = request("deterministic_reexecution", false, "reuse_recorded_outputs");
    for step in [r#""depends_on":"none""#, r#""depends_on":"tool","replay_policy":"deterministic""#] {
        let step = format!(r#"{{"step_result_id":"s","replay_request_id":"q",{step}}}"#);
        has_found(&AREA, &[("TaskReplayRequest", &request), (STEP, &step)], &[]);
    }
}

#[test]
fn what_could_not_be_replayed_diverges() {
    let step = r#"{"step_result_id":"s","replay_request_id":"q","source_step_ref":"step:1","original_output_hash":"a"}"#;
    let wrong = ["2 replay_divergence_unrecorded /replay_output_hash"];
    let simulated = request("simulation_from_recorded_outputs", false, "reuse_recorded_outputs");
    has_found(&AREA, &[("TaskReplayRequest", &simulated), (STEP, step)], &wrong);
    let audit = request("audit_reconstruction", false, "reuse_recorded_outputs");
    has_found(&AREA, &[("TaskReplayRequest", &audit), (STEP, step)], &[]);
    let other = r#"{"divergence_id":"d","replay_request_id":"q","source_step_ref":"step:2"}"#;
    let rows = [("TaskReplayRequest", simulated.as_str()), (STEP, step), ("ReplayDivergenceRecord", other)];
    has_found(&AREA, &rows, &wrong);
}
