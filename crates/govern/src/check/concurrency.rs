//! Validation codes: concurrency.
//! Owns: the rules of this area. Must not: decide by names.

use super::{Area, Found, Rule, Severity};
use crate::derive::tie_break::Profile;
use crate::member::Member;
use crate::path::Path;
use crate::world::{Record, World};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::vec::Vec;
use countersign_record::json::Json;
use countersign_record::time::Instant;

pub(super) const AREA: Area = Area { name: "concurrency", rules: RULES, kinds: &[] };

const RULES: &[Rule] = &[
    Rule {
        code: "concurrency_tie_breaker_uses_wall_clock",
        severity: Severity::Error,
        section: "B-16",
        fires: "A TieBreakDecision between RevisionPlanConcurrencyProfiles uses created_at, arrival time or the current time as a key, or deterministic_final_key is a timestamp (also as digits since 1970) or is regenerated on replay (it differs between two profiles of one plan), so the same profiles can order differently.",
        legal: "deterministic_final_key is the plan_id (or a ULID minted once at plan compilation and stored in the log).",
        why: "If the clock decides, the same plans go in another order the next time, and a replay can't show why one went first.",
        fix: "Order by the six keys only; let deterministic_final_key be the plan_id, or a key that was made once and stored.",
        check: concurrency_tie_breaker_uses_wall_clock,
    },
    Rule {
        code: "concurrency_tie_breaker_risk_sort_inverted",
        severity: Severity::Error,
        section: "B-16",
        fires: "A TieBreakDecision places a plan with the higher plan_risk_score before one with the lower while required_for_overall_pass, high_stakes and outcome_priority are equal.",
        legal: "The riskier plan goes first because it is required_for_overall_pass and the other is not.",
        why: "The riskier plan goes first and may spoil what the safer one would have kept.",
        fix: "Sort plans that are otherwise equal by plan_risk_score, the lower first.",
        check: concurrency_tie_breaker_risk_sort_inverted,
    },
    Rule {
        code: "concurrency_tie_breaker_missing_final_key",
        severity: Severity::Error,
        section: "B-16",
        fires: "A RevisionPlanConcurrencyProfile has an empty deterministic_final_key, or two profiles in one contention set have equal final keys.",
        legal: "Two profiles equal in keys 1-5 with different final keys.",
        why: "Plans that are equal in everything have no order of their own. Then chance decides, and a replay decides otherwise.",
        fix: "Give every profile a deterministic_final_key that no other has, such as the plan_id.",
        check: concurrency_tie_breaker_missing_final_key,
    },
];

/// What plans are ordered by, and nothing else: whatever else is taken may be another one at every replay.
const KEYS: [&str; 6] = [
    "required_for_overall_pass",
    "high_stakes",
    "outcome_priority",
    "plan_risk_score",
    "estimated_lock_duration_ms",
    "deterministic_final_key",
];

/// A profile where it stands.
struct Stated<'w> {
    record: Record<'w>,
    place: Option<usize>,
    json: &'w Json,
}

impl Stated<'_> {
    fn path(&self, member: &'static str) -> Path {
        match self.place {
            Some(place) => Path::from("profiles").item(place).then(member),
            None => Path::from(member),
        }
    }
}

/// The profiles of a decision.
fn profiles(decision: Record<'_>) -> impl Iterator<Item = Stated<'_>> {
    let profiles = decision.json().list("profiles").iter().enumerate();
    profiles.map(move |(place, json)| Stated { record: decision, place: Some(place), json })
}

/// All profiles: rows of their own and those in decisions, in order.
fn all_profiles(world: &World) -> Vec<Stated<'_>> {
    let own = world.of("RevisionPlanConcurrencyProfile");
    let own = own.map(|record| Stated { record, place: None, json: record.json() });
    let mut all: Vec<Stated<'_>> = own.chain(world.of("TieBreakDecision").flat_map(profiles)).collect();
    all.sort_by_key(|one| (one.record.seq(), one.place));
    all
}

fn concurrency_tie_breaker_uses_wall_clock(world: &World, found: &mut Found<'_>) {
    for decision in world.of("TieBreakDecision") {
        for (at, key) in decision.json().list("keys_used").iter().enumerate() {
            if let Some(key) = key.as_str().filter(|key| !KEYS.contains(key)) {
                found.add(
                    decision,
                    Path::from("keys_used").item(at),
                    format!(
                        "{key} is none of what plans are ordered by, and may be another one at every replay"
                    ),
                );
            }
        }
    }
    let mut keys: BTreeMap<&str, &str> = BTreeMap::new();
    for profile in all_profiles(world) {
        let Some(key) = profile.json.text("deterministic_final_key") else { continue };
        let plan = profile.json.id_at("plan_id");
        // A plan may be called whatever it likes.
        if plan != Some(key) && (Instant::read(key).is_some() || is_epoch(key)) {
            found.add(profile.record, profile.path("deterministic_final_key"), "is a time");
        }
        if plan.is_some_and(|plan| *keys.entry(plan).or_insert(key) != key) {
            let message = "is not the key that the plan had before";
            found.add(profile.record, profile.path("deterministic_final_key"), message);
        }
    }
}

/// Whether digits are a time: seconds since 1970 in the years 2001 to 2286, or milli-, micro- or nanoseconds.
fn is_epoch(key: &str) -> bool {
    let is_long = matches!(key.len(), 10 | 13 | 16 | 19);
    is_long && !key.starts_with('0') && key.bytes().all(|byte| byte.is_ascii_digit())
}

/// A profile, if it says all that is needed to put it in order.
fn read(json: &Json) -> Option<Profile<'_>> {
    Some(Profile {
        plan_id: json.id_at("plan_id")?,
        required_for_overall_pass: json.flag("required_for_overall_pass")?,
        high_stakes: json.flag("high_stakes")?,
        outcome_priority: json.number("outcome_priority")?,
        plan_risk_score: json.number("plan_risk_score").filter(|risk| risk.is_finite())?,
        estimated_lock_duration_ms: json.number("estimated_lock_duration_ms").unwrap_or_default(),
        deterministic_final_key: json.text("deterministic_final_key").unwrap_or_default(),
    })
}

fn concurrency_tie_breaker_risk_sort_inverted(world: &World, found: &mut Found<'_>) {
    for decision in world.of("TieBreakDecision") {
        let known: BTreeMap<&str, Profile<'_>> = profiles(decision)
            .filter_map(|profile| read(profile.json).map(|profile| (profile.plan_id, profile)))
            .collect();
        // The riskiest plan so far among those that only the risk sets apart.
        let mut riskiest: BTreeMap<(bool, bool, u64), Profile<'_>> = BTreeMap::new();
        for (at, plan) in decision.json().list("order").iter().enumerate() {
            let Some(profile) = plan.as_str().and_then(|plan| known.get(plan)) else { continue };
            let first = riskiest.entry(profile.class()).or_insert(*profile);
            if profile.plan_risk_score < first.plan_risk_score {
                let message =
                    format!("plan {} goes after {}, which is riskier", profile.plan_id, first.plan_id);
                found.add(decision, Path::from("order").item(at), message);
            } else {
                *first = *profile;
            }
        }
    }
}

fn concurrency_tie_breaker_missing_final_key(world: &World, found: &mut Found<'_>) {
    for profile in all_profiles(world).iter().filter(|one| one.json.as_object().is_some()) {
        if profile.json.is_blank("deterministic_final_key") {
            let path = profile.path("deterministic_final_key");
            found.add(profile.record, path, "nothing decides where all else is equal");
        }
    }
    for decision in world.of("TieBreakDecision") {
        let mut taken = BTreeSet::new();
        for profile in profiles(decision) {
            if let Some(key) = profile.json.text("deterministic_final_key").filter(|key| !taken.insert(*key))
            {
                let message = format!("{key} is the key of another plan too");
                found.add(decision, profile.path("deterministic_final_key"), message);
            }
        }
    }
}

#[cfg(test)]
#[path = "concurrency_tests.rs"]
mod tests;
