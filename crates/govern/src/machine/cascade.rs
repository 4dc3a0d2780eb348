//! A cascade of revalidations: its states.
//! Owns: the table. Must not: decide.

use super::{Machine, Transition};

/// A cascade of revalidations.
pub const CASCADE: Machine = Machine {
    name: "cascade",
    about: "A cascade of revalidations",
    initial: &["running"],
    terminal: &["quiescent", "cycle_detected", "max_depth_exceeded", "aborted"],
    transitions: TRANSITIONS,
};

const fn way(from: &'static str, to: &'static str, by: &'static str, guard: &'static str) -> Transition {
    Transition { from, to, by, guard }
}

#[rustfmt::skip] // one to a line
const TRANSITIONS: &[Transition] = &[
    way("running", "quiescent", "active_outcome_ids empty", "terminal_reason all_dependents_revalidated or upstream_failure_cascade"),
    way("running", "cycle_detected", "back edge", ""),
    way("running", "max_depth_exceeded", "depth > max_depth", ""),
    way("running", "aborted", "cancel", ""),
];
