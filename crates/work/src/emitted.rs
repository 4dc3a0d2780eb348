//! Which events, receipts and requests a run writes, and which it only reads from others.
//! Owns: the lists. Must not: leave a kind out; a test holds them against all kinds there are.

/// A module of this crate and what it writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Module {
    /// Its name.
    pub name: &'static str,
    /// The types of records.
    pub kinds: &'static [&'static str],
}

const fn module(name: &'static str, kinds: &'static [&'static str]) -> Module {
    Module { name, kinds }
}

/// What each module writes. A type stands where its records are made first; others may write it too.
pub const EMITTED: &[Module] = &[
    module("artifact", &["ArtifactVersion", "ArtifactVersionTransitionEvent"]),
    module("assist", &["AssistanceFallbackEvent", "ModuleAssistanceAnswer", "ModuleAssistanceRequest"]),
    module("board", &["DigestSelection", "RunBoardAuditEvent", "RunBoardDigest"]),
    module(
        "call",
        &[
            "HardCallPendingEvent",
            "HardCallResolution",
            "HardCallResolutionReceipt",
            "HardRevisionCall",
            "HumanFeedbackEvent",
            "UnanchoredAcknowledgment",
        ],
    ),
    module(
        "claims",
        &["ClaimSupportDerivationReceipt", "SourceEvidenceAnchor", "TextAnchorResolutionReceipt"],
    ),
    module("closing", &["PolicyFreshnessRecord", "RelianceScopeNote"]),
    module("command", &["CommandInvocation", "CommandReceipt"]),
    module(
        "context",
        &[
            "ContextPacketConsumption",
            "ModuleActivationEvent",
            "PerActivationContextBudget",
            "TaskRunContextPacket",
            "TaskRunContextPacketAssemblyReceipt",
            "TaskRunContextPacketRequest",
        ],
    ),
    module("contract", &["UserConfirmation"]),
    module("cost", &["CostVector", "TaskCostRecord", "TaskRunCostForecast"]),
    module("desk", &["FormulaEvaluationReceipt"]),
    module(
        "evaluate",
        &["EvaluationChainResolutionReceipt", "EvaluationResultEnvelope", "EvaluationSnapshot"],
    ),
    module(
        "feedback",
        &[
            "EvaluationFeedbackBundle",
            "EvaluationResultEmissionRecord",
            "FeedbackConsumptionReceipt",
            "FeedbackDeliveryRecord",
            "FeedbackDispatchExpectation",
        ],
    ),
    module(
        "finding",
        &[
            "DerivationEdge",
            "EvaluationFindingEvent",
            "FindingLifecycleTransitionReceipt",
            "PositiveEvaluationObservation",
        ],
    ),
    module(
        "forum",
        &[
            "ForumPauseEvent",
            "ForumProposalSelection",
            "ForumRoomRecord",
            "ForumTick",
            "ModeratorFailureEvent",
        ],
    ),
    module("guidance", &["ContestationRequest", "RunGuidanceCreationEvent", "RunGuidanceLifecycleReceipt"]),
    module(
        "learning",
        &[
            "LatencyDistribution",
            "LearningSignal",
            "MetricObservationInvalidationEvent",
            "NoveltyAssessmentNoNeighbor",
            "NoveltyAssessmentWithNeighbor",
            "RevisionCycleOutcomeObservation",
            "TemplateMatchEvaluation",
        ],
    ),
    module("library", &["LibraryPromotionReceipt"]),
    module("life", &["LifecycleTransitionReceipt"]),
    module(
        "opening",
        &[
            "CapabilitySnapshot",
            "CriterionIdentityFields",
            "CriterionSemanticReviewReceipt",
            "PolicyEvaluation",
            "PolicySnapshot",
        ],
    ),
    module("outcome", &["OutcomeStateTransitionEvent"]),
    module("outside", &["SideEffectLedgerEntry", "WorkspaceExternalizationReceipt"]),
    module("rely", &["RelianceInvalidationEvent"]),
    module("research", &["ResearchNeedLease"]),
    module(
        "revise",
        &[
            "CapabilityCoverageAssessment",
            "InPlaceMutationLock",
            "OutcomeRepairInstruction",
            "ParallelBatch",
            "ParallelBatchFinalizationReceipt",
            "PlanVerifierResult",
            "ProcedureAttemptRecord",
            "ProgressSignalRecord",
            "RegenerateAttemptReceipt",
            "RegenerateRevisionPayload",
            "RevalidationCascadeReceipt",
            "RevisionLifecycleTransitionEvent",
            "RevisionOperationReceipt",
            "RevisionPlan",
            "RevisionPlanStepBase",
            "RevisionReviewDecisionReceipt",
            "RevisionReviewPacket",
            "SufficiencyDetectionResult",
            "TaskCancelProtocol",
            "TaskCancelReceipt",
            "TaskProcessGapSignal",
            "TaskSkipReceipt",
            "TieBreakDecision",
            "TypedRevisionInstruction",
            "VerificationRequestStep",
        ],
    ),
    module("score", &["MetricObservation"]),
    module("show", &["ReadModelInputManifest"]),
    module(
        "travel",
        &[
            "KnownGoodCheckpoint",
            "ReplayDivergenceRecord",
            "ReplayStepResult",
            "TaskReplayRequest",
            "TaskRunFork",
        ],
    ),
    module(
        "workspace",
        &[
            "EphemeralSourceLookupReceipt",
            "SanitizationNode",
            "SourceTierTransitionReceipt",
            "SourceWorkspaceOperation",
            "SourceWorkspaceOperationReceipt",
        ],
    ),
];

/// Records that are written as a part of another one, and of which.
pub const WITHIN: &[(&str, &str)] =
    &[("RelianceInputManifest", "TaskReliancePacket"), ("RelianceStatusDerivation", "TaskReliancePacket")];

/// What no run writes, and why: it is read where somebody else's log has it.
pub const IMPORT_ONLY: &[(&str, &str)] = &[
    ("BuildReadyClaim", "says of a document that it is ready to be built; a run builds none"),
    ("ConformanceFixtureRun", "is given by `countersign conformance`, which runs fixtures and no task"),
    ("NoveltyAssessment", "is the name of both forms together; a run writes the form that it has"),
    ("PatchDecision", "is about the contract's own text, not about work"),
    (
        "PlanVerifierUnavailableEvent",
        "the run verifies its plans itself, so that the verifier is always there",
    ),
    (
        "RepeatedFailureRecord",
        "whether the same failed again is said after each look by a `ProgressSignalRecord`, by the artifact's stable id; a run counts attempts",
    ),
    (
        "SourceAcquisitionCostRecord",
        "the sources of a run are files of its task; getting them costs nothing, and reading them is in the cost of the step",
    ),
    ("SourceQueryRecord", "the sources of a run are files of its task; it asks no provider of sources"),
    ("TaskGraphMutationEvent", "the outcomes of a run and what they depend on are fixed when it begins"),
    ("ValidationSuiteRun", "stands behind a claim that a document is ready; a run makes none"),
];
