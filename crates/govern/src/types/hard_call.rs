//! Hard calls, cancelling, skipping: the types of the contract.
//! Owns: their members and words. Must not: judge.

use super::basic::{HardRevisionCallKind, HumanDecisionOption, Instant, SchemaRef, StorageRef, V10, V11};
use super::wire::{record, words};
use alloc::string::String;
use alloc::vec::Vec;

words! {
    /// What stops while it is pending.
    HardCallBlockingScope {
        EntireRun = "entire_run", Segment = "segment", Artifact = "artifact", Outcome = "outcome",
        Module = "module", SideEffectOnly = "side_effect_only",
    }
}

words! {
    /// Closed, freeform, closed with other.
    HardCallResponseMode {
        ClosedChoice = "closed_choice", FreeformRequired = "freeform_required",
        ClosedChoiceWithOther = "closed_choice_with_other",
    }
}

words! {
    /// Context visible to continuing modules of HardCallPendingPolicy.
    HardCallPendingPolicyContextVisibleToContinuingModules {
        None = "none", HardCallPendingSummary = "hard_call_pending_summary",
        FullContextRedacted = "full_context_redacted",
    }
}

words! {
    /// On defer of HardCallPendingPolicy.
    HardCallPendingPolicyOnDefer {
        ContinueWithWarning = "continue_with_warning", PauseScope = "pause_scope",
        AbortScope = "abort_scope",
    }
}

words! {
    /// On timeout of HardCallPendingPolicy.
    HardCallPendingPolicyOnTimeout {
        Escalate = "escalate", Abort = "abort", ContinueWithWarning = "continue_with_warning",
    }
}

record! {
    /// What may continue, defer, timeout.
    HardCallPendingPolicy: policy {
        hard_call_id: String,
        blocking_scope: HardCallBlockingScope,
        blocked_refs: Vec<String>,
        allowed_to_continue_refs: Vec<String>,
        context_visible_to_continuing_modules: HardCallPendingPolicyContextVisibleToContinuingModules,
        on_defer: HardCallPendingPolicyOnDefer,
        on_timeout: HardCallPendingPolicyOnTimeout,
        timeout_ms: Option<u64>,
        schema_version: V10,
    }
}

record! {
    /// Question to a person.
    HardRevisionCall: event {
        hard_call_id: String,
        response_mode: HardCallResponseMode,
        options: Vec<HumanDecisionOption>,
        prompt_text: String,
        default_if_no_response: Option<HumanDecisionOption>,
        pending_policy: HardCallPendingPolicy,
        created_at: Instant,
        schema_version: V11,
        hard_call_kind: Option<HardRevisionCallKind>,
        freeform_response_schema_ref: Option<SchemaRef>,
        source_ref: Option<StorageRef>,
        run_id: Option<String>,
    }
}

words! {
    /// The only operation kind of HardCallResolutionReceipt.
    HardCallResolutionReceiptOperationKind {
        HardCallResolved = "hard_call_resolved",
    }
}

record! {
    /// The dispatcher recorded the answer.
    HardCallResolutionReceipt: receipt {
        receipt_id: String,
        hard_call_id: String,
        operation_kind: HardCallResolutionReceiptOperationKind,
        dispatcher_actor_ref: String,
        resolved_by_user_ref: String,
        selected_option_id: Option<String>,
        freeform_response_ref: Option<StorageRef>,
        created_at: Instant,
        schema_version: V10,
    }
}

words! {
    /// Cancel scope of TaskCancelProtocol.
    TaskCancelProtocolCancelScope {
        EntireRun = "entire_run", Segment = "segment", ModuleActivation = "module_activation",
        RevisionPlan = "revision_plan", SideEffectIntent = "side_effect_intent",
    }
}

words! {
    /// In flight handling of TaskCancelProtocol.
    TaskCancelProtocolInFlightHandling {
        RequestGracefulStop = "request_graceful_stop", PreemptImmediately = "preempt_immediately",
        FinishCurrentStepThenStop = "finish_current_step_then_stop",
    }
}

words! {
    /// Side effect policy of TaskCancelProtocol.
    TaskCancelProtocolSideEffectPolicy {
        DoNotCancelExecutedSideEffects = "do_not_cancel_executed_side_effects",
        CancelUnexecutedIntents = "cancel_unexecuted_intents",
        CreateCorrectiveArtifact = "create_corrective_artifact",
    }
}

words! {
    /// Candidate disposition of TaskCancelProtocol.
    TaskCancelProtocolCandidateDisposition {
        Discard = "discard", RetainForManualReview = "retain_for_manual_review",
        OrphanUntilReconciled = "orphan_until_reconciled",
    }
}

words! {
    /// Source workspace disposition of TaskCancelProtocol.
    TaskCancelProtocolSourceWorkspaceDisposition {
        RetainRecords = "retain_records", MarkRecordsCancelled = "mark_records_cancelled",
        RollbackIfUncommitted = "rollback_if_uncommitted",
    }
}

words! {
    /// Learning signal policy of TaskCancelProtocol.
    TaskCancelProtocolLearningSignalPolicy {
        SuppressSuccessSignals = "suppress_success_signals",
        EmitCancelDiagnosticOnly = "emit_cancel_diagnostic_only",
        EmitFullSignalsWithCancelFlag = "emit_full_signals_with_cancel_flag",
    }
}

record! {
    /// Cancel request with every disposition.
    TaskCancelProtocol: request {
        cancel_request_id: String,
        task_id: String,
        run_id: String,
        requested_by_ref: String,
        cancel_scope: TaskCancelProtocolCancelScope,
        target_refs: Vec<String>,
        in_flight_handling: TaskCancelProtocolInFlightHandling,
        side_effect_policy: TaskCancelProtocolSideEffectPolicy,
        candidate_disposition: TaskCancelProtocolCandidateDisposition,
        source_workspace_disposition: TaskCancelProtocolSourceWorkspaceDisposition,
        learning_signal_policy: TaskCancelProtocolLearningSignalPolicy,
        user_receipt_ref: Option<StorageRef>,
        created_at: Instant,
        schema_version: V10,
    }
}

words! {
    /// Reason of TaskSkipReceipt.
    TaskSkipReceiptReason {
        NotApplicable = "not_applicable", UserDirected = "user_directed",
        DependencyUnavailable = "dependency_unavailable", PolicyBlocked = "policy_blocked",
    }
}

words! {
    /// Downstream effect of TaskSkipReceipt.
    TaskSkipReceiptDownstreamEffect {
        None = "none", MarksDependentsNotApplicable = "marks_dependents_not_applicable",
        RequiresHumanAck = "requires_human_ack",
    }
}

record! {
    /// What was skipped and its downstream effect.
    TaskSkipReceipt: receipt {
        skip_id: String,
        target_ref: String,
        skipped_by_ref: String,
        reason: TaskSkipReceiptReason,
        downstream_effect: TaskSkipReceiptDownstreamEffect,
        created_at: Instant,
        schema_version: V10,
    }
}
