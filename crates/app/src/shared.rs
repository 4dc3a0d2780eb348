//! The ledger for work that takes long: opened for each thing that is asked of it.
//! Owns: giving the matter back after each append, and waiting for whoever has it. Must not: hold it in between.
//!
//! A turn may wait minutes for a model. If it had the ledger all that time, nobody could take a grant back.

use countersign_record::access::MatterAccess;
use countersign_record::chain::{Anchor, Head, Report};
use countersign_record::digest::Digest;
use countersign_record::id::FoldId;
use countersign_record::row::Sealed;
use countersign_record::upcast;
use countersign_runtime::ports::Answer;
use countersign_runtime::ports::ledger::{
    Appended, Batch, Blob, Erasure, Error, Ledger, Page, Piece, Query, Snapshot, Visitor,
};
use countersign_store::Sqlite;
use std::path::PathBuf;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::Instant;

/// How long others are waited for.
const WAIT_MAX: Duration = Duration::from_secs(20);
/// How often it is tried.
const TRY_EVERY: Duration = Duration::from_millis(10);

/// A data directory of ledgers that others write too.
pub(crate) struct Shared {
    root: PathBuf,
    /// For reading, which takes nothing from anybody.
    reader: Sqlite,
}

impl Shared {
    pub(crate) fn at(root: PathBuf) -> Self {
        Shared { reader: Sqlite::open(&root, upcast::LEDGER), root }
    }

    fn writer(&self) -> Sqlite {
        Sqlite::open(&self.root, upcast::LEDGER)
    }
}

impl Ledger for Shared {
    fn append<'a>(&'a self, access: &'a MatterAccess, batch: Batch) -> Answer<'a, Result<Appended, Error>> {
        Box::pin(async move {
            let until = Instant::now() + WAIT_MAX;
            loop {
                let writer = self.writer();
                match writer.append(access, batch.clone()).await {
                    Err(Error::Locked { .. }) if Instant::now() < until => {
                        tokio::time::sleep(TRY_EVERY).await
                    }
                    answer => return answer,
                }
            }
        })
    }

    fn erase<'a>(
        &'a self,
        access: &'a MatterAccess,
        digest: Digest,
        receipt: Sealed,
    ) -> Answer<'a, Result<Erasure, Error>> {
        Box::pin(async move { self.writer().erase(access, digest, receipt).await })
    }

    fn head<'a>(&'a self, access: &'a MatterAccess) -> Answer<'a, Result<Head, Error>> {
        self.reader.head(access)
    }

    fn read<'a>(&'a self, access: &'a MatterAccess, query: Query) -> Answer<'a, Result<Page, Error>> {
        self.reader.read(access, query)
    }

    fn scan<'a>(
        &'a self,
        access: &'a MatterAccess,
        after: u64,
        visitor: Visitor,
    ) -> Answer<'a, Result<(), Error>> {
        self.reader.scan(access, after, visitor)
    }

    fn blob<'a>(&'a self, access: &'a MatterAccess, digest: Digest) -> Answer<'a, Result<Blob, Error>> {
        self.reader.blob(access, digest)
    }

    fn watch<'a>(&'a self, access: &'a MatterAccess) -> Answer<'a, Result<watch::Receiver<u64>, Error>> {
        self.reader.watch(access)
    }

    fn keep<'a>(
        &'a self,
        access: &'a MatterAccess,
        fold: &'a FoldId,
        version: u32,
        snapshot: Snapshot,
    ) -> Answer<'a, Result<(), Error>> {
        Box::pin(async move { self.writer().keep(access, fold, version, snapshot).await })
    }

    fn kept<'a>(
        &'a self,
        access: &'a MatterAccess,
        fold: &'a FoldId,
        version: u32,
    ) -> Answer<'a, Result<Option<Snapshot>, Error>> {
        self.reader.kept(access, fold, version)
    }

    fn verify<'a>(
        &'a self,
        access: &'a MatterAccess,
        anchors: Vec<Anchor>,
    ) -> Answer<'a, Result<Report, Error>> {
        self.reader.verify(access, anchors)
    }

    fn restore<'a>(
        &'a self,
        access: &'a MatterAccess,
        pieces: Box<dyn Iterator<Item = Result<Piece, Error>> + Send>,
    ) -> Answer<'a, Result<Head, Error>> {
        Box::pin(async move { self.writer().restore(access, pieces).await })
    }
}
