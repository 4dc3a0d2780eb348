//! What is said of one thing more than once.
//! Owns: which members must be the same, and where. Must not: know which of two is right.

use super::names::Tie;
use super::{Found, What};
use crate::kind;
use crate::member::Member;
use crate::path::Path;
use crate::world::{Record, World};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use countersign_record::json::Json;

/// What a record that belongs to another one, by its id, shares with it.
const SHARED: [&str; 9] = [
    "artifact_stable_id",
    "chain_id",
    "feedback_bundle_id",
    "finding_id",
    "outcome_id",
    "result_id",
    "run_id",
    "task_id",
    "workspace_id",
];

/// A member that fixes another one, wherever both are told.
const FIXED: [(&str, &str); 4] =
    [("run_id", "task_id"), ("run_id", "matter_id"), ("task_id", "matter_id"), ("workspace_id", "matter_id")];

/// A type whose records are written again as they move, and the members that move; the others stay as they were.
#[rustfmt::skip] // one to a line
const MOVING: &[(&str, &[&str])] = &[
    ("DerivedReadModelRecord", &["valid_until_event_seq", "invalidated_by_event_ref"]),
    ("EvaluationChainRegistryRecord", &["received_result_ids", "status", "completed_at", "superseded_by_chain_id", "validation_failures"]),
    ("EvaluationFindingRecord", &["canonical_event_ref", "current_state", "current_severity", "lifecycle_transition_refs", "superseded_by_finding_id", "expires_at", "last_validated_against_artifact_version_ref", "last_validated_against_source_workspace_snapshot_ref", "updated_at"]),
    ("OutcomeRecord", &["state"]),
    ("SideEffectLedgerEntry", &["state", "receipt_ref", "replay_request_id", "created_at"]),
    ("SourceWorkspaceCurrentState", &["head_hash", "stream_seq", "record_refs", "taint_class", "data_class", "privileged", "canonical_event_ref", "updated_at"]),
    ("TaskReliancePacket", &["lifecycle_state", "reviewed_by_user_ref", "issued_at", "invalidated_by_event_ref"]),
    ("WorkProductCertification", &["lifecycle_state", "issued_by_ref", "issue_command_ref"]),
];

pub(super) fn find<'w>(world: &'w World, ties: &[Tie<'w>], found: &mut Found) {
    shared(ties, found);
    let matters = fixed(world, found);
    leaks(ties, &matters, found);
    bodies(world, found);
    suppressed(world, found);
}

/// What was held back repeats something that went out.
fn suppressed(world: &World, found: &mut Found) {
    let mut delivered: BTreeSet<&str> = BTreeSet::new();
    for delivery in world.of("FeedbackDeliveryRecord") {
        let Some(key) = delivery.json().text("delivery_idempotency_key") else { continue };
        if delivery.flag("suppressed") != Some(true) {
            delivered.insert(key);
        } else if !delivered.contains(key) {
            found.add(delivery, "suppressed", What::Repeat, "and nothing went out before that it repeats");
        }
    }
}

/// The matter of a record.
fn matter<'w>(record: Record<'w>) -> Option<&'w str> {
    let json: &'w Json = record.json();
    json.text("matter_id").or_else(|| json.text("governance.matter_id"))
}

fn shared(ties: &[Tie<'_>], found: &mut Found) {
    let ids: BTreeMap<&str, Option<&str>> = kind::all().map(|kind| (kind.name, kind.id)).collect();
    for tie in ties {
        let (from, to) = (tie.from, tie.to);
        if let (Some(own), Some(other)) = (matter(from), matter(to))
            && own != other
        {
            let message = format!("is of {own} and names row {} of {other}", to.seq());
            found.add(from, "matter_id", What::Repeat, message);
        }
        // Two that are only mentioned together may be of different runs, and what a record is called is its own.
        let own = ids.get(from.kind()).copied().flatten();
        let is_mention = |member: &str| !tie.is_by_id && ["run_id", "task_id"].contains(&member);
        for member in SHARED.into_iter().filter(|member| !is_mention(member) && own != Some(*member)) {
            let both = from.json().text(member).zip(to.json().text(member));
            if let Some((own, other)) = both.filter(|(own, other)| own != other) {
                let message = format!("is {own}, and row {}, which it names, says {other}", to.seq());
                found.add(from, member, What::Repeat, message);
            }
        }
    }
}

/// The matter of each run.
type Matters<'w> = BTreeMap<&'w str, &'w str>;

/// What belongs to something of a run is of that run's matter, and what is made is of the matter of what it is made of.
fn leaks<'w>(ties: &[Tie<'w>], matters: &Matters<'w>, found: &mut Found) {
    let mut made: BTreeMap<u64, (&str, u64)> = BTreeMap::new();
    for tie in ties {
        let (from, to) = (tie.from, tie.to);
        let of_run = to.json().text("run_id").and_then(|run| matters.get(run));
        if let (Some(own), Some(other)) = (matter(from), of_run)
            && own != *other
        {
            let message = format!("is of {own} and belongs to row {} of {other}", to.seq());
            found.add(from, "matter_id", What::Repeat, message);
        }
        if let Some(other) = matter(to).filter(|_| from.kind() == "DerivationEdge") {
            let (first, row) = *made.entry(from.seq()).or_insert((other, to.seq()));
            if first != other {
                let message = format!("joins row {row} of {first} and row {} of {other}", to.seq());
                found.add(from, "", What::Repeat, message);
            }
        }
    }
}

fn fixed<'w>(world: &'w World, found: &mut Found) -> Matters<'w> {
    let mut seen: BTreeMap<(&str, &str, &str), (&str, u64)> = BTreeMap::new();
    for record in world.all() {
        for (key, member) in FIXED {
            let value = if member == "matter_id" { matter(record) } else { record.json().text(member) };
            let (Some(of), Some(value)) = (record.json().text(key), value) else { continue };
            let (first, row) = *seen.entry((key, of, member)).or_insert((value, record.seq()));
            if first != value {
                let message = format!("is {value} for {key} {of}, and row {row} says {first}");
                found.add(record, member, What::Repeat, message);
            }
        }
    }
    let runs = seen.into_iter().filter(|((key, _, member), _)| *key == "run_id" && *member == "matter_id");
    runs.map(|((_, run, _), (matter, _))| (run, matter)).collect()
}

/// What does not move is the same in all versions.
fn bodies(world: &World, found: &mut Found) {
    for (kind, moving) in MOVING {
        let mut first: BTreeMap<&str, Record<'_>> = BTreeMap::new();
        for record in world.of(kind) {
            let before = *first.entry(record.id()).or_insert(record);
            if before.seq() == record.seq() {
                continue;
            }
            for member in members(before).union(&members(record)).copied() {
                if !moving.contains(&member) && before.json().get(member) != record.json().get(member) {
                    let message = format!("is not what row {} says, and does not move", before.seq());
                    found.add(record, Path::whole().name(member), What::Repeat, message);
                }
            }
        }
    }
}

fn members<'w>(record: Record<'w>) -> alloc::collections::BTreeSet<&'w str> {
    record.json().as_object().into_iter().flat_map(|members| members.iter()).map(|(name, _)| name).collect()
}
