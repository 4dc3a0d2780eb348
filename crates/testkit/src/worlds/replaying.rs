//! Going back: checkpoints, forks, replays.
//! Owns: what is kept and what differs. Must not: act outside in a replay.

use super::asking::{act, effect};
use super::builder::{Builder, Run};
use super::making::{snapshots, version};
use serde_json::{Value, json};

/// A state that was good is kept, something is sent, and the run forks from there.
pub(super) fn fork(b: &mut Builder, run: &mut Run) {
    let artifact = b.id("pleading");
    let head = version(b, run, &artifact, None, "mechanical");
    let (policies, capabilities) = snapshots(run);
    let checkpoint = b.id("checkpoint");
    b.add(
        "KnownGoodCheckpoint",
        json!({
            "checkpoint_id": checkpoint, "task_id": run.task_id, "run_id": run.run_id, "label": "before the rewrite",
            "artifact_head_refs": [head], "artifact_version_refs": [head], "source_workspace_snapshot_refs": [],
            "graph_topology_snapshot_ref": "graph:main", "policy_snapshot_ref": policies,
            "capability_snapshot_ref": capabilities, "event_seq": b.end(),
            "irreversible_side_effect_refs": run.executed.iter().map(reference_of).collect::<Vec<_>>(),
            "created_by_ref": "user:reviewer", "created_at": b.now(), "schema_version": "1.0"
        }),
    );
    let intent = effect(b, run, "intent");
    act(b, run, &intent);
    let kept: Vec<Value> = (run.executed.iter())
        .map(|one| {
            json!({
                "side_effect_id": one["side_effect_id"], "kind": one["kind"], "executed_at": one["created_at"],
                "note": "not_reversible_in_fork", "receipt_ref": one["receipt_ref"]
            })
        })
        .collect();
    let fork = json!({
        "fork_id": b.id("fork"), "parent_run_id": run.run_id, "forked_from_checkpoint_ref": checkpoint,
        "new_run_id": b.id("forked-run"), "fork_reason": "Try another structure.",
        "irrevocable_side_effects_at_fork": kept, "created_at": b.now(), "schema_version": "1.0"
    });
    b.add("TaskRunFork", fork);
}

fn reference_of(effect: &Value) -> String {
    format!("side_effect_ledger_entry:{}", effect["side_effect_id"].as_str().unwrap_or_default())
}

/// A run is gone through again; what comes out differently is told.
pub(super) fn replay(b: &mut Builder, run: &mut Run) {
    let (mode, policy, may_differ) = *b.random.pick(&[
        ("best_effort_rerun", "same_model_if_available", true),
        ("simulation_from_recorded_outputs", "reuse_recorded_outputs", false),
        ("audit_reconstruction", "reuse_recorded_outputs", false),
    ]);
    let id = b.id("replay");
    b.add(
        "TaskReplayRequest",
        json!({
            "replay_request_id": id, "task_id": run.task_id, "source_run_id": run.run_id, "replay_mode": mode,
            "allow_external_side_effects": false, "allow_external_queries": false, "model_reexecution_policy": policy,
            "created_at": b.now(), "schema_version": "1.0"
        }),
    );
    let preview = json!({
        "preview_id": b.id("preview"), "source_run_id": run.run_id, "replay_mode": mode, "steps": ["draft", "check"],
        "nondeterministic_step_refs": ["step:draft"], "created_at": b.now()
    });
    b.add("ReplayPreview", preview);
    for step in ["step:draft", "step:check"] {
        let original = b.some_hash();
        let again = if may_differ && b.random.once_in(2) { b.some_hash() } else { original.clone() };
        let result = json!({
            "step_result_id": b.id("replayed"), "replay_request_id": id, "source_step_ref": step,
            "depends_on": if step == "step:draft" { "model" } else { "none" }, "original_output_hash": original,
            "replay_output_hash": again, "created_at": b.now()
        });
        b.add("ReplayStepResult", result);
        if original != again {
            let divergence = json!({
                "divergence_id": b.id("divergence"), "replay_request_id": id, "divergence_kind": "model_output_drift",
                "source_step_ref": step, "original_output_hash": original, "replay_output_hash": again,
                "explanation": "The model worded it otherwise.", "created_at": b.now(), "schema_version": "1.0"
            });
            b.add("ReplayDivergenceRecord", divergence);
        }
    }
}
