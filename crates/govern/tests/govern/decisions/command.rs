//! Commands: once at most, and only what is known and allowed.

use super::{at, typed, wrong};
use countersign_govern::decide::command::{self, Circumstances, Given, Refusal, Registry, Standing};
use countersign_govern::decide::row;
use countersign_govern::table::commands;
use countersign_govern::types::added::policy::PolicyDecision;
use countersign_govern::types::added::showing::{CommandInvocation, CommandReceipt};
use countersign_govern::types::command::TaskCommandRegistryEntry;
use countersign_govern::types::read_models::DerivedReadModelRecordReadModelKind as ReadModel;
use countersign_govern::world::Draft;
use proptest::prelude::*;
use proptest::sample::select;
use std::collections::{BTreeMap, BTreeSet};

fn entry() -> TaskCommandRegistryEntry {
    typed(
        r#"{"command_id":"house.close_file","request_schema_ref":{"schema_id":"house.close","semantic_version":"1.0.0"},
        "response_schema_ref":{"schema_id":"house.closed","semantic_version":"1.0.0"},"durable_write":"required",
        "required_policy_checks":["same_matter"],"idempotency_key_required":true,"telemetry_event_kind":"house.closed",
        "read_model_invalidations":["RunDiff","BudgetNarrative"],"failure_codes":["policy_denied"],"owning_doc":"DOC22",
        "schema_version":"1.0","writes_event_kinds":["TaskRunFork"]}"#,
    )
}

/// A command that only looks, so that it needs no key.
fn looking() -> TaskCommandRegistryEntry {
    TaskCommandRegistryEntry {
        command_id: "house.look".to_string(),
        durable_write: typed(r#""none""#),
        idempotency_key_required: false,
        read_model_invalidations: Vec::new(),
        writes_event_kinds: None,
        ..entry()
    }
}

fn invocation(id: &str, command: &str, key: Option<&str>, body: &str, second: i64) -> CommandInvocation {
    let key = key.map(|key| format!(r#","idempotency_key":{key:?}"#)).unwrap_or_default();
    typed(&format!(
        r#"{{"invocation_id":"{id}","command_id":"{command}","actor_ref":"user:u1","actor_kind":"user","request_hash":"{body}","created_at":"{}"{key}}}"#,
        at(second).as_str()
    ))
}

fn allowing(command: &str) -> BTreeMap<&'static str, PolicyDecision> {
    let checks = commands::find(command).map(|one| one.policy_checks).unwrap_or(&["same_matter"]);
    checks.iter().map(|check| (*check, PolicyDecision::Allow)).collect()
}

/// Every command that is built in: what it makes old is what its rows make old; a check that says no, or nothing, stops it.
#[test]
fn every_command_is_held_to_its_checks() {
    let (registry, now) = (Registry::default(), at(1));
    for one in commands::all() {
        let asked = invocation("i1", one.id, Some("k1"), "h", 0);
        let decide = |checks: &BTreeMap<&str, PolicyDecision>, standing: Standing| {
            let circumstances = Circumstances { at: &now, checks, standing };
            command::decide(&registry, &Given::default(), &asked, &circumstances).unwrap()
        };
        let checks = allowing(one.id);
        assert_eq!(
            decide(&checks, Standing::Degraded).shown.as_deref(),
            Some(one.states.degraded),
            "{}",
            one.id
        );
        let ruling = decide(&checks, Standing::Ready);
        assert_eq!(ruling.shown, None, "{}", one.id);
        let old: BTreeSet<ReadModel> = one.invalidations().into_iter().filter_map(ReadModel::find).collect();
        assert_eq!((ruling.receipt.status.as_str(), ruling.made_old), ("accepted", old), "{}", one.id);
        for (standing, word) in [(Standing::Empty, "not_found"), (Standing::Blocked, "wrong_state")] {
            let ruling = decide(&checks, standing);
            let shown = if standing == Standing::Empty { one.states.empty } else { one.states.blocked };
            assert_eq!(ruling.shown.as_deref(), Some(shown), "{}", one.id);
            assert_eq!((ruling.receipt.status.as_str(), ruling.made_old.len()), (word, 0), "{}", one.id);
            assert!(one.failure_codes.contains(&word), "{} can't fail with {word}", one.id);
        }
        for check in one.policy_checks {
            let mut checks = checks.clone();
            checks.insert(check, PolicyDecision::RequireHuman);
            assert_eq!(
                decide(&checks, Standing::Ready).receipt.status.as_str(),
                "accepted",
                "a person gave it"
            );
            checks.insert(check, PolicyDecision::Deny);
            assert_eq!(
                decide(&checks, Standing::Empty).receipt.status.as_str(),
                "policy_denied",
                "{}",
                one.id
            );
            checks.remove(check);
            assert_eq!(
                decide(&checks, Standing::Ready).receipt.status.as_str(),
                "policy_denied",
                "{}",
                one.id
            );
        }
    }
}

#[test]
fn what_a_row_registers_counts() {
    let (entry, now) = (entry(), at(1));
    let asked = invocation("i1", "command:house.close_file", Some("k1"), "h", 0);
    let checks = allowing("");
    let circumstances = Circumstances { at: &now, checks: &checks, standing: Standing::Degraded };
    let mut registry = Registry::default();
    let unknown = command::decide(&registry, &Given::default(), &asked, &circumstances).unwrap_err();
    assert_eq!(unknown.code(), "validation.user_action_without_command_registry_entry");
    registry.add(&entry);
    let old = |registry: &Registry<'_>| {
        command::decide(registry, &Given::default(), &asked, &circumstances).unwrap().made_old
    };
    assert_eq!(old(&registry), [ReadModel::RunDiff, ReadModel::BudgetNarrative].into());
    registry.specify("TaskRunFork", vec!["TaskHealthCard"]);
    assert_eq!(
        old(&registry),
        [ReadModel::RunDiff, ReadModel::BudgetNarrative, ReadModel::TaskHealthCard].into()
    );
}

/// What somebody sends.
#[derive(Clone, Debug)]
struct Sent {
    command: &'static str,
    key: Option<&'static str>,
    body: &'static str,
    id: &'static str,
    is_allowed: bool,
    standing: Standing,
}

fn sent() -> impl Strategy<Value = Sent> {
    let commands = [
        "finding.contest",
        "attention.resolve_item",
        "task_replay.preview",
        "house.look",
        "house.close_file",
        "house.unheard_of",
    ];
    let standing = [Standing::Ready, Standing::Ready, Standing::Degraded, Standing::Empty, Standing::Blocked];
    (
        select(commands.to_vec()),
        select(vec![None, Some(""), Some("k1"), Some("k2"), Some("k3"), Some("k4")]),
        select(vec!["h1", "h2", ""]),
        select(vec!["i1", "i2", "i3", "i4", "i5", "i6", "i7", "i8", "", "i@1"]),
        prop::bool::weighted(0.8),
        select(standing.to_vec()),
    )
        .prop_map(|(command, key, body, id, is_allowed, standing)| Sent {
            command,
            key,
            body,
            id,
            is_allowed,
            standing,
        })
}

proptest! {
    /// Same key and same request: the same receipt and nothing else. Same key and another request: refused. Whatever is sent, what
    /// was decided has no codes.
    #[test]
    fn a_command_is_carried_out_once(all in prop::collection::vec(sent(), 1..40)) {
        let (entry, looking) = (entry(), looking());
        let mut registry = Registry::default();
        registry.add(&entry);
        registry.add(&looking);
        let mut before = Given::default();
        let mut keys: BTreeMap<&str, (&str, &str, CommandReceipt)> = BTreeMap::new();
        let mut ids: BTreeSet<&str> = BTreeSet::new();
        let mut rows: Vec<Draft> = vec![row(&entry, &at(0)), row(&looking, &at(0))];
        for (place, one) in all.iter().enumerate() {
            let second = place as i64;
            let asked = invocation(one.id, one.command, one.key, one.body, second);
            let checks = if one.is_allowed { allowing(one.command) } else { BTreeMap::new() };
            let now = at(second);
            let circumstances = Circumstances { at: &now, checks: &checks, standing: one.standing };
            let found = command::decide(&registry, &before, &asked, &circumstances);
            let is_keyed = one.command != "house.look";
            let earlier = one.key.and_then(|key| keys.get(key));
            let expected = if one.command == "house.unheard_of" {
                Some(Refusal::Unknown)
            } else if ["", "i@1"].contains(&one.id) || one.body.is_empty() {
                Some(Refusal::Unnamed)
            } else if one.key == Some("") || one.key.is_none() && is_keyed {
                Some(Refusal::NoKey)
            } else if earlier.is_some_and(|(command, body, _)| (*command, *body) != (one.command, one.body)) {
                Some(Refusal::KeyReused)
            } else if earlier.is_none() && ids.contains(one.id) {
                Some(Refusal::IdReused)
            } else {
                None
            };
            prop_assert_eq!(found.as_ref().err(), expected.as_ref());
            let Ok(ruling) = found else { continue };
            if let Some((.., receipt)) = earlier {
                prop_assert_eq!((&ruling.receipt, ruling.is_repeated, ruling.made_old.len()), (receipt, true, 0));
                continue;
            }
            prop_assert!(!ruling.is_repeated);
            let is_done = one.is_allowed && matches!(one.standing, Standing::Ready | Standing::Degraded);
            prop_assert_eq!(ruling.receipt.status.as_str() == "accepted", is_done);
            let writes = !["house.look", "task_replay.preview"].contains(&one.command);
            prop_assert_eq!(!ruling.made_old.is_empty(), is_done && writes);
            before.apply(&asked, &ruling.receipt);
            ids.insert(one.id);
            if let Some(key) = one.key {
                keys.insert(key, (one.command, one.body, ruling.receipt.clone()));
            }
            rows.extend([row(&asked, &now), row(&ruling.receipt, &now)]);
        }
        prop_assert_eq!(wrong(&rows), Vec::<String>::new());
    }
}
