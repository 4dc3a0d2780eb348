//! Explanations and replays: the types of the contract.
//! Owns: their members and words. Must not: judge.

use super::basic::{False, Instant, StorageRef, V10};
use super::wire::{record, words};
use alloc::string::String;
use alloc::vec::Vec;

words! {
    /// Trace kind of ExplanationTrace.
    ExplanationTraceTraceKind {
        Evaluation = "evaluation", Revision = "revision", Routing = "routing", Reliance = "reliance",
    }
}

record! {
    /// Part of ExplanationTrace.
    ExplanationTraceCausalStep: value {
        step_id: String,
        input_refs: Vec<StorageRef>,
        operation_receipt_ref: Option<StorageRef>,
        output_refs: Vec<StorageRef>,
        rationale_summary: String,
        evidence_refs: Vec<StorageRef>,
    }
}

record! {
    /// Causal steps with user-visible rationale.
    ExplanationTrace: read_model {
        trace_id: String,
        trace_kind: ExplanationTraceTraceKind,
        causal_steps: Vec<ExplanationTraceCausalStep>,
        hidden_reasoning_included: False,
        schema_version: V10,
    }
}

words! {
    /// 4 modes.
    TaskReplayMode {
        AuditReconstruction = "audit_reconstruction",
        DeterministicReexecution = "deterministic_reexecution", BestEffortRerun = "best_effort_rerun",
        SimulationFromRecordedOutputs = "simulation_from_recorded_outputs",
    }
}

words! {
    /// Model reexecution policy of TaskReplayRequest.
    TaskReplayRequestModelReexecutionPolicy {
        ReuseRecordedOutputs = "reuse_recorded_outputs", SameModelIfAvailable = "same_model_if_available",
        CurrentEquivalentModel = "current_equivalent_model",
    }
}

record! {
    /// A replay.
    TaskReplayRequest: request {
        replay_request_id: String,
        task_id: String,
        source_run_id: String,
        replay_mode: TaskReplayMode,
        checkpoint_ref: Option<StorageRef>,
        known_good_checkpoint_ref: Option<String>,
        allow_external_side_effects: False,
        allow_external_queries: bool,
        model_reexecution_policy: TaskReplayRequestModelReexecutionPolicy,
        created_at: Instant,
        schema_version: V10,
    }
}

words! {
    /// Divergence kind of ReplayDivergenceRecord.
    ReplayDivergenceRecordDivergenceKind {
        ModelOutputDrift = "model_output_drift", ToolOutputDrift = "tool_output_drift",
        SourceStateChanged = "source_state_changed", PolicyChanged = "policy_changed",
        CapabilityUnavailable = "capability_unavailable",
        NonReplayableSideEffect = "non_replayable_side_effect",
    }
}

record! {
    /// Where the replay differed.
    ReplayDivergenceRecord: receipt {
        divergence_id: String,
        replay_request_id: String,
        divergence_kind: ReplayDivergenceRecordDivergenceKind,
        source_step_ref: StorageRef,
        original_output_hash: Option<String>,
        replay_output_hash: Option<String>,
        explanation: String,
        created_at: Instant,
        schema_version: V10,
    }
}
