//! What people do and see besides: commands, buttons, approvals, explanations; what is learned from a run.
//! Owns: these. Must not: decide on substance.

use super::builder::{Builder, Run, hash_of};
use super::making::{Derived, Outcome, Verdict, attended, attention, evaluate, moves, proven, version};
use countersign_govern::derive::text;
use countersign_govern::table::commands;
use serde_json::{Value, json};

/// A command of the task that people may give.
fn entry(id: &str) -> Value {
    json!({
        "command_id": id, "request_schema_ref": {"schema_id": "request", "semantic_version": "1.0.0"},
        "response_schema_ref": {"schema_id": "response", "semantic_version": "1.0.0"}, "durable_write": "required",
        "required_policy_checks": ["same_matter"], "idempotency_key_required": true,
        "telemetry_event_kind": format!("command.{id}"), "read_model_invalidations": ["AttentionLedger", "TaskHealthCard"],
        "failure_codes": ["not_found"], "owning_doc": "DOC23_CORE", "schema_version": "1.0"
    })
}

/// A command of the reliance layer, as it is built in.
fn built_in(id: &str) -> Value {
    let command = commands::find(id).expect("a built-in command");
    json!({
        "command_id": id, "request_schema_ref": {"schema_id": command.request, "semantic_version": "1.0.0"},
        "response_schema_ref": {"schema_id": command.response, "semantic_version": "1.0.0"},
        "durable_write": command.durable_write.as_str(), "required_policy_checks": command.policy_checks,
        "idempotency_key_required": command.is_keyed,
        "read_model_invalidations": command.invalidations(), "empty_state_behavior": command.states.empty,
        "blocked_state_behavior": command.states.blocked, "degraded_state_behavior": command.states.degraded,
        "error_state_behavior": command.states.error, "owning_doc": command.owner, "schema_version": "1.0"
    })
}

/// Buttons, and somebody who presses them.
pub(super) fn command(b: &mut Builder, run: &mut Run) {
    b.share_once("TaskCommandRegistryEntry", "note.add", entry("note.add"));
    let resolve = "attention.resolve_item";
    b.share_once("RelianceLayerCommandRegistryEntry", resolve, built_in(resolve));
    b.share_once(
        "UiAffordance",
        "resolve-button",
        json!({
            "affordance_id": "resolve-button", "surface_id": "ledger", "surface_kind": "g",
            "read_model_kind": "AttentionLedger", "action": "resolve the item", "enabled": true,
            "command_ref": format!("command:{resolve}")
        }),
    );
    for _ in 0..b.random.index(1..3) {
        let command = *b.random.pick(&["note.add", resolve]);
        invoke(b, run, command);
    }
}

/// A command is given and carried out.
fn invoke(b: &mut Builder, run: &Run, command: &str) {
    let id = b.id("invocation");
    let request = json!({"command": command, "run": run.run_id, "number": id});
    b.add(
        "CommandInvocation",
        json!({
            "invocation_id": id, "command_id": command, "actor_ref": "user:reviewer", "actor_kind": "user",
            "idempotency_key": format!("key-of-{id}"), "request_hash": hash_of(&request), "created_at": b.now()
        }),
    );
    let receipt = json!({"receipt_id": b.id("command-receipt"), "invocation_id": id, "status": "accepted", "created_at": b.now()});
    b.add("CommandReceipt", receipt);
}

/// What a run understood is shown, and a person agrees.
pub(super) fn contract(b: &mut Builder, run: &mut Run) {
    let cost = b.id("cost");
    b.add(
        "CostVector",
        json!({
            "cost_vector_id": cost, "components": {"usd": {"expected": 3, "hard_cap": 9, "unit": "usd"}},
            "basis": "heuristic", "estimator_confidence": "uncalibrated", "assumptions": [], "schema_version": "1.0"
        }),
    );
    let id = b.id("contract");
    let is_asked = !b.random.once_in(3);
    let mut review = json!({
        "review_id": id, "task_id": run.task_id, "run_id": run.run_id, "compiled_plan_ref": format!("compiled_plan:{id}"),
        "interpreted_goal": "Review the lease.", "criteria_summary": ["The notice period is right."],
        "threshold_summary": ["0.8"], "source_requirements": ["the lease"],
        "required_capabilities": [{"capability_id": "edit-text"}], "hard_call_triggers": ["meaning_change_approval"],
        "estimated_cost_vector_ref": format!("cost_vector:{cost}"), "user_approval_required": is_asked,
        "approval_status": "pending", "lifecycle_state": "draft", "created_at": b.now(), "schema_version": "1.1"
    });
    b.add("EvaluationContractReview", review.clone());
    let subject = format!("evaluation_contract_review:{id}");
    moves(b, &subject, "draft", "ready_for_review", "engine:contract");
    review["lifecycle_state"] = "ready_for_review".into();
    b.add("EvaluationContractReview", review.clone());
    if is_asked {
        let item = attention(b, run, "approval_required", &subject, "Is this what you meant?");
        let confirmation = b.id("confirmation");
        b.add(
            "UserConfirmation",
            json!({
                "confirmation_id": confirmation, "user_ref": "user:client", "subject_ref": subject,
                "created_at": b.now()
            }),
        );
        moves(b, &subject, "pending", "approved", "user:client");
        review["approval_status"] = "approved".into();
        review["approval_ref"] = format!("user_confirmation:{confirmation}").into();
        b.add("EvaluationContractReview", review);
        attended(b, item, "user:client");
    } else {
        moves(b, &subject, "pending", "waived_by_policy", "engine:policy");
        review["approval_status"] = "waived_by_policy".into();
        b.add("EvaluationContractReview", review);
    }
}

/// Something waits for a person, who deals with it or leaves it.
pub(super) fn attend(b: &mut Builder, run: &mut Run) {
    let artifact = b.id("letter");
    let head = version(b, run, &artifact, None, "mechanical");
    let mut item = attention(b, run, "blocked_item", &head, "The letter can't be sent yet.");
    let subject = format!("attention_ledger_item:{}", item["item_id"].as_str().unwrap_or_default());
    match b.random.index(0..3) {
        0 => {
            moves(b, &subject, "open", "dismissed", "user:reviewer");
            item["lifecycle_state"] = "dismissed".into();
            b.add("AttentionLedgerItem", item);
        }
        1 => attended(b, item, "user:reviewer"),
        _left => {}
    }
}

/// How it came to a result, in steps that can be looked up.
pub(super) fn explain(b: &mut Builder, run: &mut Run) {
    let artifact = b.id("analysis");
    let (first, second) =
        (version(b, run, &artifact, None, "mechanical"), version(b, run, &artifact, None, "mechanical"));
    let third = version(b, run, &artifact, None, "mechanical");
    let trace = json!({
        "trace_id": b.id("trace"), "trace_kind": b.random.pick(&["evaluation", "revision", "routing"]),
        "causal_steps": [
            {
                "step_id": "compare", "input_refs": [first], "output_refs": [second],
                "rationale_summary": "Clause 3 names another date than the letter.", "evidence_refs": [first]
            },
            {
                "step_id": "mend", "input_refs": [second], "output_refs": [third],
                "rationale_summary": "The date of the letter was taken.", "evidence_refs": []
            }
        ],
        "hidden_reasoning_included": false, "schema_version": "1.0"
    });
    b.add("ExplanationTrace", trace);
}

/// What is learned, and what runs behind.
pub(super) fn learn(b: &mut Builder, run: &mut Run) {
    let behavior = if b.random.once_in(2) {
        json!({"emits_progress_heartbeat": true, "heartbeat_interval_ms": 5_000, "schema_version": "1.0"})
    } else {
        json!({"emits_progress_heartbeat": false, "schema_version": "1.0"})
    };
    b.add("ModuleProgressBehavior", behavior);
    let needs = json!({"requires_background_execution": b.random.once_in(2), "schema_version": "1.0"});
    b.add("RunExecutionRequirements", needs);
    let id = b.id("invocation");
    let request = json!({"command": "note.add", "run": run.run_id, "number": id});
    b.share_once("TaskCommandRegistryEntry", "note.add", entry("note.add"));
    b.add(
        "CommandInvocation",
        json!({
            "invocation_id": id, "command_id": "note.add", "actor_ref": "engine:learning", "actor_kind": "engine",
            "idempotency_key": format!("key-of-{id}"), "request_hash": hash_of(&request), "created_at": b.now()
        }),
    );
    let receipt = b.id("command-receipt");
    b.add(
        "CommandReceipt",
        json!({"receipt_id": receipt, "invocation_id": id, "status": "accepted", "created_at": b.now()}),
    );
    let signal = json!({
        "signal_id": b.id("signal"), "learning_mode": b.random.pick(&["production", "signal_generation", "calibration"]),
        "receipt_refs": [format!("command_receipt:{receipt}")], "created_at": b.now()
    });
    b.add("LearningSignal", signal);
}

const SHORT: Verdict =
    Verdict { disposition: "needs_revision", verdict: "failed", causes: &[], branch: "on_needs_revision" };

/// The same outcome falls short twice: for the same reason, or for another.
pub(super) fn progress(b: &mut Builder, run: &mut Run) {
    let mut outcome = Outcome::new(b, run, &[]);
    let artifact = b.id("survey");
    let is_same = b.random.once_in(2);
    let mut before: Option<Value> = None;
    for words in ["The date is wrong.", if is_same { "The date is wrong." } else { "The name is wrong." }] {
        let head = version(b, run, &artifact, None, "mechanical");
        let evaluated = evaluate(b, run, &mut outcome, (&artifact, &head), &SHORT);
        let key = find(b, run, (&artifact, &head), (&evaluated.result, &evaluated.snapshot), words);
        signal(b, run, &outcome, &key, before.as_ref());
        before = Some(key);
        outcome.goes(b, run, "dirty", None);
    }
}

/// A finding, and how it stands; its key.
fn find(b: &mut Builder, run: &Run, on: (&str, &str), from: (&str, &str), words: &str) -> Value {
    let (event, finding) = (b.id("finding-event"), b.id("finding"));
    let key = json!({
        "failure_kind": "criterion_unmet", "artifact_stable_id": on.0, "target_scope_ref": null,
        "finding_summary_hash": hash_of(&finding), "normalized_finding_text_hash": text::hash(words).to_string(), "schema_version": "1.0"
    });
    let severity = *b.random.pick(&["low", "medium", "high"]);
    let reference = format!("evaluation_finding_event:{event}");
    let of = Derived {
        formula: "blocking_authority_v1",
        inputs: json!({"checkable_basis_count": 0, "is_permitted": false}),
        from: vec![on.1.to_owned()],
        output: reference.clone(),
    };
    let record = json!({
            "finding_event_id": event, "finding_id": finding, "result_id": from.0, "producer_kind": "outcome_evaluator",
            "producer_module_id": "evaluate", "producer_activation_seq": 1, "finding_kind": "defect",
            "finding_text": words, "explanation": "The letter says otherwise.", "severity": severity,
            "emitted_state": "active", "assurance_basis": ["deterministic_check"],
            "blocking_authority": {
                "satisfied": false, "basis": [], "subjective_blocking_permission": "not_allowed",
                "explanation": "It does not block.", "schema_version": "1.0"
            },
            "confidence_score": 0.9, "confidence_basis": ["tool_result"], "confidence_explanation": "A check said so.",
            "target_artifact_ref": format!("artifact:{}", on.0), "target_artifact_version_ref": on.1,
            "affected_claim_refs": [], "evidence_refs": [], "verification_record_refs": [],
            "supporting_material_snapshot_refs": [], "based_on_artifact_version_ref": on.1,
            "evaluation_snapshot_ref": from.1, "match_key": key, "taint_class": "user_trusted_bounded",
            "data_class": "internal", "privileged": false, "matter_id": run.matter_id, "policy_decision_refs": [],
            "created_at": b.now(), "schema_version": "2.0"
    });
    proven(b, run, "EvaluationFindingEvent", record, &of, &[&false.into()]);
    b.add(
        "EvaluationFindingRecord",
        json!({
            "finding_id": finding, "canonical_event_ref": reference, "current_state": "active",
            "current_severity": severity, "lifecycle_transition_refs": [], "updated_at": b.now(), "schema_version": "1.0"
        }),
    );
    key
}

/// Whether it fell short for the same reason as before.
fn signal(b: &mut Builder, run: &Run, outcome: &Outcome, key: &Value, before: Option<&Value>) {
    let is_same = before.is_some_and(|before| {
        before["normalized_finding_text_hash"] == key["normalized_finding_text_hash"]
            && before["artifact_stable_id"] == key["artifact_stable_id"]
    });
    let id = b.id("progress");
    let mut record = json!({
        "signal_id": id, "outcome_id": outcome.id, "run_id": run.run_id, "current_finding_match_key": key,
        "same_reason_as_previous": is_same, "strategy_switch_recommended": is_same, "created_at": b.now(),
        "schema_version": "1.0"
    });
    if let Some(before) = before {
        record["previous_finding_match_key"] = before.clone();
    }
    let mut inputs = json!({"current": key});
    if let Some(before) = before {
        inputs["previous"] = before.clone();
    }
    let of = Derived {
        formula: "same_reason_v1",
        inputs,
        from: vec![outcome.reference()],
        output: format!("progress_signal_record:{id}"),
    };
    proven(b, run, "ProgressSignalRecord", record, &of, &[&is_same.into()]);
}
