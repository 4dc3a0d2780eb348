//! The contract, by its fixtures: every code, whatever things are called and whenever they happen, and the forms of records.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod conformance;
mod folds;
mod forms;
mod renamed;
mod statistics;

use countersign_govern::bundle::Bundle;
use countersign_govern::check::{check, rules};
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

/// All fixtures of one kind, `fires` or `legal`.
fn fixtures(name: &str) -> Vec<Fixture> {
    let file = format!("{name}.json");
    rules().map(|(area, rule)| read(place().join(area.name).join(rule.code).join(&file))).collect()
}

/// The codes that a bundle has.
fn codes(document: &Json) -> BTreeSet<&'static str> {
    let bundle = Bundle::read(document.clone()).unwrap_or_else(|error| panic!("{error}"));
    check(&bundle.world()).into_iter().map(|one| one.code).collect()
}
