//! The ledger port: append, read, follow, erase, verify.
//! Owns: the trait that every store implements and the conformance suite tests. Must not: say how it is stored.

mod error;

pub use error::Error;

use super::Answer;
use countersign_record::access::MatterAccess;
use countersign_record::chain::{Anchor, Head, Report};
use countersign_record::digest::Digest;
use countersign_record::id::{FoldId, IdemKey, RowKind, StreamId};
use countersign_record::row::{BlobBytes, Row, RowRef, Sealed};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use tokio::sync::watch;

/// The most rows that one batch may hold.
pub const BATCH_ROWS_MAX: usize = 50_000;
/// The most rows that one page may hold.
pub const PAGE_ROWS_MAX: usize = 1_000;

/// Rows that are appended together or not at all.
#[derive(Clone, Debug)]
pub struct Batch {
    /// The rows, in order.
    pub rows: Vec<Sealed>,
    /// Where streams are expected to end (0: the stream is new). A stream that is not named may end anywhere.
    pub expected: BTreeMap<StreamId, u64>,
    /// The request's key: the same key and the same request give the first result again.
    pub idem_key: Option<IdemKey>,
}

/// Where an appended row stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// Place in the matter.
    pub seq: u64,
    /// Place in the stream.
    pub stream_seq: u64,
    /// The row's hash.
    pub hash: Digest,
}

/// What an append gives: the rows are durable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Appended {
    /// One per row, in order.
    pub rows: Vec<Stamp>,
    /// Whether the request had been appended before.
    pub repeated: bool,
}

/// What an erasure gives: the receipt is durable, and no reader is given the bytes again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Erasure {
    /// The receipt.
    pub receipt: Stamp,
    /// Whether no copy of the bytes is left on the disk. A reader that began before, or a failing disk, can keep
    /// one in the store's log; it goes as soon as that ends, or when the ledger is next opened to write.
    pub is_purged: bool,
}

/// Which rows to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Select {
    /// Every row.
    All,
    /// The rows of a stream.
    Stream(StreamId),
    /// The rows of a kind.
    Kind(RowKind),
}

/// A page of rows to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    /// Which rows.
    pub select: Select,
    /// Only rows after this place (0: from the start).
    pub after: u64,
    /// Only rows up to and with this place.
    pub up_to: u64,
    /// At most so many; [`PAGE_ROWS_MAX`] is the most that is given.
    pub limit: usize,
}

/// A page of rows, in order of place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// The rows, in today's shape.
    pub rows: Vec<Row>,
    /// Read on with `after` set to this, if there may be more.
    pub next: Option<u64>,
}

/// A blob that a row names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Blob {
    /// Its bytes, their digest checked.
    Present(Vec<u8>),
    /// It was erased.
    Erased {
        /// The row that is the receipt.
        receipt: u64,
    },
}

/// A fold's state at a row. One whose `hash` is not the row's is of another history and is not given back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// The last row that was folded.
    pub head: Head,
    /// The state.
    pub bytes: Vec<u8>,
}

/// What a whole ledger is made of, for [`Ledger::restore`]: blobs first, then rows in order of place.
#[derive(Clone, Debug)]
pub enum Piece {
    /// A blob.
    Blob(BlobBytes),
    /// A row, exactly as it was exported.
    Row(Box<Row>),
}

/// Sees stored rows, exactly as they are stored; `Err` is a row that can't be decoded, and what is wrong.
pub type Visitor = Box<dyn FnMut(u64, Result<RowRef<'_>, String>) -> ControlFlow<()> + Send>;

/// What of a stored row most readers look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Glance<'a> {
    /// Place in the matter.
    pub seq: u64,
    /// The stream.
    pub stream: &'a str,
    /// Place in the stream.
    pub stream_seq: u64,
    /// What happened.
    pub kind: &'a str,
    /// When.
    pub at: &'a str,
    /// The payload's canonical bytes.
    pub payload: &'a [u8],
}

impl<'a> From<RowRef<'a>> for Glance<'a> {
    fn from(row: RowRef<'a>) -> Self {
        let RowRef { seq, stream, stream_seq, kind, at, payload, .. } = row;
        Glance { seq, stream, stream_seq, kind, at, payload }
    }
}

/// Sees stored rows at a glance; `Err` is one of which that much can't be decoded, and what is wrong.
pub type Glancer = Box<dyn FnMut(u64, Result<Glance<'_>, String>) -> ControlFlow<()> + Send>;

/// What work is written down in: rows are appended, and read again.
pub trait Journal: Send + Sync {
    /// Appends the batch. When this returns, the rows are durable.
    fn append<'a>(&'a self, access: &'a MatterAccess, batch: Batch) -> Answer<'a, Result<Appended, Error>>;

    /// A page of rows, in today's shape.
    fn read<'a>(&'a self, access: &'a MatterAccess, query: Query) -> Answer<'a, Result<Page, Error>>;

    /// A blob's bytes.
    fn blob<'a>(&'a self, access: &'a MatterAccess, digest: Digest) -> Answer<'a, Result<Blob, Error>>;
}

/// An append-only record, one chain per matter. A matter that is not there yet reads as [`Error::Missing`];
/// the first append makes it.
pub trait Ledger: Journal {
    /// Erases a blob and appends `receipt`, whose kind is `blob.erased`, in one step. A legal hold refuses it.
    fn erase<'a>(
        &'a self,
        access: &'a MatterAccess,
        digest: Digest,
        receipt: Sealed,
    ) -> Answer<'a, Result<Erasure, Error>>;

    /// The last row.
    fn head<'a>(&'a self, access: &'a MatterAccess) -> Answer<'a, Result<Head, Error>>;

    /// Shows every row from `after` on as it is stored, one at a time, in bounded memory.
    fn scan<'a>(
        &'a self,
        access: &'a MatterAccess,
        after: u64,
        visitor: Visitor,
    ) -> Answer<'a, Result<(), Error>>;

    /// Shows every row from `after` on at a glance, in bounded memory: as [`Ledger::scan`] does, for less.
    fn glance<'a>(
        &'a self,
        access: &'a MatterAccess,
        after: u64,
        mut glancer: Glancer,
    ) -> Answer<'a, Result<(), Error>> {
        self.scan(access, after, Box::new(move |seq, row| glancer(seq, row.map(Glance::from))))
    }

    /// Shows the rows of a selection up to and with `up_to` at a glance, in order and in bounded memory.
    fn glance_at<'a>(
        &'a self,
        access: &'a MatterAccess,
        select: Select,
        up_to: u64,
        mut glancer: Glancer,
    ) -> Answer<'a, Result<(), Error>> {
        let chosen = move |seq: u64, row: Result<Glance<'_>, String>| {
            if seq > up_to {
                return ControlFlow::Break(());
            }
            let is_chosen = row.as_ref().map_or(true, |row| match &select {
                Select::All => true,
                Select::Kind(kind) => row.kind == kind.as_str(),
                Select::Stream(stream) => row.stream == stream.as_str(),
            });
            if is_chosen { glancer(seq, row) } else { ControlFlow::Continue(()) }
        };
        self.glance(access, 0, Box::new(chosen))
    }

    /// The place of the last row, and a wake-up at each change. No polling.
    fn watch<'a>(&'a self, access: &'a MatterAccess) -> Answer<'a, Result<watch::Receiver<u64>, Error>>;

    /// Keeps a fold's state.
    fn keep<'a>(
        &'a self,
        access: &'a MatterAccess,
        fold: &'a FoldId,
        version: u32,
        snapshot: Snapshot,
    ) -> Answer<'a, Result<(), Error>>;

    /// The state of a fold, if one of this version and of this very history was kept.
    fn kept<'a>(
        &'a self,
        access: &'a MatterAccess,
        fold: &'a FoldId,
        version: u32,
    ) -> Answer<'a, Result<Option<Snapshot>, Error>>;

    /// Checks everything that is stored: the chain, the streams, the signatures, the blobs, the head, and the
    /// anchors, whose signatures the caller has checked.
    fn verify<'a>(
        &'a self,
        access: &'a MatterAccess,
        anchors: Vec<Anchor>,
    ) -> Answer<'a, Result<Report, Error>>;

    /// Makes an empty matter's ledger from an export, whole or not at all; the chain is checked on the way.
    fn restore<'a>(
        &'a self,
        access: &'a MatterAccess,
        pieces: Box<dyn Iterator<Item = Result<Piece, Error>> + Send>,
    ) -> Answer<'a, Result<Head, Error>>;
}
