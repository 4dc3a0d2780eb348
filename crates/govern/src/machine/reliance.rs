//! A reliance packet, a certification: its states.
//! Owns: the table. Must not: decide.

use super::{Machine, Transition};

/// A reliance packet, a certification.
pub const RELIANCE: Machine = Machine {
    name: "reliance",
    about: "A reliance packet, a certification",
    initial: &["draft"],
    terminal: &["archived"],
    transitions: TRANSITIONS,
};

const fn way(from: &'static str, to: &'static str, by: &'static str, guard: &'static str) -> Transition {
    Transition { from, to, by, guard }
}

#[rustfmt::skip] // one to a line
const TRANSITIONS: &[Transition] = &[
    way("draft", "ready_for_review", "derivation complete", "status derivable"),
    way("ready_for_review", "user_reviewed", "user review", "reviewed_by_user_ref"),
    way("user_reviewed", "issued", "reliance.issue_work_product_certification", "status safe_to_rely_within_scope or rely_with_limitations, not stale"),
    way("draft", "invalidated", "RelianceInvalidationEvent", ""),
    way("ready_for_review", "invalidated", "RelianceInvalidationEvent", ""),
    way("user_reviewed", "invalidated", "RelianceInvalidationEvent", ""),
    way("issued", "invalidated", "RelianceInvalidationEvent", ""),
    way("draft", "superseded", "newer packet for the same run", ""),
    way("ready_for_review", "superseded", "newer packet for the same run", ""),
    way("user_reviewed", "superseded", "newer packet for the same run", ""),
    way("issued", "superseded", "newer packet for the same run", ""),
    way("invalidated", "superseded", "newer packet for the same run", ""),
    way("issued", "archived", "archive", ""),
    way("superseded", "archived", "archive", ""),
    way("invalidated", "archived", "archive", ""),
];
