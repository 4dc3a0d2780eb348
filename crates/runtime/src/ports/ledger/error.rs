//! Why a ledger says no.
//! Owns: the refusals and failures of every store, in terms a caller can act on. Must not: name a database.

use countersign_record::access::Refused;
use countersign_record::chain::Finding;
use countersign_record::code::Code;
use countersign_record::digest::Digest;
use countersign_record::id::{HoldId, IdemKey, MatterId, StreamId};
use countersign_record::row::BadLine;
use countersign_record::upcast::TooNew;

/// Why a ledger says no. Nothing was written, whatever the variant.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The caller may not.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// The stream has moved on.
    #[error("stream {stream} ends at {found}, not at {expected}")]
    Conflict {
        /// The stream.
        stream: StreamId,
        /// Where the caller thought it ends.
        expected: u64,
        /// Where it ends.
        found: u64,
    },
    /// The key belongs to another request.
    #[error("the idempotency key {key} belongs to another request, which wrote row {first_seq}")]
    IdemMismatch {
        /// The key.
        key: IdemKey,
        /// The first row of that request.
        first_seq: u64,
    },
    /// The batch is empty, too long, or has an effect before its cause.
    #[error("{why}")]
    Batch {
        /// Which of them.
        why: &'static str,
    },
    /// A row was written by a newer version.
    #[error(transparent)]
    RowTooNew(#[from] TooNew),
    /// A stored row can't be read.
    #[error("row {seq} can't be read: {why}")]
    RowCorrupt {
        /// Which.
        seq: u64,
        /// Why.
        why: String,
    },
    /// A legal hold keeps the blob.
    #[error("blob {digest} is kept by the legal hold {hold}")]
    Held {
        /// The blob.
        digest: Digest,
        /// The hold.
        hold: HoldId,
    },
    /// The blob was erased before.
    #[error("blob {digest} was erased; row {receipt} is the receipt")]
    Erased {
        /// The blob.
        digest: Digest,
        /// The receipt.
        receipt: u64,
    },
    /// No row names this blob.
    #[error("no row names the blob {digest}")]
    BlobUnknown {
        /// The digest.
        digest: Digest,
    },
    /// The blob's bytes are not those it is named for.
    #[error("the bytes of blob {digest} were changed")]
    BlobChanged {
        /// The digest.
        digest: Digest,
    },
    /// A row names the blob, and its bytes are not there.
    #[error("the bytes of blob {digest} are missing")]
    BlobMissing {
        /// The digest.
        digest: Digest,
    },
    /// Nothing was ever appended to the matter.
    #[error("there is no ledger for the matter {matter}")]
    Missing {
        /// The matter.
        matter: MatterId,
    },
    /// The matter has rows already.
    #[error("the matter {matter} has a ledger already")]
    NotEmpty {
        /// The matter.
        matter: MatterId,
    },
    /// A line of an archive is no row.
    #[error("line {line}: {why}")]
    BadLine {
        /// Which, from 1.
        line: u64,
        /// Why.
        why: BadLine,
    },
    /// An archive that does not hold together.
    #[error("{why}")]
    Archive {
        /// Why.
        why: String,
    },
    /// An archive whose rows don't form the chain they claim.
    #[error("{}", .finding.message())]
    Damaged {
        /// The first damage.
        finding: Finding,
    },
    /// Another process writes to this matter.
    #[error("another process{} writes to the matter {matter}", .pid.map(|pid| format!(" ({pid})")).unwrap_or_default())]
    Locked {
        /// The matter.
        matter: MatterId,
        /// Which process, where it said so.
        pid: Option<u32>,
    },
    /// There is no space left.
    #[error("there is no space left for the ledger at {place}")]
    DiskFull {
        /// Where.
        place: String,
    },
    /// The place can't be written.
    #[error("{place} can't be written")]
    ReadOnly {
        /// Where.
        place: String,
    },
    /// The file is damaged or is something else.
    #[error("{place} is damaged or no ledger: {why}")]
    Corrupt {
        /// Where.
        place: String,
        /// The store's own words.
        why: String,
    },
    /// The file was written by a newer version.
    #[error("{place} has format {found}; this build reads up to {newest}")]
    TooNew {
        /// Where.
        place: String,
        /// Its format.
        found: u32,
        /// The newest that can be read.
        newest: u32,
    },
    /// The operating system refused.
    #[error("{place}: {why}")]
    Io {
        /// Where.
        place: String,
        /// Its own words.
        why: String,
    },
    /// The writer has ended.
    #[error("the ledger has stopped")]
    Closed,
}

impl Error {
    /// The stable code.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            Error::Refused(refused) => refused.code(),
            Error::Conflict { .. } => Code::LedgerConflict,
            Error::IdemMismatch { .. } => Code::LedgerIdemMismatch,
            Error::Batch { .. } => Code::LedgerBatch,
            Error::RowTooNew(too_new) => too_new.code(),
            Error::RowCorrupt { .. } | Error::Corrupt { .. } => Code::LedgerCorrupt,
            Error::Held { .. } => Code::BlobHeld,
            Error::Erased { .. } => Code::BlobErased,
            Error::BlobUnknown { .. } => Code::BlobUnknown,
            Error::BlobChanged { .. } => Code::BlobChanged,
            Error::BlobMissing { .. } => Code::BlobMissing,
            Error::Missing { .. } => Code::LedgerMissing,
            Error::NotEmpty { .. } => Code::LedgerNotEmpty,
            Error::BadLine { why, .. } => why.code(),
            Error::Archive { .. } => Code::ArchiveInvalid,
            Error::Damaged { finding } => finding.damage.code(),
            Error::Locked { .. } => Code::LedgerLocked,
            Error::DiskFull { .. } => Code::LedgerDiskFull,
            Error::ReadOnly { .. } => Code::LedgerReadOnly,
            Error::TooNew { .. } => Code::LedgerTooNew,
            Error::Io { .. } => Code::LedgerIo,
            Error::Closed => Code::LedgerClosed,
        }
    }
}
