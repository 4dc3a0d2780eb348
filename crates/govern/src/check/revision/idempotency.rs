//! Keys that make a step run once, however often it is asked for.
//! Owns: the rules on them. Must not: make keys.

use super::super::Found;
use super::plan::{STEP_KINDS, all_steps, plans, ran};
use crate::member::Member;
use crate::path::Path;
use crate::world::{Record, World};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::vec::Vec;
use countersign_record::json::Json;

/// A key where it stands.
struct Key<'w> {
    record: Record<'w>,
    /// The member that holds it; empty where it is the record.
    place: &'static str,
    json: &'w Json,
}

impl Key<'_> {
    fn path(&self, member: &'static str) -> Path {
        Path::from(self.place).then(member)
    }
}

/// All keys: rows of their own and those in receipts.
fn keys(world: &World) -> impl Iterator<Item = Key<'_>> {
    let own = world.of("StepIdempotencyKey").map(|record| Key { record, place: "", json: record.json() });
    let inside = world.of("RevisionOperationReceipt").filter_map(|record| {
        let json = record.json().at("idempotency_key").filter(|key| key.as_object().is_some())?;
        Some(Key { record, place: "idempotency_key", json })
    });
    own.chain(inside)
}

/// Whether a key is one for this step of this plan in its run.
fn is_for(key: &Json, plan: Record<'_>, plan_id: &str, step_id: &str) -> bool {
    let is_run = key.text("run_id").zip(plan.json().text("run_id")).is_none_or(|(own, run)| own == run);
    is_run && key.id_at("plan_id") == Some(plan_id) && key.is("step_id", step_id)
}

pub(super) fn step_idempotency_key_missing(world: &World, found: &mut Found<'_>) {
    for key in keys(world) {
        let is_again = key.json.is_one_of("attempt_class", &["retry", "regenerate"]);
        if is_again && key.json.is_blank("previous_attempt_hash") {
            found.add(
                key.record,
                key.path("previous_attempt_hash"),
                "says of no earlier attempt which it repeats",
            );
        }
    }
    let plans = plans(world);
    let rows = rows(world, &plans);
    // By plan and step: how often it was started, and how often without a key in its receipt.
    let mut attempts: BTreeMap<(&str, &str), (u64, usize)> = BTreeMap::new();
    for ran in ran(world, &plans) {
        let (started, bare) = attempts.entry((ran.plan_id, ran.step_id)).or_default();
        if *started > 0 && !ran.receipt.is("operation_kind", "step_started") {
            continue;
        }
        *started += 1;
        let own = ran.receipt.json().at("idempotency_key");
        if own.is_some_and(|key| is_for(key, ran.plan.record, ran.plan_id, ran.step_id)) {
            continue;
        }
        *bare += 1;
        let known = rows.get(&(ran.plan_id, ran.step_id)).map(Vec::as_slice).unwrap_or_default();
        if known.partition_point(|seq| *seq <= ran.receipt.seq()) < *bare {
            let message = format!("attempt {started} of step {} ran without a key of its own", ran.step_id);
            found.add(ran.receipt, "idempotency_key", message);
        }
    }
}

/// Where the keys that are rows stand, by plan and step, each key once.
fn rows<'w>(
    world: &'w World,
    plans: &BTreeMap<&'w str, super::plan::Plan<'w>>,
) -> BTreeMap<(&'w str, &'w str), Vec<u64>> {
    let mut seen = BTreeSet::new();
    let mut rows: BTreeMap<(&str, &str), Vec<u64>> = BTreeMap::new();
    for key in world.of("StepIdempotencyKey") {
        let says = key.json();
        let (Some(plan_id), Some(step_id)) = (says.id_at("plan_id"), says.text("step_id")) else { continue };
        let is_one = plans.get(plan_id).is_some_and(|plan| is_for(says, plan.record, plan_id, step_id));
        if is_one && key.hash().is_none_or(|hash| seen.insert(hash.hex())) {
            rows.entry((plan_id, step_id)).or_default().push(key.seq());
        }
    }
    rows
}

pub(super) fn step_idempotency_kind_unregistered(world: &World, found: &mut Found<'_>) {
    for key in keys(world) {
        if let Some(kind) = key.json.text("step_kind").filter(|kind| !STEP_KINDS.contains(kind)) {
            found.add(key.record, key.path("step_kind"), format!("{kind} is no kind of step"));
        }
    }
}

pub(super) fn step_idempotency_parallel_enum_drift(world: &World, found: &mut Found<'_>) {
    for entry in world.of("TypeOwnerRegistryEntry") {
        let is_gone = entry.is_one_of("status", &["deprecated", "retired"]);
        if entry.is("type_name", "StepKind") && !is_gone {
            found.add(entry, "type_name", "a second list of kinds of steps beside RevisionPlanStepKind");
        }
    }
    for declaration in world.of("TypeDeclaration").filter(|one| one.is("type_name", "StepKind")) {
        found.add(declaration, "type_name", "a second list of kinds of steps beside RevisionPlanStepKind");
    }
    let plans = plans(world);
    let own: BTreeMap<&str, &Json> = all_steps(world)
        .filter(|step| step.record.kind() == "RevisionPlanStepBase")
        .filter_map(|step| Some((step.id()?, step.json)))
        .collect();
    for key in keys(world) {
        let Some(step_id) = key.json.text("step_id") else { continue };
        let plan = key.json.id_at("plan_id").and_then(|plan| plans.get(plan));
        let step = match plan {
            Some(plan) => plan.steps.get(step_id).map(|step| step.json),
            None => own.get(step_id).copied(),
        };
        let kinds = step.and_then(|step| step.text("step_kind")).zip(key.json.text("step_kind"));
        // A kind that nobody registered is told by its own code.
        if let Some((step, kind)) = kinds.filter(|(step, kind)| step != kind && STEP_KINDS.contains(kind)) {
            found.add(key.record, key.path("step_kind"), format!("{kind}, but the step is {step}"));
        }
    }
}
