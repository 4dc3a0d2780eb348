//! Why a run does not go on.
//! Owns: the reasons and their codes. Must not: hold what was said.

use crate::ports::ledger;
use crate::ports::session::Trouble;
use countersign_kernel::run::Refusal;
use countersign_record::canonical::Unwritable;
use countersign_record::code::Code;
use countersign_record::id::{NotAnId, RunId};
use countersign_record::row::NotADraft;
use countersign_record::time::NotATimestamp;
use countersign_work::command;

/// Why a run does not go on.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// What came in changes nothing.
    #[error(transparent)]
    Refused(Refusal),
    /// There is no such run.
    #[error("there is no run {run}")]
    Missing {
        /// Its name.
        run: RunId,
    },
    /// What was said is gone.
    #[error("row {seq} of the run is there, but what it said was erased, so the run can't be told")]
    Erased {
        /// The row.
        seq: u64,
    },
    /// A row says what no run does.
    #[error("row {seq} can't be read as a part of a run: {why}")]
    Unreadable {
        /// The row.
        seq: u64,
        /// Why.
        why: String,
    },
    /// Nobody works in a stage.
    #[error("nobody is there to work in the stage {stage}")]
    NoAgent {
        /// The stage.
        stage: String,
    },
    /// Who began it can't give it leave.
    #[error("{by} began the run, and the policy has somebody else approve what one proposes")]
    Proposer {
        /// Who.
        by: String,
    },
    /// Somebody's leave counts if it is signed.
    #[error("{by} has no key to sign with, and the policy has leave signed")]
    Unsigned {
        /// Who.
        by: String,
    },
    /// The envelope leaves no room for what comes of it.
    #[error("the envelope has {bytes} bytes, and a run may begin with 4 MiB; larger texts belong into files")]
    TooLarge {
        /// How large it is, as it is written.
        bytes: usize,
    },
    /// The governed records of a task's run can't be written.
    #[error("the records of the run can't be written: {why}")]
    Work {
        /// Why.
        why: String,
    },
    /// An answer to a question of a task's run changes nothing.
    #[error("{why}")]
    NoAnswer {
        /// Why.
        why: String,
    },
    /// A command gets no receipt.
    #[error(transparent)]
    Command(command::Refusal),
    /// The run is no task's, so it has no governed records.
    #[error("the run {run} is no task's, so no command can be given to it")]
    NoTask {
        /// Its name.
        run: RunId,
    },
    /// It was stopped in the middle of a stage.
    #[error("the run was stopped in the middle of a stage, and can be gone on with")]
    Stopped,
    /// A run can't be gone through again in that way.
    #[error("the run can't be replayed like that: {why}")]
    Replay {
        /// Why.
        why: String,
    },
    /// The ledger refused.
    #[error(transparent)]
    Ledger(#[from] ledger::Error),
    /// A row can't be made.
    #[error(transparent)]
    NotADraft(#[from] NotADraft),
    /// A name can't be made.
    #[error(transparent)]
    NotAnId(#[from] NotAnId),
    /// The clock can't be written.
    #[error(transparent)]
    NotATimestamp(#[from] NotATimestamp),
    /// A document can't be written.
    #[error(transparent)]
    Unwritable(#[from] Unwritable),
    /// A decision can't be signed.
    #[error(transparent)]
    Signing(#[from] Trouble),
}

impl Error {
    /// The stable code.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            Error::Refused(refusal) => refusal.code(),
            Error::Missing { .. } => Code::RunMissing,
            Error::Erased { .. } => Code::RunErased,
            Error::Unreadable { .. } => Code::RunUnreadable,
            Error::NoAgent { .. } => Code::RunAgent,
            Error::TooLarge { .. } => Code::EnvelopeInvalid,
            Error::Work { .. } => Code::RunRecords,
            Error::NoAnswer { .. } => Code::AnswerKind,
            Error::Command(refusal) => match refusal {
                command::Refusal::Unknown(_) => Code::CommandUnknown,
                command::Refusal::Request(_) => Code::CommandRequest,
                command::Refusal::Unheard(_) => Code::CommandKey,
                command::Refusal::Unwritten(_) => Code::RunRecords,
            },
            Error::NoTask { .. } => Code::CommandTask,
            Error::Stopped => Code::RunStopped,
            Error::Replay { .. } => Code::ReplayRefused,
            Error::Proposer { .. } => Code::CapabilityProposer,
            Error::Unsigned { .. } => Code::CapabilityUnsigned,
            Error::Ledger(error) => error.code(),
            Error::NotADraft(error) => error.code(),
            Error::NotAnId(error) => error.code(),
            Error::NotATimestamp(_) => Code::TimeInvalid,
            Error::Unwritable(_) => Code::NumberInexact,
            Error::Signing(trouble) => trouble.code,
        }
    }
}
