//! How findings stood, whenever that was.
//! Owns: their states from place to place of a log. Must not: resolve chains, or take a state for another than it is.

use super::super::course::{Course, stands};
use super::super::stood::Stood;
use crate::derive::chain::FindingState;
use crate::fold::family::FINDING;
use crate::member::Member;
use crate::world::World;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

/// How the findings of results stood, whenever that was.
pub(in super::super) struct Findings<'w> {
    of_result: BTreeMap<&'w str, BTreeSet<&'w str>>,
    /// The state of each from place to place, while it is one that blocks and may.
    courses: BTreeMap<&'w str, Course<FindingState>>,
    /// Where a result has many findings: from where to where any is in each state.
    joined: BTreeMap<&'w str, Vec<Course<FindingState>>>,
}

/// Findings of a result that are looked at one by one; of more it is told which states there are.
const FEW: usize = 16;

impl<'w> Findings<'w> {
    pub(in super::super) fn of(world: &'w World) -> Self {
        let mut of_result: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        let mut blocks: BTreeMap<&str, Course<()>> = BTreeMap::new();
        for event in world.of("EvaluationFindingEvent") {
            let json = event.json();
            let Some(finding) = json.text("finding_id") else { continue };
            if let Some(result) = json.text("result_id") {
                of_result.entry(result).or_default().insert(finding);
            }
            let has_authority = json.flag("blocking_authority.satisfied") == Some(true);
            let may = json.is("severity", "blocking") && has_authority;
            blocks.entry(finding).or_default().push((event.seq(), may.then_some(())));
        }
        let stood = Stood::of(world, &FINDING);
        let courses = blocks.into_iter();
        let courses = courses.map(|(id, blocks)| (id, course(&blocks, stood.course(&(None, id)))));
        let mut findings = Findings { of_result, courses: courses.collect(), joined: BTreeMap::new() };
        let many = findings.of_result.iter().filter(|(_, own)| own.len() > FEW);
        let joined = many.map(|(result, _)| (*result, joined(findings.of_result(result))));
        findings.joined = joined.collect();
        findings
    }

    /// How the authorised blockers of a result stood before a place of the log.
    pub(in super::super) fn blockers(&self, result: &str, before: u64) -> Vec<FindingState> {
        let place = before.saturating_sub(1);
        self.of_result(result).filter_map(|course| stands(course, place)).collect()
    }

    /// The courses of the findings of a result; of many how their states went.
    pub(super) fn of_result(&self, result: &str) -> impl Iterator<Item = &[(u64, Option<FindingState>)]> {
        let joined = self.joined.get(result);
        let ids = self.of_result.get(result).filter(|_| joined.is_none()).into_iter().flatten();
        let own = ids.filter_map(|id| self.courses.get(id));
        own.chain(joined.into_iter().flatten()).map(Vec::as_slice)
    }
}

/// The states of a finding while it is one that blocks and may; a transition leaves that as it is.
fn course(blocks: &[(u64, Option<()>)], states: &[(u64, Option<&'static str>)]) -> Course<FindingState> {
    let mut places: Vec<u64> =
        blocks.iter().map(|(at, _)| *at).chain(states.iter().map(|(at, _)| *at)).collect();
    places.sort_unstable();
    places.dedup();
    let stood = |place| stands(states, place).and_then(FindingState::find);
    places.into_iter().map(|at| (at, stood(at).filter(|_| stands(blocks, at).is_some()))).collect()
}

/// For each state from where to where any finding is in it.
fn joined<'c>(courses: impl Iterator<Item = &'c [(u64, Option<FindingState>)]>) -> Vec<Course<FindingState>> {
    let mut turns = Vec::new();
    for course in courses {
        let befores = core::iter::once(None).chain(course.iter().map(|(_, state)| *state));
        turns.extend(course.iter().zip(befores).map(|((at, after), before)| (*at, before, *after)));
    }
    turns.sort_by_key(|(at, _, _)| *at);
    let mut states: BTreeMap<FindingState, (usize, Course<FindingState>)> = BTreeMap::new();
    for (at, before, after) in turns {
        if let Some((count, course)) = before.and_then(|state| states.get_mut(&state)) {
            *count = count.saturating_sub(1);
            course.extend((*count == 0).then_some((at, None)));
        }
        if let Some(state) = after {
            let (count, course) = states.entry(state).or_default();
            course.extend((*count == 0).then_some((at, Some(state))));
            *count += 1;
        }
    }
    states.into_values().map(|(_, course)| course).collect()
}
