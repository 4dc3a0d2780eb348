//! Plans of revisions as they stand: their steps, how far each is, what is done to them.
//! Owns: reading them from their rows, and the receipts that move them. Must not: choose a step.

use super::steps::Made;
use crate::artifact::{self, Version};
use crate::desk::{Desk, Error, reference};
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use countersign_govern::machine;
use countersign_govern::reference::Reference;
use countersign_govern::types::added::repair::RevisionLifecycleTransitionEvent;
use countersign_govern::types::basic::{RevisionPlanStepKind as StepKind, StorageRef, V10};
use countersign_govern::types::revision::{
    RevisionExecutionLifecycleState as State,
    RevisionExecutionLifecycleTransitionTriggeredByReceiptKind as By, RevisionOperationKind as Operation,
    RevisionOperationReceipt, StepIdempotencyKey,
};
use countersign_govern::types::sufficiency::CandidateRepairProcedureSafetyClass as Safety;

/// A plan, and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) id: String,
    /// The artifact that it is about, as the task calls it.
    pub(crate) artifact: String,
    /// The outcomes that it is for, as the task calls them.
    pub(crate) outcomes: Vec<String>,
    pub(crate) safety: Safety,
    pub(crate) state: State,
    /// Its place among the rows.
    pub(crate) seq: u64,
    made: Arc<Made>,
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

    /// Its steps in their order; the last one has the outcomes looked at again.
    pub(crate) fn steps(&self) -> &[Step] {
        &self.made.steps
    }

    /// Whether one of its steps runs.
    pub(crate) fn is_running(&self, desk: &Desk) -> bool {
        desk.steps().is_running(&self.made)
    }

    /// The step that has the outcomes looked at again.
    pub(crate) fn revalidation(&self) -> Option<&Step> {
        self.steps().iter().find(|step| step.kind == StepKind::Revalidate)
    }

    /// The step of an id.
    pub(crate) fn step(&self, id: &str) -> Option<&Step> {
        self.made.step(id)
    }

    /// The versions that its steps made, in order.
    pub(crate) fn products(&self, desk: &Desk) -> Vec<Version> {
        artifact::versions(desk, &self.artifact).filter(|one| self.has_made(one)).collect()
    }

    fn has_made(&self, version: &Version) -> bool {
        version.step.as_deref().is_some_and(|step| self.step(step).is_some())
    }

    /// The last version that its steps made.
    pub(crate) fn product(&self, desk: &Desk) -> Option<Version> {
        artifact::versions(desk, &self.artifact).rfind(|one| self.has_made(one))
    }

    /// What its next step builds on: what the one before left, or the head.
    pub(crate) fn base(&self, desk: &Desk) -> Option<Version> {
        self.product(desk).or_else(|| artifact::head(desk, &self.artifact))
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
    desk.steps().plans().iter().filter_map(|made| read(desk, made)).collect()
}

/// The plans that have not come to their end.
pub(crate) fn live(desk: &Desk) -> Vec<Plan> {
    all(desk).into_iter().filter(|plan| !plan.is_over()).collect()
}

/// The plan of an id.
pub(crate) fn find(desk: &Desk, id: &str) -> Result<Plan, Error> {
    let found = desk.steps().plans().iter().find(|made| made.id == id);
    found.and_then(|made| read(desk, made)).ok_or_else(|| Error::Missing(id.to_string()))
}

fn read(desk: &Desk, made: &Arc<Made>) -> Option<Plan> {
    let state = desk.says("revision_plan", &made.id, "state").and_then(State::find)?;
    Some(Plan {
        id: made.id.clone(),
        artifact: Reference::read(&made.about).map(|read| desk.local(read.id).to_string())?,
        outcomes: made.outcomes.iter().map(|id| desk.local(id).to_string()).collect(),
        safety: made.safety,
        state,
        seq: made.seq,
        made: Arc::clone(made),
    })
}

/// The receipts of a step, in order, with their places.
pub(crate) fn receipts(desk: &Desk, step: &str) -> Vec<(u64, RevisionOperationReceipt)> {
    let all = desk.linked::<RevisionOperationReceipt>("RevisionOperationReceipt", "step_id", step);
    all.map(|found| (found.seq, found.record)).collect()
}

/// How far a step is.
pub(crate) fn progress(desk: &Desk, step: &str) -> Progress {
    desk.steps().progress(step)
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
    let first = plan.steps().first().map(|step| step.id.clone()).unwrap_or_default();
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
