//! Where something belongs: which rows say it themselves, and which by what they belong to.
//! Owns: the tables of that, places as they are remembered. Must not: look rows up.

use super::row::Row;
use crate::member::Member;
use crate::types::wire::record;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_record::json::Json;

/// Members that name a run.
pub(crate) const RUNS: [&str; 5] =
    ["run_id", "left_run_id", "right_run_id", "parent_run_id", "planned_run_id"];

/// How a record names the one that it belongs to.
pub(crate) enum Owner {
    /// By the id of a record of this type.
    Of(&'static str),
    /// By a reference, to a record or to a step of a plan.
    Ref,
    /// By the id of a finding.
    Finding,
}

/// A type, the member that names what its records belong to, and how.
#[rustfmt::skip] // one to a line
pub(crate) const OWNERS: [(&str, &str, Owner); 25] = [
    ("FindingLifecycleTransitionReceipt", "finding_id", Owner::Finding),
    ("EvaluationFindingEvent", "result_id", Owner::Of("EvaluationResultEnvelope")),
    ("EvaluationResultEnvelope", "outcome_id", Owner::Of("OutcomeRecord")),
    ("OutcomeStateTransitionEvent", "outcome_id", Owner::Of("OutcomeRecord")),
    ("SourceWorkspaceOperationReceipt", "operation_id", Owner::Of("SourceWorkspaceOperation")),
    ("WorkspaceExternalizationReceipt", "workspace_id", Owner::Of("SourceWorkspaceCurrentState")),
    ("SourceTierTransitionReceipt", "source_id", Owner::Of("SourceRecord")),
    ("EvaluationChainResolutionReceipt", "chain_id", Owner::Of("EvaluationChainRegistryRecord")),
    ("UnifiedEvaluationChainView", "chain_id", Owner::Of("EvaluationChainRegistryRecord")),
    ("HardCallResolutionReceipt", "hard_call_id", Owner::Of("HardRevisionCall")),
    ("HardCallPendingEvent", "hard_call_id", Owner::Of("HardRevisionCall")),
    ("TaskCancelReceipt", "cancel_request_id", Owner::Of("TaskCancelProtocol")),
    ("RelianceInvalidationEvent", "packet_id", Owner::Of("TaskReliancePacket")),
    ("RevisionReviewDecisionReceipt", "packet_id", Owner::Of("RevisionReviewPacket")),
    ("RunGuidanceLifecycleReceipt", "guidance_id", Owner::Of("RunGuidanceItemCurrent")),
    ("RunGuidanceItemCurrent", "canonical_event_ref", Owner::Ref),
    ("RunGuidanceCreationEvent", "source_feedback_bundle_ref", Owner::Ref),
    ("RevisionLifecycleTransitionEvent", "plan_id", Owner::Of("RevisionPlan")),
    ("WorkProductCertification", "task_reliance_packet_ref", Owner::Ref),
    ("ArtifactVersionTransitionEvent", "artifact_version_ref", Owner::Ref),
    ("LifecycleTransitionReceipt", "subject_ref", Owner::Ref),
    ("LibraryPromotionCandidate", "workspace_id", Owner::Of("SourceWorkspaceCurrentState")),
    ("LibraryPromotionReceipt", "candidate_id", Owner::Of("LibraryPromotionCandidate")),
    ("TaskSkipReceipt", "target_ref", Owner::Ref),
    ("ResearchNeedLease", "need_id", Owner::Of("ResearchNeed")),
];

/// A workspace as it stands, and what is done in one: it says where the workspace belongs.
pub(crate) const WORKSPACE: &str = "SourceWorkspaceCurrentState";
pub(crate) const WORKED: &str = "SourceWorkspaceOperation";

/// Kinds under which a step of a plan is named; it belongs where its plan does.
pub(crate) const STEP: [&str; 3] = ["revision_plan_step_base", "revision_plan_step", "step"];

/// The steps of a plan.
pub(crate) fn steps(plan: &Json) -> impl Iterator<Item = &str> {
    plan.list("steps").iter().filter_map(|step| step.text("step_id"))
}

record! {
    /// Where a row belongs, as far as it is known.
    Place: value {
        runs: Vec<String>,
        task: Option<String>,
        matter: Option<String>,
    }
}

impl Place {
    /// What a row says of itself.
    pub(super) fn said_by(row: &Row<'_>) -> Self {
        let text = |path: &str| row.json.text(path).map(ToString::to_string);
        Place {
            runs: RUNS.iter().filter_map(|member| text(member)).collect(),
            task: text("task_id"),
            matter: text("matter_id").or_else(|| text("governance.matter_id")),
        }
    }

    /// Adds what is known of another place to what is not known of this one.
    pub(super) fn fill(&mut self, other: &Place) {
        if self.runs.is_empty() {
            self.runs.clone_from(&other.runs);
        }
        self.task = self.task.take().or_else(|| other.task.clone());
        self.matter = self.matter.take().or_else(|| other.matter.clone());
    }

    /// Whether nothing is known.
    pub(super) fn is_nowhere(&self) -> bool {
        self.runs.is_empty() && self.task.is_none() && self.matter.is_none()
    }
}
