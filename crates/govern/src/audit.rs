//! Checking a log of any length part by part, with the memory of a part.
//! Owns: which rows are looked at together. Must not: read a log, or judge; the rules do.
//!
//! A part is what belongs together: the rows of one run. Rows that all runs go by are shared and stand in every part. Each row is
//! looked at once, in a batch of some parts. Parts that name each other in different batches are found by eight bytes for each name, and
//! looked at once more, together; what they had alone does not count. What is wrong with a shared row in some batches and not in others
//! is decided with all parts that name it.

mod names;

use crate::check::{Diagnostic, check};
use crate::world::{Draft, World};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use countersign_record::time::Instant;
use names::{Name, own, within};

/// Rows that are looked at together at least, if there are so many.
const BATCH: usize = 8_192;

/// A row and its place in the log.
pub type Placed = (u64, Draft);

/// Which part, by the order in which they came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Part(u32);

/// An audit that goes on.
pub struct Audit {
    now: Option<Instant>,
    shared: Vec<Placed>,
    /// The names of shared records, with their places.
    shared_names: BTreeMap<Name, u64>,
    batch: Vec<Placed>,
    batch_parts: Vec<(u64, Part)>,
    parts: u32,
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

/// Which part each belongs to, where some belong together.
#[derive(Default)]
struct Links(BTreeMap<Part, Part>);

impl Links {
    fn root(&self, mut part: Part) -> Part {
        while let Some(next) = self.0.get(&part) {
            part = *next;
        }
        part
    }

    fn join(&mut self, one: Part, other: Part) {
        let (one, other) = (self.root(one), self.root(other));
        if one != other {
            self.0.insert(one.max(other), one.min(other));
        }
    }
}

impl Audit {
    /// An audit of a log with these shared rows, up to a time.
    #[must_use]
    pub fn new(shared: Vec<Placed>, now: Option<Instant>) -> Self {
        let mut shared_names = BTreeMap::new();
        for (seq, draft) in &shared {
            let mut names = Vec::new();
            own(draft, &mut names);
            shared_names.extend(names.into_iter().map(|name| (name, *seq)));
        }
        Audit {
            now,
            shared,
            shared_names,
            batch: Vec::new(),
            batch_parts: Vec::new(),
            parts: 0,
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

    /// All rows of the next part, in order.
    pub fn part(&mut self, rows: Vec<Placed>) -> Part {
        let part = Part(self.parts);
        self.parts += 1;
        self.name(part, &rows);
        self.batch_parts.extend(rows.iter().map(|(seq, _)| (*seq, part)));
        self.batch.extend(rows);
        if self.batch.len() >= BATCH {
            self.flush();
        }
        part
    }

    /// Remembers what a part has and what it names that it has not.
    fn name(&mut self, part: Part, rows: &[Placed]) {
        let (mut owned, mut wanted) = (Vec::new(), Vec::new());
        for (_, draft) in rows {
            own(draft, &mut owned);
            within(&draft.record, &mut wanted);
        }
        owned.sort_unstable();
        owned.dedup();
        wanted.sort_unstable();
        wanted.dedup();
        wanted.retain(|name| owned.binary_search(name).is_err());
        let used = wanted.iter().filter_map(|name| self.shared_names.get(name));
        self.used.extend(used.map(|seq| (*seq, part)));
        wanted.retain(|name| !self.shared_names.contains_key(name));
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

    /// All parts are in: the groups of parts that must be looked at together, because one names what another has.
    pub fn groups(&mut self) -> Vec<Vec<Part>> {
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
        for (name, part) in core::mem::take(&mut self.wanted) {
            let at = owned.partition_point(|(own, _)| *own < name);
            if let Some((_, other)) = owned.get(at).filter(|(own, _)| *own == name) {
                self.links.join(part, *other);
            }
        }
        self.dispute();
        let mut groups: BTreeMap<Part, Vec<Part>> = BTreeMap::new();
        for part in (0..self.parts).map(Part) {
            groups.entry(self.links.root(part)).or_default().push(part);
        }
        let is_asked = |part: &Part| self.disputed.values().any(|parts| parts.contains(part));
        groups.into_values().filter(|group| group.len() > 1 || group.iter().any(is_asked)).collect()
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

    /// The rows of all parts of a group, in the order of the log.
    pub fn group(&mut self, parts: &[Part], rows: Vec<Placed>) {
        let places: BTreeSet<u64> = rows.iter().map(|(seq, _)| *seq).collect();
        let Some((first, rest)) = parts.split_first() else { return };
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
    pub fn finish(mut self) -> Vec<Diagnostic> {
        self.flush();
        let shared = self.of_shared.into_keys().filter(|one| !self.disputed.contains_key(&one.row));
        let mut all: Vec<Diagnostic> =
            self.found.into_values().flatten().chain(shared).chain(self.decided).collect();
        all.sort();
        all.dedup_by(|one, other| (one.row, one.code, &one.path) == (other.row, other.code, &other.path));
        all
    }
}
