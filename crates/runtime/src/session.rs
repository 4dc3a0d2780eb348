//! One session: its turns, each from what the user says to the checkpoint after it.
//! Owns: what a turn needs, and the order of its steps. Must not: know a vendor, a file or a terminal.
//!
//! The path of one turn, in `turn.rs`: what was left open is closed (`recover.rs`) → memory is read for the prompt
//! (`prompt.rs`) → the model is asked, its notes applied, its calls made (`call.rs`), and it is asked again until it has
//! no more calls → the rows are appended, then the checkpoint is kept.
//!
//! When rows are appended: before anything that has an effect (a tool that changes something, anything that is sent
//! away), before a model that takes its time, and at the end. So an effect is never done before its intent is durable, and
//! a turn without one takes a single commit and the checkpoint.

mod call;
mod decide;
mod leave;
mod look;
pub mod memory;
mod person;
mod prompt;
mod recover;
pub mod registry;
mod rows;
mod told;
mod turn;

pub use person::{GrantFor, Refusal};
pub use recover::{Recovered, Undone, Unsettled};
pub use turn::{Said, Turned};

use crate::clock::Clock;
use crate::journal;
use crate::memory_read::Recall;
use crate::ports::Answer;
use crate::ports::ledger::{self, Journal, Select};
use crate::ports::model::Model;
use crate::ports::session::{Keeper, Person, Remembers, Signs, Trouble};
use countersign_kernel::policy::Policy;
use countersign_kernel::session::Bounds;
use countersign_kernel::session::past::Past;
use countersign_record::access::MatterAccess;
use countersign_record::canonical::Unwritable;
use countersign_record::code::Code;
use countersign_record::deed;
use countersign_record::digest::Digest;
use countersign_record::id::{NotAnId, RowKind, SessionName};
use countersign_record::json::Json;
use countersign_record::row::{DataClass, NotADraft};
use countersign_record::session::{ChatMessage, Checkpoint, State, UnixTime};
use countersign_record::time::{Instant, NotATimestamp};
use countersign_record::trace::Redactor;
use registry::Registry;
use rows::Rows;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What the sessions of a matter share.
#[derive(Clone)]
pub struct Office {
    /// The record.
    pub ledger: Arc<dyn Journal>,
    /// Who acts, and for which matter.
    pub access: MatterAccess,
    /// When.
    pub clock: Arc<Clock>,
    /// What holds for every session.
    pub policy: Arc<Policy>,
    /// What may be called.
    pub tools: Arc<Registry>,
    /// Who answers.
    pub model: Arc<dyn Model>,
    /// What the prompt may be given from memory.
    pub recall: Option<Recall>,
    /// Where what has to go is summed up.
    pub remembers: Option<Arc<dyn Remembers>>,
    /// Who is asked.
    pub person: Arc<dyn Person>,
    /// How decisions are signed.
    pub signs: Arc<dyn Signs>,
    /// The directory that tools see, as the machine names it: a file that was written has its class under every root.
    pub root: String,
    /// The narrowest class that a rule of the policy has for the root itself, wherever it lies.
    pub root_class: DataClass,
    /// What is kept out of traces.
    pub redactor: Redactor,
    /// How large a session may grow.
    pub bounds: Bounds,
    /// What the model may say at most, in tokens.
    pub tokens_max: u32,
}

/// One session, open to be gone on with.
pub struct Session {
    name: SessionName,
    office: Office,
    keeper: Arc<dyn Keeper>,
    checkpoint: Checkpoint,
    past: Past,
    /// Classes of files that sessions of this matter wrote: what was made from something keeps its class.
    written: BTreeMap<String, DataClass>,
    /// The last row of a call, of any session, that was taken in.
    written_seq: u64,
}

/// Why a session can't go on.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    /// A person must first say what became of these calls.
    #[error("what became of a call is not known: {}", .calls.first().map(|call| call.summary.as_str()).unwrap_or_default())]
    Unsettled {
        /// The calls.
        calls: Vec<Unsettled>,
    },
    /// The checkpoint holds what the ledger does not know.
    #[error("the checkpoint has revision {checkpoint}, and the ledger knows {ledger}")]
    Ahead {
        /// The revision of the checkpoint.
        checkpoint: u64,
        /// The last one that the ledger knows.
        ledger: u64,
    },
    /// There is nothing that could be settled, undone or answered.
    #[error("{why}")]
    Nothing {
        /// What there is not.
        why: &'static str,
    },
    /// A capability can't be granted so.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The ledger.
    #[error(transparent)]
    Ledger(#[from] ledger::Error),
    /// A row.
    #[error(transparent)]
    NotADraft(#[from] NotADraft),
    /// A name.
    #[error(transparent)]
    NotAnId(#[from] NotAnId),
    /// The clock.
    #[error(transparent)]
    NotATimestamp(#[from] NotATimestamp),
    /// Something without a canonical form.
    #[error(transparent)]
    Unwritable(#[from] Unwritable),
    /// A file, a key.
    #[error(transparent)]
    Trouble(#[from] Trouble),
    /// Memory.
    #[error(transparent)]
    Memory(#[from] crate::memory_read::Error),
}

impl Error {
    /// The stable code.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            Error::Unsettled { .. } => Code::SessionUnsettled,
            Error::Ahead { .. } => Code::SessionConflict,
            Error::Nothing { .. } => Code::SessionNothing,
            Error::Refused(refusal) => refusal.code(),
            Error::Ledger(error) => error.code(),
            Error::NotADraft(error) => error.code(),
            Error::NotAnId(error) => error.code(),
            Error::NotATimestamp(_) => Code::TimeInvalid,
            Error::Unwritable(_) => Code::NumberInexact,
            Error::Trouble(trouble) => trouble.code,
            Error::Memory(error) => error.code(),
        }
    }
}

impl Session {
    /// Opens a session: its newest checkpoint, if there is one, and what its rows say. What a crash left is closed,
    /// as far as nobody has to be asked.
    ///
    /// # Errors
    /// The ledger can't be read or written.
    pub async fn open(
        office: Office,
        keeper: Arc<dyn Keeper>,
        name: SessionName,
        checkpoint: Option<Checkpoint>,
    ) -> Result<(Self, Recovered), Error> {
        let checkpoint = checkpoint.unwrap_or_else(|| fresh(&name));
        let (past, written) = (Past::default(), BTreeMap::new());
        let mut session = Session { name, office, keeper, checkpoint, past, written, written_seq: 0 };
        session.catch_up().await?;
        let recovered = session.recover().await?;
        Ok((session, recovered))
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &SessionName {
        &self.name
    }

    /// What it knows.
    #[must_use]
    pub fn state(&self) -> &State {
        &self.checkpoint.state
    }

    /// What was said last.
    #[must_use]
    pub fn messages(&self) -> &[ChatMessage] {
        &self.checkpoint.recent_messages
    }

    /// The newest revision.
    #[must_use]
    pub fn revision(&self) -> u64 {
        self.checkpoint.revision
    }

    /// What its rows say.
    #[must_use]
    pub fn past(&self) -> &Past {
        &self.past
    }

    /// What it works with.
    #[must_use]
    pub fn office(&self) -> &Office {
        &self.office
    }

    /// Goes on with another model, person or journal.
    pub fn set_office(&mut self, office: Office) {
        self.office = office;
    }

    /// Takes in what others have appended: a grant, a revocation.
    ///
    /// # Errors
    /// The ledger can't be read.
    pub async fn catch_up(&mut self) -> Result<(), Error> {
        // Decisions first: a call of the session may use one up.
        self.catch_up_decisions().await?;
        let past = &mut self.past;
        let stream = Select::Stream(deed::stream(&self.name)?);
        read_all(&self.office, stream, past.seq, &mut |row| past.apply(row)).await
    }

    /// Takes in what people granted and took back.
    async fn catch_up_decisions(&mut self) -> Result<(), Error> {
        let past = &mut self.past;
        let decisions = Select::Stream(deed::capability_stream(&self.name)?);
        read_all(&self.office, decisions, past.grants.seq, &mut |row| {
            past.grants.apply(row);
            past.grants.seq = row.seq;
        })
        .await
    }

    /// Takes in what sessions of this matter wrote. The row of a write is durable before the file is there: whoever looks
    /// after reading a file knows its class, and who reads none need not look.
    async fn catch_up_written(&mut self) -> Result<(), Error> {
        let (written, seq) = (&mut self.written, &mut self.written_seq);
        let kind = Select::Kind(RowKind::try_from(deed::TOOL_STARTED)?);
        read_all(&self.office, kind, *seq, &mut |row| {
            *seq = row.seq;
            if let Some(path) = row.payload.get("writes").and_then(Json::as_str) {
                let class = written.entry(path.to_owned()).or_insert(row.data_class);
                *class = row.data_class.max(*class);
            }
        })
        .await
    }

    fn rows(&self) -> Result<Rows, Error> {
        let Office { ledger, access, clock, .. } = &self.office;
        let streams = (deed::stream(&self.name)?, deed::capability_stream(&self.name)?);
        Ok(Rows::new(Arc::clone(ledger), access.clone(), Arc::clone(clock), streams, self.past.stream_seq))
    }

    /// The time, as grants are judged by it: a clock that was set back brings none of them back.
    fn now(&self) -> Result<Instant, Error> {
        let now = self.office.clock.now()?.instant();
        Ok(self.past.latest.map_or(now, |latest| latest.max(now)))
    }

    fn policy_hash(&self) -> Result<Digest, Error> {
        Ok(self.office.policy.hash()?)
    }

    fn unix_time(&self) -> Result<UnixTime, Error> {
        Ok(unix_time(&self.office.clock)?)
    }
}

/// The checkpoints of a session that somebody else writes.
struct Elsewhere;

impl Keeper for Elsewhere {
    fn save(&self, _: Checkpoint) -> Answer<'_, Result<(), Trouble>> {
        let message = "the session is only looked at".to_owned();
        Box::pin(async { Err(Trouble { code: Code::SessionLocked, message }) })
    }
}

fn unix_time(clock: &Clock) -> Result<UnixTime, NotATimestamp> {
    let instant = clock.now()?.instant();
    let micros = u64::try_from(instant.seconds).ok().and_then(|seconds| seconds.checked_mul(1_000_000));
    let micros = micros.map(|micros| micros + u64::from(instant.nanos / 1_000));
    micros.and_then(UnixTime::from_micros).ok_or(NotATimestamp)
}

fn fresh(name: &SessionName) -> Checkpoint {
    Checkpoint {
        session_id: name.clone(),
        revision: 0,
        updated_ts: UnixTime::default(),
        state: State::default(),
        recent_messages: Vec::new(),
        trace_tail: Vec::new(),
    }
}

/// Shows every row after a place; a matter that is not there has none.
async fn read_all(
    office: &Office,
    select: Select,
    after: u64,
    show: &mut (dyn FnMut(&countersign_record::row::Row) + Send),
) -> Result<(), Error> {
    journal::read_all(&*office.ledger, &office.access, select, after, &mut |row| show(&row)).await?;
    Ok(())
}
