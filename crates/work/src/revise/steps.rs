//! The plans of revisions as they were made, and how far their steps are.
//! Owns: folding that from rows, one at a time, so that a step is found without reading all others. Must not: move a plan.

use super::plans::{Progress, Step};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use countersign_govern::types::revision::{RevisionOperationKind as Operation, RevisionPlan};
use countersign_govern::types::sufficiency::CandidateRepairProcedureSafetyClass as Safety;
use countersign_govern::types::wire::{Reading, Wire};
use countersign_govern::world::Draft;
use countersign_record::json::Json;

/// All plans of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Steps {
    plans: Vec<Arc<Made>>,
    progress: BTreeMap<String, Progress>,
    running: BTreeSet<String>,
}

/// A plan as it was made.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Made {
    pub(crate) id: String,
    /// Its place among the rows.
    pub(crate) seq: u64,
    /// The reference to the artifact that it is about.
    pub(crate) about: String,
    /// The outcomes that it is for.
    pub(crate) outcomes: Vec<String>,
    pub(crate) safety: Safety,
    /// In their order.
    pub(crate) steps: Vec<Step>,
    /// Where each step is among them.
    at: BTreeMap<String, usize>,
}

impl Made {
    fn read(record: &Json, seq: u64) -> Option<Self> {
        let plan = RevisionPlan::read(record, &mut Reading::default())?;
        let about = plan.steps.first().and_then(|step| step.target_refs.first())?.as_str().to_string();
        let steps = plan.steps.into_iter().filter_map(|step| {
            let target = step.target_refs.last()?.clone();
            Some(Step { id: step.step_id, kind: step.step_kind, target, after: step.depends_on_step_ids })
        });
        let steps: Vec<Step> = steps.collect();
        Some(Made {
            id: plan.plan_id,
            seq,
            about,
            outcomes: plan.outcome_ids.unwrap_or_default(),
            safety: plan.safety_class.unwrap_or(Safety::ExternalSideEffect),
            at: steps.iter().enumerate().map(|(at, step)| (step.id.clone(), at)).collect(),
            steps,
        })
    }

    /// The step of an id.
    pub(crate) fn step(&self, id: &str) -> Option<&Step> {
        self.at.get(id).and_then(|at| self.steps.get(*at))
    }
}

impl Steps {
    /// Takes in a row of a place.
    pub(crate) fn lay(&mut self, draft: &Draft, seq: u64) {
        match draft.kind.as_str() {
            "RevisionPlan" => self.plans.extend(Made::read(&draft.record, seq).map(Arc::new)),
            "RevisionOperationReceipt" => {
                let word = |name: &str| draft.record.get(name).and_then(Json::as_str);
                let told = word("operation_kind").and_then(Operation::find).and_then(told);
                let (Some(step), Some(told)) = (word("step_id"), told) else { return };
                self.progress.insert(step.to_string(), told);
                match told {
                    Progress::Running => self.running.insert(step.to_string()),
                    Progress::Waiting | Progress::Finished | Progress::Failed | Progress::Skipped => {
                        self.running.remove(step)
                    }
                };
            }
            _other => {}
        }
    }

    /// The plans, in the order in which they were made.
    pub(crate) fn plans(&self) -> &[Arc<Made>] {
        &self.plans
    }

    /// How far a step is.
    pub(crate) fn progress(&self, step: &str) -> Progress {
        self.progress.get(step).copied().unwrap_or(Progress::Waiting)
    }

    /// Whether a step of a plan runs.
    pub(crate) fn is_running(&self, plan: &Made) -> bool {
        self.running.iter().any(|step| plan.step(step).is_some())
    }
}

/// How far a step is after a receipt of it.
fn told(kind: Operation) -> Option<Progress> {
    match kind {
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
    }
}
