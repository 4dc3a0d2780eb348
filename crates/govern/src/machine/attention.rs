//! Something that needs a person: its states.
//! Owns: the table. Must not: decide.

use super::{Machine, Transition};

/// Something that needs a person.
pub const ATTENTION: Machine = Machine {
    name: "attention",
    about: "Something that needs a person",
    initial: &["open"],
    terminal: &["resolved", "dismissed", "superseded"],
    transitions: TRANSITIONS,
};

const fn way(from: &'static str, to: &'static str, by: &'static str, guard: &'static str) -> Transition {
    Transition { from, to, by, guard }
}

#[rustfmt::skip] // one to a line
const TRANSITIONS: &[Transition] = &[
    way("open", "resolved", "source condition closed, or attention.resolve_item", "for hard_call_pending, approval_required and research_need_human only after the source is closed"),
    way("open", "dismissed", "dismiss", "never for priority blocking"),
    way("open", "superseded", "newer item for the same source", ""),
];
