//! What is tried after it was established that nothing will do.
//! Owns: what unlocks an outcome again. Must not: judge the detection.

use super::{Place, place};
use crate::check::Found;
use crate::check::hard_calls::id_of;
use crate::check::revision::Owners;
use crate::member::Member;
use crate::world::{Record, World};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::vec::Vec;

pub(super) fn sufficiency_retry_after_terminal_detection(world: &World, found: &mut Found<'_>) {
    let mut ends: BTreeMap<Place<'_>, Vec<(u64, Option<u64>)>> = BTreeMap::new();
    let unlocks = Unlocks::of(world);
    let is_terminal = |one: &Record<'_>| one.flag("no_sufficient_procedure") == Some(true);
    for detection in world.of("SufficiencyDetectionResult").filter(is_terminal) {
        if let Some(place) = place(detection) {
            let unlocked = unlocks.first_behind(detection, place);
            ends.entry(place).or_default().push((detection.seq(), unlocked));
        }
    }
    if ends.is_empty() {
        return;
    }
    for (attempt, place) in attempts(world, &ends) {
        let Some(ends) = ends.get(&place) else { continue };
        let before = ends.partition_point(|(at, _)| *at < attempt.seq());
        let last = before.checked_sub(1).and_then(|last| ends.get(last));
        let Some((at, unlocked)) = last else { continue };
        if unlocked.is_none_or(|unlocked| unlocked >= attempt.seq()) {
            let message = format!("row {at} says that no procedure is left, and nothing changed since");
            found.add(attempt, "", message);
        }
    }
}

/// What is tried, and for which outcome. An attempt that does not say so is one for the outcomes of its plan, and without a plan for
/// any of its run that came to an end.
fn attempts<'w, T>(world: &'w World, ends: &BTreeMap<Place<'w>, T>) -> Vec<(Record<'w>, Place<'w>)> {
    let mut attempts: Vec<(Record<'_>, Place<'_>)> = Vec::new();
    for attempt in world.of("ProcedureAttemptRecord") {
        let plan = attempt.follow("revision_plan_ref").filter(|one| one.kind() == "RevisionPlan");
        match (place(attempt), plan) {
            (Some(place), _) => attempts.push((attempt, place)),
            (None, Some(plan)) => attempts.extend(planned(attempt, plan)),
            (None, None) => {
                let run = attempt.json().text("run_id");
                let own = ends.keys().filter(|(_, own)| Some(*own) == run);
                attempts.extend(own.map(|place| (attempt, *place)));
            }
        }
    }
    let owners = Owners::of(world);
    let is_dispatch =
        |one: &Record<'_>| one.is("operation_kind", "dispatched") || one.is_blank("operation_kind");
    for dispatch in world.of("RevisionOperationReceipt").filter(is_dispatch) {
        let plan = owners.plan(dispatch).and_then(|id| world.find("RevisionPlan", id));
        attempts.extend(plan.into_iter().flat_map(|plan| planned(dispatch, plan)));
    }
    attempts
}

/// What is tried by a plan, for each of its outcomes.
fn planned<'w>(row: Record<'w>, plan: Record<'w>) -> impl Iterator<Item = (Record<'w>, Place<'w>)> {
    let run = plan.json().text("run_id").or_else(|| row.json().text("run_id"));
    let outcomes = plan.json().texts("outcome_ids").into_iter();
    run.into_iter().flat_map(move |run| outcomes.clone().map(move |one| (row, (one, run))))
}

/// The places of what makes another attempt worth while, by what it is about.
#[derive(Default)]
struct Unlocks<'w> {
    /// For everything: capabilities or policies changed, or it is not said for what.
    all: BTreeSet<u64>,
    of_run: BTreeMap<&'w str, BTreeSet<u64>>,
    of_outcome: BTreeMap<Place<'w>, BTreeSet<u64>>,
    /// Answered needs by id, and by run.
    of_need: BTreeMap<&'w str, BTreeSet<u64>>,
    of_needs_in_run: BTreeMap<Option<&'w str>, BTreeSet<u64>>,
}

impl<'w> Unlocks<'w> {
    fn of(world: &'w World) -> Self {
        let mut unlocks = Unlocks::default();
        unlocks.answers(world);
        unlocks.changes(world, "CapabilitySnapshot", "capabilities");
        unlocks.changes(world, "PolicySnapshot", "policy_refs");
        for need in world.of("ResearchNeed").filter(|need| need.is("status", "answered")) {
            unlocks.of_need.entry(need.id()).or_default().insert(need.seq());
            let run = need.json().text("run_id");
            unlocks.of_needs_in_run.entry(run).or_default().insert(need.seq());
        }
        for review in world.of("EvaluationContractReview").filter(|one| one.is("approval_status", "edited")) {
            unlocks.add(review.json().text("run_id"), review.seq());
        }
        for receipt in world.of("LifecycleTransitionReceipt").filter(|one| one.is("to_state", "edited")) {
            let subject = receipt.follow("subject_ref");
            if let Some(review) = subject.filter(|one| one.kind() == "EvaluationContractReview") {
                unlocks.add(review.json().text("run_id"), receipt.seq());
            }
        }
        // That a verification came in shows only in the outcome that it makes worth another look.
        for event in world.of("OutcomeStateTransitionEvent") {
            let is_verified = event.is("from_state", "needs_verification") && event.is("to_state", "dirty");
            if let Some(place) = place(event).filter(|_| is_verified) {
                unlocks.of_outcome.entry(place).or_default().insert(event.seq());
            }
        }
        unlocks
    }

    fn add(&mut self, run: Option<&'w str>, at: u64) {
        let places = match run {
            Some(run) => self.of_run.entry(run).or_default(),
            None => &mut self.all,
        };
        places.insert(at);
    }

    /// What people answered, but for an answer that gives the scope up.
    fn answers(&mut self, world: &'w World) {
        for receipt in world.of("HardCallResolutionReceipt") {
            let call = receipt.json().text("hard_call_id").and_then(|id| world.find("HardRevisionCall", id));
            let chosen = receipt.text("selected_option_id");
            let mut options = call.iter().flat_map(|call| call.json().list("options"));
            let option = options.find(|option| chosen.is_some() && option.text("option_id") == chosen);
            if option.is_some_and(|option| option.is("effect", "abort_scope")) {
                continue;
            }
            let source = call.and_then(|call| call.follow("source_ref"));
            match source.filter(|one| one.kind() == "SufficiencyDetectionResult").and_then(place) {
                Some(place) => {
                    self.of_outcome.entry(place).or_default().insert(receipt.seq());
                }
                None => self.add(call.and_then(|call| call.json().text("run_id")), receipt.seq()),
            }
        }
    }

    /// Snapshots that say something else than the one before.
    fn changes(&mut self, world: &World, kind: &str, path: &str) {
        let mut before = None;
        for snapshot in world.of(kind) {
            let now = snapshot.json().at(path);
            if now != before {
                self.all.insert(snapshot.seq());
            }
            before = now;
        }
    }

    /// Where an outcome is unlocked first behind a detection.
    fn first_behind(&self, detection: Record<'_>, place: Place<'_>) -> Option<u64> {
        let behind = |places: Option<&BTreeSet<u64>>| places?.range(detection.seq()..).next().copied();
        let needs = detection.texts("blocking_research_need_refs");
        let named = needs.iter().filter_map(|need| behind(self.of_need.get(id_of("research_need", need))));
        let of_run = [Some(place.1), None].into_iter().filter(|_| needs.is_empty());
        let in_run = of_run.filter_map(|run| behind(self.of_needs_in_run.get(&run)));
        let general = [Some(&self.all), self.of_run.get(place.1), self.of_outcome.get(&place)]
            .into_iter()
            .filter_map(behind);
        named.chain(in_run).chain(general).min()
    }
}
