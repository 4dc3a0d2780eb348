//! Source workspaces: the types of the contract.
//! Owns: their members and words. Must not: judge.

use super::basic::{DataClass, Instant, PolicyEvaluationRef, StorageRef, TaintClass, V10};
use super::wire::{record, words};
use alloc::string::String;
use alloc::vec::Vec;

words! {
    /// 14 operations; mutating = all but read_workspace_snapshot and export_workspace_bundle.
    SourceWorkspaceOperationKind {
        ReadWorkspaceSnapshot = "read_workspace_snapshot", AddSourceRecord = "add_source_record",
        UpdateSourceRecord = "update_source_record",
        AppendSourceQueryRecord = "append_source_query_record",
        UpdateResearchNeed = "update_research_need", AnswerResearchNeed = "answer_research_need",
        AddVerificationRecord = "add_verification_record", AddFreshnessRecord = "add_freshness_record",
        MarkSourceStale = "mark_source_stale", RecordTierTransition = "record_tier_transition",
        CreateSourceSet = "create_source_set", UpdateSourceSet = "update_source_set",
        PromoteLibraryCandidate = "promote_library_candidate",
        ExportWorkspaceBundle = "export_workspace_bundle",
    }
}

words! {
    /// Lock mode of SourceWorkspaceMutationPrecondition.
    SourceWorkspaceMutationPreconditionLockMode {
        OptimisticEventSeq = "optimistic_event_seq", PessimisticWriteLock = "pessimistic_write_lock",
    }
}

words! {
    /// On conflict of SourceWorkspaceMutationPrecondition.
    SourceWorkspaceMutationPreconditionOnConflict {
        AbortAndReevaluate = "abort_and_reevaluate", QueueBehindLock = "queue_behind_lock",
        FailOutcome = "fail_outcome",
    }
}

record! {
    /// Expected head hash and seq, lock, conflict behaviour.
    SourceWorkspaceMutationPrecondition: value {
        workspace_id: String,
        expected_workspace_head_hash: String,
        expected_event_seq: u64,
        target_record_ref: Option<StorageRef>,
        expected_target_record_hash: Option<String>,
        lock_mode: SourceWorkspaceMutationPreconditionLockMode,
        lock_lease_ref: Option<StorageRef>,
        on_conflict: SourceWorkspaceMutationPreconditionOnConflict,
        schema_version: V10,
    }
}

record! {
    /// Requested operation.
    SourceWorkspaceOperation: event {
        operation_id: String,
        operation_kind: SourceWorkspaceOperationKind,
        task_id: String,
        run_id: Option<String>,
        workspace_id: String,
        actor_ref: String,
        idempotency_key: String,
        precondition: Option<SourceWorkspaceMutationPrecondition>,
        payload_ref: Option<StorageRef>,
        policy_decision_refs: Vec<PolicyEvaluationRef>,
        data_class: DataClass,
        taint_class: TaintClass,
        matter_id: Option<String>,
        privileged: bool,
        created_at: Instant,
        schema_version: V10,
    }
}

words! {
    /// Status of SourceWorkspaceOperationReceipt.
    SourceWorkspaceOperationReceiptStatus {
        Applied = "applied", ReadCompleted = "read_completed", Conflict = "conflict",
        RejectedByPolicy = "rejected_by_policy", Failed = "failed",
    }
}

words! {
    /// Conflict reason of SourceWorkspaceOperationReceipt.
    SourceWorkspaceOperationReceiptConflictReason {
        WorkspaceHeadHashMismatch = "workspace_head_hash_mismatch",
        EventSeqMismatch = "event_seq_mismatch", TargetRecordHashMismatch = "target_record_hash_mismatch",
        LockUnavailable = "lock_unavailable",
    }
}

record! {
    /// What became of it.
    SourceWorkspaceOperationReceipt: receipt {
        receipt_id: String,
        operation_id: String,
        operation_kind: SourceWorkspaceOperationKind,
        workspace_id: String,
        prior_workspace_head_hash: Option<String>,
        new_workspace_head_hash: Option<String>,
        prior_event_seq: Option<u64>,
        new_event_seq: Option<u64>,
        status: SourceWorkspaceOperationReceiptStatus,
        conflict_reason: Option<SourceWorkspaceOperationReceiptConflictReason>,
        created_at: Instant,
        schema_version: V10,
    }
}
