//! What is tried after it was established that nothing will do.
//! Owns: what unlocks an outcome again. Must not: judge the detection.

use super::{Place, place};
use crate::check::Found;
use crate::check::hard_calls::id_of;
use crate::check::revision::Owners;
use crate::check::stood::Stood;
use crate::fold::family::{APPROVAL, NEED, OUTCOME};
use crate::member::Member;
use crate::world::{Record, World};
use alloc::collections::{BTreeMap, BTreeSet, BinaryHeap};
use alloc::format;
use alloc::vec::Vec;
use core::cmp::Reverse;
use countersign_record::json::Json;

pub(super) fn sufficiency_retry_after_terminal_detection(world: &World, found: &mut Found<'_>) {
    let is_terminal = |one: &Record<'_>| one.flag("no_sufficient_procedure") == Some(true);
    let ended: Vec<Record<'_>> = world.of("SufficiencyDetectionResult").filter(is_terminal).collect();
    if ended.is_empty() {
        return;
    }
    let unlocks = Unlocks::of(world);
    let mut ends = Ends::default();
    for detection in ended {
        if let Some(place) = place(detection) {
            let end = End { at: detection.seq(), unlocked: unlocks.first_behind(detection, place) };
            ends.add(place, end);
        }
    }
    let mut watches: BTreeMap<For<'_>, Watch<'_>> = BTreeMap::new();
    for (attempt, tried) in attempts(world) {
        let watch = watches.entry(tried).or_insert_with(|| Watch::of(ends.places(world, tried), &ends));
        if let Some(at) = watch.ended(&ends, attempt.seq()) {
            let message = format!("row {at} says that no procedure is left, and nothing changed since");
            found.add(attempt, "", message);
        }
    }
}

/// What something is tried for. An attempt that does not say so is one for the outcomes of its plan, and without a plan for any that it
/// may be for: who leaves it out is not better off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum For<'w> {
    Outcome(Place<'w>),
    /// An outcome, in whatever run.
    OutcomeOfAny(&'w str),
    /// The plan, and the run where it does not say that.
    Plan(&'w str, Option<&'w str>),
    Run(&'w str),
    /// It does not say.
    Anything,
}

/// What is tried, in order.
fn attempts(world: &World) -> Vec<(Record<'_>, For<'_>)> {
    let mut attempts: Vec<(Record<'_>, For<'_>)> = Vec::new();
    for attempt in world.of("ProcedureAttemptRecord") {
        let (outcome, run) = (attempt.json().id_at("outcome_id"), attempt.json().text("run_id"));
        let plan = attempt.follow("revision_plan_ref").filter(|one| one.kind() == "RevisionPlan");
        let tried = match (outcome, plan) {
            (Some(outcome), plan) => match run.or_else(|| plan?.json().text("run_id")) {
                Some(run) => For::Outcome((outcome, run)),
                None => For::OutcomeOfAny(outcome),
            },
            (None, Some(plan)) => For::Plan(plan.id(), run),
            (None, None) => run.map_or(For::Anything, For::Run),
        };
        attempts.push((attempt, tried));
    }
    let owners = Owners::of(world);
    let is_dispatch =
        |one: &Record<'_>| one.is("operation_kind", "dispatched") || one.is_blank("operation_kind");
    for dispatch in world.of("RevisionOperationReceipt").filter(is_dispatch) {
        let run = dispatch.json().text("run_id");
        attempts.extend(owners.plan(dispatch).map(|plan| (dispatch, For::Plan(plan, run))));
    }
    attempts.sort_by_key(|(row, _)| row.seq());
    attempts
}

/// A detection that says that nothing will do, and where that is over.
#[derive(Clone, Copy)]
struct End {
    at: u64,
    unlocked: Option<u64>,
}

/// The detections of each outcome, in order.
#[derive(Default)]
struct Ends<'w> {
    of_place: BTreeMap<Place<'w>, Vec<End>>,
    of_run: BTreeMap<&'w str, BTreeSet<Place<'w>>>,
    of_outcome: BTreeMap<&'w str, BTreeSet<Place<'w>>>,
}

impl<'w> Ends<'w> {
    fn add(&mut self, place: Place<'w>, end: End) {
        self.of_place.entry(place).or_default().push(end);
        self.of_run.entry(place.1).or_default().insert(place);
        self.of_outcome.entry(place.0).or_default().insert(place);
    }

    /// The outcomes that came to an end among those that something is tried for.
    fn places(&self, world: &'w World, tried: For<'w>) -> Vec<Place<'w>> {
        let of_any = |outcome: &str| self.of_outcome.get(outcome).into_iter().flatten().copied();
        match tried {
            For::Outcome(place) => Vec::from([place]),
            For::OutcomeOfAny(outcome) => of_any(outcome).collect(),
            For::Plan(id, run) => {
                let Some(plan) = world.find("RevisionPlan", id) else { return Vec::new() };
                let outcomes: BTreeSet<&str> = plan.json().ids_at("outcome_ids").into_iter().collect();
                match plan.json().text("run_id").or(run) {
                    Some(run) => {
                        let places = outcomes.into_iter().map(|outcome| (outcome, run));
                        places.filter(|place| self.of_place.contains_key(place)).collect()
                    }
                    None => outcomes.into_iter().flat_map(of_any).collect(),
                }
            }
            For::Run(run) => self.of_run.get(run).into_iter().flatten().copied().collect(),
            For::Anything => self.of_place.keys().copied().collect(),
        }
    }

    /// How an outcome stands at a place of the log: where it came to an end that is not over, and up to where it stands so.
    fn stands(&self, place: Place<'w>, seq: u64) -> (Option<u64>, Option<u64>) {
        let ends = self.of_place.get(&place).map(Vec::as_slice).unwrap_or_default();
        let before = ends.partition_point(|end| end.at < seq);
        let next = ends.get(before).map(|end| end.at);
        let last = before.checked_sub(1).and_then(|last| ends.get(last));
        match last.filter(|end| end.unlocked.is_none_or(|unlocked| unlocked >= seq)) {
            Some(end) => (Some(end.at), end.unlocked.into_iter().chain(next).min()),
            None => (None, next),
        }
    }
}

/// Some outcomes that are looked at again and again: an outcome is looked at anew only behind a place where it changes.
struct Watch<'w> {
    /// Where each changes next.
    next: BinaryHeap<Reverse<(u64, Place<'w>)>>,
    /// Those that came to an end, by where.
    ended: BTreeSet<(u64, Place<'w>)>,
    at: BTreeMap<Place<'w>, u64>,
}

impl<'w> Watch<'w> {
    fn of(places: Vec<Place<'w>>, ends: &Ends<'w>) -> Self {
        let first = |place: Place<'w>| ends.stands(place, 0).1.map(|at| Reverse((at, place)));
        let next = places.into_iter().filter_map(first).collect();
        Watch { next, ended: BTreeSet::new(), at: BTreeMap::new() }
    }

    /// Where the first of them came to an end that is not over at a place of the log, behind those that were asked before.
    fn ended(&mut self, ends: &Ends<'w>, seq: u64) -> Option<u64> {
        while let Some(Reverse((_, place))) = self.next.peek().copied().filter(|Reverse((at, _))| *at < seq) {
            self.next.pop();
            let (end, next) = ends.stands(place, seq);
            if let Some(at) = self.at.remove(&place) {
                self.ended.remove(&(at, place));
            }
            if let Some(at) = end {
                self.at.insert(place, at);
                self.ended.insert((at, place));
            }
            self.next.extend(next.map(|at| Reverse((at, place))));
        }
        self.ended.first().map(|(at, _)| *at)
    }
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
        unlocks.needs(world);
        for review in world.of("EvaluationContractReview").filter(|one| one.is("approval_status", "edited")) {
            unlocks.add(review.json().text("run_id"), review.seq());
        }
        let reviews = Stood::of(world, &APPROVAL);
        let edits = world.of("LifecycleTransitionReceipt").filter(|one| one.is("to_state", "edited"));
        for receipt in edits.filter(|one| reviews.counts(*one)) {
            let subject = receipt.follow("subject_ref");
            if let Some(review) = subject.filter(|one| one.kind() == "EvaluationContractReview") {
                unlocks.add(review.json().text("run_id"), receipt.seq());
            }
        }
        // That a verification came in shows only in the outcome that it makes worth another look.
        let outcomes = Stood::of(world, &OUTCOME);
        for event in world.of("OutcomeStateTransitionEvent").filter(|one| outcomes.counts(*one)) {
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

    /// Questions that were answered, as they say themselves or as it came about.
    fn needs(&mut self, world: &'w World) {
        let stood = Stood::of(world, &NEED);
        let stated = world.of("ResearchNeed").filter(|need| need.is("status", "answered"));
        let stated = stated.map(|need| (need.id(), need.seq()));
        let course = |(_, id): &(_, &'w str), course: &[(u64, Option<&str>)]| {
            let answered = course.iter().filter(|(_, state)| *state == Some("answered"));
            answered.map(|(at, _)| (*id, *at)).collect::<Vec<_>>()
        };
        let moved = stood.all().flat_map(|(name, states)| course(name, states));
        for (need, at) in stated.chain(moved) {
            self.of_need.entry(need).or_default().insert(at);
            let run = world.find("ResearchNeed", need).and_then(|need| need.json().text("run_id"));
            self.of_needs_in_run.entry(run).or_default().insert(at);
        }
    }

    /// What people answered, but for an answer that gives the scope up.
    fn answers(&mut self, world: &'w World) {
        for receipt in world.of("HardCallResolutionReceipt") {
            // An answer to nothing says nothing.
            let call = receipt.json().id_at("hard_call_id").and_then(|id| world.find("HardRevisionCall", id));
            let Some(call) = call else { continue };
            let chosen = receipt.text("selected_option_id");
            let mut options = call.json().list("options").iter();
            let option = options.find(|option| chosen.is_some() && option.text("option_id") == chosen);
            if option.is_some_and(|option| option.is("effect", "abort_scope")) {
                continue;
            }
            let source = call.follow("source_ref");
            match source.filter(|one| one.kind() == "SufficiencyDetectionResult").and_then(place) {
                Some(place) => {
                    self.of_outcome.entry(place).or_default().insert(receipt.seq());
                }
                None => self.add(call.json().text("run_id"), receipt.seq()),
            }
        }
    }

    /// Snapshots that say something else than the one before. One that a run goes by is compared with the one that it went by before,
    /// and is a change for that run; one that nobody names yet is one for all.
    fn changes(&mut self, world: &'w World, kind: &str, path: &str) {
        let snapshots: Vec<Record<'_>> = world.of(kind).collect();
        if snapshots.len() < 2 {
            return;
        }
        let runs = runs_of_snapshots(world, kind);
        let (mut last, mut last_of_all) = (None, None);
        let mut last_of_run: BTreeMap<&str, Option<&Json>> = BTreeMap::new();
        for snapshot in snapshots {
            let now = Some(snapshot.json().at(path));
            let is_change = |before: Option<Option<&Json>>| before.is_some() && before != now;
            match runs.get(snapshot.id()) {
                Some(runs) => {
                    for run in runs {
                        let before = last_of_run.insert(run, now.flatten()).or(last_of_all);
                        if is_change(before) {
                            self.of_run.entry(run).or_default().insert(snapshot.seq());
                        }
                    }
                }
                None => {
                    if is_change(last) {
                        self.all.insert(snapshot.seq());
                    }
                    last_of_all = now;
                }
            }
            last = now;
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

/// The runs that go by each snapshot: what they evaluated, found out or marked as good names it.
fn runs_of_snapshots<'w>(world: &'w World, kind: &str) -> BTreeMap<&'w str, BTreeSet<&'w str>> {
    let member = match kind {
        "PolicySnapshot" => "policy_snapshot_ref",
        _capabilities => "capability_snapshot_ref",
    };
    let through = [
        ("EvaluationResultEnvelope", Some("evaluation_snapshot_ref")),
        ("SufficiencyDetectionResult", Some("coverage_assessment_ref")),
        ("KnownGoodCheckpoint", None),
    ];
    let mut runs: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (by, path) in through {
        for record in world.of(by) {
            let named = match path {
                Some(path) => record.follow(path),
                None => Some(record),
            };
            let snapshot = named.and_then(|one| one.json().reference(member));
            if let (Some(snapshot), Some(run)) = (snapshot, record.json().text("run_id")) {
                runs.entry(snapshot.id).or_default().insert(run);
            }
        }
    }
    runs
}
