//! Outcomes: the types of the contract.
//! Owns: their members and words. Must not: judge.

use super::basic::StorageRef;
use super::feedback::FeedbackBranch;
use super::wire::{record, words};
use alloc::string::String;
use alloc::vec::Vec;

words! {
    /// 4 states never emitted.
    OutcomeEvaluationRuntimeState {
        Pending = "pending", PendingDependency = "pending_dependency", Evaluating = "evaluating",
        Dirty = "dirty",
    }
}

words! {
    /// 12 emitted dispositions.
    OutcomeEvaluationDisposition {
        Satisfied = "satisfied", NeedsRevision = "needs_revision", NeedsInformation = "needs_information",
        NeedsVerification = "needs_verification", NeedsHumanJudgment = "needs_human_judgment",
        UnableToEvaluate = "unable_to_evaluate", BlockedByPolicy = "blocked_by_policy",
        Regressed = "regressed", UpstreamFailure = "upstream_failure", Unrecoverable = "unrecoverable",
        Superseded = "superseded", MaxIterationsReached = "max_iterations_reached",
    }
}

words! {
    /// Replaces the boolean pass.
    EvaluationVerdict {
        Passed = "passed", Failed = "failed", Indeterminate = "indeterminate",
        NotApplicable = "not_applicable",
    }
}

words! {
    /// Why a result is limited.
    EvaluationLimitationKind {
        InsufficientEvidence = "insufficient_evidence", HumanJudgmentNeeded = "human_judgment_needed",
        MissingCapability = "missing_capability", SourceUnavailable = "source_unavailable",
        PolicyBlocked = "policy_blocked", StaleEvidence = "stale_evidence",
        UnableToGroundClaim = "unable_to_ground_claim",
        UncheckedClaimsPresent = "unchecked_claims_present",
        UnreviewedCandidateRevision = "unreviewed_candidate_revision",
        ExternalSideEffectUnverified = "external_side_effect_unverified",
    }
}

words! {
    /// Why a verdict is indeterminate.
    IndeterminateCause {
        MissingInformation = "missing_information", MissingSource = "missing_source",
        StaleSource = "stale_source", MissingCapability = "missing_capability",
        PolicyBlock = "policy_block", HumanJudgmentRequired = "human_judgment_required",
        ConflictingEvidence = "conflicting_evidence", ToolFailure = "tool_failure", Timeout = "timeout",
        UnsupportedScope = "unsupported_scope",
        BlockedBeforeSubstantiveVerdict = "blocked_before_substantive_verdict",
    }
}

words! {
    /// Whether substance was reached at all.
    SubstantiveVerdictStatus {
        SubstantiveVerdictReached = "substantive_verdict_reached",
        BlockedBeforeSubstantiveVerdict = "blocked_before_substantive_verdict",
        PartialSubstantiveVerdict = "partial_substantive_verdict",
    }
}

words! {
    /// State class of OutcomeStateMatrixEntry.
    OutcomeStateMatrixEntryStateClass {
        Runtime = "runtime", Disposition = "disposition",
    }
}

words! {
    /// Revisor default action of OutcomeStateMatrixEntry.
    OutcomeStateMatrixEntryRevisorDefaultAction {
        None = "none", Revise = "revise", Research = "research", Verify = "verify", HardCall = "hard_call",
        Abort = "abort", ProcessGap = "process_gap",
    }
}

words! {
    /// Learning eligibility of OutcomeStateMatrixEntry.
    OutcomeStateMatrixEntryLearningEligibility {
        Eligible = "eligible", DiagnosticOnly = "diagnostic_only", Ineligible = "ineligible",
    }
}

record! {
    /// One row of the state matrix.
    OutcomeStateMatrixEntry: policy {
        state: OutcomeEvaluationState,
        state_class: OutcomeStateMatrixEntryStateClass,
        emitted_to_envelope: bool,
        terminal: bool,
        verdict_mapping: Option<EvaluationVerdict>,
        feedback_branch: FeedbackBranch,
        blocks_downstream_default: bool,
        revisor_default_action: OutcomeStateMatrixEntryRevisorDefaultAction,
        ui_label: String,
        learning_eligibility: OutcomeStateMatrixEntryLearningEligibility,
    }
}

words! {
    /// Where an outcome stands: at work, or as it was found.
    OutcomeEvaluationState {
        Pending = "pending", PendingDependency = "pending_dependency", Evaluating = "evaluating",
        Dirty = "dirty", Satisfied = "satisfied", NeedsRevision = "needs_revision",
        NeedsInformation = "needs_information", NeedsVerification = "needs_verification",
        NeedsHumanJudgment = "needs_human_judgment", UnableToEvaluate = "unable_to_evaluate",
        BlockedByPolicy = "blocked_by_policy", Regressed = "regressed",
        UpstreamFailure = "upstream_failure", Unrecoverable = "unrecoverable", Superseded = "superseded",
        MaxIterationsReached = "max_iterations_reached",
    }
}

record! {
    /// What an evaluation decided.
    EvaluationDecision: value {
        verdict: EvaluationVerdict,
        disposition: OutcomeEvaluationDisposition,
        substantive_verdict_status: SubstantiveVerdictStatus,
        indeterminate_causes: Vec<IndeterminateCause>,
        limitations: Vec<EvaluationLimitationKind>,
        missing_source_refs: Option<Vec<StorageRef>>,
        passed_criterion_ids: Option<Vec<String>>,
    }
}
