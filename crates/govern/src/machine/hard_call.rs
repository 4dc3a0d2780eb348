//! A question that only a person can answer: its states.
//! Owns: the table. Must not: decide.

use super::{Machine, Transition};

/// A question that only a person can answer.
pub const HARD_CALL: Machine = Machine {
    name: "hard_call",
    about: "A question that only a person can answer",
    initial: &["pending"],
    terminal: &["resolved", "aborted", "cancelled"],
    transitions: TRANSITIONS,
};

const fn way(from: &'static str, to: &'static str, by: &'static str, guard: &'static str) -> Transition {
    Transition { from, to, by, guard }
}

#[rustfmt::skip] // one to a line
const TRANSITIONS: &[Transition] = &[
    way("pending", "resolved", "HardCallResolutionReceipt", ""),
    way("deferred", "resolved", "HardCallResolutionReceipt", ""),
    way("escalated", "resolved", "HardCallResolutionReceipt", ""),
    way("pending", "deferred", "user defers", "on_defer applies"),
    way("pending", "escalated", "timeout, on_timeout escalate", ""),
    way("pending", "aborted", "timeout, on_timeout abort", ""),
    way("pending", "cancelled", "TaskCancelReceipt", ""),
    way("deferred", "cancelled", "TaskCancelReceipt", ""),
    way("escalated", "cancelled", "TaskCancelReceipt", ""),
    way("deferred", "escalated", "timeout", ""),
    way("escalated", "aborted", "escalation refused", ""),
];
