//! Executes the fixtures of the contract: what a bundle must give, and what it gave.
//! Owns: when a fixture passes, which kinds are covered. Must not: know where fixtures stand, or mend what they expect.

use crate::bundle::Bundle;
use crate::check::check;
use crate::member::Member;
use crate::types::added::learned::ConformanceFixtureRun;
use crate::types::basic::Instant;
use crate::types::conformance::{
    AddendaBConformanceFixture, AddendaBConformanceFixtureKind, FixtureMoment, FixturePolarity, FixtureState,
};
use crate::types::wire::{Sealed, Wire};
use crate::world::{Draft, World, hash};
use alloc::collections::BTreeSet;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use alloc::{format, vec};
use countersign_record::json::Json;

/// A fixture, what came of it, and why it did not pass.
#[derive(Clone, Debug, PartialEq)]
pub struct Executed {
    /// The fixture.
    pub fixture: AddendaBConformanceFixture,
    /// What came of it.
    pub run: Sealed<ConformanceFixtureRun>,
    /// What is not as it was expected, for people; nothing if it passed.
    pub misses: Vec<String>,
}

/// How far the fixtures show one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coverage {
    /// The kind.
    pub kind: AddendaBConformanceFixtureKind,
    /// Fixtures that must fire, and those of them that passed.
    pub negative: Counted,
    /// Fixtures that must not, and those of them that passed.
    pub positive: Counted,
}

/// Fixtures, and those of them that passed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// All.
    pub all: usize,
    /// Those that passed.
    pub passed: usize,
}

impl Counted {
    fn is_complete(self) -> bool {
        self.all > 0 && self.passed == self.all
    }
}

impl Coverage {
    /// Whether it has a fixture of both polarities, and all of them passed.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.negative.is_complete() && self.positive.is_complete()
    }
}

/// Whether a fixture shall fire: it shall, unless it says otherwise.
#[must_use]
pub fn polarity(fixture: &AddendaBConformanceFixture) -> FixturePolarity {
    fixture.polarity.unwrap_or(FixturePolarity::Negative)
}

/// What a bundle is checked as: its fixture may say that the last row asks to be let in.
#[must_use]
pub fn world(bundle: Bundle) -> World {
    let moment = bundle.fixture.as_ref().and_then(|fixture| fixture.checked_at);
    let world = bundle.world();
    match moment.unwrap_or(FixtureMoment::Audit) {
        FixtureMoment::Audit => world,
        FixtureMoment::Admission => world.at_admission(),
    }
}

/// Executes the fixture that a bundle is, at a time; `None` if it is none.
#[must_use]
pub fn execute(bundle: Bundle, at: Instant) -> Option<Executed> {
    let fixture = bundle.fixture.clone()?;
    let world = world(bundle);
    let observed: BTreeSet<String> =
        check(&world).iter().map(|one| format!("validation.{}", one.code)).collect();
    let mut misses = unfit(&fixture);
    let expected: BTreeSet<String> = fixture.expected_validation_codes.iter().cloned().collect();
    if observed != expected {
        misses.push(format!("fires {} and not {}", told(&observed), told(&expected)));
    }
    for receipt in fixture.expected_receipt_refs.iter().flatten() {
        if world.resolve_text(receipt.as_str()).is_none() {
            misses.push(format!("has no {}", receipt.as_str()));
        }
    }
    let states = fixture.expected_states.as_deref().unwrap_or_default();
    misses.extend(states.iter().filter_map(|state| unmet(&world, state)));
    let observed_codes: Vec<String> = observed.into_iter().collect();
    let parts = [fixture.write(), observed_codes.write(), at.write()].map(|part| part.unwrap_or(Json::Null));
    let run = ConformanceFixtureRun {
        fixture_run_id: hash(&Json::Array(parts.into())).map_or_else(String::new, |hash| hash.to_string()),
        fixture_id: fixture.fixture_id.clone(),
        observed_codes,
        passed: misses.is_empty(),
        created_at: at,
        schema_version: None,
    };
    Some(Executed { fixture, run: Sealed::new(run), misses })
}

/// The codes, for people.
fn told(codes: &BTreeSet<String>) -> String {
    if codes.is_empty() {
        return "nothing".to_string();
    }
    codes.iter().map(String::as_str).collect::<Vec<_>>().join(", ")
}

/// Why a fixture shows nothing, whatever comes of it.
fn unfit(fixture: &AddendaBConformanceFixture) -> Vec<String> {
    let record = fixture.write().unwrap_or(Json::Null);
    let row = Draft { kind: "AddendaBConformanceFixture".to_string(), id: None, at: None, record };
    let found = check(&World::new(vec![row], None));
    let mut misses: Vec<String> =
        found.into_iter().map(|one| format!("the fixture itself: validation.{}", one.code)).collect();
    let is_positive = polarity(fixture) == FixturePolarity::Positive;
    if is_positive && !fixture.expected_validation_codes.is_empty() {
        misses.push("is positive and expects codes".to_string());
    }
    let states = fixture.expected_states.as_deref().unwrap_or_default();
    if let Some(end) = &fixture.expected_terminal_state
        && !states.iter().any(|state| state.value.as_str() == Some(end))
    {
        misses.push(format!("shall end as {end} and does not say what"));
    }
    misses
}

/// Rows in which the legal twin of a bundle that fires may differ from it: it is one small change away.
const APART_MAX: usize = 2;

/// Why a legal bundle is no near twin of one that fires: by a few rows at most, and about the same. One that says nothing shows
/// nothing, however few rows the other has.
#[must_use]
pub fn why_not_near(fires: &[Json], legal: &[Json]) -> Option<String> {
    if apart(fires, legal) > APART_MAX {
        return Some(format!("differs from what fires in more than {APART_MAX} rows"));
    }
    let is_there = |kind: &str| legal.iter().any(|row| row.is("kind", kind));
    let is_about_it = fires.iter().filter_map(|row| row.text("kind")).any(is_there);
    (!is_about_it).then(|| "has no row of a type that fires".to_string())
}

/// In how many rows two bundles differ, whatever their order.
fn apart(one: &[Json], other: &[Json]) -> usize {
    let mut rest: Vec<&Json> = other.iter().collect();
    let mut missing = 0;
    for row in one {
        match rest.iter().position(|other| *other == row) {
            Some(at) => drop(rest.swap_remove(at)),
            None => missing += 1,
        }
    }
    missing.max(rest.len())
}

/// Why a state is not what it must be.
fn unmet(world: &World, state: &FixtureState) -> Option<String> {
    let (of, member) = (state.record_ref.as_str(), &state.member);
    let Some(record) = world.resolve_text(of) else { return Some(format!("has no {of}")) };
    let found = record.json().at(member).unwrap_or(&Json::Null);
    (*found != state.value).then(|| format!("{of} has another {member}"))
}

/// How far fixtures show every kind, in the contract's order.
#[must_use]
pub fn coverage(executed: &[Executed]) -> Vec<Coverage> {
    let covered = |kind: &AddendaBConformanceFixtureKind| {
        let count = |wanted: FixturePolarity| {
            let own = executed.iter().filter(|one| one.fixture.fixture_kind == *kind);
            let own = own.filter(|one| polarity(&one.fixture) == wanted);
            own.fold(Counted::default(), |count, one| Counted {
                all: count.all + 1,
                passed: count.passed + usize::from(one.run.passed),
            })
        };
        Coverage {
            kind: *kind,
            negative: count(FixturePolarity::Negative),
            positive: count(FixturePolarity::Positive),
        }
    };
    AddendaBConformanceFixtureKind::ALL.iter().map(covered).collect()
}

#[cfg(test)]
#[path = "conformance_tests.rs"]
mod tests;
