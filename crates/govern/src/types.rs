//! The types of the contract: the words and members that records have on the wire.
//! Owns: reading and writing them, their JSON Schemas. Must not: judge what they say; `check` does.

pub mod added;
pub mod anchor;
pub mod assistance;
pub mod background;
pub mod basic;
pub mod board;
pub mod calibration;
pub mod cascade;
pub mod chain;
pub mod checkpoint;
pub mod claim;
pub mod command;
pub mod concurrency;
pub mod conformance;
pub mod context;
pub mod cost;
pub mod events;
pub mod externalization;
pub mod feedback;
pub mod finding;
pub mod formula;
pub mod forum;
pub mod guidance;
pub mod hard_call;
pub mod learning;
pub mod library;
pub mod novelty;
pub mod outcome;
pub mod owner;
pub mod port;
pub mod progress;
pub mod quality;
pub mod read_models;
pub mod reading;
pub mod regeneration;
pub mod reliance;
pub mod replay;
pub mod research;
pub mod review;
pub mod revision;
mod scope;
pub mod source;
pub mod sub_agent;
pub mod sufficiency;
pub mod taint;
pub mod template;
pub mod wire;
mod word;
pub mod workspace;

use crate::kind::Number;
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::any::TypeId;
use countersign_record::json::Json;
use once_cell::race::OnceBox;
use wire::{Reading, Trouble, Wire};

/// A type of the contract: how it is read, and its schema.
pub struct Type {
    /// Its name.
    pub name: &'static str,
    read: fn(&Json, &mut Reading) -> Option<Json>,
    tell: fn(&Json, &mut Reading),
    fits: fn(&Json) -> bool,
    id: fn() -> TypeId,
    /// Its JSON Schema.
    pub schema: fn() -> Json,
}

impl Type {
    const fn of<T: Wire + 'static>(name: &'static str) -> Self {
        Type {
            name,
            read: |value, reading| T::read(value, reading).and_then(|read| read.write()),
            tell: |value, reading| drop(T::read(value, reading)),
            fits: T::fits,
            id: TypeId::of::<T>,
            schema: T::schema,
        }
    }

    /// Another name for a type: what it says is said there.
    const fn alias<T: Wire + 'static>(name: &'static str) -> Self {
        Type { schema: T::schema_inside, ..Type::of::<T>(name) }
    }

    /// Whether it is this one: other crates have types of the same names.
    #[must_use]
    pub fn is<T: 'static>(&self) -> bool {
        (self.id)() == TypeId::of::<T>()
    }

    /// What of a record is not as the type has it.
    #[must_use]
    pub fn troubles(&self, record: &Json) -> Vec<Trouble> {
        let mut reading = Reading::default();
        (self.tell)(record, &mut reading);
        reading.troubles()
    }

    /// Whether nothing of a record is there that is not of its type, whatever is missing or unknown.
    #[must_use]
    pub fn fits(&self, record: &Json) -> bool {
        (self.fits)(record)
    }

    /// A record read and written again; `None` if it is not of the type.
    #[must_use]
    pub fn again(&self, record: &Json) -> Option<Json> {
        (self.read)(record, &mut Reading::default())
    }
}

/// The type of a name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Type> {
    all().find(|one| one.name == name)
}

/// The type of a number: it is asked for each row of a log.
#[must_use]
pub fn numbered(known: Number) -> Option<&'static Type> {
    static ALL: OnceBox<Vec<Option<&'static Type>>> = OnceBox::new();
    let all = ALL.get_or_init(|| {
        let numbers = (0..Number::count()).map(Number::at);
        Box::new(numbers.map(|known| known.and_then(|known| find(known.kind.name))).collect())
    });
    all.get(known.index).copied().flatten()
}

/// All types: those of the contract, in its order, and those that it needs.
pub fn all() -> impl Iterator<Item = &'static Type> {
    TYPES.iter().chain(added::ADDED)
}

/// All types of the contract, in its order.
#[rustfmt::skip] // one to a line
static TYPES: &[Type] = &[
    Type::alias::<events::CanonicalEventRef>("CanonicalEventRef"),
    Type::alias::<events::ProjectionRef>("ProjectionRef"),
    Type::of::<events::EventProjectionLink>("EventProjectionLink"),
    Type::of::<read_models::DerivedReadModelRecord>("DerivedReadModelRecord"),
    Type::of::<read_models::ReadModelInvalidationSpec>("ReadModelInvalidationSpec"),
    Type::of::<formula::FormulaEvaluationReceipt>("FormulaEvaluationReceipt"),
    Type::of::<externalization::WorkspaceExternalizationKind>("WorkspaceExternalizationKind"),
    Type::of::<externalization::WorkspaceExternalizationPolicy>("WorkspaceExternalizationPolicy"),
    Type::of::<externalization::WorkspaceExternalizationReceipt>("WorkspaceExternalizationReceipt"),
    Type::of::<finding::FindingState>("FindingState"),
    Type::of::<finding::BlockingAuthorityBasis>("BlockingAuthorityBasis"),
    Type::of::<finding::SubjectiveBlockingPermission>("SubjectiveBlockingPermission"),
    Type::of::<finding::BlockingAuthorityEvaluation>("BlockingAuthorityEvaluation"),
    Type::of::<finding::FindingMatchKey>("FindingMatchKey"),
    Type::of::<finding::EvaluationFindingEvent>("EvaluationFindingEvent"),
    Type::of::<finding::EvaluationFindingRecord>("EvaluationFindingRecord"),
    Type::of::<finding::FindingLifecycleTransitionReceipt>("FindingLifecycleTransitionReceipt"),
    Type::of::<finding::FeedbackFindingView>("FeedbackFindingView"),
    Type::of::<chain::EvaluationResultEnvelope>("EvaluationResultEnvelope"),
    Type::of::<chain::EvaluationChainKind>("EvaluationChainKind"),
    Type::of::<chain::EvaluationChainStatus>("EvaluationChainStatus"),
    Type::of::<chain::EvaluationChainRegistryRecord>("EvaluationChainRegistryRecord"),
    Type::of::<chain::EvaluationChainResolutionPolicy>("EvaluationChainResolutionPolicy"),
    Type::of::<chain::EvaluationChainResolutionReceipt>("EvaluationChainResolutionReceipt"),
    Type::of::<outcome::OutcomeEvaluationRuntimeState>("OutcomeEvaluationRuntimeState"),
    Type::of::<outcome::OutcomeEvaluationDisposition>("OutcomeEvaluationDisposition"),
    Type::of::<outcome::OutcomeEvaluationState>("OutcomeEvaluationState"),
    Type::of::<outcome::EvaluationVerdict>("EvaluationVerdict"),
    Type::of::<outcome::EvaluationLimitationKind>("EvaluationLimitationKind"),
    Type::of::<outcome::IndeterminateCause>("IndeterminateCause"),
    Type::of::<outcome::SubstantiveVerdictStatus>("SubstantiveVerdictStatus"),
    Type::of::<outcome::OutcomeStateMatrixEntry>("OutcomeStateMatrixEntry"),
    Type::of::<feedback::FeedbackBranch>("FeedbackBranch"),
    Type::of::<feedback::RoutingFirePolicy>("RoutingFirePolicy"),
    Type::of::<feedback::FeedbackRoutingResolutionPolicy>("FeedbackRoutingResolutionPolicy"),
    Type::of::<feedback::FeedbackDeliveryRecord>("FeedbackDeliveryRecord"),
    Type::of::<feedback::FeedbackDispatchExpectation>("FeedbackDispatchExpectation"),
    Type::of::<owner::TypeOwnerStatus>("TypeOwnerStatus"),
    Type::of::<owner::PendingConsumerDegradedBehavior>("PendingConsumerDegradedBehavior"),
    Type::of::<owner::TypeOwnerRegistryEntry>("TypeOwnerRegistryEntry"),
    Type::of::<owner::BuildReadyGate>("BuildReadyGate"),
    Type::of::<finding::PositiveEvaluationObservation>("PositiveEvaluationObservation"),
    Type::of::<learning::LearningMode>("LearningMode"),
    Type::of::<port::PortRevisionEligibility>("PortRevisionEligibility"),
    Type::of::<port::RevisorPlannerInputPorts>("RevisorPlannerInputPorts"),
    Type::of::<feedback::FeedbackBundleEmissionRule>("FeedbackBundleEmissionRule"),
    Type::of::<feedback::FeedbackBundleAbsentReason>("FeedbackBundleAbsentReason"),
    Type::of::<feedback::FeedbackEmissionMatrixEntry>("FeedbackEmissionMatrixEntry"),
    Type::of::<feedback::EvaluationResultEmissionRecord>("EvaluationResultEmissionRecord"),
    Type::of::<source::CoreAuthorityLevel>("CoreAuthorityLevel"),
    Type::of::<source::LegalTreatmentStatus>("LegalTreatmentStatus"),
    Type::of::<source::ApplicabilityScope>("ApplicabilityScope"),
    Type::of::<source::LegalSourcePayload>("LegalSourcePayload"),
    Type::of::<progress::ProgressSignalRecord>("ProgressSignalRecord"),
    Type::of::<progress::SourceWorkspaceSnapshotHashSet>("SourceWorkspaceSnapshotHashSet"),
    Type::of::<progress::EvaluationSnapshot>("EvaluationSnapshot"),
    Type::of::<revision::RevisionExecutionLifecycleState>("RevisionExecutionLifecycleState"),
    Type::of::<revision::RevisionExecutionLifecycleTransition>("RevisionExecutionLifecycleTransition"),
    Type::of::<revision::StepIdempotencyKey>("StepIdempotencyKey"),
    Type::of::<workspace::SourceWorkspaceOperationKind>("SourceWorkspaceOperationKind"),
    Type::of::<workspace::SourceWorkspaceMutationPrecondition>("SourceWorkspaceMutationPrecondition"),
    Type::of::<workspace::SourceWorkspaceOperation>("SourceWorkspaceOperation"),
    Type::of::<workspace::SourceWorkspaceOperationReceipt>("SourceWorkspaceOperationReceipt"),
    Type::of::<revision::MutationMode>("MutationMode"),
    Type::of::<revision::InPlaceMutationLock>("InPlaceMutationLock"),
    Type::of::<revision::RevisionPlan>("RevisionPlan"),
    Type::of::<revision::RevisionOperationReceipt>("RevisionOperationReceipt"),
    Type::of::<cascade::OutcomeDependencyGraphPolicy>("OutcomeDependencyGraphPolicy"),
    Type::of::<cascade::RevalidationCascadeRun>("RevalidationCascadeRun"),
    Type::of::<cascade::RevalidationCascadeReceipt>("RevalidationCascadeReceipt"),
    Type::of::<hard_call::HardCallBlockingScope>("HardCallBlockingScope"),
    Type::of::<hard_call::HardCallResponseMode>("HardCallResponseMode"),
    Type::of::<hard_call::HardCallPendingPolicy>("HardCallPendingPolicy"),
    Type::of::<hard_call::HardRevisionCall>("HardRevisionCall"),
    Type::of::<hard_call::HardCallResolutionReceipt>("HardCallResolutionReceipt"),
    Type::of::<hard_call::TaskCancelProtocol>("TaskCancelProtocol"),
    Type::of::<hard_call::TaskSkipReceipt>("TaskSkipReceipt"),
    Type::of::<forum::ForumDeliberationPolicy>("ForumDeliberationPolicy"),
    Type::of::<concurrency::RevisionPlanConcurrencyProfile>("RevisionPlanConcurrencyProfile"),
    Type::of::<sufficiency::SufficiencyTrigger>("SufficiencyTrigger"),
    Type::of::<sufficiency::SufficiencyTerminalRoute>("SufficiencyTerminalRoute"),
    Type::of::<sufficiency::SufficiencyDetectionPolicy>("SufficiencyDetectionPolicy"),
    Type::of::<sufficiency::CapabilityCoverageAssessment>("CapabilityCoverageAssessment"),
    Type::of::<sufficiency::CandidateRepairProcedure>("CandidateRepairProcedure"),
    Type::of::<sufficiency::ProcedureAttemptRecord>("ProcedureAttemptRecord"),
    Type::of::<sufficiency::SufficiencyDetectionResult>("SufficiencyDetectionResult"),
    Type::of::<revision::RevisionPlanStepBase>("RevisionPlanStepBase"),
    Type::of::<revision::DependencyEdge>("DependencyEdge"),
    Type::of::<revision::RevisionStepRevalidationPolicyKind>("RevisionStepRevalidationPolicyKind"),
    Type::of::<revision::RevisionStepRevalidationPolicy>("RevisionStepRevalidationPolicy"),
    Type::of::<revision::TypedRevisionInstruction>("TypedRevisionInstruction"),
    Type::of::<regeneration::RegenerateRevisionPayload>("RegenerateRevisionPayload"),
    Type::of::<regeneration::RegenerateAttemptReceipt>("RegenerateAttemptReceipt"),
    Type::of::<formula::NumericUnit>("NumericUnit"),
    Type::of::<formula::MetricValueKind>("MetricValueKind"),
    Type::of::<formula::MissingInputPolicy>("MissingInputPolicy"),
    Type::of::<formula::ZeroDenominatorPolicy>("ZeroDenominatorPolicy"),
    Type::of::<formula::FiniteNumberPolicy>("FiniteNumberPolicy"),
    Type::of::<formula::FormulaInputSpec>("FormulaInputSpec"),
    Type::of::<formula::FormulaOutputSpec>("FormulaOutputSpec"),
    Type::of::<formula::FormulaTestVector>("FormulaTestVector"),
    Type::of::<formula::FormulaSpec>("FormulaSpec"),
    Type::of::<formula::MetricObservation>("MetricObservation"),
    Type::of::<formula::MetricRollup>("MetricRollup"),
    Type::of::<quality::QualityIndex>("QualityIndex"),
    Type::of::<quality::OutcomeCycleTerminalClass>("OutcomeCycleTerminalClass"),
    Type::of::<quality::RevisionCycleOutcomeObservation>("RevisionCycleOutcomeObservation"),
    Type::of::<quality::RevisionCycleEfficiencyRollup>("RevisionCycleEfficiencyRollup"),
    Type::of::<quality::SeverityWeightedRegressionRate>("SeverityWeightedRegressionRate"),
    Type::of::<quality::SubAgentReputationFormulaConfig>("SubAgentReputationFormulaConfig"),
    Type::of::<quality::SubAgentReputationScore>("SubAgentReputationScore"),
    Type::of::<cost::CostDimension>("CostDimension"),
    Type::of::<cost::CostDistribution>("CostDistribution"),
    Type::of::<cost::CostVector>("CostVector"),
    Type::of::<cost::TaskCostRecord>("TaskCostRecord"),
    Type::of::<cost::CostCorrelationPolicy>("CostCorrelationPolicy"),
    Type::of::<novelty::NoveltyAssessment>("NoveltyAssessment"),
    Type::of::<novelty::NoveltyMetricSpec>("NoveltyMetricSpec"),
    Type::of::<novelty::NoveltyAssessmentBase>("NoveltyAssessmentBase"),
    Type::of::<novelty::NoveltyAssessmentWithNeighbor>("NoveltyAssessmentWithNeighbor"),
    Type::of::<novelty::NoveltyAssessmentNoNeighbor>("NoveltyAssessmentNoNeighbor"),
    Type::of::<template::TemplateMatchComponent>("TemplateMatchComponent"),
    Type::alias::<template::TemplateMatchComponents>("TemplateMatchComponents"),
    Type::alias::<template::TemplateMatchWeights>("TemplateMatchWeights"),
    Type::of::<template::TemplateMatchFormula>("TemplateMatchFormula"),
    Type::of::<calibration::CalibrationMetricSpec>("CalibrationMetricSpec"),
    Type::of::<calibration::CalibrationMetricResult>("CalibrationMetricResult"),
    Type::of::<quality::CriterionIdentityFields>("CriterionIdentityFields"),
    Type::of::<taint::SourceTrustBasis>("SourceTrustBasis"),
    Type::of::<taint::SourceKindTaintDefault>("SourceKindTaintDefault"),
    Type::of::<taint::SanitizationNode>("SanitizationNode"),
    Type::of::<taint::TaintAggregationPolicy>("TaintAggregationPolicy"),
    Type::of::<basic::SourceDocumentationTier>("SourceDocumentationTier"),
    Type::of::<source::SourceMaterializationKind>("SourceMaterializationKind"),
    Type::of::<source::SourceRecord>("SourceRecord"),
    Type::of::<source::EphemeralSourceLookupReceipt>("EphemeralSourceLookupReceipt"),
    Type::of::<source::SourceTierTransitionReceipt>("SourceTierTransitionReceipt"),
    Type::of::<research::ResearchNeedScope>("ResearchNeedScope"),
    Type::of::<research::ResearchNeedStatus>("ResearchNeedStatus"),
    Type::of::<research::ResearchNeed>("ResearchNeed"),
    Type::of::<research::ResearchNeedLease>("ResearchNeedLease"),
    Type::of::<claim::EvidenceAnchorSupportStrength>("EvidenceAnchorSupportStrength"),
    Type::of::<claim::SourceEvidenceAnchor>("SourceEvidenceAnchor"),
    Type::of::<claim::DomainPayloadRegistryRef>("DomainPayloadRegistryRef"),
    Type::of::<claim::ClaimSupportStatus>("ClaimSupportStatus"),
    Type::of::<claim::ClaimSupportDerivationPolicy>("ClaimSupportDerivationPolicy"),
    Type::of::<claim::ClaimSupportDerivationReceipt>("ClaimSupportDerivationReceipt"),
    Type::of::<board::RunBoardEventClass>("RunBoardEventClass"),
    Type::of::<board::RunBoardGovernanceEnvelope>("RunBoardGovernanceEnvelope"),
    Type::of::<board::RunBoardPublicationPolicy>("RunBoardPublicationPolicy"),
    Type::of::<board::RunBoardAuditEvent>("RunBoardAuditEvent"),
    Type::of::<board::RunBoardVisiblePost>("RunBoardVisiblePost"),
    Type::of::<context::TaskContextAudience>("TaskContextAudience"),
    Type::of::<context::TaskRunContextPacketRequest>("TaskRunContextPacketRequest"),
    Type::of::<context::OmittedPacketItem>("OmittedPacketItem"),
    Type::of::<context::TaskRunContextPacketAssemblyReceipt>("TaskRunContextPacketAssemblyReceipt"),
    Type::of::<context::PerActivationContextBudget>("PerActivationContextBudget"),
    Type::of::<assistance::ModuleAssistanceRequest>("ModuleAssistanceRequest"),
    Type::of::<guidance::RunGuidanceLifecycleState>("RunGuidanceLifecycleState"),
    Type::of::<guidance::RunGuidanceCreationEvent>("RunGuidanceCreationEvent"),
    Type::of::<guidance::RunGuidanceItemCurrent>("RunGuidanceItemCurrent"),
    Type::of::<guidance::RunGuidanceLifecycleReceipt>("RunGuidanceLifecycleReceipt"),
    Type::of::<command::TaskCommandRegistryEntry>("TaskCommandRegistryEntry"),
    Type::of::<sub_agent::AllowedCoordinationPoint>("AllowedCoordinationPoint"),
    Type::of::<sub_agent::SubAgentFallbackPolicy>("SubAgentFallbackPolicy"),
    Type::of::<sub_agent::SubAgentCoordinationProfile>("SubAgentCoordinationProfile"),
    Type::of::<sub_agent::PlanVerifierRequirementPolicy>("PlanVerifierRequirementPolicy"),
    Type::of::<anchor::StructuredAnchor>("StructuredAnchor"),
    Type::of::<anchor::TextAnchor>("TextAnchor"),
    Type::of::<library::LibraryPromotionCandidate>("LibraryPromotionCandidate"),
    Type::of::<library::LibraryPromotionGate>("LibraryPromotionGate"),
    Type::of::<library::LibraryPromotionReceipt>("LibraryPromotionReceipt"),
    Type::of::<background::RunExecutionRequirements>("RunExecutionRequirements"),
    Type::of::<background::ModuleProgressBehavior>("ModuleProgressBehavior"),
    Type::of::<reliance::RelianceArtifactLifecycleState>("RelianceArtifactLifecycleState"),
    Type::of::<reliance::RelianceStatus>("RelianceStatus"),
    Type::of::<reliance::RelianceLimitationKind>("RelianceLimitationKind"),
    Type::of::<reliance::RelianceInputManifest>("RelianceInputManifest"),
    Type::of::<reliance::RelianceStatusDerivation>("RelianceStatusDerivation"),
    Type::of::<reliance::TaskReliancePacket>("TaskReliancePacket"),
    Type::of::<reliance::RelianceInvalidationEvent>("RelianceInvalidationEvent"),
    Type::of::<reliance::EvaluationContractReview>("EvaluationContractReview"),
    Type::of::<review::RevisionReviewPacketState>("RevisionReviewPacketState"),
    Type::of::<review::RevisionReviewPacket>("RevisionReviewPacket"),
    Type::of::<review::RevisionReviewDecisionReceipt>("RevisionReviewDecisionReceipt"),
    Type::of::<claim::EvidencePackageClaimEntry>("EvidencePackageClaimEntry"),
    Type::of::<claim::EvidencePackage>("EvidencePackage"),
    Type::of::<checkpoint::KnownGoodCheckpoint>("KnownGoodCheckpoint"),
    Type::of::<cost::TaskRunCostForecast>("TaskRunCostForecast"),
    Type::of::<cost::BudgetNarrative>("BudgetNarrative"),
    Type::of::<reliance::AttentionKind>("AttentionKind"),
    Type::of::<reliance::AttentionLedgerItem>("AttentionLedgerItem"),
    Type::of::<reliance::FindingsInboxFilter>("FindingsInboxFilter"),
    Type::of::<reliance::TaskHealthCard>("TaskHealthCard"),
    Type::of::<reliance::WorkProductCertification>("WorkProductCertification"),
    Type::of::<reliance::RunDiff>("RunDiff"),
    Type::of::<reliance::DecisionAuditView>("DecisionAuditView"),
    Type::of::<reliance::UnifiedEvaluationChainView>("UnifiedEvaluationChainView"),
    Type::of::<checkpoint::IrrevocableSideEffectAtFork>("IrrevocableSideEffectAtFork"),
    Type::of::<checkpoint::TaskRunFork>("TaskRunFork"),
    Type::of::<replay::ExplanationTrace>("ExplanationTrace"),
    Type::of::<replay::TaskReplayMode>("TaskReplayMode"),
    Type::of::<replay::TaskReplayRequest>("TaskReplayRequest"),
    Type::of::<replay::ReplayDivergenceRecord>("ReplayDivergenceRecord"),
    Type::of::<command::RelianceLayerCommandRegistryEntry>("RelianceLayerCommandRegistryEntry"),
    Type::of::<owner::AddendaBPatchPhase>("AddendaBPatchPhase"),
    Type::of::<owner::AddendaBPatchSequencingGate>("AddendaBPatchSequencingGate"),
    Type::of::<conformance::AddendaBConformanceFixtureKind>("AddendaBConformanceFixtureKind"),
    Type::of::<conformance::AddendaBConformanceFixture>("AddendaBConformanceFixture"),
    // What the contract uses and does not declare.
    Type::of::<basic::StorageRef>("StorageRef"),
    Type::of::<basic::Instant>("Instant"),
    Type::of::<basic::Duration>("Duration"),
    Type::of::<basic::DateRange>("DateRange"),
    Type::of::<basic::SchemaRef>("SchemaRef"),
    Type::of::<basic::PolicyEvaluationRef>("PolicyEvaluationRef"),
    Type::of::<basic::SourceRecordRef>("SourceRecordRef"),
    Type::of::<basic::SourceSetRef>("SourceSetRef"),
    Type::of::<basic::ArtifactScopeRef>("ArtifactScopeRef"),
    Type::of::<basic::ClaimRef>("ClaimRef"),
    Type::of::<basic::PortRef>("PortRef"),
    Type::of::<basic::SubAgentRef>("SubAgentRef"),
    Type::of::<basic::CapabilityRef>("CapabilityRef"),
    Type::of::<basic::OwnerDoc>("OwnerDoc"),
    Type::of::<basic::TaintClass>("TaintClass"),
    Type::of::<basic::ProducerKind>("ProducerKind"),
    Type::of::<basic::FindingKind>("FindingKind"),
    Type::of::<basic::FailureKind>("FailureKind"),
    Type::of::<basic::AssuranceBasis>("AssuranceBasis"),
    Type::of::<basic::ConfidenceBasis>("ConfidenceBasis"),
    Type::of::<basic::EvaluatedTarget>("EvaluatedTarget"),
    Type::of::<basic::EvaluationBasis>("EvaluationBasis"),
    Type::of::<basic::EvaluationRouteRecommendation>("EvaluationRouteRecommendation"),
    Type::of::<basic::ReplayPolicy>("ReplayPolicy"),
    Type::of::<basic::CalibratedScore>("CalibratedScore"),
    Type::of::<basic::Criterion>("Criterion"),
    Type::of::<basic::OutcomeComplianceScoringConfig>("OutcomeComplianceScoringConfig"),
    Type::of::<basic::HumanDecisionOption>("HumanDecisionOption"),
    Type::of::<basic::HardRevisionCallKind>("HardRevisionCallKind"),
    Type::of::<basic::RevisionPlanStepKind>("RevisionPlanStepKind"),
    Type::of::<basic::RevisionPlanStep>("RevisionPlanStep"),
    Type::of::<basic::RepairStrategyKind>("RepairStrategyKind"),
    Type::of::<basic::RepairTarget>("RepairTarget"),
    Type::of::<basic::ArtifactVersionState>("ArtifactVersionState"),
    Type::of::<basic::SourceKind>("SourceKind"),
    Type::of::<basic::OutcomeId>("OutcomeId"),
];
