//! A question to be answered from sources: its states.
//! Owns: the table. Must not: decide.

use super::{Machine, Transition};

/// A question to be answered from sources.
pub const RESEARCH_NEED: Machine = Machine {
    name: "research_need",
    about: "A question to be answered from sources",
    initial: &["open"],
    terminal: &["answered", "cancelled"],
    transitions: TRANSITIONS,
};

const fn way(from: &'static str, to: &'static str, by: &'static str, guard: &'static str) -> Transition {
    Transition { from, to, by, guard }
}

#[rustfmt::skip] // one to a line
const TRANSITIONS: &[Transition] = &[
    way("open", "leased", "ResearchNeedLease acquired", "no live lease"),
    way("open", "human_needed", "no automatic route", "reason + route to a person"),
    way("open", "cancelled", "cancel", ""),
    way("leased", "cancelled", "cancel", ""),
    way("human_needed", "cancelled", "cancel", ""),
    way("unresolved", "cancelled", "cancel", ""),
    way("open", "unresolved", "no route at all", "unresolved_reason"),
    way("leased", "answered", "answer_research_need", "token is the live lease, answer_ref set"),
    way("leased", "open", "lease expired", "on_expiry release_for_reclaim"),
    way("leased", "human_needed", "lease expired or holder gives up", "on_expiry escalate"),
    way("leased", "unresolved", "lease expired", "on_expiry mark_abandoned"),
    way("human_needed", "answered", "person answers", "answer_ref"),
    way("human_needed", "open", "person returns it to research", ""),
    way("human_needed", "unresolved", "person cannot answer", "unresolved_reason"),
    way("unresolved", "open", "re-opened by user or new source", ""),
];
