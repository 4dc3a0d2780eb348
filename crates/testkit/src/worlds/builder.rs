//! Writing a log: rows one after the other, each some time after the one before.
//! Owns: places, times, ids, chance. Must not: know what a record says.

use super::Scene;
use super::known::Known;
use crate::random::Random;
use countersign_govern::kind;
use countersign_govern::world::{Draft, hash};
use countersign_record::json::{self, Json};
use countersign_record::time::{Instant, Timestamp};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeSet;

/// A row, and the stream of the ledger that it stands in.
#[derive(Clone, Debug)]
pub struct Written {
    /// That of its run, or `shared` for what all runs of a matter go by.
    pub stream: String,
    /// The row.
    pub draft: Draft,
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
}

/// Writes a log.
pub struct Builder {
    /// Chance.
    pub random: Random,
    rows: Vec<Written>,
    stream: String,
    seconds: i64,
    made: u64,
    shared: BTreeSet<(String, String)>,
    done: BTreeSet<String>,
}

impl Builder {
    /// An empty log.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        let random = Random::new(seed);
        // 2026-03-02T08:00:00Z.
        Builder {
            random,
            rows: Vec::new(),
            stream: String::new(),
            seconds: 1_772_438_400,
            made: 0,
            shared: BTreeSet::new(),
            done: BTreeSet::new(),
        }
    }

    /// Lets something happen in a run.
    pub fn play(&mut self, run: &mut Run, scene: Scene) {
        self.stream.clone_from(&run.run_id);
        scene(self, run);
    }

    /// Appends a record of the run; gives its place. Half a minute passes.
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
        let at = Some(self.instant());
        self.rows.push(Written { stream, draft: Draft { kind: kind.to_owned(), id, at, record } });
        self.later(30);
        self.rows.len() as u64
    }

    /// Whether this is asked for the first time in this log.
    pub fn is_first(&mut self, what: &str) -> bool {
        self.done.insert(what.to_owned())
    }

    /// The rows so far.
    #[must_use]
    pub fn so_far(&self) -> &[Written] {
        &self.rows
    }

    /// An id that nothing else has.
    pub fn id(&mut self, what: &str) -> String {
        self.made += 1;
        format!("{what}-{}", self.made)
    }

    /// The place of the last row.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.rows.len() as u64
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
    pub fn rows(self) -> Vec<Written> {
        self.rows
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
