//! What must be looked at again after the work has changed, and what became of that.
//! Owns: which outcomes are open again, the cascades over what depends on them, how a plan ends. Must not: look.

use super::attempt::{self, Came};
use super::dispatch;
use super::plans::{self, Plan};
use crate::desk::{Desk, Error, reference};
use crate::outcome;
use crate::task::{Outcome, Task};
use alloc::collections::BTreeSet;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_govern::derive::cascade::Cascade;
use countersign_govern::derive::graph::Graph;
use countersign_govern::types::added::outcome::OutcomeStateTransitionEvent;
use countersign_govern::types::basic::{StorageRef, V10};
use countersign_govern::types::cascade::{
    RevalidationCascadeReceipt, RevalidationCascadeRun, RevalidationCascadeRunStatus as Status,
};
use countersign_govern::types::outcome::{EvaluationVerdict as Verdict, OutcomeEvaluationState as State};
use countersign_govern::types::revision::{
    RevisionExecutionLifecycleState as PlanState,
    RevisionExecutionLifecycleTransitionTriggeredByReceiptKind as By, RevisionOperationKind as Operation,
};

/// Outcomes that may rest on each other in a row: as many as a task may have.
const DEPTH_MAX: u64 = 200;

/// A plan that came to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settled {
    /// The artifact, as the task calls it.
    pub artifact: String,
    /// The outcomes that it was for and that are met now.
    pub met: Vec<String>,
    /// Those that are not.
    pub unmet: Vec<String>,
    /// Outcomes that were met before and are not any more.
    pub regressed: Vec<String>,
}

/// All that rests on an artifact is open again: it is another text now.
pub(crate) fn reopen(desk: &mut Desk, artifact: &str) -> Result<(), Error> {
    for id in touched(desk, artifact) {
        let cause = match outcome::state(desk, &id) {
            State::NeedsRevision | State::Regressed => "revision step done",
            State::Satisfied | State::NeedsInformation => "artifact/source/upstream changed",
            State::UpstreamFailure => "upstream re-run",
            State::Pending
            | State::PendingDependency
            | State::Evaluating
            | State::Dirty
            | State::NeedsVerification
            | State::NeedsHumanJudgment
            | State::UnableToEvaluate
            | State::BlockedByPolicy
            | State::Unrecoverable
            | State::Superseded
            | State::MaxIterationsReached => continue,
        };
        outcome::go(desk, &id, State::Dirty, cause, None)?;
    }
    Ok(())
}

/// All that rests on the artifact of a plan is open again, and the cascades over it begin.
pub(super) fn begin(desk: &mut Desk, plan: &mut Plan) -> Result<(), Error> {
    let receipt = dispatch::revalidate(desk, plan)?;
    reopen(desk, &plan.artifact)?;
    for origin in plan.outcomes.clone() {
        let run = RevalidationCascadeRun {
            cascade_run_id: desk.id("cascade"),
            originating_receipt_ref: receipt.clone(),
            task_id: desk.task().id.clone(),
            run_id: desk.run().to_string(),
            origin_outcome_id: desk.own(&origin),
            visited_outcome_ids: Vec::new(),
            active_outcome_ids: Vec::from([desk.own(&origin)]),
            depth: 0,
            max_depth: DEPTH_MAX,
            status: Status::Running,
            terminal_reason: None,
            created_at: desk.now(),
            completed_at: None,
            schema_version: V10,
        };
        desk.open("RevalidationCascadeRun", &run)?;
    }
    Ok(())
}

/// Each outcome with each that it rests on.
fn edges(task: &Task) -> impl Iterator<Item = (&str, &str)> {
    task.outcomes
        .iter()
        .flat_map(|one| one.depends_on().iter().map(move |other| (one.id.as_str(), other.as_str())))
}

/// The outcomes of an artifact, and all that rests on them.
fn touched(desk: &Desk, artifact: &str) -> Vec<String> {
    let task = desk.task();
    let is_own = |one: &&Outcome| task.artifact_of(one).is_some_and(|own| own.id == artifact);
    let own: BTreeSet<&str> = task.outcomes.iter().filter(is_own).map(|one| one.id.as_str()).collect();
    let upwards = Graph::new(own.iter().copied(), edges(task).map(|(one, other)| (other, one)));
    let reached: BTreeSet<&str> = own.iter().flat_map(|one| upwards.reachable(one)).collect();
    let is_touched = |one: &&Outcome| own.contains(one.id.as_str()) || reached.contains(one.id.as_str());
    task.outcomes.iter().filter(is_touched).map(|one| one.id.clone()).collect()
}

/// Ends the plans whose outcomes were looked at again.
///
/// # Errors
/// Something can't be written.
pub fn settle(desk: &mut Desk) -> Result<Vec<Settled>, Error> {
    let mut settled = Vec::new();
    for mut plan in plans::live(desk) {
        let is_looked_at = |id: &String| {
            !matches!(outcome::state(desk, id), State::Dirty | State::Pending | State::Evaluating)
        };
        if plan.state == PlanState::Revalidating && plan.outcomes.iter().all(is_looked_at) {
            settled.push(end(desk, &mut plan)?);
        }
    }
    Ok(settled)
}

fn end(desk: &mut Desk, plan: &mut Plan) -> Result<Settled, Error> {
    // An outcome that waits for another one was not looked at: nobody can say what the attempt was worth.
    for outcome in plan.outcomes.clone() {
        attempt::tried(desk, plan, &outcome, &Came::Looked(Verdict::Indeterminate))?;
    }
    let regressed: Vec<String> =
        touched(desk, &plan.artifact).into_iter().filter(|id| has_regressed(desk, plan, id)).collect();
    let is_met = |desk: &Desk, id: &String| outcome::is_settled(outcome::state(desk, id));
    let (met, unmet): (Vec<String>, Vec<String>) =
        plan.outcomes.iter().cloned().partition(|id| is_met(desk, id));
    let done = plans::governed(desk, plan, Operation::RevalidationDone)?;
    if regressed.is_empty() {
        plans::go(desk, plan, PlanState::CascadeRunning, By::RevisionOperationReceipt, &done)?;
    } else {
        plans::go(desk, plan, PlanState::RegressionDetected, By::RevisionOperationReceipt, &done)?;
    }
    let quiescent = rest(desk, plan, Status::Quiescent)?;
    if let Some(quiescent) = quiescent.filter(|_| regressed.is_empty()) {
        let to = if unmet.is_empty() { PlanState::TerminalSatisfied } else { PlanState::RegressionDetected };
        plans::go(desk, plan, to, By::RevalidationCascadeReceipt, &quiescent)?;
    }
    if plan.state == PlanState::RegressionDetected {
        plans::go(desk, plan, PlanState::TerminalFailed, By::RevisionOperationReceipt, &done)?;
    }
    for outcome in &plan.outcomes {
        attempt::observe(desk, outcome)?;
    }
    Ok(Settled { artifact: plan.artifact.clone(), met, unmet, regressed })
}

/// Whether an outcome was met when a plan was made, and is not any more.
fn has_regressed(desk: &Desk, plan: &Plan, id: &str) -> bool {
    let own = desk.own(id);
    let mut moves = desk.each::<OutcomeStateTransitionEvent>("OutcomeStateTransitionEvent");
    let before = moves.rfind(|found| found.seq < plan.seq && found.record.outcome_id == own);
    outcome::state(desk, id) == State::Regressed
        && before.is_some_and(|found| found.record.to_state == State::Satisfied)
}

/// The cascades of a plan come to rest, or are cut off; gives the last receipt.
pub(crate) fn rest(desk: &mut Desk, plan: &Plan, status: Status) -> Result<Option<StorageRef>, Error> {
    let mut last = None;
    let Some(ended) = status.ended() else { return Ok(last) };
    for run in running(desk, plan) {
        let task = desk.task().clone();
        let origin = desk.local(&run.origin_outcome_id).to_string();
        let cascade = Cascade::run(edges(&task), &origin, DEPTH_MAX);
        let visited: Vec<String> = match status {
            Status::Quiescent => cascade.visited().iter().map(|id| desk.own(id)).collect(),
            Status::Running | Status::CycleDetected | Status::MaxDepthExceeded | Status::Aborted => {
                Vec::new()
            }
        };
        if status == Status::Quiescent {
            let looked = RevalidationCascadeRun {
                visited_outcome_ids: visited.clone(),
                active_outcome_ids: Vec::new(),
                depth: cascade.depth(),
                ..run.clone()
            };
            desk.open("RevalidationCascadeRun", &looked)?;
        }
        last = Some(desk.put(&RevalidationCascadeReceipt {
            receipt_id: desk.id("cascade-over"),
            cascade_run_id: run.cascade_run_id,
            status: ended,
            affected_outcome_ids: visited,
            created_at: desk.now(),
            schema_version: V10,
        })?);
    }
    Ok(last)
}

/// The cascades that a plan set off and that are not over.
fn running(desk: &Desk, plan: &Plan) -> Vec<RevalidationCascadeRun> {
    let receipts = plan.revalidation().map(|step| plans::receipts(desk, &step.id)).unwrap_or_default();
    let receipts: Vec<StorageRef> = receipts
        .iter()
        .filter_map(|(_, one)| reference("RevisionOperationReceipt", &one.receipt_id).ok())
        .collect();
    let runs = desk.each::<RevalidationCascadeRun>("RevalidationCascadeRun");
    runs.map(|found| found.record)
        .filter(|run| receipts.contains(&run.originating_receipt_ref))
        .filter(|run| desk.says("revalidation_cascade_run", &run.cascade_run_id, "status") == Some("running"))
        .collect()
}
