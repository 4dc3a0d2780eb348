//! Moves that no machine has.
//! Owns: holding every row that tells of a move to the table of its machine. Must not: know where something stands; `fold` does.

use super::{Found, What};
use crate::fold::family::{FAMILIES, Family, Move};
use crate::world::World;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::vec::Vec;

pub(super) fn find(world: &World, found: &mut Found) {
    let kinds: BTreeSet<&str> = FAMILIES.iter().flat_map(|family| family.moved_by()).collect();
    for row in kinds.into_iter().flat_map(|kind| world.of(kind)) {
        // What has two lives is moved in one of them.
        let read = |family: &&'static Family| match family.read(row.kind(), row.json()) {
            Some((_, Move { from: Some(from), to })) => Some((from, to, family.machine)),
            Some((_, Move { from: None, .. })) | None => None,
        };
        let told: Vec<_> = FAMILIES.iter().filter_map(read).collect();
        let Some((from, to, _)) = told.first() else { continue };
        if from != to && !told.iter().any(|(from, to, machine)| machine.allows(from, to)) {
            found.add(row, "", What::Fold, format!("there is no way from {from} to {to}"));
        }
    }
}
