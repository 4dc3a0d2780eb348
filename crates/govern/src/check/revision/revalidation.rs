//! What is looked at again after a step: said once, by the step.
//! Owns: the rules on that statement. Must not: decide what is looked at.

use super::super::{Found, within};
use super::plan::{Step, all_steps};
use crate::member::Member;
use crate::path::Path;
use crate::reference::Reference;
use crate::world::{Record, World};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use countersign_record::json::Json;

/// How much is looked at again.
const POLICY_KINDS: [&str; 5] = [
    "none",
    "revalidate_targeted_outcomes",
    "revalidate_declared_dependents",
    "revalidate_full_closure",
    "revalidate_full_task",
];

const LEGACY: [&str; 2] = ["revalidation_trigger", "revalidation_expectation"];

pub(super) fn revalidation_policy_ambiguous(world: &World, found: &mut Found<'_>) {
    for step in all_steps(world) {
        if let Some(policy) = step.json.at("revalidation_policy") {
            contradicts_itself(policy, step.record, step.path("revalidation_policy"), found);
        }
        let kind = step.json.text("revalidation_policy.policy_kind");
        for legacy in LEGACY {
            let word = step.json.text(legacy).or_else(|| step.json.at(legacy)?.text("policy_kind"));
            let word = word.filter(|word| POLICY_KINDS.contains(word));
            if let Some((kind, word)) = kind.zip(word).filter(|(kind, word)| kind != word) {
                found.add(step.record, step.path(legacy), format!("{word}, but the policy says {kind}"));
            }
        }
    }
    for policy in world.of("RevisionStepRevalidationPolicy") {
        contradicts_itself(policy.json(), policy, Path::whole(), found);
    }
    let steps = Steps::of(world);
    for instruction in world.of("TypedRevisionInstruction") {
        let step = steps.of_instruction(instruction).and_then(|step| step.json.at("revalidation_policy"));
        let named = instruction.follow("revalidation_policy_ref");
        let named = named.filter(|named| named.kind() == "RevisionStepRevalidationPolicy");
        if named.zip(step).is_some_and(|(named, step)| meaning(named.json()) != meaning(step)) {
            found.add(
                instruction,
                "revalidation_policy_ref",
                "leads to another policy than that of the step",
            );
        }
    }
}

/// What a policy asks for, without its reasons.
fn meaning(policy: &Json) -> (Option<&str>, BTreeSet<&str>, Option<&str>) {
    let outcomes = policy.texts("outcomes_to_recheck").into_iter().collect();
    (policy.text("policy_kind"), outcomes, policy.text("closure_policy_ref"))
}

fn contradicts_itself(policy: &Json, record: Record<'_>, place: Path, found: &mut Found<'_>) {
    let is_empty = policy.is_blank("outcomes_to_recheck");
    let (member, message) = match policy.text("policy_kind") {
        Some("none") if !is_empty => {
            ("outcomes_to_recheck", "nothing is to be looked at again, but here is what")
        }
        Some("revalidate_targeted_outcomes") if is_empty => {
            ("outcomes_to_recheck", "outcomes are to be looked at again, but none is named")
        }
        Some("revalidate_full_closure") if policy.is_blank("closure_policy_ref") => (
            "closure_policy_ref",
            "all that depends is to be looked at again, but no policy says what that is",
        ),
        Some(_) | None => return,
    };
    found.add(record, place.then(member), message);
}

/// Steps by what they are called.
struct Steps<'w> {
    by_plan: BTreeMap<(&'w str, &'w str), Step<'w>>,
    /// `None` where several plans have a step of that id.
    by_id: BTreeMap<&'w str, Option<Step<'w>>>,
}

impl<'w> Steps<'w> {
    fn of(world: &'w World) -> Self {
        let mut steps = Steps { by_plan: BTreeMap::new(), by_id: BTreeMap::new() };
        for step in all_steps(world) {
            let Some(id) = step.id() else { continue };
            if let Some(plan) = step.record.json().id_at("plan_id") {
                steps.by_plan.insert((plan, id), step);
            }
            steps.by_id.entry(id).and_modify(|known| *known = None).or_insert(Some(step));
        }
        steps
    }

    /// The step of an instruction, if it says which.
    fn of_instruction(&self, instruction: Record<'w>) -> Option<Step<'w>> {
        let id = instruction.json().text("step_id")?;
        match instruction.json().id_at("plan_id") {
            Some(plan) => self.by_plan.get(&(plan, id)).copied(),
            None => self.by_id.get(id).copied().flatten(),
        }
    }
}

pub(super) fn revalidation_policy_ref_missing(world: &World, found: &mut Found<'_>) {
    let steps = Steps::of(world);
    for instruction in world.of("TypedRevisionInstruction") {
        if let Some(message) = no_policy(world, &steps, instruction) {
            found.add(instruction, "revalidation_policy_ref", message);
        }
    }
}

/// Why an instruction leads to no policy of its step. A policy is a row, or stands in the step that the reference names.
fn no_policy(world: &World, steps: &Steps<'_>, instruction: Record<'_>) -> Option<String> {
    let Some(text) = instruction.json().text("revalidation_policy_ref") else {
        return Some(String::from("names no policy"));
    };
    let reference = Reference::read(text);
    let is_of =
        |id: Option<&str>| instruction.json().text("step_id").zip(id).is_none_or(|(own, id)| own == id);
    let is_policy = match reference.map(|reference| (reference.kind, reference)) {
        Some(("revision_step_revalidation_policy", reference)) => {
            let policy = world.resolve_at(reference, instruction.seq());
            policy.is_some_and(|policy| is_of(policy.json().text("step_id")))
        }
        Some(("revision_plan_step_base", reference)) => {
            let step = steps.by_id.get(reference.id);
            let has_policy = |step: &Step<'_>| !step.json.is_blank("revalidation_policy");
            step.is_some_and(|step| step.as_ref().is_none_or(has_policy)) && is_of(Some(reference.id))
        }
        Some(_) | None => false,
    };
    (!is_policy).then(|| format!("{text} is not the policy of its step"))
}

pub(super) fn revalidation_trigger_legacy_field_present(world: &World, found: &mut Found<'_>) {
    legacy(world, "revalidation_trigger", found);
}

pub(super) fn revalidation_expectation_legacy_field_present(world: &World, found: &mut Found<'_>) {
    legacy(world, "revalidation_expectation", found);
}

fn legacy(world: &World, field: &'static str, found: &mut Found<'_>) {
    let message = "was replaced by revalidation_policy";
    let kinds =
        ["RevisionPlan", "RevisionPlanStepBase", "TypedRevisionInstruction", "OutcomeRepairInstruction"];
    for record in kinds.into_iter().flat_map(|kind| world.of(kind)) {
        for path in within::named(record.json(), field) {
            found.add(record, path, message);
        }
    }
}
