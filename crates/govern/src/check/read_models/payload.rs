//! What is shown under a header, and whether its manifest backs it.
//! Owns: which members cite inputs. Must not: derive a status anew where that has a code of its own.

use super::super::Found;
use super::super::stood::Stood;
use super::manifest;
use super::place::History;
use crate::derive::chain::FindingState;
use crate::fold::family::FINDING;
use crate::kind::{self, Class};
use crate::member::{Member, every_text};
use crate::path::{Path, Step};
use crate::reference::Reference;
use crate::world::{Mark, Record, World, is_reference};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::vec;
use alloc::vec::Vec;
use countersign_record::json::Json;

/// A type that is shown, and its members that cite what it was derived from.
const CITES: [(&str, &[&str]); 8] = [
    (
        "TaskHealthCard",
        &["active_blocker_refs", "latest_verdict_refs", "budget_status_ref", "reliance_packet_ref"],
    ),
    (
        "DecisionAuditView",
        &[
            "target_decision_ref",
            "chain_resolution_receipt_refs",
            "finding_refs",
            "policy_decision_refs",
            "hard_call_resolution_refs",
            "explanation_trace_ref",
        ],
    ),
    (
        "UnifiedEvaluationChainView",
        &[
            "chain_registry_record_ref",
            "chain_resolution_receipt_ref",
            "qualitative_finding_refs",
            "quantitative_result_refs",
        ],
    ),
    ("EvidencePackage", &["final_artifact_refs", "source_workspace_snapshot_ref", "evidence_anchor_refs"]),
    ("BudgetNarrative", &["planned_forecast_ref", "actual_cost_record_refs"]),
    ("WorkProductCertification", &["task_reliance_packet_ref"]),
    ("AttentionLedgerItem", &["source_ref"]),
    // What a comparison points to is derived with it; that it compares two runs is all that it cites.
    ("RunDiff", &[]),
];

/// What is shown under each header, the last version of it.
pub(super) fn by_header(world: &World) -> BTreeMap<&str, Record<'_>> {
    pairs(world).into_iter().map(|(header, shown)| (header.id(), shown)).collect()
}

/// Headers and what is shown under them: what names its header, then what a header names.
fn pairs(world: &World) -> Vec<(Record<'_>, Record<'_>)> {
    let under = |shown: Record<'_>| {
        let header = shown.follow("derived_read_model_ref")?;
        (header.kind() == "DerivedReadModelRecord").then_some(header.seq())
    };
    let headers: BTreeMap<u64, Record<'_>> =
        world.of("DerivedReadModelRecord").map(|header| (header.seq(), header)).collect();
    let mut pairs = Vec::new();
    for shown in CITES.iter().flat_map(|(kind, _)| world.of(kind)) {
        let header = under(shown).and_then(|seq| headers.get(&seq));
        pairs.extend(header.map(|header| (*header, shown)));
    }
    for header in headers.values() {
        pairs.extend(header.follow("payload_ref").map(|shown| (*header, shown)));
    }
    pairs
}

pub(super) fn read_model_asserts_unbacked_truth(world: &World, found: &mut Found<'_>) {
    let mut backing: BTreeMap<u64, BTreeSet<(&str, &str)>> = BTreeMap::new();
    let findings = (History::of(world, "EvaluationFindingRecord"), Stood::of(world, &FINDING));
    let mut done = BTreeSet::new();
    for (header, shown) in pairs(world) {
        // Without a manifest nothing is backed, which has a code of its own.
        let Some(manifest) = manifest(header) else { continue };
        if !done.insert((manifest.seq(), shown.seq())) {
            continue;
        }
        let inputs = backing.entry(manifest.seq()).or_insert_with(|| {
            let mut all = Vec::new();
            every_text(manifest.json(), &mut all);
            all.into_iter().filter_map(Reference::read).map(|to| (to.kind, to.id)).collect()
        });
        let members = CITES.iter().find(|(kind, _)| *kind == shown.kind()).map(|(_, members)| *members);
        for member in members.unwrap_or_default() {
            let missing = cited(shown, member).into_iter().find(|to| !inputs.contains(&(to.kind, to.id)));
            if let Some(missing) = missing {
                found.add(shown, *member, format!("cites {missing}, which is not in its input manifest"));
            }
        }
        beside(shown, members.unwrap_or_default(), inputs, found);
        health(&findings, shown, found);
        chain(shown, found);
    }
}

/// References outside of the members that every page has, to records that are there and that no manifest names. What tells how
/// the page came about is no input, and neither is what a comparison points to.
fn beside(shown: Record<'_>, known: &[&str], inputs: &BTreeSet<(&str, &str)>, found: &mut Found<'_>) {
    if shown.kind() == "RunDiff" {
        return;
    }
    let mut own = Vec::new();
    shown.json().at(OWN).into_iter().for_each(|manifest| every_text(manifest, &mut own));
    let own: BTreeSet<(&str, &str)> =
        own.into_iter().filter_map(Reference::read).map(|to| (to.kind, to.id)).collect();
    let mut look = |steps: &[Step<'_>], to: Reference<'_>| {
        let is_input = |record: Record<'_>| {
            let is_rule = kind::find(record.kind()).is_some_and(|kind| kind.class == Class::Policy);
            !is_rule && !HOW.contains(&record.kind()) && record.seq() != shown.seq()
        };
        let is_named = [inputs, &own].iter().any(|all| all.contains(&(to.kind, to.id)));
        if !is_named && shown.world.resolve(to).is_some_and(is_input) {
            let message = format!("cites {to}, which is not in its input manifest");
            found.add(shown, Path::along(steps), message);
        }
    };
    for (name, value) in shown.json().as_object().into_iter().flat_map(|members| members.iter()) {
        // What came later is no input.
        if !known.contains(&name) && name != OWN && Mark::of(name) != Some(Mark::Live) {
            references(value, is_reference(name), &mut vec![Step::Name(name)], &mut look);
        }
    }
}

/// The member in which a page has a manifest of its own.
const OWN: &str = "input_manifest";

/// Records that tell how something was derived.
const HOW: [&str; 5] = [
    "DerivedReadModelRecord",
    "ReadModelInputManifest",
    "RelianceInputManifest",
    "FormulaEvaluationReceipt",
    "ClaimSupportDerivationReceipt",
];

/// Shows the references in a value, and where they stand. Values are as deep as the reader of JSON lets them be.
fn references<'j>(
    value: &'j Json,
    is_held: bool,
    steps: &mut Vec<Step<'j>>,
    look: &mut impl FnMut(&[Step<'_>], Reference<'j>),
) {
    match value {
        Json::String(text) => {
            let reference = if is_held { Reference::read(text) } else { None };
            reference.into_iter().for_each(|reference| look(steps, reference));
        }
        Json::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                steps.push(Step::Item(at));
                references(item, is_held, steps, look);
                steps.pop();
            }
        }
        Json::Object(members) => {
            for (name, member) in members.iter() {
                steps.push(Step::Name(name));
                references(member, is_reference(name), steps, look);
                steps.pop();
            }
        }
        Json::Null | Json::Bool(_) | Json::Number(_) => {}
    }
}

/// The references that a member is or holds.
fn cited<'w>(shown: Record<'w>, member: &str) -> Vec<Reference<'w>> {
    match shown.json().at(member) {
        Some(Json::String(text)) => Reference::read(text).into_iter().collect(),
        Some(Json::Array(_)) => shown.json().references(member),
        Some(Json::Null | Json::Bool(_) | Json::Number(_) | Json::Object(_)) | None => Vec::new(),
    }
}

/// A card that calls a task healthy beside blockers, or a finding that is closed a blocker.
fn health<'w>((records, stood): &(History<'w>, Stood<'w>), card: Record<'w>, found: &mut Found<'_>) {
    if card.kind() != "TaskHealthCard" {
        return;
    }
    let blockers = cited(card, "active_blocker_refs");
    if card.is("health_status", "healthy") && !blockers.is_empty() {
        found.add(card, "health_status", "says healthy, beside blockers that are active");
    }
    for blocker in blockers {
        let named = card.world.resolve(blocker);
        let finding = named.and_then(|named| named.json().text("finding_id")).unwrap_or(blocker.id);
        let is_finding = matches!(blocker.kind, "evaluation_finding_record" | "evaluation_finding_event");
        let state = match records.before(finding, card.seq()) {
            Some(record) => stood.told_at(record, card.seq()),
            None => stood.at(&(None, finding), card.seq()),
        };
        if let Some(state) = state.filter(|_| is_finding)
            && !FindingState::find(state).is_some_and(FindingState::is_live)
        {
            found.add(card, "active_blocker_refs", format!("names a blocker that is {state}"));
        }
    }
}

/// A page on one chain that shows what another one came to.
fn chain(view: Record<'_>, found: &mut Found<'_>) {
    if view.kind() != "UnifiedEvaluationChainView" {
        return;
    }
    for member in ["chain_registry_record_ref", "chain_resolution_receipt_ref"] {
        let other = view.follow(member).and_then(|record| record.json().text("chain_id"));
        if other.is_some_and(|other| view.text("chain_id").is_some_and(|own| own != other)) {
            found.add(view, member, "is of another chain than the one that is shown");
        }
    }
}
