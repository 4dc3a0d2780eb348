//! The agents of a task: who drafts, who looks at the work, who mends it, who hands it over.
//! Owns: bringing texts and the desk together, and what each stage says of it. Must not: decide; `countersign-work` does.

mod asking;
mod contract;
mod draft;
mod evaluator;
mod handover;
mod once;
mod ran;
mod revisor;
mod seen;

pub(super) use contract::Contract;
pub(crate) use contract::question as contract_question;
pub(super) use draft::Draft;
pub(super) use evaluator::Evaluator;
pub(super) use handover::Handover;
pub use once::{Answered, Once, once, once_again};
pub(super) use revisor::Revisor;

use super::{Means, failed};
use crate::ports::agent::{Handoff, Said};
use crate::run::Error;
use crate::work::Work;
use countersign_kernel::run::{HARD_CALL, Outcome};
use countersign_record::envelope::Provenance;
use countersign_record::json::{Json, Object};
use countersign_work::call;
use countersign_work::desk::Desk;
use std::sync::Arc;

impl Means {
    /// The work of the task, or what an agent says that has none.
    fn work(&self) -> Result<&Arc<Work>, Box<Said>> {
        let none = || Box::new(failed("this stage is one of a task, and the run has none", false));
        self.work.as_ref().ok_or_else(none)
    }
}

/// What an agent says whose records could not be put down.
fn unwritten(error: &Error) -> Said {
    failed(&error.to_string(), false)
}

/// The question that a person must answer next.
fn question(desk: &Desk) -> Option<Outcome> {
    let call = call::open(desk).into_iter().next()?;
    let options = call.options.iter().map(|one| {
        Json::from(Object::from([
            ("id", Json::from(one.option_id.as_str())),
            ("label", one.label.as_str().into()),
            ("consequence", one.consequence_text.as_str().into()),
        ]))
    });
    let steps = call.options.iter().map(|one| Json::from(one.option_id.as_str()));
    let payload = Object::from([
        ("message", Json::from(call.prompt_text.as_str())),
        ("question", call.hard_call_id.as_str().into()),
        ("options", Json::Array(options.collect())),
        ("next_steps", Json::Array(steps.collect())),
    ]);
    Some(Outcome::Escalate { reason: HARD_CALL.to_owned(), payload })
}

fn asked(outcome: Outcome) -> Said {
    Said::plain(outcome, Provenance::default())
}

/// The outcome of what an agent of ours says.
fn outcome_of(said: Said) -> Option<Outcome> {
    match said.handoff {
        Handoff::Ours(outcome, _) => Some(outcome),
        Handoff::Theirs(_) => None,
    }
}
