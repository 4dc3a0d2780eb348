//! Closed sets of words that the contract uses and does not declare.
//! Owns: the words. Must not: judge.

use super::wire::words;

words! {
    /// How secret something is.
    DataClass {
        Public = "public", Internal = "internal", Privileged = "privileged", LocalOnly = "local_only",
    }
}
words! {
    /// How bad a finding is.
    Severity {
        Low = "low", Medium = "medium", High = "high", Blocking = "blocking",
    }
}
words! {
    /// How bad a regression is.
    RegressionSeverity {
        Minor = "minor", Major = "major", Critical = "critical",
    }
}
words! {
    /// How sure an estimate is.
    EstimatorConfidence {
        Calibrated = "calibrated", Uncalibrated = "uncalibrated", Experimental = "experimental",
    }
}
words! {
    /// Whether a score was calibrated.
    Calibration {
        Calibrated = "calibrated", Uncalibrated = "uncalibrated",
    }
}
words! {
    /// How far something is trusted, the most first.
    TaintClass {
        InternalCorpusTrusted = "internal_corpus_trusted", UserTrustedBounded = "user_trusted_bounded",
        ExternalAuthorityTrusted = "external_authority_trusted", ExternalUntrusted = "external_untrusted",
        Unclassified = "unclassified",
    }
}
words! {
    /// Who evaluates.
    ProducerKind {
        OutcomeEvaluator = "outcome_evaluator", Judge = "judge",
        DeterministicScorer = "deterministic_scorer", ExperimentScorer = "experiment_scorer",
        HumanReviewer = "human_reviewer", ToolVerifier = "tool_verifier", SubAgent = "sub_agent",
    }
}
words! {
    /// What a finding is about.
    FindingKind {
        Defect = "defect", MissingContent = "missing_content", UnsupportedClaim = "unsupported_claim",
        ContradictedClaim = "contradicted_claim", StaleSource = "stale_source",
        PolicyViolation = "policy_violation", FormatViolation = "format_violation",
        Regression = "regression", Risk = "risk", ProcessObservation = "process_observation",
    }
}
words! {
    /// How something failed.
    FailureKind {
        CriterionUnmet = "criterion_unmet", ClaimUnsupported = "claim_unsupported",
        ClaimContradicted = "claim_contradicted", SourceMissing = "source_missing",
        SourceStale = "source_stale", VerificationFailed = "verification_failed",
        FormatInvalid = "format_invalid", PolicyBlocked = "policy_blocked",
        CapabilityMissing = "capability_missing", ToolFailed = "tool_failed", Timeout = "timeout",
        IdenticalOutput = "identical_output", Regression = "regression",
    }
}
words! {
    /// What a finding rests on.
    AssuranceBasis {
        DeterministicCheck = "deterministic_check", SourceReference = "source_reference",
        ToolVerification = "tool_verification", RubricAnchoredJudgment = "rubric_anchored_judgment",
        ModelJudgment = "model_judgment", HumanReview = "human_review",
        MultiReviewerConsensus = "multi_reviewer_consensus",
    }
}
words! {
    /// What a confidence rests on.
    ConfidenceBasis {
        CalibratedHistory = "calibrated_history", SelfReported = "self_reported", Agreement = "agreement",
        ToolResult = "tool_result", HumanLabel = "human_label",
    }
}
words! {
    /// Whether something may be done again.
    ReplayPolicy {
        Deterministic = "deterministic", ReuseRecordedOnly = "reuse_recorded_only",
        RerunAllowed = "rerun_allowed", Never = "never",
    }
}
words! {
    /// How a criterion is scored.
    ScoringBasis {
        AnchoredRubric = "anchored_rubric", DeterministicCheck = "deterministic_check",
        SourceGrounded = "source_grounded", HumanLabel = "human_label",
        UnanchoredLlmJudgment = "unanchored_llm_judgment",
    }
}
words! {
    /// How much a criterion matters.
    CriterionPriority {
        MustHave = "must_have", ShouldHave = "should_have", NiceToHave = "nice_to_have",
    }
}
words! {
    /// What becomes of judgments without an anchor.
    UnanchoredPolicy {
        Indeterminate = "indeterminate", Exclude = "exclude",
        IncludeWithAuditFlag = "include_with_audit_flag",
    }
}
words! {
    /// Where weights come from.
    WeightPolicy {
        FromCriterionWeight = "from_criterion_weight", FromPriority = "from_priority", Uniform = "uniform",
    }
}
words! {
    /// What a choice leads to.
    DecisionEffect {
        Continue = "continue", Replan = "replan", AcceptAsIs = "accept_as_is", AbortScope = "abort_scope",
        Waive = "waive", GrantBudget = "grant_budget", GrantSideEffect = "grant_side_effect",
    }
}
words! {
    /// What a person is asked for.
    HardRevisionCallKind {
        MeaningChangeApproval = "meaning_change_approval",
        ContradictoryRequirements = "contradictory_requirements", PolicyBoundary = "policy_boundary",
        ExternalSideEffectApproval = "external_side_effect_approval",
        BudgetScopeDecision = "budget_scope_decision", ForumDeadlock = "forum_deadlock",
        CascadeCycle = "cascade_cycle", PlanVerifierUnavailable = "plan_verifier_unavailable",
        NoSufficientProcedure = "no_sufficient_procedure",
    }
}
words! {
    /// What a step does.
    RevisionPlanStepKind {
        EditArtifact = "edit_artifact", RegenerateSection = "regenerate_section",
        Restructure = "restructure", SourceResearch = "source_research",
        VerificationRequest = "verification_request", FormatRepair = "format_repair",
        HardCall = "hard_call", ExternalSideEffect = "external_side_effect", Revalidate = "revalidate",
    }
}
words! {
    /// How something is repaired.
    RepairStrategyKind {
        TargetedEdit = "targeted_edit", Regenerate = "regenerate", Restructure = "restructure",
        AddEvidence = "add_evidence", RemoveClaim = "remove_claim",
        RequestVerification = "request_verification", MechanicalFormatFix = "mechanical_format_fix",
        Escalate = "escalate",
    }
}
words! {
    /// What kind of thing is repaired.
    RepairTargetKind {
        ArtifactScope = "artifact_scope", SourceWorkspace = "source_workspace", Plan = "plan",
        Graph = "graph",
    }
}
words! {
    /// What kind of thing is evaluated.
    TargetKind {
        Artifact = "artifact", Claim = "claim", Plan = "plan", Run = "run", Process = "process",
    }
}
words! {
    /// Where a version of an artifact stands.
    ArtifactVersionState {
        Candidate = "candidate", UnderReview = "under_review", AcceptedHead = "accepted_head",
        Rejected = "rejected", Superseded = "superseded", Orphaned = "orphaned", Forked = "forked",
    }
}
words! {
    /// What a source is.
    SourceKind {
        Document = "document", Email = "email", File = "file", PriorTaskOutput = "prior_task_output",
        LibraryEntry = "library_entry", WebSource = "web_source", Custom = "custom",
        ApiResult = "api_result", DatabaseRecord = "database_record", CaseLaw = "case_law",
        Statute = "statute", Regulation = "regulation", FinancialFiling = "financial_filing",
        ExpertReport = "expert_report", TechnicalDoc = "technical_doc",
    }
}
words! {
    /// The documents that own types.
    OwnerDoc {
        Doc12 = "DOC12", Doc20 = "DOC20", Doc21 = "DOC21", Doc22 = "DOC22", Doc23Core = "DOC23_CORE", Doc23Oer = "DOC23_OER", Doc23Common = "DOC23_COMMON", Doc23SourceWorkspace = "DOC23_SOURCE_WORKSPACE", Doc23ForumBoard = "DOC23_FORUM_BOARD", Doc23FeedbackDelivery = "DOC23_FEEDBACK_DELIVERY", Doc24 = "DOC24", Ec = "EC",
    }
}
