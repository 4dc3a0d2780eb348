//! The words of governance members, and what other dialects call them.
//! Owns: the enums and the one table of aliases. Must not: guess; a word that stands nowhere here is refused.
//!
//! Verdicts are not here: they stand inside `outputs`, which an agent owns and the envelope only carries.

use core::fmt;
use serde::Serialize;

/// Which way of writing a document comes in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum Dialect {
    /// The contract's document.
    A,
    /// Go and Python with one `interrupt` for every kind of waiting.
    B,
    /// The later Go and Python: `loop_feedback`, `parallel_mode`.
    C,
}

impl Dialect {
    /// The letter.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Dialect::A => "A",
            Dialect::B => "B",
            Dialect::C => "C",
        }
    }

    /// Members that only this dialect has.
    pub(super) fn marks(self) -> &'static [&'static str] {
        match self {
            Dialect::A => &[],
            Dialect::B => &[
                "interrupt_pending",
                "interrupt",
                "dag_mode",
                "active_stages",
                "completed_stage_set",
                "failed_stages",
            ],
            Dialect::C => &["parallel_mode", "loop_feedback", "request_context"],
        }
    }

    /// Whether its writers put null where a list or an object is empty, or a time is not known: Go does for every
    /// slice and map that was never made, Python for a `None`. The contract forbids it.
    pub(super) fn writes_null_for_empty(self) -> bool {
        match self {
            Dialect::A => false,
            Dialect::B | Dialect::C => true,
        }
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Where a word or a member's name belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Vocabulary {
    TerminalReason,
    GoalStatus,
    InterruptKind,
    Member,
    InterruptMember,
}

/// What other dialects say, and the contract's word for it. `user_cancelled` is not here: no reason of the contract says it.
const ALIASES: &[(Vocabulary, &str, &str)] = &[
    (Vocabulary::TerminalReason, "completed", "completed_successfully"),
    (Vocabulary::TerminalReason, "policy_violation", "denied_by_policy"),
    (Vocabulary::TerminalReason, "max_loop_exceeded", "max_critic_fires_exceeded"),
    (Vocabulary::GoalStatus, "complete", "satisfied"),
    (Vocabulary::InterruptKind, "critic_review", "agent_review"),
    (Vocabulary::Member, "loop_feedback", "critic_feedback"),
    (Vocabulary::InterruptMember, "type", "kind"),
];

/// The contract's word for `word`; `word` itself where no other dialect has it.
pub(super) fn seed_word(vocabulary: Vocabulary, word: &str) -> &str {
    let alias = ALIASES.iter().find(|(of, alias, _)| *of == vocabulary && *alias == word);
    alias.map_or(word, |(_, _, seed)| seed)
}

/// What other dialects call the member `name`.
pub(super) fn alias_of(vocabulary: Vocabulary, name: &str) -> Option<&'static str> {
    ALIASES.iter().find(|(of, _, seed)| *of == vocabulary && *seed == name).map(|(_, alias, _)| *alias)
}

/// A word that is none of its vocabulary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("one of {known} is needed")]
pub struct UnknownWord {
    /// The words there are.
    pub known: &'static str,
}

/// An enum of the wire: its words, one door that also takes the words of other dialects.
macro_rules! vocabulary {
    ($(#[$doc:meta])* $name:ident, $known:literal, { $($(#[$each:meta])* $variant:ident = $word:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum $name {
            $($(#[$each])* $variant,)*
        }

        impl $name {
            /// Every value, in the contract's order.
            pub const ALL: &'static [$name] = &[$($name::$variant),*];
            pub(super) const VOCABULARY: Vocabulary = Vocabulary::$name;

            /// The word on the wire.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $($name::$variant => $word,)* }
            }
        }

        impl TryFrom<&str> for $name {
            type Error = UnknownWord;

            fn try_from(word: &str) -> Result<Self, UnknownWord> {
                match seed_word($name::VOCABULARY, word) {
                    $($word => Ok($name::$variant),)*
                    _ => Err(UnknownWord { known: $known }),
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        #[cfg(feature = "schema")]
        impl schemars::JsonSchema for $name {
            fn schema_name() -> alloc::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "type": "string", "enum": [$($word),*] })
            }
        }
    };
}

vocabulary! {
    /// Why processing ended, or what it waits for.
    TerminalReason,
    "completed_successfully, clarification_required, confirmation_required, denied_by_policy, \
     tool_failed_recoverably, tool_failed_fatally, max_iterations_exceeded, max_llm_calls_exceeded, \
     max_agent_hops_exceeded and max_critic_fires_exceeded",
    {
        /// The goal was reached.
        CompletedSuccessfully = "completed_successfully",
        /// The user was asked something.
        ClarificationRequired = "clarification_required",
        /// The user was asked for leave.
        ConfirmationRequired = "confirmation_required",
        /// Policy or the user said no.
        DeniedByPolicy = "denied_by_policy",
        /// A tool failed, another try may help.
        ToolFailedRecoverably = "tool_failed_recoverably",
        /// A tool failed for good.
        ToolFailedFatally = "tool_failed_fatally",
        /// The bound on iterations.
        MaxIterationsExceeded = "max_iterations_exceeded",
        /// The bound on model calls.
        MaxLlmCallsExceeded = "max_llm_calls_exceeded",
        /// The bound on handoffs.
        MaxAgentHopsExceeded = "max_agent_hops_exceeded",
        /// The critic refused too often without progress.
        MaxCriticFiresExceeded = "max_critic_fires_exceeded",
    }
}

vocabulary! {
    /// How a goal stands.
    GoalStatus, "pending, satisfied and failed", {
        /// Not reached yet.
        Pending = "pending",
        /// Reached.
        Satisfied = "satisfied",
        /// Given up.
        Failed = "failed",
    }
}

vocabulary! {
    /// What an interrupt of dialects B and C waits for.
    InterruptKind,
    "clarification, confirmation, agent_review, checkpoint, resource_exhausted, timeout and system_error",
    {
        /// An answer to a question.
        Clarification = "clarification",
        /// Leave to go on.
        Confirmation = "confirmation",
        /// A person's look at an agent's work.
        AgentReview = "agent_review",
        /// A pause that was asked for.
        Checkpoint = "checkpoint",
        /// A limit of somebody else's.
        ResourceExhausted = "resource_exhausted",
        /// Time ran out.
        Timeout = "timeout",
        /// Something broke.
        SystemError = "system_error",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_alias_names_a_word_that_is_there() {
        for (vocabulary, alias, seed) in ALIASES {
            let (known, clash) = match vocabulary {
                Vocabulary::TerminalReason => {
                    let words = TerminalReason::ALL.iter().map(|word| word.as_str());
                    (words.clone().any(|word| word == *seed), words.clone().any(|word| word == *alias))
                }
                Vocabulary::GoalStatus => {
                    let words = GoalStatus::ALL.iter().map(|word| word.as_str());
                    (words.clone().any(|word| word == *seed), words.clone().any(|word| word == *alias))
                }
                Vocabulary::InterruptKind => {
                    let words = InterruptKind::ALL.iter().map(|word| word.as_str());
                    (words.clone().any(|word| word == *seed), words.clone().any(|word| word == *alias))
                }
                Vocabulary::Member | Vocabulary::InterruptMember => (true, false),
            };
            assert!(known && !clash, "{alias} is read as {seed}");
        }
    }

    #[test]
    fn the_message_names_every_word() {
        let check = |word: &str, known: &str| assert!(known.contains(word), "{word} is not in {known:?}");
        for reason in TerminalReason::ALL {
            check(reason.as_str(), TerminalReason::try_from("").unwrap_err().known);
        }
        for status in GoalStatus::ALL {
            check(status.as_str(), GoalStatus::try_from("").unwrap_err().known);
        }
        for kind in InterruptKind::ALL {
            check(kind.as_str(), InterruptKind::try_from("").unwrap_err().known);
        }
    }
}
