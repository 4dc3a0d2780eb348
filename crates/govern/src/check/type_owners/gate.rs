//! Whether what is called ready is.
//! Owns: the conditions of the gate. Must not: know what a suite tests.

use super::super::commands::Registry;
use super::{Found, drifts, undegraded};
use crate::member::Member;
use crate::reference::Reference;
use crate::world::{Record, World};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;

/// Each claim looks at everything before it, so only so many of the last ones are asked.
pub(in crate::check) const CLAIMS_MAX: usize = 8;

/// What a gate demands, always.
const DEMANDS: [&str; 4] = [
    "required_type_owner_registry_clean",
    "required_pending_absorption_rows_closed_or_degraded",
    "required_command_registry_entries_complete",
    "required_cross_doc_insert_obligations_absorbed_or_stubbed",
];

pub(super) fn build_ready_gate_failed(world: &World, found: &mut Found<'_>) {
    for claim in world.of("BuildReadyClaim").rev().take(CLAIMS_MAX) {
        if let Some(message) = why_closed(claim) {
            found.add(claim, "gate_ref", message);
        }
    }
}

/// The first condition of the gate that does not hold where a claim is made.
fn why_closed(claim: Record<'_>) -> Option<String> {
    let (world, before) = (claim.world, claim.seq());
    let Some(gate) = claim.follow("gate_ref").filter(|gate| gate.kind() == "BuildReadyGate") else {
        return Some("there is no such gate".into());
    };
    if let Some(demand) = DEMANDS.iter().find(|demand| gate.flag(demand) != Some(true)) {
        return Some(format!("the gate does not demand {demand}"));
    }
    if let Some((record, _, message)) = drifts(world, before).first() {
        return Some(format!("row {}: {message}", record.seq()));
    }
    if let Some(entry) = undegraded(world, before).next() {
        return Some(format!("row {} waits for an owner and is not degraded", entry.seq()));
    }
    let registry = Registry::of(world);
    let mut affordances = world.of("UiAffordance").take_while(|one| one.seq() < before);
    let is_open = |one: &Record<'_>| {
        one.flag("enabled") == Some(true)
            && !one.text("command_ref").is_some_and(|id| registry.knows(id, before))
    };
    if let Some(affordance) = affordances.find(is_open) {
        return Some(format!("row {} offers a command that is not registered", affordance.seq()));
    }
    let mut obligations: BTreeMap<&str, Record<'_>> = BTreeMap::new();
    for obligation in world.of("CrossDocInsertObligation").take_while(|one| one.seq() < before) {
        obligations.insert(obligation.id(), obligation);
    }
    if let Some(open) = obligations.values().find(|one| !one.is_one_of("state", &["absorbed", "stubbed"])) {
        return Some(format!("row {} is neither absorbed nor stubbed", open.seq()));
    }
    let suites = gate.json().texts("required_validation_suite_refs");
    let suite = suites.into_iter().find(|suite| !has_passed(world, suite, before))?;
    Some(format!("{suite} was not run before, or did not pass"))
}

/// Whether the last run of a suite before a place passed. A reference may also name the run itself.
fn has_passed(world: &World, suite: &str, before: u64) -> bool {
    let named = Reference::read(suite).and_then(|suite| world.resolve(suite));
    let is_run = |one: &Record<'_>| ["ConformanceFixtureRun", "ValidationSuiteRun"].contains(&one.kind());
    let run = named.filter(is_run).or_else(|| {
        let runs = world.of("ValidationSuiteRun").take_while(|one| one.seq() < before);
        runs.filter(|one| one.is("suite_ref", suite)).last()
    });
    run.is_some_and(|run| run.seq() < before && run.flag("passed") == Some(true))
}
