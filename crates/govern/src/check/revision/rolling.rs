//! Changing artifacts in place: each step builds on what the one before left.
//! Owns: the rules on hashes, locks and order. Must not: know how a step changes anything.

use super::super::{Found, within};
use super::plan::{Owners, Plan, mutated, plans};
use crate::derive::graph::Graph;
use crate::member::{Member, is_blank};
use crate::world::World;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::vec::Vec;
use countersign_record::json::Json;

pub(super) fn revision_plan_contains_predicted_post_hash(world: &World, found: &mut Found<'_>) {
    for kind in ["RevisionPlan", "RevisionPlanStepBase", "InPlaceMutationLock"] {
        for record in world.of(kind) {
            for path in within::places(record.json(), |_, name, member| is_post_hash(name, member)) {
                found.add(record, path, "says what the result will hash to before there is one");
            }
        }
    }
}

/// Whether a member tells the hash of a result, or several.
fn is_post_hash(name: &str, member: &Json) -> bool {
    let start = name.strip_suffix("post_hash").or_else(|| name.strip_suffix("post_hashes"));
    start.is_some_and(|start| start.is_empty() || start.ends_with('_')) && !is_blank(member)
}

pub(super) fn rolling_hash_parallel_steps_same_artifact(world: &World, found: &mut Found<'_>) {
    let plans = plans(world);
    for batch in world.of("ParallelBatch") {
        let plan = batch.json().id_at("plan_id").and_then(|plan| plans.get(plan));
        let Some(plan) = plan.filter(|plan| plan.is_rolling()) else { continue };
        let ids: BTreeSet<&str> = batch.json().texts("step_ids").into_iter().collect();
        let steps = ids.into_iter().filter_map(|id| plan.steps.get(id));
        let mut taken = BTreeSet::new();
        let mut artifacts = steps.flat_map(|step| mutated(world, step.json));
        if let Some(artifact) = artifacts.find(|artifact| !taken.insert(*artifact)) {
            found.add(batch, "step_ids", format!("several steps of one batch change artifact {artifact}"));
        }
    }
    overlaps(world, &plans, found);
}

/// A step that started while another that changes the same artifact was not done.
fn overlaps(world: &World, plans: &BTreeMap<&str, Plan<'_>>, found: &mut Found<'_>) {
    let mut running: BTreeMap<(&str, &str), BTreeSet<&str>> = BTreeMap::new();
    let owners = Owners::of(world);
    for receipt in world.of("RevisionOperationReceipt") {
        let says = receipt.json();
        let (Some(plan_id), Some(step_id)) = (owners.plan(receipt), says.text("step_id")) else { continue };
        let Some((plan_id, plan)) = plans.get_key_value(plan_id).filter(|(_, plan)| plan.is_rolling()) else {
            continue;
        };
        let Some(step) = plan.steps.get(step_id) else { continue };
        // While a person is asked, nothing runs.
        let ends = ["step_finished", "step_failed", "step_skipped", "hard_call_raised"];
        for artifact in mutated(world, step.json) {
            let steps = running.entry((plan_id, artifact)).or_default();
            if says.is_one_of("operation_kind", &ends) {
                steps.remove(step_id);
            } else if says.is("operation_kind", "step_started") || says.is_blank("operation_kind") {
                if let Some(other) = steps.iter().find(|other| **other != step_id) {
                    let message = format!("started while step {other} was changing artifact {artifact}");
                    found.add(receipt, "step_id", message);
                }
                // A receipt that does not say what it is for is of a step that ran and is done.
                match says.is_blank("operation_kind") {
                    true => steps.remove(step_id),
                    false => steps.insert(step_id),
                };
            }
        }
    }
}

pub(super) fn rolling_hash_same_artifact_dependency_missing(world: &World, found: &mut Found<'_>) {
    for plan in plans(world).values().filter(|plan| plan.is_rolling()) {
        let graph = Graph::new(
            plan.steps.keys().copied(),
            plan.steps.iter().flat_map(|(id, step)| {
                step.json.texts("depends_on_step_ids").into_iter().map(|upstream| (*id, upstream))
            }),
        );
        let mut by_artifact: BTreeMap<&str, Vec<(usize, &str)>> = BTreeMap::new();
        for (id, step) in &plan.steps {
            for artifact in mutated(world, step.json) {
                let place = graph.component(id).unwrap_or_default();
                by_artifact.entry(artifact).or_default().push((place, id));
            }
        }
        // Steps are all in one row if each comes after the one that the order of the graph puts before it.
        let mut pairs = Vec::new();
        for steps in by_artifact.values_mut() {
            steps.sort_unstable();
            pairs.extend(steps.windows(2).filter_map(|pair| match pair {
                [(_, before), (_, after)] => Some((*after, *before)),
                _ => None,
            }));
        }
        let apart = pairs.iter().zip(graph.reaches(&pairs)).filter(|(_, is_after)| !is_after);
        for ((after, before), _) in apart {
            if let Some(step) = plan.steps.get(after) {
                let message =
                    format!("steps {before} and {after} change one artifact and none waits for the other");
                found.add(plan.record, step.path("depends_on_step_ids"), message);
            }
        }
    }
}
