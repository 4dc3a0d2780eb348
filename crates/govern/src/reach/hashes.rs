//! Hashes of what the log itself holds.
//! Owns: what each is of. Must not: know what stands outside of the log.

use super::{Found, What};
use crate::derive::text;
use crate::member::Member;
use crate::reference::Reference;
use crate::world::{Record, World, hash};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use countersign_record::digest::Digest;
use countersign_record::json::{Json, Number, Object};

pub(super) fn find(world: &World, found: &mut Found) {
    heads(world, found);
    targets(world, found);
    receipts(world, found);
    values(world, found);
    findings(world, found);
    wordings(world, found);
}

fn is_hex(digest: Option<Digest>, text: &str) -> bool {
    digest.is_some_and(|digest| digest.hex() == text.as_bytes())
}

fn whole(count: u64) -> Option<Json> {
    u32::try_from(count).ok().map(|count| Json::Number(Number::from(count)))
}

/// The head of a workspace after an operation: a chain, so that what was once there does not come back unseen.
fn head(prior: &str, operation: &Json, seq: u64) -> Option<Digest> {
    let operation = String::from(hash(operation)?);
    let link = [("prev", Json::from(prior)), ("op", Json::from(operation)), ("seq", whole(seq)?)];
    hash(&Json::Object(Object::from(link)))
}

/// Heads follow on each other, and each has one number.
fn heads(world: &World, found: &mut Found) {
    let mut stands: BTreeMap<&str, (&str, u64)> = BTreeMap::new();
    let mut numbers: BTreeMap<(&str, &str), u64> = BTreeMap::new();
    for receipt in world.of("SourceWorkspaceOperationReceipt") {
        let json = receipt.json();
        let Some(workspace) = json.text("workspace_id") else { continue };
        let prior = json.text("prior_workspace_head_hash").zip(json.count("prior_event_seq"));
        let stood = stands.get(workspace).copied();
        if let (Some(prior), Some(stood)) = (prior, stood)
            && prior != stood
        {
            let message = "is not where the workspace stood";
            found.add(receipt, "prior_workspace_head_hash", What::Hash, message);
        }
        let operation = json.text("operation_id").and_then(|id| world.find("SourceWorkspaceOperation", id));
        let new = json.text("new_workspace_head_hash").zip(json.count("new_event_seq"));
        if let (Some((prior, seq)), Some(new), Some(operation)) = (prior, new, operation) {
            if !is_hex(head(prior, operation.json(), seq + 1), new.0) {
                let message = "is not the head that the operation makes of the one before";
                found.add(receipt, "new_workspace_head_hash", What::Hash, message);
            }
            numbers.insert((workspace, prior), seq);
            numbers.insert((workspace, new.0), new.1);
        }
        if let Some(new) = new.filter(|_| json.is("status", "applied")) {
            stands.insert(workspace, new);
        }
        let is_read =
            json.is_one_of("operation_kind", &["read_workspace_snapshot", "export_workspace_bundle"]);
        if !is_read && json.is("status", "read_completed") || is_read && json.is("status", "applied") {
            found.add(receipt, "status", What::Repeat, "what reads changes nothing, and the other way round");
        }
        if json.at("conflict_reason").is_some() != json.is("status", "conflict") {
            found.add(receipt, "status", What::Repeat, "a conflict has a reason, and nothing else has one");
        }
    }
    for operation in world.of("SourceWorkspaceOperation") {
        let json = operation.json();
        let expected = json.text("precondition.expected_workspace_head_hash");
        let stated = json.count("precondition.expected_event_seq");
        let (Some(workspace), Some(expected), Some(stated)) = (json.text("workspace_id"), expected, stated)
        else {
            continue;
        };
        if numbers.get(&(workspace, expected)) != Some(&stated) {
            let message = "the workspace never had this head with this number";
            found.add(operation, "precondition.expected_workspace_head_hash", What::Hash, message);
        }
        if json.text("precondition.workspace_id").is_some_and(|own| own != workspace) {
            found.add(operation, "precondition.workspace_id", What::Repeat, "is another workspace");
        }
    }
}

/// The record that an applied operation expected is the one that was there.
fn targets(world: &World, found: &mut Found) {
    let mut versions: BTreeMap<&str, Vec<Record<'_>>> = BTreeMap::new();
    for source in world.of("SourceRecord") {
        versions.entry(source.id()).or_default().push(source);
    }
    for operation in world.of("SourceWorkspaceOperation") {
        let target = operation.json().reference("precondition.target_record_ref");
        let expected = operation.json().text("precondition.expected_target_record_hash");
        let (Some(target), Some(expected)) = (target, expected) else { continue };
        let all = versions.get(target.id).map(Vec::as_slice).unwrap_or_default();
        let before = all.partition_point(|one| one.seq() < operation.seq());
        let was = before.checked_sub(1).and_then(|at| all.get(at));
        if was.is_some_and(|was| !is_hex(was.hash(), expected)) {
            let path = "precondition.expected_target_record_hash";
            found.add(operation, path, What::Hash, "is not the hash of the record as it was");
        }
    }
}

/// What a receipt of a formula says that went in: the formula's text, the names and the records.
fn receipts(world: &World, found: &mut Found) {
    let mut specs: BTreeMap<(&str, &str), Record<'_>> = BTreeMap::new();
    for spec in world.of("FormulaSpec") {
        if let (Some(id), Some(version)) =
            (spec.json().text("formula_id"), spec.json().text("semantic_version"))
        {
            specs.insert((id, version), spec);
        }
    }
    for receipt in world.of("FormulaEvaluationReceipt") {
        let json = receipt.json();
        let (Some(id), Some(version)) = (json.text("formula_id"), json.text("formula_semantic_version"))
        else {
            continue;
        };
        let Some(spec) = specs.get(&(id, version)) else { continue };
        let Some(expression) = spec.json().reference("expression_ref").and_then(|one| one.hash) else {
            continue;
        };
        let omitted = json.texts("omitted_input_names");
        let mut names: Vec<&str> =
            spec.json().list("inputs").iter().filter_map(|one| one.text("name")).collect();
        names.retain(|name| !omitted.contains(name));
        names.sort_unstable();
        let manifest = Object::from([
            ("formula_id", Json::from(id)),
            ("formula_semantic_version", version.into()),
            ("expression_hash", expression.into()),
            ("input_names", Json::Array(names.into_iter().map(Json::from).collect())),
            ("input_refs", json.at("input_refs").cloned().unwrap_or(Json::Array(Vec::new()))),
        ]);
        let stated = json.text("input_manifest_hash").unwrap_or_default();
        if !is_hex(hash(&Json::Object(manifest)), stated) {
            let message = "is not the hash of the formula with these inputs";
            found.add(receipt, "input_manifest_hash", What::Hash, message);
        }
    }
}

/// The value of a receipt stands in the record that names it: the whole, or one of its members.
fn values(world: &World, found: &mut Found) {
    for receipt in world.of("FormulaEvaluationReceipt") {
        let json = receipt.json();
        let Some(output) = json.reference("output_ref") else { continue };
        let Some(record) = world.resolve(super::names::plain(output)) else { continue };
        let own =
            Reference { kind: "formula_evaluation_receipt", id: receipt.id(), version: None, hash: None };
        if !names(record.json(), own) {
            continue;
        }
        let stated = json.text("output_value_hash").unwrap_or_default();
        let mut rest = record.json().clone();
        if let Json::Object(members) = &mut rest {
            members.remove("formula_eval_receipt_ref");
        }
        if !has(record.json(), stated) && !is_hex(hash(&rest), stated) {
            let message = format!("row {} has no such value", record.seq());
            found.add(receipt, "output_value_hash", What::Hash, message);
        }
    }
}

/// Whether a value names a record.
fn names(value: &Json, to: Reference<'_>) -> bool {
    match value {
        Json::String(text) => Reference::read(text).is_some_and(|one| one.is_same(&to)),
        Json::Array(items) => items.iter().any(|item| names(item, to)),
        Json::Object(members) => members.iter().any(|(_, one)| names(one, to)),
        Json::Null | Json::Bool(_) | Json::Number(_) => false,
    }
}

/// Whether something in a value has this hash.
fn has(value: &Json, stated: &str) -> bool {
    let is_inside = match value {
        Json::Array(items) => items.iter().any(|item| has(item, stated)),
        Json::Object(members) => members.iter().any(|(_, one)| has(one, stated)),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => false,
    };
    is_inside || is_hex(hash(value), stated)
}

/// A finding is known again by its text, and says which state of the sources it is about.
fn findings(world: &World, found: &mut Found) {
    for finding in world.of("EvaluationFindingEvent") {
        let json = finding.json();
        let stated = json.text("match_key.normalized_finding_text_hash");
        let own = json.text("finding_text").map(text::hash);
        if stated.is_some_and(|stated| own.is_some() && !is_hex(own, stated)) {
            let path = "match_key.normalized_finding_text_hash";
            found.add(finding, path, What::Hash, "is not the hash of its text");
        }
        let head = json.text("match_key.source_workspace_snapshot_hash");
        let snapshot = finding.follow("evaluation_snapshot_ref");
        let sets = snapshot.map(|one| one.json().list("source_workspace_snapshot_hashes"));
        let is_there = |head: &str| {
            sets.is_none_or(|sets| sets.iter().any(|set| set.is("source_workspace_head_hash", head)))
        };
        if head.is_some_and(|head| !is_there(head)) {
            let path = "match_key.source_workspace_snapshot_hash";
            found.add(finding, path, What::Hash, "is not a head of its snapshot");
        }
        let both = json.text("target_criterion_id").zip(json.text("match_key.criterion_id"));
        if both.is_some_and(|(own, key)| own != key) {
            found.add(finding, "match_key.criterion_id", What::Repeat, "is another criterion");
        }
    }
}

/// A review compares texts that the criterion had.
fn wordings(world: &World, found: &mut Found) {
    let mut texts: BTreeSet<(&str, &str)> = BTreeSet::new();
    for row in world.of("CriterionIdentityFields") {
        texts.extend(row.json().text("criterion_text_hash").map(|text| (row.id(), text)));
    }
    for review in world.of("CriterionSemanticReviewReceipt") {
        let Some(criterion) = review.json().text("criterion_id") else { continue };
        for member in ["from_text_hash", "to_text_hash"] {
            if review.json().text(member).is_some_and(|text| !texts.contains(&(criterion, text))) {
                let message = "the criterion never had this text";
                found.add(review, member, What::Hash, message);
            }
        }
    }
}
