//! What a session did: the rows of its stream.
//! Owns: their kinds and payloads. Must not: hold what was said; texts are blobs, so that they can be erased.

use crate::canonical::Unwritable;
use crate::digest::Digest;
use crate::id::{PrincipalId, SessionName, StreamId, ToolName};
use crate::json::{self, Json};
use crate::time::Timestamp;
use crate::tool::Effect;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use serde::Serialize;

/// The version of all of these payloads.
pub const VERSION: u32 = 1;

/// The kinds, in the order of a turn.
pub const TURN_BEGUN: &str = "session.turn_begun";
/// A model is to be asked.
pub const MODEL_ASKED: &str = "session.model_asked";
/// It answered.
pub const MODEL_ANSWERED: &str = "session.model_answered";
/// It did not.
pub const MODEL_FAILED: &str = "session.model_failed";
/// A tool is to be called.
pub const TOOL_STARTED: &str = "session.tool_started";
/// It was.
pub const TOOL_ENDED: &str = "session.tool_ended";
/// It is not.
pub const TOOL_REFUSED: &str = "session.tool_refused";
/// A person says what became of a call whose outcome nobody saw.
pub const EFFECT_SETTLED: &str = "session.effect_settled";
/// The turn is over.
pub const TURN_ENDED: &str = "session.turn_ended";
/// What a turn said is taken back.
pub const TURN_UNDONE: &str = "session.turn_undone";
/// An agent asks for something.
pub const CAPABILITY_REQUESTED: &str = "capability.requested";
/// A person grants it.
pub const CAPABILITY_GRANTED: &str = "capability.granted";
/// A person does not.
pub const CAPABILITY_DENIED: &str = "capability.denied";
/// A person takes it back.
pub const CAPABILITY_REVOKED: &str = "capability.revoked";
/// Something left the machine, or was kept from it.
pub const EXTERNALIZED: &str = "workspace.externalized";

/// The stream of what people said an agent of a session may do. It is not the session's own, which only its writer adds to.
///
/// # Errors
/// As [`stream`].
pub fn capability_stream(name: &SessionName) -> Result<StreamId, crate::id::NotAnId> {
    StreamId::try_from(format!("capability/{name}"))
}

/// The stream of a session.
///
/// # Errors
/// Never for a name of this build: the name's letters are a stream's too.
pub fn stream(name: &SessionName) -> Result<StreamId, crate::id::NotAnId> {
    StreamId::try_from(format!("session/{name}"))
}

/// The session that a stream is about.
#[must_use]
pub fn session_of(stream: &str) -> Option<SessionName> {
    let name = stream.strip_prefix("session/").or_else(|| stream.strip_prefix("capability/"))?;
    SessionName::try_from(name).ok()
}

/// Something that a row says.
pub trait Deed: Serialize {
    /// The row's kind.
    const KIND: &'static str;

    /// The row's payload.
    ///
    /// # Errors
    /// It holds something that JSON can't say.
    fn payload(&self) -> Result<Json, Unwritable> {
        json::value_of(self)
    }
}

macro_rules! deeds {
    ($($name:ident = $kind:ident;)*) => { $(impl Deed for $name { const KIND: &'static str = $kind; })* };
}
deeds! {
    TurnBegun = TURN_BEGUN;
    ModelAsked = MODEL_ASKED;
    ModelAnswered = MODEL_ANSWERED;
    ModelFailed = MODEL_FAILED;
    ToolStarted = TOOL_STARTED;
    ToolEnded = TOOL_ENDED;
    ToolRefused = TOOL_REFUSED;
    EffectSettled = EFFECT_SETTLED;
    TurnEnded = TURN_ENDED;
    TurnUndone = TURN_UNDONE;
    Requested = CAPABILITY_REQUESTED;
    Granted = CAPABILITY_GRANTED;
    Denied = CAPABILITY_DENIED;
    Revoked = CAPABILITY_REVOKED;
    Externalized = EXTERNALIZED;
}

/// A turn has begun.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TurnBegun {
    /// Which, from 1.
    pub turn: u64,
    /// The revision that it begins from.
    pub revision: u64,
    /// What the user said: a blob.
    pub message: Digest,
    /// Who answers.
    pub provider: String,
    /// Its model.
    pub model: String,
    /// Under which policy.
    pub policy_hash: Digest,
}

/// A model is to be asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ModelAsked {
    /// The turn.
    pub turn: u64,
    /// How often it was asked in this turn, from 1.
    pub round: u32,
    /// The request.
    pub request_hash: Digest,
    /// What it is shown beside the messages, without the excerpts of memory: a blob.
    pub system: Digest,
    /// Where that goes, if it leaves.
    pub host: Option<String>,
}

/// What was used; cached tokens are not among the input's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Used {
    /// Tokens that were read.
    pub input_tokens: u64,
    /// Tokens that were found in a cache.
    pub cached_tokens: u64,
    /// Tokens that were written.
    pub output_tokens: u64,
    /// In millionths of a dollar.
    pub cost_micros: Option<u64>,
    /// How often it was tried.
    pub attempts: u32,
}

/// A model answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ModelAnswered {
    /// The turn.
    pub turn: u64,
    /// The round.
    pub round: u32,
    /// The request.
    pub request_hash: Digest,
    /// What it said: a blob.
    pub reply: Digest,
    /// Why it ended.
    pub finish: String,
    /// What was used.
    pub usage: Used,
    /// Citations of memory that was never retrieved.
    pub unknown_citations: Vec<String>,
}

/// A model did not answer, or not to the end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ModelFailed {
    /// The turn.
    pub turn: u64,
    /// The round.
    pub round: u32,
    /// The request.
    pub request_hash: Digest,
    /// The code of why.
    pub code: String,
}

/// A call, by its place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CallPlace {
    /// The turn.
    pub turn: u64,
    /// The round.
    pub round: u32,
    /// The call's id, as the model gave it.
    pub call: String,
    /// The tool, as the model named it.
    pub tool: String,
}

/// A tool is to be called.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ToolStarted {
    /// Which call.
    #[serde(flatten)]
    pub place: CallPlace,
    /// What exactly is to be done, in a line: a blob.
    pub summary: Digest,
    /// What that changes.
    pub effect: Effect,
    /// The arguments.
    pub arguments_hash: Digest,
    /// What the tool said of itself.
    pub definition_hash: Digest,
    /// The policy.
    pub policy_hash: Digest,
    /// The grant that allows it, if it takes one.
    pub grant: Option<String>,
    /// The grant that lets what the session holds leave with it, if it takes one.
    pub confirmation: Option<String>,
    /// Where it sends something.
    pub sends_to: Option<String>,
    /// The file that is to be written: it has this row's class from now on.
    pub writes: Option<String>,
}

/// A tool was called.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ToolEnded {
    /// Which call.
    #[serde(flatten)]
    pub place: CallPlace,
    /// Whether it was done.
    pub ok: bool,
    /// The result as it may be kept: a blob.
    pub result: Digest,
    /// The result as the model was shown it.
    pub shown_hash: Digest,
}

/// A tool is not called.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ToolRefused {
    /// Which call.
    #[serde(flatten)]
    pub place: CallPlace,
    /// The code of why.
    pub code: String,
    /// What would allow it.
    pub capability: Option<String>,
    /// What the model is told: a blob.
    pub result: Digest,
}

/// What became of a call whose outcome nobody saw.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Fate {
    /// It was done.
    Happened,
    /// It was not.
    DidNotHappen,
    /// Nobody knows.
    Unknown,
}

impl Fate {
    /// The word on the wire.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Fate::Happened => "happened",
            Fate::DidNotHappen => "did_not_happen",
            Fate::Unknown => "unknown",
        }
    }
}

/// A person says what became of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EffectSettled {
    /// Which call.
    #[serde(flatten)]
    pub place: CallPlace,
    /// What became of it.
    pub fate: Fate,
    /// What the model is told: a blob.
    pub result: Digest,
}

/// How a turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The model had nothing more to say.
    Completed,
    /// It asked for tools more often than it may.
    Bounded,
    /// The user did not wait.
    Cancelled,
    /// There was no answer.
    Failed,
    /// The process ended first.
    Interrupted,
}

impl Outcome {
    /// The word on the wire.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Outcome::Completed => "completed",
            Outcome::Bounded => "bounded",
            Outcome::Cancelled => "cancelled",
            Outcome::Failed => "failed",
            Outcome::Interrupted => "interrupted",
        }
    }
}

/// A turn is over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TurnEnded {
    /// Which.
    pub turn: u64,
    /// The revision that holds it.
    pub revision: u64,
    /// How.
    pub outcome: Outcome,
    /// The state after it.
    pub state_hash: Digest,
    /// The messages that the checkpoint holds after it.
    pub messages_hash: Digest,
    /// Messages that left the session's memory.
    pub evicted: u64,
    /// The record that they were summed up in.
    pub memory_ref: Option<String>,
}

/// What a turn said is taken back. What it did is not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TurnUndone {
    /// Which.
    pub turn: u64,
    /// The revision that no longer holds it.
    pub revision: u64,
    /// The state after that.
    pub state_hash: Digest,
    /// The messages that the checkpoint holds after that.
    pub messages_hash: Digest,
    /// Calls of it that changed something, and are not undone: what they did, as blobs.
    pub standing: Vec<Digest>,
}

/// An agent asks for something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Requested {
    /// What.
    pub capability: String,
    /// The turn.
    pub turn: u64,
    /// Who asked: `notes` of the model, or a call by its tool.
    pub from: String,
    /// What exactly the call would do: a blob.
    pub summary: Option<Digest>,
    /// Its arguments.
    pub arguments_hash: Option<Digest>,
}

/// A person grants something. Change any of these and it is void.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Granted {
    /// The grant's name.
    pub grant: String,
    /// What.
    pub capability: String,
    /// Who may use it.
    pub acting: PrincipalId,
    /// One call's arguments, if it is for one call.
    pub arguments_hash: Option<Digest>,
    /// What it may be used with, as it was when it was granted.
    pub definitions: BTreeMap<ToolName, Digest>,
    /// The policy that it was granted under.
    pub policy_hash: Digest,
    /// From when on it is no more.
    pub expires_at: Timestamp,
}

/// A person does not grant something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Denied {
    /// What.
    pub capability: String,
    /// Why.
    pub reason: Option<String>,
}

/// A person takes something back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Revoked {
    /// What: every grant of it.
    pub capability: String,
    /// Why.
    pub reason: Option<String>,
}

/// Something left the machine, or was kept from it: the contract's WorkspaceExternalizationReceipt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Externalized {
    /// Its name.
    pub receipt_id: String,
    /// How: `api_call` for a model, `external_source_query` for a page.
    pub externalization_kind: String,
    /// The matter.
    pub workspace_id: String,
    /// What it was made from.
    pub source_record_refs: Vec<String>,
    /// Where it went.
    pub destination_ref: String,
    /// Under which policy.
    pub policy_ref: String,
    /// Who confirmed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_confirmation_ref: Option<String>,
    /// `completed`, `blocked_by_policy`, `cancelled` or `failed`.
    pub status: String,
    /// Whether somebody may have it now.
    pub irreversible_disclosure_possible: bool,
    /// When.
    pub created_at: Timestamp,
    /// Of this shape.
    pub schema_version: String,
}
