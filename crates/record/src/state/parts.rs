//! The members of the run's state, in groups that belong together.
//! Owns: each member's name on the wire, its type and its bounds. Must not: read (see `read`) or check one group
//! against another.

use super::words::{GoalStatus, TerminalReason};
use crate::id::{EnvelopeId, RequestId, SessionId};
use crate::json::{Json, Object};
use crate::time::Timestamp;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use serde::Serialize;

/// Whose state it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Identity {
    /// The envelope.
    pub envelope_id: EnvelopeId,
    /// The request it answers.
    pub request_id: RequestId,
    /// Who asked.
    #[cfg_attr(feature = "schema", schemars(extend("default" = "anonymous")))]
    pub user_id: String,
    /// The session it belongs to.
    pub session_id: SessionId,
    /// What was asked, as it was asked.
    pub raw_input: String,
    /// When it was asked, as received.
    pub received_at: Timestamp,
}

/// How far the run has come.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Progress {
    /// What each agent wrote, by its output key.
    pub outputs: BTreeMap<String, Object>,
    /// The stage it stands at: an agent's name, `start` or `end`.
    pub current_stage: String,
    /// The stages in the pipeline's order.
    pub stage_order: Vec<String>,
}

/// How far the run may go. A maximum of 0 would forbid the run itself, so each is at least 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Bounds {
    /// How often it began again.
    pub iteration: u64,
    /// How often it may.
    #[cfg_attr(feature = "schema", schemars(range(min = 1), extend("default" = 3)))]
    pub max_iterations: u64,
    /// How often a model was called.
    pub llm_call_count: u64,
    /// How often one may be.
    #[cfg_attr(feature = "schema", schemars(range(min = 1), extend("default" = 10)))]
    pub max_llm_calls: u64,
    /// How often one agent handed over to another.
    pub agent_hop_count: u64,
    /// How often it may.
    #[cfg_attr(feature = "schema", schemars(range(min = 1), extend("default" = 21)))]
    pub max_agent_hops: u64,
}

/// Whether and why the run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Ending {
    /// Why, or what it waits for.
    pub terminal_reason: Option<TerminalReason>,
    /// Whether it ended.
    pub terminated: bool,
    /// Why, in words for people.
    pub termination_reason: Option<String>,
}

/// A question to the user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Clarification {
    /// Whether the run waits for the answer.
    #[serde(rename = "clarification_pending")]
    #[cfg_attr(feature = "schema", schemars(extend("default" = false)))]
    pub pending: bool,
    /// The question.
    #[serde(rename = "clarification_question")]
    pub question: Option<String>,
    /// The answer.
    #[serde(rename = "clarification_response")]
    pub response: Option<String>,
}

/// A request for leave.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Confirmation {
    /// Whether the run waits for the answer.
    #[serde(rename = "confirmation_pending")]
    #[cfg_attr(feature = "schema", schemars(extend("default" = false)))]
    pub pending: bool,
    /// Which request; an answer must name it.
    #[serde(rename = "confirmation_id")]
    pub id: Option<String>,
    /// What leave is asked for.
    #[serde(rename = "confirmation_message")]
    pub message: Option<String>,
    /// The answer.
    #[serde(rename = "confirmation_response")]
    pub response: Option<bool>,
}

/// Stages and goals.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Goals {
    /// The stages that are done.
    pub completed_stages: Vec<CompletedStage>,
    /// The stage the run is in, from 1.
    #[cfg_attr(feature = "schema", schemars(range(min = 1), extend("default" = 1)))]
    pub current_stage_number: u64,
    /// How many stages there may be.
    #[cfg_attr(feature = "schema", schemars(range(min = 1), extend("default" = 5)))]
    pub max_stages: u64,
    /// Every goal.
    pub all_goals: Vec<String>,
    /// The goals that are left.
    pub remaining_goals: Vec<String>,
    /// How each goal stands.
    pub goal_completion_status: BTreeMap<String, GoalStatus>,
    /// The plans that were given up.
    pub prior_plans: Vec<Object>,
    /// What the critic said each time.
    pub critic_feedback: Vec<String>,
}

/// A stage that is done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = crate::schema::requires_nothing))]
pub struct CompletedStage {
    /// Which stage. The contract neither requires it nor bounds it, and a number that was not given is not made up.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "i64"))]
    pub stage_number: Option<i64>,
    /// The goals it reached.
    pub satisfied_goals: Vec<String>,
    /// What it found.
    pub summary: Object,
    /// The plan it followed.
    pub plan_id: Option<String>,
    /// What others added; kept untouched.
    #[serde(flatten)]
    #[cfg_attr(feature = "schema", schemars(skip))]
    pub extra: Extra,
}

/// What one agent did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ProcessingRecord {
    /// The agent.
    pub agent: String,
    /// Its place in the run; from 1 where we write it, from 0 where dialect B does.
    pub stage_order: u64,
    /// When it began, as received.
    pub started_at: Option<Timestamp>,
    /// When it ended, as received.
    pub completed_at: Option<Timestamp>,
    /// How long it took.
    pub duration_ms: u64,
    /// How it went.
    pub status: String,
    /// What went wrong.
    pub error: Option<String>,
    /// How often it called a model.
    pub llm_calls: u64,
    /// What others added; kept untouched.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Members that the contract does not know. Only reading fills it, so none of them can hide a member that it knows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extra(pub(super) Object);

impl Serialize for Extra {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl Extra {
    /// The member `name`.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Json> {
        self.0.get(name)
    }

    /// All of them.
    #[must_use]
    pub fn as_object(&self) -> &Object {
        &self.0
    }
}
