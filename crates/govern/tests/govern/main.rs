//! The contract, by its fixtures: every code, whatever things are called and whenever they happen, and the forms of records.
//! What is decided by it, over histories of all kinds.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod admission;
mod audits;
mod conformance;
mod decisions;
mod folds;
mod forms;
mod hostile;
mod kinds;
mod moved;
mod mutations;
mod names;
mod policies;
mod renamed;
mod statistics;

use countersign_govern::bundle::Bundle;
use countersign_govern::check::{check, rules};
use countersign_govern::conformance as executed;
use countersign_record::json::{self, Json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A fixture: where it stands, and the document.
struct Fixture {
    path: PathBuf,
    document: Json,
}

fn place() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance")
}

fn read(path: PathBuf) -> Fixture {
    let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let document = json::parse(&bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    Fixture { path, document }
}

/// All fixtures that must fire or that are legal: those of the codes, and those of the kinds.
fn fixtures(name: &str) -> Vec<Fixture> {
    let file = format!("{name}.json");
    let of_codes =
        rules().map(|(area, rule)| read(place().join(area.name).join(rule.code).join(&file))).collect();
    let is_wanted = |fixture: &Fixture| fixture.path.ends_with("legal.json") == (name == "legal");
    let of_kinds = kinds::fixtures().into_iter().filter(is_wanted).collect();
    [of_codes, of_kinds].into_iter().flat_map(|some: Vec<Fixture>| some).collect()
}

fn bundle(document: &Json) -> Bundle {
    Bundle::read(document.clone()).unwrap_or_else(|error| panic!("{error}"))
}

/// The codes that a bundle has, at the moment that its fixture names.
fn codes(document: &Json) -> BTreeSet<&'static str> {
    check(&executed::world(bundle(document))).into_iter().map(|one| one.code).collect()
}
