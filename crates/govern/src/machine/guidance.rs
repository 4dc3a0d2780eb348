//! Guidance for a run: its states.
//! Owns: the table. Must not: decide.

use super::{Machine, Transition};

/// Guidance for a run.
pub const GUIDANCE: Machine = Machine {
    name: "guidance",
    about: "Guidance for a run",
    initial: &["proposed"],
    terminal: &["superseded", "expired", "rejected"],
    transitions: TRANSITIONS,
};

const fn way(from: &'static str, to: &'static str, by: &'static str, guard: &'static str) -> Transition {
    Transition { from, to, by, guard }
}

#[rustfmt::skip] // one to a line
const TRANSITIONS: &[Transition] = &[
    way("proposed", "active", "admitted", ""),
    way("proposed", "rejected", "rejected", ""),
    way("active", "rejected", "rejected", ""),
    way("proposed", "expired", "expiry", ""),
    way("active", "expired", "expiry", ""),
    way("contested", "expired", "expiry", ""),
    way("proposed", "superseded", "newer guidance", ""),
    way("contested", "superseded", "newer guidance", ""),
    way("active", "contested", "contest", ""),
    way("active", "superseded", "newer guidance", "superseded_by_guidance_id"),
    way("contested", "active", "contest withdrawn", ""),
    way("contested", "rejected", "contest upheld", ""),
];
