//! Derived statuses against what their inputs come to.
//! Owns: gathering what a status rests on. Must not: derive; `derive` does. What a world does not tell is not held against a
//! record: a status is found only where nothing that could be known besides would give it.

use crate::check::Found;
use crate::check::read_models::place::History;
use crate::check::stood::Stood;
use crate::derive::reliance::{Health, Limitation, Sign, State, health};
use crate::derive::sufficiency::{
    Coverage, Known, OnCycle, Route, Standing, Trigger, Version, coverage, route, standing,
};
use crate::fold::family::OUTCOME;
use crate::member::Member;
use crate::table::order::Ranked;
use crate::world::{Record, World};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::vec::Vec;
use countersign_record::json::Json;

/// Finds statuses that their inputs do not come to.
pub(super) fn drift(world: &World, found: &mut Found<'_>) {
    reputation(world, found);
    covered(world, found);
    routed(world, found);
    healthy(world, found);
}

/// Reputations that are told on too few cases, or withheld on enough.
fn reputation(world: &World, found: &mut Found<'_>) {
    for score in world.of("SubAgentReputationScore") {
        let least =
            score.follow("formula_config_ref").and_then(|config| config.count("min_invocation_count"));
        let (Some(least), Some(cases)) = (least, score.count("sample_size")) else { continue };
        let derived = if cases < least { "insufficient_sample" } else { "computed" };
        if score.is_one_of("score_status", &["computed", "insufficient_sample"])
            && !score.is("score_status", derived)
        {
            let message = format!("{cases} cases where {least} are needed make it {derived}");
            found.add(score, "score_status", message);
        }
    }
}

/// What a snapshot says of each capability.
type Offers<'w> = BTreeMap<&'w str, Vec<(Version<'w>, bool)>>;

/// Coverages that required and available capabilities do not give.
fn covered(world: &World, found: &mut Found<'_>) {
    let mut snapshots: BTreeMap<u64, Offers<'_>> = BTreeMap::new();
    for assessment in world.of("CapabilityCoverageAssessment") {
        let Some(stated) = assessment.text("coverage_state").and_then(Coverage::find) else { continue };
        let snapshot = assessment.follow("capability_snapshot_ref");
        let snapshot = snapshot.filter(|snapshot| snapshot.kind() == "CapabilitySnapshot");
        let offers =
            snapshot.map(|snapshot| &*snapshots.entry(snapshot.seq()).or_insert_with(|| offers(snapshot)));
        let Some(standings) = standings(assessment, offers) else { continue };
        let derived = coverage(&standings);
        if derived != stated {
            let message = format!("the capabilities make it {}", derived.as_str());
            found.add(assessment, "coverage_state", message);
        }
    }
}

fn offers(snapshot: Record<'_>) -> Offers<'_> {
    let mut offers = Offers::new();
    for one in snapshot.json().list("capabilities") {
        if let (Some(id), Some(version)) = (one.text("capability_id"), one.text("version")) {
            let is_healthy = one.flag("healthy").unwrap_or(false);
            offers.entry(id).or_default().push((Version(version), is_healthy));
        }
    }
    offers
}

/// How each capability stands that is needed, by the snapshot, or by what the assessment itself lists; `None` where neither tells.
fn standings(assessment: Record<'_>, offers: Option<&Offers<'_>>) -> Option<Vec<Standing>> {
    let json = assessment.json();
    let mut gaps = BTreeMap::new();
    for gap in json.list("gaps") {
        let id = gap.at("required_capability_ref").and_then(|one| one.text("capability_id"))?;
        let standing = match gap.text("gap_kind")? {
            "missing" | "version_incompatible" => Standing::Missing,
            "unhealthy" => Standing::Unhealthy,
            // Whether what a policy forbids counts as there, the contract does not say.
            _other => return None,
        };
        gaps.insert(id, standing);
    }
    let listed = json.at("available_capabilities").and_then(Json::as_array);
    let available: Option<BTreeSet<&str>> =
        listed.map(|all| all.iter().filter_map(|one| one.text("capability_id")).collect());
    let needed = json.at("required_capabilities").and_then(Json::as_array)?;
    let each = needed.iter().map(|one| {
        let id = one.text("capability_id")?;
        match (offers, &available) {
            (Some(offers), _) => {
                let least = one.text("min_version").map(Version);
                Some(standing(least.as_ref(), offers.get(id).map(Vec::as_slice).unwrap_or_default()))
            }
            (None, Some(available)) if available.contains(id) => {
                Some(gaps.get(id).copied().unwrap_or(Standing::Healthy))
            }
            (None, Some(_)) => Some(Standing::Missing),
            (None, None) => None,
        }
    });
    each.collect()
}

/// Routes that the first of the triggers never takes.
fn routed(world: &World, found: &mut Found<'_>) {
    for detection in world.of("SufficiencyDetectionResult") {
        let stated = detection.text("terminal_route").and_then(Route::find);
        let Some(stated) = stated.filter(|_| detection.flag("no_sufficient_procedure") == Some(true)) else {
            continue;
        };
        let named = detection.json().texts("triggered_by");
        let triggers: Vec<Trigger> = named.iter().filter_map(|word| Trigger::find(word)).collect();
        // Without a trigger, or with one that nobody knows, there is nothing to go by.
        if triggers.is_empty() || triggers.len() != named.len() {
            continue;
        }
        let possible: BTreeSet<Route> = known(detection)
            .filter_map(|known| route(&triggers, &known))
            .map(|ending| ending.route)
            .collect();
        if !possible.contains(&stated) {
            let words: Vec<&str> = possible.into_iter().map(Route::as_str).collect();
            let message = format!("its triggers lead to {}", words.join(" or "));
            found.add(detection, "terminal_route", message);
        }
    }
}

/// Reasons against a procedure that a person can do away with.
const UNLOCKABLE: [&str; 2] = ["unsafe_without_human", "requires_ungranted_side_effect"];

/// All that may be known besides the triggers: what the detection says, and each way of what it leaves open.
fn known(detection: Record<'_>) -> impl Iterator<Item = Known> {
    let candidates = detection.json().at("candidate_procedures").and_then(Json::as_array);
    let is_unlockable =
        |one: &Json| one.text("inapplicable_reason").is_some_and(|why| UNLOCKABLE.contains(&why));
    let unlockable = candidates.map(|all| all.iter().any(is_unlockable));
    let ways = OnCycle::ALL.iter().flat_map(|on_cycle| (0_u8..16).map(move |bits| (*on_cycle, bits)));
    ways.map(move |(on_cycle, bits)| {
        let bit = |at: u8| bits >> at & 1 == 1;
        Known {
            policy_is_alterable: false,
            has_information_route: true,
            has_other_verifier: bit(0),
            precondition_is_information: bit(1),
            on_cycle,
            has_variation_left: bit(2),
            has_unlockable_candidate: unlockable.unwrap_or_else(|| bit(3)),
            attempts: 0,
            attempts_max: 0,
        }
    })
}

/// Cards that call a task better than the outcomes and limitations in their manifests let it be. More signs never make a task
/// healthier, so a card that is worse may know of others.
fn healthy(world: &World, found: &mut Found<'_>) {
    if world.of("TaskHealthCard").next().is_none() {
        return;
    }
    let (outcomes, stood) = (History::of(world, "OutcomeRecord"), Stood::of(world, &OUTCOME));
    let packets = History::of(world, "TaskReliancePacket");
    for card in world.of("TaskHealthCard") {
        let stated = card.text("health_status").and_then(Health::find);
        let manifest =
            card.follow("derived_read_model_ref").and_then(|header| header.follow("input_manifest_ref"));
        let (Some(stated), Some(manifest)) = (stated, manifest) else { continue };
        let mut signs = Vec::new();
        for input in manifest.json().references("input_refs") {
            match input.kind {
                "outcome_record" => {
                    let outcome = outcomes.before(input.id, card.seq());
                    let state = outcome.and_then(|one| stood.told_at(one, card.seq()));
                    signs.extend(state.and_then(State::find).map(Sign::Outcome));
                }
                "task_reliance_packet" => {
                    let packet = packets.before(input.id, card.seq()).map(Record::json);
                    let limited = packet.map(|one| one.texts("reliance_derivation.unresolved_limitations"));
                    let limited = limited.unwrap_or_default();
                    signs.extend(limited.into_iter().filter_map(Limitation::find).map(Sign::Limited));
                }
                _other => {}
            }
        }
        let derived = health(signs);
        if stated.rank() < derived.rank() {
            let message = format!("its inputs let it be {} at best", derived.as_str());
            found.add(card, "health_status", message);
        }
    }
}
