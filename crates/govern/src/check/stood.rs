//! How things stood, whenever that was, as far as the tables let their moves count.
//! Owns: taking each thing from state to state. Must not: know what moves what, or which way there is; the tables of the folds do.
//!
//! A rule that asks for a state asks here, and not what a receipt says: one that leads from where the thing is not, or where the table
//! has no way, leads nowhere. It is what folds make of the same rows.

mod life;

use super::course::{Course, stands};
use crate::fold::chain::chain_of;
use crate::fold::family::{CHAIN, FINDING, Family, GUIDANCE, Move, NEED, OUTCOME};
use crate::fold::research::{asked, need_answered};
use crate::fold::row;
use crate::machine::Machine;
use crate::member::Member;
use crate::world::{Record, World};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use countersign_record::json::Json;
use life::Life;

/// What a thing is called: the run that it is of where one name may stand in several, and the id.
pub(super) type Name<'w> = (Option<&'w str>, &'w str);

/// What a row tells of a thing.
enum Told<'w> {
    /// It begins there, unless it has begun; what it says of itself holds from here on.
    Begins(Option<&'w str>),
    /// It is there: so a projection says, which has a code of its own where that is wrong.
    Is(&'w str),
    /// It goes on.
    Goes(Move<'w>),
    /// A question was answered by an operation that was applied: what is kept of that.
    Answers(Json),
    /// A chain got a result.
    Hears,
}

/// A row, and what it tells.
type Row<'w> = (Record<'w>, Told<'w>);

/// What the things of a family are called. An outcome of the same name in another run is another one.
pub(super) struct Names<'w> {
    has_runs: bool,
    known: BTreeSet<Name<'w>>,
    /// The run of the first thing of each id.
    first: BTreeMap<&'w str, Option<&'w str>>,
}

impl<'w> Names<'w> {
    pub(super) fn of(world: &'w World, family: &Family) -> Self {
        let has_runs = family.kind == OUTCOME.kind;
        let mut names = Names { has_runs, known: BTreeSet::new(), first: BTreeMap::new() };
        for record in world.of(family.kind).filter(|_| has_runs) {
            let run = record.json().text("run_id");
            names.known.insert((run, record.id()));
            names.first.entry(record.id()).or_insert(run);
        }
        names
    }

    /// What a row of a run names by an id. One that does not say its run speaks of the first of that name.
    pub(super) fn find(&self, run: Option<&'w str>, id: &'w str) -> Name<'w> {
        let first = self.first.get(id).copied().flatten();
        match run {
            _ if !self.has_runs => (None, id),
            None => (first, id),
            Some(_) if !self.known.contains(&(run, id)) && self.known.contains(&(None, id)) => (None, id),
            Some(_) => (run, id),
        }
    }
}

/// How the things of a family stood.
pub(super) struct Stood<'w> {
    family: &'static Family,
    names: Names<'w>,
    courses: BTreeMap<Name<'w>, Course<&'static str>>,
    /// The moves that counted, by their places.
    counted: BTreeMap<u64, Record<'w>>,
}

impl<'w> Stood<'w> {
    pub(super) fn of(world: &'w World, family: &'static Family) -> Self {
        let names = Names::of(world, family);
        let mut told: BTreeMap<Name<'w>, Vec<Row<'w>>> = BTreeMap::new();
        for (name, told_by) in begun(world, family) {
            told.entry(name).or_default().push(told_by);
        }
        for row in family.moved_by().flat_map(|kind| world.of(kind)) {
            if let Some((id, step)) = family.read(row.kind(), row.json()) {
                let name = names.find(row.json().text("run_id"), id);
                told.entry(name).or_default().push((row, Told::Goes(step)));
            }
        }
        for (name, told_by) in besides(world, family) {
            told.entry(name).or_default().push(told_by);
        }
        let mut stood = Stood { family, names, courses: BTreeMap::new(), counted: BTreeMap::new() };
        for (name, mut told) in told {
            told.sort_by_key(|(row, _)| row.seq());
            let mut life = Life::of(family);
            for (row, told) in told {
                if life.take((row, told)) {
                    stood.counted.insert(row.seq(), row);
                }
            }
            stood.courses.insert(name, life.course);
        }
        stood
    }

    /// What a row of a run names by an id.
    pub(super) fn name(&self, run: Option<&'w str>, id: &'w str) -> Name<'w> {
        self.names.find(run, id)
    }

    /// The states of a thing, from place to place.
    pub(super) fn course(&self, name: &Name<'w>) -> &[(u64, Option<&'static str>)] {
        self.courses.get(name).map(Vec::as_slice).unwrap_or_default()
    }

    /// The state of a thing at a place.
    pub(super) fn at(&self, name: &Name<'w>, seq: u64) -> Option<&'static str> {
        stands(self.course(name), seq)
    }

    /// All things, and their states.
    pub(super) fn all(&self) -> impl Iterator<Item = (&Name<'w>, &Course<&'static str>)> {
        self.courses.iter()
    }

    /// Whether a row moved something.
    pub(super) fn counts(&self, row: Record<'_>) -> bool {
        self.counted.contains_key(&row.seq())
    }

    /// The row that moved something at a place.
    pub(super) fn mover(&self, seq: u64) -> Option<Record<'w>> {
        self.counted.get(&seq).copied()
    }

    /// How the thing of a row stands at a place behind it: as the row says, or where rows moved it since. That a row says what did not
    /// come about has a code of its own.
    pub(super) fn told_at(&self, row: Record<'w>, seq: u64) -> Option<&'w str> {
        let name = self.names.find(row.json().text("run_id"), row.id());
        let course = self.course(&name);
        let last =
            course.partition_point(|(at, _)| *at <= seq).checked_sub(1).and_then(|last| course.get(last));
        let moved = last.filter(|(at, _)| *at > row.seq()).and_then(|(_, state)| *state);
        moved.or(row.json().text(self.family.member)).or_else(|| stands(course, row.seq()))
    }

    /// How the thing of a row stood before it.
    pub(super) fn was(&self, row: Record<'w>) -> Option<&'static str> {
        let name = self.names.find(row.json().text("run_id"), row.id());
        self.at(&name, row.seq().checked_sub(1)?)
    }

    /// How the thing of its last row stands at the end.
    pub(super) fn told(&self, row: Record<'w>) -> Option<&'w str> {
        self.told_at(row, u64::MAX)
    }

    /// The rows that led the thing of a row into a state behind it.
    pub(super) fn led(&self, row: Record<'w>, state: &str) -> impl Iterator<Item = Record<'w>> {
        let name = self.names.find(row.json().text("run_id"), row.id());
        let behind = self.course(&name).iter().filter(move |(at, to)| *at > row.seq() && *to == Some(state));
        behind.filter_map(|(at, _)| self.counted.get(at).copied())
    }
}

/// A state of a machine by its word.
fn known(machine: &Machine, word: &str) -> Option<&'static str> {
    let ways = machine.transitions.iter().flat_map(|way| [way.from, way.to]);
    machine.initial.iter().copied().chain(ways).find(|state| *state == word)
}

/// What moves the things of a family and does not say where to: that follows from all before it.
fn besides<'w>(world: &'w World, family: &Family) -> Vec<(Name<'w>, Row<'w>)> {
    let mut all = Vec::new();
    if family.kind == CHAIN.kind {
        for result in world.of("EvaluationResultEnvelope") {
            let chain = chain_of(result.kind(), result.json());
            all.extend(chain.map(|id| ((None, id), (result, Told::Hears))));
        }
    } else if family.kind == NEED.kind {
        const OPERATION: &str = "SourceWorkspaceOperation";
        let mut answers: BTreeMap<&str, (&str, Json)> = BTreeMap::new();
        for row in world.of_any(&[OPERATION, "SourceWorkspaceOperationReceipt"]) {
            if row.kind() == OPERATION {
                let need = need_answered(row.json()).map(|(_, need)| need);
                let kept = asked(&row::Row::from(row));
                answers.extend(need.zip(kept).map(|(need, kept)| (row.id(), (need, kept.into()))));
            } else if let Some((need, answer)) =
                row.json().id_at("operation_id").and_then(|id| answers.remove(id))
                && row.is("status", "applied")
            {
                all.push(((None, need), (row, Told::Answers(answer))));
            }
        }
    }
    all
}

/// What begins the things of a family, or says where they are.
fn begun<'w>(world: &'w World, family: &Family) -> Vec<(Name<'w>, Row<'w>)> {
    let mut all = Vec::new();
    let mut add = |name: Option<Name<'w>>, row, told| all.extend(name.map(|name| (name, (row, told))));
    if family.kind == FINDING.kind {
        for event in world.of("EvaluationFindingEvent") {
            let id = event.json().id_at("finding_id");
            add(id.map(|id| (None, id)), event, Told::Begins(event.json().text("emitted_state")));
        }
    } else if family.kind == GUIDANCE.kind {
        for event in world.of("RunGuidanceCreationEvent") {
            let id = event.json().id_at("guidance_id");
            add(id.map(|id| (None, id)), event, Told::Begins(None));
        }
        for current in world.of(family.kind) {
            let id = current.json().id_at("guidance_id");
            if let Some(state) = current.json().text(family.member) {
                add(id.map(|id| (None, id)), current, Told::Is(state));
            }
        }
    } else {
        for record in world.of(family.kind) {
            let run = record.json().text("run_id").filter(|_| family.kind == OUTCOME.kind);
            let begins = Told::Begins(record.json().text(family.member));
            add(Some((run, record.id())), record, begins);
        }
    }
    all
}

#[cfg(test)]
#[path = "stood_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "stood/rules_tests.rs"]
mod rules;
