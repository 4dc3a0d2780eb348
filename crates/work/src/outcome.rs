//! Where outcomes stand, and how they move.
//! Owns: the events of that. Must not: decide where to; an evaluation does.

use crate::desk::{Desk, Error};
use crate::task::Outcome;
use alloc::string::ToString;
use countersign_govern::machine;
use countersign_govern::table::outcome::entry;
use countersign_govern::types::added::outcome::OutcomeStateTransitionEvent;
use countersign_govern::types::basic::V10;
use countersign_govern::types::outcome::{EvaluationVerdict, OutcomeEvaluationState as State};

/// How an outcome of the task stands.
#[must_use]
pub fn state(desk: &Desk, outcome: &str) -> State {
    let word = desk.says("outcome_record", &desk.own(outcome), "state");
    word.and_then(State::find).unwrap_or(State::Pending)
}

/// Moves an outcome, if it is not there already.
///
/// # Errors
/// The table has no such move, or it can't be written.
pub fn go(desk: &mut Desk, outcome: &str, to: State, cause: &str, result: Option<&str>) -> Result<(), Error> {
    let from = state(desk, outcome);
    if from == to {
        return Ok(());
    }
    if !machine::OUTCOME.allows(from.as_str(), to.as_str()) {
        return Err(Error::Missing(alloc::format!(
            "way for {outcome} from {} to {}",
            from.as_str(),
            to.as_str()
        )));
    }
    desk.put(&OutcomeStateTransitionEvent {
        event_id: desk.id("outcome-moved"),
        outcome_id: desk.own(outcome),
        run_id: desk.run().to_string(),
        from_state: from,
        to_state: to,
        cause: cause.to_string(),
        result_id: result.map(ToString::to_string),
        created_at: desk.now(),
        schema_version: Some(V10),
    })?;
    Ok(())
}

/// Whether an outcome ever was satisfied in this run.
#[must_use]
pub fn was_satisfied(desk: &Desk, outcome: &str) -> bool {
    let own = desk.own(outcome);
    desk.all::<OutcomeStateTransitionEvent>()
        .any(|one| one.outcome_id == own && one.to_state == State::Satisfied)
}

/// Whether an outcome was looked at and is to be mended.
#[must_use]
pub fn falls_short(state: State) -> bool {
    matches!(state, State::NeedsRevision | State::Regressed)
}

/// Whether an outcome waits to be looked at.
#[must_use]
pub fn is_to_be_looked_at(state: State) -> bool {
    match state {
        State::Pending | State::PendingDependency | State::Dirty => true,
        State::Evaluating
        | State::Satisfied
        | State::NeedsRevision
        | State::NeedsInformation
        | State::NeedsVerification
        | State::NeedsHumanJudgment
        | State::UnableToEvaluate
        | State::BlockedByPolicy
        | State::Regressed
        | State::UpstreamFailure
        | State::Unrecoverable
        | State::Superseded
        | State::MaxIterationsReached => false,
    }
}

/// Whether something that depends on an outcome may be looked at.
#[must_use]
pub fn is_settled(state: State) -> bool {
    let row = entry(state);
    matches!(row.verdict, Some(EvaluationVerdict::Passed | EvaluationVerdict::NotApplicable))
}

/// Whether an outcome has come to an end that is no success.
#[must_use]
pub fn has_failed(state: State) -> bool {
    entry(state).is_terminal && !is_settled(state)
}

/// What stands in the way of looking at an outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Upstream {
    /// Nothing.
    Clear,
    /// Something before it is not settled.
    Waiting,
    /// Something before it has failed for good.
    Failed,
}

/// What stands in the way of looking at an outcome.
#[must_use]
pub fn upstream(desk: &Desk, outcome: &Outcome) -> Upstream {
    let states = || outcome.depends_on().iter().map(|other| state(desk, other));
    if states().any(has_failed) {
        Upstream::Failed
    } else if states().all(is_settled) {
        Upstream::Clear
    } else {
        Upstream::Waiting
    }
}
