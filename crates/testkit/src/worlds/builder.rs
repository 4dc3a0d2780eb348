//! Writing a log: batches of rows one after the other, each some time after the one before.
//! Owns: places, times, batches, ids, chance. Must not: know what a record says.

use super::Scene;
use super::known::Known;
use crate::random::Random;
use countersign_govern::fold::read_model::Headers;
use countersign_govern::fold::row::Row;
use countersign_govern::kind;
use countersign_govern::world::{Draft, hash};
use countersign_record::json::{self, Json, Object};
use countersign_record::time::{Instant, Timestamp};
use serde::Serialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// A row, and the stream of the ledger that it stands in.
#[derive(Clone, Debug)]
pub struct Written {
    /// That of its run, or `shared` for what all runs of a matter go by.
    pub stream: String,
    /// The row.
    pub draft: Draft,
    /// The number of its batch: rows of one batch are appended together or not at all.
    pub batch: u64,
}

/// The batches of a log, in order.
pub fn batches(rows: &[Written]) -> impl Iterator<Item = &[Written]> {
    rows.chunk_by(|one, other| one.batch == other.batch)
}

/// What is known of a run.
#[derive(Clone, Debug)]
pub struct Run {
    /// Its task.
    pub task_id: String,
    /// Itself.
    pub run_id: String,
    /// Its matter.
    pub matter_id: String,
    /// What it did outside, as the ledger of side effects has it.
    pub executed: Vec<Value>,
    /// What it has come to.
    pub known: Known,
}

impl Run {
    /// The run of a number. All are of one matter, as in a ledger.
    #[must_use]
    pub fn new(number: usize) -> Self {
        Run {
            task_id: format!("task-{number}"),
            run_id: format!("run-{number}"),
            matter_id: "matter".to_owned(),
            executed: Vec::new(),
            known: Known::default(),
        }
    }

    /// Another run of the same task, at its beginning.
    #[must_use]
    pub fn again(&self, b: &mut Builder) -> Self {
        let (task_id, matter_id) = (self.task_id.clone(), self.matter_id.clone());
        Run { task_id, run_id: b.id("rerun"), matter_id, executed: Vec::new(), known: Known::default() }
    }
}

/// Writes a log.
pub struct Builder {
    /// Chance.
    pub random: Random,
    rows: Vec<Written>,
    /// Rows that were handed out.
    taken: u64,
    /// The places of each stream's rows among those that were not.
    streams: BTreeMap<String, Vec<usize>>,
    /// What all runs go by, also where it was handed out.
    of_all: Vec<Written>,
    stream: String,
    seconds: i64,
    made: u64,
    batch: u64,
    /// How many callers write a batch around this place.
    around: u32,
    shared: BTreeSet<(String, String)>,
    done: BTreeSet<String>,
    /// Until when what is shown is valid.
    shown: Headers,
    /// Headers that were not told to be out of date, by id: their streams, and what they say.
    open: BTreeMap<String, (String, Object)>,
    /// Those of them that the batch may have put out of date: a long log has too many to ask for each.
    touched: BTreeSet<String>,
}

/// The type of the headers of what is shown.
const HEADER: &str = "DerivedReadModelRecord";

impl Builder {
    /// An empty log.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        let random = Random::new(seed);
        // 2026-03-02T08:00:00Z.
        Builder {
            random,
            rows: Vec::new(),
            taken: 0,
            streams: BTreeMap::new(),
            of_all: Vec::new(),
            stream: String::new(),
            seconds: 1_772_438_400,
            made: 0,
            batch: 0,
            around: 0,
            shared: BTreeSet::new(),
            done: BTreeSet::new(),
            shown: Headers::default(),
            open: BTreeMap::new(),
            touched: BTreeSet::new(),
        }
    }

    /// Lets something happen in a run.
    pub fn play(&mut self, run: &mut Run, scene: Scene) {
        self.stream.clone_from(&run.run_id);
        scene(self, run);
    }

    /// Lets something happen in another run while a scene is going on.
    pub fn beside(&mut self, other: &mut Run, happens: impl FnOnce(&mut Builder, &mut Run)) {
        let stream = std::mem::replace(&mut self.stream, other.run_id.clone());
        happens(self, other);
        self.stream = stream;
    }

    /// Writes a batch: what belongs together, as short as can be. Within one no time passes.
    pub fn together<R>(&mut self, write: impl FnOnce(&mut Builder) -> R) -> R {
        self.around += 1;
        let given = write(self);
        self.around -= 1;
        if self.around == 0 {
            self.end_batch();
        }
        given
    }

    /// What comes next is another batch. Half a minute passes.
    fn end_batch(&mut self) {
        self.close_read_models();
        self.batch += 1;
        self.later(30);
    }

    /// What is shown and went out of date by a batch is told in the same batch.
    fn close_read_models(&mut self) {
        let mut ended = std::mem::take(&mut self.touched);
        ended.retain(|id| self.shown.ended(id).is_some());
        for id in ended {
            let Some((stream, mut members)) = self.open.remove(&id) else { continue };
            let (until, by) = self.shown.ended(&id).expect("one that ended");
            members.insert("valid_until_event_seq", json::value_of(&until).expect("a number"));
            members.insert("invalidated_by_event_ref", by);
            self.push(stream, HEADER, None, members.into());
        }
    }

    /// Appends a record of the run; gives its place. It is a batch of its own, unless it is written together with others.
    pub fn add(&mut self, kind: &str, record: impl Serialize) -> u64 {
        let stream = self.stream.clone();
        self.append(stream, kind, None, record)
    }

    /// As `add`, for a type without a field that names it.
    pub fn add_named(&mut self, kind: &str, id: &str, record: impl Serialize) -> u64 {
        let stream = self.stream.clone();
        self.append(stream, kind, Some(id.to_owned()), record)
    }

    /// Appends what all runs go by: a policy, a row of a registry.
    pub fn share(&mut self, kind: &str, record: impl Serialize) -> u64 {
        self.append("shared".to_owned(), kind, None, record)
    }

    /// As `share`, unless the same type and id is shared already.
    pub fn share_once(&mut self, kind: &str, id: &str, record: impl Serialize) {
        if self.shared.insert((kind.to_owned(), id.to_owned())) {
            self.append("shared".to_owned(), kind, Some(id.to_owned()), record);
        }
    }

    /// As `share`, for a type without a field that names it.
    pub fn share_named(&mut self, kind: &str, id: &str, record: impl Serialize) -> u64 {
        self.append("shared".to_owned(), kind, Some(id.to_owned()), record)
    }

    fn append(&mut self, stream: String, kind: &str, id: Option<String>, record: impl Serialize) -> u64 {
        let record = json::value_of(&record).expect("a record");
        let named = kind::find(kind).and_then(|kind| kind.id).and_then(|field| record.get(field)?.as_str());
        if let Some(named) = named.filter(|_| stream == "shared") {
            self.shared.insert((kind.to_owned(), named.to_owned()));
        }
        let place = self.push(stream, kind, id, record);
        if self.around == 0 {
            self.end_batch();
        }
        place
    }

    fn push(&mut self, stream: String, kind: &str, id: Option<String>, record: Json) -> u64 {
        let draft = Draft { kind: kind.to_owned(), id, at: Some(self.instant()), record };
        let place = self.rows.len();
        let seq = self.end() + 1;
        let id = draft.name(seq);
        let row = Row { seq, kind, id: &id, at: draft.at, json: &draft.record, streams: None };
        self.touched.extend(self.shown.follow(&row));
        if kind == HEADER
            && let Some(members) = draft.record.as_object()
            && members.get("valid_until_event_seq").is_none()
        {
            self.touched.insert(id.clone());
            self.open.insert(id, (stream.clone(), members.clone()));
        }
        match self.streams.get_mut(&stream) {
            Some(places) => places.push(place),
            None => drop(self.streams.insert(stream.clone(), vec![place])),
        }
        let written = Written { stream, draft, batch: self.batch };
        if written.stream == "shared" {
            self.of_all.push(written.clone());
        }
        self.rows.push(written);
        seq
    }

    /// Whether this is asked for the first time in this log.
    pub fn is_first(&mut self, what: &str) -> bool {
        self.done.insert(what.to_owned())
    }

    /// The rows of the run so far, each with its place.
    pub fn own(&self) -> impl DoubleEndedIterator<Item = (u64, &Written)> {
        let places = self.streams.get(&self.stream).map(Vec::as_slice).unwrap_or_default();
        places.iter().map(|at| (self.taken + *at as u64 + 1, &self.rows[*at]))
    }

    /// What all runs go by so far.
    pub fn of_all(&self) -> impl Iterator<Item = &Written> {
        self.of_all.iter()
    }

    /// An id that nothing else has.
    pub fn id(&mut self, what: &str) -> String {
        self.made += 1;
        format!("{what}-{}", self.made)
    }

    /// The place of the last row.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.taken + self.rows.len() as u64
    }

    /// The time of the next row.
    #[must_use]
    pub fn now(&self) -> String {
        self.time(0)
    }

    /// The time so many seconds after the next row, or before it.
    #[must_use]
    pub fn time(&self, seconds: i64) -> String {
        let instant = Instant { seconds: self.seconds + seconds, nanos: 0 };
        Timestamp::try_from(instant).expect("a time").to_string()
    }

    /// Lets time pass.
    pub fn later(&mut self, seconds: i64) {
        self.seconds += seconds;
    }

    /// A hash that nothing else has.
    pub fn some_hash(&mut self) -> String {
        hash_of(&self.random.bits().to_string())
    }

    /// The rows.
    #[must_use]
    pub fn rows(mut self) -> Vec<Written> {
        self.take()
    }

    /// The rows since this was last asked. Runs that go on forget them, so it is asked where none does.
    pub fn take(&mut self) -> Vec<Written> {
        self.taken = self.end();
        self.streams.clear();
        std::mem::take(&mut self.rows)
    }

    fn instant(&self) -> Instant {
        Instant { seconds: self.seconds, nanos: 0 }
    }
}

/// SHA-256 of a value in canonical JSON.
#[must_use]
pub fn hash_of(value: &(impl Serialize + ?Sized)) -> String {
    let value: Json = json::value_of(value).expect("a value");
    String::from(hash(&value).expect("a value that can be hashed"))
}
