//! How things stood, whenever that was, as far as the tables let their moves count.
//! Owns: taking each thing from state to state. Must not: know what moves what, or which way there is; the tables of the folds do.
//!
//! A rule that asks for a state asks here, and not what a receipt says: one that leads from where the thing is not, or where the table
//! has no way, leads nowhere. It is what folds make of the same rows.

use super::course::{Course, stands};
use crate::fold::family::{FINDING, Family, GUIDANCE, Move, OUTCOME};
use crate::fold::{self, guard};
use crate::machine::Machine;
use crate::member::Member;
use crate::world::{Record, World};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

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
    /// The places of the moves that counted.
    counted: BTreeSet<u64>,
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
        let mut stood = Stood { family, names, courses: BTreeMap::new(), counted: BTreeSet::new() };
        for (name, mut told) in told {
            told.sort_by_key(|(row, _)| row.seq());
            let course = stood.follow(told);
            stood.courses.insert(name, course);
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
        self.counted.contains(&row.seq())
    }

    fn follow(&mut self, told: Vec<Row<'w>>) -> Course<&'static str> {
        let family = self.family;
        let (mut course, mut state) = (Course::new(), None);
        let mut thing: Option<Record<'w>> = None;
        // Where a life begins that was first written down on its way: what led there may be told behind that.
        let mut start: Option<&'static str> = None;
        for (row, what) in told {
            let next = match what {
                Told::Begins(stated) => {
                    thing = Some(row);
                    let initial = family.machine.initial;
                    let stated = stated.and_then(|word| known(family.machine, word));
                    let is_late = stated.is_some_and(|stated| !initial.contains(&stated));
                    if state.is_none() && is_late && family.kind != FINDING.kind {
                        start = initial.first().copied();
                    }
                    state.or(stated).or(initial.first().copied())
                }
                Told::Is(word) => known(family.machine, word),
                Told::Goes(step) => {
                    let from = |at: Option<&'static str>| reached(family, at, &step, row, thing);
                    let to = from(state).or_else(|| from(Some(start?)));
                    start = start.filter(|_| to.is_none());
                    self.counted.extend(to.map(|_| row.seq()));
                    to.or(state)
                }
            };
            if next != state {
                state = next;
                course.push((row.seq(), state));
            }
        }
        course
    }
}

/// Where a move leads from a state. What nobody wrote down is where the first row that tells of it says; where that says nothing, it
/// may be anywhere.
fn reached(
    family: &Family,
    state: Option<&'static str>,
    step: &Move<'_>,
    row: Record<'_>,
    thing: Option<Record<'_>>,
) -> Option<&'static str> {
    let to = known(family.machine, step.to)?;
    let Some(at) = state.or(step.from) else { return Some(to) };
    let says =
        |member: &str| thing?.json().at(if member == "current_severity" { "severity" } else { member });
    let may = || guard::holds(family, at, step, &fold::row::Row::from(row), &says);
    (family.has_way(at, step) && may()).then_some(to)
}

/// A state of a machine by its word.
fn known(machine: &Machine, word: &str) -> Option<&'static str> {
    let ways = machine.transitions.iter().flat_map(|way| [way.from, way.to]);
    machine.initial.iter().copied().chain(ways).find(|state| *state == word)
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
