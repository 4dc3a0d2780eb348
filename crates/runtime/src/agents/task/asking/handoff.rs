//! What a handoff tells of the questions of its stage: what they took, what was wanted, what was kept here.
//! Owns: writing that, and putting it down again from it. Must not: ask.

use crate::agents::task::{asked, outcome_of, question};
use crate::ports::agent::{Handoff, Said};
use crate::work::Work;
use countersign_govern::types::wire::{Reading, Wire};
use countersign_kernel::run::Outcome;
use countersign_record::json::{Json, Object};
use countersign_record::time::Timestamp;
use countersign_work::asking::{self, Next, Refusal, Took, Wanted};

/// Where a handoff says what the stage took.
const TOOK: &str = "took";
/// Where it says what the stage was about to ask.
pub(super) const WANTED: &str = "wanted";
/// Where it says what the stage went on without, because it may not leave.
pub(super) const KEPT: &str = "kept_here";

/// What a stage says that can't go on without what may not leave.
pub(in crate::agents::task) fn denied(why: &str, wanted: &Wanted) -> Outcome {
    with(Outcome::denied(why), WANTED, wanted.write())
}

/// An outcome with something beside what it says.
pub(super) fn with(outcome: Outcome, name: &str, told: Option<Json>) -> Outcome {
    let told = told.unwrap_or(Json::Null);
    match outcome {
        Outcome::Done(mut payload) => {
            payload.insert(name, told);
            Outcome::Done(payload)
        }
        Outcome::Escalate { reason, mut payload } => {
            payload.insert(name, told);
            Outcome::Escalate { reason, payload }
        }
        Outcome::Denied { message, mut besides } => {
            besides.insert(name, told);
            Outcome::Denied { message, besides }
        }
        Outcome::Clarify { .. } | Outcome::Confirm { .. } | Outcome::Failed(_) => outcome,
    }
}

/// What a stage says that may not ask: policy says no, or a person is asked first.
pub(super) fn refused(work: &Work, refusal: Refusal) -> Option<Outcome> {
    match refusal {
        Refusal::Held(message) => Some(Outcome::denied(&message)),
        Refusal::Asked | Refusal::Over => work.look(question).flatten(),
    }
}

/// What an agent of ours says, with what the stage took beside it.
pub(in crate::agents::task) fn beside(said: Said, took: &Took) -> Said {
    aside(said, TOOK, took.write())
}

/// The same with anything else beside it.
pub(super) fn aside(said: Said, name: &str, told: Option<Json>) -> Said {
    match said.handoff {
        Handoff::Ours(outcome, rests_on) => {
            Said { handoff: Handoff::Ours(with(outcome, name, told), rests_on), ..said }
        }
        Handoff::Theirs(_) => said,
    }
}

/// Puts down again that something may not leave, where the stage went on without; gives that for what it hands over.
///
/// # Errors
/// It can't be put down.
pub(in crate::agents::task) fn kept_again(
    work: &Work,
    payload: &Object,
    at: &Timestamp,
) -> Result<Option<Json>, String> {
    let Some(told) = payload.get(KEPT) else { return Ok(None) };
    let kept = Wanted::read(told, &mut Reading::default()).ok_or("what was kept here can't be read")?;
    let next = Next { host: kept.host.as_deref(), amounts: kept.amounts.clone() };
    work.step(at, |desk| asking::may(desk, &next)).map_err(|error| error.to_string())?.err();
    Ok(kept.write())
}

/// A stage's handoff with what it went on without.
pub(in crate::agents::task) fn without(said: Said, kept: Option<Json>) -> Said {
    if kept.is_some() { aside(said, KEPT, kept) } else { said }
}

/// Puts down again what stopped a stage before it asked or between two questions, a question or a refusal; `None` if nothing did.
///
/// # Errors
/// It can't be put down.
pub(in crate::agents::task) fn stopped_again(
    work: &Work,
    module: &str,
    payload: &Object,
    at: &Timestamp,
) -> Result<Option<Outcome>, String> {
    let wanted = payload.get(WANTED).and_then(|told| Wanted::read(told, &mut Reading::default()));
    let Some(wanted) = wanted else { return Ok(None) };
    let took = told(payload);
    if let Some(took) = &took {
        work.step(at, |desk| asking::record(desk, module, took)).map_err(|error| error.to_string())?;
    }
    let next = Next { host: wanted.host.as_deref(), amounts: wanted.amounts.clone() };
    let let_go = work.step(at, |desk| asking::may(desk, &next)).map_err(|error| error.to_string())?;
    let said = let_go.err().and_then(|refusal| refused(work, refusal));
    let said = said.map(|outcome| with(outcome, WANTED, wanted.write()));
    Ok(match took {
        Some(took) => said.and_then(|outcome| outcome_of(beside(asked(outcome), &took))),
        None => said,
    })
}

/// What a stage took, as it told it; `None` if it told nothing.
pub(in crate::agents::task) fn told(payload: &Object) -> Option<Took> {
    Took::read(payload.get(TOOK)?, &mut Reading::default())
}
