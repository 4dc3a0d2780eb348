//! A post on the board of a run: its states.
//! Owns: the table. Must not: decide.

use super::{Machine, Transition};

/// A post on the board of a run.
pub const POST: Machine = Machine {
    name: "post",
    about: "A post on the board of a run",
    initial: &["active"],
    terminal: &["superseded", "retracted"],
    transitions: TRANSITIONS,
};

const fn way(from: &'static str, to: &'static str, by: &'static str, guard: &'static str) -> Transition {
    Transition { from, to, by, guard }
}

#[rustfmt::skip] // one to a line
const TRANSITIONS: &[Transition] = &[
    way("active", "superseded", "newer post of the same event", ""),
    way("active", "retracted", "author or policy retracts", "audit event kept"),
];
