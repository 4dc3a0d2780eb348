//! The approval of what a run understood: its states.
//! Owns: the table. Must not: decide.

use super::{Machine, Transition};

/// The approval of what a run understood.
pub const CONTRACT_REVIEW: Machine = Machine {
    name: "contract_review",
    about: "The approval of what a run understood",
    initial: &["pending"],
    terminal: &["approved", "rejected", "waived_by_policy"],
    transitions: TRANSITIONS,
};

const fn way(from: &'static str, to: &'static str, by: &'static str, guard: &'static str) -> Transition {
    Transition { from, to, by, guard }
}

#[rustfmt::skip] // one to a line
const TRANSITIONS: &[Transition] = &[
    way("pending", "approved", "user approves", ""),
    way("pending", "rejected", "user rejects", ""),
    way("pending", "edited", "user edits", "new compiled_plan_ref"),
    way("pending", "waived_by_policy", "policy waiver", "user_approval_required = false"),
    way("edited", "pending", "plan recompiled", ""),
];
