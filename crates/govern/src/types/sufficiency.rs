//! Sufficiency: the types of the contract.
//! Owns: their members and words. Must not: judge.

use super::basic::{
    CalibratedScore, CapabilityRef, HardRevisionCallKind, Instant, PolicyEvaluationRef, RepairStrategyKind,
    RepairTarget, StorageRef, True, V10,
};
use super::wire::{record, words};
use alloc::string::String;
use alloc::vec::Vec;
use countersign_record::json::Number;

words! {
    /// 13 triggers.
    SufficiencyTrigger {
        NoCapabilityCoversOutcome = "no_capability_covers_outcome",
        CapabilityUnavailableOrUnhealthy = "capability_unavailable_or_unhealthy",
        PolicyProhibitsRequiredStep = "policy_prohibits_required_step",
        AllPolicyAllowedProceduresExhausted = "all_policy_allowed_procedures_exhausted",
        MaxAttemptsWithoutMaterialScoreImprovement = "max_attempts_without_material_score_improvement",
        IdenticalOutputLoopDetected = "identical_output_loop_detected",
        EvidenceInsufficientToProceed = "evidence_insufficient_to_proceed",
        VerificationUnresolvable = "verification_unresolvable",
        ContradictoryRequirements = "contradictory_requirements",
        PreconditionUnresolvable = "precondition_unresolvable",
        BudgetCapPreventsMinimalSufficientAttempt = "budget_cap_prevents_minimal_sufficient_attempt",
        ExternalSideEffectRequiresUngrantedApproval = "external_side_effect_requires_ungranted_approval",
        CascadeCycleDetected = "cascade_cycle_detected",
    }
}

words! {
    /// 7 routes.
    SufficiencyTerminalRoute {
        NeedsInformation = "needs_information", NeedsVerification = "needs_verification",
        NeedsHumanJudgment = "needs_human_judgment", UnableToEvaluate = "unable_to_evaluate",
        BlockedByPolicy = "blocked_by_policy", Unrecoverable = "unrecoverable",
        ProcessGapOut = "process_gap_out",
    }
}

words! {
    /// Procedure universe scope of SufficiencyDetectionPolicy.
    SufficiencyDetectionPolicyProcedureUniverseScope {
        DeclaredApplicable = "declared_applicable", PolicyAllowedOnly = "policy_allowed_only",
        SafeWithoutHumanGate = "safe_without_human_gate",
        AllKnownWithPolicyLabels = "all_known_with_policy_labels",
    }
}

record! {
    /// Attempt minimum, window, metric, epsilon, universe.
    SufficiencyDetectionPolicy: policy {
        policy_id: String,
        min_attempts_before_no_improvement: u64,
        no_improvement_window: u64,
        improvement_metric_ref: String,
        epsilon: Number,
        max_total_attempts: u64,
        procedure_universe_scope: SufficiencyDetectionPolicyProcedureUniverseScope,
        require_capability_snapshot: True,
        require_policy_snapshot: True,
        require_attempt_signature_hash: True,
        schema_version: V10,
    }
}

words! {
    /// Coverage state of CapabilityCoverageAssessment.
    CapabilityCoverageAssessmentCoverageState {
        Covered = "covered", PartiallyCovered = "partially_covered", NotCovered = "not_covered",
        CoveredButUnhealthy = "covered_but_unhealthy",
    }
}

words! {
    /// Gap kind of CapabilityCoverageAssessmentGap.
    CapabilityCoverageAssessmentGapGapKind {
        Missing = "missing", Unhealthy = "unhealthy", PolicyBlocked = "policy_blocked",
        VersionIncompatible = "version_incompatible",
    }
}

record! {
    /// Part of CapabilityCoverageAssessment.
    CapabilityCoverageAssessmentGap: value {
        required_capability_ref: CapabilityRef,
        gap_kind: CapabilityCoverageAssessmentGapGapKind,
        evidence_ref: Option<StorageRef>,
    }
}

record! {
    /// Required versus available capabilities.
    CapabilityCoverageAssessment: receipt {
        assessment_id: String,
        outcome_id: String,
        capability_snapshot_ref: StorageRef,
        required_capabilities: Vec<CapabilityRef>,
        available_capabilities: Vec<CapabilityRef>,
        coverage_state: CapabilityCoverageAssessmentCoverageState,
        gaps: Vec<CapabilityCoverageAssessmentGap>,
        schema_version: V10,
    }
}

words! {
    /// Safety class of CandidateRepairProcedure.
    CandidateRepairProcedureSafetyClass {
        Mechanical = "mechanical", MeaningBearing = "meaning_bearing", Privileged = "privileged",
        ExternalSideEffect = "external_side_effect",
    }
}

words! {
    /// Inapplicable reason of CandidateRepairProcedure.
    CandidateRepairProcedureInapplicableReason {
        MissingCapability = "missing_capability", PolicyBlocked = "policy_blocked",
        UnsafeWithoutHuman = "unsafe_without_human",
        AlreadyFailedSameSignature = "already_failed_same_signature",
        RequiresMissingEvidence = "requires_missing_evidence",
        RequiresUngrantedSideEffect = "requires_ungranted_side_effect",
    }
}

record! {
    /// One member of the procedure universe.
    CandidateRepairProcedure: value {
        procedure_id: String,
        strategy_kind: RepairStrategyKind,
        repair_target: RepairTarget,
        required_capabilities: Vec<CapabilityRef>,
        policy_allowed: bool,
        safety_class: CandidateRepairProcedureSafetyClass,
        tried: bool,
        exhausted: bool,
        inapplicable_reason: Option<CandidateRepairProcedureInapplicableReason>,
        schema_version: V10,
    }
}

words! {
    /// Terminal status of ProcedureAttemptRecord.
    ProcedureAttemptRecordTerminalStatus {
        Succeeded = "succeeded", Failed = "failed", NoMaterialImprovement = "no_material_improvement",
        PolicyBlocked = "policy_blocked", CapabilityFailed = "capability_failed", Regressed = "regressed",
        IdenticalOutputRejected = "identical_output_rejected",
        NotAttemptedMissingEvidence = "not_attempted_missing_evidence",
    }
}

record! {
    /// One attempt with signatures and scores.
    ProcedureAttemptRecord: event {
        attempt_id: String,
        procedure_id: String,
        revision_plan_ref: Option<StorageRef>,
        strategy_kind: RepairStrategyKind,
        input_signature_hash: String,
        output_signature_hash: Option<String>,
        score_before: Option<CalibratedScore>,
        score_after: Option<CalibratedScore>,
        score_delta: Option<Number>,
        terminal_status: ProcedureAttemptRecordTerminalStatus,
        receipt_refs: Vec<StorageRef>,
        schema_version: V10,
        outcome_id: Option<String>,
        run_id: Option<String>,
    }
}

record! {
    /// The detector’s answer and route.
    SufficiencyDetectionResult: receipt {
        detection_id: String,
        outcome_id: String,
        run_id: String,
        evaluated_at: Instant,
        policy_ref: String,
        no_sufficient_procedure: bool,
        triggered_by: Vec<SufficiencyTrigger>,
        coverage_assessment_ref: StorageRef,
        candidate_procedures: Vec<CandidateRepairProcedure>,
        attempts: Vec<ProcedureAttemptRecord>,
        best_score_seen: Option<CalibratedScore>,
        best_artifact_version_ref: Option<StorageRef>,
        blocking_research_need_refs: Vec<String>,
        decisive_policy_decision_refs: Vec<PolicyEvaluationRef>,
        terminal_route: SufficiencyTerminalRoute,
        hard_call_required: bool,
        hard_call_kind: Option<HardRevisionCallKind>,
        process_gap_signal_ref: Option<StorageRef>,
        rationale: String,
        schema_version: V10,
    }
}
