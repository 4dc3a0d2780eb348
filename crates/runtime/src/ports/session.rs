//! What a session asks of the edge beside models, tools and the ledger.
//! Owns: the traits. Must not: decide.

use super::Answer;
use countersign_record::code::Code;
use countersign_record::id::ToolName;
use countersign_record::row::Sealed;
use countersign_record::session::{Checkpoint, UnixTime};
use countersign_record::tool::Effect;
use std::time::Duration;

/// Why something could not be kept or read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Trouble {
    /// The stable code.
    pub code: Code,
    /// The words.
    pub message: String,
}

/// Keeps the checkpoints of one session, as its one writer.
pub trait Keeper: Send + Sync {
    /// Keeps the next revision. It is durable when this answers.
    fn save(&self, checkpoint: Checkpoint) -> Answer<'_, Result<(), Trouble>>;
}

/// Keeps what a session that was made shorter leaves behind.
pub trait Remembers: Send + Sync {
    /// Keeps a record (SPEC-006) in the store for its class, as a line.
    fn remember(&self, record: Remembered) -> Answer<'_, Result<(), Trouble>>;
}

/// A record to be kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remembered {
    /// The record, without a line's end.
    pub line: String,
    /// How far it may travel: another class is another store.
    pub data_class: countersign_record::row::DataClass,
}

/// Puts a person's proof on a decision.
pub trait Signs: Send + Sync {
    /// Signs it, if the person has a key.
    ///
    /// # Errors
    /// The key can't be used.
    fn sign(&self, decision: Sealed) -> Result<Sealed, Trouble>;
}

/// Takes the lines of one turn's trace. It never waits and never fails; what it can't keep is lost, and told as that.
pub trait Trace: Send {
    /// Takes a line, with its end and the time in it.
    fn put(&mut self, ts: UnixTime, line: String);
}

/// What a person is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// The tool that is to be called; none if something is to be sent to a model.
    pub tool: Option<ToolName>,
    /// What exactly would happen.
    pub summary: String,
    /// What that changes.
    pub effect: Effect,
    /// What would have to be granted.
    pub capability: String,
    /// Why a grant that was given does not count.
    pub void: Option<String>,
    /// The arguments of the call, as JSON; empty if something is to be sent to a model.
    pub detail: String,
}

/// What a person says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Yes, this one time.
    Once,
    /// Yes, for this session, as long as the policy says.
    Session,
    /// No.
    No,
    /// There is nobody to ask.
    Nobody,
    /// Nothing: the turn is not to go on. Nobody has decided anything.
    Cancelled,
}

/// Somebody who can be asked.
pub trait Person: Send + Sync {
    /// Whether anybody is there to be asked.
    fn is_there(&self) -> bool;

    /// Asks. The answer is the person's own decision.
    fn decide<'a>(&'a self, question: &'a Question) -> Answer<'a, Decision>;
}

/// Where a turn shows itself while it happens.
pub trait Screen: Send {
    /// More of the answer.
    fn text(&mut self, text: &str);

    /// A tool is called.
    fn started(&mut self, tool: &str, summary: &str);

    /// A call has ended; `error` if it was not done.
    fn ended(&mut self, tool: &str, error: Option<&str>, took: Duration);

    /// Something the user must know.
    fn note(&mut self, text: &str);
}
