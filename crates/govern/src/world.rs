//! Everything that is known: the rows of a log or a bundle, found by kind and by reference.
//! Owns: rows, their order, the indexes. Must not: judge, or change a row.

mod mark;

use crate::kind::{self, Number};
use crate::member::Member;
use crate::reference::{Reference, snake};
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Deref;
use countersign_record::canonical;
use countersign_record::digest::Digest;
use countersign_record::json::Json;
use countersign_record::time::Instant;
pub use mark::{Mark, Marks};
use once_cell::race::OnceBox;

/// A row, before it has a place.
#[derive(Clone, Debug, PartialEq)]
pub struct Draft {
    /// The name of its type.
    pub kind: String,
    /// What it is called, where its type has no field for that.
    pub id: Option<String>,
    /// When it was written.
    pub at: Option<Instant>,
    /// What it says.
    pub record: Json,
}

/// A row.
#[derive(Debug)]
struct Row {
    draft: Draft,
    seq: u64,
    /// When it was written: as the row says, else as the record does, else with the row before.
    at: Option<Instant>,
    id: String,
    /// The number of its type.
    number: usize,
    marks: Marks,
    /// The hash of what it says, once somebody asked.
    hash: OnceBox<Option<Digest>>,
}

/// What a check looks at.
#[derive(Debug)]
pub struct World {
    rows: Vec<Row>,
    /// The rows of each type, by its number: in order, and sorted by id.
    kinds: Vec<OfKind>,
    /// Types that nobody knows: their names, also in snake case. Their numbers follow on those of the known ones.
    unknown: Vec<(String, String)>,
    by_mark: [Vec<usize>; Mark::ALL.len()],
    now: Option<Instant>,
    is_admission: bool,
}

/// The rows of one type.
#[derive(Clone, Debug, Default)]
struct OfKind {
    in_order: Vec<usize>,
    /// Those of one id stand beside each other, in order.
    by_id: Vec<usize>,
}

/// Fields that say when a record was made, where its row does not.
const TIMES: [&str; 10] = [
    "created_at",
    "computed_at",
    "evaluated_at",
    "observed_at",
    "updated_at",
    "acquired_at",
    "decided_at",
    "issued_at",
    "executed_at",
    "projection_valid_at",
];

impl Draft {
    /// When it was written: as the row says, else as the record does, else with the row before.
    #[must_use]
    pub fn written_at(&self, before: Option<Instant>) -> Option<Instant> {
        let own = || TIMES.iter().find_map(|field| self.record.time(field));
        self.at.or_else(own).or(before)
    }

    /// What it is called at a place: as the row says, else by the field that its type has for that, else by the place.
    #[must_use]
    pub fn name(&self, seq: u64) -> String {
        let field = kind::find(&self.kind).and_then(|kind| kind.id);
        let named = field.and_then(|field| self.record.text(field));
        self.id.as_deref().or(named).map_or_else(|| seq.to_string(), String::from)
    }
}

impl World {
    /// The rows in their order, the first one has the place 1. `now` is the time up to which is looked; without it the latest
    /// time of a row.
    #[must_use]
    pub fn new(drafts: Vec<Draft>, now: Option<Instant>) -> Self {
        World::placed((1..).zip(drafts), now)
    }

    /// A part of a log: rows with their places in it, in order.
    #[must_use]
    pub fn placed(drafts: impl Iterator<Item = (u64, Draft)>, now: Option<Instant>) -> Self {
        let mut rows: Vec<Row> = Vec::with_capacity(drafts.size_hint().0);
        let mut unknown: BTreeMap<String, usize> = BTreeMap::new();
        for (seq, draft) in drafts {
            let (at, id) = (draft.written_at(rows.last().and_then(|row| row.at)), draft.name(seq));
            let known = Number::of(&draft.kind);
            let number = known.map_or_else(|| strange(&mut unknown, &draft.kind), |known| known.index);
            let marks = Marks::of(&draft.record);
            rows.push(Row { draft, seq, at, id, number, marks, hash: OnceBox::new() });
        }
        let now = now.or_else(|| rows.iter().filter_map(|row| row.at).max());
        let mut names: Vec<(String, usize)> = unknown.into_iter().collect();
        names.sort_by_key(|(_, number)| *number);
        let mut world = World {
            rows,
            kinds: vec![OfKind::default(); Number::count() + names.len()],
            unknown: names.into_iter().map(|(name, _)| (name.clone(), snake(&name))).collect(),
            by_mark: Default::default(),
            now,
            is_admission: false,
        };
        world.index();
        world
    }

    fn index(&mut self) {
        for (at, row) in self.rows.iter().enumerate() {
            if let Some(kind) = self.kinds.get_mut(row.number) {
                kind.in_order.push(at);
            }
            for (mark, rows) in Mark::ALL.iter().zip(&mut self.by_mark) {
                if row.marks.has(*mark) {
                    rows.push(at);
                }
            }
        }
        let rows = &self.rows;
        for kind in &mut self.kinds {
            kind.by_id.clone_from(&kind.in_order);
            kind.by_id.sort_by_key(|at| rows.get(*at).map(|row| row.id.as_str()));
        }
    }

    /// The same, with its last row as one that asks to be let in: what an engine must refuse is told, also where a log that tells
    /// of the refusal is right.
    #[must_use]
    pub fn at_admission(self) -> Self {
        World { is_admission: true, ..self }
    }

    /// The row that asks to be let in.
    #[must_use]
    pub fn candidate(&self) -> Option<Record<'_>> {
        self.rows.last().filter(|_| self.is_admission).map(|row| Record { row, world: self })
    }

    /// All rows, in order.
    pub fn all(&self) -> impl DoubleEndedIterator<Item = Record<'_>> {
        self.rows.iter().map(|row| Record { row, world: self })
    }

    /// The rows of a type, in order; the type by its name.
    pub fn of<'w>(&'w self, kind: &str) -> impl DoubleEndedIterator<Item = Record<'w>> + use<'w> {
        let rows = self.number(kind).and_then(|number| self.kinds.get(number));
        self.picked(rows.map(|rows| rows.in_order.as_slice()))
    }

    /// The rows that have a member of a mark somewhere, in order.
    pub fn marked(&self, mark: Mark) -> impl DoubleEndedIterator<Item = Record<'_>> {
        self.picked(self.by_mark.get(mark as usize).map(Vec::as_slice))
    }

    /// The versions of a record, in order; the type by its name.
    pub fn versions<'w>(
        &'w self,
        kind: &str,
        id: &str,
    ) -> impl DoubleEndedIterator<Item = Record<'w>> + use<'w> {
        self.picked(self.named(self.number(kind), id))
    }

    /// The versions of each record of a type that has more than one, the first one first.
    pub fn rewritten<'w>(&'w self, kind: &str) -> impl Iterator<Item = Vec<Record<'w>>> + use<'w> {
        let rows = self.number(kind).and_then(|number| self.kinds.get(number));
        let rows = rows.map(|rows| rows.by_id.as_slice()).unwrap_or_default();
        let groups = rows.chunk_by(|one, other| self.id_at(*one) == self.id_at(*other));
        groups.filter(|group| group.len() > 1).map(|group| self.picked(Some(group)).collect())
    }

    fn id_at(&self, at: usize) -> Option<&str> {
        self.rows.get(at).map(|row| row.id.as_str())
    }

    /// The number of a type by its name; one that no row has may have none.
    fn number(&self, kind: &str) -> Option<usize> {
        let unknown =
            || self.unknown.iter().position(|(name, _)| name == kind).map(|at| Number::count() + at);
        Number::of(kind).map(|known| known.index).or_else(unknown)
    }

    fn number_of_snake(&self, kind: &str) -> Option<usize> {
        let unknown =
            || self.unknown.iter().position(|(_, snake)| snake == kind).map(|at| Number::count() + at);
        Number::of_snake(kind).map(|known| known.index).or_else(unknown)
    }

    fn named(&self, number: Option<usize>, id: &str) -> Option<&[usize]> {
        let rows = self.kinds.get(number?)?.by_id.as_slice();
        let from = rows.partition_point(|at| self.id_at(*at) < Some(id));
        let rest = rows.get(from..)?;
        rest.get(..rest.partition_point(|at| self.id_at(*at) == Some(id)))
    }

    /// The last version of a record; the type by its name.
    #[must_use]
    pub fn find(&self, kind: &str, id: &str) -> Option<Record<'_>> {
        self.versions(kind, id).next_back()
    }

    /// The record that a reference names: its last version, or that of the number or hash it gives.
    #[must_use]
    pub fn resolve(&self, reference: Reference<'_>) -> Option<Record<'_>> {
        let mut versions = self.picked(self.named(self.number_of_snake(reference.kind), reference.id));
        match (reference.version, reference.hash) {
            (_, Some(hash)) => {
                versions.rfind(|one| one.hash().is_some_and(|own| own.hex() == hash.as_bytes()))
            }
            (Some(version), None) => {
                let at = usize::try_from(version).ok().and_then(|version| version.checked_sub(1));
                at.and_then(|at| versions.nth(at))
            }
            (None, None) => versions.next_back(),
        }
    }

    /// The record that a text names, if it is a reference.
    #[must_use]
    pub fn resolve_text(&self, text: &str) -> Option<Record<'_>> {
        Reference::read(text).and_then(|reference| self.resolve(reference))
    }

    /// The time up to which is looked.
    #[must_use]
    pub fn now(&self) -> Option<Instant> {
        self.now
    }

    /// The place of the last row.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.rows.last().map_or(0, |row| row.seq)
    }

    fn picked<'w>(
        &'w self,
        at: Option<&'w [usize]>,
    ) -> impl DoubleEndedIterator<Item = Record<'w>> + use<'w> {
        let rows = at.unwrap_or_default().iter().filter_map(|at| self.rows.get(*at));
        rows.map(|row| Record { row, world: self })
    }
}

/// The number of a type that nobody knows.
fn strange(unknown: &mut BTreeMap<String, usize>, kind: &str) -> usize {
    let next = Number::count() + unknown.len();
    *unknown.entry(kind.to_string()).or_insert(next)
}

/// A row of a world: its members are those of its record.
#[derive(Clone, Copy)]
pub struct Record<'w> {
    row: &'w Row,
    /// Where it stands.
    pub world: &'w World,
}

impl<'w> Record<'w> {
    /// Its place, from 1.
    #[must_use]
    pub fn seq(self) -> u64 {
        self.row.seq
    }

    /// The name of its type.
    #[must_use]
    pub fn kind(self) -> &'w str {
        &self.row.draft.kind
    }

    /// The name of its type in snake case, as references write it.
    #[must_use]
    pub fn snake(self) -> &'w str {
        let unknown = || {
            self.world
                .unknown
                .get(self.row.number.saturating_sub(Number::count()))
                .map(|(_, snake)| snake.as_str())
        };
        Number::at(self.row.number).map(|known| known.snake).or_else(unknown).unwrap_or_default()
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
        &self.row.draft.record
    }

    /// SHA-256 of what it says, in canonical JSON.
    #[must_use]
    pub fn hash(self) -> Option<Digest> {
        *self.row.hash.get_or_init(|| Box::new(hash(self.json())))
    }

    /// Whether a reference names it, whatever version.
    #[must_use]
    pub fn is_named_by(self, reference: Reference<'_>) -> bool {
        reference.id == self.id() && reference.kind == self.snake()
    }

    /// The record that a member refers to.
    #[must_use]
    pub fn follow(self, path: &str) -> Option<Record<'w>> {
        self.json().reference(path).and_then(|reference| self.world.resolve(reference))
    }
}

impl Deref for Record<'_> {
    type Target = Json;

    fn deref(&self) -> &Json {
        &self.row.draft.record
    }
}

/// SHA-256 of a value in canonical JSON.
#[must_use]
pub fn hash(value: &Json) -> Option<Digest> {
    canonical::hash(value).ok()
}
