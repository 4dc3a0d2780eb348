//! How something stands, against the events that say so.
//! Owns: which event moves what. Must not: know which moves are allowed; machines do.

use super::{Found, What};
use crate::machine;
use crate::member::Member;
use crate::reference::snake;
use crate::world::{Record, World};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_record::json::Json;

/// A member of a projection, and the events that say what it is: the last one before counts.
struct Fold {
    projection: &'static str,
    member: &'static str,
    /// Where it begins, if only events lead away from there.
    initial: &'static [&'static str],
    events: &'static [Told],
}

/// A type of events, the member that says what they are about, and the one that says how that stands then.
struct Told {
    kind: &'static str,
    subject: &'static str,
    value: &'static str,
    /// The member that says how it stood before, if the events say that.
    from: Option<&'static str>,
    /// A member and the word that it must have, for the event to have happened.
    when: Option<(&'static str, &'static str)>,
}

const fn told(kind: &'static str, subject: &'static str, value: &'static str) -> Told {
    Told { kind, subject, value, from: None, when: None }
}

const fn moved_by(
    kind: &'static str,
    subject: &'static str,
    from: &'static str,
    value: &'static str,
) -> Told {
    Told { kind, subject, value, from: Some(from), when: None }
}

const fn applied(value: &'static str) -> Told {
    let (kind, subject) = ("SourceWorkspaceOperationReceipt", "workspace_id");
    Told { kind, subject, value, from: None, when: Some(("status", "applied")) }
}

#[rustfmt::skip] // one to a line
const FOLDS: &[Fold] = &[
    Fold { projection: "OutcomeRecord", member: "state", initial: machine::OUTCOME.initial, events: &[moved_by("OutcomeStateTransitionEvent", "outcome_id", "from_state", "to_state")] },
    Fold { projection: "EvaluationFindingRecord", member: "current_state", initial: &[], events: &[told("EvaluationFindingEvent", "finding_id", "emitted_state"), told("FindingLifecycleTransitionReceipt", "finding_id", "to_state")] },
    Fold { projection: "EvaluationFindingRecord", member: "current_severity", initial: &[], events: &[told("EvaluationFindingEvent", "finding_id", "severity")] },
    Fold { projection: "SourceWorkspaceCurrentState", member: "head_hash", initial: &[], events: &[applied("new_workspace_head_hash")] },
    Fold { projection: "SourceWorkspaceCurrentState", member: "stream_seq", initial: &[], events: &[applied("new_event_seq")] },
    Fold { projection: "RunGuidanceItemCurrent", member: "lifecycle_state", initial: &[], events: &[moved_by("RunGuidanceLifecycleReceipt", "guidance_id", "from_state", "to_state")] },
    Fold { projection: "SourceRecord", member: "tier", initial: &[], events: &[moved_by("SourceTierTransitionReceipt", "source_id", "from_tier", "to_tier")] },
];

/// Projections whose state the general receipt moves, and the member that says it.
const STATES: [(&str, &str); 6] = [
    ("AttentionLedgerItem", "lifecycle_state"),
    ("EvaluationChainRegistryRecord", "status"),
    ("ResearchNeed", "status"),
    ("RunBoardVisiblePost", "lifecycle_state"),
    ("TaskReliancePacket", "lifecycle_state"),
    ("WorkProductCertification", "lifecycle_state"),
];

/// Moves of one thing follow on each other: the type, what it is about, from where, to where.
const MOVES: [(&str, &str, &str, &str); 6] = [
    ("ArtifactVersionTransitionEvent", "artifact_version_ref", "from_state", "to_state"),
    ("FindingLifecycleTransitionReceipt", "finding_id", "from_state", "to_state"),
    ("LifecycleTransitionReceipt", "subject_ref", "from_state", "to_state"),
    ("OutcomeStateTransitionEvent", "outcome_id", "from_state", "to_state"),
    ("RevisionLifecycleTransitionEvent", "plan_id", "from_state", "to_state"),
    ("SourceTierTransitionReceipt", "source_id", "from_tier", "to_tier"),
];

pub(super) fn find(world: &World, found: &mut Found) {
    for fold in FOLDS {
        folded(world, fold, found);
    }
    for (projection, member) in STATES {
        general(world, projection, member, found);
    }
    for (kind, subject, from, to) in MOVES {
        succession(world, (kind, subject, from, to), found);
    }
}

/// What is said of each thing, in order, with the places.
type Said<'w> = BTreeMap<&'w str, Vec<(u64, &'w Json)>>;

fn folded(world: &World, fold: &Fold, found: &mut Found) {
    let mut said: Said<'_> = BTreeMap::new();
    let mut begun: BTreeMap<&str, (u64, &Json)> = BTreeMap::new();
    for told in fold.events {
        let happened = |event: &Record<'_>| told.when.is_none_or(|(member, word)| event.is(member, word));
        for event in world.of(told.kind).filter(happened) {
            let (subject, value) = (event.json().text(told.subject), event.json().at(told.value));
            if let (Some(subject), Some(value)) = (subject, value) {
                said.entry(subject).or_default().push((event.seq(), value));
                if let Some(from) = told.from.and_then(|member| event.json().at(member)) {
                    begun.entry(subject).or_insert((event.seq(), from));
                }
            }
        }
    }
    said.values_mut().for_each(|all| all.sort_by_key(|(seq, _)| *seq));
    for record in world.of(fold.projection) {
        let all = said.get(record.id()).map(Vec::as_slice).unwrap_or_default();
        let before = all.partition_point(|(seq, _)| *seq < record.seq());
        let last = before.checked_sub(1).and_then(|at| all.get(at));
        // Before anything moved it, it stood where the first move found it; what nothing ever moved, where all begin.
        let stands = last.or_else(|| begun.get(record.id()));
        let own = record.json().text(fold.member);
        let is_astray = own.is_some_and(|own| !fold.initial.is_empty() && !fold.initial.contains(&own));
        if all.is_empty() && is_astray {
            let message = "nothing moved it, and it is not where all begin";
            found.add(record, &format!("/{}", fold.member), What::Fold, message);
        }
        if let (Some((seq, value)), Some(own)) = (stands, record.json().at(fold.member))
            && *value != own
        {
            let message = format!("is not what row {seq} left or found");
            found.add(record, &format!("/{}", fold.member), What::Fold, message);
        }
    }
}

/// Receipts of its own that move a projection: the projection, the type, what names it, and where to.
const OTHERWISE: [(&str, &str, &str, &str); 2] = [
    ("TaskReliancePacket", "RelianceInvalidationEvent", "packet_id", "invalidated"),
    ("ResearchNeed", "ResearchNeedLease", "need_id", "leased"),
];

/// Where receipts led, in order, with their places.
type Moved<'w> = BTreeMap<&'w str, Vec<(u64, &'w str)>>;

/// Where the receipts about each record of a type led; where the first of them found it.
fn moved<'w>(world: &'w World, projection: &str, begun: &mut BTreeMap<&'w str, &'w str>) -> Moved<'w> {
    let kind = snake(projection);
    let mut moved: Moved<'_> = BTreeMap::new();
    for receipt in world.of("LifecycleTransitionReceipt") {
        let subject = receipt.json().reference("subject_ref").filter(|to| to.kind == kind);
        if let (Some(subject), Some(to)) = (subject, receipt.json().text("to_state")) {
            moved.entry(subject.id).or_default().push((receipt.seq(), to));
            if let Some(from) = receipt.json().text("from_state") {
                begun.entry(subject.id).or_insert(from);
            }
        }
    }
    for (_, kind, member, state) in OTHERWISE.iter().filter(|(of, ..)| *of == projection) {
        for event in world.of(kind) {
            if let Some(subject) = event.json().text(member) {
                // This one may have been the first, and does not say from where.
                begun.remove(subject);
                moved.entry(subject).or_default().push((event.seq(), state));
            }
        }
    }
    moved.values_mut().for_each(|all| all.sort_unstable());
    moved
}

/// The state of a projection is where the last receipt about it led; before there is one, where it began.
fn general(world: &World, projection: &str, member: &str, found: &mut Found) {
    let mut first: BTreeMap<&str, &str> = BTreeMap::new();
    let moved = moved(world, projection, &mut first);
    for record in world.of(projection) {
        let Some(own) = record.json().text(member) else { continue };
        let begun = *first.entry(record.id()).or_insert(own);
        let all = moved.get(record.id()).map(Vec::as_slice).unwrap_or_default();
        let before = all.partition_point(|(seq, _)| *seq < record.seq());
        let last = before.checked_sub(1).and_then(|at| all.get(at)).map(|(_, to)| *to);
        let stands = last.unwrap_or(begun);
        if stands != own {
            let message = format!("is {own} where the receipts leave it {stands}");
            found.add(record, &format!("/{member}"), What::Fold, message);
        }
    }
}

/// What more than one kind of receipt moves, or in more than one way: its receipts alone do not follow on each other.
const MANIFOLD: [&str; 4] =
    ["evaluation_contract_review", "library_promotion_candidate", "research_need", "task_reliance_packet"];

/// Each move begins where the one before it ended.
fn succession(world: &World, (kind, subject, from, to): (&str, &str, &str, &str), found: &mut Found) {
    let mut stands: BTreeMap<String, (u64, &Json)> = BTreeMap::new();
    for event in world.of(kind) {
        let Some(about) = event.text(subject).map(ToString::to_string) else { continue };
        if event.reference(subject).is_some_and(|to| MANIFOLD.contains(&to.kind)) {
            continue;
        }
        if let (Some((seq, stood)), Some(begun)) = (stands.get(&about), event.json().at(from))
            && *stood != begun
        {
            let message = format!("is not where row {seq} left {about}");
            found.add(event, &format!("/{from}"), What::Fold, message);
        }
        if let Some(led) = event.json().at(to) {
            stands.insert(about, (event.seq(), led));
        }
    }
}
