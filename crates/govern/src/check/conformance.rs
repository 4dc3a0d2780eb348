//! Validation codes: conformance.
//! Owns: the rules of this area. Must not: decide by names.

use super::{Area, Found, Rule, Severity, rules};
use crate::kind::{Class, Kind};
use crate::member::Member;
use crate::world::{Record, World};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::vec::Vec;

/// `PatchDecision {row_id, decision: accepted|cut|already_present, phase, fixture_kinds[]}`: what became of a row of a patch.
const KINDS: &[Kind] = &[Kind::new("PatchDecision", Class::Event, Some("row_id"))];

const FIXTURE: &str = "AddendaBConformanceFixture";

pub(super) const AREA: Area = Area { name: "conformance", rules: RULES, kinds: KINDS };

const RULES: &[Rule] = &[
    Rule {
        code: "accepted_patch_without_conformance_fixture",
        severity: Severity::Error,
        section: "10",
        fires: "A patch row is accepted by its last PatchDecision, so also when its patch phase is closed, and no AddendaBConformanceFixture of a kind mapped to that row (its fixture_kinds) exists.",
        legal: "A row cut or marked already present (B-25, A-11 as written).",
        why: "A change that was accepted without a fixture is a promise that nothing holds to.",
        fix: "Add a fixture of a kind that the row maps to, or mark the row as cut or already present.",
        check: accepted_patch_without_conformance_fixture,
    },
    Rule {
        code: "conformance_fixture_missing_expected_validation",
        severity: Severity::Error,
        section: "10",
        fires: "An AddendaBConformanceFixture has an empty expected_validation_codes, or names a code that is not registered, and is not marked as a positive fixture with expected_terminal_state.",
        legal: "A fixture that lists one registered code.",
        why: "A fixture that expects nothing passes whatever the validator does.",
        fix: "Name the registered code that it must yield; or mark it positive and name the state it must end in.",
        check: conformance_fixture_missing_expected_validation,
    },
    Rule {
        code: "conformance_fixture_not_executed_before_build_ready",
        severity: Severity::Error,
        section: "10",
        fires: "A BuildReadyClaim is made, and a fixture registered before it has no run before it, or its last one failed, observed other codes than expected, or is older than the last change of the fixture or of its input bundle.",
        legal: "Every fixture has a passing run after the last change.",
        why: "A fixture that was not run, or ran before the last change, shows nothing about what is now called ready.",
        fix: "Run every fixture after the last change, and claim readiness when all of them pass.",
        check: conformance_fixture_not_executed_before_build_ready,
    },
];

/// A code without the word in front.
fn bare(code: &str) -> &str {
    code.strip_prefix("validation.").unwrap_or(code)
}

fn accepted_patch_without_conformance_fixture(world: &World, found: &mut Found<'_>) {
    let kinds: BTreeSet<&str> =
        world.of(FIXTURE).filter_map(|fixture| fixture.json().text("fixture_kind")).collect();
    for decision in world.of("PatchDecision").filter(|one| one.is("decision", "accepted")) {
        let last = world.find("PatchDecision", decision.id());
        let is_last = last.is_some_and(|last| last.seq() == decision.seq());
        if is_last && !decision.texts("fixture_kinds").iter().any(|kind| kinds.contains(kind)) {
            found.add(decision, "fixture_kinds", "the row was accepted and no fixture of its kinds exists");
        }
    }
}

fn conformance_fixture_missing_expected_validation(world: &World, found: &mut Found<'_>) {
    let mut fixtures = world.of(FIXTURE).peekable();
    if fixtures.peek().is_none() {
        return;
    }
    let known: BTreeSet<&str> = rules().map(|(_, rule)| rule.code).collect();
    for fixture in fixtures {
        if fixture.is("polarity", "positive") && !fixture.is_blank("expected_terminal_state") {
            continue;
        }
        let expected = fixture.texts("expected_validation_codes");
        match expected.iter().find(|code| !known.contains(bare(code))) {
            Some(unknown) => {
                let message = format!("{unknown} is no code that is registered");
                found.add(fixture, "expected_validation_codes", message);
            }
            None if expected.is_empty() => {
                found.add(fixture, "expected_validation_codes", "the fixture expects nothing");
            }
            None => {}
        }
    }
}

fn conformance_fixture_not_executed_before_build_ready(world: &World, found: &mut Found<'_>) {
    let claims: Vec<u64> = world.of("BuildReadyClaim").map(|claim| claim.seq()).collect();
    if claims.is_empty() {
        return;
    }
    let mut runs: BTreeMap<&str, Vec<Record<'_>>> = BTreeMap::new();
    for run in world.of("ConformanceFixtureRun") {
        if let Some(fixture) = run.json().text("fixture_id") {
            runs.entry(fixture).or_default().push(run);
        }
    }
    // Of each version of a fixture the place where the next one stands.
    let mut next: BTreeMap<&str, u64> = BTreeMap::new();
    let mut observed = BTreeMap::new();
    let fixtures: Vec<Record<'_>> = world.of(FIXTURE).collect();
    for fixture in fixtures.into_iter().rev() {
        let end = next.insert(fixture.id(), fixture.seq()).unwrap_or(u64::MAX);
        let runs = runs.get(fixture.id()).map(Vec::as_slice).unwrap_or_default();
        if let Some(message) = why_not_run(fixture, end, runs, &claims, &mut observed) {
            found.add(fixture, "", message);
        }
    }
}

/// Why a version of a fixture, which counts until a place, does not speak for one of the claims.
fn why_not_run<'w>(
    fixture: Record<'w>,
    end: u64,
    runs: &[Record<'w>],
    claims: &[u64],
    observed: &mut BTreeMap<u64, BTreeSet<&'w str>>,
) -> Option<&'static str> {
    // The last claim between two places: it knows all that another one there does.
    let claim = |from: u64, to: u64| {
        let before = claims.partition_point(|claim| *claim <= to);
        before.checked_sub(1).and_then(|last| claims.get(last)).copied().filter(|claim| *claim > from)
    };
    let first = runs.first().map_or(u64::MAX, |run| run.seq());
    if claim(fixture.seq(), first.min(end)).is_some() {
        return Some("readiness was claimed and the fixture was never run before");
    }
    let expected = codes(fixture, "expected_validation_codes");
    let input = fixture.reference("input_bundle_ref").and_then(|input| fixture.world.resolve(input));
    let input = input.map_or(0, |input| input.seq());
    // The last run before this version counts until the next one.
    let begun = runs.partition_point(|run| run.seq() < fixture.seq()).saturating_sub(1);
    let runs = runs.get(begun..).unwrap_or_default();
    let ends = runs.iter().skip(1).map(|run| run.seq()).chain([u64::MAX]);
    for (run, next) in runs.iter().zip(ends).take_while(|(run, _)| run.seq() < end) {
        let Some(claim) = claim(run.seq().max(fixture.seq()), next.min(end)) else { continue };
        let observed = observed.entry(run.seq()).or_insert_with(|| codes(*run, "observed_codes"));
        if run.flag("passed") != Some(true) || *observed != expected {
            return Some("readiness was claimed and the last run of the fixture failed");
        }
        let changed = fixture.seq().max(if input < claim { input } else { 0 });
        if run.seq() < changed {
            return Some("readiness was claimed and the fixture was not run since the last change");
        }
    }
    None
}

/// The codes of a list, without the word in front.
fn codes<'w>(record: Record<'w>, field: &str) -> BTreeSet<&'w str> {
    record.json().texts(field).into_iter().map(bare).collect()
}

#[cfg(test)]
#[path = "conformance_tests.rs"]
mod tests;
