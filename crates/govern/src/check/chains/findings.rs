//! How findings stood, whenever that was.
//! Owns: their states from place to place of a log. Must not: resolve chains, or take a state for another than it is.

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

impl Moment {
    fn blocker(&self) -> Option<FindingState> {
        self.state.filter(|_| self.blocks == Some(true))
    }
}

/// How the findings of results stood, whenever that was.
pub(in super::super) struct Findings<'w> {
    of_result: BTreeMap<&'w str, BTreeSet<&'w str>>,
    moments: BTreeMap<&'w str, Vec<Moment>>,
}

impl<'w> Findings<'w> {
    pub(in super::super) fn of(world: &'w World) -> Self {
        let mut findings = Findings { of_result: BTreeMap::new(), moments: BTreeMap::new() };
        for event in world.of("EvaluationFindingEvent") {
            let (json, seq) = (event.json(), event.seq());
            let Some(finding) = json.text("finding_id") else { continue };
            if let Some(result) = json.text("result_id") {
                findings.of_result.entry(result).or_default().insert(finding);
            }
            let has_authority = json.flag("blocking_authority.satisfied") == Some(true);
            let blocks = Some(json.is("severity", "blocking") && has_authority);
            let state = json.text("emitted_state").and_then(FindingState::find);
            findings.moments.entry(finding).or_default().push(Moment { seq, state, blocks });
        }
        for receipt in world.of("FindingLifecycleTransitionReceipt") {
            let (json, seq) = (receipt.json(), receipt.seq());
            let state = json.text("to_state").and_then(FindingState::find);
            if let Some(moments) = json.text("finding_id").and_then(|id| findings.moments.get_mut(id)) {
                moments.push(Moment { seq, state, blocks: None });
            }
        }
        for moments in findings.moments.values_mut() {
            moments.sort_by_key(|moment| moment.seq);
            // Each says how it stands then, so that nobody has to go back.
            let (mut state, mut blocks) = (None, None);
            for moment in moments {
                (state, blocks) = (moment.state.or(state), moment.blocks.or(blocks));
                (moment.state, moment.blocks) = (state, blocks);
            }
        }
        findings
    }

    /// How the authorised blockers of a result stood before a place of the log.
    pub(in super::super) fn blockers(&self, result: &str, before: u64) -> Vec<FindingState> {
        let ids = self.of_result.get(result).into_iter().flatten();
        let stood = |id: &&str| {
            let moments = self.moments.get(*id)?;
            let last = moments.partition_point(|moment| moment.seq < before).checked_sub(1)?;
            moments.get(last)?.blocker()
        };
        ids.filter_map(stood).collect()
    }

    /// The same for a result that is asked about so many times.
    pub(super) fn asked(&self, result: &'w str, times: usize) -> Stood<'_> {
        let ids = self.of_result.get(result);
        let finding_count = ids.map_or(0, BTreeSet::len);
        let moments = ids.into_iter().flatten().filter_map(|id| self.moments.get(id)).map(Vec::len);
        // Going through everything once pays only where it is asked more often than that.
        let course = (finding_count.saturating_mul(times) > moments.sum()).then(|| self.course(result));
        Stood { findings: self, result, course }
    }

    /// Which states there are, each once, after each change of a finding of a result.
    fn course(&self, result: &str) -> Vec<(u64, Vec<FindingState>)> {
        let ids = self.of_result.get(result).into_iter().flatten();
        let moments = ids.enumerate().flat_map(|(at, id)| {
            self.moments.get(id).into_iter().flatten().map(move |moment| (moment.seq, at, moment.blocker()))
        });
        let mut moments: Vec<(u64, usize, Option<FindingState>)> = moments.collect();
        moments.sort_by_key(|(seq, at, _)| (*seq, *at));
        let mut stands: BTreeMap<usize, FindingState> = BTreeMap::new();
        let mut counts: BTreeMap<FindingState, u64> = BTreeMap::new();
        let mut course = Vec::new();
        for (seq, at, now) in moments {
            let before = match now {
                Some(state) => stands.insert(at, state),
                None => stands.remove(&at),
            };
            if let Some(count) = before.and_then(|state| counts.get_mut(&state)) {
                *count = count.saturating_sub(1);
            }
            if let Some(state) = now {
                *counts.entry(state).or_default() += 1;
            }
            let states = counts.iter().filter(|(_, count)| **count > 0).map(|(state, _)| *state).collect();
            course.push((seq, states));
        }
        course
    }
}

/// How the findings of a result stood.
pub(super) struct Stood<'f> {
    findings: &'f Findings<'f>,
    result: &'f str,
    course: Option<Vec<(u64, Vec<FindingState>)>>,
}

impl Stood<'_> {
    /// How its authorised blockers stood before a place of the log.
    pub(super) fn before(&self, place: u64) -> Vec<FindingState> {
        let Some(course) = &self.course else { return self.findings.blockers(self.result, place) };
        let last = course.partition_point(|(seq, _)| *seq < place).checked_sub(1);
        last.and_then(|last| course.get(last)).map(|(_, states)| states.clone()).unwrap_or_default()
    }
}
