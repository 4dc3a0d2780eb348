//! Read models: the types of the contract.
//! Owns: their members and words. Must not: judge.

use super::basic::{Instant, StorageRef, V10};
use super::wire::{record, words};
use alloc::string::String;
use alloc::vec::Vec;

words! {
    /// Read model kind of DerivedReadModelRecord.
    DerivedReadModelRecordReadModelKind {
        TaskReliancePacket = "TaskReliancePacket", TaskHealthCard = "TaskHealthCard",
        FindingsInbox = "FindingsInbox", WorkProductCertification = "WorkProductCertification",
        RunDiff = "RunDiff", DecisionAuditView = "DecisionAuditView", EvidencePackage = "EvidencePackage",
        EvaluationChainView = "EvaluationChainView", AttentionLedger = "AttentionLedger",
        BudgetNarrative = "BudgetNarrative",
    }
}

record! {
    /// Header of every derived surface: inputs, policy, receipts, validity interval in log seq.
    DerivedReadModelRecord: read_model {
        read_model_id: String,
        read_model_kind: DerivedReadModelRecordReadModelKind,
        input_manifest_ref: StorageRef,
        derivation_policy_ref: StorageRef,
        formula_eval_receipt_refs: Vec<StorageRef>,
        valid_from_event_seq: u64,
        valid_until_event_seq: Option<u64>,
        invalidated_by_event_ref: Option<StorageRef>,
        created_at: Instant,
        schema_version: V10,
        payload_ref: Option<StorageRef>,
        run_id: Option<String>,
        task_id: Option<String>,
        matter_id: Option<String>,
    }
}

words! {
    /// Invalidation scope of ReadModelInvalidationSpec.
    ReadModelInvalidationSpecInvalidationScope {
        SameRun = "same_run", SameTask = "same_task", SameMatter = "same_matter",
        SpecificRefs = "specific_refs",
    }
}

record! {
    /// Which event kind invalidates which read-model kinds, in which scope.
    ReadModelInvalidationSpec: policy {
        producer_event_kind: String,
        invalidates_read_models: Vec<DerivedReadModelRecordReadModelKind>,
        invalidation_scope: ReadModelInvalidationSpecInvalidationScope,
        target_refs: Option<Vec<StorageRef>>,
        schema_version: V10,
    }
}
