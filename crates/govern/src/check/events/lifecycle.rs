//! States that moved, and the receipts that moved them.
//! Owns: which receipt moves what. Must not: know the machines beyond what their tables allow.

use super::super::Found;
use crate::machine::{self, Machine};
use crate::member::Member;
use crate::reference::snake;
use crate::world::{Record, World};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::vec::Vec;

/// A projection with states.
pub(super) struct Family {
    pub(super) kind: &'static str,
    pub(super) member: &'static str,
    pub(super) machine: &'static Machine,
    /// Receipts of its own, besides the general one.
    movers: &'static [Mover],
}

/// A type of receipts that move something.
struct Mover {
    kind: &'static str,
    /// The member that says what is moved.
    subject: &'static str,
    to: To,
}

/// How a receipt says where it leads.
enum To {
    /// By `from_state` and `to_state`.
    Stated,
    /// Always there.
    Only(&'static str),
    /// As a member says, by the words of that member and of the states.
    Said(&'static str, &'static [(&'static str, &'static str)]),
}

const GENERAL: &str = "LifecycleTransitionReceipt";

const fn family(
    kind: &'static str,
    member: &'static str,
    machine: &'static Machine,
    movers: &'static [Mover],
) -> Family {
    Family { kind, member, machine, movers }
}

const fn mover(kind: &'static str, subject: &'static str, to: To) -> Mover {
    Mover { kind, subject, to }
}

const FINDING_MOVERS: &[Mover] = &[mover("FindingLifecycleTransitionReceipt", "finding_id", To::Stated)];
const NEED_MOVERS: &[Mover] = &[mover("ResearchNeedLease", "need_id", To::Only("leased"))];
const LIBRARY_MOVERS: &[Mover] = &[mover(
    "LibraryPromotionReceipt",
    "candidate_id",
    To::Said(
        "status",
        &[("promoted", "promoted"), ("blocked_by_policy", "rejected"), ("rejected", "rejected")],
    ),
)];
const PACKET_MOVERS: &[Mover] = &[mover("RelianceInvalidationEvent", "packet_id", To::Only("invalidated"))];
const OUTCOME_MOVERS: &[Mover] = &[mover("OutcomeStateTransitionEvent", "outcome_id", To::Stated)];
const CASCADE_MOVERS: &[Mover] = &[mover(
    "RevalidationCascadeReceipt",
    "cascade_run_id",
    To::Said(
        "status",
        &[
            ("quiescent", "quiescent"),
            ("cycle_detected", "cycle_detected"),
            ("max_depth_exceeded", "max_depth_exceeded"),
            ("aborted", "aborted"),
        ],
    ),
)];

/// Guidance, review packets, revision plans and source tiers have codes of their own.
#[rustfmt::skip] // one to a line
pub(super) const FAMILIES: [Family; 12] = [
    family("EvaluationFindingRecord", "current_state", &machine::FINDING, FINDING_MOVERS),
    family("ResearchNeed", "status", &machine::RESEARCH_NEED, NEED_MOVERS),
    family("LibraryPromotionCandidate", "status", &machine::LIBRARY, LIBRARY_MOVERS),
    family("AttentionLedgerItem", "lifecycle_state", &machine::ATTENTION, &[]),
    family("TaskReliancePacket", "lifecycle_state", &machine::RELIANCE, PACKET_MOVERS),
    family("WorkProductCertification", "lifecycle_state", &machine::RELIANCE, &[]),
    family("EvaluationContractReview", "approval_status", &machine::CONTRACT_REVIEW, &[]),
    family("EvaluationContractReview", "lifecycle_state", &machine::RELIANCE, &[]),
    family("EvaluationChainRegistryRecord", "status", &machine::CHAIN, &[]),
    family("OutcomeRecord", "state", &machine::OUTCOME, OUTCOME_MOVERS),
    family("RevalidationCascadeRun", "status", &machine::CASCADE, CASCADE_MOVERS),
    family("RunBoardVisiblePost", "lifecycle_state", &machine::POST, &[]),
];

/// A move that a receipt tells of.
struct Move<'w> {
    seq: u64,
    /// Where from; `None` if the receipt does not say.
    from: Option<&'w str>,
    to: &'w str,
}

/// Where a record stands, and how many of its receipts are used up.
struct Standing<'w> {
    state: &'w str,
    used: usize,
}

pub(super) fn lifecycle_transition_without_receipt(world: &World, found: &mut Found<'_>) {
    for family in &FAMILIES {
        let moves = moves(world, family);
        let mut standing: BTreeMap<&str, Standing<'_>> = BTreeMap::new();
        for record in world.of(family.kind) {
            let Some(state) = record.json().text(family.member) else { continue };
            let begin = || Standing { state: first_state(record).unwrap_or(state), used: 0 };
            let stood = standing.entry(record.id()).or_insert_with(begin);
            let own = moves.get(record.id()).map(Vec::as_slice).unwrap_or_default();
            if !follow(family.machine, own, stood, state, record.seq()) {
                let message = format!("went from {} to {state}, and no receipt tells how", stood.state);
                found.add(record, family.member, message);
            }
            stood.state = state;
        }
    }
}

/// The state that the event behind a projection gives it, as it was first written: only findings are emitted in a state.
fn first_state<'w>(record: Record<'w>) -> Option<&'w str> {
    let event = record.follow("canonical_event_ref")?;
    let event = record.world.versions(event.kind(), event.id()).next()?;
    let is_own = event.kind() == "EvaluationFindingEvent" && event.is("finding_id", record.id());
    event.json().text("emitted_state").filter(|_| is_own)
}

/// Follows the receipts up to a place in the log, each of them once, until they lead to a state.
fn follow(machine: &Machine, moves: &[Move<'_>], stood: &mut Standing<'_>, to: &str, until: u64) -> bool {
    let mut at = stood.state;
    while at != to {
        let Some(next) = moves.get(stood.used).filter(|next| next.seq <= until) else { return false };
        stood.used += 1;
        if next.from.is_none_or(|from| from == at) && machine.allows(at, next.to) {
            at = next.to;
        }
    }
    true
}

/// All moves of a family's records, in the order of the log.
fn moves<'w>(world: &'w World, family: &Family) -> BTreeMap<&'w str, Vec<Move<'w>>> {
    let mut moves: BTreeMap<&str, Vec<Move<'_>>> = BTreeMap::new();
    for mover in family.movers {
        for receipt in world.of(mover.kind) {
            if let (Some(subject), Some(one)) = (receipt.json().text(mover.subject), read(receipt, &mover.to))
            {
                moves.entry(subject).or_default().push(one);
            }
        }
    }
    let kind = snake(family.kind);
    let is_general = family.kind != "EvaluationFindingRecord";
    for receipt in world.of(GENERAL).filter(|_| is_general) {
        let subject = receipt.json().reference("subject_ref").filter(|subject| subject.kind == kind);
        if let (Some(subject), Some(one)) = (subject, read(receipt, &To::Stated)) {
            moves.entry(subject.id).or_default().push(one);
        }
    }
    for moves in moves.values_mut() {
        moves.sort_by_key(|one| one.seq);
    }
    moves
}

fn read<'w>(receipt: Record<'w>, to: &To) -> Option<Move<'w>> {
    let seq = receipt.seq();
    match to {
        To::Stated => {
            let from = receipt.json().text("from_state")?;
            Some(Move { seq, from: Some(from), to: receipt.json().text("to_state")? })
        }
        To::Only(state) => Some(Move { seq, from: None, to: state }),
        To::Said(member, words) => {
            let said = receipt.json().text(member)?;
            let state = words.iter().find(|(word, _)| *word == said).map(|(_, state)| *state)?;
            Some(Move { seq, from: None, to: state })
        }
    }
}
