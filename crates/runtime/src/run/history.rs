//! Runs as their rows tell them.
//! Owns: reading one again, and the list of all. Must not: write.

use super::mind::BLOCKED;
use super::rows::stream;
use super::{Bench, Error};
use crate::journal::read_all;
use crate::ports::ledger::{Blob, Journal, Select};
use countersign_govern::types::wire::{Reading, Wire};
use countersign_kernel::pipeline::Pipeline;
use countersign_kernel::run::{Answer, Doing, Event, Run, row};
use countersign_record::access::MatterAccess;
use countersign_record::deed::EXTERNALIZED;
use countersign_record::digest::Digest;
use countersign_record::fields::{Fields, Trouble};
use countersign_record::id::{RowKind, RunId};
use countersign_record::json::{self, Json};
use countersign_record::label::Label;
use countersign_record::row::Row;
use countersign_record::run_kind;
use countersign_record::state::{GenericEnvelope, Minted};
use countersign_record::time::Timestamp;
use countersign_work::learning::Nearest;
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What a run was begun with, beside its envelope: what it takes to go on with it elsewhere.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Setup {
    /// Who answers.
    pub model: String,
    /// The directories of sources, as they were named.
    pub sources: Vec<String>,
    /// The stores of memory, as they were named.
    pub memory: Vec<String>,
    /// The directory that the pipeline's programs are run in.
    pub dir: String,
    /// The task, where the run is one's, as its file says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<Json>,
    /// The task's other files: their paths and hashes.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, Digest>,
    /// The run that it was forked from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forked_from: Option<String>,
    /// The versions that it begins with: their hashes by artifact.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub heads: BTreeMap<String, Digest>,
    /// The task that was done before and is nearest to this one, where there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nearest: Option<Json>,
}

impl Setup {
    /// The nearest of the tasks that were done before.
    #[must_use]
    pub fn nearest(&self) -> Option<Nearest> {
        Nearest::read(self.nearest.as_ref()?, &mut Reading::default())
    }
}

/// Something that happened in a run.
#[derive(Clone, Debug)]
pub struct Happened {
    /// The row.
    pub seq: u64,
    /// When.
    pub at: Timestamp,
    /// Who.
    pub actor: String,
    /// What.
    pub event: Event,
    /// The run before that.
    pub before: Run,
}

/// One line of a run's timeline.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Line {
    /// The row.
    pub seq: u64,
    /// When.
    pub at: Timestamp,
    /// What happened.
    pub kind: String,
    /// Who.
    pub actor: String,
    /// What may be known of it.
    pub payload: Json,
}

/// A run as its rows tell it.
#[derive(Clone, Debug)]
pub struct Told {
    /// Its name.
    pub id: RunId,
    /// Its pipeline.
    pub pipeline: Arc<Pipeline>,
    /// What it was begun with.
    pub setup: Setup,
    /// Where it stands.
    pub run: Run,
    /// What holds for all of it.
    pub label: Label,
    /// What a person gave leave for, until something was sent away under it.
    pub leave: Option<Leave>,
    /// What happened, in order.
    pub lines: Vec<Line>,
    /// Where its stream ends.
    pub end: u64,
}

/// Where a run stands, in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// It was begun, and has neither ended nor stopped: it is being carried on, or was left.
    Open,
    /// A person is needed.
    Waiting,
    /// It has ended.
    Over,
}

/// A run among others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Listed {
    /// Its name.
    pub run: String,
    /// When it began.
    pub began_at: Timestamp,
    /// What was asked: the goal of a task, the prompt of a question. Nothing where that was erased or can't be read.
    pub title: Option<String>,
    /// Its pipeline.
    pub pipeline: String,
    /// The envelope it carries.
    pub envelope_id: String,
    /// Where it stands.
    pub standing: Standing,
    /// Why it ended or waits, in the contract's word or the stop's code.
    pub reason: Option<String>,
}

/// How an envelope that somebody has stands to a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Met {
    /// The run stands there.
    Now,
    /// It stood there, and has gone on since.
    Before,
    /// It never did.
    Never,
}

/// A run as its rows tell it.
///
/// # Errors
/// There is none of this name, or its rows can't be read.
pub async fn told(bench: &Bench, id: &RunId) -> Result<Told, Error> {
    fold(bench, id, &mut |_, _| {}).await
}

/// A run as its rows tell it, with everything that happened in it.
///
/// # Errors
/// As [`told`].
pub async fn recorded(bench: &Bench, id: &RunId) -> Result<(Told, Vec<Happened>), Error> {
    let mut all = Vec::new();
    let mut last: Option<Run> = None;
    let mut sees = |run: &Run, happened: Option<(&Line, &Event)>| {
        if let (Some((line, event)), Some(before)) = (happened, last.take()) {
            let Line { seq, at, actor, .. } = line.clone();
            all.push(Happened { seq, at, actor, event: event.clone(), before });
        }
        last = Some(run.clone());
    };
    let told = fold(bench, id, &mut sees).await?;
    Ok((told, all))
}

/// A run as its rows tell it, and how an envelope stands to it.
///
/// # Errors
/// As [`told`].
pub async fn met(bench: &Bench, id: &RunId, envelope: &GenericEnvelope) -> Result<(Told, Met), Error> {
    let mut met = Met::Never;
    let mut meets = |run: &Run, _: Option<(&Line, &Event)>| {
        if run.envelope == *envelope {
            met = Met::Now;
        } else if met == Met::Now {
            met = Met::Before;
        }
    };
    let told = fold(bench, id, &mut meets).await?;
    Ok((told, met))
}

/// Sees a run's states on the way, each with what led to it.
type Sees<'a> = dyn FnMut(&Run, Option<(&Line, &Event)>) + Send + 'a;

/// Tells a run from its rows, and shows each state on the way.
async fn fold(bench: &Bench, id: &RunId, sees: &mut Sees<'_>) -> Result<Told, Error> {
    let mut rows: Vec<Row> = Vec::new();
    let (journal, access) = (&*bench.journal, &bench.access);
    read_all(journal, access, Select::Stream(stream(id)?), 0, &mut |row| rows.push(row)).await?;
    let missing = || Error::Missing { run: id.clone() };
    let first = rows.first().ok_or_else(missing)?;
    if first.kind.as_str() != run_kind::BEGAN {
        return Err(missing());
    }
    let end = rows.len() as u64;
    let [envelope, pipeline, setup] = [0, 1, 2].map(|at| content(journal, access, first, at));
    let (envelope, pipeline, setup) = (envelope.await?, pipeline.await?, setup.await?);
    let unreadable = |troubles: Vec<Trouble>| unreadable(first.seq, &troubles);
    let envelope = GenericEnvelope::read(envelope, minted(&first.at)?).map_err(unreadable)?.envelope;
    let pipeline = Pipeline::read(pipeline).map_err(unreadable)?;
    let setup = read_setup(setup).map_err(unreadable)?;
    let mut run = Run::of(envelope);
    sees(&run, None);
    let (mut label, mut given) = (Label::NOTHING, None);
    let mut lines = Vec::new();
    for row in rows {
        label = label.join(Label { data_class: row.data_class, taint: row.taint });
        let kind = row.kind.as_str().to_owned();
        let line = Line {
            seq: row.seq,
            at: row.at.clone(),
            kind: kind.clone(),
            actor: row.actor.to_string(),
            payload: row.payload.clone(),
        };
        lines.push(line.clone());
        if kind.starts_with("run.") && kind != run_kind::BEGAN {
            let said = match row::has_content(&kind) {
                true => Some(content(journal, access, &row, 0).await?),
                false => None,
            };
            let event = Event::read(&kind, row.payload, said, &row.at)
                .map_err(|troubles| self::unreadable(row.seq, &troubles))?;
            given = leave(&run, &event, &row.at).or(given);
            run.apply(&event);
            sees(&run, Some((&line, &event)));
        } else if kind == EXTERNALIZED
            && row.payload.get("status").and_then(Json::as_str).is_some_and(is_sent)
        {
            given = None;
        }
    }
    Ok(Told { id: id.clone(), pipeline: Arc::new(pipeline), setup, run, label, leave: given, lines, end })
}

/// Leave that a person gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leave {
    /// For what, in the words that were asked in.
    pub words: String,
    /// When.
    pub at: Timestamp,
}

impl Leave {
    /// The words, as long as they count: who has not gone on under them within a day is asked again.
    pub(super) fn holds(&self, now: &Timestamp) -> Option<&str> {
        let (at, now) = (self.at.instant(), now.instant());
        (at <= now && at.millis_until(now) < LEAVE_MS_MAX).then_some(self.words.as_str())
    }
}

/// How long leave counts.
const LEAVE_MS_MAX: u64 = 24 * 60 * 60 * 1_000;

/// What an event gives leave for.
pub(super) fn leave(run: &Run, event: &Event, at: &Timestamp) -> Option<Leave> {
    let is_leave = matches!(event, Event::Answered { answer: Answer::Approve, .. });
    match &run.doing {
        Doing::Waiting(stop) if is_leave => Some(Leave { words: stop.message.clone(), at: at.clone() }),
        Doing::Waiting(_) | Doing::Ready | Doing::Called { .. } | Doing::Over => None,
    }
}

/// Whether a receipt of this status is for something that left, or may have.
pub(super) fn is_sent(status: &str) -> bool {
    status != BLOCKED
}

/// Every run, the newest first.
///
/// # Errors
/// The ledger can't be read.
pub async fn list(journal: &dyn Journal, access: &MatterAccess) -> Result<Vec<Listed>, Error> {
    let mut runs: BTreeMap<String, (u64, Listed)> = BTreeMap::new();
    let mut rows: Vec<Row> = Vec::new();
    for kind in [run_kind::BEGAN, run_kind::STOPPED, run_kind::ANSWERED, run_kind::ENDED] {
        let select = Select::Kind(RowKind::try_from(kind)?);
        read_all(journal, access, select, 0, &mut |row| rows.push(row)).await?;
    }
    rows.sort_by_key(|row| row.seq);
    for row in rows {
        let Some(name) = row.stream.as_str().strip_prefix("run/").map(str::to_owned) else { continue };
        let text =
            |member: &str| row.payload.get(member).and_then(Json::as_str).unwrap_or_default().to_owned();
        let (standing, reason) = match row.kind.as_str() {
            run_kind::BEGAN => {
                let listed = Listed {
                    run: name.clone(),
                    began_at: row.at.clone(),
                    title: title(journal, access, &row).await?,
                    pipeline: text("pipeline"),
                    envelope_id: text("envelope_id"),
                    standing: Standing::Open,
                    reason: None,
                };
                runs.insert(name, (row.seq, listed));
                continue;
            }
            run_kind::STOPPED => (Standing::Waiting, Some(text("reason"))),
            run_kind::ENDED => (Standing::Over, Some(text("reason"))),
            _ => (Standing::Open, None),
        };
        if let Some((_, listed)) = runs.get_mut(&name) {
            (listed.standing, listed.reason) = (standing, reason);
        }
    }
    let mut runs: Vec<(u64, Listed)> = runs.into_values().collect();
    runs.sort_by_key(|(seq, _)| std::cmp::Reverse(*seq));
    Ok(runs.into_iter().map(|(_, listed)| listed).collect())
}

/// What a run was asked, by its first row.
async fn title(journal: &dyn Journal, access: &MatterAccess, first: &Row) -> Result<Option<String>, Error> {
    match content(journal, access, first, 0).await {
        Ok(envelope) => Ok(envelope.get("raw_input").and_then(Json::as_str).map(str::to_owned)),
        // A list tells of every run, also of one that can't be told itself.
        Err(Error::Erased { .. } | Error::Unreadable { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

impl Told {
    /// Where it stands, in a word.
    #[must_use]
    pub fn standing(&self) -> Standing {
        match self.run.doing {
            Doing::Ready | Doing::Called { .. } => Standing::Open,
            Doing::Waiting(_) => Standing::Waiting,
            Doing::Over => Standing::Over,
        }
    }
}

/// What a row said.
async fn content(journal: &dyn Journal, access: &MatterAccess, row: &Row, at: usize) -> Result<Json, Error> {
    let unreadable = |why: String| Error::Unreadable { seq: row.seq, why };
    let blob = row.blobs.get(at).ok_or_else(|| unreadable("it has no content".to_owned()))?;
    match journal.blob(access, blob.digest).await? {
        Blob::Present(bytes) => json::parse(&bytes).map_err(|error| unreadable(error.without_text())),
        Blob::Erased { .. } => Err(Error::Erased { seq: row.seq }),
    }
}

/// What a run was begun with, by its first row.
pub(super) async fn set_up(
    journal: &dyn Journal,
    access: &MatterAccess,
    first: &Row,
) -> Result<Setup, Error> {
    let document = content(journal, access, first, 2).await?;
    read_setup(document).map_err(|troubles| unreadable(first.seq, &troubles))
}

fn unreadable(seq: u64, troubles: &[Trouble]) -> Error {
    let first = troubles.first().map_or_else(|| "it is none of a run's".to_owned(), ToString::to_string);
    Error::Unreadable { seq, why: first }
}

fn read_setup(document: Json) -> Result<Setup, Vec<Trouble>> {
    let mut fields = Fields::taking(document).map_err(|trouble| vec![trouble])?;
    let (model, sources, dir) = (fields.text("model"), fields.texts("sources"), fields.text("dir"));
    let memory = fields.absent_or("memory", Fields::texts);
    let task = fields.absent_or("task", Fields::free_object).map(Json::Object);
    let files =
        fields.absent_or("files", |fields, name| fields.words(name, |text: &str| Digest::try_from(text)));
    let forked_from = fields.absent_or("forked_from", Fields::text);
    let heads =
        fields.absent_or("heads", |fields, name| fields.words(name, |text: &str| Digest::try_from(text)));
    let nearest = fields.absent_or("nearest", Fields::free_object).map(Json::Object);
    fields.finish()?;
    Ok(Setup {
        task,
        nearest,
        files: files.unwrap_or_default(),
        forked_from,
        heads: heads.unwrap_or_default(),
        model: model.unwrap_or_default(),
        sources: sources.unwrap_or_default(),
        memory: memory.unwrap_or_default(),
        dir: dir.unwrap_or_default(),
    })
}

/// A document that we wrote has every member, so nothing of this is ever used.
fn minted(at: &Timestamp) -> Result<Minted, Error> {
    let digits = "0".repeat(16);
    Ok(Minted {
        envelope_id: format!("env_{digits}").try_into()?,
        request_id: format!("req_{digits}").try_into()?,
        session_id: format!("sess_{digits}").try_into()?,
        received_at: at.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leave_counts_for_a_day() {
        let at = |text: &str| Timestamp::try_from(text).unwrap();
        let leave = Leave { words: "send it".to_owned(), at: at("2026-01-31T08:00:00Z") };
        assert_eq!(leave.holds(&at("2026-01-31T08:00:00Z")), Some("send it"));
        assert_eq!(leave.holds(&at("2026-02-01T07:59:59.999Z")), Some("send it"));
        assert_eq!(leave.holds(&at("2026-02-01T08:00:00Z")), None);
        assert_eq!(leave.holds(&at("2026-01-31T07:59:59Z")), None, "the clock went back");
    }
}
