//! What an agent says, and the handoff that says it.
//! Owns: both directions between the two. Must not: decide what follows from it.
//!
//! A handoff that needs nobody carries the agent's output. One that escalates says why in a code; four of the codes are
//! the contract's own words for how a run stops or ends, and every other one is for a person to see to.

use alloc::string::{String, ToString};
use countersign_record::envelope::Envelope;
use countersign_record::json::{Json, Object};
use countersign_record::state::TerminalReason;
use countersign_record::time::Timestamp;

/// The word for a stage that was done.
const DONE: &str = "success";

/// What an agent says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It has done its part.
    Done(Object),
    /// It can't go on without an answer.
    Clarify {
        /// The question.
        question: String,
    },
    /// It must not go on without leave.
    Confirm {
        /// For what.
        message: String,
        /// Until when the question stands.
        expires_at: Option<Timestamp>,
    },
    /// It can't go on at all: a person must see to it.
    Escalate {
        /// A short code.
        reason: String,
        /// What there is to see; `message` and `next_steps` are shown to the person.
        payload: Object,
    },
    /// Policy says no.
    Denied {
        /// To what.
        message: String,
        /// What else there is to see.
        besides: Object,
    },
    /// It failed.
    Failed(Fault),
}

/// What went wrong, in the contract's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What kind of thing.
    pub error_type: String,
    /// What.
    pub message: String,
    /// Whether another try may help.
    pub recoverable: bool,
    /// More of it.
    pub details: Object,
}

impl Outcome {
    /// A person must see to it, and this is what they are told.
    #[must_use]
    pub fn escalate(reason: &str, message: &str) -> Self {
        Outcome::Escalate {
            reason: reason.to_string(),
            payload: Object::from([("message", Json::from(message))]),
        }
    }

    /// Policy says no, and this is to what.
    #[must_use]
    pub fn denied(message: &str) -> Self {
        Outcome::Denied { message: message.to_string(), besides: Object::new() }
    }

    /// How a stage went, in a word.
    #[must_use]
    pub fn status(&self) -> &'static str {
        match self {
            Outcome::Done(_) => DONE,
            Outcome::Failed(_) => "error",
            Outcome::Denied { .. } => "denied",
            Outcome::Clarify { .. } | Outcome::Confirm { .. } | Outcome::Escalate { .. } => "waiting",
        }
    }

    /// How the stage of a handoff went, in a word.
    #[must_use]
    pub fn status_of(handoff: &Envelope) -> &'static str {
        // Most need nobody, and what they carry may be large.
        if handoff.escalate { Outcome::of(handoff).status() } else { DONE }
    }

    /// As a handoff says it.
    #[must_use]
    pub fn of(handoff: &Envelope) -> Self {
        let payload = &handoff.payload;
        if !handoff.escalate {
            return Outcome::Done(payload.clone());
        }
        let text = |name: &str| payload.get(name).and_then(Json::as_str).unwrap_or_default().to_string();
        let reason = handoff.reason.as_deref().unwrap_or_default();
        let fault = |recoverable: bool| Fault {
            error_type: text("error_type"),
            message: text("message"),
            recoverable,
            details: payload.get("details").and_then(Json::as_object).cloned().unwrap_or_default(),
        };
        match TerminalReason::try_from(reason) {
            Ok(TerminalReason::ClarificationRequired) => Outcome::Clarify { question: text("question") },
            Ok(TerminalReason::ConfirmationRequired) => {
                let expires_at = Timestamp::try_from(text("expires_at")).ok();
                Outcome::Confirm { message: text("message"), expires_at }
            }
            Ok(TerminalReason::DeniedByPolicy) => {
                let mut besides = payload.clone();
                besides.remove("message");
                Outcome::Denied { message: text("message"), besides }
            }
            Ok(TerminalReason::ToolFailedRecoverably) => Outcome::Failed(fault(true)),
            Ok(TerminalReason::ToolFailedFatally) => Outcome::Failed(fault(false)),
            Ok(
                TerminalReason::CompletedSuccessfully
                | TerminalReason::MaxIterationsExceeded
                | TerminalReason::MaxLlmCallsExceeded
                | TerminalReason::MaxAgentHopsExceeded
                | TerminalReason::MaxCriticFiresExceeded,
            )
            | Err(_) => Outcome::Escalate { reason: reason.to_string(), payload: payload.clone() },
        }
    }

    /// What a handoff says of it: the code, where a person or the controller is needed, and the payload.
    #[must_use]
    pub fn said(self) -> (Option<String>, Object) {
        let code = |reason: TerminalReason| Some(reason.as_str().to_string());
        match self {
            Outcome::Done(output) => (None, output),
            Outcome::Clarify { question } => (
                code(TerminalReason::ClarificationRequired),
                Object::from([("question", Json::from(question))]),
            ),
            Outcome::Confirm { message, expires_at } => {
                let mut payload = Object::from([("message", Json::from(message))]);
                if let Some(expires_at) = expires_at {
                    payload.insert("expires_at", expires_at.to_string());
                }
                (code(TerminalReason::ConfirmationRequired), payload)
            }
            Outcome::Escalate { reason, payload } => (Some(reason), payload),
            Outcome::Denied { message, besides } => {
                let mut payload = Object::from([("message", Json::from(message))]);
                besides.iter().for_each(|(name, value)| drop(payload.insert(name, value.clone())));
                (code(TerminalReason::DeniedByPolicy), payload)
            }
            Outcome::Failed(fault) => {
                let reason = match fault.recoverable {
                    true => TerminalReason::ToolFailedRecoverably,
                    false => TerminalReason::ToolFailedFatally,
                };
                let payload = Object::from([
                    ("error_type", Json::from(fault.error_type)),
                    ("message", Json::from(fault.message)),
                    ("details", Json::from(fault.details)),
                ]);
                (code(reason), payload)
            }
        }
    }
}
