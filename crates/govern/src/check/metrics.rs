//! Validation codes: metrics.
//! Owns: the rules of this area. Must not: decide by names.

use super::formulas::{Specs, id_of};
use super::{Area, Found, Rule, Severity};
use crate::kind::{Class, Kind};
use crate::member::Member;
use crate::path::Path;
use crate::reference::Reference;
use crate::world::{Record, World};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use countersign_record::time::Instant;

pub(super) const AREA: Area = Area { name: "metrics", rules: RULES, kinds: KINDS };

/// `MetricObservationInvalidationEvent {event_id, observation_ref, reason, created_at}`: an observation is withdrawn.
const KINDS: &[Kind] = &[Kind::new("MetricObservationInvalidationEvent", Class::Event, Some("event_id"))];

const RULES: &[Rule] = &[
    Rule {
        code: "metric_rollup_without_window",
        severity: Severity::Error,
        section: "C-01",
        fires: "A MetricRollup (or RevisionCycleEfficiencyRollup) has no measurement_window, one whose end is before its start, or an empty one over more than one observation, while its FormulaSpec.sample_policy.window_required is true or unset.",
        legal: "A window of zero length at one instant when sample_size is at most 1.",
        why: "A mean over nobody knows when can be made to say anything by choosing the days.",
        fix: "Give the rollup the measurement_window its observations were taken in.",
        check: metric_rollup_without_window,
    },
    Rule {
        code: "metric_rollup_includes_invalidated_observation",
        severity: Severity::Error,
        section: "C-01",
        fires: "An included_observation_refs entry is an observation that a MetricObservationInvalidationEvent withdrew before the rollup, lies outside measurement_window, or is listed in excluded_observation_refs as well.",
        legal: "An observation invalidated after the rollup was created (the rollup itself must then be invalidated, not retro-flagged).",
        why: "What was withdrawn, happened at another time or was set aside still moves the number that is shown.",
        fix: "Compute the rollup again without the observation, and name it under excluded_observation_refs with the reason.",
        check: metric_rollup_includes_invalidated_observation,
    },
];

const ROLLUPS: [&str; 2] = ["MetricRollup", "RevisionCycleEfficiencyRollup"];

fn metric_rollup_without_window(world: &World, found: &mut Found<'_>) {
    let specs = Specs::of(world);
    for rollup in ROLLUPS.into_iter().flat_map(|kind| world.of(kind)) {
        let spec = formula_of(rollup).and_then(|formula| specs.in_force(formula, time_of(rollup), rollup));
        if spec.and_then(|spec| spec.flag("sample_policy.window_required")) == Some(false) {
            continue;
        }
        let listed = rollup.list("included_observation_refs").len() as u64;
        let cases = rollup.count("sample_size").unwrap_or(listed);
        match window(rollup) {
            None => found.add(rollup, "measurement_window", "it has no window"),
            Some((start, end)) if end < start => {
                found.add(rollup, "measurement_window", "its window ends before it starts");
            }
            Some((start, end)) if end == start && cases > 1 => {
                let message = format!("{cases} observations in a window without length");
                found.add(rollup, "measurement_window", message);
            }
            Some(_) => {}
        }
    }
}

/// The formula of a rollup: its metric, or what its receipt says.
fn formula_of<'w>(rollup: Record<'w>) -> Option<&'w str> {
    let metric = rollup.json().text("metric_id").map(|text| id_of(text, "formula_spec"));
    metric.or_else(|| rollup.follow("formula_eval_receipt_ref").and_then(|one| one.json().text("formula_id")))
}

fn time_of(rollup: Record<'_>) -> Option<Instant> {
    rollup.time("created_at").or(rollup.written_at())
}

fn window(rollup: Record<'_>) -> Option<(Instant, Instant)> {
    Some((rollup.time("measurement_window.start")?, rollup.time("measurement_window.end")?))
}

fn metric_rollup_includes_invalidated_observation(world: &World, found: &mut Found<'_>) {
    // When each observation was first withdrawn.
    let mut withdrawn: BTreeMap<(&str, &str), u64> = BTreeMap::new();
    for event in world.of("MetricObservationInvalidationEvent") {
        if let Some(observation) = event.json().reference("observation_ref") {
            withdrawn.entry((observation.kind, observation.id)).or_insert(event.seq());
        }
    }
    for rollup in ROLLUPS.into_iter().flat_map(|kind| world.of(kind)) {
        let excluded = rollup.json().list("excluded_observation_refs").iter();
        let excluded = excluded.filter_map(|one| one.reference("observation_ref"));
        let excluded: BTreeSet<(&str, &str)> = excluded.map(|one| (one.kind, one.id)).collect();
        let window = window(rollup);
        for (at, item) in rollup.json().list("included_observation_refs").iter().enumerate() {
            let Some(observation) = item.as_str().and_then(Reference::read) else { continue };
            let name = (observation.kind, observation.id);
            let is_outside = || {
                let seen = world.resolve(observation).and_then(|one| one.time("observed_at"));
                seen.zip(window).is_some_and(|(seen, (start, end))| !is_inside(seen, start, end))
            };
            let wrong = if withdrawn.get(&name).is_some_and(|seq| *seq <= rollup.seq()) {
                "the observation had been withdrawn"
            } else if excluded.contains(&name) {
                "the observation is both included and excluded"
            } else if is_outside() {
                "the observation is not of the window"
            } else {
                continue;
            };
            found.add(rollup, Path::from("included_observation_refs").item(at), wrong);
        }
    }
}

/// A window without length holds its one instant.
fn is_inside(seen: Instant, start: Instant, end: Instant) -> bool {
    (start <= seen && seen < end) || (start == end && seen == start)
}

#[cfg(test)]
#[path = "metrics_tests.rs"]
mod tests;
