//! States that moved, and the receipts that moved them.
//! Owns: following receipts from version to version. Must not: know which receipt moves what; the folds do.

use super::super::Found;
use crate::fold::chain::{chain_of, state_after};
use crate::fold::family::{CHAIN, Family, GUIDANCE, Move, NEED, RECEIPTED};
use crate::fold::research::need_answered;
use crate::machine::Machine;
use crate::member::Member;
use crate::world::{Record, World};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::vec::Vec;

/// A move that a row tells of, at its place.
type Told<'w> = (u64, Move<'w>);

/// Where a record stands, and how many of its receipts are used up.
struct Standing<'w> {
    state: &'w str,
    used: usize,
}

pub(super) fn lifecycle_transition_without_receipt(world: &World, found: &mut Found<'_>) {
    for family in RECEIPTED {
        for (record, from, to) in untold(world, family) {
            found.add(record, family.member, format!("went from {from} to {to}, and no receipt tells how"));
        }
    }
}

/// The records of a family that moved though no receipt tells how: from where, to where.
pub(in crate::check) fn untold<'w>(world: &'w World, family: &Family) -> Vec<(Record<'w>, &'w str, &'w str)> {
    let moves = moves(world, family);
    let mut standing: BTreeMap<&str, Standing<'_>> = BTreeMap::new();
    let mut untold = Vec::new();
    for record in world.of(family.kind) {
        let Some(state) = record.json().text(family.member) else { continue };
        let begin = || Standing { state: first_state(record).unwrap_or(state), used: 0 };
        let stood = standing.entry(record.id()).or_insert_with(begin);
        let own = moves.get(record.id()).map(Vec::as_slice).unwrap_or_default();
        if !follow(family.machine, own, stood, state, record.seq()) {
            untold.push((record, stood.state, state));
        }
        stood.state = state;
    }
    untold
}

/// The state that the event behind a projection gives it: a finding is emitted in a state, guidance is proposed.
fn first_state<'w>(record: Record<'w>) -> Option<&'w str> {
    let event = record.follow("canonical_event_ref")?;
    // As it was first written: a rewritten event has a code of its own.
    let event = record.world.versions(event.kind(), event.id()).next()?;
    match event.kind() {
        "EvaluationFindingEvent" if event.id_at("finding_id") == Some(record.id()) => {
            event.json().text("emitted_state")
        }
        "RunGuidanceCreationEvent" if event.id_at("guidance_id") == Some(record.id()) => {
            GUIDANCE.machine.initial.first().copied()
        }
        _other => None,
    }
}

/// Follows the receipts up to a place in the log, each of them once, until they lead to a state.
fn follow(machine: &Machine, told: &[Told<'_>], stood: &mut Standing<'_>, to: &str, until: u64) -> bool {
    let mut at = stood.state;
    while at != to {
        let Some((_, next)) = told.get(stood.used).filter(|(seq, _)| *seq <= until) else { return false };
        stood.used += 1;
        if next.from.is_none_or(|from| from == at) && machine.allows(at, next.to) {
            at = next.to;
        }
    }
    true
}

/// All moves of a family's records, in the order of the log.
fn moves<'w>(world: &'w World, family: &Family) -> BTreeMap<&'w str, Vec<Told<'w>>> {
    let mut moves: BTreeMap<&str, Vec<Told<'_>>> = BTreeMap::new();
    for row in family.moved_by().flat_map(|kind| world.of(kind)) {
        if let Some((subject, step)) = family.read(row.kind(), row.json()) {
            moves.entry(subject).or_default().push((row.seq(), step));
        }
    }
    if family.kind == CHAIN.kind {
        results(world, &mut moves);
    }
    if family.kind == NEED.kind {
        answers(world, &mut moves);
    }
    for moves in moves.values_mut() {
        moves.sort_by_key(|(seq, _)| *seq);
    }
    moves
}

/// A chain is moved by the results that come in.
fn results<'w>(world: &'w World, moves: &mut BTreeMap<&'w str, Vec<Told<'w>>>) {
    let mut answered: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for row in world.of("EvaluationResultEnvelope") {
        let Some(id) = chain_of(row.kind(), row.json()) else { continue };
        let Some(first) = world.versions(CHAIN.kind, id).next() else { continue };
        let answered = answered.entry(id).or_default();
        answered.extend(row.json().text("producer_kind"));
        let to = state_after(first.list("expected_producers"), answered);
        moves.entry(id).or_default().push((row.seq(), Move { from: None, to }));
    }
}

/// A question is answered by an operation that was applied.
fn answers<'w>(world: &'w World, moves: &mut BTreeMap<&'w str, Vec<Told<'w>>>) {
    for receipt in world.of("SourceWorkspaceOperationReceipt").filter(|one| one.is("status", "applied")) {
        let operation = receipt.json().id_at("operation_id");
        let operation = operation.and_then(|id| world.find("SourceWorkspaceOperation", id));
        if let Some((_, need)) = operation.and_then(|operation| need_answered(operation.json())) {
            moves.entry(need).or_default().push((receipt.seq(), Move { from: None, to: "answered" }));
        }
    }
}
