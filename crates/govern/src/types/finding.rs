//! Findings: the types of the contract.
//! Owns: their members and words. Must not: judge.

use super::basic::{
    ArtifactScopeRef, AssuranceBasis, ClaimRef, ConfidenceBasis, DataClass, FailureKind, FindingKind,
    Instant, PolicyEvaluationRef, ProducerKind, Severity, StorageRef, TaintClass, V10, V11, V20,
};
use super::wire::{OrNull, record, words};
use alloc::string::String;
use alloc::vec::Vec;
use countersign_record::json::Number;

words! {
    /// 13 lifecycle states.
    FindingState {
        Proposed = "proposed", Active = "active", Contested = "contested", Resolved = "resolved",
        SupersededByRevision = "superseded_by_revision",
        SupersededBySourceChange = "superseded_by_source_change", Expired = "expired",
        UserApproved = "user_approved", ToolVerified = "tool_verified", HumanVerified = "human_verified",
        RejectedByUser = "rejected_by_user", Dismissed = "dismissed", Unrecoverable = "unrecoverable",
    }
}

words! {
    /// Why a finding may block.
    BlockingAuthorityBasis {
        DeterministicCheck = "deterministic_check", SourceReference = "source_reference",
        ToolVerification = "tool_verification", RubricCriterion = "rubric_criterion",
        UserInstruction = "user_instruction", SavedCriteria = "saved_criteria", HumanLabel = "human_label",
        MultiReviewerConsensus = "multi_reviewer_consensus",
        SubjectiveBlockingAllowed = "subjective_blocking_allowed",
    }
}

words! {
    /// Who allowed a purely subjective blocker.
    SubjectiveBlockingPermission {
        NotAllowed = "not_allowed", AllowedByOutcomeDefinition = "allowed_by_outcome_definition",
        AllowedByUserInstruction = "allowed_by_user_instruction",
        AllowedByHumanReview = "allowed_by_human_review",
    }
}

record! {
    /// Derived: may this finding block, on what basis.
    BlockingAuthorityEvaluation: value {
        satisfied: bool,
        basis: Vec<BlockingAuthorityBasis>,
        subjective_blocking_permission: SubjectiveBlockingPermission,
        evaluated_policy_ref: Option<PolicyEvaluationRef>,
        explanation: String,
        schema_version: V10,
    }
}

record! {
    /// Identity of a failure across attempts.
    FindingMatchKey: value {
        failure_kind: FailureKind,
        artifact_stable_id: Option<String>,
        target_scope_ref: OrNull<ArtifactScopeRef>,
        criterion_id: Option<String>,
        finding_summary_hash: String,
        normalized_finding_text_hash: String,
        evidence_signature_hash: Option<String>,
        source_workspace_snapshot_hash: Option<String>,
        schema_version: V10,
    }
}

words! {
    /// Emitted state of EvaluationFindingEvent.
    EvaluationFindingEventEmittedState {
        Proposed = "proposed", Active = "active",
    }
}

words! {
    /// Based on artifact version absent reason of EvaluationFindingEvent.
    EvaluationFindingEventBasedOnArtifactVersionAbsentReason {
        NonArtifactTarget = "non_artifact_target", HumanReviewNoArtifact = "human_review_no_artifact",
        ProcessObservation = "process_observation",
    }
}

record! {
    /// The one canonical finding, never changed.
    EvaluationFindingEvent: event {
        finding_event_id: String,
        finding_id: String,
        result_id: String,
        producer_kind: ProducerKind,
        producer_module_id: String,
        producer_activation_seq: u64,
        finding_kind: FindingKind,
        finding_text: String,
        explanation: String,
        severity: Severity,
        emitted_state: EvaluationFindingEventEmittedState,
        assurance_basis: Vec<AssuranceBasis>,
        blocking_authority: BlockingAuthorityEvaluation,
        confidence_score: Number,
        confidence_basis: Vec<ConfidenceBasis>,
        confidence_explanation: String,
        target_artifact_ref: Option<StorageRef>,
        target_artifact_version_ref: Option<StorageRef>,
        target_scope_ref: Option<ArtifactScopeRef>,
        target_criterion_id: Option<String>,
        affected_claim_refs: Vec<ClaimRef>,
        evidence_refs: Vec<StorageRef>,
        verification_record_refs: Vec<StorageRef>,
        supporting_material_snapshot_refs: Vec<StorageRef>,
        based_on_artifact_version_ref: Option<StorageRef>,
        based_on_artifact_version_absent_reason: Option<EvaluationFindingEventBasedOnArtifactVersionAbsentReason>,
        based_on_source_workspace_snapshot_ref: Option<StorageRef>,
        based_on_board_digest_ref: Option<StorageRef>,
        evaluation_snapshot_ref: StorageRef,
        match_key: FindingMatchKey,
        taint_class: TaintClass,
        data_class: DataClass,
        matter_id: Option<String>,
        privileged: bool,
        policy_decision_refs: Vec<PolicyEvaluationRef>,
        created_at: Instant,
        schema_version: V20,
    }
}

record! {
    /// Current state of a finding, fold of event + transition receipts.
    EvaluationFindingRecord: projection {
        finding_id: String,
        canonical_event_ref: StorageRef,
        current_state: FindingState,
        current_severity: Severity,
        lifecycle_transition_refs: Vec<StorageRef>,
        superseded_by_finding_id: Option<String>,
        expires_at: Option<Instant>,
        last_validated_against_artifact_version_ref: Option<StorageRef>,
        last_validated_against_source_workspace_snapshot_ref: Option<StorageRef>,
        updated_at: Instant,
        schema_version: V10,
    }
}

words! {
    /// Transition reason of FindingLifecycleTransitionReceipt.
    FindingLifecycleTransitionReceiptTransitionReason {
        RouterAdmitted = "router_admitted", UserContested = "user_contested",
        UserConfirmed = "user_confirmed", ToolVerified = "tool_verified",
        RevisionResolved = "revision_resolved", SourceChanged = "source_changed",
        TargetVersionChanged = "target_version_changed", ExpiredByPolicy = "expired_by_policy",
        DismissedDuplicate = "dismissed_duplicate", RejectedByUser = "rejected_by_user",
        MarkedUnrecoverable = "marked_unrecoverable",
    }
}

record! {
    /// One transition.
    FindingLifecycleTransitionReceipt: receipt {
        receipt_id: String,
        finding_id: String,
        from_state: FindingState,
        to_state: FindingState,
        transition_reason: FindingLifecycleTransitionReceiptTransitionReason,
        actor_ref: String,
        evidence_refs: Vec<StorageRef>,
        created_at: Instant,
        schema_version: V10,
    }
}

record! {
    /// Thin FD view for display and routing.
    FeedbackFindingView: read_model {
        finding_id: String,
        source_finding_event_ref: StorageRef,
        current_finding_record_ref: StorageRef,
        display_summary: String,
        display_explanation: String,
        finding_kind: FindingKind,
        severity: Severity,
        lifecycle_state: FindingState,
        blocking_authority_satisfied: bool,
        blocking_authority_basis: Vec<BlockingAuthorityBasis>,
        routed_action_refs: Vec<StorageRef>,
        schema_version: V11,
    }
}

record! {
    /// Replaces the phantom EvaluationAffirmation: what passed.
    PositiveEvaluationObservation: event {
        observation_id: String,
        result_id: String,
        outcome_id: String,
        observed_passed_criterion_ids: Vec<String>,
        positive_summary: String,
        evidence_refs: Vec<StorageRef>,
        formula_eval_receipt_ref: Option<StorageRef>,
        created_at: Instant,
        schema_version: V10,
    }
}
