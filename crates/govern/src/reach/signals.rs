//! Signals to learn from, and the receipts that they rest on.
//! Owns: that a signal is written after what it names (B-21). Must not: judge what is learned.
//!
//! The contract has the rule and no code for it, so the door asks here, and so does who reads a whole log. A bundle may be a part of one.

use super::names::plain;
use super::{Contradiction, Found, What};
use crate::member::Member;
use crate::path::Path;
use crate::reference::Reference;
use crate::world::{Record, World};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

const SIGNAL: &str = "LearningSignal";
const RECEIPTS: &str = "receipt_refs";

/// What a row names as learned from that is not in the log before it; nothing if it is no signal.
pub(crate) fn unwritten(row: Record<'_>) -> Vec<Contradiction> {
    let receipts = if row.kind() == SIGNAL { row.json().list(RECEIPTS) } else { &[] };
    let told = |(at, named): (usize, &countersign_record::json::Json)| {
        let text = named.as_str().unwrap_or_default();
        let receipt = Reference::read(text).and_then(|to| row.world.resolve(plain(to)));
        let first = receipt.and_then(|one| row.world.versions(one.kind(), one.id()).next());
        let (what, message) = match first {
            Some(first) if first.seq() < row.seq() => return None,
            Some(first) => (What::NamesLater, format!("{text} comes only in row {}", first.seq())),
            None => (What::NamesNothing, format!("{text} is not there")),
        };
        let path = String::from(Path::from(RECEIPTS).item(at));
        Some(Contradiction { row: row.seq(), path, what, message })
    };
    receipts.iter().enumerate().filter_map(told).collect()
}

/// Those that were not found among all that names something.
pub(super) fn find(world: &World, found: &mut Found) {
    let told = world.of(SIGNAL).flat_map(unwritten);
    let is_new =
        |one: &Contradiction| !found.0.iter().any(|other| (other.row, &other.path) == (one.row, &one.path));
    let new: Vec<Contradiction> = told.filter(is_new).collect();
    found.0.extend(new);
}
