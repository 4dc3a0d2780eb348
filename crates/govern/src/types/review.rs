//! Reviews of revisions: the types of the contract.
//! Owns: their members and words. Must not: judge.

use super::basic::{
    ArtifactVersionState, Instant, PolicyEvaluationRef, SourceRecordRef, StorageRef, V10, V11,
};
use super::checkpoint::IrrevocableSideEffectAtFork;
use super::wire::{record, words};
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

words! {
    /// See 5.7.
    RevisionReviewPacketState {
        Generated = "generated", ReviewPending = "review_pending", Accepted = "accepted",
        Rejected = "rejected", Forked = "forked", ChangesRequested = "changes_requested",
        RestoredKnownGood = "restored_known_good", Superseded = "superseded",
    }
}

record! {
    /// What a reviewer sees (body frozen; state and decision_receipt_refs are a projection).
    RevisionReviewPacket: event {
        packet_id: String,
        task_id: String,
        run_id: String,
        revision_plan_ref: StorageRef,
        before_artifact_version_ref: StorageRef,
        candidate_artifact_version_ref: StorageRef,
        semantic_diff_ref: StorageRef,
        finding_to_change_map: BTreeMap<String, Vec<String>>,
        preservation_constraint_result_refs: Vec<StorageRef>,
        source_changes: Vec<SourceRecordRef>,
        revalidation_result_refs: Vec<StorageRef>,
        regression_risk_summary: String,
        state: RevisionReviewPacketState,
        decision_receipt_refs: Vec<StorageRef>,
        created_at: Instant,
        schema_version: V11,
    }
}

words! {
    /// Action of RevisionReviewDecisionReceipt.
    RevisionReviewDecisionReceiptAction {
        Accept = "accept", Reject = "reject", Fork = "fork", RequestChanges = "request_changes",
        RestoreKnownGoodState = "restore_known_good_state",
        NoUserReviewRequired = "no_user_review_required",
    }
}

record! {
    /// One decision.
    RevisionReviewDecisionReceipt: receipt {
        receipt_id: String,
        packet_id: String,
        action: RevisionReviewDecisionReceiptAction,
        actor_ref: String,
        rationale: Option<String>,
        resulting_candidate_state: Option<ArtifactVersionState>,
        command_ref: Option<String>,
        created_at: Instant,
        schema_version: V10,
        irrevocable_side_effects_at_fork: Option<Vec<IrrevocableSideEffectAtFork>>,
        policy_decision_refs: Option<Vec<PolicyEvaluationRef>>,
    }
}
