//! Everything that is known: the rows of a log or a bundle, found by kind and by reference.
//! Owns: rows, their order, the indexes, what was asked of them. Must not: judge, or change a row.

mod index;
mod look;
mod mark;
mod place;
mod policy;
mod row;

use crate::kind::Number;
use crate::reference::{Reference, bare};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::Deref;
use countersign_record::canonical;
use countersign_record::digest::Digest;
use countersign_record::json::Json;
use countersign_record::time::Instant;
use index::Index;
use look::{Look, Looking};
use row::{Row, Type};

pub use look::Looked;
pub use mark::{Mark, Marks, is_reference};
pub use place::Streams;
pub(crate) use policy::{Said, Settings, in_force};
pub use row::{Draft, Held, Placed};

/// What a check looks at.
#[derive(Debug)]
pub struct World {
    rows: Vec<Held>,
    index: Index,
    begin: Option<Instant>,
    now: Option<Instant>,
    /// Where the log ends, if this is a part of one.
    end: Option<u64>,
    /// Rows from this one on ask to be let in.
    asking: Option<usize>,
    looking: Looking,
    streams: Arc<Streams>,
}

impl World {
    /// The rows in their order, the first one has the place 1. `now` is the time up to which is looked; without it the latest
    /// time of a row.
    #[must_use]
    pub fn new(drafts: Vec<Draft>, now: Option<Instant>) -> Self {
        World::placed((1..).zip(drafts), now)
    }

    /// Rows with their places in a log, in order.
    #[must_use]
    pub fn placed(drafts: impl Iterator<Item = (u64, Draft)>, now: Option<Instant>) -> Self {
        let mut world = World::of_rows(Vec::with_capacity(drafts.size_hint().0), now);
        world.append(drafts);
        world.now = now.or_else(|| world.rows.iter().filter_map(|row| row.at).max());
        world
    }

    /// A part of a log that ends at a place: rows in their order.
    #[must_use]
    pub fn part(rows: Vec<Held>, now: Option<Instant>, end: u64) -> Self {
        World { end: Some(end), ..World::of_rows(rows, now) }
    }

    fn of_rows(rows: Vec<Held>, now: Option<Instant>) -> Self {
        let mut index = Index::default();
        index.add(&rows, 0);
        World {
            rows,
            index,
            begin: None,
            now,
            end: None,
            asking: None,
            looking: Looking::default(),
            streams: Arc::default(),
        }
    }

    /// The same as a part of a log whose first row was written at a time.
    #[must_use]
    pub fn since(self, begin: Option<Instant>) -> Self {
        World { begin, ..self }
    }

    /// The same, where some rows stand in streams that count for themselves.
    #[must_use]
    pub fn within(self, streams: Arc<Streams>) -> Self {
        World { streams, ..self }
    }

    /// The streams that count for themselves.
    pub(crate) fn streams(&self) -> &Streams {
        &self.streams
    }

    /// Adds rows behind the others; what they touch.
    pub(crate) fn append(&mut self, drafts: impl Iterator<Item = (u64, Draft)>) -> Looked {
        let from = self.rows.len();
        for (seq, draft) in drafts {
            let before = self.rows.last().and_then(|row| row.at);
            self.rows.push(Held::new(seq, draft, before));
        }
        self.index.add(&self.rows, from)
    }

    /// Takes out the last rows: so many stay.
    pub(crate) fn cut(&mut self, rows: usize) {
        self.rows.truncate(rows);
        self.index.cut(rows);
    }

    /// How many rows there are.
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Looks up to another time.
    pub(crate) fn set_now(&mut self, now: Option<Instant>) {
        self.now = now;
    }

    /// Rows from this one on ask to be let in; with `None` all are in.
    pub(crate) fn set_asking(&mut self, from: Option<usize>) {
        self.asking = from;
    }

    /// What was looked at since this was asked last.
    pub(crate) fn looked(&self) -> Looked {
        self.looking.take()
    }

    /// The same, with its last row as one that asks to be let in: what an engine must refuse is told, also where a log that tells
    /// of the refusal is right.
    #[must_use]
    pub fn at_admission(self) -> Self {
        World { asking: Some(self.rows.len().saturating_sub(1)), ..self }
    }

    /// The rows that ask to be let in.
    pub fn candidates(&self) -> impl DoubleEndedIterator<Item = Record<'_>> {
        self.looking.at(Look::Asking);
        let asking = self.asking.and_then(|from| self.rows.get(from..)).unwrap_or_default();
        asking.iter().map(|row| Record { row, world: self })
    }

    /// All rows, in order.
    pub fn all(&self) -> impl DoubleEndedIterator<Item = Record<'_>> {
        self.looking.at(Look::Rows);
        self.rows.iter().map(|row| Record { row, world: self })
    }

    /// The rows of a type, in order; the type by its name.
    pub fn of<'w>(&'w self, kind: &str) -> impl DoubleEndedIterator<Item = Record<'w>> + use<'w> {
        let number = Number::of(kind);
        self.ask(number);
        let rows = match number {
            Some(known) => self.index.of(known),
            None => self.index.of_strange(kind),
        };
        self.picked(rows)
    }

    /// The rows of some types, in order.
    #[must_use]
    pub fn of_any(&self, kinds: &[&str]) -> Vec<Record<'_>> {
        let mut rows: Vec<Record<'_>> = kinds.iter().flat_map(|kind| self.of(kind)).collect();
        rows.sort_unstable_by_key(|row| row.seq());
        rows
    }

    /// The rows that have a member of a mark somewhere, in order.
    pub fn marked(&self, mark: Mark) -> impl DoubleEndedIterator<Item = Record<'_>> {
        self.looking.at(Look::Mark(mark));
        self.picked(self.index.marked(mark))
    }

    /// The rows of types that nobody knows, by type.
    pub fn strange(&self) -> impl Iterator<Item = Record<'_>> {
        self.looking.at(Look::Unknown);
        self.index.strange().flat_map(|rows| self.picked(rows))
    }

    /// The versions of a record, in order; the type by its name.
    pub fn versions<'w>(
        &'w self,
        kind: &str,
        id: &str,
    ) -> impl DoubleEndedIterator<Item = Record<'w>> + use<'w> {
        self.picked(self.named(kind, id))
    }

    /// The places of the versions of a record, by its id or by a reference to it.
    fn named(&self, kind: &str, id: &str) -> &[u32] {
        let id = bare(id);
        let number = Number::of(kind);
        self.ask(number);
        match number {
            Some(known) => self.index.named(&self.rows, known, id),
            None => self.index.named_strange(&self.rows, kind, id),
        }
    }

    /// The versions of each record of a type that has more than one, the first one first.
    pub fn rewritten<'w>(&'w self, kind: &str) -> impl Iterator<Item = Vec<Record<'w>>> + use<'w> {
        let mut rows: Vec<Record<'w>> = self.of(kind).collect();
        rows.sort_by_key(|row| (row.row.key, row.id()));
        let mut left = rows.into_iter().peekable();
        core::iter::from_fn(move || {
            loop {
                let first = left.next()?;
                let mut versions = Vec::new();
                while let Some(next) = left.next_if(|next| next.id() == first.id()) {
                    versions.push(next);
                }
                if !versions.is_empty() {
                    versions.insert(0, first);
                    return Some(versions);
                }
            }
        })
    }

    /// The last version of a record; the type by its name.
    #[must_use]
    pub fn find(&self, kind: &str, id: &str) -> Option<Record<'_>> {
        self.versions(kind, id).next_back()
    }

    /// The record that a reference names: its last version, or that of the number or hash it gives.
    #[must_use]
    pub fn resolve(&self, reference: Reference<'_>) -> Option<Record<'_>> {
        let (_, versions) = self.referred(reference);
        self.pinned(reference, versions)
            .unwrap_or_else(|| versions.last().copied())
            .and_then(|at| self.at(at))
    }

    /// The type that a reference names, and the places of the versions of the record.
    fn referred(&self, reference: Reference<'_>) -> (Option<Number>, &[u32]) {
        let number = Number::of_snake(reference.kind);
        self.ask(number);
        let versions = match number {
            Some(known) => self.index.named(&self.rows, known, reference.id),
            None => self.index.named_strange_snake(&self.rows, reference.kind, reference.id),
        };
        (number, versions)
    }

    /// The version that a reference gives the number or hash of, if it gives one.
    fn pinned(&self, reference: Reference<'_>, versions: &[u32]) -> Option<Option<u32>> {
        if let Some(hash) = reference.hash {
            let wanted = Digest::try_from(hash).ok();
            return Some(wanted.and_then(|wanted| self.index.hashed(&self.rows, versions, wanted)));
        }
        let version = usize::try_from(reference.version?).ok()?;
        Some(version.checked_sub(1).and_then(|at| versions.get(at)).copied())
    }

    fn at(&self, at: u32) -> Option<Record<'_>> {
        self.rows.get(at as usize).map(|row| Record { row, world: self })
    }

    /// The record that a text names, if it is a reference.
    #[must_use]
    pub fn resolve_text(&self, text: &str) -> Option<Record<'_>> {
        Reference::read(text).and_then(|reference| self.resolve(reference))
    }

    /// The time up to which is looked.
    #[must_use]
    pub fn now(&self) -> Option<Instant> {
        self.looking.at(Look::Now);
        self.now
    }

    /// When the first row of the log was written, also of one that is not in this part of it.
    #[must_use]
    pub fn begin(&self) -> Option<Instant> {
        self.looking.at(Look::Ends);
        self.begin.or_else(|| self.rows.iter().find_map(|row| row.at))
    }

    /// The place of the last row of the log, also of one that is not in this part of it.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.looking.at(Look::Ends);
        self.end.or(self.rows.last().map(|row| row.seq)).unwrap_or(0)
    }

    fn ask(&self, number: Option<Number>) {
        self.looking.at(Look::kind(number));
    }

    fn picked<'w>(&'w self, at: &'w [u32]) -> impl DoubleEndedIterator<Item = Record<'w>> + use<'w> {
        at.iter().filter_map(|at| self.at(*at))
    }
}

/// A row of a world: its members are those of its record.
#[derive(Clone, Copy)]
pub struct Record<'w> {
    row: &'w Row,
    /// Where it stands.
    pub world: &'w World,
}

impl<'w> Record<'w> {
    /// Whether it asks to be let in.
    #[must_use]
    pub fn is_asking(self) -> bool {
        let first = self.world.candidates().next();
        first.is_some_and(|first| first.row.seq <= self.row.seq)
    }

    /// Its place, from 1.
    #[must_use]
    pub fn seq(self) -> u64 {
        self.row.seq
    }

    /// The name of its type.
    #[must_use]
    pub fn kind(self) -> &'w str {
        match &self.row.kind {
            Type::Known(known) => known.kind.name,
            Type::Strange { name, .. } => name,
        }
    }

    /// The name of its type in snake case, as references write it.
    #[must_use]
    pub fn snake(self) -> &'w str {
        match &self.row.kind {
            Type::Known(known) => known.snake,
            Type::Strange { snake, .. } => snake,
        }
    }

    /// Whether it has a member of a mark somewhere.
    #[must_use]
    pub fn has(self, mark: Mark) -> bool {
        self.row.marks.has(mark)
    }

    /// What it is called.
    #[must_use]
    pub fn id(self) -> &'w str {
        &self.row.id
    }

    /// When it was written.
    #[must_use]
    pub fn written_at(self) -> Option<Instant> {
        self.row.at
    }

    /// What it says.
    #[must_use]
    pub fn json(self) -> &'w Json {
        &self.row.record
    }

    /// SHA-256 of what it says, in canonical JSON.
    #[must_use]
    pub fn hash(self) -> Option<Digest> {
        self.row.hash()
    }

    /// Whether a reference names it, whatever version.
    #[must_use]
    pub fn is_named_by(self, reference: Reference<'_>) -> bool {
        reference.id == self.id() && reference.kind == self.snake()
    }

    /// The record that a member refers to; a policy as it stood before this row.
    #[must_use]
    pub fn follow(self, path: &str) -> Option<Record<'w>> {
        use crate::member::Member;
        self.json().reference(path).and_then(|reference| self.world.resolve_at(reference, self.seq()))
    }
}

impl Deref for Record<'_> {
    type Target = Json;

    fn deref(&self) -> &Json {
        &self.row.record
    }
}

/// SHA-256 of a value in canonical JSON.
#[must_use]
pub fn hash(value: &Json) -> Option<Digest> {
    canonical::hash(value).ok()
}

#[cfg(test)]
#[path = "world_tests.rs"]
mod tests;
