//! Everything that is known: the rows of a log or a bundle, found by kind and by reference.
//! Owns: rows, their order, the indexes. Must not: judge, or change a row.

use crate::kind;
use crate::member::Member;
use crate::reference::{Reference, snake};
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::ops::Deref;
use countersign_record::canonical;
use countersign_record::digest::Digest;
use countersign_record::json::Json;
use countersign_record::time::Instant;

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
#[derive(Clone, Debug)]
struct Row {
    draft: Draft,
    seq: u64,
    /// When it was written: as the row says, else as the record does, else with the row before.
    at: Option<Instant>,
    id: String,
}

/// What a check looks at.
#[derive(Clone, Debug)]
pub struct World {
    rows: Vec<Row>,
    by_kind: BTreeMap<String, Vec<usize>>,
    /// The kind in snake case, then the id: the rows that are versions of one record.
    by_id: BTreeMap<String, BTreeMap<String, Vec<usize>>>,
    now: Option<Instant>,
    is_admission: bool,
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
        let mut rows: Vec<Row> = Vec::with_capacity(drafts.len());
        for draft in drafts {
            let seq = rows.len() as u64 + 1;
            let (at, id) = (draft.written_at(rows.last().and_then(|row| row.at)), draft.name(seq));
            rows.push(Row { draft, seq, at, id });
        }
        let now = now.or_else(|| rows.iter().filter_map(|row| row.at).max());
        let mut world =
            World { rows, by_kind: BTreeMap::new(), by_id: BTreeMap::new(), now, is_admission: false };
        for (at, row) in world.rows.iter().enumerate() {
            world.by_kind.entry(row.draft.kind.clone()).or_default().push(at);
            let ids = world.by_id.entry(snake(&row.draft.kind)).or_default();
            ids.entry(row.id.clone()).or_default().push(at);
        }
        world
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
        self.picked(self.by_kind.get(kind))
    }

    /// The versions of a record, in order; the type by its name.
    pub fn versions<'w>(
        &'w self,
        kind: &str,
        id: &str,
    ) -> impl DoubleEndedIterator<Item = Record<'w>> + use<'w> {
        self.picked(self.by_id.get(&snake(kind)).and_then(|ids| ids.get(id)))
    }

    /// The last version of a record; the type by its name.
    #[must_use]
    pub fn find(&self, kind: &str, id: &str) -> Option<Record<'_>> {
        self.versions(kind, id).next_back()
    }

    /// The record that a reference names: its last version, or that of the number or hash it gives.
    #[must_use]
    pub fn resolve(&self, reference: Reference<'_>) -> Option<Record<'_>> {
        let found = self.by_id.get(reference.kind).and_then(|ids| ids.get(reference.id));
        let mut versions = self.picked(found);
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

    /// How many rows there are: the place of the last one.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.rows.len() as u64
    }

    fn picked<'w>(
        &'w self,
        at: Option<&'w Vec<usize>>,
    ) -> impl DoubleEndedIterator<Item = Record<'w>> + use<'w> {
        let rows = at.map(Vec::as_slice).unwrap_or_default().iter().filter_map(|at| self.rows.get(*at));
        rows.map(|row| Record { row, world: self })
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
        hash(self.json())
    }

    /// Whether a reference names it, whatever version.
    #[must_use]
    pub fn is_named_by(self, reference: Reference<'_>) -> bool {
        reference.id == self.id() && reference.kind == snake(self.kind())
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
