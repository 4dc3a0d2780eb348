//! The library: the types of the contract.
//! Owns: their members and words. Must not: judge.

use super::basic::{False, Instant, LibraryTier, PolicyEvaluationRef, SourceRecordRef, StorageRef, V10};
use super::wire::{record, words};
use alloc::string::String;

words! {
    /// Status of LibraryPromotionCandidate.
    LibraryPromotionCandidateStatus {
        Queued = "queued", Approved = "approved", Rejected = "rejected", Promoted = "promoted",
        Cancelled = "cancelled",
    }
}

record! {
    /// Queued wish to promote.
    LibraryPromotionCandidate: projection {
        candidate_id: String,
        source_record_ref: SourceRecordRef,
        workspace_id: String,
        requested_by_ref: String,
        status: LibraryPromotionCandidateStatus,
        created_at: Instant,
        schema_version: V10,
    }
}

words! {
    /// Requires verification state of LibraryPromotionGate.
    LibraryPromotionGateRequiresVerificationState {
        Verified = "verified", NotRequired = "not_required",
    }
}

record! {
    /// Conditions.
    LibraryPromotionGate: policy {
        gate_id: String,
        min_tier: LibraryTier,
        requires_verification_state: LibraryPromotionGateRequiresVerificationState,
        ec_policy_decision_ref: PolicyEvaluationRef,
        requires_access_tier: String,
        privileged_sources_auto_promote_allowed: False,
        schema_version: V10,
    }
}

words! {
    /// Status of LibraryPromotionReceipt.
    LibraryPromotionReceiptStatus {
        Promoted = "promoted", BlockedByPolicy = "blocked_by_policy", Rejected = "rejected",
    }
}

record! {
    /// The durable write.
    LibraryPromotionReceipt: receipt {
        receipt_id: String,
        candidate_id: String,
        gate_ref: StorageRef,
        durable_library_write_ref: Option<StorageRef>,
        status: LibraryPromotionReceiptStatus,
        created_at: Instant,
        schema_version: V10,
        cleared_by_access_tier: Option<String>,
    }
}
