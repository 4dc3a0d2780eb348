//! A ledger as a directory of plain files.
//! Owns: the files' names, their form, and that equal ledgers give equal bytes. Must not: know how a ledger is
//! stored, or trust a file it reads.
//!
//! `manifest.json` says what is there, `rows.jsonl` holds one row per line, `blobs/ab/ab…` one blob per file.

mod export;
mod import;
mod partial;

pub use export::export;
pub use import::import;

use countersign_record::code::Code;
use countersign_record::id::MatterId;
use countersign_runtime::ports::ledger;
use std::io;
use std::path::{Path, PathBuf};

/// Why an export or import was not done. Nothing is left of it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The target is there already.
    #[error("{} is there already", place.display())]
    Exists {
        /// The target.
        place: PathBuf,
    },
    /// The archive is of another matter.
    #[error("the archive holds the matter {found}, not {asked}")]
    Foreign {
        /// The matter to import into.
        asked: MatterId,
        /// The matter that was exported.
        found: MatterId,
    },
    /// The archive is not what an export writes.
    #[error("{}: {why}", place.display())]
    Invalid {
        /// Which file.
        place: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// The ledger said no.
    #[error(transparent)]
    Ledger(#[from] ledger::Error),
    /// A file can't be read.
    #[error("{}: {error}", place.display())]
    Unreadable {
        /// The file.
        place: PathBuf,
        /// The operating system's words.
        error: io::Error,
    },
    /// A file can't be written.
    #[error("{}: {error}", place.display())]
    Unwritable {
        /// The file.
        place: PathBuf,
        /// The operating system's words.
        error: io::Error,
    },
}

impl Error {
    /// The stable code.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            Error::Exists { .. } => Code::ArchiveExists,
            Error::Foreign { .. } => Code::LedgerForeign,
            Error::Invalid { .. } => Code::ArchiveInvalid,
            Error::Ledger(error) => error.code(),
            Error::Unreadable { .. } => Code::FileUnreadable,
            Error::Unwritable { .. } => Code::OutputFailed,
        }
    }
}

const MANIFEST: &str = "manifest.json";
const ROWS: &str = "rows.jsonl";
const BLOBS: &str = "blobs";

fn unwritable(place: &Path) -> impl FnOnce(io::Error) -> Error {
    let place = place.to_path_buf();
    |error| Error::Unwritable { place, error }
}

fn unreadable(place: &Path) -> impl FnOnce(io::Error) -> Error {
    let place = place.to_path_buf();
    |error| Error::Unreadable { place, error }
}

/// Does something that waits for the disk, where it keeps no task from running. What a runtime that ends does not
/// begin any more gives no answer.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    tokio::task::spawn_blocking(work).await.unwrap_or(Err(Error::Ledger(ledger::Error::Closed)))
}
