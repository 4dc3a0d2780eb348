//! What must follow on a detection: the disposition of its route, and the record that goes with it.
//! Owns: what belongs to which route. Must not: choose the route.

use super::{Place, place};
use crate::check::Found;
use crate::check::hard_calls::named;
use crate::check::stood::Stood;
use crate::derive::sufficiency::{Disposition, Route};
use crate::fold::family::OUTCOME;
use crate::member::Member;
use crate::world::{Record, World};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::vec::Vec;

pub(super) fn insufficiency_marker_not_mapped_to_outcome_state(world: &World, found: &mut Found<'_>) {
    let follow_ups = FollowUps::of(world);
    for detection in world.of("SufficiencyDetectionResult") {
        // What is only about to be written can't have anything behind it yet.
        if detection.flag("no_sufficient_procedure") != Some(true) || detection.is_asking() {
            continue;
        }
        let route = detection.text("terminal_route").and_then(Route::find);
        let (Some(route), Some(place)) = (route, place(detection)) else { continue };
        let given = follow_ups.next_disposition(place, detection.seq());
        if !given.and_then(Disposition::find).is_some_and(|given| route.dispositions().contains(&given)) {
            let given = given.unwrap_or("none");
            let message = format!("the next disposition of the outcome is {given}");
            found.add(detection, "terminal_route", message);
        }
        if let Some(missing) = follow_ups.missing(route, detection, place) {
            found.add(detection, "terminal_route", format!("goes with {missing}, and there is none"));
        }
    }
}

/// What stands in the log for routes.
struct FollowUps<'w> {
    /// The dispositions that envelopes give, and those that outcomes go to, in order.
    emitted: BTreeMap<Place<'w>, Vec<(u64, &'w str)>>,
    entered: BTreeMap<Place<'w>, Vec<(u64, &'w str)>>,
    needs: BTreeSet<&'w str>,
    verifications: BTreeSet<Place<'w>>,
    gaps: BTreeSet<Place<'w>>,
    /// The detections that hard calls cite, and where the last call of a kind stands in a run.
    asked: BTreeSet<&'w str>,
    asked_in_run: BTreeMap<(&'w str, Option<&'w str>), u64>,
}

/// States of an outcome that are no dispositions.
const RUNNING: [&str; 4] = ["pending", "pending_dependency", "evaluating", "dirty"];

impl<'w> FollowUps<'w> {
    fn of(world: &'w World) -> Self {
        let mut emitted: BTreeMap<Place<'_>, Vec<(u64, &str)>> = BTreeMap::new();
        for envelope in world.of("EvaluationResultEnvelope") {
            if let (Some(place), Some(given)) =
                (place(envelope), envelope.json().text("decision.disposition"))
            {
                emitted.entry(place).or_default().push((envelope.seq(), given));
            }
        }
        let mut entered: BTreeMap<Place<'_>, Vec<(u64, &str)>> = BTreeMap::new();
        let stood = Stood::of(world, &OUTCOME);
        for event in world.of("OutcomeStateTransitionEvent").filter(|one| stood.counts(*one)) {
            let state = event.json().text("to_state").filter(|state| !RUNNING.contains(state));
            if let (Some(place), Some(state)) = (place(event), state) {
                entered.entry(place).or_default().push((event.seq(), state));
            }
        }
        let mut verifications: BTreeSet<Place<'_>> =
            world.of("VerificationRequestStep").filter_map(place).collect();
        for plan in world.of("RevisionPlan") {
            let mut steps = plan.list("steps").iter();
            if let Some(run) = plan.json().text("run_id")
                && steps.any(|step| step.is("step_kind", "verification_request"))
            {
                verifications.extend(plan.json().ids_at("outcome_ids").into_iter().map(|one| (one, run)));
            }
        }
        let cited = |call: Record<'w>| {
            let source = call.follow("source_ref")?;
            (source.kind() == "SufficiencyDetectionResult").then_some(source.id())
        };
        FollowUps {
            emitted,
            entered,
            needs: world.of("ResearchNeed").filter_map(|need| need.json().text("run_id")).collect(),
            verifications,
            gaps: world.of("TaskProcessGapSignal").filter_map(place).collect(),
            asked: world.of("HardRevisionCall").filter_map(cited).collect(),
            asked_in_run: asked_in_run(world),
        }
    }

    /// What an outcome is given next behind a place: by an envelope, else by what it goes to.
    fn next_disposition(&self, place: Place<'_>, behind: u64) -> Option<&'w str> {
        let next = |given: &BTreeMap<Place<'w>, Vec<(u64, &'w str)>>| {
            let given = given.get(&place)?;
            let at = given.partition_point(|(at, _)| *at <= behind);
            given.get(at).map(|(_, word)| *word)
        };
        next(&self.emitted).or_else(|| next(&self.entered))
    }

    /// What goes with a route and is not there.
    fn missing(&self, route: Route, detection: Record<'_>, place: Place<'_>) -> Option<&'static str> {
        let world = detection.world;
        let (is_there, what) = match route {
            Route::NeedsInformation => {
                let needs = detection.texts("blocking_research_need_refs");
                let is_named = needs.iter().any(|need| named(world, "ResearchNeed", need).is_some());
                (is_named || needs.is_empty() && self.needs.contains(place.1), "a ResearchNeed")
            }
            Route::NeedsVerification => (self.verifications.contains(&place), "a VerificationRequestStep"),
            Route::NeedsHumanJudgment => {
                let kind = detection.json().text("hard_call_kind");
                let last = self.asked_in_run.get(&(place.1, kind));
                let is_asked = last.is_some_and(|at| *at > detection.seq());
                (is_asked || self.asked.contains(detection.id()), "a HardRevisionCall")
            }
            Route::BlockedByPolicy => {
                let refs = detection.references("decisive_policy_decision_refs");
                (refs.into_iter().any(|one| world.resolve(one).is_some()), "a policy decision")
            }
            Route::ProcessGapOut => {
                let is_named = detection.follow("process_gap_signal_ref");
                let is_named = is_named.is_some_and(|one| one.kind() == "TaskProcessGapSignal");
                (is_named || self.gaps.contains(&place), "a TaskProcessGapSignal")
            }
            Route::UnableToEvaluate | Route::Unrecoverable => (true, ""),
        };
        (!is_there).then_some(what)
    }
}

/// Where the last hard call of each kind stands in its run, and the last of any kind.
fn asked_in_run(world: &World) -> BTreeMap<(&str, Option<&str>), u64> {
    let mut asked = BTreeMap::new();
    for call in world.of("HardRevisionCall") {
        if let Some(run) = call.json().text("run_id") {
            asked.insert((run, call.json().text("hard_call_kind")), call.seq());
            asked.insert((run, None), call.seq());
        }
    }
    asked
}
