//! Every code has a bundle that fires it and one, a small change away, that is legal.

use super::{codes, place, read};
use countersign_govern::bundle::Bundle;
use countersign_govern::check::rules;
use countersign_govern::conformance::why_not_near;
use countersign_govern::types::conformance::AddendaBConformanceFixtureKind;
use countersign_record::json::Json;
use std::collections::BTreeSet;

/// `CONFORMANCE_AREAS=events,board` looks at those only.
#[test]
fn every_code_fires_and_has_a_legal_neighbour() {
    let wanted = std::env::var("CONFORMANCE_AREAS").ok();
    let is_wanted =
        |area: &str| wanted.as_ref().is_none_or(|wanted| wanted.split(',').any(|one| one == area));
    let mut misses = Vec::new();
    for (area, rule) in rules().filter(|(area, _)| is_wanted(area.name)) {
        let folder = place().join(area.name).join(rule.code);
        let mut miss = |what: String| misses.push(format!("{}/{}: {what}", area.name, rule.code));
        let fires = read(folder.join("fires.json")).document;
        let also = Bundle::read(fires.clone()).unwrap().also;
        if also.iter().any(|also| !beside(rule.code).contains(&also.as_str())) {
            miss(format!("tells {also:?} beside it, which the contract does not"));
        }
        let mut expected: BTreeSet<String> = also.into_iter().collect();
        expected.insert(format!("validation.{}", rule.code));
        let found: BTreeSet<String> = codes(&fires).iter().map(|code| format!("validation.{code}")).collect();
        if found != expected {
            miss(format!("fires {found:?} and not {expected:?}"));
        }
        let found = codes(&read(folder.join("legal.json")).document);
        if !found.is_empty() {
            miss(format!("legal, but {found:?}"));
        }
        for (word, text) in
            [("fires", rule.fires), ("legal", rule.legal), ("why", rule.why), ("fix", rule.fix)]
        {
            if text.is_empty() {
                miss(format!("does not say {word}"));
            }
        }
    }
    assert!(misses.is_empty(), "{}", misses.join("\n"));
}

/// The codes that the contract lets nobody have the one without: steps that change one artifact beside each other do not wait for
/// each other either. Every other fixture has its own code alone.
fn beside(code: &str) -> &'static [&'static str] {
    match code {
        "rolling_hash_parallel_steps_same_artifact" => {
            &["validation.rolling_hash_same_artifact_dependency_missing"]
        }
        _other => &[],
    }
}

/// What is legal is the nearest that is: all but a row or two are the same in both bundles.
#[test]
fn a_legal_neighbour_is_near() {
    for (area, rule) in rules() {
        let folder = place().join(area.name).join(rule.code);
        let [fires, legal] = ["fires.json", "legal.json"].map(|name| read(folder.join(name)).document);
        let rows = |document: &Json| document.get("rows").and_then(Json::as_array).unwrap().to_vec();
        let (one, other) = (rows(&fires), rows(&legal));
        assert_eq!(why_not_near(&one, &other), None, "{}/{}", area.name, rule.code);
        assert_ne!((fires.get("as_of"), one), (legal.get("as_of"), other), "{}/{}", area.name, rule.code);
    }
}

/// The contract has 213 codes, each once.
#[test]
fn every_code_of_the_contract_has_a_rule() {
    let found: BTreeSet<&str> = rules().map(|(_, rule)| rule.code).collect();
    assert_eq!(rules().count(), found.len(), "a code stands twice");
    let listed = std::fs::read_to_string(place().join("codes.txt")).unwrap();
    let listed: BTreeSet<&str> = listed.lines().collect();
    assert_eq!(listed.len(), 213);
    assert_eq!(found, listed);
}

/// Nothing stands in the folder that no test runs.
#[test]
fn every_fixture_belongs_to_a_code_or_a_kind() {
    let codes = rules().map(|(area, rule)| format!("{}/{}", area.name, rule.code));
    let kinds = AddendaBConformanceFixtureKind::ALL.iter().map(|kind| format!("kinds/{}", kind.as_str()));
    let known: BTreeSet<String> = codes.chain(kinds).collect();
    for area in std::fs::read_dir(place()).unwrap().map(|entry| entry.unwrap()) {
        if area.file_type().unwrap().is_dir() {
            for code in std::fs::read_dir(area.path()).unwrap().map(|entry| entry.unwrap()) {
                let name =
                    format!("{}/{}", area.file_name().to_str().unwrap(), code.file_name().to_str().unwrap());
                assert!(known.contains(&name), "{name} is of no code and no kind");
            }
        }
    }
}
