//! How findings stood, whenever that was.
//! Owns: their states from place to place of a log. Must not: resolve chains, or take a state for another than it is.

use super::super::course::{Course, stands};
use crate::derive::chain::FindingState;
use crate::member::Member;
use crate::world::World;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

/// How a finding stands after something that changed it.
struct Moment {
    seq: u64,
    state: Option<FindingState>,
    /// Whether it is one that blocks and may; a transition leaves that as it is.
    blocks: Option<bool>,
}

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
        let mut moments: BTreeMap<&str, Vec<Moment>> = BTreeMap::new();
        for event in world.of("EvaluationFindingEvent") {
            let (json, seq) = (event.json(), event.seq());
            let Some(finding) = json.text("finding_id") else { continue };
            if let Some(result) = json.text("result_id") {
                of_result.entry(result).or_default().insert(finding);
            }
            let has_authority = json.flag("blocking_authority.satisfied") == Some(true);
            let blocks = Some(json.is("severity", "blocking") && has_authority);
            let state = json.text("emitted_state").and_then(FindingState::find);
            moments.entry(finding).or_default().push(Moment { seq, state, blocks });
        }
        for receipt in world.of("FindingLifecycleTransitionReceipt") {
            let (json, seq) = (receipt.json(), receipt.seq());
            let state = json.text("to_state").and_then(FindingState::find);
            if let Some(moments) = json.text("finding_id").and_then(|id| moments.get_mut(id)) {
                moments.push(Moment { seq, state, blocks: None });
            }
        }
        let courses = moments.into_iter().map(|(finding, moments)| (finding, course(moments)));
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

fn course(mut moments: Vec<Moment>) -> Course<FindingState> {
    moments.sort_by_key(|moment| moment.seq);
    let (mut state, mut blocks) = (None, None);
    let stands = moments.into_iter().map(|moment| {
        (state, blocks) = (moment.state.or(state), moment.blocks.or(blocks));
        (moment.seq, state.filter(|_| blocks == Some(true)))
    });
    stands.collect()
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
