//! A source that shall be promoted to the library: its states.
//! Owns: the table. Must not: decide.

use super::{Machine, Transition};

/// A source that shall be promoted to the library.
pub const LIBRARY: Machine = Machine {
    name: "library",
    about: "A source that shall be promoted to the library",
    initial: &["queued"],
    terminal: &["rejected", "promoted", "cancelled"],
    transitions: TRANSITIONS,
};

const fn way(from: &'static str, to: &'static str, by: &'static str, guard: &'static str) -> Transition {
    Transition { from, to, by, guard }
}

#[rustfmt::skip] // one to a line
const TRANSITIONS: &[Transition] = &[
    way("queued", "approved", "gate passed", "human approver if privileged"),
    way("queued", "rejected", "gate failed", ""),
    way("queued", "cancelled", "cancel", ""),
    way("approved", "cancelled", "cancel", ""),
    way("approved", "promoted", "LibraryPromotionReceipt promoted", "durable_library_write_ref"),
    way("approved", "rejected", "LibraryPromotionReceipt blocked_by_policy/rejected", ""),
];
