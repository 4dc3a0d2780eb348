//! Names of types that are no rows.
//! Owns: those that the contract declares or needs. Must not: know what they mean.

/// Enumerations and parts of records.
#[rustfmt::skip] // by the line, as in the contract
pub(super) const PARTS: &[&str] = &[
    // Declared.
    "CanonicalEventRef", "ProjectionRef", "WorkspaceExternalizationKind",
    "FindingState", "BlockingAuthorityBasis", "SubjectiveBlockingPermission",
    "EvaluationChainKind", "EvaluationChainStatus", "OutcomeEvaluationRuntimeState",
    "OutcomeEvaluationDisposition", "OutcomeEvaluationState", "EvaluationVerdict",
    "EvaluationLimitationKind", "IndeterminateCause", "SubstantiveVerdictStatus",
    "FeedbackBranch", "RoutingFirePolicy", "TypeOwnerStatus",
    "PendingConsumerDegradedBehavior", "LearningMode", "FeedbackBundleEmissionRule",
    "FeedbackBundleAbsentReason", "CoreAuthorityLevel", "LegalTreatmentStatus",
    "RevisionExecutionLifecycleState", "SourceWorkspaceOperationKind", "MutationMode",
    "HardCallBlockingScope", "HardCallResponseMode", "SufficiencyTrigger",
    "SufficiencyTerminalRoute", "RevisionStepRevalidationPolicyKind", "NumericUnit",
    "MetricValueKind", "MissingInputPolicy", "ZeroDenominatorPolicy",
    "FiniteNumberPolicy", "OutcomeCycleTerminalClass", "CostDimension",
    "CostCorrelationPolicy", "NoveltyAssessment", "TemplateMatchComponent",
    "TemplateMatchComponents", "TemplateMatchWeights", "SourceTrustBasis",
    "SourceDocumentationTier", "SourceMaterializationKind", "ResearchNeedScope",
    "ResearchNeedStatus", "EvidenceAnchorSupportStrength", "ClaimSupportStatus",
    "RunBoardEventClass", "TaskContextAudience", "RunGuidanceLifecycleState",
    "AllowedCoordinationPoint", "RelianceArtifactLifecycleState", "RelianceStatus",
    "RelianceLimitationKind", "RevisionReviewPacketState", "AttentionKind",
    "TaskReplayMode", "AddendaBPatchPhase", "AddendaBConformanceFixtureKind",
    // Used and not declared.
    "StorageRef", "ISO8601", "DurationISO8601",
    "DateRange", "SchemaRef", "PolicyEvaluationRef",
    "PolicyDecisionRef", "SourceRecordRef", "SourceSetRef",
    "ArtifactScopeRef", "ClaimRef", "PortRef",
    "SubAgentRef", "CapabilityRef", "OwnerDoc",
    "TaintClass", "ProducerKind", "FindingKind",
    "FailureKind", "AssuranceBasis", "ConfidenceBasis",
    "EvaluatedTarget", "EvaluationBasis", "EvaluationRouteRecommendation",
    "ReplayPolicy", "CalibratedScore", "HumanDecisionOption",
    "HardRevisionCallKind", "RevisionPlanStepKind", "RevisionPlanStep",
    "RepairStrategyKind", "RepairTarget", "ArtifactVersionState",
    "SourceKind", "OutcomeId", "FindingsInbox",
    "AttentionLedger", "EvaluationChainView",
];
