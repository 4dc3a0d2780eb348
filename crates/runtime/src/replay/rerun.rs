//! A run driven once more, beside the ledger.
//! Owns: which agents work again and which hand over what they did, answering as people did. Must not: send anything, or write into the
//! ledger.

use super::{Recorded, Scratch, output_hash};
use crate::clock::Clock;
use crate::ports::Answer;
use crate::ports::agent::{Agent, Given, Said, Unseen};
use crate::run::{Driver, Error};
use countersign_govern::decide::replay::Treatment;
use countersign_kernel::grant::Approver;
use countersign_kernel::run::{self, Doing, Event, Outcome};
use countersign_record::envelope::Envelope;
use countersign_record::json::Json;
use countersign_record::run_kind;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use tokio_util::sync::CancellationToken;

/// An agent of a run that is driven once more: what it must not do again it hands over as it did then.
pub struct Replaying {
    inner: Arc<dyn Agent>,
    clock: Arc<Clock>,
    then: Mutex<VecDeque<(Envelope, Treatment)>>,
}

/// The agents of a run, as they work when it is driven once more.
#[must_use]
pub fn replaying(
    agents: &BTreeMap<String, Arc<dyn Agent>>,
    recorded: &Recorded,
    treatments: &[Treatment],
    clock: &Arc<Clock>,
) -> BTreeMap<String, Arc<dyn Agent>> {
    let mut then: BTreeMap<&str, VecDeque<(Envelope, Treatment)>> = BTreeMap::new();
    let mut treatments = treatments.iter().copied();
    for one in &recorded.happened {
        if let Event::Returned { stage, handoff, .. } = &one.event
            && let Some(treatment) = treatments.next()
        {
            then.entry(stage).or_default().push_back(((**handoff).clone(), treatment));
        }
    }
    let wrap = |(stage, inner): (&String, &Arc<dyn Agent>)| {
        let then = Mutex::new(then.remove(stage.as_str()).unwrap_or_default());
        let agent: Arc<dyn Agent> =
            Arc::new(Replaying { inner: Arc::clone(inner), clock: Arc::clone(clock), then });
        (stage.clone(), agent)
    };
    agents.iter().map(wrap).collect()
}

impl Replaying {
    fn handed(&self, given: Given<'_>, then: &Envelope) -> Said {
        let decided = match self.clock.now() {
            Ok(at) => self.inner.again(given, then, &at),
            Err(error) => Err(error.to_string()),
        };
        let outcome = match decided {
            Ok(outcome) => outcome.unwrap_or_else(|| Outcome::of(then)),
            Err(why) => return crate::agents::failed(&why, false),
        };
        Said::plain(outcome, then.provenance.clone())
    }
}

impl Agent for Replaying {
    fn unseen(&self, given: Given<'_>) -> Unseen {
        self.inner.unseen(given)
    }

    fn is_silent(&self) -> bool {
        self.inner.is_silent()
    }

    fn act<'a>(&'a self, given: Given<'a>, cancel: &'a CancellationToken) -> Answer<'a, Said> {
        let next = self.then.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        match next {
            Some((then, Treatment::Look | Treatment::Reuse | Treatment::Refuse)) => {
                let said = self.handed(given, &then);
                Box::pin(std::future::ready(said))
            }
            Some((_, Treatment::Run)) | None => self.inner.act(given, cancel),
        }
    }
}

/// Drives a run to its end, and answers as people answered then. Gives what each step gave, by its place; nothing where it came to
/// another stage or to none.
///
/// # Errors
/// It can't go on.
pub async fn rerun(
    driver: &mut Driver,
    scratch: &Scratch,
    recorded: &Recorded,
    cancel: &CancellationToken,
) -> Result<Vec<Option<String>>, Error> {
    let mut answers = recorded.happened.iter().filter_map(|one| match &one.event {
        Event::Answered { answer, .. } => Some(answer.clone()),
        _elsewhere => None,
    });
    loop {
        driver.drive(cancel).await?;
        let Doing::Waiting(stop) = &driver.run().doing else { break };
        let (id, answer): (String, Option<run::Answer>) = (stop.id.clone(), answers.next());
        let Some(answer) = answer else { break };
        if driver.answer(&id, answer, Approver::Anybody).await.is_err() {
            break;
        }
        if driver.run().doing != Doing::Ready {
            break;
        }
    }
    let gave = scratch.handed_over();
    let stages = recorded.happened.iter().filter_map(|one| match &one.event {
        Event::Returned { stage, .. } => Some(stage.as_str()),
        _elsewhere => None,
    });
    let same = |(at, stage): (usize, &str)| {
        let (own, hash) = gave.get(at)?;
        (own == stage).then(|| hash.clone())
    };
    Ok(stages.enumerate().map(same).collect())
}

impl Scratch {
    /// What the agents of a run handed over: their stages and the hashes of it, in order.
    fn handed_over(&self) -> Vec<(String, String)> {
        let one = |(row, content): &(Json, Json)| {
            let stage = row.get("stage").and_then(Json::as_str)?.to_owned();
            let handoff = Envelope::read(content.clone()).ok()?;
            Some((stage, String::from(output_hash(&handoff.payload))))
        };
        self.told(run_kind::RETURNED).iter().filter_map(one).collect()
    }
}
