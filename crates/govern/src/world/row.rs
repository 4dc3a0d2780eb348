//! A row of a log, before and after it has a place.
//! Owns: what it is called, when it was written. Must not: know other rows.

use super::mark::Marks;
use crate::kind::{self, Number};
use crate::member::Member;
use crate::mix;
use crate::reference::{bare, snake};
use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use core::ops::Deref;
use countersign_record::digest::Digest;
use countersign_record::json::Json;
use countersign_record::time::Instant;
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

/// A row with its place in a log.
pub type Placed = (u64, Draft);

/// The type of a row.
#[derive(Debug)]
pub(super) enum Type {
    Known(Number),
    /// One that nobody knows.
    Strange {
        name: Box<str>,
        snake: Box<str>,
    },
}

/// A row at its place.
#[derive(Debug)]
pub struct Row {
    pub(super) seq: u64,
    /// Its place in its stream; 0 where that is not known.
    pub(super) place: u64,
    /// When it was written: as the row says, else as the record does, else with the row before.
    pub(super) at: Option<Instant>,
    pub(super) kind: Type,
    pub(super) id: Box<str>,
    /// The number of its id, which two ids may have.
    pub(super) key: u64,
    pub(super) marks: Marks,
    pub(super) record: Json,
    /// The hash of what it says, once somebody asked.
    pub(super) hash: OnceBox<Option<Digest>>,
}

/// A row at its place, as worlds hold it: several may hold the same one.
#[derive(Clone, Debug)]
pub struct Held(Arc<Row>);

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
        self.id.as_deref().or(name(&self.record, field)).map_or_else(|| seq.to_string(), String::from)
    }
}

/// What a record says that it is called: the id alone, as references to it have it.
fn name<'r>(record: &'r Json, field: Option<&str>) -> Option<&'r str> {
    field.and_then(|field| record.text(field)).map(bare)
}

impl Held {
    /// A row at a place, behind one that was written at a time.
    #[must_use]
    pub fn new(seq: u64, draft: Draft, before: Option<Instant>) -> Self {
        let at = draft.written_at(before);
        let Draft { kind, id, record, .. } = draft;
        let kind = match Number::of(&kind) {
            Some(known) => Type::Known(known),
            None => Type::Strange { snake: snake(&kind).into_boxed_str(), name: kind.into_boxed_str() },
        };
        Held::of((seq, 0), kind, id, at, record)
    }

    /// A row of a type that is known, written at a time, by its place and that in its stream.
    #[must_use]
    pub(crate) fn known(
        places: (u64, u64),
        known: Number,
        id: Option<String>,
        at: Option<Instant>,
        record: Json,
    ) -> Self {
        Held::of(places, Type::Known(known), id, at, record)
    }

    fn of(
        (seq, place): (u64, u64),
        kind: Type,
        id: Option<String>,
        at: Option<Instant>,
        record: Json,
    ) -> Self {
        let field = match &kind {
            Type::Known(known) => known.kind.id,
            Type::Strange { .. } => None,
        };
        let id = match id {
            Some(id) => id.into_boxed_str(),
            None => name(&record, field).map_or_else(|| seq.to_string().into_boxed_str(), Box::from),
        };
        let (key, marks) = (mix::number(&id), Marks::of(&record));
        Held(Arc::new(Row { seq, place, at, kind, id, key, marks, record, hash: OnceBox::new() }))
    }

    /// The same, at a place in its stream.
    #[must_use]
    pub(crate) fn at_place(self, place: u64) -> Self {
        let placed = |row: Row| Held(Arc::new(Row { place, ..row }));
        Arc::try_unwrap(self.0).map_or_else(Held, placed)
    }

    /// Its place.
    #[must_use]
    pub fn seq(&self) -> u64 {
        self.seq
    }

    /// Its place in its stream.
    #[must_use]
    pub(crate) fn place(&self) -> u64 {
        self.place
    }

    /// The number of its type, if that is known.
    #[must_use]
    pub fn number(&self) -> Option<Number> {
        match self.kind {
            Type::Known(known) => Some(known),
            Type::Strange { .. } => None,
        }
    }

    /// What it is called.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The number of what it is called, which two may have.
    #[must_use]
    pub(crate) fn key(&self) -> u64 {
        self.key
    }

    /// Its marks.
    #[must_use]
    pub fn marks(&self) -> Marks {
        self.marks
    }

    /// What it says.
    #[must_use]
    pub fn json(&self) -> &Json {
        &self.record
    }
}

impl Row {
    /// SHA-256 of what it says, in canonical JSON.
    pub(super) fn hash(&self) -> Option<Digest> {
        *self.hash.get_or_init(|| Box::new(super::hash(&self.record)))
    }
}

impl Deref for Held {
    type Target = Row;

    fn deref(&self) -> &Row {
        &self.0
    }
}
