//! The conversation on disk (SR2-CM-01): a log of turns, and an index of their pieces.
//! Owns: which files there are, and what a failure is called. Must not: select; `countersign-kernel` does.
//!
//! | file | holds |
//! |---|---|
//! | `conversation.jsonl` | the turns, one a line, append-only; the truth |
//! | `conversation.jsonl.torn-N-M` | what a crash left of a line at byte N that was never acknowledged |
//! | `history_store.pkl` | the published vectors; `history_store_dynamic.pkl` while they are written |
//! | `history_index_meta.json` | its generation, count, caps and SHA-256 |
//! | `history_store_previous.pkl`, `history_index_meta_previous.json` | the generation before |
//! | `history_cleared.json` | how much of the log was cleared |
//!
//! All but the log can be made again from it, apart from where it was cleared.

mod background;
mod clear;
mod history;
mod index;
mod lines;
mod log;
mod published;
mod recalling;
mod status;
mod tail;

pub use background::Indexer;
pub use clear::clear;
pub use history::{Ask, Escalation, History, Piece, Recalled};
pub use index::{Update, update};
pub use log::{Appended, Log, Torn};
pub use published::described;
pub use recalling::Recalling;
pub use status::{Status, status};
pub use tail::{Located, TURNS_MAX, Tail};

use countersign_durable::{self as durable, Links, NotTaken};
use countersign_record::code::Code;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// A turn's line is a governed document.
const LINE_BYTES_MAX: usize = 16 * 1024 * 1024;
/// A conversation is its owner's alone.
const FILE_MODE: u32 = 0o600;

/// Where a conversation is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conversation {
    dir: PathBuf,
}

impl Conversation {
    /// The conversation in a directory, which need not be there yet.
    #[must_use]
    pub fn at(dir: &Path) -> Self {
        Conversation { dir: dir.to_path_buf() }
    }

    /// The directory.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The turns.
    #[must_use]
    pub fn log(&self) -> PathBuf {
        self.dir.join("conversation.jsonl")
    }

    fn file(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    /// The log for reading, and how long it is at this moment; `None` if nothing was ever said.
    fn open_log(&self) -> Result<Option<(File, u64)>, Error> {
        let path = self.log();
        match open_regular(&path) {
            Ok(found) => Ok(Some(found)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::unreadable(&path, &error)),
        }
    }
}

/// Opens a file of the conversation; a link in its place would lead elsewhere.
fn open_regular(path: &Path) -> io::Result<(File, u64)> {
    durable::open_regular(path, Links::Refused)
}

/// Why a conversation can't be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Another process writes it.
    #[error("another process{} has {path}", told(*pid))]
    Locked {
        /// The lock.
        path: String,
        /// The process, as far as it said.
        pid: Option<u32>,
    },
    /// A file can't be read.
    #[error("{path} can't be read: {why}")]
    Unreadable {
        /// Which.
        path: String,
        /// Why.
        why: String,
    },
    /// A file can't be written; what was acknowledged before is still there.
    #[error("{path} can't be written: {why}")]
    Unwritable {
        /// Which.
        path: String,
        /// Why.
        why: String,
    },
    /// A turn is too long for a line.
    #[error("the turn has {bytes} bytes as a line, and at most {LINE_BYTES_MAX} are taken")]
    TooLong {
        /// Its length.
        bytes: usize,
    },
    /// A turn carries more than its pieces can.
    #[error("{why}")]
    TooMuch {
        /// What is too much.
        why: &'static str,
    },
    /// The record of what was cleared can't be used, so nothing may be recalled from the index or put into it.
    #[error("{path}, which says what was cleared, can't be used: {why}")]
    Cleared {
        /// The file.
        path: String,
        /// Why.
        why: String,
    },
    /// The table of vectors can't be written.
    #[error("the index can't be written: {why}")]
    Index {
        /// Why.
        why: String,
    },
}

fn told(pid: Option<u32>) -> String {
    pid.map(|pid| format!(" ({pid})")).unwrap_or_default()
}

impl Error {
    /// The stable code.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            Error::Locked { .. } => Code::HistoryLocked,
            Error::Unreadable { .. } => Code::HistoryUnreadable,
            Error::Unwritable { .. } | Error::Index { .. } => Code::HistoryUnwritable,
            Error::TooLong { .. } | Error::TooMuch { .. } => Code::HistoryTooLong,
            Error::Cleared { .. } => Code::HistoryCleared,
        }
    }

    fn unreadable(path: &Path, error: &io::Error) -> Self {
        Error::Unreadable { path: path.display().to_string(), why: error.to_string() }
    }

    fn unwritable(path: &Path, error: &io::Error) -> Self {
        Error::Unwritable { path: path.display().to_string(), why: error.to_string() }
    }

    fn not_taken(path: &Path, refused: NotTaken) -> Self {
        match refused {
            NotTaken::Held { pid } => Error::Locked { path: path.display().to_string(), pid },
            NotTaken::Gone | NotTaken::NotRegular => {
                Error::Unwritable { path: path.display().to_string(), why: refused.to_string() }
            }
            NotTaken::Io(error) => Error::unwritable(path, &error),
        }
    }
}
