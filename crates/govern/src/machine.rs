//! What may follow on what: the state machines, as tables, and one engine for all of them.
//! Owns: states, transitions, which states begin and end. Must not: know what a transition does.

mod attention;
mod cascade;
mod chain;
mod contract_review;
mod finding;
mod guidance;
mod hard_call;
mod library;
mod outcome;
mod post;
mod reliance;
mod research_need;
mod review_packet;
mod revision;
mod type_owner;

/// A way from one state to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transition {
    /// The state before.
    pub from: &'static str,
    /// The state after.
    pub to: &'static str,
    /// The receipt, reason or cause that it takes.
    pub by: &'static str,
    /// What must hold besides.
    pub guard: &'static str,
}

/// A state machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Machine {
    /// Its name.
    pub name: &'static str,
    /// What it is the life of, in words.
    pub about: &'static str,
    /// States that a life may begin in.
    pub initial: &'static [&'static str],
    /// States that it ends in.
    pub terminal: &'static [&'static str],
    /// All ways.
    pub transitions: &'static [Transition],
}

impl Machine {
    /// All states, each once, in the order of the table.
    pub fn states(&self) -> impl Iterator<Item = &'static str> {
        let named = self.transitions.iter().flat_map(|one| [one.from, one.to]);
        let mut seen = alloc::collections::BTreeSet::new();
        self.initial.iter().copied().chain(named).filter(move |state| seen.insert(*state))
    }

    /// The ways between two states; there may be several, by different receipts.
    pub fn ways(&self, from: &str, to: &str) -> impl Iterator<Item = &'static Transition> {
        self.transitions.iter().filter(move |one| one.from == from && one.to == to)
    }

    /// Whether there is a way between two states.
    #[must_use]
    pub fn allows(&self, from: &str, to: &str) -> bool {
        self.ways(from, to).next().is_some()
    }

    /// Whether a life ends there.
    #[must_use]
    pub fn is_terminal(&self, state: &str) -> bool {
        self.terminal.contains(&state)
    }
}

/// All machines.
pub const MACHINES: &[Machine] = &[
    FINDING,
    OUTCOME,
    REVISION,
    CHAIN,
    RESEARCH_NEED,
    GUIDANCE,
    REVIEW_PACKET,
    RELIANCE,
    ATTENTION,
    LIBRARY,
    CONTRACT_REVIEW,
    CASCADE,
    HARD_CALL,
    TYPE_OWNER,
    POST,
];

pub use attention::ATTENTION;
pub use cascade::CASCADE;
pub use chain::CHAIN;
pub use contract_review::CONTRACT_REVIEW;
pub use finding::FINDING;
pub use guidance::GUIDANCE;
pub use hard_call::HARD_CALL;
pub use library::LIBRARY;
pub use outcome::OUTCOME;
pub use post::POST;
pub use reliance::RELIANCE;
pub use research_need::RESEARCH_NEED;
pub use review_packet::REVIEW_PACKET;
pub use revision::REVISION;
pub use type_owner::TYPE_OWNER;
