//! Reliance: the types of the contract.
//! Owns: their members and words. Must not: judge.

use super::basic::{
    CapabilityRef, DataClass, HardRevisionCallKind, Instant, PolicyEvaluationRef, ProducerKind, Severity,
    StorageRef, TaintClass, V10, V11,
};
use super::finding::FindingState;
use super::wire::{record, words};
use alloc::string::String;
use alloc::vec::Vec;

words! {
    /// See 5.8.
    RelianceArtifactLifecycleState {
        Draft = "draft", ReadyForReview = "ready_for_review", UserReviewed = "user_reviewed",
        Issued = "issued", Superseded = "superseded", Invalidated = "invalidated", Archived = "archived",
    }
}

words! {
    /// Derived.
    RelianceStatus {
        SafeToRelyWithinScope = "safe_to_rely_within_scope", RelyWithLimitations = "rely_with_limitations",
        NotSafeToRely = "not_safe_to_rely", HumanReviewRequired = "human_review_required",
    }
}

record! {
    /// Frozen list of inputs.
    RelianceInputManifest: event {
        final_artifact_refs: Vec<StorageRef>,
        evaluation_chain_ids: Vec<String>,
        evaluation_chain_resolution_receipt_refs: Vec<StorageRef>,
        evaluation_snapshot_refs: Vec<StorageRef>,
        source_workspace_snapshot_refs: Vec<StorageRef>,
        evidence_package_refs: Vec<StorageRef>,
        revision_review_packet_refs: Vec<StorageRef>,
        hard_call_resolution_refs: Vec<StorageRef>,
        policy_decision_refs: Vec<PolicyEvaluationRef>,
        budget_narrative_ref: Option<StorageRef>,
        known_good_checkpoint_refs: Vec<String>,
        created_from_event_seq: u64,
        input_manifest_hash: String,
        schema_version: V10,
    }
}

record! {
    /// Status, decisive inputs, limitations, scope.
    RelianceStatusDerivation: receipt {
        status: RelianceStatus,
        decisive_input_refs: Vec<StorageRef>,
        unresolved_limitations: Vec<RelianceLimitationKind>,
        required_human_review_refs: Vec<StorageRef>,
        scope_statement: String,
        derivation_policy_ref: String,
        formula_eval_receipt_ref: Option<StorageRef>,
        explanation: String,
        schema_version: V10,
    }
}

record! {
    /// Reliance cover of a run (body frozen; lifecycle is a projection).
    TaskReliancePacket: read_model {
        packet_id: String,
        task_id: String,
        run_id: String,
        input_manifest: RelianceInputManifest,
        reliance_derivation: RelianceStatusDerivation,
        lifecycle_state: RelianceArtifactLifecycleState,
        generated_by_ref: String,
        reviewed_by_user_ref: Option<String>,
        issued_at: Option<Instant>,
        invalidated_by_event_ref: Option<StorageRef>,
        matter_id: Option<String>,
        data_class: DataClass,
        taint_class: TaintClass,
        privileged: bool,
        user_visible_summary: String,
        schema_version: V11,
    }
}

words! {
    /// Invalidation kind of RelianceInvalidationEvent.
    RelianceInvalidationEventInvalidationKind {
        ArtifactVersionChanged = "artifact_version_changed",
        SourceWorkspaceChanged = "source_workspace_changed",
        FindingLifecycleChanged = "finding_lifecycle_changed",
        PolicyDecisionSuperseded = "policy_decision_superseded",
        HardCallResolutionExpired = "hard_call_resolution_expired",
        EvidencePackageSuperseded = "evidence_package_superseded",
        EvaluationChainResolutionChanged = "evaluation_chain_resolution_changed",
    }
}

record! {
    /// Why a packet stopped being valid.
    RelianceInvalidationEvent: event {
        event_id: String,
        packet_id: String,
        invalidation_kind: RelianceInvalidationEventInvalidationKind,
        triggering_ref: StorageRef,
        created_at: Instant,
        schema_version: V10,
    }
}

words! {
    /// Approval status of EvaluationContractReview.
    EvaluationContractReviewApprovalStatus {
        Pending = "pending", Approved = "approved", Rejected = "rejected", Edited = "edited",
        WaivedByPolicy = "waived_by_policy",
    }
}

record! {
    /// What the run understood it has to do.
    EvaluationContractReview: read_model {
        review_id: String,
        task_id: String,
        run_id: Option<String>,
        compiled_plan_ref: StorageRef,
        interpreted_goal: String,
        criteria_summary: Vec<String>,
        threshold_summary: Vec<String>,
        source_requirements: Vec<String>,
        required_capabilities: Vec<CapabilityRef>,
        hard_call_triggers: Vec<HardRevisionCallKind>,
        estimated_cost_vector_ref: Option<StorageRef>,
        material_differences_from_preview: Option<Vec<String>>,
        user_approval_required: bool,
        approval_status: EvaluationContractReviewApprovalStatus,
        approval_ref: Option<StorageRef>,
        lifecycle_state: RelianceArtifactLifecycleState,
        command_ref: Option<String>,
        created_at: Instant,
        schema_version: V11,
    }
}

words! {
    /// Why a person is needed.
    AttentionKind {
        HardCallPending = "hard_call_pending", BlockedItem = "blocked_item",
        ContestedFinding = "contested_finding", ApprovalRequired = "approval_required",
        ResearchNeedHuman = "research_need_human", RelianceReviewRequired = "reliance_review_required",
        RevisionReviewPending = "revision_review_pending",
    }
}

words! {
    /// Lifecycle state of AttentionLedgerItem.
    AttentionLedgerItemLifecycleState {
        Open = "open", Resolved = "resolved", Dismissed = "dismissed", Superseded = "superseded",
    }
}

record! {
    /// One item of attention, derived from its source.
    AttentionLedgerItem: read_model {
        item_id: String,
        task_id: String,
        run_id: Option<String>,
        matter_id: Option<String>,
        attention_kind: AttentionKind,
        source_ref: StorageRef,
        summary: String,
        priority: Severity,
        command_ref: Option<String>,
        lifecycle_state: AttentionLedgerItemLifecycleState,
        created_at: Instant,
        resolved_at: Option<Instant>,
        schema_version: V10,
    }
}

record! {
    /// Filter of the inbox.
    FindingsInboxFilter: value {
        matter_id: Option<String>,
        severity: Option<Vec<Severity>>,
        finding_state: Option<Vec<FindingState>>,
        producer_kind: Option<Vec<ProducerKind>>,
        schema_version: V10,
    }
}

words! {
    /// Health status of TaskHealthCard.
    TaskHealthCardHealthStatus {
        Healthy = "healthy", Warning = "warning", Blocked = "blocked", Failed = "failed",
        ReviewRequired = "review_required",
    }
}

record! {
    /// Health of a task.
    TaskHealthCard: read_model {
        task_id: String,
        run_id: Option<String>,
        health_status: TaskHealthCardHealthStatus,
        active_blocker_refs: Vec<StorageRef>,
        latest_verdict_refs: Vec<StorageRef>,
        budget_status_ref: Option<StorageRef>,
        reliance_packet_ref: Option<StorageRef>,
        derived_read_model_ref: StorageRef,
        schema_version: V10,
    }
}

record! {
    /// Rendering of a packet; the issuance is a receipt.
    WorkProductCertification: read_model {
        certification_id: String,
        task_reliance_packet_ref: StorageRef,
        rendered_certification_ref: StorageRef,
        issued_by_ref: Option<String>,
        issue_command_ref: Option<String>,
        lifecycle_state: RelianceArtifactLifecycleState,
        created_at: Instant,
        schema_version: V10,
    }
}

record! {
    /// Two runs compared.
    RunDiff: read_model {
        run_diff_id: String,
        left_run_id: String,
        right_run_id: String,
        artifact_diff_refs: Vec<StorageRef>,
        plan_diff_ref: Option<StorageRef>,
        outcome_diff_refs: Vec<StorageRef>,
        cost_diff_ref: Option<StorageRef>,
        reliance_diff_ref: Option<StorageRef>,
        derived_read_model_ref: StorageRef,
        schema_version: V10,
    }
}

record! {
    /// What led to a decision.
    DecisionAuditView: read_model {
        audit_view_id: String,
        target_decision_ref: StorageRef,
        chain_resolution_receipt_refs: Vec<StorageRef>,
        finding_refs: Vec<StorageRef>,
        policy_decision_refs: Vec<PolicyEvaluationRef>,
        hard_call_resolution_refs: Vec<StorageRef>,
        explanation_trace_ref: Option<StorageRef>,
        derived_read_model_ref: StorageRef,
        schema_version: V10,
    }
}

record! {
    /// Chain on one page (read_model_kind EvaluationChainView).
    UnifiedEvaluationChainView: read_model {
        view_id: String,
        chain_id: String,
        chain_registry_record_ref: StorageRef,
        chain_resolution_receipt_ref: Option<StorageRef>,
        qualitative_finding_refs: Vec<StorageRef>,
        quantitative_result_refs: Vec<StorageRef>,
        final_route_summary: String,
        derived_read_model_ref: StorageRef,
        schema_version: V10,
    }
}

words! {
    /// Why reliance is limited.
    RelianceLimitationKind {
        InsufficientEvidence = "insufficient_evidence", HumanJudgmentNeeded = "human_judgment_needed",
        MissingCapability = "missing_capability", SourceUnavailable = "source_unavailable",
        PolicyBlocked = "policy_blocked", StaleEvidence = "stale_evidence",
        UnableToGroundClaim = "unable_to_ground_claim",
        UncheckedClaimsPresent = "unchecked_claims_present",
        UnreviewedCandidateRevision = "unreviewed_candidate_revision",
        ExternalSideEffectUnverified = "external_side_effect_unverified",
        StaleSourcePresent = "stale_source_present", UnresolvedResearchNeed = "unresolved_research_need",
        PolicyWarning = "policy_warning", PatternCChainUnresolved = "pattern_c_chain_unresolved",
        EvidencePackageMissing = "evidence_package_missing",
    }
}
