//! Going back and beginning again: checkpoints, forks that go on, runs that are stopped as a whole, replays.
//! Owns: what is kept and what differs. Must not: act outside in a replay.

use super::asking::{self, Cancel, act, effect, withdraw};
use super::builder::{Builder, Run};
use super::making::{Outcome, Question, ask, attended, snapshots, version, version_goes};
use super::plan::{Plan, Step};
use super::reliance::manifest;
use super::{claims, evaluation, opening};
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
            "irreversible_side_effect_refs": run.executed.iter().map(asking::reference_of).collect::<Vec<_>>(),
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
    let mut other = run.again(b);
    let fork = json!({
        "fork_id": b.id("fork"), "parent_run_id": run.run_id, "forked_from_checkpoint_ref": checkpoint,
        "new_run_id": other.run_id, "fork_reason": "Try another structure.",
        "irrevocable_side_effects_at_fork": kept, "created_at": b.now(), "schema_version": "1.0"
    });
    b.add("TaskRunFork", fork);
    b.beside(&mut other, |b, other| {
        opening::task(b, other);
        opening::sources(b, other);
        let forked = version(b, other, &artifact, None, "mechanical");
        version_goes(b, other, &forked, None, "candidate");
        claims::make(b, other);
        evaluation::any(b, other);
    });
    compare(b, run, &other);
}

/// Two runs of the task side by side.
fn compare(b: &mut Builder, run: &Run, other: &Run) {
    let heads = [run, other].map(|one| format!("artifact_version:{}", one.known.head_version_id));
    let manifest = manifest(b, &heads);
    let (header, diff) = (b.id("read-model"), b.id("run-diff"));
    b.add(
        "DerivedReadModelRecord",
        json!({
            "read_model_id": header, "read_model_kind": "RunDiff",
            "input_manifest_ref": format!("read_model_input_manifest:{manifest}"),
            "derivation_policy_ref": format!("policy_snapshot:{}", run.known.policy_snapshot_id),
            "formula_eval_receipt_refs": [], "valid_from_event_seq": b.end(), "run_id": run.run_id,
            "task_id": run.task_id, "matter_id": run.matter_id, "created_at": b.now(), "schema_version": "1.0"
        }),
    );
    b.add(
        "RunDiff",
        json!({
            "run_diff_id": diff, "left_run_id": run.run_id, "right_run_id": other.run_id,
            "artifact_diff_refs": [format!("diff:{diff}")], "outcome_diff_refs": [],
            "derived_read_model_ref": format!("derived_read_model_record:{header}"), "schema_version": "1.0"
        }),
    );
}

/// A second run of the task is under way when somebody stops it as a whole: what was sent stays sent.
pub(super) fn cancelled(b: &mut Builder, run: &mut Run) {
    let mut other = run.again(b);
    b.beside(&mut other, |b, other| {
        opening::task(b, other);
        let outcome = Outcome::new(b, other, &[]);
        let artifact = b.id("petition");
        let steps = (0..2).map(|at| Step {
            id: b.id("step"),
            kind: "edit_artifact",
            artifact: artifact.clone(),
            after: (0..at).collect(),
        });
        let steps = steps.collect();
        let plan = Plan::new(b, steps);
        let mut plan = Plan::compile(b, other, &outcome, plan);
        plan.dispatch(b, other);
        plan.start(b, other, 0);
        for _ in 0..b.random.index(1..4) {
            let intent = effect(b, other, "intent");
            act(b, other, &intent);
        }
        let intents = vec![effect(b, other, "intent")];
        let blocked = [outcome.reference()];
        let kind = "external_side_effect_approval";
        let question = Question { kind, source: &blocked[0], blocked: &blocked, on_timeout: "escalate" };
        let (call, item) = ask(b, other, &question);
        let receipt = stop(b, other, &plan, &call, &intents);
        plan.goes(b, "cancelled", "TaskCancelReceipt", &receipt);
        plan.operates(b, other, 1, "step_skipped", json!({}));
        withdraw(b, intents);
        attended(b, item, "user:reviewer");
    });
}

/// The whole run is stopped; the reference to the receipt.
fn stop(b: &mut Builder, run: &Run, plan: &Plan, call: &str, intents: &[Value]) -> String {
    let is_mended = b.random.once_in(2);
    let letter = b.id("correction");
    let correction = is_mended.then(|| version(b, run, &letter, None, "mechanical"));
    let kept = |one: &Value| match &correction {
        Some(letter) => json!({
            "ref": asking::reference_of(one), "disposition": "corrective_artifact", "corrective_artifact_ref": letter
        }),
        None => json!({"ref": asking::reference_of(one), "disposition": "left"}),
    };
    let cancel = Cancel {
        scope: "entire_run",
        targets: &[],
        handling: "preempt_immediately",
        side_effects: if is_mended { "create_corrective_artifact" } else { "cancel_unexecuted_intents" },
        candidates: "discard",
        learning: "suppress_success_signals",
        stopped: &[plan.reference(), format!("hard_revision_call:{call}")],
        executed: run.executed.iter().map(kept).collect(),
        intents: intents.iter().map(asking::reference_of).collect(),
    };
    cancel.write(b, run)
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
        "nondeterministic_step_refs": ["step:draft"], "side_effect_refs": [], "created_at": b.now()
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
        // What differs is told at once.
        b.together(|b| {
            b.add("ReplayStepResult", result);
            if original != again {
                let divergence = json!({
                    "divergence_id": b.id("divergence"), "replay_request_id": id,
                    "divergence_kind": "model_output_drift", "source_step_ref": step, "original_output_hash": original,
                    "replay_output_hash": again, "explanation": "The model worded it otherwise.",
                    "created_at": b.now(), "schema_version": "1.0"
                });
                b.add("ReplayDivergenceRecord", divergence);
            }
        });
    }
}
