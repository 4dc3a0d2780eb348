//! Rules decide by what is recorded, not by what it is called, when it happened or beside what it stands.
//!
//! Every fixture has every id renamed by chance, every time shifted, rows that have nothing to do with it put between its own, and
//! those that have nothing to do with each other shuffled; its codes stay the same. Names that the contract itself gives (words,
//! commands, formulas, types) are no ids. Where a record carries the hash of something with ids or places in it, the hash is made anew.

use super::{Fixture, codes, fixtures, kinds, place, read};
use countersign_govern::formula::registry;
use countersign_govern::kind::{self, Class};
use countersign_govern::member::Member;
use countersign_govern::reference::{Reference, snake};
use countersign_govern::table::commands;
use countersign_govern::types;
use countersign_record::canonical;
use countersign_record::json::{Json, Number, Object};
use countersign_record::time::{Instant, Timestamp};
use countersign_testkit::random::Random;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::OnceLock;

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

/// Whether the value of a member is an id, a reference, or a list of them: by its name, or because its type says so.
fn names_something(member: &str) -> bool {
    let mut words = member.split('_');
    words.any(|word| ["id", "ids", "ref", "refs"].contains(&word))
        || ["_token", "_key"].iter().any(|end| member.ends_with(end))
        || member == "order"
        || Texts::all().named.contains(member)
}

/// The members of all types that hold texts.
#[derive(Default)]
struct Texts {
    /// Of a type that is an id or a reference.
    named: BTreeSet<String>,
    /// Of whatever kind.
    free: BTreeSet<String>,
}

impl Texts {
    fn all() -> &'static Texts {
        static ALL: OnceLock<Texts> = OnceLock::new();
        ALL.get_or_init(|| {
            let mut all = Texts::default();
            types::all().for_each(|one| all.add(&(one.schema)(), ""));
            all
        })
    }

    fn add(&mut self, schema: &Json, member: &str) {
        let members = schema.get("properties").and_then(Json::as_object);
        members.into_iter().flat_map(Object::iter).for_each(|(name, of)| self.add(of, name));
        let parts = schema.get("$defs").and_then(Json::as_object);
        parts.into_iter().flat_map(Object::iter).for_each(|(_, of)| self.add(of, member));
        let within = ["items", "additionalProperties"].into_iter().filter_map(|name| schema.get(name));
        let ways = ["anyOf", "oneOf", "allOf"].into_iter().filter_map(|name| schema.get(name)?.as_array());
        within.chain(ways.flatten()).for_each(|of| self.add(of, member));
        if member.is_empty() {
            return;
        }
        let is_text = schema.get("type") == Some(&Json::from("string"));
        if is_text && !["enum", "const", "format", "pattern"].iter().any(|name| schema.get(name).is_some()) {
            self.free.insert(member.to_owned());
        }
        let of = schema.get("$ref").and_then(Json::as_str).unwrap_or_default();
        let of = of.rsplit('/').next().unwrap_or_default().trim_end_matches(".json");
        if of.ends_with("Ref") || of.ends_with("Id") {
            self.named.insert(member.to_owned());
        }
    }
}

/// How members end that hold hashes, words, versions, states and texts for people.
const NO_NAMES: [&str; 26] = [
    "anchor",
    "behavior",
    "checks",
    "codes",
    "condition",
    "explanation",
    "failures",
    "field",
    "format",
    "hash",
    "hashes",
    "kind",
    "kinds",
    "label",
    "names",
    "passes",
    "rationale",
    "reason",
    "sha256",
    "state",
    "statement",
    "summary",
    "text",
    "tier",
    "title",
    "version",
];

/// Other members that name nothing that a log has.
const NOTHING_NAMED: &[&str] = &[
    "action",
    "anchor_locator",
    "assumptions",
    "audience",
    "cause",
    "comment",
    "context_after",
    "context_before",
    "court",
    "date",
    "declared_as",
    "degraded_modes_used",
    "field_path",
    "finding_to_change_map",
    "grounds",
    "holdings",
    "input_ports",
    "interpreted_goal",
    "jurisdiction",
    "keys_used",
    "lookup_purpose",
    "material_differences_from_preview",
    "member",
    "name",
    "preserved_non_degradable_modes",
    "purpose",
    "question",
    "replacement_type_name",
    "scope_value",
    "skipped_if_budget_constrained",
    "skipped_optional_helpers",
    "source_requirements",
    "steps",
    "success_hint",
    "target_doc_family",
    "type_name",
    "useful_propositions",
    "values",
];

/// No member is forgotten that holds an id: of each that holds a text it is known whether it names something.
#[test]
fn every_member_names_something_or_is_known_to_name_nothing() {
    for member in ["result_ids_considered", "outcomes_to_recheck", "superseded_by", "source_changes"] {
        assert!(names_something(member), "{member}");
    }
    let is_open = |member: &&str| {
        let is_word = NO_NAMES.iter().any(|end| member.rsplit('_').next() == Some(end));
        !names_something(member) && !is_word
    };
    let open: Vec<&str> = Texts::all().free.iter().map(String::as_str).filter(is_open).collect();
    assert_eq!(open, NOTHING_NAMED, "of each it must be said whether it names something");
}

/// How names become others.
#[derive(Clone, Copy)]
enum Naming {
    /// By chance: neither how they begin or end nor their order stays.
    ByChance(u64),
    /// With something before them: they keep their order.
    InOrder,
}

/// The codes of ties that the contract breaks by the order of names; there names keep it.
const BY_ORDER: [&str; 1] = ["concurrency"];

impl Naming {
    /// That of a fixture.
    fn of(fixture: &Fixture, seed: u64) -> Self {
        let is_of = |area: &&str| fixture.path.iter().any(|part| part.to_str() == Some(area));
        if BY_ORDER.iter().any(is_of) { Naming::InOrder } else { Naming::ByChance(seed) }
    }

    /// Another name: the same for the same, and never one for two.
    fn id(self, id: &str) -> String {
        match self {
            Naming::InOrder => format!("x-{id}"),
            Naming::ByChance(seed) => {
                let mixed = id.bytes().fold(seed, |sum, byte| Random::new(sum ^ u64::from(byte)).bits());
                format!("n{mixed:016x}")
            }
        }
    }
}

fn renamed(text: &str, words: &Words, naming: Naming) -> String {
    if words.has(text) || is_hash(text) || Timestamp::try_from(text).is_ok() || text.is_empty() {
        return text.to_owned();
    }
    match Reference::read(text) {
        Some(found) if !words.has(found.id) => {
            let id = match found.kind {
                "claim" => found.id.split('/').map(|part| naming.id(part)).collect::<Vec<_>>().join("/"),
                _other => naming.id(found.id),
            };
            Reference { id: &id, ..found }.to_string()
        }
        Some(_) => text.to_owned(),
        None => naming.id(text),
    }
}

/// By so many days times are shifted.
const DAYS: i64 = 37;

fn shifted(text: &str, days: i64) -> Option<String> {
    let instant = Instant::read(text)?;
    let later = Instant { seconds: instant.seconds + days * 86_400, ..instant };
    Timestamp::try_from(later).ok().map(|time| time.to_string())
}

/// A document with every id renamed and every time shifted.
fn changed(value: &Json, member: &str, words: &Words, naming: Naming, days: i64) -> Json {
    match value {
        Json::Null | Json::Bool(_) | Json::Number(_) => value.clone(),
        Json::String(text) => match shifted(text, days) {
            Some(time) => Json::from(time),
            None if names_something(member)
                || Reference::read(text).is_some_and(|found| kind_is_known(found.kind, words)) =>
            {
                Json::from(renamed(text, words, naming))
            }
            None => value.clone(),
        },
        Json::Array(items) => {
            Json::Array(items.iter().map(|item| changed(item, member, words, naming, days)).collect())
        }
        Json::Object(members) => {
            let mut object = Object::new();
            for (name, value) in members.iter() {
                let is_reference = Reference::read(name).is_some();
                let key = if is_reference { renamed(name, words, naming) } else { name.to_owned() };
                object.insert(key, changed(value, name, words, naming, days));
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
fn hashes(before: &Json, after: &Json, run: &dyn Fn(&str) -> String, found: &mut BTreeMap<String, String>) {
    let mut pair = |before: &Json, after: &Json| {
        if let (Ok(before), Ok(after)) = (canonical::hash(before), canonical::hash(after)) {
            found.insert(String::from(before), String::from(after));
        }
    };
    pair(before, after);
    match (before, after) {
        (Json::Array(before), Json::Array(after)) => {
            before.iter().zip(after).for_each(|(before, after)| hashes(before, after, run, found));
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
            for own in ["run1", "run2"] {
                let (own, other_run) = (Json::from(own), Json::from(run(own)));
                if let (Some(one), Some(other)) = (delivery(one, &own), delivery(other, &other_run)) {
                    pair(&one, &other);
                }
            }
            for ((_, one), (_, other)) in one.iter().zip(other.iter()) {
                hashes(one, other, run, found);
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

/// A changed document with the hashes of what was changed in it. A hash may stand in what another hash is of.
fn hashed_anew(before: &Json, plain: &Json, run: &dyn Fn(&str) -> String) -> Json {
    let mut after = plain.clone();
    for _ in 0..3 {
        let mut found = BTreeMap::new();
        hashes(before, &after, run, &mut found);
        after = rehashed(plain, &found);
    }
    after
}

#[test]
fn names_and_times_decide_nothing() {
    let words = Words::new();
    let mut misses = Vec::new();
    for (name, seed) in [("fires", 1), ("legal", 2), ("fires", 3), ("legal", 4)] {
        for fixture in fixtures(name) {
            let before = &fixture.document;
            let naming = Naming::of(&fixture, seed);
            let after =
                hashed_anew(before, &changed(before, "", &words, naming, DAYS), &|run| naming.id(run));
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
            // Whoever says that all is ready speaks of every fixture there is; a policy may be for all that comes after it.
            let kind = row.get("kind").and_then(Json::as_str).unwrap_or_default();
            let is_policy = kind::find(kind).is_some_and(|kind| kind.class == Class::Policy);
            if is_policy || ["BuildReadyClaim", "ConformanceFixtureRun"].contains(&kind) {
                found.insert(EVERYTHING.to_owned());
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

/// What a row is about that may be about all rows.
const EVERYTHING: &str = "everything";

/// Legal fixtures of one row that nothing else has to do with, as long as their names are others.
const FILLERS: [&str; 7] = [
    "anchors/context_hash_unverified",
    "anchors/structured_anchor_empty",
    "concurrency/concurrency_tie_breaker_missing_final_key",
    "context_packets/per_activation_context_budget_exceeded",
    "cost/cost_vector_negative_component",
    "explanation/explanation_trace_without_causal_steps",
    "revision/revision_plan_cycle",
];

fn fillers(words: &Words) -> Vec<Json> {
    let row = |(seed, name): (u64, &&str)| {
        let document = read(place().join(name).join("legal.json")).document;
        let [row] = document.get("rows").and_then(Json::as_array).unwrap() else {
            panic!("{name} has one row")
        };
        let named = changed(row, "", words, Naming::ByChance(1_000 + seed), 0);
        hashed_anew(row, &named, &str::to_owned)
    };
    (0..).zip(&FILLERS).map(row).collect()
}

/// Members that count what happened to one workspace and tell no place in the log.
const OF_WORKSPACES: [&str; 3] = ["prior_event_seq", "new_event_seq", "expected_event_seq"];

/// A document with the places in the log that it tells.
fn placed(value: &Json, member: &str, places: &BTreeMap<u64, u64>) -> Json {
    match value {
        Json::Number(number) if member.ends_with("event_seq") && !OF_WORKSPACES.contains(&member) => {
            let place = number.to_string().parse().ok().and_then(|place: u64| places.get(&place));
            let place = place.and_then(|place| u32::try_from(*place).ok());
            place.map_or_else(|| value.clone(), |place| Json::Number(Number::from(place)))
        }
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => value.clone(),
        Json::Array(items) => Json::Array(items.iter().map(|item| placed(item, member, places)).collect()),
        Json::Object(members) => {
            Json::Object(members.iter().map(|(name, value)| (name, placed(value, name, places))).collect())
        }
    }
}

/// An order in which rows that have to do with each other keep theirs.
fn shuffled(groups: &[usize], random: &mut Random) -> Vec<usize> {
    let mut waiting: BTreeMap<usize, VecDeque<usize>> = BTreeMap::new();
    for (at, group) in groups.iter().enumerate() {
        waiting.entry(*group).or_default().push_back(at);
    }
    let mut waiting: Vec<VecDeque<usize>> = waiting.into_values().collect();
    let mut order = Vec::new();
    while !waiting.is_empty() {
        let next = random.index(0..waiting.len());
        order.extend(waiting[next].pop_front());
        waiting.retain(|group| !group.is_empty());
    }
    order
}

/// A fixture with rows between its own that have nothing to do with it, all of them in another order.
fn disordered(document: &Json, more: &[Json], random: &mut Random) -> Json {
    let own = document.get("rows").and_then(Json::as_array).unwrap();
    let mut rows: Vec<Json> = own.to_vec();
    // The row that asks to be let in stays the last one.
    let asks = document.at("fixture.checked_at").and_then(Json::as_str) == Some("admission");
    let last = rows.pop_if(|_| asks);
    rows.extend(more.iter().cloned());
    let mut order = shuffled(&together(&rows), random);
    if let Some(last) = last {
        order.push(rows.len());
        rows.push(last);
    }
    let new: Vec<Json> = order.iter().map(|at| rows[*at].clone()).collect();
    let was = |at: usize| if asks && at == rows.len() - 1 { own.len() } else { at + 1 };
    let is_own = |at: usize| at < own.len() - usize::from(asks) || asks && at == rows.len() - 1;
    let places = (1..).zip(&order).filter(|(_, at)| is_own(**at)).map(|(new, at)| (was(*at) as u64, new));
    let after = placed(&Json::Array(new.clone()), "", &places.collect());
    let after = hashed_anew(&Json::Array(new), &after, &str::to_owned);
    let Json::Object(mut changed) = document.clone() else { panic!("a bundle is an object") };
    changed.insert("rows", after);
    Json::Object(changed)
}

#[test]
fn what_knows_nothing_of_each_other_may_stand_anywhere() {
    let more = fillers(&Words::new());
    let (mut misses, mut random) = (Vec::new(), Random::new(6));
    for name in ["fires", "legal"] {
        for fixture in fixtures(name) {
            let expected = codes(&fixture.document);
            for _ in 0..3 {
                let found = codes(&disordered(&fixture.document, &more, &mut random));
                if found != expected {
                    misses.push(format!("{}: {expected:?} became {found:?}", fixture.path.display()));
                }
            }
        }
    }
    assert!(misses.is_empty(), "{}", misses.join("\n"));
}
