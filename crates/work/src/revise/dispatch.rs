//! Carrying a plan out: it is let in, its steps are begun and ended, each with its receipt.
//! Owns: the order of steps, keys and locks, what becomes of a step that fails. Must not: write a text, or accept one.

mod step;

pub use step::{After, Produced, Started, Work, done, failed};
pub(super) use step::{give_up, revalidate};

use super::edit;
use super::plans::{self, Plan, Progress, Step};
use super::verify::{Flaw, verify};
use super::way::Way;
use super::{Compiled, Dispatched, Refusal, Stepped};
use crate::desk::{Desk, Error};
use crate::names::DISPATCHER;
use crate::stop;
use alloc::string::String;
use alloc::vec::Vec;
use countersign_govern::types::added::repair::ParallelBatch;
use countersign_govern::types::basic::{RevisionPlanStepKind as StepKind, V10};
use countersign_govern::types::hard_call::TaskSkipReceiptReason as Skipped;
use countersign_govern::types::revision::{
    RevisionExecutionLifecycleState as State,
    RevisionExecutionLifecycleTransitionTriggeredByReceiptKind as By, RevisionOperationKind as Operation,
};
use countersign_govern::types::sufficiency::ProcedureAttemptRecordTerminalStatus as Status;
use countersign_record::digest::Digest;

/// What became of a plan that was to be let in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Begun {
    /// Its steps can be taken.
    Dispatched(Dispatched),
    /// The verifier turned it down: why.
    Rejected(Vec<Flaw>),
}

/// Lets a plan in, if nothing is wrong with it.
///
/// # Errors
/// It was begun before, or something can't be written.
pub fn begin(desk: &mut Desk, compiled: Compiled) -> Result<Begun, Refusal> {
    let mut plan = plans::find(desk, &compiled.plan)?;
    super::expect(&plan, &[State::PlanCompiled])?;
    let flaws = verify(desk, &plan)?;
    if !flaws.is_empty() {
        let receipt = plans::governed(desk, &plan, Operation::PlanRejected)?;
        plans::go(desk, &mut plan, State::TerminalFailed, By::RevisionOperationReceipt, &receipt)?;
        give_up(desk, &plan, DISPATCHER, Status::Failed)?;
        return Ok(Begun::Rejected(flaws));
    }
    let receipt = plans::governed(desk, &plan, Operation::PlanAdmitted)?;
    plans::go(desk, &mut plan, State::DispatchPending, By::RevisionOperationReceipt, &receipt)?;
    let receipt = plans::governed(desk, &plan, Operation::Dispatched)?;
    plans::go(desk, &mut plan, State::Dispatched, By::RevisionOperationReceipt, &receipt)?;
    Ok(Begun::Dispatched(Dispatched { plan: plan.id }))
}

/// What is next of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// These steps are begun; more than one may be done at once.
    Work(Vec<Started>),
    /// All steps are over: what they made can be reviewed.
    Done(Stepped),
}

/// Begins the steps of a plan that can be taken now. `base` is the text as it is read now: what the last step left, or the head.
///
/// # Errors
/// The text is not what it must be, the plan is elsewhere, or something can't be written.
pub fn start(desk: &mut Desk, dispatched: Dispatched, base: &str) -> Result<Next, Refusal> {
    let mut plan = plans::find(desk, &dispatched.plan)?;
    super::expect(&plan, &[State::Dispatched, State::StepReceiptReceived])?;
    let version = plan.base(desk).ok_or_else(|| Error::Missing(plan.artifact.clone()))?;
    if version.content != Digest::of(base.as_bytes()) {
        return Err(Refusal::Changed { artifact: plan.artifact });
    }
    skip_needless(desk, &plan, base)?;
    let due = due(desk, &plan);
    if due.is_empty() {
        return Ok(Next::Done(Stepped { plan: plan.id }));
    }
    if due.len() > 1 {
        desk.put(&ParallelBatch {
            batch_id: desk.id("batch"),
            plan_id: plan.id.clone(),
            step_ids: due.iter().map(|step| step.id.clone()).collect(),
            created_at: desk.now(),
            schema_version: Some(V10),
        })?;
    }
    let mut started = Vec::new();
    for step in &due {
        started.push(step::start(desk, &mut plan, step, base, step::Class::First)?);
    }
    Ok(Next::Work(started))
}

/// The steps that can be taken now: all that only search, else the next that changes something.
fn due(desk: &Desk, plan: &Plan) -> Vec<Step> {
    let is_over = |id: &String| match plans::progress(desk, id) {
        Progress::Finished | Progress::Skipped => true,
        Progress::Waiting | Progress::Running | Progress::Failed => false,
    };
    let is_due = |step: &&Step| {
        step.kind != StepKind::Revalidate
            && plans::progress(desk, &step.id) == Progress::Waiting
            && step.after.iter().all(is_over)
    };
    let due: Vec<Step> = plan.steps().iter().filter(is_due).cloned().collect();
    let searches: Vec<Step> = due.iter().filter(|step| !plans::is_mutating(step.kind)).cloned().collect();
    if searches.is_empty() { due.into_iter().take(1).collect() } else { searches }
}

/// A sentence that an earlier step has done away with need not be cited otherwise or taken out.
fn skip_needless(desk: &mut Desk, plan: &Plan, base: &str) -> Result<(), Error> {
    let made = edit::names(base);
    for step in plan.steps() {
        let Some(Way::Cite(claim) | Way::Without(claim)) = Way::of(step) else { continue };
        let is_gone = !claim.as_str().rsplit_once('/').is_some_and(|(_, name)| made.contains(name));
        if is_gone && plans::progress(desk, &step.id) == Progress::Waiting {
            stop::skip_step(desk, plan, &step.id, DISPATCHER, Skipped::NotApplicable)?;
        }
    }
    Ok(())
}

/// The steps that were begun and of which nobody has said what became of them.
pub(super) fn running(desk: &Desk, plan: &Plan) -> Result<Vec<Started>, Error> {
    let all = plan.steps().iter().filter(|step| plans::progress(desk, &step.id) == Progress::Running);
    all.map(|step| step::started(desk, plan, step)).collect()
}

/// What of a plan's steps is left.
pub(crate) fn waiting(desk: &Desk, plan: &Plan) -> Vec<String> {
    let all = plan.steps().iter().filter(|step| plans::progress(desk, &step.id) == Progress::Waiting);
    all.map(|step| step.id.clone()).collect()
}
