//! Rules decide by what is recorded, not by what it is called, when it happened or beside what it stands.
//!
//! Every fixture has every id renamed, every time shifted, and neighbours that have nothing to do with each other swapped; its
//! codes stay the same. Names that the contract itself gives (words, commands, formulas, types) are no ids. Where a record
//! carries the hash of something with ids in it, the hash is made anew.

use super::{codes, fixtures, kinds};
use countersign_govern::formula::registry;
use countersign_govern::kind;
use countersign_govern::member::Member;
use countersign_govern::reference::{Reference, snake};
use countersign_govern::table::commands;
use countersign_govern::types;
use countersign_record::canonical;
use countersign_record::json::{Json, Object};
use countersign_record::time::{Instant, Timestamp};
use std::collections::{BTreeMap, BTreeSet};

/// Words of the contract.
struct Words(BTreeSet<String>);

impl Words {
    fn new() -> Self {
        let mut words = BTreeSet::new();
        for one in types::all() {
            words.insert(one.name.to_owned());
            words.insert(snake(one.name));
            enumerated(&(one.schema)(), &mut words);
        }
        words.extend(kind::all().flat_map(|one| [one.name.to_owned(), snake(one.name)]));
        words.extend(registry::all().map(|spec| spec.id.to_owned()));
        words.extend(commands::all().map(|command| command.id.to_owned()));
        words.extend(["default.pattern_c.v1", "StepKind", "whole", "revision_in"].map(str::to_owned));
        Words(words)
    }

    fn has(&self, text: &str) -> bool {
        self.0.contains(text)
    }
}

/// All words that a schema lists.
fn enumerated(schema: &Json, words: &mut BTreeSet<String>) {
    match schema {
        Json::Array(items) => items.iter().for_each(|item| enumerated(item, words)),
        Json::Object(members) => {
            for (name, value) in members.iter() {
                if name == "enum" || name == "const" {
                    let listed = value.as_array().unwrap_or(std::slice::from_ref(value));
                    words.extend(listed.iter().filter_map(Json::as_str).map(str::to_owned));
                }
                enumerated(value, words);
            }
        }
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {}
    }
}

fn is_hash(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Whether the value of a member is an id, a reference, or a list of them.
fn names_something(member: &str) -> bool {
    ["_id", "_ids", "_ref", "_refs", "_token", "_key"].iter().any(|end| member.ends_with(end))
        || ["id", "order", "ref"].contains(&member)
}

/// The same name with something before it: names keep their order, which the contract breaks ties by.
fn renamed(text: &str, words: &Words) -> String {
    if words.has(text) || is_hash(text) || Timestamp::try_from(text).is_ok() || text.is_empty() {
        return text.to_owned();
    }
    match Reference::read(text) {
        Some(found) if !words.has(found.id) => {
            let id = match found.kind {
                "claim" => found.id.split('/').map(|part| format!("x-{part}")).collect::<Vec<_>>().join("/"),
                _other => format!("x-{}", found.id),
            };
            Reference { id: &id, ..found }.to_string()
        }
        Some(_) => text.to_owned(),
        None => format!("x-{text}"),
    }
}

fn shifted(text: &str) -> Option<String> {
    const DAYS: i64 = 37;
    let instant = Instant::read(text)?;
    let later = Instant { seconds: instant.seconds + DAYS * 86_400, ..instant };
    Timestamp::try_from(later).ok().map(|time| time.to_string())
}

/// A document with every id renamed and every time shifted.
fn changed(value: &Json, member: &str, words: &Words) -> Json {
    match value {
        Json::Null | Json::Bool(_) | Json::Number(_) => value.clone(),
        Json::String(text) => match shifted(text) {
            Some(time) => Json::from(time),
            None if names_something(member)
                || Reference::read(text).is_some_and(|found| kind_is_known(found.kind, words)) =>
            {
                Json::from(renamed(text, words))
            }
            None => value.clone(),
        },
        Json::Array(items) => Json::Array(items.iter().map(|item| changed(item, member, words)).collect()),
        Json::Object(members) => {
            let mut object = Object::new();
            for (name, value) in members.iter() {
                let is_reference = Reference::read(name).is_some();
                let key = if is_reference { renamed(name, words) } else { name.to_owned() };
                object.insert(key, changed(value, name, words));
            }
            Json::Object(object)
        }
    }
}

fn kind_is_known(kind: &str, words: &Words) -> bool {
    words.has(kind)
        || ["src", "srcset", "claim", "artifact", "user", "module", "engine", "task_agent"].contains(&kind)
}

/// The hashes of a value and of what stands in it, before and after: of each part, of an object without one member, and of what a
/// delivery is known by.
fn hashes(before: &Json, after: &Json, found: &mut BTreeMap<String, String>) {
    let mut pair = |before: &Json, after: &Json| {
        if let (Ok(before), Ok(after)) = (canonical::hash(before), canonical::hash(after)) {
            found.insert(String::from(before), String::from(after));
        }
    };
    pair(before, after);
    match (before, after) {
        (Json::Array(before), Json::Array(after)) => {
            before.iter().zip(after).for_each(|(before, after)| hashes(before, after, found));
        }
        (Json::Object(one), Json::Object(other)) => {
            for (name, _) in one.iter() {
                let without = |of: &Object| {
                    let mut rest = of.clone();
                    rest.remove(name);
                    Json::Object(rest)
                };
                pair(&without(one), &without(other));
            }
            let delivery = |of: &Object, run: &Json| {
                let parts = ["result_id", "branch", "consumer_module_id"].map(|name| of.get(name).cloned());
                parts
                    .into_iter()
                    .collect::<Option<Vec<Json>>>()
                    .map(|parts| Json::Array([vec![run.clone()], parts].concat()))
            };
            for run in ["run1", "run2"] {
                let (run, other_run) = (Json::from(run), Json::from(format!("x-{run}")));
                if let (Some(one), Some(other)) = (delivery(one, &run), delivery(other, &other_run)) {
                    pair(&one, &other);
                }
            }
            for ((_, one), (_, other)) in one.iter().zip(other.iter()) {
                hashes(one, other, found);
            }
        }
        (_one, _other) => {}
    }
}

fn rehashed(value: &Json, hashes: &BTreeMap<String, String>) -> Json {
    match value {
        Json::String(text) => {
            hashes.get(text).map_or_else(|| value.clone(), |hash| Json::from(hash.as_str()))
        }
        Json::Array(items) => Json::Array(items.iter().map(|item| rehashed(item, hashes)).collect()),
        Json::Object(members) => {
            Json::Object(members.iter().map(|(name, value)| (name, rehashed(value, hashes))).collect())
        }
        Json::Null | Json::Bool(_) | Json::Number(_) => value.clone(),
    }
}

#[test]
fn names_and_times_decide_nothing() {
    let words = Words::new();
    let mut misses = Vec::new();
    for name in ["fires", "legal"] {
        for fixture in fixtures(name) {
            let before = &fixture.document;
            let plain = changed(before, "", &words);
            let mut after = plain.clone();
            // A hash may stand in what another hash is of.
            for _ in 0..3 {
                let mut found = BTreeMap::new();
                hashes(before, &after, &mut found);
                after = rehashed(&plain, &found);
            }
            let (one, other) = (codes(before), codes(&after));
            if one != other {
                misses.push(format!("{}: {one:?} became {other:?}", fixture.path.display()));
            }
            if before.get("fixture").is_some() {
                let missed = kinds::run(&after).misses;
                misses.extend(missed.iter().map(|miss| format!("{}: {miss}", fixture.path.display())));
            }
        }
    }
    assert!(misses.is_empty(), "{}", misses.join("\n"));
}

/// What a row names: its ids and references.
fn mentions(value: &Json, member: &str, found: &mut BTreeSet<String>) {
    match value {
        Json::String(text) if names_something(member) => {
            let id = Reference::read(text).map_or(text.as_str(), |reference| reference.id);
            found.insert(id.to_owned());
        }
        Json::String(_) | Json::Null | Json::Bool(_) | Json::Number(_) => {}
        Json::Array(items) => items.iter().for_each(|item| mentions(item, member, found)),
        Json::Object(members) => members.iter().for_each(|(name, value)| mentions(value, name, found)),
    }
}

/// Which rows have to do with each other, by what they name, also through others: a number for each, the same for those that do.
fn together(rows: &[Json]) -> Vec<usize> {
    let named: Vec<BTreeSet<String>> = rows
        .iter()
        .map(|row| {
            let mut found = BTreeSet::new();
            mentions(row, "", &mut found);
            // Whoever says that all is ready speaks of every fixture there is.
            let kind = row.get("kind").and_then(Json::as_str).unwrap_or_default();
            if ["AddendaBConformanceFixture", "BuildReadyClaim", "ConformanceFixtureRun"].contains(&kind) {
                found.insert("every fixture".to_owned());
            }
            found
        })
        .collect();
    let mut groups: Vec<usize> = (0..rows.len()).collect();
    for one in 0..rows.len() {
        for other in 0..one {
            if !named[one].is_disjoint(&named[other]) {
                let (from, to) = (groups[one], groups[other]);
                groups.iter_mut().filter(|group| **group == from).for_each(|group| *group = to);
            }
        }
    }
    groups
}

/// Whether something in a document is told by its place in the log.
fn tells_places(value: &Json) -> bool {
    match value {
        Json::Array(items) => items.iter().any(tells_places),
        Json::Object(members) => {
            members.iter().any(|(name, value)| name.ends_with("event_seq") || tells_places(value))
        }
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => false,
    }
}

#[test]
fn neighbours_that_know_nothing_of_each_other_may_change_places() {
    let (mut misses, mut swaps) = (Vec::new(), 0);
    for name in ["fires", "legal"] {
        for fixture in fixtures(name).into_iter().filter(|fixture| !tells_places(&fixture.document)) {
            let expected = codes(&fixture.document);
            let rows = fixture.document.get("rows").and_then(Json::as_array).unwrap();
            let groups = together(rows);
            // The row that asks to be let in stays the last one.
            let fixed = fixture.document.at("fixture.checked_at").and_then(Json::as_str) == Some("admission");
            for at in 1..rows.len() - usize::from(fixed) {
                if groups[at - 1] != groups[at] {
                    let mut swapped = rows.to_vec();
                    swapped.swap(at - 1, at);
                    let Json::Object(mut document) = fixture.document.clone() else {
                        panic!("a bundle is an object")
                    };
                    document.insert("rows", Json::Array(swapped));
                    swaps += 1;
                    let found = codes(&Json::Object(document));
                    if found != expected {
                        misses.push(format!(
                            "{} row {at}: {expected:?} became {found:?}",
                            fixture.path.display()
                        ));
                    }
                }
            }
        }
    }
    assert!(swaps >= 25, "only {swaps} neighbours were swapped");
    assert!(misses.is_empty(), "{}", misses.join("\n"));
}
