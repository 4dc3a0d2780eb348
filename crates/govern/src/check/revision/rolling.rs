//! Changing artifacts in place: each step builds on what the one before left.
//! Owns: the rules on hashes, locks and order. Must not: know how a step changes anything.

use super::super::Found;
use super::plan::{Owners, Plan, is_mutating, mutated, plans, ran};
use crate::derive::graph::Graph;
use crate::member::{Member, is_blank};
use crate::path::Path;
use crate::world::World;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::vec;
use alloc::vec::Vec;
use countersign_record::json::Json;

pub(super) fn revision_plan_contains_predicted_post_hash(world: &World, found: &mut Found<'_>) {
    for kind in ["RevisionPlan", "RevisionPlanStepBase", "InPlaceMutationLock"] {
        for record in world.of(kind) {
            for path in post_hashes(record.json()) {
                found.add(record, path, "says what the result will hash to before there is one");
            }
        }
    }
}

fn is_post_hash(name: &str, member: &Json) -> bool {
    (name == "post_hash" || name.ends_with("_post_hash")) && !is_blank(member)
}

/// Where a value tells the hash of a result. Paths are made only where there is one, since nearly always there is none.
fn post_hashes(value: &Json) -> Vec<Path> {
    let mut paths = Vec::new();
    if !has_post_hash(value) {
        return paths;
    }
    let mut open = vec![(Path::whole(), value)];
    while let Some((path, value)) = open.pop() {
        let below = |name: &str| path.clone().name(name);
        match value {
            Json::Object(object) => {
                let found = object.iter().filter(|(name, member)| is_post_hash(name, member));
                paths.extend(found.map(|(name, _)| below(name)));
                open.extend(object.iter().map(|(name, member)| (below(name), member)));
            }
            Json::Array(items) => {
                open.extend(items.iter().enumerate().map(|(at, item)| (path.clone().item(at), item)));
            }
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {}
        }
    }
    paths
}

fn has_post_hash(value: &Json) -> bool {
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        match value {
            Json::Object(object) => {
                if object.iter().any(|(name, member)| is_post_hash(name, member)) {
                    return true;
                }
                open.extend(object.iter().map(|(_, member)| member));
            }
            Json::Array(items) => open.extend(items),
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {}
        }
    }
    false
}

pub(super) fn in_place_lock_missing_expected_pre_hash(world: &World, found: &mut Found<'_>) {
    let plans = plans(world);
    let planned: BTreeMap<(&str, &str), &Json> = plans
        .iter()
        .flat_map(|(id, plan)| {
            plan.record.json().list("in_place_mutation_locks").iter().map(move |lock| (*id, lock))
        })
        .filter_map(|(plan, lock)| Some(((plan, lock.text("step_id")?), lock)))
        .collect();
    let mut acquired: BTreeMap<&str, Vec<(u64, &Json)>> = BTreeMap::new();
    for lock in world.of("InPlaceMutationLock") {
        if let Some(step) = lock.json().text("step_id") {
            acquired.entry(step).or_default().push((lock.seq(), lock.json()));
        }
    }
    let mut told = BTreeSet::new();
    for ran in ran(world, &plans).filter(|ran| ran.plan.is_rolling() && is_mutating(ran.step.json)) {
        let locks = acquired.get(ran.step_id).map(Vec::as_slice).unwrap_or_default();
        let before = locks.get(..locks.partition_point(|(seq, _)| *seq < ran.receipt.seq()));
        let last = before.and_then(<[_]>::last).map(|(_, lock)| *lock);
        let lock = last.or_else(|| planned.get(&(ran.plan_id, ran.step_id)).copied());
        let Some(hash) = lock.and_then(|lock| lock.text("expected_pre_hash")) else {
            if told.insert((ran.plan_id, ran.step_id)) {
                let message = format!("step {} ran without a lock that says what it found", ran.step_id);
                found.add(ran.receipt, "expected_pre_hash", message);
            }
            continue;
        };
        if ran.receipt.json().text("expected_pre_hash").is_some_and(|own| own != hash) {
            found.add(ran.receipt, "expected_pre_hash", "is not the hash that was read with the lock");
        }
    }
}

pub(super) fn rolling_hash_parallel_steps_same_artifact(world: &World, found: &mut Found<'_>) {
    let plans = plans(world);
    for batch in world.of("ParallelBatch") {
        let plan = batch.json().text("plan_id").and_then(|plan| plans.get(plan));
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
