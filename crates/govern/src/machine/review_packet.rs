//! What a reviewer is shown of a revision: its states.
//! Owns: the table. Must not: decide.

use super::{Machine, Transition};

/// What a reviewer is shown of a revision.
pub const REVIEW_PACKET: Machine = Machine {
    name: "review_packet",
    about: "What a reviewer is shown of a revision",
    initial: &["generated"],
    terminal: &["forked", "restored_known_good", "superseded"],
    transitions: TRANSITIONS,
};

const fn way(from: &'static str, to: &'static str, by: &'static str, guard: &'static str) -> Transition {
    Transition { from, to, by, guard }
}

#[rustfmt::skip] // one to a line
const TRANSITIONS: &[Transition] = &[
    way("generated", "review_pending", "shown for review", "attention item revision_review_pending"),
    way("generated", "accepted", "no_user_review_required", "policy ref in rationale"),
    way("generated", "superseded", "newer packet", ""),
    way("review_pending", "superseded", "newer packet", ""),
    way("changes_requested", "superseded", "newer packet", ""),
    way("rejected", "superseded", "newer packet", ""),
    way("accepted", "superseded", "newer packet", ""),
    way("review_pending", "accepted", "accept", "candidate becomes head"),
    way("review_pending", "rejected", "reject", "candidate rejected"),
    way("review_pending", "forked", "fork", "TaskRunFork"),
    way("review_pending", "changes_requested", "request_changes", "new plan"),
    way("review_pending", "restored_known_good", "restore_known_good_state", "irreversible effects listed"),
    way("rejected", "restored_known_good", "restore_known_good_state", ""),
    way("accepted", "restored_known_good", "restore_known_good_state", "later regret"),
];
