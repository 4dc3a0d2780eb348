//! Whether what is called ready is.
//! Owns: the conditions of the gate. Must not: know what a suite tests.

use super::super::commands::Registry;
use super::super::course::{Course, Thing, at_places, by_row};
use super::standing::Standing;
use super::{DECLARATION, ENTRY, Found, Listed, is_undegraded};
use crate::fold::family::GENERAL;
use crate::member::Member;
use crate::reference::Reference;
use crate::world::{Record, World};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// What a gate demands, always.
const DEMANDS: [&str; 4] = [
    "required_type_owner_registry_clean",
    "required_pending_absorption_rows_closed_or_degraded",
    "required_command_registry_entries_complete",
    "required_cross_doc_insert_obligations_absorbed_or_stubbed",
];

const CLAIM: &str = "BuildReadyClaim";
const AFFORDANCE: &str = "UiAffordance";
const OBLIGATION: &str = "CrossDocInsertObligation";

pub(super) fn build_ready_gate_failed(world: &World, found: &mut Found<'_>) {
    if world.of(CLAIM).next().is_none() {
        return;
    }
    let mut known = Known::of(world);
    let mut asked = Vec::new();
    // Every claim is judged by what was there before it, on one way through the rows.
    for row in world.of_any(&[ENTRY, DECLARATION, AFFORDANCE, OBLIGATION, GENERAL, CLAIM]) {
        if row.kind() != CLAIM {
            known.take(row);
            continue;
        }
        let gate = row.follow("gate_ref").filter(|gate| gate.kind() == "BuildReadyGate");
        match known.why_closed(gate, row.seq()) {
            Some(message) => found.add(row, "gate_ref", message),
            None => asked.extend(gate.map(|gate| (gate, row))),
        }
    }
    suites(world, asked, found);
}

/// What is known before a place.
struct Known<'w> {
    registry: Registry<'w>,
    listed: Listed<'w>,
    standing: Standing<'w>,
    /// The last entry of each type, and the places of those that wait for an owner.
    entries: BTreeMap<&'w str, u64>,
    undegraded: BTreeSet<u64>,
    /// What is offered, the first one first, without what is known to be registered.
    offered: BTreeMap<u64, Record<'w>>,
    /// The places of obligations that are open, by what they are called.
    open: BTreeMap<&'w str, u64>,
}

impl<'w> Known<'w> {
    fn of(world: &'w World) -> Self {
        Known {
            registry: Registry::of(world),
            listed: Listed::of(world),
            standing: Standing::default(),
            entries: BTreeMap::new(),
            undegraded: BTreeSet::new(),
            offered: BTreeMap::new(),
            open: BTreeMap::new(),
        }
    }

    fn take(&mut self, row: Record<'w>) {
        match row.kind() {
            ENTRY => {
                self.standing.enter(row);
                if let Some(before) = self.entries.insert(row.id(), row.seq()) {
                    self.undegraded.remove(&before);
                }
                self.undegraded.extend(is_undegraded(row).then_some(row.seq()));
            }
            DECLARATION => self.standing.declare(row, &self.listed),
            AFFORDANCE if row.flag("enabled") == Some(true) => {
                self.offered.insert(row.seq(), row);
            }
            OBLIGATION if row.is_one_of("state", &["absorbed", "stubbed"]) => {
                self.open.remove(row.id());
            }
            OBLIGATION => {
                self.open.insert(row.id(), row.seq());
            }
            GENERAL
                if row.is("from_state", "open") && row.is_one_of("to_state", &["absorbed", "stubbed"]) =>
            {
                let subject = row.json().reference("subject_ref");
                let subject = subject.filter(|subject| subject.kind == "cross_doc_insert_obligation");
                if let Some(obligation) = subject {
                    self.open.remove(obligation.id);
                }
            }
            _other => {}
        }
    }

    /// The first condition of a gate that does not hold before a place, but for its suites.
    fn why_closed(&mut self, gate: Option<Record<'w>>, before: u64) -> Option<String> {
        let Some(gate) = gate else { return Some("there is no such gate".into()) };
        if let Some(demand) = DEMANDS.iter().find(|demand| gate.flag(demand) != Some(true)) {
            return Some(format!("the gate does not demand {demand}"));
        }
        if let Some((name, fault)) = self.standing.fault() {
            return Some(format!("{name}: {fault}"));
        }
        if let Some(entry) = self.undegraded.first() {
            return Some(format!("row {entry} waits for an owner and is not degraded"));
        }
        if let Some(row) = self.unregistered(before) {
            return Some(format!("row {row} offers a command that is not registered"));
        }
        self.open.values().next().map(|open| format!("row {open} is neither absorbed nor stubbed"))
    }

    /// The first row that offers what is not registered before a place. What once is stays so.
    fn unregistered(&mut self, before: u64) -> Option<u64> {
        while let Some(first) = self.offered.first_entry() {
            let command = first.get().json().text("command_ref");
            if !command.is_some_and(|id| self.registry.knows(id, before)) {
                return Some(*first.key());
            }
            first.remove();
        }
        None
    }
}

/// Claims whose gate asks for a suite that was not run before, or did not pass.
fn suites(world: &World, claims: Vec<(Record<'_>, Record<'_>)>, found: &mut Found<'_>) {
    let mut runs: BTreeMap<&str, Vec<Record<'_>>> = BTreeMap::new();
    for run in world.of("ValidationSuiteRun") {
        if let Some(suite) = run.json().text("suite_ref") {
            runs.entry(suite).or_default().push(run);
        }
    }
    let mut courses: BTreeMap<&str, Course<&str>> = BTreeMap::new();
    let claims = by_row(claims.into_iter());
    for suite in claims.iter().flat_map(|(gate, _)| gate.json().texts("required_validation_suite_refs")) {
        courses.entry(suite).or_insert_with(|| unpassed(world, suite, &runs));
    }
    for (gate, claims) in &claims {
        let suites: BTreeSet<&str> =
            gate.json().texts("required_validation_suite_refs").into_iter().collect();
        let courses: Vec<Thing<'_, &str>> =
            suites.iter().filter_map(|suite| courses.get(suite)).map(|one| (0, one.as_slice())).collect();
        let places: Vec<u64> = claims.iter().map(|claim| claim.seq().saturating_sub(1)).collect();
        at_places(&courses, &places, |asked, unpassed| {
            if let Some((claim, (suite, _))) = claims.get(asked).zip(unpassed.iter().next()) {
                found.add(*claim, "gate_ref", format!("{suite} was not run before, or did not pass"));
            }
        });
    }
}

/// From where to where a suite had not passed: its last run counts. A reference may also name the run itself.
fn unpassed<'w>(
    world: &'w World,
    suite: &'w str,
    runs: &BTreeMap<&'w str, Vec<Record<'w>>>,
) -> Course<&'w str> {
    let named = Reference::read(suite).and_then(|suite| world.resolve(suite));
    let named = named.filter(|one| ["ConformanceFixtureRun", "ValidationSuiteRun"].contains(&one.kind()));
    let runs = match &named {
        Some(run) => core::slice::from_ref(run),
        None => runs.get(suite).map(Vec::as_slice).unwrap_or_default(),
    };
    let told = runs.iter().map(|run| (run.seq(), (run.flag("passed") != Some(true)).then_some(suite)));
    core::iter::once((0, Some(suite))).chain(told).collect()
}
