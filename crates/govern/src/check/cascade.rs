//! Validation codes: cascade.
//! Owns: the rules of this area. Must not: decide by names.

use super::stood::Stood;
use super::{Area, Found, Rule, Severity};
use crate::derive::graph::Graph;
use crate::fold::family::{CASCADE, OUTCOME};
use crate::member::Member;
use crate::world::{Record, World, in_force};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::vec::Vec;

pub(super) const AREA: Area = Area { name: "cascade", rules: RULES, kinds: &[] };

const RULES: &[Rule] = &[
    Rule {
        code: "outcome_dependency_cycle",
        severity: Severity::Error,
        section: "B-05/B-06/B-20",
        fires: "The declared outcome dependency graph contains a directed cycle (including a self-edge) while OutcomeDependencyGraphPolicy.reject_declared_cycles is true or on_cycle_detected is reject_graph.",
        legal: "A diamond (two outcomes depend on one, a fourth on both), which is acyclic.",
        why: "Outcomes that rest on each other can't be shown to hold: each is true only if the other is.",
        fix: "Take out the dependency that closes the ring, or make one outcome of them.",
        check: outcome_dependency_cycle,
    },
    Rule {
        code: "revalidation_cascade_loop",
        severity: Severity::Error,
        section: "B-05/B-06/B-20",
        fires: "A RevalidationCascadeRun re-enters an outcome that lies on its own activation path (the outcome stands twice in active_outcome_ids, or the origin_outcome_id is active behind others), or that it already revalidated and that became dirty again (the outcome stands twice in visited_outcome_ids, or is active again in a later version) (returned at run time, and the run must end as cycle_detected); on audit, such a re-entry in a run whose status is not cycle_detected.",
        legal: "An outcome reached by two different paths that is revalidated once and skipped the second time because it is in visited_outcome_ids.",
        why: "A cascade that comes back to an outcome never settles; an end that is told in spite of that is no end.",
        fix: "End the run as cycle_detected and let the policy decide, or take out the dependency that leads back.",
        check: revalidation_cascade_loop,
    },
    Rule {
        code: "revalidation_cascade_max_depth_exceeded",
        severity: Severity::Error,
        section: "B-05/B-06/B-20",
        fires: "The next activation of a RevalidationCascadeRun would make depth > max_depth (returned at run time, and the run must end as max_depth_exceeded); on audit, depth > max_depth with any other status.",
        legal: "depth == max_depth and the run becomes quiescent.",
        why: "Beyond its bound a cascade is no longer what was planned and paid for. Who relies on it must see that it was cut off.",
        fix: "End the run as max_depth_exceeded, or raise max_depth before it starts.",
        check: revalidation_cascade_max_depth_exceeded,
    },
    Rule {
        code: "success_marked_before_cascade_quiescent",
        severity: Severity::Error,
        section: "B-05/B-06/B-20",
        fires: "A RevisionExecutionLifecycle reaches terminal_satisfied, or the run/outcome is marked successful, at a seq where a RevalidationCascadeRun originating from one of its receipts is running or, for a lifecycle, no quiescent RevalidationCascadeReceipt exists yet. What marks an outcome of a revision is a RevisionCycleOutcomeObservation that succeeded, for the cascades that began with the outcome. That it passes a look marks nothing: a cascade comes to rest only when its outcomes, the first among them, have been looked at again.",
        legal: "Success at a seq after the receipt with status quiescent, including the trivial cascade with no dependents.",
        why: "While a cascade runs, an outcome may still turn out to be broken by the revision. Success told before is told too early.",
        fix: "Wait for the RevalidationCascadeReceipt with status quiescent, then tell success.",
        check: success_marked_before_cascade_quiescent,
    },
    Rule {
        code: "pending_dependency_not_rechecked_after_upstream_failure",
        severity: Severity::Error,
        section: "B-05/B-06/B-20",
        fires: "An outcome is in pending_dependency when the log is quiescent while one of its upstream outcomes has a terminal failing disposition (unrecoverable, upstream_failure, blocked_by_policy, max_iterations_reached), by its state or by the EvaluationResultEnvelope that came last, and the policy sets pending_dependency_state_entry_rechecks_upstream_failure.",
        legal: "The upstream outcome is needs_revision (not terminal), so waiting is right.",
        why: "An outcome that waits for one that has failed for good waits forever, and looks as if it were only late.",
        fix: "Move the outcome to upstream_failure as soon as what it rests on has failed.",
        check: pending_dependency_not_rechecked_after_upstream_failure,
    },
];

/// Outcomes that will not hold any more by themselves.
const FAILED: [&str; 4] =
    ["unrecoverable", "upstream_failure", "blocked_by_policy", "max_iterations_reached"];

/// An outcome in its run.
type Key<'w> = (Option<&'w str>, &'w str);

fn key<'w>(record: Record<'w>) -> Option<Key<'w>> {
    record.json().id_at("outcome_id").map(|outcome| (record.json().text("run_id"), outcome))
}

/// The outcomes as they were last declared.
fn outcomes(world: &World) -> BTreeMap<Key<'_>, Record<'_>> {
    world.of("OutcomeRecord").filter_map(|record| Some((key(record)?, record))).collect()
}

/// The policies on how outcomes rest on each other, in order: of several the last one before a row is in force.
fn policies(world: &World) -> Vec<Record<'_>> {
    world.of("OutcomeDependencyGraphPolicy").collect()
}

/// A cascade run and the receipts of its end.
#[derive(Default)]
struct Run<'w> {
    versions: Vec<Record<'w>>,
    receipts: Vec<Record<'w>>,
    /// Where a receipt led it out of running, and to what.
    ended: Option<(u64, &'static str)>,
}

impl Run<'_> {
    fn ended_as(&self, status: &str) -> bool {
        let last = self.versions.last();
        let is_told = last.into_iter().chain(&self.receipts).any(|record| record.is("status", status));
        is_told || self.ended.is_some_and(|(_, state)| state == status)
    }

    /// From where to where in the log it runs, without the end.
    fn spans(&self) -> impl Iterator<Item = (u64, u64)> {
        let ends = self.receipts.iter().filter(|receipt| !receipt.is("status", "running"));
        let over = ends.map(|receipt| receipt.seq()).chain(self.ended.map(|(seq, _)| seq)).min();
        let over = over.unwrap_or(u64::MAX);
        let next = self.versions.iter().skip(1).map(|version| version.seq()).chain([u64::MAX]);
        let running = self.versions.iter().zip(next).filter(|(version, _)| version.is("status", "running"));
        running.map(move |(version, next)| (version.seq(), next.min(over)))
    }
}

/// Cascades that were set off by one thing.
#[derive(Default)]
struct Cascades {
    /// From where to where any of them runs, sorted; each end is the latest of those so far.
    spans: Vec<(u64, u64)>,
    /// Where their ends are told, and whether each came to rest, sorted.
    ends: Vec<(u64, bool)>,
}

impl Cascades {
    /// Those of several runs, by what set them off.
    fn by<'r, 'w: 'r, K: Ord>(
        runs: impl Iterator<Item = &'r Run<'w>>,
        origin: impl Fn(Record<'w>) -> Option<K>,
    ) -> BTreeMap<K, Cascades> {
        let mut all: BTreeMap<K, Cascades> = BTreeMap::new();
        for run in runs {
            let Some(key) = run.versions.first().and_then(|first| origin(*first)) else { continue };
            let own = all.entry(key).or_default();
            own.spans.extend(run.spans());
            own.ends.extend(run.receipts.iter().map(|one| (one.seq(), one.is("status", "quiescent"))));
        }
        for own in all.values_mut() {
            own.spans.sort_unstable();
            own.ends.sort_unstable();
            let mut latest = 0;
            for (_, end) in &mut own.spans {
                latest = latest.max(*end);
                *end = latest;
            }
        }
        all
    }

    /// Whether one of them runs on and no end is told.
    fn run_on(&self) -> bool {
        self.spans.last().is_some_and(|(_, end)| *end == u64::MAX)
    }

    /// Whether the last that ended before a place came to rest.
    fn rest_at(&self, seq: u64) -> Option<bool> {
        let before = self.ends.partition_point(|(end, _)| *end < seq);
        before.checked_sub(1).and_then(|last| self.ends.get(last)).map(|(_, is_at_rest)| *is_at_rest)
    }

    /// Whether one of them runs at a place of the log.
    fn run_at(&self, seq: u64) -> bool {
        let begun = self.spans.partition_point(|(start, _)| *start <= seq);
        begun.checked_sub(1).and_then(|last| self.spans.get(last)).is_some_and(|(_, end)| seq < *end)
    }
}

fn runs(world: &World) -> BTreeMap<&str, Run<'_>> {
    let mut runs: BTreeMap<&str, Run<'_>> = BTreeMap::new();
    for record in world.of("RevalidationCascadeRun") {
        if let Some(id) = record.json().id_at("cascade_run_id") {
            runs.entry(id).or_default().versions.push(record);
        }
    }
    for receipt in world.of("RevalidationCascadeReceipt") {
        if let Some(id) = receipt.json().id_at("cascade_run_id") {
            runs.entry(id).or_default().receipts.push(receipt);
        }
    }
    if runs.is_empty() {
        return runs;
    }
    let stood = Stood::of(world, &CASCADE);
    for (id, run) in &mut runs {
        let mut moves = stood.course(&(None, *id)).iter().filter(|(seq, _)| stood.mover(*seq).is_some());
        run.ended = moves.next().and_then(|(seq, state)| Some((*seq, (*state)?)));
    }
    runs
}

fn outcome_dependency_cycle(world: &World, found: &mut Found<'_>) {
    let policies = policies(world);
    if policies.is_empty() {
        return;
    }
    let mut by_run: BTreeMap<Option<&str>, Vec<(&str, Record<'_>)>> = BTreeMap::new();
    for ((run, outcome), record) in outcomes(world) {
        by_run.entry(run).or_default().push((outcome, record));
    }
    for (_, mut records) in by_run {
        records.sort_by_key(|(_, record)| record.seq());
        for record in rejected(records, &policies) {
            found.add(
                record,
                "depends_on_outcome_ids",
                "the outcome rests, over others or at once, on itself",
            );
        }
    }
}

/// How often a policy may let new rings be and then reject others, in one run; what is left then is rejected.
const LOOKS_MAX: usize = 64;

/// The outcomes on rings that the policy rejected when they were closed: when the last outcome of each was declared. Rows come in
/// their order.
fn rejected<'w>(mut rows: Vec<(&'w str, Record<'w>)>, policies: &[Record<'w>]) -> Vec<Record<'w>> {
    let rejects = |policy: Record<'w>| {
        policy.flag("reject_declared_cycles") == Some(true) || policy.is("on_cycle_detected", "reject_graph")
    };
    let is_allowed = |last: Record<'w>| !in_force(policies, last.seq()).is_some_and(rejects);
    let mut all = Vec::new();
    for look in 1..=LOOKS_MAX {
        let mut next = Vec::new();
        for mut ring in rings(&rows).into_values() {
            // Without the last ones, which a policy let be, there may have been a smaller ring that another one rejected.
            let whole = ring.len();
            while look < LOOKS_MAX && ring.last().is_some_and(|(_, last)| is_allowed(*last)) {
                ring.pop();
            }
            match ring.len() == whole {
                true => all.extend(ring.into_iter().map(|(_, record)| record)),
                false => next.append(&mut ring),
            }
        }
        rows = next;
    }
    all
}

/// The outcomes that rest on each other, together and in order.
fn rings<'w>(rows: &[(&'w str, Record<'w>)]) -> BTreeMap<Option<usize>, Vec<(&'w str, Record<'w>)>> {
    let edges = rows.iter().flat_map(|(outcome, record)| {
        let upstream = record.json().ids_at("depends_on_outcome_ids").into_iter();
        upstream.map(move |upstream| (*outcome, upstream))
    });
    let graph = Graph::new([], edges);
    let on_ring = graph.on_cycle();
    let mut rings: BTreeMap<Option<usize>, Vec<(&str, Record<'_>)>> = BTreeMap::new();
    for row in rows.iter().filter(|(outcome, _)| on_ring.contains(outcome)) {
        rings.entry(graph.component(row.0)).or_default().push(*row);
    }
    rings
}

fn revalidation_cascade_loop(world: &World, found: &mut Found<'_>) {
    for run in runs(world).values() {
        let is_told = run.ended_as("cycle_detected");
        // What was looked at and done with in an earlier version.
        let mut done: BTreeSet<&str> = BTreeSet::new();
        for version in &run.versions {
            let visited = version.json().ids_at("visited_outcome_ids");
            let active = version.json().ids_at("active_outcome_ids");
            let again = [
                ("visited_outcome_ids", twice(&visited)),
                (
                    "active_outcome_ids",
                    twice(&active).or(active.iter().copied().find(|id| done.contains(id))),
                ),
            ];
            for (path, id) in again {
                if let Some(id) = id.filter(|_| !is_told || version.is_asking()) {
                    found.add(*version, path, format!("the cascade came back to outcome {id}"));
                }
            }
            let active: BTreeSet<&str> = active.into_iter().collect();
            // Every path begins with the origin, whether or not it is told as visited.
            let origin = version.json().id_at("origin_outcome_id");
            done.extend(visited.into_iter().chain(origin).filter(|id| !active.contains(id)));
        }
    }
}

/// The first that stands twice.
fn twice<'w>(ids: &[&'w str]) -> Option<&'w str> {
    let mut seen = BTreeSet::new();
    ids.iter().copied().find(|id| !seen.insert(*id))
}

fn revalidation_cascade_max_depth_exceeded(world: &World, found: &mut Found<'_>) {
    for run in runs(world).values() {
        let is_told = run.ended_as("max_depth_exceeded");
        for version in run.versions.iter().filter(|version| !is_told || version.is_asking()) {
            let depths = version.number("depth").zip(version.number("max_depth"));
            if let Some((depth, bound)) = depths.filter(|(depth, bound)| depth > bound) {
                found.add(
                    *version,
                    "depth",
                    format!("{depth} is deeper than {bound}, and the run does not say so"),
                );
            }
        }
    }
}

fn success_marked_before_cascade_quiescent(world: &World, found: &mut Found<'_>) {
    let runs = runs(world);
    let by_plan =
        Cascades::by(runs.values(), |run| run.follow("originating_receipt_ref")?.json().id_at("plan_id"));
    let by_origin = Cascades::by(runs.values(), |run| {
        run.json().id_at("origin_outcome_id").map(|outcome| (run.json().text("run_id"), outcome))
    });
    let ends = world.of("RevisionLifecycleTransitionEvent");
    for event in ends.filter(|event| event.is("to_state", "terminal_satisfied")) {
        let own = event.json().id_at("plan_id").and_then(|plan| by_plan.get(plan));
        let named = event.follow("receipt_ref").filter(|receipt| {
            receipt.kind() == "RevalidationCascadeReceipt" && receipt.is("status", "quiescent")
        });
        let is_named = named.is_some_and(|receipt| receipt.seq() < event.seq());
        let rests = own.and_then(|own| own.rest_at(event.seq()));
        if own.is_some_and(|own| own.run_at(event.seq())) {
            found.add(event, "to_state", "a cascade that the plan set off is still running");
        } else if !rests.unwrap_or(is_named) {
            let message = match rests {
                Some(_) => "the last cascade of the plan did not come to rest",
                None => "no cascade of the plan is quiescent yet",
            };
            found.add(event, "to_state", message);
        }
    }
    let cycles = world.of("RevisionCycleOutcomeObservation");
    for success in cycles.filter(|success| success.is("terminal_class", "succeeded")) {
        let own = key(success).and_then(|key| by_origin.get(&key));
        if own.is_some_and(|own| own.run_at(success.seq())) {
            let message = "a cascade that began with this outcome is still running";
            found.add(success, "terminal_class", message);
        }
    }
}

/// Where the state of an outcome is told.
const STATES: [(&str, &str); 2] = [("OutcomeRecord", "state"), ("OutcomeStateTransitionEvent", "to_state")];

/// The newest word on each outcome, by the types that have one and their members.
fn newest<'w>(
    world: &'w World,
    told: &[(&str, &'static str)],
) -> BTreeMap<Key<'w>, (Record<'w>, &'static str, &'w str)> {
    let mut words: BTreeMap<Key<'w>, (Record<'w>, &'static str, &'w str)> = BTreeMap::new();
    let stood = Stood::of(world, &OUTCOME);
    for (kind, member) in told {
        let is_move = *kind == "OutcomeStateTransitionEvent";
        for record in world.of(kind).filter(|one| !is_move || stood.counts(*one)) {
            let Some((key, word)) = key(record).zip(record.json().text(member)) else { continue };
            let newest = words.entry(key).or_insert((record, member, word));
            if newest.0.seq() < record.seq() {
                *newest = (record, member, word);
            }
        }
    }
    words
}

fn pending_dependency_not_rechecked_after_upstream_failure(world: &World, found: &mut Found<'_>) {
    let rechecks = "pending_dependency_state_entry_rechecks_upstream_failure";
    let policies = policies(world);
    if !policies.iter().any(|policy| policy.flag(rechecks) == Some(true)) {
        return;
    }
    let is_rechecked =
        |seq: u64| in_force(&policies, seq).is_some_and(|one| one.flag(rechecks) == Some(true));
    let states = newest(world, &STATES);
    // That an outcome has failed may also be what the last look at it came to.
    let words =
        newest(world, &[STATES.as_slice(), &[("EvaluationResultEnvelope", "decision.disposition")]].concat());
    let runs = runs(world);
    let moving = Cascades::by(runs.values(), |run| Some(run.json().text("run_id")));
    let is_moving = |run: &Option<&str>| moving.get(run).is_some_and(Cascades::run_on);
    for ((run, outcome), declared) in outcomes(world) {
        let state = states.get(&(run, outcome)).filter(|(_, _, state)| *state == "pending_dependency");
        let Some((record, member, _)) = state.filter(|_| !is_moving(&run)) else { continue };
        let upstream = declared.json().ids_at("depends_on_outcome_ids").into_iter();
        // By what held when both were so: the outcome waited, and the other had failed.
        let failed = |id: &&str| {
            words.get(&(run, id)).is_some_and(|(failure, _, state)| {
                FAILED.contains(state) && is_rechecked(failure.seq().max(record.seq()))
            })
        };
        if let Some(id) = upstream.into_iter().find(failed) {
            found.add(*record, *member, format!("waits for outcome {id}, which has failed for good"));
        }
    }
}

#[cfg(test)]
#[path = "cascade_tests.rs"]
mod tests;
