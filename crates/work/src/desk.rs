//! The records of one run: as they were written, and as everything in them stands.
//! Owns: names, places and times of records, finding them again, values with their receipts. Must not: decide what is written.
//!
//! A desk is a fold of rows. What a step puts on it waits until somebody takes it, appends it to the ledger and only then goes on;
//! after a crash the desk is read again from what is durable. An id is made of the run, a word and how many there were before, so the
//! same steps give the same ids.

mod derive;
mod shelf;

pub use derive::{Derived, From};

use crate::revise::steps::Steps;
use crate::task::Task;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_govern::fold::{Folds, Projection};
use countersign_govern::formula::NotEvaluated;
use countersign_govern::kind;
use countersign_govern::reference::{Reference, snake};
use countersign_govern::types::basic::{Instant, StorageRef};
use countersign_govern::types::wire::{Reading, Wire, Written};
use countersign_govern::world::{Draft, World};
use countersign_record::canonical::{self, Inexact, Unwritable};
use countersign_record::digest::Digest;
use countersign_record::id::{MatterId, RunId};
use countersign_record::json::Json;
use countersign_record::time::{Instant as Moment, Timestamp};
use shelf::Shelf;
pub(crate) use shelf::text_of;

const NANOS_OF_A_MILLI: u64 = 1_000_000;
const NANOS_OF_A_SECOND: u64 = 1_000_000_000;
/// The type of headers of what is shown, and the member that says until when one counts.
const HEADER: &str = "DerivedReadModelRecord";
const UNTIL: &str = "valid_until_event_seq";

/// A row of a run: a governed record, and the bytes that it is about.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The record.
    pub draft: Draft,
    /// What it is about, to be kept as blobs.
    pub contents: Vec<Vec<u8>>,
}

/// Why a step can't be written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A formula has no value of what it was given.
    #[error("{formula}: {why}")]
    NoValue {
        /// Which.
        formula: String,
        /// Why.
        why: NotEvaluated,
    },
    /// Something can't be named in a reference.
    #[error("{0:?} can't be named in a reference")]
    Unnameable(String),
    /// A record that the step builds on is not there.
    #[error("there is no {0}")]
    Missing(String),
    /// A source is of another matter than the run.
    #[error("the source {source_id} is of the matter {own}, and the run of another")]
    Foreign {
        /// Which, as the task calls it.
        source_id: String,
        /// Its matter.
        own: String,
    },
    /// A value can't be written canonically.
    #[error(transparent)]
    Unwritable(#[from] Unwritable),
    /// A number can't.
    #[error(transparent)]
    Inexact(#[from] Inexact),
}

/// The records of one run.
#[derive(Clone, Debug)]
pub struct Desk {
    task: Task,
    run: RunId,
    matter: MatterId,
    rows: Vec<Entry>,
    /// Where the rows are, by type, name and what they are about.
    shelf: Shelf,
    /// The plans of revisions, and how far their steps are.
    steps: Steps,
    folds: Folds,
    /// The headers of what is shown that still count.
    shown: BTreeSet<String>,
    /// How many rows were taken.
    taken: usize,
    /// When what is written now happens.
    at: Timestamp,
}

impl Desk {
    /// The desk of a run on which nothing lies yet.
    #[must_use]
    pub fn new(task: Task, run: RunId, matter: MatterId, at: Timestamp) -> Self {
        let (rows, shown, folds) = (Vec::new(), BTreeSet::new(), Folds::default());
        let (shelf, steps) = (Shelf::default(), Steps::default());
        Desk { task, run, matter, rows, shelf, steps, folds, shown, taken: 0, at }
    }

    /// The same with the rows that were written before, in order.
    #[must_use]
    pub fn with(mut self, rows: impl IntoIterator<Item = Draft>) -> Self {
        for draft in rows {
            self.lay(Entry { draft, contents: Vec::new() });
        }
        self.taken = self.rows.len();
        self
    }

    /// What is asked.
    #[must_use]
    pub fn task(&self) -> &Task {
        &self.task
    }

    /// Another task is asked from now on; gives the one before.
    pub(crate) fn replace_task(&mut self, task: Task) -> Task {
        core::mem::replace(&mut self.task, task)
    }

    /// The run.
    #[must_use]
    pub fn run(&self) -> &str {
        self.run.as_str()
    }

    /// Whose it is.
    #[must_use]
    pub fn matter(&self) -> &str {
        self.matter.as_str()
    }

    /// What is written from now on happens at this time.
    pub fn at(&mut self, at: &Timestamp) {
        self.at = at.clone();
    }

    /// When what is written now happens.
    #[must_use]
    pub fn now(&self) -> Instant {
        Instant::from(&self.at)
    }

    /// When what is written now happens, to be compared.
    #[must_use]
    pub fn clock(&self) -> &Timestamp {
        &self.at
    }

    /// A time after now; `None` beyond the years that times have.
    #[must_use]
    pub fn later(&self, millis: u64) -> Option<Instant> {
        self.until(millis).map(|at| Instant::from(&at))
    }

    /// As `later`, to be compared.
    #[must_use]
    pub fn until(&self, millis: u64) -> Option<Timestamp> {
        after(&self.at, millis)
    }

    /// The place of the last row.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.rows.len() as u64
    }

    /// An id that nothing else has: of this run, by a word.
    #[must_use]
    pub fn id(&self, word: &str) -> String {
        format!("{}.{word}.{}", self.run, self.end() + 1)
    }

    /// Writes a record.
    ///
    /// # Errors
    /// It can't be named.
    pub fn put<T: Written>(&mut self, record: &T) -> Result<StorageRef, Error> {
        self.write(T::KIND, None, record, Vec::new())
    }

    /// Writes a record of a type that has no member for its name.
    ///
    /// # Errors
    /// It can't be named.
    pub fn put_named<T: Written>(&mut self, id: &str, record: &T) -> Result<StorageRef, Error> {
        self.write(T::KIND, Some(id), record, Vec::new())
    }

    /// Writes a record with the bytes that it is about.
    ///
    /// # Errors
    /// It can't be named.
    pub fn put_with<T: Written>(&mut self, record: &T, content: Vec<u8>) -> Result<StorageRef, Error> {
        self.write(T::KIND, None, record, Vec::from([content]))
    }

    /// Writes the first row of something that stands: the contract has no event for its beginning. How it goes on is folded from
    /// events, and never written.
    ///
    /// # Errors
    /// It can't be named.
    pub fn open<T: Wire>(&mut self, kind: &str, record: &T) -> Result<StorageRef, Error> {
        self.write(kind, None, record, Vec::new())
    }

    /// As `open`, with the bytes that it is about.
    ///
    /// # Errors
    /// It can't be named.
    pub fn open_with<T: Wire>(
        &mut self,
        kind: &str,
        record: &T,
        content: Vec<u8>,
    ) -> Result<StorageRef, Error> {
        self.write(kind, None, record, Vec::from([content]))
    }

    /// As `open`, for a type that has no member for its name.
    ///
    /// # Errors
    /// It can't be named.
    pub fn open_named<T: Wire>(&mut self, kind: &str, id: &str, record: &T) -> Result<StorageRef, Error> {
        self.write(kind, Some(id), record, Vec::new())
    }

    fn write<T: Wire>(
        &mut self,
        kind: &str,
        id: Option<&str>,
        record: &T,
        contents: Vec<Vec<u8>>,
    ) -> Result<StorageRef, Error> {
        let record = record.write().unwrap_or(Json::Null);
        let draft = Draft {
            kind: kind.to_string(),
            id: id.map(ToString::to_string),
            at: Some(self.at.instant()),
            record,
        };
        let name = draft.name(self.end() + 1);
        let reference = reference(kind, &name)?;
        self.lay(Entry { draft, contents });
        self.close_shown();
        Ok(reference)
    }

    fn lay(&mut self, entry: Entry) {
        self.folds.push(&entry.draft);
        let id = entry.draft.name(self.end() + 1);
        self.shelf.lay(&entry.draft, &id, self.rows.len());
        self.steps.lay(&entry.draft, self.end() + 1);
        if entry.draft.kind == HEADER {
            match entry.draft.record.get(UNTIL) {
                Some(_) => self.shown.remove(&id),
                None => self.shown.insert(id),
            };
        }
        self.rows.push(entry);
    }

    /// What is shown is old as soon as something happens that it rests on: its header is closed right behind that, so nobody can
    /// forget it.
    fn close_shown(&mut self) {
        let ended = |id: &String| {
            let (until, by) = self.folds.headers.ended(id)?;
            Some((id.clone(), until, by.to_string()))
        };
        let all: Vec<(String, u64, String)> = self.shown.iter().filter_map(ended).collect();
        for (id, until, by) in all {
            let Some(Json::Object(mut record)) = self.find::<Json>(HEADER, &id) else { continue };
            record.insert(UNTIL, until.write().unwrap_or(Json::Null));
            record.insert("invalidated_by_event_ref", by.as_str());
            let at = Some(self.at.instant());
            let draft = Draft { kind: HEADER.to_string(), id: None, at, record: record.into() };
            self.lay(Entry { draft, contents: Vec::new() });
        }
    }

    /// The rows that nobody has taken yet. They must be durable before anything else is done.
    pub fn take(&mut self) -> Vec<Entry> {
        let rows = self.rows.get(self.taken..).unwrap_or_default().to_vec();
        self.taken = self.rows.len();
        for row in self.rows.iter_mut() {
            row.contents = Vec::new();
        }
        rows
    }

    /// Whether rows wait to be taken.
    #[must_use]
    pub fn is_waiting(&self) -> bool {
        self.taken < self.rows.len()
    }

    /// All rows so far.
    pub fn rows(&self) -> impl DoubleEndedIterator<Item = &Draft> {
        self.rows.iter().map(|row| &row.draft)
    }

    /// The rows behind a place.
    pub fn rows_after(&self, place: u64) -> impl Iterator<Item = &Draft> {
        let skipped = usize::try_from(place).unwrap_or(usize::MAX);
        self.rows().skip(skipped)
    }

    /// How many rows of a type there are.
    #[must_use]
    pub fn count(&self, kind: &str) -> u64 {
        self.shelf.of(kind).len() as u64
    }

    /// The records of a type, in order, with what each is called and its place.
    pub fn each<'d, T: Wire>(&'d self, kind: &str) -> impl DoubleEndedIterator<Item = Found<T>> + use<'d, T> {
        self.at_places(self.shelf.of(kind))
    }

    /// As `each`, of those that have a text in a member; the member is one of those that `shelf` keeps.
    pub fn linked<'d, T: Wire>(
        &'d self,
        kind: &str,
        member: &str,
        text: &str,
    ) -> impl DoubleEndedIterator<Item = Found<T>> + use<'d, T> {
        self.at_places(self.shelf.linked(kind, member, text))
    }

    fn at_places<'d, T: Wire>(
        &'d self,
        places: &'d [usize],
    ) -> impl DoubleEndedIterator<Item = Found<T>> + use<'d, T> {
        places.iter().filter_map(move |at| {
            let draft = &self.rows.get(*at)?.draft;
            let seq = *at as u64 + 1;
            Some(Found { id: draft.name(seq), seq, record: T::read(&draft.record, &mut Reading::default())? })
        })
    }

    /// The records of a type that is written, in order.
    pub fn all<'d, T: Written + 'd>(&'d self) -> impl DoubleEndedIterator<Item = T> + use<'d, T> {
        self.each::<T>(T::KIND).map(|found| found.record)
    }

    /// The last record of a type and id.
    #[must_use]
    pub fn find<T: Wire>(&self, kind: &str, id: &str) -> Option<T> {
        self.at_places(self.shelf.named(kind, id)).next_back().map(|found| found.record)
    }

    /// The plans of revisions, and how far their steps are.
    pub(crate) fn steps(&self) -> &Steps {
        &self.steps
    }

    /// What a standing thing says in a member, by its kind in snake case.
    #[must_use]
    pub fn says(&self, kind: &str, id: &str, member: &str) -> Option<&str> {
        self.folds.board.find(kind, id).and_then(|standing| standing.word(member))
    }

    /// Everything that stands, as it stands now.
    #[must_use]
    pub fn projections(&self) -> Vec<Projection> {
        use countersign_govern::fold::Fold;
        let mut all = Vec::new();
        self.folds.projections(&mut all);
        all
    }

    /// How something stands now, as its type has it.
    #[must_use]
    pub fn standing<T: Wire>(&self, kind: &str, id: &str) -> Option<T> {
        T::read(&self.folds.projection(kind, id)?, &mut Reading::default())
    }

    /// The rows as rules see them.
    #[must_use]
    pub fn world(&self) -> World {
        World::new(self.rows().cloned().collect(), Some(self.at.instant()))
    }
}

/// A record that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found<T> {
    /// What it is called.
    pub id: String,
    /// Its place, from 1.
    pub seq: u64,
    /// What it says.
    pub record: T,
}

/// A time some milliseconds after another; `None` beyond the years that times have.
pub(crate) fn after(at: &Timestamp, millis: u64) -> Option<Timestamp> {
    let from = at.instant();
    let nanos = u64::from(from.nanos) + millis % 1_000 * NANOS_OF_A_MILLI;
    let seconds = i64::try_from(millis / 1_000 + nanos / NANOS_OF_A_SECOND).ok()?;
    let nanos = u32::try_from(nanos % NANOS_OF_A_SECOND).ok()?;
    let then = Moment { seconds: from.seconds.checked_add(seconds)?, nanos };
    Timestamp::try_from(then).ok()
}

/// The reference to a record of a type; the type by its name.
///
/// # Errors
/// The id can't be read back from it.
pub fn reference(kind: &str, id: &str) -> Result<StorageRef, Error> {
    let kind = match kind::find(kind) {
        // Sources are named by a short word, because they are keys.
        Some(known) if known.name == "SourceRecord" => "src".to_string(),
        Some(_) | None => snake(kind),
    };
    let text = format!("{kind}:{id}");
    let is_read = Reference::read(&text).is_some_and(|read| read.kind == kind && read.id == id);
    let reference = StorageRef::try_from(text.as_str()).ok().filter(|_| is_read);
    reference.ok_or(Error::Unnameable(text))
}

/// SHA-256 of a value in canonical JSON.
///
/// # Errors
/// It has no canonical form.
pub fn hash_of(value: &Json) -> Result<Digest, Error> {
    canonical::hash(value).map_err(|_| Error::Missing("canonical form".to_string()))
}
