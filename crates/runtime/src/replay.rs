//! Going through a run again: from what was recorded, or with its agents once more.
//! Owns: reading everything that was recorded, walking through it, running it beside the ledger, the rows of a replay. Must not: do
//! anything outside, or judge a difference.

mod again;
mod given;
mod mute;
mod rerun;
mod scratch;

pub use again::{Difference, Walked, walk};
pub use mute::muted;
pub use rerun::{Replaying, replaying, rerun};
pub use scratch::Scratch;

use crate::journal::{Saying, read_all};
use crate::looked;
use crate::ports::ledger::{Batch, Blob, Journal, Select};
use crate::run::{self, Bench, Error, Happened, Told};
use countersign_govern::decide::replay::{Compared, Effect, Step};
use countersign_govern::reference::snake;
use countersign_govern::types::added::learned::StepDependence;
use countersign_govern::types::added::policy::{CapabilitySnapshot, CapabilityState};
use countersign_govern::types::basic::ReplayPolicy;
use countersign_govern::types::externalization::WorkspaceExternalizationKind as Outside;
use countersign_govern::types::replay::TaskReplayRequest;
use countersign_govern::types::wire::{Reading, Wire};
use countersign_govern::world::Draft;
use countersign_kernel::pipeline::Agent as Kind;
use countersign_kernel::run::Event;
use countersign_record::access::MatterAccess;
use countersign_record::canonical;
use countersign_record::deed::EXTERNALIZED;
use countersign_record::digest::Digest;
use countersign_record::id::{RowKind, RunId, StreamId};
use countersign_record::json::{Json, Object};
use countersign_record::label::Label;
use countersign_record::row::{Proof, Row};
use countersign_record::time::Timestamp;
use countersign_work::score::Seen;
use countersign_work::task::{self, Task};
use countersign_work::travel::replay::{self, step_ref};
use std::collections::BTreeMap;

/// Everything that was recorded of a task's run.
pub struct Recorded {
    /// The run as its rows tell it.
    pub told: Told,
    /// The task that it is of.
    pub task: Task,
    /// What happened, in order.
    pub happened: Vec<Happened>,
    /// Its governed records, in order.
    pub records: Vec<Row>,
    /// The bytes that rows name, but for those that were erased.
    pub contents: BTreeMap<Digest, Vec<u8>>,
}

impl Recorded {
    /// Reads a run; `None` if it is no task's.
    ///
    /// # Errors
    /// There is none, or it can't be read.
    pub async fn read(bench: &Bench, id: &RunId) -> Result<Option<Self>, Error> {
        let (told, happened) = run::recorded(bench, id).await?;
        let Some(task) = told.setup.task.as_ref() else { return Ok(None) };
        let task = task::read_whole(task)
            .map_err(|_| Error::Unreadable { seq: 1, why: "the task can't be read any more".to_owned() })?;
        let (journal, access) = (&*bench.journal, &bench.access);
        let mut records: Vec<Row> = Vec::new();
        let select = Select::Stream(crate::work::stream(id)?);
        read_all(journal, access, select, 0, &mut |row| records.push(row)).await?;
        let mut contents = BTreeMap::new();
        let named = records.iter().flat_map(|row| row.blobs.iter().map(|blob| blob.digest));
        let named = named.chain(told.setup.files.values().copied()).chain(told.setup.heads.values().copied());
        for digest in named.collect::<Vec<_>>() {
            if let Blob::Present(bytes) = journal.blob(access, digest).await? {
                contents.insert(digest, bytes);
            }
        }
        Ok(Some(Recorded { told, task, happened, records, contents }))
    }

    /// A record of a type, by its row.
    fn record<T: Wire>(row: &Row) -> Option<T> {
        T::read(row.payload.get("record")?, &mut Reading::default())
    }

    /// What could be done when the run began.
    #[must_use]
    pub fn capabilities(&self) -> Vec<CapabilityState> {
        let first = self.records.iter().find(|row| is(row, "CapabilitySnapshot"));
        let first = first.and_then(Recorded::record::<CapabilitySnapshot>);
        first.map(|one| one.capabilities).unwrap_or_default()
    }

    /// The texts of the sources, in the order of the task; `None` if one is gone.
    #[must_use]
    pub fn sources(&self) -> Option<Vec<Vec<u8>>> {
        let is_source = |row: &&Row| is(row, "SourceRecord") || is(row, "EphemeralSourceLookupReceipt");
        let taken_in = self.records.iter().filter(is_source).filter_map(|row| row.blobs.first());
        let texts: Option<Vec<Vec<u8>>> = taken_in
            .take(self.task.sources.len())
            .map(|blob| self.contents.get(&blob.digest).cloned())
            .collect();
        texts.filter(|texts| texts.len() == self.task.sources.len())
    }

    /// Bytes by name, for those that are named by their hashes.
    #[must_use]
    pub fn named(&self, names: &BTreeMap<String, Digest>) -> BTreeMap<String, Vec<u8>> {
        let bytes =
            |(name, digest): (&String, &Digest)| Some((name.clone(), self.contents.get(digest).cloned()?));
        names.iter().filter_map(bytes).collect()
    }

    /// What was last seen of the work.
    #[must_use]
    pub fn seen(&self) -> Seen {
        looked::last(&self.happened, u64::MAX)
    }

    /// The steps of the run, in order: each time that an agent handed something over.
    ///
    /// # Errors
    /// One can't be named.
    pub fn steps(&self) -> Result<Vec<Step>, Error> {
        steps(&self.told, &self.happened, self.task.replies().is_some())
    }
}

/// Whether a row is of a governed type.
fn is(row: &Row, kind: &str) -> bool {
    row.kind.as_str().strip_prefix("govern.") == Some(&snake(kind))
}

/// The steps of a run. Replies that a task brings along are the same each time, and so is what the embedded model quotes.
fn steps(told: &Told, happened: &[Happened], is_scripted: bool) -> Result<Vec<Step>, Error> {
    let mut all = Vec::new();
    let mut called = 0;
    for one in happened {
        match &one.event {
            Event::Called { .. } => called = one.seq,
            Event::Returned { stage, handoff, llm_calls, .. } => {
                let agent = told.pipeline.stage(stage).map(|stage| &stage.agent);
                let is_built_in = matches!(agent, Some(Kind::BuiltIn { .. }));
                let has_run = is_built_in && handoff.payload.get(looked::RAN).is_some();
                let depends_on = match agent {
                    Some(Kind::Process { .. } | Kind::Mcp { .. }) => StepDependence::Tool,
                    Some(Kind::BuiltIn { .. } | Kind::Model { .. }) | None if has_run => StepDependence::Tool,
                    Some(Kind::BuiltIn { .. } | Kind::Model { .. }) | None if *llm_calls > 0 => {
                        StepDependence::Model
                    }
                    Some(Kind::BuiltIn { .. } | Kind::Model { .. }) | None => StepDependence::None,
                };
                let step_ref = step_ref(told.id.as_str(), all.len() + 1, stage)
                    .map_err(|error| Error::Work { why: error.to_string() })?;
                all.push(Step {
                    step_ref,
                    depends_on,
                    policy: match has_run {
                        // Nothing is run again, so what a command came to is taken as it was.
                        true => Some(ReplayPolicy::ReuseRecordedOnly),
                        false => is_scripted.then_some(ReplayPolicy::Deterministic),
                    },
                    effect: effect(told, called, one.seq),
                    output_hash: Some(String::from(output_hash(&handoff.payload))),
                });
            }
            Event::Aimed { .. }
            | Event::GivenUp { .. }
            | Event::Reached { .. }
            | Event::Refused { .. }
            | Event::Heard { .. }
            | Event::Advanced { .. }
            | Event::Moved { .. }
            | Event::Stopped(_)
            | Event::Answered { .. }
            | Event::Ended { .. } => {}
        }
    }
    Ok(all)
}

/// How long something took is measured and no part of what it gave.
const MEASURED: [&str; 2] = ["duration_ms", "wall_clock_ms"];

/// SHA-256 of what an agent handed over.
fn output_hash(payload: &Object) -> Digest {
    canonical::hash_as_written(&Json::Object(unmeasured(payload)))
}

fn unmeasured(members: &Object) -> Object {
    fn value(one: &Json) -> Json {
        match one {
            Json::Object(members) => Json::Object(unmeasured(members)),
            Json::Array(items) => Json::Array(items.iter().map(value).collect()),
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => one.clone(),
        }
    }
    members
        .iter()
        .filter(|(name, _)| !MEASURED.contains(name))
        .map(|(name, one)| (name, value(one)))
        .collect()
}

/// What left the machine between two rows of a run.
fn effect(told: &Told, from: u64, to: u64) -> Effect {
    let word =
        |line: &run::Line, name: &str| line.payload.get(name).and_then(Json::as_str).map(str::to_owned);
    let left = told.lines.iter().filter(|line| line.kind == EXTERNALIZED && line.seq > from && line.seq < to);
    let mut left = left.filter(|line| word(line, "status").as_deref() != Some("blocked_by_policy"));
    match left.next() {
        None => Effect::None,
        Some(line) => match word(line, "externalization_kind").as_deref().and_then(Outside::find) {
            Some(kind) => Effect::Outside(kind),
            None => Effect::Unknown,
        },
    }
}

/// Writes down what a replay came to, in a stream of its own.
///
/// # Errors
/// It can't be written.
pub async fn keep(
    journal: &dyn Journal,
    access: &MatterAccess,
    request: &TaskReplayRequest,
    compared: &Compared,
    at: &Timestamp,
) -> Result<(), Error> {
    let stream = StreamId::try_from(format!("replay/{}", request.replay_request_id))?;
    let mut drafts = vec![countersign_govern::decide::row(request, at)];
    drafts.extend(compared.rows(at));
    let mut rows = Vec::new();
    for Draft { kind, record, .. } in drafts {
        let saying = Saying {
            stream: stream.clone(),
            kind: RowKind::try_from(format!("govern.{}", snake(&kind)))?,
            version: 1,
            at: at.clone(),
            proof: Proof::None,
            label: Label::NOTHING,
            payload: Object::from([("record", record)]).into(),
            blobs: Vec::new(),
        };
        rows.push(saying.by(access).seal()?);
    }
    let expected = BTreeMap::from([(stream, 0)]);
    journal.append(access, Batch { rows, expected, idem_key: None }).await?;
    Ok(())
}

/// What a replay of a run leaves: what each step gave that was decided or run again, by its place.
///
/// # Errors
/// The replay promises what these steps can't give.
pub fn compared(
    request: &TaskReplayRequest,
    steps: &[Step],
    gave: &[Option<String>],
    at: &Timestamp,
) -> Result<Compared, Error> {
    replay::compared(request, steps, gave, at).map_err(|refusal| Error::Replay { why: refusal.to_string() })
}
