//! Validation codes: regeneration.
//! Owns: the rules of this area. Must not: decide by names.

use super::{Area, Found, Rule, Severity};
use crate::member::Member;
use crate::path::Path;
use crate::reference::Reference;
use crate::world::{Record, World};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_record::json::Json;

pub(super) const AREA: Area = Area { name: "regeneration", rules: RULES, kinds: &[] };

const RULES: &[Rule] = &[
    Rule {
        code: "regenerate_missing_previous_attempt_hashes",
        severity: Severity::Error,
        section: "B-27",
        fires: "A RegenerateRevisionPayload has an empty previous_attempt_hashes, or leaves out the output_hash of an earlier RegenerateAttemptReceipt/ProcedureAttemptRecord of the same step and target.",
        legal: "A first generation (attempt_class first), which has no RegenerateRevisionPayload.",
        why: "Without the hashes of what was tried before, the same text can come back as a new one, and the same defect with it.",
        fix: "List the output hash of every earlier attempt of this step on this target in previous_attempt_hashes.",
        check: regenerate_missing_previous_attempt_hashes,
    },
    Rule {
        code: "regenerate_identical_output",
        severity: Severity::Error,
        section: "B-27",
        fires: "A regenerated output's hash is in the payload's previous_attempt_hashes (returned at run time, the output may not be accepted); on audit, a RegenerateAttemptReceipt with such an output_hash has action_taken accepted_new_output or matched_previous_attempt = false.",
        legal: "The same output hash occurs in another step's or target's attempt history; on audit, a match recorded as rejected_identical_output.",
        why: "What was already found wanting is passed off as new. Nothing was mended, but the record says so.",
        fix: "Record the attempt as rejected_identical_output with matched_previous_attempt true, and vary the next one.",
        check: regenerate_identical_output,
    },
    Rule {
        code: "regenerate_loop_after_identical_rejection",
        severity: Severity::Error,
        section: "B-27",
        fires: "After a RegenerateAttemptReceipt with action_taken rejected_identical_output, another regenerate attempt of the same step runs with the same input_hash (no changed sampling, prompt strategy, module or human review as required_variation_policy demands).",
        legal: "The next attempt follows a changed_generation_policy receipt and has a different input_hash.",
        why: "The same input gives the same rejected output: time and money go, and nothing gets better.",
        fix: "Change sampling, prompt or module as required_variation_policy says, or ask a person, before the next attempt.",
        check: regenerate_loop_after_identical_rejection,
    },
];

/// A step and what it works on, in whatever version.
type Key<'w> = (&'w str, String);

fn target(text: &str) -> String {
    match Reference::read(text) {
        Some(reference) => Reference { version: None, hash: None, ..reference }.to_string(),
        None => text.to_string(),
    }
}

fn key(record: Record<'_>) -> Option<Key<'_>> {
    record.json().text("step_id").zip(record.json().text("target_ref")).map(|(step, on)| (step, target(on)))
}

/// A payload where it stands.
struct Payload<'w> {
    record: Record<'w>,
    path: Path,
    json: &'w Json,
    keys: Vec<Key<'w>>,
}

/// Where a step has the hashes of what was tried before.
const HASHES: &str = "payload.previous_attempt_hashes";

/// All payloads: rows of their own and those in steps.
fn payloads(world: &World) -> Vec<Payload<'_>> {
    let own = world.of("RegenerateRevisionPayload").map(|record| Payload {
        record,
        path: Path::from("previous_attempt_hashes"),
        json: record.json(),
        keys: key(record).into_iter().collect(),
    });
    let mut payloads: Vec<Payload<'_>> = own.collect();
    let plans = world.of("RevisionPlan").flat_map(|plan| {
        let steps = plan.json().list("steps").iter().enumerate();
        steps.map(move |(at, step)| (plan, Path::from("steps").item(at).then(HASHES), step))
    });
    let rows = world.of("RevisionPlanStepBase");
    let rows = rows.map(|step| (step, Path::from(HASHES), step.json()));
    for (record, path, step) in plans.chain(rows) {
        let payload = step.at("payload").filter(|payload| payload.is("revision_intent", "regenerate"));
        if let Some(json) = payload {
            let on = step.texts("target_refs").into_iter();
            let keys = on.filter_map(|on| Some((step.text("step_id")?, target(on)))).collect();
            payloads.push(Payload { record, path, json, keys });
        }
    }
    payloads.sort_by_key(|payload| payload.record.seq());
    payloads
}

/// What came out of each step on each target, and where that stands; each output once, in order.
fn outputs(world: &World) -> BTreeMap<Key<'_>, Vec<(u64, &str)>> {
    let members =
        [("RegenerateAttemptReceipt", "output_hash"), ("ProcedureAttemptRecord", "output_signature_hash")];
    let mut all: Vec<(u64, Key<'_>, &str)> = Vec::new();
    for (kind, member) in members {
        let rows = world.of(kind);
        all.extend(rows.filter_map(|row| Some((row.seq(), key(row)?, row.json().text(member)?))));
    }
    all.sort();
    let mut seen = BTreeSet::new();
    let mut outputs: BTreeMap<Key<'_>, Vec<(u64, &str)>> = BTreeMap::new();
    for (seq, key, output) in all {
        if seen.insert((key.clone(), output)) {
            outputs.entry(key).or_default().push((seq, output));
        }
    }
    outputs
}

fn regenerate_missing_previous_attempt_hashes(world: &World, found: &mut Found<'_>) {
    let outputs = outputs(world);
    for payload in payloads(world) {
        if payload.json.is_blank("previous_attempt_hashes") {
            found.add(
                payload.record,
                payload.path.clone(),
                "names no earlier attempt, so nothing can be seen to be new",
            );
            continue;
        }
        let named: BTreeSet<&str> = payload.json.texts("previous_attempt_hashes").into_iter().collect();
        let before = payload.keys.iter().flat_map(|key| {
            let known = outputs.get(key).map(Vec::as_slice).unwrap_or_default();
            known.iter().take_while(|(seq, _)| *seq < payload.record.seq())
        });
        if let Some((seq, _)) = before.into_iter().find(|(_, output)| !named.contains(output)) {
            found.add(
                payload.record,
                payload.path.clone(),
                format!("leaves out what the attempt in row {seq} gave"),
            );
        }
    }
}

fn regenerate_identical_output(world: &World, found: &mut Found<'_>) {
    let payloads = payloads(world);
    let mut payloads = payloads.iter().peekable();
    // The hashes that the latest payload of each step and target names.
    let mut previous: BTreeMap<&Key<'_>, BTreeSet<String>> = BTreeMap::new();
    // However its digits are written, a hash is the same.
    let plain = |hash: &str| hash.to_ascii_lowercase();
    for receipt in world.of("RegenerateAttemptReceipt") {
        while let Some(payload) = payloads.next_if(|payload| payload.record.seq() < receipt.seq()) {
            for key in &payload.keys {
                let hashes = payload.json.texts("previous_attempt_hashes").into_iter().map(plain);
                previous.insert(key, hashes.collect());
            }
        }
        let own = key(receipt).and_then(|key| previous.get(&key));
        let output = receipt.json().text("output_hash").map(plain);
        if !own.zip(output).is_some_and(|(hashes, output)| hashes.contains(&output)) {
            continue;
        }
        // An engine that is about to write the receipt is told also if it rejects what came.
        if receipt.is("action_taken", "accepted_new_output") {
            found.add(receipt, "action_taken", "an output that an earlier attempt gave was accepted as new");
        } else if receipt.flag("matched_previous_attempt") == Some(false) {
            found.add(receipt, "matched_previous_attempt", "an earlier attempt gave the same output");
        } else if receipt.is_asking() {
            found.add(receipt, "output_hash", "an earlier attempt gave the same output");
        }
    }
}

fn regenerate_loop_after_identical_rejection(world: &World, found: &mut Found<'_>) {
    let mut rejected: BTreeSet<(Key<'_>, &str)> = BTreeSet::new();
    for receipt in world.of("RegenerateAttemptReceipt") {
        let Some(input) = key(receipt).zip(receipt.json().text("input_hash")) else { continue };
        // Escalating or changing the policy is what is asked for, and no attempt.
        let attempts = ["accepted_new_output", "rejected_identical_output"];
        if receipt.is_one_of("action_taken", &attempts) && rejected.contains(&input) {
            found.add(receipt, "input_hash", "the input is the one that gave a rejected output before");
        }
        if receipt.is("action_taken", "rejected_identical_output") {
            rejected.insert(input);
        }
    }
}

#[cfg(test)]
#[path = "regeneration_tests.rs"]
mod tests;
