//! Checking a log of any length part by part, with the memory of a part.
//! Owns: which rows are looked at together. Must not: read a log, or judge; the rules do.
//!
//! A part is what belongs together: the rows of one stream, which is a run. Rows that all runs go by are shared and stand in every part. Each row is
//! looked at once, in a batch of some parts. Parts that name each other in different batches are found by eight bytes for each name, and
//! looked at once more, together; what they had alone does not count. What is wrong with a shared row in some batches and not in others
//! is decided with all parts that name it.

mod links;
mod names;

use crate::check::{Diagnostic, check};
use crate::kind::{Class, Kind, Number};
use crate::world::{Draft, World};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use countersign_record::time::Instant;
use links::Links;
use names::{Name, Names};

/// Rows that are looked at together at least, if there are so many.
pub const BATCH: usize = 8_192;
/// A stream is a part when so many rows of others came after its last one.
const QUIET: u64 = 16_384;
/// Rows that wait for more of their stream, at most.
const WAITING_MAX: usize = 65_536;

/// A row and its place in the log.
pub type Placed = (u64, Draft);

/// Which part, by the order in which they came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Part(u32);

/// Streams that are looked at together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Their names.
    pub streams: BTreeSet<String>,
    parts: Vec<Part>,
}

/// An audit that goes on.
pub struct Audit {
    now: Option<Instant>,
    batch_rows: usize,
    shared: Vec<Placed>,
    /// The names of shared records, with their places.
    shared_names: BTreeMap<Name, u64>,
    /// What shared records name, with their places.
    shared_wants: Vec<(Name, u64)>,
    /// Streams that may go on, by name: their rows.
    waiting: BTreeMap<String, Vec<Placed>>,
    waiting_rows: usize,
    looked: u64,
    batch: Vec<Placed>,
    batch_parts: Vec<(u64, Part)>,
    /// The stream of each part.
    parts: Vec<String>,
    /// Names of records, and of runs, tasks and artifacts, with the part that has them.
    owned: Vec<(Name, Part)>,
    /// Names of records that the part itself does not have.
    wanted: Vec<(Name, Part)>,
    /// Shared rows by place, with a part that names them.
    used: Vec<(u64, Part)>,
    found: BTreeMap<Part, Vec<Diagnostic>>,
    /// What is wrong with shared rows, and in how many batches.
    of_shared: BTreeMap<Diagnostic, u32>,
    batches: u32,
    /// Shared rows on which batches do not agree, with the parts that name them; and what is wrong with those.
    disputed: BTreeMap<u64, BTreeSet<Part>>,
    decided: Vec<Diagnostic>,
    links: Links,
}

impl Audit {
    /// An audit of a log with these shared rows, up to a time, that looks at so many rows together.
    #[must_use]
    pub fn new(shared: Vec<Placed>, now: Option<Instant>, batch_rows: usize) -> Self {
        let (mut shared_names, mut shared_wants) = (BTreeMap::new(), Vec::new());
        for (seq, draft) in &shared {
            let mut names = Names::default();
            names.add(*seq, draft);
            shared_names.extend(names.owned.into_iter().map(|name| (name, *seq)));
            shared_wants.extend(names.wanted.into_iter().chain(names.shared).map(|name| (name, *seq)));
        }
        Audit {
            now,
            batch_rows,
            shared,
            shared_names,
            shared_wants,
            waiting: BTreeMap::new(),
            waiting_rows: 0,
            looked: 0,
            batch: Vec::new(),
            batch_parts: Vec::new(),
            parts: Vec::new(),
            owned: Vec::new(),
            wanted: Vec::new(),
            used: Vec::new(),
            found: BTreeMap::new(),
            of_shared: BTreeMap::new(),
            batches: 0,
            disputed: BTreeMap::new(),
            decided: Vec::new(),
            links: Links::default(),
        }
    }

    /// The next row of the log that is not shared.
    pub fn row(&mut self, stream: &str, seq: u64, draft: Draft) {
        match self.waiting.get_mut(stream) {
            Some(rows) => rows.push((seq, draft)),
            None => drop(self.waiting.insert(stream.to_string(), vec![(seq, draft)])),
        }
        self.waiting_rows += 1;
        if seq.saturating_sub(self.looked) >= QUIET / 4 || self.waiting_rows > WAITING_MAX {
            self.looked = seq;
            self.let_go(seq);
        }
    }

    /// Takes the streams that are quiet as parts; all of them where too many rows wait.
    fn let_go(&mut self, seq: u64) {
        let is_full = self.waiting_rows > WAITING_MAX;
        let is_quiet =
            |rows: &Vec<Placed>| rows.last().is_none_or(|(last, _)| seq.saturating_sub(*last) >= QUIET);
        let (quiet, waiting): (BTreeMap<_, _>, BTreeMap<_, _>) =
            core::mem::take(&mut self.waiting).into_iter().partition(|(_, rows)| is_full || is_quiet(rows));
        self.waiting = waiting;
        for (stream, rows) in quiet {
            self.waiting_rows -= rows.len();
            self.part(stream, rows);
        }
    }

    fn part(&mut self, stream: String, rows: Vec<Placed>) {
        let part = Part(u32::try_from(self.parts.len()).unwrap_or(u32::MAX));
        self.name(part, &stream, &rows);
        self.parts.push(stream);
        self.batch_parts.extend(rows.iter().map(|(seq, _)| (*seq, part)));
        self.batch.extend(rows);
        if self.batch.len() >= self.batch_rows {
            self.flush();
        }
    }

    /// Remembers what a part has and what it names that it has not.
    fn name(&mut self, part: Part, stream: &str, rows: &[Placed]) {
        let mut names = Names::default();
        rows.iter().for_each(|(seq, draft)| names.add(*seq, draft));
        names.sort();
        let Names { mut owned, mut shared, mut wanted } = names;
        wanted.retain(|name| owned.binary_search(name).is_err());
        let used = wanted.iter().chain(&shared).filter_map(|name| self.shared_names.get(name));
        self.used.extend(used.map(|seq| (*seq, part)));
        wanted.retain(|name| !self.shared_names.contains_key(name));
        // What two parts mention alike joins them as if both had it.
        owned.append(&mut shared);
        owned.push(Name::of_stream(stream));
        self.owned.extend(owned.into_iter().map(|name| (name, part)));
        self.wanted.extend(wanted.into_iter().map(|name| (name, part)));
    }

    fn flush(&mut self) {
        let rows = core::mem::take(&mut self.batch);
        if rows.is_empty() && self.batches > 0 {
            return;
        }
        let parts: BTreeMap<u64, Part> = core::mem::take(&mut self.batch_parts).into_iter().collect();
        self.batches += 1;
        for one in self.check(rows) {
            match parts.get(&one.row) {
                Some(part) => self.found.entry(*part).or_default().push(one),
                None => *self.of_shared.entry(one).or_default() += 1,
            }
        }
    }

    fn check(&self, rows: Vec<Placed>) -> Vec<Diagnostic> {
        let mut rows: Vec<Placed> = self.shared.iter().cloned().chain(rows).collect();
        rows.sort_by_key(|(seq, _)| *seq);
        check(&World::placed(rows.into_iter(), self.now))
    }

    /// All rows are in: the groups of streams that must be looked at together, because one names what another has.
    pub fn groups(&mut self) -> Vec<Group> {
        for (stream, rows) in core::mem::take(&mut self.waiting) {
            self.part(stream, rows);
        }
        self.flush();
        let mut owned = core::mem::take(&mut self.owned);
        owned.sort_unstable();
        for pair in owned.windows(2) {
            if let [(name, one), (same, other)] = pair
                && name == same
            {
                self.links.join(*one, *other);
            }
        }
        let owner = |name: Name| {
            let at = owned.partition_point(|(own, _)| *own < name);
            owned.get(at).filter(|(own, _)| *own == name).map(|(_, part)| *part)
        };
        for (name, part) in core::mem::take(&mut self.wanted) {
            if let Some(other) = owner(name) {
                self.links.join(part, other);
            }
        }
        // Who goes by a shared record goes by what that one names.
        let mut behind: BTreeMap<u64, Part> = BTreeMap::new();
        for (name, seq) in core::mem::take(&mut self.shared_wants) {
            if let Some(part) = owner(name) {
                let first = *behind.entry(seq).or_insert(part);
                self.links.join(first, part);
            }
        }
        for (seq, part) in &self.used {
            if let Some(other) = behind.get(seq) {
                self.links.join(*part, *other);
            }
        }
        self.dispute();
        let mut groups: BTreeMap<Part, Vec<Part>> = BTreeMap::new();
        for part in (0..self.parts.len()).filter_map(|at| u32::try_from(at).ok()).map(Part) {
            let root = self.links.root(part);
            groups.entry(root).or_default().push(part);
        }
        let asked: BTreeSet<&Part> = self.disputed.values().flatten().collect();
        let groups = groups.into_values();
        let groups = groups.filter(|group| group.len() > 1 || group.iter().any(|part| asked.contains(part)));
        let stream = |part: &Part| self.parts.get(part.0 as usize).cloned();
        let named = |parts: Vec<Part>| Group { streams: parts.iter().filter_map(stream).collect(), parts };
        groups.map(named).collect()
    }

    /// Shared rows on which batches do not agree: the parts that name one must be looked at together.
    fn dispute(&mut self) {
        let disputed = self.of_shared.iter().filter(|(_, times)| **times < self.batches);
        let disputed: BTreeSet<u64> = disputed.map(|(one, _)| one.row).collect();
        for (seq, part) in core::mem::take(&mut self.used) {
            if disputed.contains(&seq) {
                self.disputed.entry(seq).or_default().insert(part);
            }
        }
        for parts in self.disputed.values() {
            let mut parts = parts.iter();
            let Some(first) = parts.next() else { continue };
            parts.for_each(|other| self.links.join(*first, *other));
        }
    }

    /// The rows of all streams of a group, in the order of the log, shared ones left out.
    pub fn group(&mut self, group: &Group, rows: Vec<Placed>) {
        let places: BTreeSet<u64> = rows.iter().map(|(seq, _)| *seq).collect();
        let Some((first, rest)) = group.parts.split_first() else { return };
        rest.iter().for_each(|part| drop(self.found.remove(part)));
        let found = self.check(rows);
        let is_decided = |row: &u64| {
            self.disputed
                .get(row)
                .is_some_and(|named| named.contains(first) || rest.iter().any(|part| named.contains(part)))
        };
        self.decided.extend(found.iter().filter(|one| is_decided(&one.row)).cloned());
        self.found.insert(*first, found.into_iter().filter(|one| places.contains(&one.row)).collect());
    }

    /// Everything that is wrong, sorted; each thing once.
    #[must_use]
    pub fn finish(self) -> Vec<Diagnostic> {
        let shared = self.of_shared.into_keys().filter(|one| !self.disputed.contains_key(&one.row));
        let mut all: Vec<Diagnostic> =
            self.found.into_values().flatten().chain(shared).chain(self.decided).collect();
        all.sort();
        all.dedup_by(|one, other| (one.row, one.code, &one.path) == (other.row, other.code, &other.path));
        all
    }
}

/// The type of a governed record that a row of a ledger holds: engines write `govern.KIND`, what comes from outside is
/// `external.govern.KIND`, the kind in snake case.
#[must_use]
pub fn kind_of(row_kind: &str) -> Option<&'static Kind> {
    let name = row_kind.strip_prefix("external.").unwrap_or(row_kind).strip_prefix("govern.")?;
    Number::of_snake(name).map(|number| number.kind)
}

/// Whether all runs go by a row: it is a policy or a row of a registry, it speaks of everything, or its stream is not that of a run.
#[must_use]
pub fn is_shared(stream: &str, kind: &Kind) -> bool {
    let is_policy = match kind.class {
        Class::Policy => true,
        Class::Event
        | Class::Receipt
        | Class::Request
        | Class::Projection
        | Class::ReadModel
        | Class::Value => false,
    };
    is_policy || OF_ALL.contains(&kind.name) || !stream.starts_with("run/")
}

/// Records that speak of all fixtures and all types there are.
const OF_ALL: [&str; 5] = [
    "AddendaBConformanceFixture",
    "BuildReadyClaim",
    "ConformanceFixtureRun",
    "PatchDecision",
    "TypeDeclaration",
];
