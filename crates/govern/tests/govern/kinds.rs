//! Every kind of fixture of the contract fires where it must, and its corrected twin does not.

use super::{Fixture, bundle, place, read};
use countersign_govern::conformance::{Executed, coverage, execute};
use countersign_govern::types::basic::Instant;
use countersign_govern::types::conformance::{AddendaBConformanceFixtureKind, FixturePolarity};
use countersign_record::json::Json;
use std::collections::BTreeSet;

/// The fixtures of all kinds, by their paths.
pub(crate) fn fixtures() -> Vec<Fixture> {
    let mut all = Vec::new();
    for kind in AddendaBConformanceFixtureKind::ALL {
        let folder = place().join("kinds").join(kind.as_str());
        let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", kind.as_str()));
        all.extend(entries.map(|entry| entry.unwrap().path()));
    }
    all.sort();
    all.into_iter().map(read).collect()
}

pub(crate) fn run(document: &Json) -> Executed {
    let at = Instant::try_from("2026-03-02T12:00:00Z").unwrap();
    execute(bundle(document), at).expect("a bundle of a kind holds a fixture")
}

#[test]
fn every_kind_fires_and_has_a_legal_twin() {
    let fixtures = fixtures();
    let all: Vec<Executed> = fixtures.iter().map(|fixture| run(&fixture.document)).collect();
    let mut misses = Vec::new();
    let mut ids = BTreeSet::new();
    for (fixture, executed) in fixtures.iter().zip(&all) {
        let mut miss = |what: &str| misses.push(format!("{}: {what}", fixture.path.display()));
        executed.misses.iter().for_each(|one| miss(one));
        let folder = fixture.path.parent().and_then(|folder| folder.file_name()).unwrap();
        if folder != executed.fixture.fixture_kind.as_str() {
            miss("stands in the folder of another kind");
        }
        let is_legal = fixture.path.ends_with("legal.json");
        if is_legal != (executed.fixture.polarity == Some(FixturePolarity::Positive)) {
            miss("has another polarity than its name");
        }
        if !ids.insert(&executed.fixture.fixture_id) {
            miss("has the id of another one");
        }
    }
    assert!(misses.is_empty(), "{}", misses.join("\n"));
    let open: Vec<_> = coverage(&all).into_iter().filter(|one| !one.is_complete()).collect();
    assert!(open.is_empty(), "{open:?}");
}
