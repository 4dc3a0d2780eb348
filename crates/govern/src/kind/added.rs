//! The types that the contract refers to and does not declare.
//! Owns: their names, classes and which field names them. Must not: know what they mean.

use super::{Class, Kind};

/// By what they are about.
#[rustfmt::skip] // one to a line
pub(super) const ADDED: &[Kind] = &[
    // Policies and capabilities as they were.
    Kind::new("PolicyEvaluation", Class::Event, Some("policy_evaluation_id")),
    Kind::new("PolicySnapshot", Class::Event, Some("snapshot_id")),
    Kind::new("CapabilitySnapshot", Class::Event, Some("snapshot_id")),
    Kind::new("UserConfirmation", Class::Event, Some("confirmation_id")),
    // Artifacts.
    Kind::new("ArtifactVersion", Class::Event, Some("artifact_version_id")),
    Kind::new("ArtifactVersionTransitionEvent", Class::Event, Some("event_id")),
    // Evaluation and feedback.
    Kind::new("Criterion", Class::Policy, Some("criterion_id")),
    Kind::new("OutcomeComplianceScoringConfig", Class::Policy, Some("config_id")),
    Kind::new("OutcomeRecord", Class::Projection, Some("outcome_id")),
    Kind::new("OutcomeStateTransitionEvent", Class::Event, Some("event_id")),
    Kind::new("EvaluationFeedbackBundle", Class::Event, Some("feedback_bundle_id")),
    Kind::new("FeedbackConsumptionReceipt", Class::Receipt, Some("receipt_id")),
    Kind::new("LifecycleTransitionReceipt", Class::Receipt, Some("receipt_id")),
    Kind::new("DerivedFieldRegistry", Class::Policy, None),
    // Revision.
    Kind::new("OutcomeRepairInstruction", Class::Request, Some("instruction_id")),
    Kind::new("ModuleRevisionCapability", Class::Policy, Some("capability_ref")),
    Kind::new("RevisionLifecycleTransitionEvent", Class::Event, Some("event_id")),
    Kind::new("ParallelBatch", Class::Event, Some("batch_id")),
    Kind::new("TieBreakDecision", Class::Event, Some("decision_id")),
    Kind::new("TaskProcessGapSignal", Class::Event, Some("signal_id")),
    Kind::new("VerificationRequestStep", Class::Request, Some("step_id")),
    Kind::new("HardCallResolution", Class::Receipt, None),
    Kind::new("TaskCancelReceipt", Class::Receipt, Some("receipt_id")),
    Kind::new("SideEffectLedgerEntry", Class::Event, Some("side_effect_id")),
    // Sources.
    Kind::new("SourceWorkspaceCurrentState", Class::Projection, Some("workspace_id")),
    Kind::new("DerivationEdge", Class::Event, Some("output_ref")),
    // Commands and what is shown.
    Kind::new("CommandInvocation", Class::Event, Some("invocation_id")),
    Kind::new("CommandReceipt", Class::Receipt, Some("receipt_id")),
    Kind::new("UiAffordance", Class::Policy, Some("affordance_id")),
    Kind::new("TaskRunContextPacket", Class::Event, Some("packet_id")),
    Kind::new("ContextPacketConsumption", Class::Event, Some("consumption_id")),
    // Forum.
    Kind::new("ForumRoomRecord", Class::Event, Some("room_id")),
    Kind::new("ForumTick", Class::Event, None),
    Kind::new("ModeratorFailureEvent", Class::Event, Some("event_id")),
    // Conformance.
    Kind::new("ConformanceFixtureRun", Class::Receipt, Some("fixture_run_id")),
    // Rows of the contract that it takes without a schema.
    Kind::new("PolicyFreshnessRecord", Class::Event, Some("record_id")),
    Kind::new("HumanFeedbackEvent", Class::Event, Some("event_id")),
    Kind::new("UnanchoredAcknowledgment", Class::Event, Some("acknowledgment_id")),
    Kind::new("JudgeBudget", Class::Policy, Some("budget_id")),
    Kind::new("FeedbackPortBinding", Class::Policy, Some("binding_id")),
    Kind::new("ContestationRequest", Class::Request, Some("request_id")),
    Kind::new("RelianceScopeNote", Class::Event, Some("note_id")),
    Kind::new("RepeatedFailureRecord", Class::Event, Some("repeated_failure_id")),
    Kind::new("SourceAcquisitionCostRecord", Class::Event, Some("acquisition_cost_id")),
    Kind::new("ReviewabilityView", Class::ReadModel, Some("reviewability_view_id")),
    Kind::new("LatencyDistribution", Class::Event, Some("latency_id")),
    Kind::new("ParallelBatchFinalizationReceipt", Class::Receipt, Some("receipt_id")),
    Kind::new("RetentionPolicy", Class::Policy, Some("policy_id")),
    Kind::new("DigestSelection", Class::Receipt, Some("selection_id")),
    Kind::new("ReplayPreview", Class::ReadModel, Some("preview_id")),
    Kind::new("TypeDeclaration", Class::Policy, Some("declaration_id")),
];
