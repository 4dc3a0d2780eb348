//! The run's state as it is exchanged between processes: the contract's GenericEnvelope.
//! Owns: its members, reading it in three dialects, writing it in one. Must not: decide what a run does next, or
//! mint an id or a time (they arrive as [`Minted`]).
//!
//! Dialect A is the contract's document. B and C are what other implementations really write. All three are
//! read, A is written with every member, and members that nobody here knows stay as they came.

mod interrupt;
mod parts;
mod read;
mod words;

pub use interrupt::Interrupt;
pub use parts::{
    Bounds, Clarification, CompletedStage, Confirmation, Ending, Extra, Goals, Identity, ProcessingRecord,
    Progress,
};
pub use words::{Dialect, GoalStatus, InterruptKind, TerminalReason, UnknownWord};

use crate::canonical::{self, Unwritable};
use crate::digest::Digest;
use crate::fields::Trouble;
use crate::id::{EnvelopeId, RequestId, SessionId};
use crate::json::{self, Json, Limits, Object};
use crate::time::Timestamp;
use alloc::string::String;
use alloc::vec::Vec;
use serde::ser::{Error as _, Serialize, Serializer};

/// The run's state. Written in the contract's order of members, what others added after them.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = crate::schema::seed_requires))]
pub struct GenericEnvelope {
    /// Whose state it is.
    #[cfg_attr(feature = "schema", schemars(flatten))]
    pub identity: Identity,
    /// How far it has come.
    #[cfg_attr(feature = "schema", schemars(flatten))]
    pub progress: Progress,
    /// How far it may go.
    #[cfg_attr(feature = "schema", schemars(flatten))]
    pub bounds: Bounds,
    /// Whether and why it ended.
    #[cfg_attr(feature = "schema", schemars(flatten))]
    pub ending: Ending,
    /// A question to the user.
    #[cfg_attr(feature = "schema", schemars(flatten))]
    pub clarification: Clarification,
    /// A request for leave.
    #[cfg_attr(feature = "schema", schemars(flatten))]
    pub confirmation: Confirmation,
    /// Stages and goals.
    #[cfg_attr(feature = "schema", schemars(flatten))]
    pub goals: Goals,
    /// What went wrong, in the words of who met it.
    pub errors: Vec<Object>,
    /// When processing ended, as received.
    pub completed_at: Option<Timestamp>,
    /// Anything else about the request.
    pub metadata: Object,
    /// What each agent did. The contract's schema does not name it, so the schema says nothing of its form.
    #[cfg_attr(feature = "schema", schemars(with = "Json"))]
    pub processing_history: Vec<ProcessingRecord>,
    /// The interrupt of dialects B and C; nothing in a document that never spoke of one. Whoever raises another
    /// question drops it: it belongs to the question it came with.
    #[cfg_attr(feature = "schema", schemars(skip))]
    pub interrupt: Option<Interrupt>,
    /// What others added; kept untouched.
    #[cfg_attr(feature = "schema", schemars(skip))]
    pub extra: Extra,
}

/// What stands in for members that a document does not have. Time and chance live at the edge, so the caller brings
/// all four; those that the document has are not used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Minted {
    /// For a missing `envelope_id`.
    pub envelope_id: EnvelopeId,
    /// For a missing `request_id`.
    pub request_id: RequestId,
    /// For a missing `session_id`.
    pub session_id: SessionId,
    /// For a missing `received_at`.
    pub received_at: Timestamp,
}

/// A document that was read, and what reading it took.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    /// The state.
    pub envelope: GenericEnvelope,
    /// The dialect it came in.
    pub dialect: Dialect,
    /// The members that were missing and taken from [`Minted`]. While there are any, the state's hash says nothing
    /// of the document.
    pub minted: Vec<&'static str>,
    /// The members that were missing and took the contract's default.
    pub defaulted: Vec<&'static str>,
    /// The words of other dialects that were read as the contract's.
    pub renamed: Vec<Renamed>,
}

/// The members that the contract requires.
const REQUIRED: [&str; 8] = [
    "envelope_id",
    "request_id",
    "user_id",
    "session_id",
    "raw_input",
    "outputs",
    "current_stage",
    "terminated",
];

impl Reading {
    /// Whether the document was the contract's own: dialect A, with every required member and none of another
    /// dialect's words. What does not conform can still be read.
    #[must_use]
    pub fn conforms(&self) -> bool {
        let missing = |name: &&str| self.minted.contains(name) || self.defaulted.contains(name);
        self.dialect == Dialect::A && self.renamed.is_empty() && !REQUIRED.iter().any(missing)
    }
}

/// A word of another dialect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Renamed {
    /// Where it stands: a JSON Pointer.
    pub path: String,
    /// The word as it came.
    pub from: String,
    /// The contract's word.
    pub to: &'static str,
}

/// What a run waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pending {
    /// An answer to a question.
    Clarification,
    /// Leave to go on.
    Confirmation,
    /// Something that only dialects B and C can say; without a kind where they did not say what.
    Other(Option<InterruptKind>),
}

impl GenericEnvelope {
    /// Reads a document of dialect A, B or C, naming everything that is wrong with it.
    ///
    /// # Errors
    /// It is no GenericEnvelope, or it contradicts itself. Nothing in it is defaulted but what is missing.
    pub fn read(value: Json, minted: Minted) -> Result<Reading, Vec<Trouble>> {
        read::read(value, minted)
    }

    /// What the run waits for. It can't be run past.
    #[must_use]
    pub fn pending(&self) -> Option<Pending> {
        if self.clarification.pending {
            return Some(Pending::Clarification);
        }
        if self.confirmation.pending {
            return Some(Pending::Confirmation);
        }
        self.interrupt
            .as_ref()
            .filter(|interrupt| interrupt.waits())
            .map(|interrupt| Pending::Other(interrupt.kind()))
    }

    /// The document as it is written.
    ///
    /// # Errors
    /// The state was not read from a document: it nests deeper than one may, or a count is beyond 2^53.
    pub fn to_json(&self) -> Result<Json, Unwritable> {
        let text = json::to_text(self)?;
        // The defaults may carry a document over the limit of what is taken in; it is still one to be written.
        let limits = Limits { bytes_max: usize::MAX, values_max: usize::MAX, ..Limits::GOVERNED };
        json::parse_with(text.as_bytes(), limits).map_err(Unwritable::custom)
    }

    /// SHA-256 of the document as it is written, without writing it out: what [`canonical::hash_as_written`] says
    /// of [`to_json`](GenericEnvelope::to_json).
    ///
    /// # Errors
    /// The state was not read from a document: a count is beyond 2^53.
    pub fn hash(&self) -> Result<Digest, Unwritable> {
        canonical::hash_as_written_of(self)
    }
}

impl Serialize for GenericEnvelope {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Written {
            identity: &self.identity,
            progress: &self.progress,
            bounds: &self.bounds,
            ending: &self.ending,
            clarification: &self.clarification,
            confirmation: &self.confirmation,
            goals: &self.goals,
            errors: &self.errors,
            completed_at: self.completed_at.as_ref(),
            metadata: &self.metadata,
            processing_history: &self.processing_history,
            interrupt: self.interrupt.as_ref().map(|interrupt| WrittenInterrupt {
                interrupt: interrupt.body(),
                interrupt_pending: self.pending().is_some(),
            }),
            extra: &self.extra,
        }
        .serialize(serializer)
    }
}

/// The document's members in the order they are written.
#[derive(serde::Serialize)]
struct Written<'a> {
    #[serde(flatten)]
    identity: &'a Identity,
    #[serde(flatten)]
    progress: &'a Progress,
    #[serde(flatten)]
    bounds: &'a Bounds,
    #[serde(flatten)]
    ending: &'a Ending,
    #[serde(flatten)]
    clarification: &'a Clarification,
    #[serde(flatten)]
    confirmation: &'a Confirmation,
    #[serde(flatten)]
    goals: &'a Goals,
    errors: &'a [Object],
    completed_at: Option<&'a Timestamp>,
    metadata: &'a Object,
    processing_history: &'a [ProcessingRecord],
    #[serde(flatten)]
    interrupt: Option<WrittenInterrupt<'a>>,
    #[serde(flatten)]
    extra: &'a Extra,
}

/// The flag is derived from the contract's own flags, so that answering a question answers it in every dialect.
#[derive(serde::Serialize)]
struct WrittenInterrupt<'a> {
    interrupt: Option<&'a Object>,
    interrupt_pending: bool,
}
