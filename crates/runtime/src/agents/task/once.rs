//! One question of an agent that is not of the task's own.
//! Owns: that it stays within the task's budget where the run is a task's. Must not: say what is asked, or what the answer means.

use super::asking::{self, Asking, Question, Stopped};
use super::{Means, unwritten};
use crate::ports::agent::{Given, Handoff, Said};
use crate::ports::model::{Reply, Request};
use countersign_kernel::run::Outcome;
use countersign_record::deed::Externalized;
use countersign_record::envelope::{Envelope, Provenance};
use countersign_record::label::Label;
use countersign_record::time::Timestamp;
use countersign_work::asking::{Took, record, tokens};
use std::collections::BTreeMap;
use tokio_util::sync::CancellationToken;

/// What came of the question.
pub enum Answered {
    /// This.
    Reply(Reply),
    /// Nothing: what that means for the stage.
    Nothing(Outcome),
    /// A person said that nothing more is to be spent.
    Over,
}

/// A question that was asked, and what it took.
pub struct Once {
    /// What came of it.
    pub answered: Answered,
    took: Option<Took>,
    llm_calls: u64,
    receipts: Vec<Externalized>,
}

impl Once {
    /// What the stage says, with what the question took.
    #[must_use]
    pub fn says(self, outcome: Outcome) -> Said {
        let handoff = Handoff::Ours(outcome, Provenance::default());
        let said =
            Said { handoff, llm_calls: self.llm_calls, label: Label::OUTSIDE, receipts: self.receipts };
        match &self.took {
            Some(took) => asking::beside(said, took),
            None => said,
        }
    }
}

/// Asks a question, within the budget where the run is a task's.
///
/// # Errors
/// What the stage says that can't ask: a person decides first, or nothing could be put down.
pub async fn once(
    means: &Means,
    given: Given<'_>,
    (module, request): (&str, &Request),
    cancel: &CancellationToken,
) -> Result<Once, Box<Said>> {
    let Some(work) = &means.work else {
        let asked = means.mind.ask(given, given.label, request, cancel).await;
        let answered = asked.reply.map_or_else(Answered::Nothing, Answered::Reply);
        return Ok(Once { answered, took: None, llm_calls: asked.llm_calls, receipts: asked.receipts });
    };
    let mut asking = Asking::new(means, work, given, cancel)?;
    match asking.clear(asking.most([request].into_iter())).await {
        Ok(()) => {}
        Err(Stopped::Over) => {
            return Ok(Once { answered: Answered::Over, took: None, llm_calls: 0, receipts: Vec::new() });
        }
        Err(Stopped::Kept(why, wanted)) => {
            return Err(Box::new(super::asked(asking::denied(&why, &wanted))));
        }
        Err(Stopped::Outcome(outcome)) => return Err(Box::new(super::asked(outcome))),
    }
    let shown = work.task().artifacts.first().map(|one| one.id.clone());
    let count = request.messages.iter().map(|one| tokens(&one.content)).fold(0, u64::saturating_add);
    let shown = BTreeMap::from_iter(shown.map(|id| (id, count)));
    let answered = match asking.ask(Question { module, planned: None, shown, request }).await {
        Ok(reply) => Answered::Reply(reply),
        Err(outcome) => Answered::Nothing(outcome),
    };
    let took = asking.put_down(module).await.map_err(|error| Box::new(unwritten(&error)))?;
    let (llm_calls, receipts) = asking.left();
    Ok(Once { answered, took: Some(took), llm_calls, receipts })
}

/// Puts down again what a question took or what stopped it, as the stage told it; in the latter case it gives what was handed over.
///
/// # Errors
/// It can't be put down.
pub fn once_again(
    means: &Means,
    module: &str,
    then: &Envelope,
    at: &Timestamp,
) -> Result<Option<Outcome>, String> {
    let Some(work) = &means.work else { return Ok(None) };
    if let Some(outcome) = asking::stopped_again(work, module, &then.payload, at)? {
        return Ok(Some(outcome));
    }
    if let Some(took) = asking::told(&then.payload) {
        work.step(at, |desk| record(desk, module, &took)).map_err(|error| error.to_string())?;
    }
    Ok(None)
}
