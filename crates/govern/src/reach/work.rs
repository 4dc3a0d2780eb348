//! Revisions as they are carried out: plans, steps, attempts, and the hashes that go from one to the next.
//! Owns: what plans, receipts and versions say of each other. Must not: know which states may follow; machines do.

use super::{Found, What};
use crate::derive::keys;
use crate::formula::{evaluate, registry};
use crate::member::Member;
use crate::path::Path;
use crate::world::{Record, World, hash};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use countersign_record::json::{Json, Object};

pub(super) fn find(world: &World, found: &mut Found) {
    steps(world, found);
    moves(world, found);
    keys(world, found);
    products(world, found);
    batches(world, found);
    anew(world, found);
    attempts(world, found);
    profiles(world, found);
}

/// What a plan contends with is what it is: its risk. And plans go in the order that their profiles make, receipt or not.
fn profiles(world: &World, found: &mut Found) {
    let formula = registry::ready("concurrency_tie_break_v1").ok().flatten();
    for decision in world.of("TieBreakDecision") {
        let profiles = decision.json().at("profiles").cloned().unwrap_or(Json::Null);
        let due = formula.and_then(|ready| evaluate(ready, &Object::from([("profiles", profiles)])).ok());
        if due.is_some_and(|due| decision.json().at("order") != Some(&due.value)) {
            found.add(decision, "order", What::Repeat, "is not the order that the profiles make");
        }
        for (at, profile) in decision.json().list("profiles").iter().enumerate() {
            let plan = profile.text("plan_id").and_then(|id| world.find("RevisionPlan", id));
            let risk = plan.and_then(|plan| plan.json().at("plan_risk_score"));
            if risk.is_some_and(|risk| profile.at("plan_risk_score") != Some(risk)) {
                let path = Path::from("profiles").item(at).then("plan_risk_score");
                found.add(decision, path, What::Repeat, "is not that of the plan");
            }
        }
    }
}

/// A step that is a row of its own is the one that its plan has, and what is done is done to a step of its plan.
fn steps(world: &World, found: &mut Found) {
    let mut planned: BTreeMap<&str, (&str, &Json)> = BTreeMap::new();
    for plan in world.of("RevisionPlan") {
        let own = plan.json().list("steps").iter();
        planned.extend(own.filter_map(|step| Some((step.text("step_id")?, (plan.id(), step)))));
    }
    for step in world.of("RevisionPlanStepBase") {
        if planned.get(step.id()).is_none_or(|(_, own)| *own != step.json()) {
            found.add(step, "", What::Repeat, "is not what its plan says");
        }
    }
    let kinds = ["RevisionOperationReceipt", "TypedRevisionInstruction", "InPlaceMutationLock"];
    let more = ["RegenerateAttemptReceipt", "RegenerateRevisionPayload"];
    for row in kinds.into_iter().chain(more).flat_map(|kind| world.of(kind)) {
        let Some(step) = row.json().text("step_id") else { continue };
        let plan = planned.get(step).map(|(plan, _)| *plan);
        if plan.is_none() || row.json().text("plan_id").is_some_and(|own| Some(own) != plan) {
            found.add(row, "step_id", What::NamesNothing, format!("{step} is no step of its plan"));
        }
    }
    for version in world.of("ArtifactVersion") {
        let step = version.json().text("produced_by_step_id");
        if step.is_some_and(|step| !planned.contains_key(step)) {
            found.add(version, "produced_by_step_id", What::NamesNothing, "is a step of no plan");
        }
    }
}

/// What an operation must be to lead from one state to the other.
fn operation(from: &str, to: &str) -> Option<&'static [&'static str]> {
    Some(match (from, to) {
        ("plan_compiled", "dispatch_pending") => &["plan_admitted"],
        ("plan_compiled", "terminal_failed") => &["plan_rejected"],
        ("regression_detected", "dispatch_pending") => &["replan_admitted"],
        ("dispatch_pending", "dispatched") => &["dispatched"],
        (_, "step_running") => &["step_started"],
        ("step_running", "step_receipt_received") | ("step_receipt_received", "revalidating") => {
            &["step_finished", "step_skipped"]
        }
        ("step_running", "terminal_failed") => &["step_failed"],
        (_, "waiting_hard_call") => &["hard_call_raised"],
        ("revalidating", _) => &["revalidation_done"],
        _other => return None,
    })
}

/// A plan moves by what was done to it, and that leads where it moves.
fn moves(world: &World, found: &mut Found) {
    for event in world.of("RevisionLifecycleTransitionEvent") {
        let Some(receipt) = event.follow("receipt_ref") else { continue };
        if receipt.kind() != "RevisionOperationReceipt" {
            continue;
        }
        let plans = receipt.json().text("plan_id").zip(event.json().text("plan_id"));
        if plans.is_some_and(|(one, other)| one != other) {
            found.add(event, "receipt_ref", What::Repeat, "is of another plan");
        }
        let (from, to) =
            (event.text("from_state").unwrap_or_default(), event.text("to_state").unwrap_or_default());
        let done = receipt.json().text("operation_kind");
        if operation(from, to).zip(done).is_some_and(|(wanted, done)| !wanted.contains(&done)) {
            let message = format!("row {} does not lead from {from} to {to}", receipt.seq());
            found.add(event, "to_state", What::Fold, message);
        }
    }
}

/// The key of an attempt names the step's target, and the attempt before it by its key.
fn keys(world: &World, found: &mut Found) {
    let mut before: BTreeMap<(&str, &str), BTreeSet<String>> = BTreeMap::new();
    for receipt in world.of("RevisionOperationReceipt") {
        let Some(key) = receipt.json().at("idempotency_key") else { continue };
        let (Some(plan), Some(step)) = (key.text("plan_id"), key.text("step_id")) else { continue };
        for member in ["plan_id", "step_id", "run_id"] {
            if key.text(member) != receipt.json().text(member) {
                let path = Path::from("idempotency_key").then(member);
                found.add(receipt, path, What::Repeat, "is not that of the receipt");
            }
        }
        let base = world.find("RevisionPlanStepBase", step);
        let targets = base.map(|base| base.json().list("target_refs")).unwrap_or_default();
        let stated = key.text("target_ref_hash").unwrap_or_default();
        let is_target = |target: &Json| hash(target).is_some_and(|own| own.hex() == stated.as_bytes());
        if !targets.is_empty() && !targets.iter().any(is_target) {
            let path = "idempotency_key.target_ref_hash";
            found.add(receipt, path, What::Hash, "is the hash of no target of the step");
        }
        let own = before.entry((plan, step)).or_default();
        let is_known = |hash: &str| own.contains(hash);
        if key.text("previous_attempt_hash").is_some_and(|hash| !is_known(hash)) {
            let path = "idempotency_key.previous_attempt_hash";
            found.add(receipt, path, What::Hash, "is the key of no attempt before");
        }
        own.insert(String::from(keys::step(key)));
    }
}

/// What a step produced is the version that it made; what a lock found is the version that it names.
fn products(world: &World, found: &mut Found) {
    let mut made: BTreeMap<&str, Vec<(u64, Option<&str>)>> = BTreeMap::new();
    for version in world.of("ArtifactVersion") {
        if let Some(step) = version.json().text("produced_by_step_id") {
            made.entry(step).or_default().push((version.seq(), version.json().text("content_hash")));
        }
    }
    for receipt in world.of("RevisionOperationReceipt") {
        let json = receipt.json();
        let (Some(step), Some(produced)) = (json.text("step_id"), json.text("produced_post_hash")) else {
            continue;
        };
        let own = made.get(step).map(Vec::as_slice).unwrap_or_default();
        let before = own.partition_point(|(seq, _)| *seq < receipt.seq());
        let last = before.checked_sub(1).and_then(|at| own.get(at)).and_then(|(_, hash)| *hash);
        if last.is_some_and(|last| last != produced) {
            let message = "is not the hash of the version that the step made";
            found.add(receipt, "produced_post_hash", What::Hash, message);
        }
    }
    for lock in world.of("InPlaceMutationLock") {
        let Some(base) = lock.json().text("expected_base_version_id") else { continue };
        match world.find("ArtifactVersion", base) {
            None => found.add(
                lock,
                "expected_base_version_id",
                What::NamesNothing,
                format!("{base} is not there"),
            ),
            Some(version) if version.json().text("content_hash") != lock.json().text("expected_pre_hash") => {
                found.add(lock, "expected_pre_hash", What::Hash, "is not the hash of its base version");
            }
            Some(_) => {}
        }
    }
}

/// What ends a batch is the receipts of its steps.
fn batches(world: &World, found: &mut Found) {
    for end in world.of("ParallelBatchFinalizationReceipt") {
        let Some(batch) = end.json().text("batch_id").and_then(|id| world.find("ParallelBatch", id)) else {
            found.add(end, "batch_id", What::NamesNothing, "is no batch");
            continue;
        };
        let receipts = end.json().references("step_receipt_refs").into_iter();
        let done = receipts.filter_map(|one| world.resolve(one)?.json().text("step_id"));
        let done: BTreeSet<&str> = done.collect();
        if done != batch.json().texts("step_ids").into_iter().collect() {
            found.add(end, "step_receipt_refs", What::List, "are not the receipts of the batch's steps");
        }
    }
}

/// What is asked anew names all that was named before, and an output is told to be old if it is.
fn anew(world: &World, found: &mut Found) {
    let mut known: BTreeMap<(&str, &str), BTreeSet<&str>> = BTreeMap::new();
    let kinds = ["RegenerateRevisionPayload", "RegenerateAttemptReceipt"];
    let mut rows: Vec<Record<'_>> = kinds.into_iter().flat_map(|kind| world.of(kind)).collect();
    rows.sort_by_key(|row| row.seq());
    for row in rows {
        let json = row.json();
        let Some(place) = json.text("step_id").zip(json.text("target_ref")) else { continue };
        let known = known.entry(place).or_default();
        if row.kind() == "RegenerateRevisionPayload" {
            let named: BTreeSet<&str> = json.texts("previous_attempt_hashes").into_iter().collect();
            if !named.is_superset(known) {
                let message = "leaves out what was named before";
                found.add(row, "previous_attempt_hashes", What::List, message);
            }
            known.extend(named);
        } else if let (Some(output), Some(is_old)) =
            (json.text("output_hash"), json.flag("matched_previous_attempt"))
        {
            if known.contains(output) != is_old {
                found.add(row, "output_hash", What::Repeat, "is not as new as the receipt says");
            }
            known.insert(output);
        }
    }
}

/// The attempts of a detection are those that were made; what they changed is what is between their scores.
fn attempts(world: &World, found: &mut Found) {
    let mut made: BTreeMap<(Option<&str>, Option<&str>), Vec<Record<'_>>> = BTreeMap::new();
    for attempt in world.of("ProcedureAttemptRecord") {
        let json = attempt.json();
        made.entry((json.text("outcome_id"), json.text("run_id"))).or_default().push(attempt);
        let scores = json.number("score_before.value").zip(json.number("score_after.value"));
        if let Some(((before, after), delta)) = scores.zip(json.number("score_delta"))
            && (after - before - delta).abs() > 1e-6
        {
            found.add(attempt, "score_delta", What::Repeat, "is not what is between the scores");
        }
    }
    for detection in world.of("SufficiencyDetectionResult") {
        let json = detection.json();
        let own = made.get(&(json.text("outcome_id"), json.text("run_id")));
        let before = own.into_iter().flatten().filter(|one| one.seq() < detection.seq());
        let before: Vec<&Json> = before.map(|one| one.json()).collect();
        if before != json.list("attempts").iter().collect::<Vec<_>>() {
            found.add(detection, "attempts", What::List, "are not the attempts that were made");
        }
    }
}
