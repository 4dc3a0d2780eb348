//! What comes in to a run, and what that makes happen.
//! Owns: the words for it. Must not: decide.

use super::NextStep;
use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_record::envelope::Envelope;
use countersign_record::json::{Json, Object};
use countersign_record::state::{GenericEnvelope, TerminalReason};
use countersign_record::time::Timestamp;

/// What comes in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Came {
    /// Somebody says that it goes on.
    Go,
    /// The agent that was called has answered.
    Returned {
        /// Its stage.
        stage: String,
        /// What it hands over.
        handoff: Box<Envelope>,
        /// How often it called a model.
        llm_calls: u64,
        /// A fresh name, for whatever a person has to be asked.
        stop_id: String,
    },
    /// A person has answered.
    Answered {
        /// What was asked.
        id: String,
        /// Who.
        by: String,
        /// What they say.
        answer: Answer,
    },
    /// A person stops it.
    Cancelled {
        /// Who.
        by: String,
    },
}

/// What a person says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// An answer in words.
    Text(String),
    /// Leave is given.
    Approve,
    /// It is not.
    Deny,
    /// The stage is to be done again.
    Retry,
    /// The run is given up.
    GiveUp,
    /// One of the options of a question.
    Choose(String),
}

/// What a run waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stop {
    /// Its name: an answer must say it.
    pub id: String,
    /// What kind of answer.
    pub kind: StopKind,
    /// The stage that stopped.
    pub stage: String,
    /// The agent that stopped.
    pub agent: String,
    /// The request that it belongs to.
    pub request_id: String,
    /// Why, in a code.
    pub reason: String,
    /// What is asked, or why, in words.
    pub message: String,
    /// What a person can do.
    pub next_steps: Vec<String>,
    /// Until when the question stands.
    pub expires_at: Option<Timestamp>,
}

/// What kind of answer a run waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopKind {
    /// Words.
    Clarification,
    /// Leave.
    Confirmation,
    /// Whether it is done again.
    Escalation,
}

/// Where an envelope keeps what it waits for: the contract has members for the question alone.
pub(super) const STOP: &str = "stop";

impl Stop {
    /// As an envelope tells it.
    #[must_use]
    pub fn of(envelope: &GenericEnvelope) -> Option<Self> {
        let (clarification, confirmation) = (&envelope.clarification, &envelope.confirmation);
        envelope.pending()?;
        let told = envelope.metadata.get(STOP).and_then(Json::as_object);
        let text =
            |name: &str| told.and_then(|told| told.get(name)).and_then(Json::as_str).map(ToString::to_string);
        let kind = match () {
            () if clarification.pending && text("kind").as_deref() != Some("escalation") => {
                StopKind::Clarification
            }
            () if confirmation.pending => StopKind::Confirmation,
            () => StopKind::Escalation,
        };
        let interrupt = envelope.interrupt.as_ref();
        let (id, message) = match kind {
            StopKind::Confirmation => (confirmation.id.clone(), confirmation.message.clone()),
            StopKind::Clarification | StopKind::Escalation => (None, clarification.question.clone()),
        };
        let id = id.or_else(|| text("id"));
        let id = id.or_else(|| interrupt.and_then(|interrupt| interrupt.id()).map(ToString::to_string));
        let steps = told.and_then(|told| told.get("next_steps"));
        let next_steps = match steps {
            Some(Json::Array(steps)) => {
                steps.iter().filter_map(Json::as_str).map(ToString::to_string).collect()
            }
            Some(_) | None => kind.next_steps(),
        };
        let reason = text("reason").unwrap_or_else(|| kind.reason().to_string());
        let expires_at = text("expires_at").and_then(|at| Timestamp::try_from(at).ok());
        let stage = text("stage").unwrap_or_else(|| envelope.progress.current_stage.clone());
        Some(Stop {
            id: id.unwrap_or_default(),
            kind,
            agent: text("agent").unwrap_or_else(|| stage.clone()),
            stage,
            request_id: envelope.identity.request_id.to_string(),
            reason,
            message: message.unwrap_or_default(),
            next_steps,
            expires_at: expires_at
                .or_else(|| interrupt.and_then(|interrupt| interrupt.expires_at()).cloned()),
        })
    }
}

impl Stop {
    /// As an envelope keeps it.
    pub(super) fn to_object(&self) -> Object {
        let text = |text: &str| Json::from(text);
        let mut stop = Object::from([
            ("id", text(&self.id)),
            ("kind", text(self.kind.as_str())),
            ("stage", text(&self.stage)),
            ("agent", text(&self.agent)),
            ("request_id", text(&self.request_id)),
            ("reason", text(&self.reason)),
            ("message", text(&self.message)),
            ("next_steps", Json::Array(self.next_steps.iter().map(|step| text(step)).collect())),
        ]);
        if let Some(expires_at) = &self.expires_at {
            stop.insert("expires_at", expires_at.to_string());
        }
        stop
    }
}

impl StopKind {
    /// The word on the wire.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            StopKind::Clarification => "clarification",
            StopKind::Confirmation => "confirmation",
            StopKind::Escalation => "escalation",
        }
    }

    /// The code of a stop that has no other.
    #[must_use]
    pub fn reason(self) -> &'static str {
        match self {
            StopKind::Clarification => TerminalReason::ClarificationRequired.as_str(),
            StopKind::Confirmation => TerminalReason::ConfirmationRequired.as_str(),
            StopKind::Escalation => "escalated",
        }
    }

    /// What a person can always do.
    #[must_use]
    pub fn next_steps(self) -> Vec<String> {
        let words = |all: &[&str]| all.iter().map(ToString::to_string).collect();
        match self {
            StopKind::Clarification => words(&["answer in words"]),
            StopKind::Confirmation => words(&["approve", "deny"]),
            StopKind::Escalation => words(
                &[NextStep::Retry, NextStep::AdjustEligibility, NextStep::InjectFiles, NextStep::GiveUp]
                    .map(NextStep::as_str),
            ),
        }
    }
}

/// Something that happened to a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// An agent is called.
    Called {
        /// The stage.
        stage: String,
        /// When.
        at: Timestamp,
    },
    /// It answered.
    Returned {
        /// The stage.
        stage: String,
        /// Where its output stands.
        output_key: String,
        /// What it hands over.
        handoff: Box<Envelope>,
        /// How often it called a model.
        llm_calls: u64,
        /// The stage that it leads to; nothing where the run ends or waits.
        next: Option<String>,
        /// When.
        at: Timestamp,
    },
    /// The goals are known.
    Aimed {
        /// All of them.
        goals: Vec<String>,
    },
    /// Goals turned out to be the wrong ones.
    GivenUp {
        /// Which.
        goals: Vec<String>,
    },
    /// Goals were reached.
    Reached {
        /// Which.
        goals: Vec<String>,
    },
    /// The critic has it done again.
    Refused {
        /// Why.
        feedback: String,
        /// Where the plan stands that is given up.
        plan_key: String,
        /// The outputs that go.
        cleared: Vec<String>,
    },
    /// The critic said something, and the run ends there.
    Heard {
        /// What.
        feedback: String,
    },
    /// A stage of goals is closed, and the next one begins.
    Advanced {
        /// What it reached.
        satisfied: Vec<String>,
        /// What it found.
        summary: Object,
        /// The plan it followed.
        plan_id: Option<String>,
        /// The outputs that go.
        cleared: Vec<String>,
        /// The stage of goals that the run is in then.
        number: u64,
    },
    /// A person's answer leads to another stage.
    Moved {
        /// Which.
        to: String,
    },
    /// A person is asked.
    Stopped(Stop),
    /// A person has answered.
    Answered {
        /// What was asked.
        id: String,
        /// Who.
        by: String,
        /// What.
        answer: Answer,
    },
    /// It is over.
    Ended {
        /// Why, in a word of the contract's.
        reason: TerminalReason,
        /// Why, in words for people.
        words: String,
        /// When.
        at: Timestamp,
    },
}
