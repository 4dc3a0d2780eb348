//! Moves that no table has.
//! Owns: holding each row that tells of a move to the table of what it moves. Must not: know where that is; whoever follows it does.

use crate::fold::family::{Family, GENERAL};
use crate::member::Member;
use crate::world::{Record, World};
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// The member of a row that says where it leads.
pub(in crate::check) const TO: &str = "to_state";

/// The rows that tell of a move of one of these families which none of their tables has, and what is wrong with each. Nobody need
/// have written down what is moved. What has two lives is moved in one of them.
pub(in crate::check) fn illegal<'w>(world: &'w World, families: &[&Family]) -> Vec<(Record<'w>, String)> {
    let kinds: BTreeSet<&str> = families.iter().flat_map(|family| family.moved_by()).collect();
    let mut all = Vec::new();
    for row in kinds.into_iter().flat_map(|kind| world.of(kind)) {
        let json = row.json();
        let (Some(from), Some(to)) = (json.text("from_state"), json.text(TO)) else { continue };
        let subject = json.reference("subject_ref").filter(|_| row.kind() == GENERAL);
        let is_moved = |family: &&&Family| match subject {
            Some(subject) => subject.kind == family.snake,
            None => row.kind() != GENERAL && family.moved_by().any(|kind| kind == row.kind()),
        };
        let mut moved = families.iter().filter(is_moved).peekable();
        // The general receipt may also tell of what a row of its own brought about: it moves nothing then, and is none the less right.
        let has_way = |family: &&Family| match row.kind() {
            GENERAL => family.machine.allows(from, to),
            kind => family.read(kind, json).is_some_and(|(_, step)| family.has_way(from, &step)),
        };
        if moved.peek().is_some() && !moved.any(has_way) {
            all.push((row, format!("no way leads from {from} to {to} by this")));
        }
    }
    all
}

#[cfg(test)]
#[path = "moves_tests.rs"]
mod tests;
