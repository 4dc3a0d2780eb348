//! A chain of evaluations: its states.
//! Owns: the table. Must not: decide.

use super::{Machine, Transition};

/// A chain of evaluations.
pub const CHAIN: Machine = Machine {
    name: "chain",
    about: "A chain of evaluations",
    initial: &["open"],
    terminal: &["superseded", "invalidated"],
    transitions: TRANSITIONS,
};

const fn way(from: &'static str, to: &'static str, by: &'static str, guard: &'static str) -> Transition {
    Transition { from, to, by, guard }
}

#[rustfmt::skip] // one to a line
const TRANSITIONS: &[Transition] = &[
    way("open", "partial", "result received", "some required participant still missing"),
    way("open", "complete", "result received", "only one required participant"),
    way("partial", "partial", "result received", "still missing"),
    way("partial", "complete", "result received", "all required received"),
    way("open", "timed_out", "log time >= timeout_at", ""),
    way("partial", "timed_out", "log time >= timeout_at", ""),
    way("open", "superseded", "chain on a newer snapshot opened", "superseded_by_chain_id set"),
    way("partial", "superseded", "chain on a newer snapshot opened", "superseded_by_chain_id set"),
    way("complete", "superseded", "chain on a newer snapshot opened", "superseded_by_chain_id set"),
    way("timed_out", "superseded", "chain on a newer snapshot opened", "superseded_by_chain_id set"),
    way("open", "invalidated", "target or snapshot found wrong", ""),
    way("partial", "invalidated", "target or snapshot found wrong", ""),
    way("complete", "invalidated", "target or snapshot found wrong", ""),
    way("timed_out", "invalidated", "target or snapshot found wrong", ""),
];
