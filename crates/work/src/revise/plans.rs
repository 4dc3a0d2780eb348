//! Plans of revisions as they stand: their steps, how far each is, what is done to them.
//! Owns: reading them from their rows, and the receipts that move them. Must not: choose a step.

use crate::artifact::{self, Version};
use crate::desk::{Desk, Error, reference};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_govern::machine;
use countersign_govern::reference::Reference;
use countersign_govern::types::added::repair::RevisionLifecycleTransitionEvent;
use countersign_govern::types::basic::{RevisionPlanStepKind as StepKind, StorageRef, V10};
use countersign_govern::types::revision::{
    RevisionExecutionLifecycleState as State,
    RevisionExecutionLifecycleTransitionTriggeredByReceiptKind as By, RevisionOperationKind as Operation,
    RevisionOperationReceipt, RevisionPlan, StepIdempotencyKey,
};
use countersign_govern::types::sufficiency::CandidateRepairProcedureSafetyClass as Safety;

/// A plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) id: String,
    /// The artifact that it is about, as the task calls it.
    pub(crate) artifact: String,
    /// The outcomes that it is for, as the task calls them.
    pub(crate) outcomes: Vec<String>,
    /// In their order; the last one has the outcomes looked at again.
    pub(crate) steps: Vec<Step>,
    pub(crate) safety: Safety,
    pub(crate) state: State,
    /// Its place among the rows.
    pub(crate) seq: u64,
}

/// A step of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) id: String,
    pub(crate) kind: StepKind,
    /// What exactly it is about: the last of what it names.
    pub(crate) target: StorageRef,
    /// The steps that it waits for.
    pub(crate) after: Vec<String>,
}

/// How far a step is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    Waiting,
    Running,
    Finished,
    Failed,
    Skipped,
}

impl Plan {
    /// The reference to it.
    pub(crate) fn reference(&self) -> Result<StorageRef, Error> {
        reference("RevisionPlan", &self.id)
    }

    /// Whether it has come to its end.
    pub(crate) fn is_over(&self) -> bool {
        machine::REVISION.is_terminal(self.state.as_str())
    }

    /// The step that has the outcomes looked at again.
    pub(crate) fn revalidation(&self) -> Option<&Step> {
        self.steps.iter().find(|step| step.kind == StepKind::Revalidate)
    }

    /// The step of an id.
    pub(crate) fn step(&self, id: &str) -> Option<&Step> {
        self.steps.iter().find(|step| step.id == id)
    }

    /// The versions that its steps made, in order.
    pub(crate) fn products(&self, desk: &Desk) -> Vec<Version> {
        let made: Vec<String> = desk
            .all::<countersign_govern::types::added::artifact::ArtifactVersion>()
            .filter(|one| one.produced_by_step_id.as_deref().is_some_and(|step| self.step(step).is_some()))
            .map(|one| one.artifact_version_id)
            .collect();
        artifact::versions(desk, &self.artifact).filter(|one| made.contains(&one.id)).collect()
    }

    /// What its next step builds on: what the one before left, or the head.
    pub(crate) fn base(&self, desk: &Desk) -> Option<Version> {
        self.products(desk).pop().or_else(|| artifact::head(desk, &self.artifact))
    }
}

/// Whether a step of a kind may change the artifact.
pub(crate) fn is_mutating(kind: StepKind) -> bool {
    match kind {
        StepKind::EditArtifact
        | StepKind::RegenerateSection
        | StepKind::Restructure
        | StepKind::FormatRepair => true,
        StepKind::SourceResearch
        | StepKind::VerificationRequest
        | StepKind::HardCall
        | StepKind::ExternalSideEffect
        | StepKind::Revalidate => false,
    }
}

/// All plans of the run, in the order in which they were made.
pub(crate) fn all(desk: &Desk) -> Vec<Plan> {
    desk.each::<RevisionPlan>("RevisionPlan")
        .filter_map(|found| read(desk, found.record, found.seq))
        .collect()
}

/// The plans that have not come to their end.
pub(crate) fn live(desk: &Desk) -> Vec<Plan> {
    all(desk).into_iter().filter(|plan| !plan.is_over()).collect()
}

/// The plan of an id.
pub(crate) fn find(desk: &Desk, id: &str) -> Result<Plan, Error> {
    let found = desk.each::<RevisionPlan>("RevisionPlan").find(|found| found.id == id);
    found.and_then(|found| read(desk, found.record, found.seq)).ok_or_else(|| Error::Missing(id.to_string()))
}

fn read(desk: &Desk, plan: RevisionPlan, seq: u64) -> Option<Plan> {
    let state = desk.says("revision_plan", &plan.plan_id, "state").and_then(State::find)?;
    let artifact = plan.steps.first().and_then(|step| step.target_refs.first())?;
    let artifact = Reference::read(artifact.as_str()).map(|read| desk.local(read.id).to_string())?;
    let outcomes = plan.outcome_ids.unwrap_or_default();
    let steps = plan.steps.into_iter().filter_map(|step| {
        let target = step.target_refs.last()?.clone();
        Some(Step { id: step.step_id, kind: step.step_kind, target, after: step.depends_on_step_ids })
    });
    Some(Plan {
        id: plan.plan_id,
        artifact,
        outcomes: outcomes.iter().map(|id| desk.local(id).to_string()).collect(),
        steps: steps.collect(),
        safety: plan.safety_class.unwrap_or(Safety::ExternalSideEffect),
        state,
        seq,
    })
}

/// The receipts of a step, in order, with their places.
pub(crate) fn receipts(desk: &Desk, step: &str) -> Vec<(u64, RevisionOperationReceipt)> {
    let all = desk.each::<RevisionOperationReceipt>("RevisionOperationReceipt");
    all.filter(|found| found.record.step_id == step).map(|found| (found.seq, found.record)).collect()
}

/// How far a step is.
pub(crate) fn progress(desk: &Desk, step: &str) -> Progress {
    let told = |receipt: &RevisionOperationReceipt| match receipt.operation_kind? {
        Operation::StepStarted => Some(Progress::Running),
        Operation::StepFinished => Some(Progress::Finished),
        Operation::StepFailed => Some(Progress::Failed),
        Operation::StepSkipped => Some(Progress::Skipped),
        Operation::PlanAdmitted
        | Operation::PlanRejected
        | Operation::Dispatched
        | Operation::HardCallRaised
        | Operation::RevalidationDone
        | Operation::ReplanAdmitted => None,
    };
    receipts(desk, step).iter().rev().find_map(|(_, receipt)| told(receipt)).unwrap_or(Progress::Waiting)
}

/// What a receipt says besides what was done.
#[derive(Default)]
pub(crate) struct Told {
    pub(crate) pre: Option<String>,
    pub(crate) post: Option<String>,
    pub(crate) key: Option<StepIdempotencyKey>,
}

/// Writes the receipt of what was done with a step.
pub(crate) fn operated(
    desk: &mut Desk,
    plan: &Plan,
    step: &str,
    kind: Operation,
    told: Told,
) -> Result<StorageRef, Error> {
    let artifact = told.post.as_ref().map(|_| desk.own(&plan.artifact));
    desk.put(&RevisionOperationReceipt {
        receipt_id: desk.id("operated"),
        step_id: step.to_string(),
        expected_pre_hash: told.pre,
        produced_post_hash: told.post,
        created_at: desk.now(),
        schema_version: V10,
        plan_id: Some(plan.id.clone()),
        run_id: Some(desk.run().to_string()),
        operation_kind: Some(kind),
        idempotency_key: told.key,
        artifact_stable_id: artifact,
    })
}

/// Writes the receipt of what was done with a plan as a whole: it names the first step.
pub(crate) fn governed(desk: &mut Desk, plan: &Plan, kind: Operation) -> Result<StorageRef, Error> {
    let first = plan.steps.first().map(|step| step.id.clone()).unwrap_or_default();
    operated(desk, plan, &first, kind, Told::default())
}

/// A plan moves on, if it is not there already.
pub(crate) fn go(
    desk: &mut Desk,
    plan: &mut Plan,
    to: State,
    by: By,
    receipt: &StorageRef,
) -> Result<(), Error> {
    if plan.state == to {
        return Ok(());
    }
    if !machine::REVISION.allows(plan.state.as_str(), to.as_str()) {
        let way = alloc::format!("way for {} from {} to {}", plan.id, plan.state.as_str(), to.as_str());
        return Err(Error::Missing(way));
    }
    desk.put(&RevisionLifecycleTransitionEvent {
        event_id: desk.id("plan-moved"),
        plan_id: plan.id.clone(),
        from_state: plan.state,
        to_state: to,
        triggered_by_receipt_kind: by,
        receipt_ref: receipt.clone(),
        created_at: desk.now(),
        schema_version: Some(V10),
    })?;
    plan.state = to;
    Ok(())
}
