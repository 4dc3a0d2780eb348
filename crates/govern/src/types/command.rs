//! Commands: the types of the contract.
//! Owns: their members and words. Must not: judge.

use super::basic::{OwnerDoc, SchemaRef, V10};
use super::read_models::DerivedReadModelRecordReadModelKind;
use super::wire::{record, words};
use alloc::string::String;
use alloc::vec::Vec;

record! {
    /// Registry row of any command.
    TaskCommandRegistryEntry: policy {
        command_id: String,
        request_schema_ref: SchemaRef,
        response_schema_ref: SchemaRef,
        durable_write: DurableWrite,
        required_policy_checks: Vec<String>,
        idempotency_key_required: bool,
        telemetry_event_kind: String,
        read_model_invalidations: Vec<DerivedReadModelRecordReadModelKind>,
        failure_codes: Vec<String>,
        owning_doc: OwnerDoc,
        schema_version: V10,
        writes_event_kinds: Option<Vec<String>>,
    }
}

words! {
    /// Command id of RelianceLayerCommandRegistryEntry.
    RelianceLayerCommandRegistryEntryCommandId {
        RelianceIssueWorkProductCertification = "reliance.issue_work_product_certification",
        RelianceInvalidatePacket = "reliance.invalidate_packet",
        RevisionReviewAcceptCandidate = "revision_review.accept_candidate",
        RevisionReviewRejectCandidate = "revision_review.reject_candidate",
        RevisionReviewRequestChanges = "revision_review.request_changes",
        RevisionReviewRestoreKnownGood = "revision_review.restore_known_good",
        EvidenceExportPackage = "evidence.export_package", FindingContest = "finding.contest",
        FindingConfirm = "finding.confirm", TaskReplayPreview = "task_replay.preview",
        TaskReplayCreateFork = "task_replay.create_fork", AttentionResolveItem = "attention.resolve_item",
    }
}

record! {
    /// The 12 §G commands with their surface states.
    RelianceLayerCommandRegistryEntry: policy {
        command_id: RelianceLayerCommandRegistryEntryCommandId,
        request_schema_ref: SchemaRef,
        response_schema_ref: SchemaRef,
        durable_write: DurableWrite,
        required_policy_checks: Vec<String>,
        idempotency_key_required: bool,
        read_model_invalidations: Vec<DerivedReadModelRecordReadModelKind>,
        empty_state_behavior: String,
        blocked_state_behavior: String,
        degraded_state_behavior: String,
        error_state_behavior: String,
        owning_doc: OwnerDoc,
        schema_version: V10,
        writes_event_kinds: Option<Vec<String>>,
    }
}

words! {
    /// Whether a command writes.
    DurableWrite {
        Required = "required", None = "none", ExplicitNoOp = "explicit_no_op",
    }
}
