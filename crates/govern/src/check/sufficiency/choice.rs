//! Whether a person who is asked could change anything.
//! Owns: which routes leave a choice. Must not: look at what the person answered.

use super::{Place, place};
use crate::check::Found;
use crate::check::hard_calls::id_of;
use crate::check::stood::Stood;
use crate::derive::sufficiency::Route;
use crate::fold::family::NEED;
use crate::member::Member;
use crate::world::{Record, World};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

pub(super) fn hard_call_raised_when_no_human_choice_available(world: &World, found: &mut Found<'_>) {
    if world.of("SufficiencyDetectionResult").next().is_none() {
        return;
    }
    let needs = Needs::of(world);
    let verified: BTreeSet<Place<'_>> = world.of("VerificationRequestStep").filter_map(place).collect();
    let mut futile: BTreeMap<&str, &str> = BTreeMap::new();
    for detection in world.of("SufficiencyDetectionResult") {
        let Some(reason) = futility(detection, &verified, &needs) else { continue };
        futile.insert(detection.id(), reason);
        if detection.flag("hard_call_required") == Some(true) {
            found.add(detection, "hard_call_required", reason);
        }
    }
    for call in world.of("HardRevisionCall") {
        let source = call.follow("source_ref").filter(|one| one.kind() == "SufficiencyDetectionResult");
        if let Some(reason) = source.and_then(|source| futile.get(source.id())) {
            found.add(call, "source_ref", *reason);
        }
    }
}

/// Why a person can't change what was detected; `None` if one can.
fn futility(
    detection: Record<'_>,
    verified: &BTreeSet<Place<'_>>,
    needs: &Needs<'_>,
) -> Option<&'static str> {
    match Route::find(detection.text("terminal_route")?)? {
        Route::NeedsHumanJudgment => None,
        Route::Unrecoverable | Route::UnableToEvaluate | Route::ProcessGapOut => {
            Some("nothing that a person says changes this route")
        }
        Route::NeedsInformation => {
            let mut refs = detection.json().texts("blocking_research_need_refs").into_iter();
            let is_open = refs.any(|need| needs.is_answerable(id_of("research_need", need), detection.seq()));
            is_open.then_some("a way to the information is still open")
        }
        Route::NeedsVerification => {
            let is_asked = place(detection).is_some_and(|place| verified.contains(&place));
            is_asked.then_some("a verification is still open")
        }
        Route::BlockedByPolicy => {
            let refs = detection.references("decisive_policy_decision_refs");
            let mut decisions = refs.into_iter().filter_map(|one| detection.world.resolve(one));
            let is_fixed = decisions.any(|decision| decision.flag("user_alterable") == Some(false));
            is_fixed.then_some("the user can't alter the policy that decided")
        }
    }
}

/// How research needs stand: the versions of each, in order, and what moved them.
struct Needs<'w> {
    versions: BTreeMap<&'w str, Vec<Record<'w>>>,
    stood: Stood<'w>,
}

impl<'w> Needs<'w> {
    fn of(world: &'w World) -> Self {
        let mut versions: BTreeMap<&str, Vec<Record<'_>>> = BTreeMap::new();
        for need in world.of("ResearchNeed") {
            versions.entry(need.id()).or_default().push(need);
        }
        Needs { versions, stood: Stood::of(world, &NEED) }
    }

    /// Whether a need could be answered at a place: as it stood there, else as it stood first.
    fn is_answerable(&self, need: &str, at: u64) -> bool {
        let versions = self.versions.get(need).map(Vec::as_slice).unwrap_or_default();
        let behind = versions.partition_point(|one| one.seq() <= at);
        let need = versions.get(behind.saturating_sub(1));
        let state = need.and_then(|need| self.stood.told_at(*need, at));
        state.is_some_and(|state| ["open", "leased", "human_needed"].contains(&state))
    }
}
