//! Moves that no machine has.
//! Owns: holding every row that tells of a move to the table of its machine. Must not: know where something stands; `fold` does.

use super::{Found, What};
use crate::fold::family::{By, FAMILIES, Family};
use crate::world::World;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

pub(super) fn find(world: &World, found: &mut Found) {
    let kinds: BTreeSet<&str> = FAMILIES.iter().flat_map(|family| family.moved_by()).collect();
    for row in kinds.into_iter().flat_map(|kind| world.of(kind)) {
        // What has two lives is moved in one of them.
        let read = |family: &&'static Family| {
            let (_, step) = family.read(row.kind(), row.json())?;
            Some((step.from?, step, family.has_way(step.from?, &step)))
        };
        let told: Vec<_> = FAMILIES.iter().filter_map(read).collect();
        let Some((from, step, _)) = told.first() else { continue };
        if *from != step.to && !told.iter().any(|(_, _, has_way)| *has_way) {
            let by = match step.by {
                By::Pair => String::new(),
                By::Word(word) => format!(" by {word}"),
            };
            found.add(row, "", What::Fold, format!("there is no way from {from} to {}{by}", step.to));
        }
    }
}
