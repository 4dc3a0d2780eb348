//! Repairs: types that the contract needs and does not declare.
//! Owns: their members and words. Must not: judge.

use crate::types::basic::{
    CapabilityRef, ClaimRef, Instant, PortRef, RepairStrategyKind, SourceRecordRef, StorageRef, V10,
};
use crate::types::concurrency::RevisionPlanConcurrencyProfile;
use crate::types::revision::{
    RevisionExecutionLifecycleState, RevisionExecutionLifecycleTransitionTriggeredByReceiptKind,
};
use crate::types::sub_agent::PlanVerifierRequirementPolicyOnUnavailable;
use crate::types::sufficiency::CandidateRepairProcedureSafetyClass;
use crate::types::wire::{record, words};
use alloc::string::String;
use alloc::vec::Vec;

words! {
    /// Whether an instruction is carried out.
    RepairExecution { Executes = "executes", Advisory = "advisory" }
}

words! {
    /// What became of an effect.
    SideEffectState { Intent = "intent", Executed = "executed", Cancelled = "cancelled" }
}

record! {
    /// What is to be mended.
    OutcomeRepairInstruction: request {
        instruction_id: String,
        outcome_id: String,
        run_id: String,
        strategy_kind: RepairStrategyKind,
        safety_class: CandidateRepairProcedureSafetyClass,
        target_ref: StorageRef,
        target_port: Option<PortRef>,
        execution: RepairExecution,
        artifact_kind: Option<String>,
        created_at: Instant,
        schema_version: Option<V10>,
    }
}

record! {
    /// What a module can mend.
    ModuleRevisionCapability: policy {
        capability_ref: String,
        module_id: String,
        strategies: Vec<RepairStrategyKind>,
        artifact_kinds: Vec<String>,
        schema_version: Option<V10>,
    }
}

words! {
    /// What a module does.
    ModuleKind {
        Planner = "planner", Researcher = "researcher", Writer = "writer", Evaluator = "evaluator",
        Judge = "judge", Revisor = "revisor", Dispatcher = "dispatcher", Verifier = "verifier",
        Moderator = "moderator", Integrator = "integrator", Tool = "tool",
    }
}

record! {
    /// A module and its ports.
    ModuleDeclaration: policy {
        module_id: String,
        module_kind: ModuleKind,
        input_ports: Vec<String>,
        schema_version: Option<V10>,
    }
}

record! {
    /// A revision plan moved on.
    RevisionLifecycleTransitionEvent: event {
        event_id: String,
        plan_id: String,
        from_state: RevisionExecutionLifecycleState,
        to_state: RevisionExecutionLifecycleState,
        triggered_by_receipt_kind: RevisionExecutionLifecycleTransitionTriggeredByReceiptKind,
        receipt_ref: StorageRef,
        created_at: Instant,
        schema_version: Option<V10>,
    }
}

record! {
    /// Steps that run at once.
    ParallelBatch: event {
        batch_id: String,
        plan_id: String,
        step_ids: Vec<String>,
        created_at: Instant,
        schema_version: Option<V10>,
    }
}

record! {
    /// All steps of a batch have ended (B-07).
    ParallelBatchFinalizationReceipt: receipt {
        receipt_id: String,
        batch_id: String,
        step_receipt_refs: Vec<StorageRef>,
        created_at: Instant,
        schema_version: Option<V10>,
    }
}

record! {
    /// Which plan goes first.
    TieBreakDecision: event {
        decision_id: String,
        profiles: Vec<RevisionPlanConcurrencyProfile>,
        order: Vec<String>,
        keys_used: Option<Vec<String>>,
        created_at: Instant,
        schema_version: Option<V10>,
    }
}

record! {
    /// Nobody can do what an outcome needs.
    TaskProcessGapSignal: event {
        signal_id: String,
        outcome_id: String,
        run_id: String,
        missing_capability_refs: Vec<CapabilityRef>,
        proposed_graph_patch_ref: Option<StorageRef>,
        created_at: Instant,
        schema_version: Option<V10>,
    }
}

record! {
    /// Something must be verified.
    VerificationRequestStep: request {
        step_id: String,
        run_id: String,
        outcome_id: String,
        claim_refs: Vec<ClaimRef>,
        source_record_refs: Vec<SourceRecordRef>,
        verifier_capability_ref: CapabilityRef,
        schema_version: Option<V10>,
    }
}

record! {
    /// What a verifier says of a plan.
    PlanVerifierResult: receipt {
        result_id: String,
        plan_id: String,
        passed: Option<bool>,
        created_at: Instant,
        schema_version: Option<V10>,
    }
}

record! {
    /// No verifier was there, and what was done.
    PlanVerifierUnavailableEvent: event {
        event_id: String,
        plan_id: String,
        action: PlanVerifierRequirementPolicyOnUnavailable,
        user_notice_ref: Option<StorageRef>,
        created_at: Instant,
        schema_version: Option<V10>,
    }
}

record! {
    /// Something that leaves a mark outside.
    SideEffectLedgerEntry: event {
        side_effect_id: String,
        run_id: String,
        kind: String,
        irreversible: bool,
        state: SideEffectState,
        receipt_ref: Option<StorageRef>,
        replay_request_id: Option<String>,
        created_at: Instant,
        schema_version: Option<V10>,
    }
}
