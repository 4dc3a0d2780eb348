//! A run driven once more, beside the ledger.
//! Owns: which agents work again and which hand over what they did, doing again what people did. Must not: send anything, or write into the
//! ledger.

use super::{Recorded, Scratch, given, is, output_hash};
use crate::clock::Clock;
use crate::looked;
use crate::ports::Answer;
use crate::ports::agent::{Agent, Given, Said, Unseen};
use crate::run::{Driver, Error};
use countersign_govern::decide::replay::Treatment;
use countersign_kernel::grant::Approver;
use countersign_kernel::run::{self, Doing, Event, Outcome};
use countersign_record::envelope::Envelope;
use countersign_record::json::Json;
use countersign_record::run_kind;
use countersign_work::command::Asked;
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

/// What somebody did to a run, by its place in the ledger.
enum Act<'r> {
    /// Gave a command: the place of its row in the run's records.
    Commanded(usize),
    Answered(&'r run::Answer),
}

/// How the keys of commands begin that an answer gives.
const OF_ANSWERS: &str = "answer ";

/// What people did to a run, in order. An answer gives its command itself.
fn acts(recorded: &Recorded) -> Result<VecDeque<(u64, Act<'_>)>, Error> {
    let mut all = Vec::new();
    for (at, row) in recorded.records.iter().enumerate().filter(|(_, row)| is(row, "CommandInvocation")) {
        let key = given::invocation(row)?.idempotency_key.unwrap_or_default();
        if !key.starts_with(OF_ANSWERS) {
            all.push((row.seq, Act::Commanded(at)));
        }
    }
    all.extend(recorded.happened.iter().filter_map(|one| match &one.event {
        Event::Answered { answer, .. } => Some((one.seq, Act::Answered(answer))),
        _elsewhere => None,
    }));
    all.sort_by_key(|(seq, _)| *seq);
    Ok(all.into())
}

/// Drives a run to its end; people do to it what they did then, each thing before the call that it came before. Gives what each step
/// gave, by its place; nothing where it came to another stage or to none.
///
/// # Errors
/// It can't go on.
pub async fn rerun(
    driver: &mut Driver,
    scratch: &Scratch,
    recorded: &Recorded,
    cancel: &CancellationToken,
) -> Result<Vec<Option<String>>, Error> {
    let mut acts = acts(recorded)?;
    let mut calls = recorded.happened.iter().filter_map(|one| match &one.event {
        Event::Called { .. } => Some(one.seq),
        _elsewhere => None,
    });
    loop {
        let until = calls.next().unwrap_or(u64::MAX);
        while let Some((_, act)) = acts.pop_front_if(|(seq, _)| *seq < until) {
            if !done_again(driver, recorded, &act).await? {
                break;
            }
        }
        if driver.run().doing != Doing::Ready {
            break;
        }
        driver.step(cancel).await?;
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

/// Does to a run what somebody did to it then; whether it could be done.
async fn done_again(driver: &mut Driver, recorded: &Recorded, act: &Act<'_>) -> Result<bool, Error> {
    match act {
        Act::Commanded(at) => {
            let Some(row) = recorded.records.get(*at) else { return Ok(false) };
            let before = recorded.records.get(..*at).unwrap_or_default();
            let checks = before.iter().rev().take_while(|row| is(row, "PolicyEvaluation")).count();
            let was_barred = given::was_barred(before.get(before.len() - checks..).unwrap_or_default());
            let (matter, new_run) = (driver.matter().to_owned(), given::new_run(recorded, *at)?);
            let seen = looked::last(&recorded.happened, row.seq);
            let left = given::has_left(recorded, &given::invocation(row)?.invocation_id);
            let again = |asked: &Asked<'_>| driver.commanded_again(asked, &new_run, &seen, left);
            given::asking(recorded, &matter, row, was_barred, again)?;
            Ok(true)
        }
        // What a command answered waits for nothing more.
        Act::Answered(answer) => match &driver.run().doing {
            Doing::Waiting(stop) => {
                let id = stop.id.clone();
                Ok(driver.answer(&id, (*answer).clone(), Approver::Anybody).await.is_ok())
            }
            Doing::Ready | Doing::Called { .. } | Doing::Over => Ok(true),
        },
    }
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
