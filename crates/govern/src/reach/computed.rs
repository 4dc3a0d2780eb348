//! Values that a registered formula gives, computed again from the records that its inputs stand in.
//! Owns: where the inputs of each formula stand. Must not: know a formula.

use super::{Found, What};
use crate::derive::cascade::Cascade;
use crate::formula::{evaluate, registry};
use crate::member::Member;
use crate::path::Path;
use crate::world::{Record, World, hash};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use countersign_record::json::{Json, Number, Object};
use countersign_record::time::Instant;

pub(super) fn find(world: &World, found: &mut Found) {
    for receipt in world.of("FormulaEvaluationReceipt") {
        let Some(formula) = receipt.json().text("formula_id") else { continue };
        let Some(output) = receipt.follow("output_ref") else { continue };
        let Some((inputs, members)) = inputs(formula, receipt, output) else { continue };
        let stated = receipt.json().text("input_value_hash").unwrap_or_default();
        if hash(&Json::Object(inputs.clone())).is_some_and(|own| own.hex() != stated.as_bytes()) {
            let message = format!("is not the hash of what row {} says went in", output.seq());
            found.add(receipt, "input_value_hash", What::Hash, message);
            continue;
        }
        let Ok(Some(ready)) = registry::ready(formula) else { continue };
        let value = match evaluate(ready, &inputs) {
            Ok(value) => value,
            Err(refused) => {
                let message = format!("there can be none: {refused}");
                found.add(receipt, "output_value_hash", What::Hash, message);
                continue;
            }
        };
        let parts = members.iter().filter_map(|(_, part)| value.value.get(part));
        let mut given = parts.chain([&value.value]).filter_map(hash).map(|one| one.hex());
        let stated = receipt.json().text("output_value_hash").unwrap_or_default();
        if !given.any(|one| one == stated.as_bytes()) {
            found.add(
                receipt,
                "output_value_hash",
                What::Hash,
                format!("is of nothing that {formula} gives"),
            );
        }
        for (path, part) in members {
            let given = if part.is_empty() { Some(&value.value) } else { value.value.get(part) };
            let given = given.filter(|given| **given != Json::Null);
            let own = output.json().at(path).filter(|own| **own != Json::Null);
            if given != own {
                found.add(
                    output,
                    Path::looked_up(path),
                    What::Repeat,
                    format!("is not what {formula} gives"),
                );
            }
        }
    }
    intervals(world, found);
    counts(world, found);
    depths(world, found);
}

/// A member of a record and the part of the formula's value that it repeats; an empty part is the whole.
type Members = &'static [(&'static str, &'static str)];

/// The inputs of a formula as the records have them, and what of the output it gives; `None` where they are not on record.
fn inputs(formula: &str, receipt: Record<'_>, output: Record<'_>) -> Option<(Object, Members)> {
    match (formula, output.kind()) {
        ("template_match_score_v1", "TemplateMatchEvaluation") => {
            let names = ["components", "weights", "soft_penalty_sum", "hard_veto_count"];
            let mut inputs = picked(output.json(), &names);
            inputs.insert("formula", output.follow("formula_ref")?.json().clone());
            Some((inputs, &[("overall_score", "")]))
        }
        ("concurrency_tie_break_v1", "TieBreakDecision") => {
            // What the order must be is told of every decision, with a receipt or without.
            Some((picked(output.json(), &["profiles"]), &[]))
        }
        ("novelty_v1", "NoveltyAssessmentWithNeighbor" | "NoveltyAssessmentNoNeighbor") => {
            let spec = output.follow("metric_spec_ref")?;
            let mut inputs = picked(output.json(), &["closest_pattern_distance"]);
            inputs.insert("no_pattern_fallback", spec.json().get("no_pattern_fallback")?.clone());
            inputs.insert("threshold", spec.json().get("threshold_default")?.clone());
            Some((inputs, NOVELTY))
        }
        ("cycle_efficiency_v1", "RevisionCycleEfficiencyRollup") => {
            let seen = output.json().references("included_observation_refs").into_iter();
            let seen: Vec<Record<'_>> = seen.filter_map(|one| receipt.world.resolve(one)).collect();
            let rows =
                seen.iter().map(|one| Json::Object(picked(one.json(), &["cycle_count", "terminal_class"])));
            let window = output.json().get("measurement_window")?.clone();
            let inputs = Object::from([("observations", Json::Array(rows.collect())), ("window", window)]);
            Some((inputs, EFFICIENCY))
        }
        ("sub_agent_reputation_score_v1", "SubAgentReputationScore") => {
            let config = output.follow("formula_config_ref")?;
            let names = ["weights", "false_negative_weight_multiplier", "min_invocation_count"];
            let mut inputs = picked(config.json(), &names);
            inputs.insert("invocations", output.json().get("sample_size")?.clone());
            inputs.insert("hits", hits(output)?);
            Some((inputs, REPUTATION))
        }
        _elsewhere => None,
    }
}

const NOVELTY: Members = &[
    ("novelty_score", "novelty_score"),
    ("similarity_score", "similarity_score"),
    ("forces_fresh_reasoning", "forces_fresh_reasoning"),
    ("triggers_task_agent", "triggers_task_agent"),
];
const EFFICIENCY: Members = &[
    ("avg_cycles_to_success", "avg_cycles_to_success"),
    ("wasted_cycle_burn_rate", "wasted_cycle_burn_rate"),
    ("right_censored_rate", "right_censored_rate"),
    ("max_iterations_rate", "max_iterations_rate"),
];
const REPUTATION: Members = &[("current_score", "current_score"), ("score_status", "score_status")];

/// Some members of a record, those that it has.
fn picked(record: &Json, names: &[&str]) -> Object {
    let mut picked = Object::new();
    for name in names {
        if let Some(value) = record.get(name) {
            picked.insert(*name, value.clone());
        }
    }
    picked
}

/// How often a sub-agent hit, by its rate.
fn hits(score: Record<'_>) -> Option<Json> {
    let (rate, all) = (score.number("component_scores.hit_rate_score")?, score.number("sample_size")?);
    // A rate of six decimals gives back the whole number that it was made from.
    let hits = format!("{:.0}", rate * all).parse::<u32>().ok()?;
    Some(Json::Number(Number::from(hits)))
}

/// The interval of a score is the one of its hits.
fn intervals(world: &World, found: &mut Found) {
    let Ok(Some(wilson)) = registry::ready("wilson_interval_v1") else { return };
    for score in world.of("SubAgentReputationScore") {
        let is_wilson = score
            .follow("formula_config_ref")
            .is_some_and(|one| one.is("confidence_interval_method", "wilson"));
        let stated = score.json().at("confidence_interval").filter(|_| is_wilson);
        let (Some(stated), Some(hits), Some(trials)) = (stated, hits(score), score.json().get("sample_size"))
        else {
            continue;
        };
        let mut inputs = Object::from([("hits", hits), ("trials", trials.clone())]);
        if let Some(level) = score.json().get("confidence_interval_level") {
            inputs.insert("level", level.clone());
        }
        if evaluate(wilson, &inputs).is_ok_and(|given| given.value != *stated) {
            found.add(score, "confidence_interval", What::Repeat, "is not the interval of its hits");
        }
    }
}

/// What counts cases has as many as it lists.
fn counts(world: &World, found: &mut Found) {
    let mut seen: BTreeMap<(Option<&str>, Option<&str>), Vec<Record<'_>>> = BTreeMap::new();
    for one in world.of("MetricObservation") {
        seen.entry((one.json().text("metric_id"), one.json().text("subject_ref"))).or_default().push(one);
    }
    for rollup in world.of("MetricRollup") {
        let listed = rollup.json().list("included_observation_refs").len() as u64;
        if rollup.count("sample_size").is_some_and(|cases| cases != listed) {
            found.add(rollup, "sample_size", What::Repeat, format!("and {listed} are listed"));
        }
        let mut named = rollup.json().references("included_observation_refs");
        let excluded = rollup.json().list("excluded_observation_refs").iter();
        named.extend(excluded.filter_map(|one| one.reference("observation_ref")));
        let named: BTreeSet<&str> = named.into_iter().map(|one| one.id).collect();
        let about = (rollup.json().text("metric_id"), rollup.json().text("subject_scope_ref"));
        let missing = seen.get(&about).into_iter().flatten().find(|one| {
            let times = one.time("observed_at").zip(rollup.time("measurement_window.start"));
            let is_in = times.is_some_and(|(seen, start)| seen >= start) && one.seq() < rollup.seq();
            is_in && !named.contains(one.id())
        });
        if let Some(missing) = missing {
            let message = format!("row {} is of the window and not listed", missing.seq());
            found.add(rollup, "included_observation_refs", What::List, message);
        }
    }
    let mut begun: BTreeMap<(&str, Option<&str>), Instant> = BTreeMap::new();
    for outcome in world.of("OutcomeRecord") {
        if let Some(at) = outcome.written_at() {
            begun.entry((outcome.id(), outcome.json().text("run_id"))).or_insert(at);
        }
    }
    for cycle in world.of("RevisionCycleOutcomeObservation") {
        let json = cycle.json();
        let begun = json.text("outcome_id").and_then(|id| begun.get(&(id, json.text("run_id"))));
        let end = cycle.time("observation_window.end");
        if begun.zip(end).is_some_and(|(begun, end)| end < *begun) {
            let message = "is before there was the outcome";
            found.add(cycle, "observation_window.end", What::Time, message);
        }
    }
    for result in world.of("CalibrationMetricResult") {
        let classes = result.count("positive_count").zip(result.count("negative_count"));
        if let Some(((one, other), all)) = classes.zip(result.count("sample_size"))
            && one.checked_add(other) != Some(all)
        {
            found.add(result, "sample_size", What::Repeat, "is not both classes together");
        }
    }
}

/// A cascade that came to rest is as deep as what rests on its outcome, and it never went deeper before.
fn depths(world: &World, found: &mut Found) {
    let mut edges: BTreeMap<&str, Vec<(String, String)>> = BTreeMap::new();
    for outcome in world.of("OutcomeRecord") {
        let json = outcome.json();
        let own = json.texts("depends_on_outcome_ids").into_iter();
        let own = own.map(|upstream| (String::from(outcome.id()), String::from(upstream)));
        edges.entry(json.text("run_id").unwrap_or_default()).or_default().extend(own);
    }
    let mut last: BTreeMap<&str, (u64, Option<u64>)> = BTreeMap::new();
    for run in world.of("RevalidationCascadeRun") {
        let json = run.json();
        let (Some(depth), Some(origin)) = (run.count("depth"), json.text("origin_outcome_id")) else {
            continue;
        };
        let (before, max) = *last.get(run.id()).unwrap_or(&(0, run.count("max_depth")));
        if depth < before || run.count("max_depth") != max {
            found.add(run, "depth", What::Repeat, "is not what the version before it says");
        }
        last.insert(run.id(), (depth, max));
        if run.is("status", "quiescent") {
            let own =
                edges.get(json.text("run_id").unwrap_or_default()).map(Vec::as_slice).unwrap_or_default();
            let own = own.iter().map(|(one, other)| (one.as_str(), other.as_str()));
            let whole = Cascade::run(own, origin, max.unwrap_or(u64::MAX));
            let mut visited = json.texts("visited_outcome_ids");
            let mut due = whole.visited().to_vec();
            visited.sort_unstable();
            due.sort_unstable();
            if whole.depth() != depth || visited != due {
                let message = "is not what rests on its outcome";
                found.add(run, "visited_outcome_ids", What::List, message);
            }
        }
    }
}
