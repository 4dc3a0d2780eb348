//! Types that the contract refers to and does not declare, and those of its rows that it takes without a schema.
//! Owns: the list of them. Must not: judge.

pub mod artifact;
pub mod criterion;
pub mod forum;
pub mod learned;
pub mod outcome;
pub mod policy;
pub mod repair;
pub mod showing;
pub mod sourcing;
pub mod stopping;

use super::Type;

/// All of them, by what they are about.
#[rustfmt::skip] // one to a line
pub(super) static ADDED: &[Type] = &[
    Type::of::<policy::PolicyEvaluation>("PolicyEvaluation"),
    Type::of::<policy::PolicySnapshot>("PolicySnapshot"),
    Type::of::<policy::CapabilityState>("CapabilityState"),
    Type::of::<policy::CapabilitySnapshot>("CapabilitySnapshot"),
    Type::of::<policy::UserConfirmation>("UserConfirmation"),
    Type::of::<policy::PolicyFreshnessRecord>("PolicyFreshnessRecord"),
    Type::of::<artifact::ArtifactVersion>("ArtifactVersion"),
    Type::of::<artifact::ArtifactVersionTransitionEvent>("ArtifactVersionTransitionEvent"),
    Type::of::<outcome::OutcomeRecord>("OutcomeRecord"),
    Type::of::<outcome::OutcomeStateTransitionEvent>("OutcomeStateTransitionEvent"),
    Type::of::<outcome::EvaluationFeedbackBundle>("EvaluationFeedbackBundle"),
    Type::of::<outcome::FeedbackConsumptionReceipt>("FeedbackConsumptionReceipt"),
    Type::of::<outcome::LifecycleTransitionReceipt>("LifecycleTransitionReceipt"),
    Type::of::<outcome::DerivedFieldRegistry>("DerivedFieldRegistry"),
    Type::of::<outcome::HumanFeedbackEvent>("HumanFeedbackEvent"),
    Type::of::<outcome::UnanchoredAcknowledgment>("UnanchoredAcknowledgment"),
    Type::of::<outcome::JudgeBudget>("JudgeBudget"),
    Type::of::<outcome::FeedbackPortBinding>("FeedbackPortBinding"),
    Type::of::<outcome::ContestationRequest>("ContestationRequest"),
    Type::of::<outcome::RelianceScopeNote>("RelianceScopeNote"),
    Type::of::<outcome::RepeatedFailureRecord>("RepeatedFailureRecord"),
    Type::of::<criterion::CriterionSemanticReviewReceipt>("CriterionSemanticReviewReceipt"),
    Type::of::<criterion::MetricObservationInvalidationEvent>("MetricObservationInvalidationEvent"),
    Type::of::<criterion::MetricValue>("MetricValue"),
    Type::of::<criterion::TemplateMatchEvaluation>("TemplateMatchEvaluation"),
    Type::of::<criterion::LatencyDistribution>("LatencyDistribution"),
    Type::of::<repair::OutcomeRepairInstruction>("OutcomeRepairInstruction"),
    Type::of::<repair::ModuleRevisionCapability>("ModuleRevisionCapability"),
    Type::of::<repair::ModuleDeclaration>("ModuleDeclaration"),
    Type::of::<repair::RevisionLifecycleTransitionEvent>("RevisionLifecycleTransitionEvent"),
    Type::of::<repair::ParallelBatch>("ParallelBatch"),
    Type::of::<repair::ParallelBatchFinalizationReceipt>("ParallelBatchFinalizationReceipt"),
    Type::of::<repair::TieBreakDecision>("TieBreakDecision"),
    Type::of::<repair::TaskProcessGapSignal>("TaskProcessGapSignal"),
    Type::of::<repair::VerificationRequestStep>("VerificationRequestStep"),
    Type::of::<repair::PlanVerifierResult>("PlanVerifierResult"),
    Type::of::<repair::PlanVerifierUnavailableEvent>("PlanVerifierUnavailableEvent"),
    Type::of::<repair::SideEffectLedgerEntry>("SideEffectLedgerEntry"),
    Type::of::<stopping::HardCallResolution>("HardCallResolution"),
    Type::of::<stopping::HardCallPendingEvent>("HardCallPendingEvent"),
    Type::of::<stopping::TaskCancelReceipt>("TaskCancelReceipt"),
    Type::of::<stopping::ModuleActivationEvent>("ModuleActivationEvent"),
    Type::of::<stopping::TaskGraphMutationEvent>("TaskGraphMutationEvent"),
    Type::of::<sourcing::SourceWorkspaceCurrentState>("SourceWorkspaceCurrentState"),
    Type::of::<sourcing::DerivationEdge>("DerivationEdge"),
    Type::of::<sourcing::SourceQueryRecord>("SourceQueryRecord"),
    Type::of::<sourcing::ExtractorCapability>("ExtractorCapability"),
    Type::of::<sourcing::TextAnchorResolutionReceipt>("TextAnchorResolutionReceipt"),
    Type::of::<sourcing::RetentionPolicy>("RetentionPolicy"),
    Type::of::<sourcing::DigestSelection>("DigestSelection"),
    Type::of::<sourcing::SourceAcquisitionCostRecord>("SourceAcquisitionCostRecord"),
    Type::of::<showing::CommandInvocation>("CommandInvocation"),
    Type::of::<showing::CommandReceipt>("CommandReceipt"),
    Type::of::<showing::UiAffordance>("UiAffordance"),
    Type::of::<showing::PacketItem>("PacketItem"),
    Type::of::<showing::TaskRunContextPacket>("TaskRunContextPacket"),
    Type::of::<showing::ContextPacketConsumption>("ContextPacketConsumption"),
    Type::of::<showing::ReadModelInputManifest>("ReadModelInputManifest"),
    Type::of::<showing::RunBoardDigest>("RunBoardDigest"),
    Type::of::<showing::ReplayPreview>("ReplayPreview"),
    Type::of::<showing::ReviewabilityView>("ReviewabilityView"),
    Type::of::<forum::ForumRoomRecord>("ForumRoomRecord"),
    Type::of::<forum::ForumTick>("ForumTick"),
    Type::of::<forum::ForumProposalSelection>("ForumProposalSelection"),
    Type::of::<forum::ForumPauseEvent>("ForumPauseEvent"),
    Type::of::<forum::ModeratorFailureEvent>("ModeratorFailureEvent"),
    Type::of::<forum::AssistanceEndpoint>("AssistanceEndpoint"),
    Type::of::<forum::ModuleAssistanceAnswer>("ModuleAssistanceAnswer"),
    Type::of::<forum::AssistanceFallbackEvent>("AssistanceFallbackEvent"),
    Type::of::<learned::LearningSignal>("LearningSignal"),
    Type::of::<learned::TypeDeclaration>("TypeDeclaration"),
    Type::of::<learned::ReplayStepResult>("ReplayStepResult"),
    Type::of::<learned::PatchDecision>("PatchDecision"),
    Type::of::<learned::BuildReadyClaim>("BuildReadyClaim"),
    Type::of::<learned::ValidationSuiteRun>("ValidationSuiteRun"),
    Type::of::<learned::CrossDocInsertObligation>("CrossDocInsertObligation"),
    Type::of::<learned::ConformanceFixtureRun>("ConformanceFixtureRun"),
];
