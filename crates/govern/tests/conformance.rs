//! Every code has a bundle that fires it and one, a small change away, that is legal.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

use countersign_govern::bundle::Bundle;
use countersign_govern::check::{check, rules};
use countersign_record::json;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn place() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance")
}

fn codes(path: &Path) -> (BTreeSet<String>, Vec<String>) {
    let bytes = std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let document = json::parse(&bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let bundle = Bundle::read(document).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let also = bundle.also.clone();
    (check(&bundle.world()).into_iter().map(|one| format!("validation.{}", one.code)).collect(), also)
}

/// `CONFORMANCE_AREAS=events,board` looks at those only.
#[test]
fn every_code_fires_and_has_a_legal_neighbour() {
    let wanted = std::env::var("CONFORMANCE_AREAS").ok();
    let is_wanted =
        |area: &str| wanted.as_ref().is_none_or(|wanted| wanted.split(',').any(|one| one == area));
    let mut misses = Vec::new();
    for (area, rule) in rules().filter(|(area, _)| is_wanted(area.name)) {
        let folder = place().join(area.name).join(rule.code);
        if !folder.join("fires.json").exists() || !folder.join("legal.json").exists() {
            misses.push(format!("{}/{}: has no fixtures", area.name, rule.code));
            continue;
        }
        let (found, also) = codes(&folder.join("fires.json"));
        let mut expected: BTreeSet<String> = also.into_iter().collect();
        expected.insert(format!("validation.{}", rule.code));
        if found != expected {
            misses.push(format!("{}/{}: fires {found:?} and not {expected:?}", area.name, rule.code));
        }
        let (found, _) = codes(&folder.join("legal.json"));
        if !found.is_empty() {
            misses.push(format!("{}/{}: legal, but {found:?}", area.name, rule.code));
        }
        for (word, text) in [("why", rule.why), ("fix", rule.fix)] {
            if text.is_empty() {
                misses.push(format!("{}/{}: does not say {word}", area.name, rule.code));
            }
        }
    }
    assert!(misses.is_empty(), "{}", misses.join("\n"));
}
