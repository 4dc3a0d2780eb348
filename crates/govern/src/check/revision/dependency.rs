//! Which step waits for which.
//! Owns: the rules on dependencies of steps. Must not: know what steps do.

use super::super::Found;
use super::plan::{all_steps, plans, steps};
use crate::derive::graph::Graph;
use crate::member::Member;
use crate::path::Path;
use crate::world::{Record, World};
use alloc::collections::BTreeSet;
use alloc::format;
use countersign_record::json::Json;

fn has_dependencies(step: &Json) -> bool {
    step.at("depends_on_step_ids").is_some_and(|ids| ids.as_array().is_some())
}

/// Each step with each one that it waits for.
fn pairs<'w>(plan: Record<'w>) -> impl Iterator<Item = (&'w str, &'w str)> {
    steps(plan).flat_map(|step| {
        let upstream = step.json.texts("depends_on_step_ids").into_iter();
        upstream.filter_map(move |upstream| Some((step.id()?, upstream)))
    })
}

pub(super) fn revision_plan_dependency_edge_drift(world: &World, found: &mut Found<'_>) {
    for plan in world.of("RevisionPlan") {
        let edges = plan.json().at("dependency_edges").and_then(Json::as_array);
        // Where a step does not say what it waits for there is nothing to compare with.
        let Some(edges) = edges.filter(|_| steps(plan).all(|step| has_dependencies(step.json))) else {
            continue;
        };
        let drawn: BTreeSet<(&str, &str)> =
            edges.iter().filter_map(|edge| edge.text("from_step_id").zip(edge.text("to_step_id"))).collect();
        let said: BTreeSet<(&str, &str)> = pairs(plan).collect();
        if let Some((from, to)) = drawn.symmetric_difference(&said).next() {
            let (has, lacks) = if said.contains(&(*from, *to)) {
                ("the steps", "the edges")
            } else {
                ("the edges", "the steps")
            };
            let message = format!("{has} say that {from} waits for {to}, {lacks} do not");
            found.add(plan, "dependency_edges", message);
        }
    }
}

pub(super) fn revision_plan_step_dependency_undefined(world: &World, found: &mut Found<'_>) {
    for step in all_steps(world).filter(|step| !has_dependencies(step.json)) {
        found.add(step.record, step.path("depends_on_step_ids"), "does not say what the step waits for");
    }
}

pub(super) fn revision_plan_cycle(world: &World, found: &mut Found<'_>) {
    for plan in world.of("RevisionPlan") {
        let ring = Graph::new([], pairs(plan)).on_cycle();
        for step in steps(plan).filter(|step| step.id().is_some_and(|id| ring.contains(id))) {
            found.add(
                plan,
                step.path("depends_on_step_ids"),
                "the step waits, over others or at once, for itself",
            );
        }
    }
}

pub(super) fn revision_plan_dependency_targets_missing_step(world: &World, found: &mut Found<'_>) {
    for plan in plans(world).values() {
        for step in steps(plan.record) {
            for (at, upstream) in step.json.list("depends_on_step_ids").iter().enumerate() {
                if let Some(id) = upstream.as_str().filter(|id| !plan.steps.contains_key(id)) {
                    let path = step.path("depends_on_step_ids").item(at);
                    found.add(plan.record, path, format!("the plan has no step {id}"));
                }
            }
        }
        for (at, edge) in plan.record.json().list("dependency_edges").iter().enumerate() {
            for end in ["from_step_id", "to_step_id"] {
                if let Some(id) = edge.text(end).filter(|id| !plan.steps.contains_key(id)) {
                    let path = Path::from("dependency_edges").item(at).then(end);
                    found.add(plan.record, path, format!("the plan has no step {id}"));
                }
            }
        }
    }
}
