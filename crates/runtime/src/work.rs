//! The governed records of a task's run while it is driven.
//! Owns: the desk that the stages share, the texts it is about, its rows in the ledger. Must not: decide; `countersign-work` does.
//!
//! A stage puts records on the desk; the driver appends them with the stage's own rows, all or nothing. So the desk is never ahead of
//! the ledger by more than the stage that is working, and what a crash loses is what the stage does again.

use crate::fit;
use crate::journal::{Saying, read_all};
use crate::ports::ledger::{Blob, Journal, Select};
use crate::purse::Purses;
use crate::run::Error;
use countersign_govern::admission::Desk as Door;
use countersign_govern::audit::kind_of;
use countersign_govern::decide::replay::Step;
use countersign_govern::reference::snake;
use countersign_govern::types::added::policy::CapabilityState;
use countersign_govern::types::added::showing::CommandReceipt;
use countersign_govern::types::sufficiency::CandidateRepairProcedureSafetyClass as Safety;
use countersign_govern::world::Draft;
use countersign_record::access::MatterAccess;
use countersign_record::digest::Digest;
use countersign_record::id::{RowKind, RunId, StreamId};
use countersign_record::json::{self, Json, Object};
use countersign_record::label::Label;
use countersign_record::row::{BlobBytes, DataClass, Proof, Row, Sealed, Taint};
use countersign_record::time::Timestamp;
use countersign_work::artifact::{self, Made};
use countersign_work::command::{self, Asked, Ruling};
use countersign_work::desk::{Desk, Entry};
use countersign_work::evidence;
use countersign_work::learning::Nearest;
use countersign_work::opening::{self, Given};
use countersign_work::rely;
use countersign_work::score::Seen;
use countersign_work::task::{self, Task};
use countersign_work::texts::{self, Contents, Head, Read};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// What a task is begun with, besides itself.
pub struct Opening {
    /// The texts of the sources, in the order of the task.
    pub sources: Vec<Vec<u8>>,
    /// The other files that the task names, by their paths.
    pub files: BTreeMap<String, Vec<u8>>,
    /// What can be done here.
    pub capabilities: Vec<CapabilityState>,
    /// The versions that another run kept, where this one begins from them: their texts by the artifacts' names.
    pub heads: BTreeMap<String, Vec<u8>>,
}

/// The records of a run, and the texts they are about.
pub struct Work {
    inner: Mutex<Inner>,
    purse: OnceLock<Purses>,
    nearest: OnceLock<Nearest>,
    /// Why the stage that is working can't be told.
    failed: Mutex<Option<Error>>,
}

struct Inner {
    /// What is asked; a person may change its words before the work begins.
    task: Arc<Task>,
    /// Nothing before the run has a name.
    desk: Option<Desk>,
    opening: Option<Opening>,
    /// Bytes by their digests: sources and versions.
    contents: BTreeMap<Digest, Arc<[u8]>>,
    /// Lets records in that keep the contract; made when the first are to be written.
    door: Option<Door>,
    /// Other files of the task, by their paths.
    files: BTreeMap<String, Arc<[u8]>>,
}

/// The stream of a run's governed records.
///
/// # Errors
/// Never: a run's name fits.
pub fn stream(run: &RunId) -> Result<StreamId, Error> {
    Ok(StreamId::try_from(format!("work/{run}"))?)
}

impl Work {
    /// The work of a task that is to be begun.
    #[must_use]
    pub fn new(task: Task, opening: Opening) -> Self {
        let files =
            opening.files.iter().map(|(path, bytes)| (path.clone(), Arc::from(bytes.as_slice()))).collect();
        let (task, contents) = (Arc::new(task), BTreeMap::new());
        let inner = Inner { task, desk: None, opening: Some(opening), contents, door: None, files };
        Work {
            inner: Mutex::new(inner),
            purse: OnceLock::new(),
            nearest: OnceLock::new(),
            failed: Mutex::default(),
        }
    }

    /// The work of a run that was begun, as its rows tell it.
    ///
    /// # Errors
    /// They can't be read.
    pub async fn read(
        journal: &dyn Journal,
        access: &MatterAccess,
        run: &RunId,
        task: Task,
        files: BTreeMap<String, Digest>,
    ) -> Result<Self, Error> {
        let mut rows: Vec<Row> = Vec::new();
        read_all(journal, access, Select::Stream(stream(run)?), 0, &mut |row| rows.push(row)).await?;
        let at = rows.last().map(|row| row.at.clone());
        let at = at.ok_or_else(|| Error::Missing { run: run.clone() })?;
        let mut contents = BTreeMap::new();
        let (mut drafts, mut edited) = (Vec::new(), None);
        for row in rows {
            let is_contract = row.kind.as_str() == CONTRACT;
            for blob in &row.blobs {
                if let Blob::Present(bytes) = journal.blob(access, blob.digest).await? {
                    // The run goes by the last contract.
                    if is_contract {
                        edited = json::parse(&bytes).ok().and_then(|task| task::read_whole(&task).ok());
                    }
                    contents.insert(blob.digest, Arc::from(bytes));
                }
            }
            let seq = row.seq;
            drafts.push(draft(row).ok_or(Error::Unreadable { seq, why: NO_RECORD.to_owned() })?);
        }
        let mut named = BTreeMap::new();
        for (path, digest) in files {
            if let Blob::Present(bytes) = journal.blob(access, digest).await? {
                named.insert(path, Arc::from(bytes));
            }
        }
        let task = edited.unwrap_or(task);
        let desk = Desk::new(task.clone(), run.clone(), access.matter().clone(), at).with(drafts);
        let inner = Inner {
            task: Arc::new(task),
            desk: Some(desk),
            opening: None,
            contents,
            door: None,
            files: named,
        };
        Ok(Work {
            inner: Mutex::new(inner),
            purse: OnceLock::new(),
            nearest: OnceLock::new(),
            failed: Mutex::default(),
        })
    }

    /// The task that was done before and is nearest to this one, where one was known when the run began. Once is enough.
    pub fn compare(&self, nearest: Option<Nearest>) {
        if let Some(nearest) = nearest {
            self.nearest.get_or_init(|| nearest);
        }
    }

    /// The nearest of the tasks that were done before.
    #[must_use]
    pub fn nearest(&self) -> Option<&Nearest> {
        self.nearest.get()
    }

    /// The run spends from the purse of its matter. Once is enough.
    pub fn fund(&self, purse: Purses) {
        self.purse.get_or_init(|| purse);
    }

    /// The purse of its matter.
    #[must_use]
    pub fn purse(&self) -> Option<&Purses> {
        self.purse.get()
    }

    /// The stage that is working can't go on: what it counts on can't be written. It is not told what became of it, as after a crash.
    pub(crate) fn fail(&self, error: Error) {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }

    /// Why the stage that worked can't be told.
    pub(crate) fn failed(&self) -> Option<Error> {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// What is asked.
    #[must_use]
    pub fn task(&self) -> Arc<Task> {
        Arc::clone(&self.lock().task)
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens the desk of a run that begins. Once is enough.
    ///
    /// # Errors
    /// Something can't be written.
    pub fn begin(&self, run: &RunId, access: &MatterAccess, at: &Timestamp) -> Result<(), Error> {
        let mut inner = self.lock();
        let Some(opening) = inner.opening.take() else { return Ok(()) };
        let mut desk = Desk::new(Task::clone(&inner.task), run.clone(), access.matter().clone(), at.clone());
        let given = Given { sources: &opening.sources, capabilities: &opening.capabilities };
        opening::open(&mut desk, &given).map_err(unwritten)?;
        for (artifact, bytes) in &opening.heads {
            let made = Made { artifact, bytes, step_id: None, safety: Safety::Mechanical };
            let version = artifact::candidate(&mut desk, &made).map_err(unwritten)?;
            artifact::accept(&mut desk, artifact, &version).map_err(unwritten)?;
        }
        for bytes in opening.sources.iter().chain(opening.heads.values()) {
            inner.contents.insert(Digest::of(bytes), Arc::from(bytes.as_slice()));
        }
        inner.desk = Some(desk);
        Ok(())
    }

    /// Does a step on the desk, at a time. What it puts there waits for the driver.
    ///
    /// # Errors
    /// There is no desk yet, or the step can't be written.
    pub fn step<T, E: ToString>(
        &self,
        at: &Timestamp,
        step: impl FnOnce(&mut Desk) -> Result<T, E>,
    ) -> Result<T, Error> {
        let mut inner = self.lock();
        let desk = inner.desk.as_mut().ok_or_else(|| unwritten("the run has not begun"))?;
        desk.at(at);
        let done = step(desk).map_err(|error| unwritten(error.to_string()))?;
        // Whatever a step changed, a packet that rested on it falls with it.
        rely::react(desk).map_err(unwritten)?;
        Ok(done)
    }

    /// Carries a command out, whole or not at all. What it puts down waits for the driver.
    ///
    /// # Errors
    /// There is no desk yet, or the command gets no receipt.
    pub fn command(
        &self,
        at: &Timestamp,
        asked: &Asked<'_>,
        new_run: &RunId,
        steps: &[Step],
        (is_over, last): (bool, &Seen),
    ) -> Result<Ruling, Error> {
        let mut inner = self.lock();
        let Inner { task, desk, contents, files, .. } = &mut *inner;
        let desk = desk.as_mut().ok_or_else(|| unwritten("the run has not begun"))?;
        desk.at(at);
        let found = |digest: &Digest| contents.get(digest).map(|bytes| bytes.to_vec());
        let schema = |path: &str| files.get(path).cloned();
        let known = Arc::clone(task);
        // A command changes no text, so what was last seen of one still holds; nothing is run and nobody is asked for it.
        let seen = |heads: &[Head]| {
            let mut seen = last.clone();
            seen.checks.extend(fit::checks(&known, heads, &schema));
            seen
        };
        let given =
            command::Given { contents: &found, seen: &seen, new_run: new_run.as_str(), steps, is_over };
        let ruling = command::run(desk, asked, &given).map_err(Error::Command)?;
        *task = Arc::new(desk.task().clone());
        Ok(ruling)
    }

    /// Says what became of what a command had done outside. Its receipt waits for the driver.
    ///
    /// # Errors
    /// There is no desk yet, or no such command.
    pub fn finished(
        &self,
        at: &Timestamp,
        asked: &Asked<'_>,
        has_left: bool,
    ) -> Result<CommandReceipt, Error> {
        let mut inner = self.lock();
        let desk = inner.desk.as_mut().ok_or_else(|| unwritten("the run has not begun"))?;
        desk.at(at);
        command::finished(desk, asked, has_left).map_err(Error::Command)
    }

    /// Looks at the desk.
    pub fn look<T>(&self, look: impl FnOnce(&Desk) -> T) -> Option<T> {
        self.lock().desk.as_ref().map(look)
    }

    /// Puts the desk back as it was: what lies on it since then and nobody took is gone.
    pub fn put_back(&self, before: Option<Desk>) {
        if let Some(before) = before {
            self.lock().desk = Some(before);
        }
    }

    /// The versions that count, with their texts.
    #[must_use]
    pub fn heads(&self) -> Vec<Head> {
        self.with_texts(|desk, contents| texts::heads(desk, contents)).unwrap_or_default()
    }

    /// The evidence with its words, once there is some.
    #[must_use]
    pub fn evidence(&self) -> Option<Json> {
        self.with_texts(|desk, contents| evidence::document(desk, contents, None).ok()).flatten()
    }

    /// Claims with their words and the places that bear on them, by their references.
    #[must_use]
    pub fn claims(&self, wanted: &[&str]) -> Vec<Json> {
        self.with_texts(|desk, contents| evidence::claims(desk, contents, wanted)).unwrap_or_default()
    }

    /// The texts of the sources that may support something.
    #[must_use]
    pub fn texts(&self) -> Vec<Read> {
        self.with_texts(|desk, contents| texts::read(desk, contents)).unwrap_or_default()
    }

    fn with_texts<T>(&self, look: impl FnOnce(&Desk, Contents<'_>) -> T) -> Option<T> {
        let inner = self.lock();
        let found = |digest: &Digest| inner.contents.get(digest).map(|bytes| bytes.to_vec());
        inner.desk.as_ref().map(|desk| look(desk, &found))
    }

    /// The versions that count, with every claim of theirs looked at.
    ///
    /// # Errors
    /// There is no desk yet, or something can't be written.
    pub fn checked(&self, at: &Timestamp) -> Result<Vec<Head>, Error> {
        let mut inner = self.lock();
        let Inner { desk, contents, .. } = &mut *inner;
        let desk = desk.as_mut().ok_or_else(|| unwritten("the run has not begun"))?;
        desk.at(at);
        let found = |digest: &Digest| contents.get(digest).map(|bytes| bytes.to_vec());
        let checked = texts::checked(desk, &found).map_err(unwritten)?;
        rely::react(desk).map_err(unwritten)?;
        Ok(checked)
    }

    /// The bytes of a digest: a source, or a version.
    #[must_use]
    pub fn content(&self, digest: &Digest) -> Option<Arc<[u8]>> {
        self.lock().contents.get(digest).cloned()
    }

    /// The same as text.
    #[must_use]
    pub fn text(&self, digest: &Digest) -> Option<String> {
        self.content(digest).and_then(|bytes| String::from_utf8(bytes.to_vec()).ok())
    }

    /// Keeps bytes that a step is about to name.
    pub fn keep(&self, bytes: &[u8]) {
        self.lock().contents.insert(Digest::of(bytes), Arc::from(bytes));
    }

    /// A file of the task that is no source.
    #[must_use]
    pub fn file(&self, path: &str) -> Option<Arc<[u8]>> {
        self.lock().files.get(path).cloned()
    }

    /// All such files, by their paths.
    #[must_use]
    pub fn files(&self) -> BTreeMap<String, Arc<[u8]>> {
        self.lock().files.clone()
    }

    /// How many records there are.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.lock().desk.as_ref().map_or(0, Desk::end)
    }

    /// The rows that wait, as the ledger takes them.
    ///
    /// # Errors
    /// One can't be sealed.
    pub(crate) fn take(
        &self,
        run: &RunId,
        access: &MatterAccess,
        label: Label,
    ) -> Result<Vec<Sealed>, Error> {
        let mut inner = self.lock();
        let Some(desk) = inner.desk.as_mut() else { return Ok(Vec::new()) };
        let before = desk.rows().count();
        let entries = desk.take();
        let before = before.saturating_sub(entries.len());
        if inner.door.is_none() && !entries.is_empty() {
            let Some(desk) = &inner.desk else { return Ok(Vec::new()) };
            inner.door = Some(Door::new((1..).zip(desk.rows().take(before).cloned()).collect()));
        }
        if let (Some(door), Some(last)) = (&mut inner.door, entries.last().and_then(|one| one.draft.at)) {
            // What breaks the contract is not written, whoever made it.
            let batch = (before as u64 + 1..).zip(entries.iter().map(|one| one.draft.clone())).collect();
            door.admit(batch, last).map_err(unwritten)?;
        }
        for bytes in entries.iter().flat_map(|entry| &entry.contents) {
            inner.contents.insert(Digest::of(bytes), Arc::from(bytes.as_slice()));
        }
        let stream = stream(run)?;
        entries.into_iter().map(|entry| sealed(&stream, access, label, entry)).collect()
    }
}

fn unwritten(why: impl ToString) -> Error {
    Error::Work { why: why.to_string() }
}

/// The rows that hold the task as it is reviewed, beside the review.
const CONTRACT: &str = "govern.evaluation_contract_review";
const NO_RECORD: &str = "it holds no governed record";

fn draft(row: Row) -> Option<Draft> {
    let kind = kind_of(row.kind.as_str())?;
    let Json::Object(mut members) = row.payload else { return None };
    let id = members.get("id").and_then(Json::as_str).map(str::to_owned);
    let record = members.remove("record")?;
    Some(Draft { kind: kind.name.to_owned(), id, at: Some(row.at.instant()), record })
}

/// A record as a row: as secret and as little trusted as it says itself, else as the run is.
fn sealed(stream: &StreamId, access: &MatterAccess, label: Label, entry: Entry) -> Result<Sealed, Error> {
    let Entry { draft, contents } = entry;
    // A command is somebody's decision; what follows from it is the engine's.
    let draft_is_a_decision = draft.kind == "CommandInvocation";
    let word = |name: &str| draft.record.get(name).and_then(Json::as_str);
    let data_class = word("data_class").and_then(|word| DataClass::try_from(word).ok());
    let taint = word("taint_class").and_then(|word| Taint::try_from(word).ok());
    let label =
        Label { data_class: data_class.unwrap_or(label.data_class), taint: taint.unwrap_or(label.taint) };
    let at = draft
        .at
        .and_then(|at| Timestamp::try_from(at).ok())
        .ok_or_else(|| unwritten("a record has no time"))?;
    let kind = RowKind::try_from(format!("govern.{}", snake(&draft.kind)))?;
    let mut payload = Object::from([("record", draft.record)]);
    if let Some(id) = draft.id {
        payload.insert("id", id);
    }
    let blobs = contents.into_iter().map(BlobBytes::new).collect::<Result<Vec<_>, _>>()?;
    let proof = if draft_is_a_decision { Proof::SelfAsserted } else { Proof::None };
    let stream = stream.clone();
    let saying = Saying { stream, kind, version: 1, at, proof, label, payload: payload.into(), blobs };
    Ok(saying.by(access).seal()?)
}
