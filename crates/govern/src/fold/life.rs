//! Everything that stands somehow, and how each kind of it comes to stand.
//! Owns: opening a life, hearing what belongs to it, what the folds of several kinds remember. Must not: know a kind.

use super::family::{Family, GENERAL, STREAMS, stream_of};
use super::row::Row;
use super::standing::Standing;
use super::{Fold, NotASnapshot, Projection};
use crate::kind::Number;
use crate::member::Member;
use crate::types::wire::{Reading, Wire};
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_record::json::{Json, Object};
use once_cell::race::OnceBox;

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
    /// The types of rows that it looks at, besides its own and those that move it.
    pub hears: &'static [&'static str],
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

impl Life {
    /// Whether rows of a type may change one.
    fn takes(&self, kind: &str) -> bool {
        let is_mover = || self.families.iter().any(|family| family.moved_by().any(|mover| mover == kind));
        let belongs = || STREAMS.iter().any(|(event, _, to)| *event == kind && *to == self.snake);
        kind == self.kind || kind == GENERAL || self.hears.contains(&kind) || is_mover() || belongs()
    }
}

/// For each type by its number what rows of it may change.
fn takers() -> &'static [Vec<&'static Life>] {
    static TAKERS: OnceBox<Vec<Vec<&'static Life>>> = OnceBox::new();
    TAKERS.get_or_init(|| {
        let known = (0..Number::count()).filter_map(Number::at);
        let of = |known: Number| super::LIVES.iter().copied().filter(|life| life.takes(known.kind.name));
        Box::new(known.map(|known| of(known).collect()).collect())
    })
}

/// The types of rows that change how anything stands.
pub fn taken() -> impl Iterator<Item = &'static str> {
    let takers = takers().iter().enumerate().filter(|(_, lives)| !lives.is_empty());
    takers.filter_map(|(at, _)| Number::at(at)).map(|known| known.kind.name)
}

impl Board {
    /// Takes the next row in for some lives only. A life that looks at another one needs that as well.
    pub(crate) fn apply_to(&mut self, row: &Row<'_>, is_wanted: impl Fn(&Life) -> bool) {
        let lives = Number::of(row.kind).and_then(|known| takers().get(known.index));
        let Some(lives) = lives.filter(|lives| !lives.is_empty()) else { return };
        self.hear(row);
        // The receipt for things that have none of their own is about one of them.
        let subject = if row.kind == GENERAL { row.json.reference("subject_ref") } else { None };
        let is_meant = |life: &&&Life| {
            subject.is_none_or(|subject| subject.kind == life.snake || life.hears.contains(&GENERAL))
        };
        for life in lives.iter().filter(is_meant).filter(|life| is_wanted(life)) {
            if row.kind == life.kind {
                match life.opens {
                    Opens::Row if self.find(life.snake, row.id).is_none() => self.open_as_said(life, row),
                    Opens::Row | Opens::Event => self.absorb(life, row),
                }
            }
            (life.apply)(row, self);
        }
    }
}

impl Fold for Board {
    fn apply(&mut self, row: &Row<'_>) {
        self.apply_to(row, |_| true);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kind;
    use countersign_record::json;
    use std::format;

    /// A row that speaks of `x` in every way that a fold reads.
    fn about(life: &Life) -> Json {
        let ids = ["finding_id", "guidance_id", "workspace_id", "packet_id", "outcome_id", "cascade_run_id"];
        let more = ["source_id", "need_id", "candidate_id", "target_evaluation_chain_id", "plan_id"];
        let others = ["hard_call_id", "operation_id", "result_id", "source_event_id"];
        let ids = ids.into_iter().chain(more).chain(others).map(|member| format!(r#""{member}":"x","#));
        let ids: String = ids.collect();
        let snake = life.snake;
        let text = format!(
            r#"{{{ids}"subject_ref":"{snake}:x","stopped_refs":["{snake}:x"],"output_ref":"src:x","from_state":"open",
            "to_state":"absorbed","cause":"deferred","action":"accept","status":"applied","prior_event_seq":0,
            "new_event_seq":1,"input_taint":"external_untrusted","output_taint":"unclassified","from_tier":1,
            "to_tier":2,"tier":1,"state":"open","taint_class":"external_untrusted","payload_ref":"research_need:x",
            "operation_kind":"answer_research_need"}}"#
        );
        json::parse(text.as_bytes()).unwrap()
    }

    #[test]
    fn what_a_life_looks_at_it_hears() {
        for life in super::super::LIVES {
            let json = about(life);
            let row = |kind| Row { seq: 1, kind, id: "x", at: None, json: &json, streams: None };
            let mut board = Board::default();
            board.open_as_said(life, &row(life.kind));
            for kind in kind::all().filter(|kind| !life.takes(kind.name)) {
                let mut after = board.clone();
                (life.apply)(&row(kind.name), &mut after);
                assert_eq!(after, board, "{} looks at {}", life.kind, kind.name);
            }
        }
    }
}
