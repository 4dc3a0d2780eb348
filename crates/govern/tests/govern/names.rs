//! The names of the types that the contract declares, held against those that there are and their schemas.

use countersign_govern::types;
use std::collections::BTreeSet;
use std::path::Path;

/// In the order of the contract.
#[rustfmt::skip] // by the line
const DECLARED: [&str; 209] = [
    "CanonicalEventRef", "ProjectionRef", "EventProjectionLink", "DerivedReadModelRecord",
    "ReadModelInvalidationSpec", "FormulaEvaluationReceipt", "WorkspaceExternalizationKind",
    "WorkspaceExternalizationPolicy", "WorkspaceExternalizationReceipt", "FindingState", "BlockingAuthorityBasis",
    "SubjectiveBlockingPermission", "BlockingAuthorityEvaluation", "FindingMatchKey", "EvaluationFindingEvent",
    "EvaluationFindingRecord", "FindingLifecycleTransitionReceipt", "FeedbackFindingView", "EvaluationResultEnvelope",
    "EvaluationChainKind", "EvaluationChainStatus", "EvaluationChainRegistryRecord",
    "EvaluationChainResolutionPolicy", "EvaluationChainResolutionReceipt", "OutcomeEvaluationRuntimeState",
    "OutcomeEvaluationDisposition", "OutcomeEvaluationState", "EvaluationVerdict", "EvaluationLimitationKind",
    "IndeterminateCause", "SubstantiveVerdictStatus", "OutcomeStateMatrixEntry", "FeedbackBranch",
    "RoutingFirePolicy", "FeedbackRoutingResolutionPolicy", "FeedbackDeliveryRecord", "FeedbackDispatchExpectation",
    "TypeOwnerStatus", "PendingConsumerDegradedBehavior", "TypeOwnerRegistryEntry", "BuildReadyGate",
    "PositiveEvaluationObservation", "LearningMode", "PortRevisionEligibility", "RevisorPlannerInputPorts",
    "FeedbackBundleEmissionRule", "FeedbackBundleAbsentReason", "FeedbackEmissionMatrixEntry",
    "EvaluationResultEmissionRecord", "CoreAuthorityLevel", "LegalTreatmentStatus", "ApplicabilityScope",
    "LegalSourcePayload", "ProgressSignalRecord", "SourceWorkspaceSnapshotHashSet", "EvaluationSnapshot",
    "RevisionExecutionLifecycleState", "RevisionExecutionLifecycleTransition", "StepIdempotencyKey",
    "SourceWorkspaceOperationKind", "SourceWorkspaceMutationPrecondition", "SourceWorkspaceOperation",
    "SourceWorkspaceOperationReceipt", "MutationMode", "InPlaceMutationLock", "RevisionPlan",
    "RevisionOperationReceipt", "OutcomeDependencyGraphPolicy", "RevalidationCascadeRun",
    "RevalidationCascadeReceipt", "HardCallBlockingScope", "HardCallResponseMode", "HardCallPendingPolicy",
    "HardRevisionCall", "HardCallResolutionReceipt", "TaskCancelProtocol", "TaskSkipReceipt",
    "ForumDeliberationPolicy", "RevisionPlanConcurrencyProfile", "SufficiencyTrigger", "SufficiencyTerminalRoute",
    "SufficiencyDetectionPolicy", "CapabilityCoverageAssessment", "CandidateRepairProcedure",
    "ProcedureAttemptRecord", "SufficiencyDetectionResult", "RevisionPlanStepBase", "DependencyEdge",
    "RevisionStepRevalidationPolicyKind", "RevisionStepRevalidationPolicy", "TypedRevisionInstruction",
    "RegenerateRevisionPayload", "RegenerateAttemptReceipt", "NumericUnit", "MetricValueKind", "MissingInputPolicy",
    "ZeroDenominatorPolicy", "FiniteNumberPolicy", "FormulaInputSpec", "FormulaOutputSpec", "FormulaTestVector",
    "FormulaSpec", "MetricObservation", "MetricRollup", "QualityIndex", "OutcomeCycleTerminalClass",
    "RevisionCycleOutcomeObservation", "RevisionCycleEfficiencyRollup", "SeverityWeightedRegressionRate",
    "SubAgentReputationFormulaConfig", "SubAgentReputationScore", "CostDimension", "CostDistribution", "CostVector",
    "TaskCostRecord", "CostCorrelationPolicy", "NoveltyAssessment", "NoveltyMetricSpec", "NoveltyAssessmentBase",
    "NoveltyAssessmentWithNeighbor", "NoveltyAssessmentNoNeighbor", "TemplateMatchComponent",
    "TemplateMatchComponents", "TemplateMatchWeights", "TemplateMatchFormula", "CalibrationMetricSpec",
    "CalibrationMetricResult", "CriterionIdentityFields", "SourceTrustBasis", "SourceKindTaintDefault",
    "SanitizationNode", "TaintAggregationPolicy", "SourceDocumentationTier", "SourceMaterializationKind",
    "SourceRecord", "EphemeralSourceLookupReceipt", "SourceTierTransitionReceipt", "ResearchNeedScope",
    "ResearchNeedStatus", "ResearchNeed", "ResearchNeedLease", "EvidenceAnchorSupportStrength",
    "SourceEvidenceAnchor", "DomainPayloadRegistryRef", "ClaimSupportStatus", "ClaimSupportDerivationPolicy",
    "ClaimSupportDerivationReceipt", "RunBoardEventClass", "RunBoardGovernanceEnvelope", "RunBoardPublicationPolicy",
    "RunBoardAuditEvent", "RunBoardVisiblePost", "TaskContextAudience", "TaskRunContextPacketRequest",
    "OmittedPacketItem", "TaskRunContextPacketAssemblyReceipt", "PerActivationContextBudget",
    "ModuleAssistanceRequest", "RunGuidanceLifecycleState", "RunGuidanceCreationEvent", "RunGuidanceItemCurrent",
    "RunGuidanceLifecycleReceipt", "TaskCommandRegistryEntry", "AllowedCoordinationPoint", "SubAgentFallbackPolicy",
    "SubAgentCoordinationProfile", "PlanVerifierRequirementPolicy", "StructuredAnchor", "TextAnchor",
    "LibraryPromotionCandidate", "LibraryPromotionGate", "LibraryPromotionReceipt", "RunExecutionRequirements",
    "ModuleProgressBehavior", "RelianceArtifactLifecycleState", "RelianceStatus", "RelianceLimitationKind",
    "RelianceInputManifest", "RelianceStatusDerivation", "TaskReliancePacket", "RelianceInvalidationEvent",
    "EvaluationContractReview", "RevisionReviewPacketState", "RevisionReviewPacket", "RevisionReviewDecisionReceipt",
    "EvidencePackageClaimEntry", "EvidencePackage", "KnownGoodCheckpoint", "TaskRunCostForecast", "BudgetNarrative",
    "AttentionKind", "AttentionLedgerItem", "FindingsInboxFilter", "TaskHealthCard", "WorkProductCertification",
    "RunDiff", "DecisionAuditView", "UnifiedEvaluationChainView", "IrrevocableSideEffectAtFork", "TaskRunFork",
    "ExplanationTrace", "TaskReplayMode", "TaskReplayRequest", "ReplayDivergenceRecord",
    "RelianceLayerCommandRegistryEntry", "AddendaBPatchPhase", "AddendaBPatchSequencingGate",
    "AddendaBConformanceFixtureKind", "AddendaBConformanceFixture",
];

#[test]
fn every_declared_type_has_a_schema() {
    let declared: BTreeSet<&str> = DECLARED.into_iter().collect();
    assert_eq!(declared.len(), DECLARED.len(), "a name stands twice");
    let typed: BTreeSet<&str> = types::all().map(|one| one.name).collect();
    let missing: Vec<_> = declared.difference(&typed).collect();
    assert!(missing.is_empty(), "{missing:?} have no type");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas/govern");
    let files: BTreeSet<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .map(|file| file.strip_suffix(".json").unwrap().to_owned())
        .collect();
    let files: BTreeSet<&str> = files.iter().map(String::as_str).collect();
    assert_eq!(files, typed, "the folder has a schema for each type and nothing else");
}
