//! Everything that stands somehow, and how each kind of it comes to stand.
//! Owns: opening a life, hearing what belongs to it, what the folds of several kinds remember. Must not: know a kind.

use super::family::{Family, stream_of};
use super::row::Row;
use super::standing::Standing;
use super::{Fold, NotASnapshot, Projection};
use crate::member::Member;
use crate::types::wire::{Reading, Wire};
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_record::json::{Json, Object};

/// How a kind of things comes to stand as it does.
pub struct Life {
    /// The name of the type whose rows begin it, or of its projection if an event does.
    pub kind: &'static str,
    /// The same in snake case.
    pub snake: &'static str,
    /// The name of the type of its projection.
    pub projects: &'static str,
    /// Its states.
    pub families: &'static [&'static Family],
    /// How one begins.
    pub opens: Opens,
    /// Members that are folded: what begins one does not say them.
    pub live: &'static [&'static str],
    /// Members that no event of the contract carries: the last row that says them counts.
    pub free: &'static [&'static str],
    /// Lists that only grow.
    pub grows: &'static [&'static str],
    /// Takes a row in.
    pub(super) apply: fn(&Row<'_>, &mut Board),
    /// Its projection; `None` if what is known makes none.
    pub(super) record: fn(&Standing, &Board) -> Option<Json>,
}

/// How a life begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opens {
    /// With an event of its own.
    Event,
    /// With the first row of its type, for the contract has no event for that. Later rows of the type are not read.
    Row,
}

/// How everything stands.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Board {
    /// By kind in snake case, then by id.
    things: BTreeMap<String, BTreeMap<String, Standing>>,
    /// What folds remember of rows, by their references.
    memory: BTreeMap<String, Json>,
}

impl Board {
    /// How something stands, by its kind in snake case.
    #[must_use]
    pub fn find(&self, kind: &str, id: &str) -> Option<&Standing> {
        self.things.get(kind).and_then(|ids| ids.get(id))
    }

    pub(super) fn find_mut(&mut self, kind: &str, id: &str) -> Option<&mut Standing> {
        self.things.get_mut(kind).and_then(|ids| ids.get_mut(id))
    }

    /// Everything of a kind, by id.
    pub(super) fn all(&self, kind: &str) -> impl Iterator<Item = (&str, &Standing)> {
        self.things.get(kind).into_iter().flatten().map(|(id, standing)| (id.as_str(), standing))
    }

    /// A life begins with a row, unless it has begun.
    pub(super) fn open(&mut self, kind: &str, id: &str, row: &Row<'_>) -> Option<&mut Standing> {
        if self.find(kind, id).is_some() {
            return None;
        }
        let ids = self.things.entry(kind.to_string()).or_default();
        Some(ids.entry(id.to_string()).or_insert_with(|| Standing::opened_by(row)))
    }

    /// A life begins with what the first row of its type says, but for what is folded.
    pub(super) fn open_as_said(&mut self, life: &Life, row: &Row<'_>) {
        let Some(standing) = self.open(life.snake, row.id, row) else { return };
        let members = row.json.as_object().into_iter().flat_map(Object::iter);
        for (name, value) in members.filter(|(_, value)| **value != Json::Null) {
            let is_state = life.families.iter().any(|family| family.member == name);
            if is_state || life.live.contains(&name) {
                standing.said(name, value);
            } else {
                standing.put(name, Some(value.clone()));
            }
        }
        for family in life.families {
            standing.begin(family, row.json.text(family.member));
        }
        for list in life.grows {
            standing.put(list, Some(Json::Array(Vec::new())));
        }
    }

    /// Remembers something of a row.
    pub(super) fn remember(&mut self, reference: String, value: Json) {
        self.memory.insert(reference, value);
    }

    /// What is remembered of a row.
    pub(super) fn recall(&self, reference: &str) -> Option<&Json> {
        self.memory.get(reference)
    }

    /// Takes what is remembered of a row.
    pub(super) fn take(&mut self, reference: &str) -> Option<Json> {
        self.memory.remove(reference)
    }

    /// A row that belongs to something is heard by it, whether or not it moves it.
    fn hear(&mut self, row: &Row<'_>) {
        let Some((kind, id)) = stream_of(row.kind, row.json) else { return };
        let life = super::LIVES.iter().find(|life| life.snake == kind);
        if let Some(standing) = self.find_mut(kind, id) {
            standing.hear(row);
            // What has an event of its own comes from that; what has none, from the last row that belongs to it.
            if life.is_some_and(|life| life.opens == Opens::Row) {
                standing.event = Some(row.reference());
            }
        }
    }
}

impl Fold for Board {
    fn apply(&mut self, row: &Row<'_>) {
        self.hear(row);
        for life in super::LIVES {
            if row.kind == life.kind {
                match life.opens {
                    Opens::Row if self.find(life.snake, row.id).is_none() => self.open_as_said(life, row),
                    Opens::Row | Opens::Event => self.absorb(life, row),
                }
            }
            (life.apply)(row, self);
        }
    }

    fn freeze(&self) -> Json {
        let things = self.things.write().unwrap_or(Json::Null);
        let memory = self.memory.write().unwrap_or(Json::Null);
        Object::from([("things", things), ("memory", memory)]).into()
    }

    fn thaw(snapshot: &Json) -> Result<Self, NotASnapshot> {
        Ok(Board { things: read(snapshot, "things")?, memory: read(snapshot, "memory")? })
    }

    fn projections(&self, all: &mut Vec<Projection>) {
        for life in super::LIVES {
            for (id, standing) in self.all(life.snake) {
                if let Some(record) = (life.record)(standing, self) {
                    all.push(Projection { kind: life.projects, id: id.to_string(), record });
                }
            }
        }
    }
}

impl Board {
    /// Takes over what no event carries.
    fn absorb(&mut self, life: &Life, row: &Row<'_>) {
        let Some(standing) = self.find_mut(life.snake, row.id) else { return };
        for member in life.free {
            if let Some(value) = row.json.at(member) {
                standing.put(member, Some(value.clone()));
            }
        }
    }
}

/// A member of a snapshot.
pub(super) fn read<T: Wire>(snapshot: &Json, member: &str) -> Result<T, NotASnapshot> {
    let mut reading = Reading::default();
    let read = snapshot.get(member).and_then(|value| T::read(value, &mut reading));
    match (read, reading.troubles().into_iter().next()) {
        (Some(read), None) => Ok(read),
        (_, Some(trouble)) => Err(NotASnapshot { path: alloc::format!("/{member}{}", trouble.path) }),
        (None, None) => Err(NotASnapshot { path: alloc::format!("/{member}") }),
    }
}

/// What a standing says, as a record of its type; `None` if it is not one.
pub(super) fn typed<T: Wire>(standing: &Standing, _: &Board) -> Option<Json> {
    let object: Object =
        standing.members.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
    record_of::<T>(object)
}

/// Members as a record of a type; `None` if they are none.
pub(super) fn record_of<T: Wire>(object: Object) -> Option<Json> {
    let mut reading = Reading::default();
    let read = T::read(&Json::Object(object), &mut reading).and_then(|read| read.write());
    read.filter(|_| reading.troubles().is_empty())
}
