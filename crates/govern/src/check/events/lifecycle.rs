//! States that moved, and the receipts that moved them.
//! Owns: following receipts from version to version. Must not: know which receipt moves what; the folds do.

use super::super::Found;
use super::super::stood::{Name, Names};
use super::moves::{self, illegal};
use crate::fold::chain::chain_of;
use crate::fold::family::{By, CHAIN, Family, GUIDANCE, Move, NEED, OWNER, RECEIPTED};
use crate::fold::guard;
use crate::fold::research::need_answered;
use crate::fold::row::Row;
use crate::member::Member;
use crate::world::{Record, World};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// A move, and the row that tells of it.
type Told<'w> = (Record<'w>, Move<'w>);

/// The moves of each record.
type Moves<'w> = BTreeMap<Name<'w>, Vec<Told<'w>>>;

/// Where a record stands, and how many of its receipts are used up.
struct Standing<'w> {
    state: &'w str,
    used: usize,
}

/// A record that moved though nothing tells how.
pub(in crate::check) struct Untold<'w> {
    pub(in crate::check) record: Record<'w>,
    from: &'w str,
    to: &'w str,
}

impl Untold<'_> {
    /// What is wrong, for people.
    pub(in crate::check) fn message(&self, receipt: &str) -> String {
        let Untold { from, to, .. } = self;
        format!("went from {from} to {to}, and no {receipt} tells how")
    }
}

pub(super) fn lifecycle_transition_without_receipt(world: &World, found: &mut Found<'_>) {
    for family in RECEIPTED {
        for untold in untold(world, family) {
            found.add(untold.record, family.member, untold.message("receipt"));
        }
    }
    let families: Vec<&Family> = RECEIPTED.iter().copied().chain([&OWNER]).collect();
    for (row, message) in illegal(world, &families) {
        found.add(row, moves::TO, message);
    }
}

/// The records of a family that moved though nothing tells how.
pub(in crate::check) fn untold<'w>(world: &'w World, family: &Family) -> Vec<Untold<'w>> {
    let names = Names::of(world, family);
    let moves = moves(world, family, &names);
    let mut standing: BTreeMap<Name<'_>, Standing<'_>> = BTreeMap::new();
    let mut untold = Vec::new();
    for record in world.of(family.kind) {
        let Some(state) = record.json().text(family.member) else { continue };
        let begin = || Standing { state: first_state(record).unwrap_or(state), used: 0 };
        let name = names.find(record.json().text("run_id"), record.id());
        let stood = standing.entry(name).or_insert_with(begin);
        let own = moves.get(&name).map(Vec::as_slice).unwrap_or_default();
        if !follow(family, own, stood, record, state) {
            untold.push(Untold { record, from: stood.state, to: state });
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

/// Follows the receipts before a record, each of them once, until they lead to its state. The folds take the same receipts by the
/// same tables and guards.
fn follow<'w>(
    family: &Family,
    told: &[Told<'w>],
    stood: &mut Standing<'w>,
    record: Record<'w>,
    to: &str,
) -> bool {
    let mut at = stood.state;
    while at != to {
        let Some((row, next)) = told.get(stood.used).filter(|(row, _)| row.seq() <= record.seq()) else {
            return false;
        };
        stood.used += 1;
        let says = |member: &str| record.at(member);
        if family.has_way(at, next) && guard::holds(family, at, next, &Row::from(*row), &says) {
            at = next.to;
        }
    }
    true
}

/// All moves of a family's records, in the order of the log.
fn moves<'w>(world: &'w World, family: &Family, names: &Names<'w>) -> Moves<'w> {
    let mut moves = Moves::new();
    for row in family.moved_by().flat_map(|kind| world.of(kind)) {
        if let Some((subject, step)) = family.read(row.kind(), row.json()) {
            let name = names.find(row.json().text("run_id"), subject);
            moves.entry(name).or_default().push((row, step));
        }
    }
    if family.kind == CHAIN.kind {
        results(world, &mut moves);
    }
    if family.kind == NEED.kind {
        answers(world, &mut moves);
    }
    for moves in moves.values_mut() {
        moves.sort_by_key(|(row, _)| row.seq());
    }
    moves
}

/// A chain is moved by the results that come in.
fn results<'w>(world: &'w World, moves: &mut Moves<'w>) {
    let mut waiting: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for row in world.of("EvaluationResultEnvelope") {
        let Some(id) = chain_of(row.kind(), row.json()) else { continue };
        let Some(first) = world.versions(CHAIN.kind, id).next() else { continue };
        let expected = || first.json().texts("expected_producers").into_iter().collect();
        let waiting = waiting.entry(id).or_insert_with(expected);
        row.json().text("producer_kind").map(|producer| waiting.remove(producer));
        let to = if waiting.is_empty() { "complete" } else { "partial" };
        moves.entry((None, id)).or_default().push((row, Move { from: None, to, by: By::Pair }));
    }
}

/// A question is answered by an operation that was applied.
fn answers<'w>(world: &'w World, moves: &mut Moves<'w>) {
    for receipt in world.of("SourceWorkspaceOperationReceipt").filter(|one| one.is("status", "applied")) {
        let operation = receipt.json().id_at("operation_id");
        let operation = operation.and_then(|id| world.find("SourceWorkspaceOperation", id));
        if let Some((_, need)) = operation.and_then(|operation| need_answered(operation.json())) {
            let step = Move { from: None, to: "answered", by: By::Pair };
            moves.entry((None, need)).or_default().push((receipt, step));
        }
    }
}
