//! Commands that stop something or leave it out.
//! Owns: what can be. Must not: undo what was done.

use super::request::{CancelTaskRequest, SkipStepRequest};
use super::standing::{READY, blocked, empty, ready_if};
use super::{By, Effect, Given, Stands};
use crate::desk::{Desk, Error};
use crate::outcome;
use crate::stop::{self, Refusal, Scope};
use alloc::format;
use alloc::string::{String, ToString};
use countersign_govern::reference::Reference;
use countersign_govern::types::hard_call::TaskCancelProtocolCancelScope as CancelScope;
use countersign_govern::types::outcome::OutcomeEvaluationState as State;

/// The only plan that a request names.
fn plan_of(asked: &CancelTaskRequest) -> Option<String> {
    match asked.target_refs.as_deref().unwrap_or_default() {
        [one] => {
            let read = Reference::read(one.as_str()).filter(|read| read.kind == "revision_plan");
            read.map(|read| read.id.to_string())
        }
        [] | [_, _, ..] => None,
    }
}

/// Whether what is to be cancelled goes on.
pub(super) fn cancellable(desk: &Desk, asked: &CancelTaskRequest, given: &Given<'_>) -> Stands {
    match asked.cancel_scope.unwrap_or(CancelScope::EntireRun) {
        CancelScope::EntireRun => ready_if(!given.is_over, "the run has ended"),
        CancelScope::RevisionPlan => match plan_of(asked) {
            None => empty("name one revision_plan in target_refs"),
            Some(plan) => {
                let is_live = stop::is_live(desk, &plan);
                ready_if(is_live, format!("{plan} is over, or there is none"))
            }
        },
        CancelScope::Segment | CancelScope::ModuleActivation | CancelScope::SideEffectIntent => {
            blocked("a run or a plan is cancelled as a whole")
        }
    }
}

fn unwritten(refusal: Refusal) -> Error {
    match refusal {
        Refusal::Unwritten(error) => error,
        Refusal::Unknown(_) | Refusal::Over(_) => Error::Missing(refusal.to_string()),
    }
}

pub(super) fn cancel(desk: &mut Desk, asked: &CancelTaskRequest, by: &By<'_>) -> Result<Effect, Error> {
    let plan = plan_of(asked);
    let is_run = asked.cancel_scope.unwrap_or(CancelScope::EntireRun) == CancelScope::EntireRun;
    let scope = match &plan {
        Some(plan) if !is_run => Scope::Plan(plan),
        Some(_) | None => Scope::Run,
    };
    stop::cancel(desk, scope, by.reference()?.as_str()).map_err(unwritten)?;
    Ok(if scope == Scope::Run { Effect::Cancelled } else { Effect::Nothing })
}

/// What a request to skip is about.
enum Target {
    Step(String),
    Outcome(String),
}

fn target(desk: &Desk, asked: &SkipStepRequest) -> Option<Target> {
    let read = Reference::read(asked.target_ref.as_str())?;
    match read.kind {
        "revision_plan_step_base" => Some(Target::Step(read.id.to_string())),
        "outcome_record" => Some(Target::Outcome(desk.local(read.id).to_string())),
        _something_else => None,
    }
}

/// Whether what is to be left out has not begun.
pub(super) fn skippable(desk: &Desk, asked: &SkipStepRequest, given: &Given<'_>) -> Stands {
    match target(desk, asked) {
        Some(_) if given.is_over => blocked("the run has ended"),
        None => empty("name an outcome_record or a revision_plan_step_base"),
        Some(Target::Step(step)) if stop::is_skippable(desk, &step) => READY,
        Some(Target::Step(step)) => blocked(format!("{step} does not wait")),
        Some(Target::Outcome(id)) if desk.task().outcome(&id).is_none() => empty(format!("there is no {id}")),
        Some(Target::Outcome(id)) => match outcome::state(desk, &id) {
            State::Superseded => blocked(format!("{id} is left out already")),
            State::NeedsHumanJudgment | State::MaxIterationsReached => {
                blocked(format!("{id} has been evaluated: answer what is asked about it, or stop it there"))
            }
            _begun if !stop::is_untouched(desk, &id) => blocked(format!("{id} has been evaluated")),
            _waiting => READY,
        },
    }
}

pub(super) fn skip(desk: &mut Desk, asked: &SkipStepRequest, by: &By<'_>) -> Result<(), Error> {
    match target(desk, asked) {
        Some(Target::Step(step)) => stop::skip_waiting(desk, &step, by.name, asked.reason),
        Some(Target::Outcome(id)) => stop::skip(desk, &id, by.name, asked.reason),
        None => Err(Refusal::Unknown(asked.target_ref.as_str().to_string())),
    }
    .map_err(unwritten)
}
