//! A run decided again from what was recorded of it: every event, every governed record, byte for byte.
//! Owns: the order of that, and naming the first thing that differs. Must not: run an agent, or ask anybody.
//!
//! What an agent handed over, what a person answered and what a command was asked with are inputs; everything else follows from them
//! by the same pure functions that wrote it, and must come out as it was written.

use super::{Recorded, given, is, output_hash};
use crate::looked;
use crate::ports::agent::Given;
use crate::run::{Bench, Error, Happened, LOST};
use crate::work::Work;
use countersign_govern::types::added::showing::{CommandInvocation, CommandReceipt};
use countersign_govern::types::externalization::{
    WorkspaceExternalizationReceipt, WorkspaceExternalizationReceiptStatus as Status,
};
use countersign_kernel::run::{Came, Doing, Event, Run, UNKNOWN_EFFECT, decide};
use countersign_record::digest::Digest;
use countersign_record::envelope::Envelope;
use countersign_record::id::RunId;
use countersign_record::json::{self, Json};
use countersign_record::label::Label;
use countersign_record::row::{Row, Sealed};
use countersign_work::call;
use countersign_work::command::Asked;
use countersign_work::cost;
use serde::Serialize;
use std::sync::Arc;

/// Where a run is not what it comes to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// The row of the ledger.
    pub row: u64,
    /// What it is of.
    pub what: String,
    /// Where in it, as a JSON pointer; empty for the whole.
    pub path: String,
    /// Why.
    pub why: String,
}

/// What a walk came to.
#[derive(Clone, Debug, Default)]
pub struct Walked {
    /// Records that came out as they were written.
    pub records: u64,
    /// Events that did.
    pub events: u64,
    /// What each step gives that was decided again, by its place.
    pub gave: Vec<Option<String>>,
    /// The first thing that differs; nothing behind it was looked at.
    pub difference: Option<Difference>,
}

/// Goes through a run again. The bench has agents over a work that was not begun.
///
/// # Errors
/// Something can't be decided at all.
pub fn walk(bench: &Bench, work: &Arc<Work>, recorded: &Recorded) -> Result<Walked, Error> {
    let mut walk = Walk { bench, work, recorded, cursor: 0, walked: Walked::default() };
    if let Err(stop) = walk.through() {
        match stop {
            Stop::Differs(difference) => walk.walked.difference = Some(difference),
            Stop::Failed(error) => return Err(error),
        }
    }
    Ok(walk.walked)
}

/// Why a walk goes no further.
enum Stop {
    Differs(Difference),
    Failed(Error),
}

impl<E: Into<Error>> From<E> for Stop {
    fn from(error: E) -> Self {
        Stop::Failed(error.into())
    }
}

struct Walk<'a> {
    bench: &'a Bench,
    work: &'a Arc<Work>,
    recorded: &'a Recorded,
    /// How many records were compared.
    cursor: usize,
    walked: Walked,
}

impl Walk<'_> {
    fn id(&self) -> &RunId {
        &self.recorded.told.id
    }

    fn through(&mut self) -> Result<(), Stop> {
        if let Some(first) = self.recorded.records.first() {
            self.work.begin(self.id(), &self.bench.access, &first.at)?;
            self.compare()?;
        }
        let happened = &self.recorded.happened;
        let mut at = 0;
        while let Some(one) = happened.get(at) {
            self.commands(Some(one), &one.before)?;
            let came = self.came(one, happened.get(at + 1..).unwrap_or_default())?;
            let events = decide(&self.recorded.told.pipeline, &one.before, came, &one.at)?;
            for event in &events {
                let found = happened.get(at).filter(|found| found.event == *event);
                let Some(_) = found else {
                    let row = happened.get(at).map_or(one.seq, |found| found.seq);
                    return Err(differs(row, "event", "", "is not what the rules of runs come to"));
                };
                self.walked.events += 1;
                at += 1;
            }
        }
        let end = &self.recorded.told.run;
        self.commands(None, end)?;
        match self.recorded.records.get(self.cursor) {
            None => Ok(()),
            Some(row) => Err(differs(row.seq, kind(row), "", "nothing in the run leads to it")),
        }
    }

    /// What led to an event. An agent that puts records down puts them down again first.
    fn came(&mut self, one: &Happened, rest: &[Happened]) -> Result<Came, Stop> {
        Ok(match &one.event {
            Event::Returned { stage, handoff, llm_calls, .. } => {
                self.decided(one)?;
                let stop_id = rest.iter().find_map(|later| match &later.event {
                    Event::Stopped(stop) => Some(stop.id.clone()),
                    _elsewhere => None,
                });
                Came::Returned {
                    stage: stage.clone(),
                    handoff: handoff.clone(),
                    llm_calls: *llm_calls,
                    stop_id: stop_id.unwrap_or_default(),
                }
            }
            Event::Answered { by, .. } if is_cancelled(self, one, by, rest) => {
                Came::Cancelled { by: by.clone() }
            }
            Event::Answered { id, by, answer } => {
                Came::Answered { id: id.clone(), by: by.clone(), answer: answer.clone() }
            }
            Event::Ended { .. } if !ends_by_itself(self, one) => Came::Cancelled { by: one.actor.clone() },
            Event::Called { .. }
            | Event::Aimed { .. }
            | Event::GivenUp { .. }
            | Event::Reached { .. }
            | Event::Refused { .. }
            | Event::Heard { .. }
            | Event::Advanced { .. }
            | Event::Moved { .. }
            | Event::Stopped(_)
            | Event::Ended { .. } => Came::Go,
        })
    }

    /// What an agent put down when it handed something over, and what it would hand over for that.
    fn decided(&mut self, one: &Happened) -> Result<(), Stop> {
        let Event::Returned { stage, handoff, .. } = &one.event else { return Ok(()) };
        let pipeline = &self.recorded.told.pipeline;
        let missing = || Error::NoAgent { stage: stage.clone() };
        let (found, agent) = pipeline.stage(stage).zip(self.bench.agents.get(stage)).ok_or_else(missing)?;
        let at = self.recorded.records.get(self.cursor).map_or(&one.at, |row| &row.at);
        let given = Given {
            run: self.id(),
            stage: found,
            envelope: &one.before.envelope,
            label: Label::NOTHING,
            llm_calls_left: one.before.llm_calls_left(),
            leave: None,
        };
        if let Some(lost) = handoff.payload.get(LOST).and_then(Json::as_str).filter(|_| is_unseen(handoff)) {
            self.work.step(at, |desk| cost::lost(desk, lost))?;
            self.compare()?;
            self.walked.gave.push(None);
            return Ok(());
        }
        let outcome = agent.again(given, handoff, at);
        // What it put down before it could not go on comes first.
        self.compare()?;
        let outcome = outcome.map_err(|why| differs(one.seq, &format!("handoff of {stage}"), "", &why))?;
        let Some(outcome) = outcome else {
            self.walked.gave.push(None);
            return Ok(());
        };
        let (_, decided) = outcome.said();
        self.walked.gave.push(Some(String::from(output_hash(&decided))));
        let is_same = output_hash(&handoff.payload) == output_hash(&decided);
        let then = Json::Object(handoff.payload.clone());
        match first_difference(&then, &Json::Object(decided), String::new()) {
            Some(path) if !is_same => Err(differs(
                one.seq,
                &format!("handoff of {stage}"),
                &path,
                "is not what its records come to",
            )),
            Some(_) | None => Ok(()),
        }
    }

    /// The commands whose records come next, as far as they were given before an event.
    fn commands(&mut self, before: Option<&Happened>, run: &Run) -> Result<(), Stop> {
        loop {
            if self.is_lapsed(before)? {
                continue;
            }
            let next = self.next_command();
            let done = self.recorded.records.get(self.cursor);
            let done = done.filter(|row| next.is_none() && is_left(row) && self.is_awaited());
            let Some(row) = next.as_ref().or(done) else { return Ok(()) };
            if before.is_some_and(|event| row.seq > event.seq) {
                return Ok(());
            }
            match &next {
                Some(invocation) => self.command(invocation, run.doing == Doing::Over)?,
                None => self.finished(row)?,
            }
        }
    }

    /// Puts down again what became of questions that nobody answered in time, where that comes next and no command says it.
    fn is_lapsed(&mut self, before: Option<&Happened>) -> Result<bool, Stop> {
        let next = self.recorded.records.get(self.cursor).filter(|row| is(row, "HardCallPendingEvent"));
        let Some(row) = next.filter(|row| before.is_none_or(|event| row.seq < event.seq)) else {
            return Ok(false);
        };
        let (seq, at, cursor) = (row.seq, row.at.clone(), self.cursor);
        self.work.step(&at, call::lapse)?;
        self.compare()?;
        match self.cursor > cursor {
            true => Ok(true),
            false => Err(differs(seq, "HardCallPendingEvent", "", "no question was over then")),
        }
    }

    /// The invocation, where the next records are those of a command.
    fn next_command(&self) -> Option<Row> {
        let mut rows = self.recorded.records.iter().skip(self.cursor);
        rows.find(|row| !is(row, "PolicyEvaluation")).filter(|row| is(row, "CommandInvocation")).cloned()
    }

    /// Whether a command was given whose receipt waits for what it has done outside. Stages have receipts of what leaves too, and of
    /// what may not.
    fn is_awaited(&self) -> bool {
        let rows = self.recorded.records.get(..self.cursor).unwrap_or_default();
        let of = |kind: &'static str| rows.iter().filter(move |row| is(row, kind));
        of("CommandInvocation").count() > of("CommandReceipt").count()
    }

    /// What became of what a command had done outside: only the receipt of that says it.
    fn finished(&mut self, row: &Row) -> Result<(), Stop> {
        let unreadable = || Error::Unreadable { seq: row.seq, why: "no command leads to it".to_owned() };
        let left: WorkspaceExternalizationReceipt = Recorded::record(row).ok_or_else(unreadable)?;
        let rows = self.recorded.records.get(self.cursor..).unwrap_or_default();
        let mut receipts = rows
            .iter()
            .filter(|row| is(row, "CommandReceipt"))
            .filter_map(Recorded::record::<CommandReceipt>);
        let receipt = receipts.next().ok_or_else(unreadable)?;
        let is_its = |row: &&Row| {
            Recorded::record::<CommandInvocation>(row)
                .is_some_and(|one| one.invocation_id == receipt.invocation_id)
        };
        let records = self.recorded.records.iter();
        let invocation = records.filter(|row| is(row, "CommandInvocation")).find(is_its);
        let has_left = left.status == Status::Completed;
        self.asking(invocation.ok_or_else(unreadable)?, |walk, asked| {
            walk.work.finished(&row.at, asked, has_left).map(drop)
        })?;
        self.compare()
    }

    fn command(&mut self, row: &Row, is_over: bool) -> Result<(), Stop> {
        let new_run = given::new_run(self.recorded, self.cursor)?;
        let at = self.recorded.records.get(self.cursor).map_or(&row.at, |first| &first.at).clone();
        let seen = looked::last(&self.recorded.happened, row.seq);
        self.asking(row, |walk, asked| {
            walk.work.command(&at, asked, &new_run, &[], (is_over, &seen)).map(drop)
        })?;
        self.compare()
    }

    /// Asks as somebody asked then, by the row of that.
    fn asking(
        &self,
        row: &Row,
        ask: impl FnOnce(&Self, &Asked<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let checks = self.recorded.records.get(self.cursor..).unwrap_or_default();
        let matter = self.bench.access.matter().as_str();
        given::asking(self.recorded, matter, row, given::was_barred(checks), |asked| ask(self, asked))
    }

    /// Compares what was put down now with what was put down then.
    fn compare(&mut self) -> Result<(), Stop> {
        for sealed in self.work.take(self.id(), &self.bench.access, Label::NOTHING)? {
            let Some(row) = self.recorded.records.get(self.cursor) else {
                let last = self.recorded.records.last().map_or(0, |row| row.seq);
                let what = sealed.draft().kind.as_str().to_owned();
                return Err(differs(last, &what, "", "should come behind it and is not there"));
            };
            same(row, &sealed)?;
            self.cursor += 1;
            self.walked.records += 1;
        }
        Ok(())
    }
}

/// Whether an answer and the end behind it are what a run comes to that is cancelled while it waits.
fn is_cancelled(walk: &Walk<'_>, one: &Happened, by: &str, rest: &[Happened]) -> bool {
    let came = Came::Cancelled { by: by.to_owned() };
    let decided = decide(&walk.recorded.told.pipeline, &one.before, came, &one.at);
    let mut found = std::iter::once(one).chain(rest).map(|one| &one.event);
    decided.is_ok_and(|events| events.iter().all(|event| found.next() == Some(event)))
}

/// Whether a run ends there because nothing is left to be done, or a bound is hit.
fn ends_by_itself(walk: &Walk<'_>, one: &Happened) -> bool {
    let decided = decide(&walk.recorded.told.pipeline, &one.before, Came::Go, &one.at);
    decided.is_ok_and(|events| events.first() == Some(&one.event))
}

/// Whether nobody saw what became of a call: its agent has put nothing down.
fn is_unseen(handoff: &Envelope) -> bool {
    handoff.escalate && handoff.reason.as_deref() == Some(UNKNOWN_EFFECT)
}

/// Whether a record says what became of something that was about to leave.
fn is_left(row: &Row) -> bool {
    is(row, "WorkspaceExternalizationReceipt")
}

fn kind(row: &Row) -> &str {
    row.kind.as_str()
}

fn differs(row: u64, what: &str, path: &str, why: &str) -> Stop {
    let (what, path, why) = (what.to_owned(), path.to_owned(), why.to_owned());
    Stop::Differs(Difference { row, what, path, why })
}

/// Whether a record is the one that was written: its kind, its time, what it says, the bytes that it is about.
fn same(row: &Row, sealed: &Sealed) -> Result<(), Stop> {
    let draft = sealed.draft();
    if draft.kind != row.kind {
        let why = format!("{} comes here", draft.kind.as_str());
        return Err(differs(row.seq, kind(row), "", &why));
    }
    if draft.at.instant() != row.at.instant() {
        return Err(differs(row.seq, kind(row), "/at", "was written at another time"));
    }
    // What it says counts, and not what is written beside it about that.
    let now = json::parse(sealed.payload()).unwrap_or(Json::Null);
    let difference = first_difference(&row.payload, &now, String::new());
    if difference.is_some() || sealed.payload_hash() != row.payload_hash {
        let path = difference.unwrap_or_default();
        return Err(differs(row.seq, kind(row), &path, "is not what follows from what was recorded"));
    }
    let blobs = |row: &Row| row.blobs.iter().map(|blob| blob.digest).collect::<Vec<Digest>>();
    let now: Vec<Digest> = draft.blobs.iter().map(|blob| blob.digest()).collect();
    if now != blobs(row) {
        return Err(differs(row.seq, kind(row), "/blobs", "is about other bytes"));
    }
    Ok(())
}

/// The first place where two documents differ, as a JSON pointer.
fn first_difference(one: &Json, other: &Json, path: String) -> Option<String> {
    match (one, other) {
        (Json::Object(one), Json::Object(other)) => {
            for (name, value) in one.iter() {
                let path = format!("{path}/{name}");
                match other.get(name) {
                    None => return Some(path),
                    Some(there) => {
                        if let Some(found) = first_difference(value, there, path) {
                            return Some(found);
                        }
                    }
                }
            }
            other.iter().find(|(name, _)| one.get(name).is_none()).map(|(name, _)| format!("{path}/{name}"))
        }
        (Json::Array(one), Json::Array(other)) if one.len() == other.len() => {
            let pairs = one.iter().zip(other).enumerate();
            pairs.filter_map(|(at, (one, other))| first_difference(one, other, format!("{path}/{at}"))).next()
        }
        (one, other) => (one != other).then_some(path),
    }
}
