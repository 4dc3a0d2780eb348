//! How something stands, against what the rows before it make of it.
//! Owns: which members must be as they are folded, and that each move begins where the thing stands. Must not: fold; `fold` does.

use super::{Found, What};
use crate::fold::family::{FAMILIES, GENERAL};
use crate::fold::life::{Board, Life};
use crate::fold::read_model::Headers;
use crate::fold::row::Row;
use crate::fold::{Fold, LIVES};
use crate::kind::{self, Class};
use crate::member::Member;
use crate::path::Path;
use crate::reference::Reference;
use crate::world::{Record, World};
use alloc::collections::BTreeMap;
use alloc::format;
use countersign_record::json::Json;

/// Members that are folded and no states: the projection, and what it must say.
const FOLDED: [(&str, &[&str]); 3] = [
    ("EvaluationFindingRecord", &["current_severity"]),
    ("SourceWorkspaceCurrentState", &["head_hash", "stream_seq"]),
    ("SourceRecord", &["tier"]),
];

pub(super) fn find(world: &World, found: &mut Found) {
    let mut board = Board::default();
    for record in world.all() {
        begins_where_it_stands(record, &board, found);
        let life = LIVES.iter().find(|life| life.kind == record.kind() && !is_policy(life.kind));
        let is_known = life.is_some_and(|life| board.find(life.snake, record.id()).is_some());
        // What is written again must say what was folded before it; what is first written, what its life begins with.
        if let Some(life) = life.filter(|_| is_known) {
            stands(record, life, &board, found);
        }
        board.apply(&Row::from(record));
        if let Some(life) = life.filter(|_| !is_known) {
            stands(record, life, &board, found);
        }
    }
    for (kind, subject, from, to) in MOVES {
        follows(world, (kind, subject, from, to), found);
    }
    ended(world, found);
}

/// What is told to be out of date is so since the first thing that happened to what it was made of.
fn ended(world: &World, found: &mut Found) {
    const HEADER: &str = "DerivedReadModelRecord";
    if world.of(HEADER).all(|header| header.is_blank("valid_until_event_seq")) {
        return;
    }
    let mut headers = Headers::default();
    for record in world.all() {
        let until = record.place("valid_until_event_seq").filter(|_| record.kind() == HEADER);
        if let Some(until) = until.filter(|_| headers.knows(record.id())) {
            let by = record.reference("invalidated_by_event_ref");
            let is_so = headers.ended(record.id()).is_some_and(|(seq, event)| {
                seq == until && by.zip(Reference::read(event)).is_some_and(|(by, event)| by.is_same(&event))
            });
            if !is_so {
                let message = "is not where something happened first to what it was made of";
                found.add(record, "valid_until_event_seq", What::Fold, message);
            }
        }
        headers.apply(&Row::from(record));
    }
}

/// A policy is written as somebody chooses.
fn is_policy(name: &str) -> bool {
    kind::find(name).map(|kind| kind.class) == Some(Class::Policy)
}

/// What a row says of how something stands is what is folded.
fn stands(record: Record<'_>, life: &Life, board: &Board, found: &mut Found) {
    let Some(standing) = board.find(life.snake, record.id()) else { return };
    let states = life.families.iter().map(|family| family.member);
    let others = FOLDED.iter().filter(|(kind, _)| *kind == life.kind).flat_map(|(_, members)| *members);
    for member in states.chain(others.copied()) {
        if let (Some(own), Some(folded)) = (record.at(member), standing.says(member))
            && own != folded
        {
            let message = format!("is {} where the rows before it leave it {}", shown(own), shown(folded));
            found.add(record, Path::looked_up(member), What::Fold, message);
        }
    }
}

fn shown(value: &Json) -> alloc::string::String {
    countersign_record::json::to_text(value).unwrap_or_default()
}

/// A move is from where the thing stands, or it tells once more how it came there.
fn begins_where_it_stands(record: Record<'_>, board: &Board, found: &mut Found) {
    for family in FAMILIES {
        let Some((id, step)) = family.read(record.kind(), record.json()) else { continue };
        let (Some(from), Some(standing)) = (step.from, board.find(family.snake, id)) else { continue };
        let is_own = |state: &str| family.machine.states().any(|own| own == state);
        if let Some(at) = standing.word(family.member)
            && is_own(step.to)
            && at != from
            && at != step.to
        {
            found.add(record, "from_state", What::Fold, format!("{id} is {at} then"));
        }
    }
}

/// Moves of what has no fold of its own state: the type, what it is about, from where, to where.
const MOVES: [(&str, &str, &str, &str); 3] = [
    ("ArtifactVersionTransitionEvent", "artifact_version_ref", "from_state", "to_state"),
    ("SourceTierTransitionReceipt", "source_id", "from_tier", "to_tier"),
    (GENERAL, "subject_ref", "from_state", "to_state"),
];

/// Each move begins where the one before it ended.
fn follows(world: &World, (kind, subject, from, to): (&str, &str, &str, &str), found: &mut Found) {
    let mut stands: BTreeMap<&str, (u64, &Json)> = BTreeMap::new();
    for event in world.of(kind) {
        let Some(about) = event.json().text(subject) else { continue };
        let is_folded = |of: &str| kind == GENERAL && FAMILIES.iter().any(|family| family.snake == of);
        if event.reference(subject).is_some_and(|to| is_folded(to.kind)) {
            continue;
        }
        if let (Some((seq, stood)), Some(begun)) = (stands.get(about), event.json().at(from))
            && *stood != begun
        {
            found.add(
                event,
                Path::looked_up(from),
                What::Fold,
                format!("is not where row {seq} left {about}"),
            );
        }
        if let Some(led) = event.json().at(to) {
            stands.insert(about, (event.seq(), led));
        }
    }
}
