//! A policy judges what comes after it. Whatever a policy becomes later, what was done before has the codes that it had.
//!
//! Of every policy in every fixture and in whole logs changed versions are put behind everything. No row before them has another code
//! then, whether it is a policy itself or not. Only this is so: what was wrong with a row of a registry is mended by a new version of it.

use super::mutations::drafts;
use super::{fixtures, place, read};
use countersign_govern::audit::Limits;
use countersign_govern::bundle::Bundle;
use countersign_govern::check::check;
use countersign_govern::kind::{self, Class};
use countersign_govern::world::{Draft, World};
use countersign_record::json::{Json, Number, Object};
use countersign_record::time::Instant;
use countersign_testkit::audits::{self, stored};
use countersign_testkit::worlds;
use std::collections::BTreeSet;

/// How a policy changes.
#[derive(Clone, Copy, Debug)]
enum Change {
    /// What it allows, it forbids.
    Flags,
    /// Every number is more, or nothing.
    More,
    Nothing,
    /// Every list is empty.
    Lists,
    /// It says nothing but what it is called.
    Silent,
}

const CHANGES: [Change; 5] = [Change::Flags, Change::More, Change::Nothing, Change::Lists, Change::Silent];

fn changed(value: &Json, change: Change) -> Json {
    match (value, change) {
        (Json::Bool(is_so), Change::Flags) => Json::Bool(!is_so),
        (Json::Number(_), Change::More) => Json::Number(Number::from(99_u32)),
        (Json::Number(_), Change::Nothing) => Json::Number(Number::from(0_u32)),
        (Json::Array(_), Change::Lists) => Json::Array(Vec::new()),
        (Json::Array(items), _other) => Json::Array(items.iter().map(|item| changed(item, change)).collect()),
        (Json::Object(members), _other) => {
            Json::Object(members.iter().map(|(name, value)| (name, changed(value, change))).collect())
        }
        (_value, _other) => value.clone(),
    }
}

/// Another version of a policy, or another policy that is else the same.
fn version(draft: &Draft, change: Change, is_other: bool) -> Draft {
    let field = kind::find(&draft.kind).and_then(|kind| kind.id);
    let mut record = Object::new();
    for (name, value) in draft.record.as_object().unwrap().iter() {
        match value.as_str() {
            Some(id) if is_other && Some(name) == field => {
                record.insert(name, Json::from(format!("{id}-other")))
            }
            _value if Some(name) == field => record.insert(name, value.clone()),
            _value if matches!(change, Change::Silent) => continue,
            _value => record.insert(name, changed(value, change)),
        };
    }
    let id = draft.id.as_ref().map(|id| if is_other { format!("{id}-other") } else { id.clone() });
    Draft { id, record: Json::Object(record), ..draft.clone() }
}

fn is_policy(kind: &str) -> bool {
    kind::find(kind).is_some_and(|kind| kind.class == Class::Policy)
}

/// What is wrong with the first rows.
fn codes(rows: &[Draft], now: Option<Instant>, first: usize) -> BTreeSet<(u64, &'static str)> {
    let found = check(&World::new(rows.to_vec(), now)).into_iter();
    let found = found.filter(|one| usize::try_from(one.row).unwrap() <= first);
    found.map(|one| (one.row, one.code)).collect()
}

/// What changes in some rows if other versions of their policies come behind.
fn misses(told: &str, rows: &[Draft], now: Option<Instant>) -> Vec<String> {
    let now = World::new(rows.to_vec(), now).now();
    let before = codes(rows, now, rows.len());
    let mut misses = Vec::new();
    for change in CHANGES {
        for is_other in [false, true] {
            let policies = rows.iter().filter(|row| is_policy(&row.kind));
            let more = policies.map(|row| Draft { at: now, ..version(row, change, is_other) });
            let all: Vec<Draft> = rows.iter().cloned().chain(more).collect();
            let after = codes(&all, now, rows.len());
            let is_mended =
                |one: &&(u64, &str)| !is_other && is_policy(&rows[usize::try_from(one.0).unwrap() - 1].kind);
            let gone: Vec<_> = before.difference(&after).filter(|one| !is_mended(one)).collect();
            let new: Vec<_> = after.difference(&before).collect();
            if !gone.is_empty() || !new.is_empty() {
                misses.push(format!("{told} {change:?} other {is_other}: {gone:?} gone, {new:?} new"));
            }
        }
    }
    misses
}

#[test]
fn a_later_policy_changes_no_code_of_a_fixture() {
    let mut all = Vec::new();
    for name in ["fires", "legal"] {
        for fixture in fixtures(name) {
            let bundle = Bundle::read(fixture.document).unwrap();
            all.extend(misses(&fixture.path.display().to_string(), &bundle.rows, bundle.as_of));
        }
    }
    assert!(all.is_empty(), "{}\n{}", all.len(), all.join("\n"));
}

#[test]
fn a_later_policy_changes_no_code_of_a_log() {
    let mut all = Vec::new();
    for seed in 1..=2 {
        all.extend(misses(&format!("log {seed}"), &drafts(worlds::log(seed, 2)), None));
        all.extend(misses(&format!("all {seed}"), &drafts(worlds::everything(seed)), None));
    }
    assert!(all.is_empty(), "{}\n{}", all.len(), all.join("\n"));
}

/// The same in parts: each row in a stream of its own, the later policy in one of a matter.
#[test]
fn a_later_policy_changes_no_code_in_parts() {
    let codes = [
        "cascade/outcome_dependency_cycle",
        "sub_agents/plan_verifier_required_but_missing",
        "library/library_promotion_without_gate",
        "forum/forum_no_consensus_without_terminal_route",
        "externalization/workspace_externalization_without_policy",
    ];
    for (code, name) in codes.iter().flat_map(|code| ["fires.json", "legal.json"].map(|name| (code, name))) {
        let bundle = Bundle::read(read(place().join(code).join(name)).document).unwrap();
        let now = World::new(bundle.rows.clone(), bundle.as_of).now();
        for change in CHANGES {
            let policies = bundle.rows.iter().filter(|row| is_policy(&row.kind));
            let more: Vec<Draft> = policies.map(|row| version(row, change, false)).collect();
            let rows = [bundle.rows.clone(), more].concat();
            let count = bundle.rows.len();
            let streams =
                (1..).map(|at| if at <= count { format!("run/{at}") } else { "matter/m".to_owned() });
            let (stored, whole) = (stored(streams, &rows), check(&World::new(rows, now)));
            for near in [0, Limits::LEDGER.near] {
                let limits = Limits { batch: 1, near, ..Limits::LEDGER };
                let (parts, _) = audits::found(&stored, now, limits, |audit| audit);
                assert_eq!(parts.codes, whole, "{code}/{name} {change:?} {near}");
            }
        }
    }
}
