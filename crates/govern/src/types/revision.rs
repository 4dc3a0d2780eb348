//! Revision plans: the types of the contract.
//! Owns: their members and words. Must not: judge.

use super::basic::{Instant, OutcomeId, RevisionPlanStep, RevisionPlanStepKind, StorageRef, V10, V11};
use super::sufficiency::CandidateRepairProcedureSafetyClass;
use super::wire::{record, words};
use alloc::string::String;
use alloc::vec::Vec;
use countersign_record::json::Number;

words! {
    /// 14 states.
    RevisionExecutionLifecycleState {
        PlanCompiled = "plan_compiled", DispatchPending = "dispatch_pending", Dispatched = "dispatched",
        StepRunning = "step_running", StepReceiptReceived = "step_receipt_received",
        WaitingDependency = "waiting_dependency", WaitingHardCall = "waiting_hard_call",
        Revalidating = "revalidating", CascadeRunning = "cascade_running",
        RegressionDetected = "regression_detected", TerminalSatisfied = "terminal_satisfied",
        TerminalFailed = "terminal_failed", TerminalBlocked = "terminal_blocked", Cancelled = "cancelled",
    }
}

words! {
    /// Triggered by receipt kind of RevisionExecutionLifecycleTransition.
    RevisionExecutionLifecycleTransitionTriggeredByReceiptKind {
        RevisionOperationReceipt = "RevisionOperationReceipt",
        HardCallResolutionReceipt = "HardCallResolutionReceipt",
        FeedbackConsumptionReceipt = "FeedbackConsumptionReceipt",
        SourceWorkspaceOperationReceipt = "SourceWorkspaceOperationReceipt",
        TaskCancelReceipt = "TaskCancelReceipt", TaskSkipReceipt = "TaskSkipReceipt",
        RevalidationCascadeReceipt = "RevalidationCascadeReceipt",
    }
}

record! {
    /// A row of the transition table (not an instance).
    RevisionExecutionLifecycleTransition: policy {
        from_state: RevisionExecutionLifecycleState,
        to_state: RevisionExecutionLifecycleState,
        triggered_by_receipt_kind: RevisionExecutionLifecycleTransitionTriggeredByReceiptKind,
        guard_condition: Option<String>,
        schema_version: V10,
    }
}

words! {
    /// Attempt class of StepIdempotencyKey.
    StepIdempotencyKeyAttemptClass {
        First = "first", Retry = "retry", Regenerate = "regenerate",
    }
}

record! {
    /// Identity of a step attempt; key string = sha256(canonicalJson(key)).
    StepIdempotencyKey: value {
        run_id: String,
        plan_id: String,
        step_id: String,
        step_kind: RevisionPlanStepKind,
        target_ref_hash: String,
        input_payload_hash: String,
        attempt_class: StepIdempotencyKeyAttemptClass,
        previous_attempt_hash: Option<String>,
        schema_version: V10,
    }
}

words! {
    /// Candidate_only or rolling_hash_in_place.
    MutationMode {
        CandidateOnly = "candidate_only", RollingHashInPlace = "rolling_hash_in_place",
    }
}

record! {
    /// Lock with the hash read at acquisition.
    InPlaceMutationLock: event {
        step_id: String,
        target_section_anchor_hash: String,
        expected_base_version_id: String,
        expected_pre_hash: String,
    }
}

record! {
    /// Steps to carry out; no predicted post hash.
    RevisionPlan: request {
        plan_id: String,
        mutation_mode: MutationMode,
        in_place_mutation_locks: Option<Vec<InPlaceMutationLock>>,
        steps: Vec<RevisionPlanStep>,
        run_id: Option<String>,
        task_id: Option<String>,
        outcome_ids: Option<Vec<String>>,
        dependency_edges: Option<Vec<DependencyEdge>>,
        safety_class: Option<CandidateRepairProcedureSafetyClass>,
        plan_risk_score: Option<Number>,
    }
}

record! {
    /// What a step did; post hash by the dispatcher.
    RevisionOperationReceipt: receipt {
        receipt_id: String,
        step_id: String,
        expected_pre_hash: Option<String>,
        produced_post_hash: Option<String>,
        created_at: Instant,
        schema_version: V10,
        plan_id: Option<String>,
        run_id: Option<String>,
        operation_kind: Option<RevisionOperationKind>,
        idempotency_key: Option<StepIdempotencyKey>,
        artifact_stable_id: Option<String>,
    }
}

record! {
    /// Canonical step with canonical dependencies.
    RevisionPlanStepBase: request {
        step_id: String,
        step_order: u64,
        step_kind: RevisionPlanStepKind,
        depends_on_step_ids: Vec<String>,
        target_refs: Vec<StorageRef>,
        revalidation_policy: RevisionStepRevalidationPolicy,
        revalidation_rationale: String,
        schema_version: V10,
    }
}

words! {
    /// Edge kind of DependencyEdge.
    DependencyEdgeEdgeKind {
        RequiresOutput = "requires_output", RequiresArtifactVersion = "requires_artifact_version",
        RequiresHumanResolution = "requires_human_resolution",
        RequiresSourceAnswer = "requires_source_answer", RequiresVerification = "requires_verification",
    }
}

record! {
    /// Derived edge; from = dependent, to = prerequisite (settled).
    DependencyEdge: read_model {
        from_step_id: String,
        to_step_id: String,
        edge_kind: DependencyEdgeEdgeKind,
        schema_version: V10,
    }
}

words! {
    /// What to recheck.
    RevisionStepRevalidationPolicyKind {
        None = "none", RevalidateTargetedOutcomes = "revalidate_targeted_outcomes",
        RevalidateDeclaredDependents = "revalidate_declared_dependents",
        RevalidateFullClosure = "revalidate_full_closure", RevalidateFullTask = "revalidate_full_task",
    }
}

record! {
    /// The one revalidation statement of a step.
    RevisionStepRevalidationPolicy: policy {
        policy_kind: RevisionStepRevalidationPolicyKind,
        outcomes_to_recheck: Vec<OutcomeId>,
        closure_policy_ref: Option<StorageRef>,
        success_hint: Option<String>,
        rationale: String,
        schema_version: V10,
    }
}

record! {
    /// Instruction that points to the step policy.
    TypedRevisionInstruction: request {
        instruction_id: String,
        revalidation_policy_ref: StorageRef,
        schema_version: V11,
        step_id: Option<String>,
        plan_id: Option<String>,
    }
}

words! {
    /// What an operation on a plan was.
    RevisionOperationKind {
        PlanAdmitted = "plan_admitted", PlanRejected = "plan_rejected", Dispatched = "dispatched",
        StepStarted = "step_started", StepFinished = "step_finished", StepFailed = "step_failed",
        StepSkipped = "step_skipped", HardCallRaised = "hard_call_raised",
        RevalidationDone = "revalidation_done", ReplanAdmitted = "replan_admitted",
    }
}
