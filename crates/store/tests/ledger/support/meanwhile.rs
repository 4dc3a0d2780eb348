//! A ledger to which something happens while somebody uses it.
//! Owns: when it happens. Must not: answer anything itself.

use countersign_record::access::MatterAccess;
use countersign_record::chain::{Anchor, Head, Report};
use countersign_record::digest::Digest;
use countersign_record::id::FoldId;
use countersign_record::row::Sealed;
use countersign_runtime::ports::Answer;
use countersign_runtime::ports::ledger::{
    Appended, Batch, Blob, Erasure, Error, Journal, Ledger, Page, Piece, Query, Snapshot, Visitor,
};
use std::sync::Mutex;
use tokio::sync::watch;

/// Before which call it happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Before {
    Scan,
    Blob,
}

/// A ledger, and what happens once before the first call of one kind.
pub(crate) struct Meanwhile<'a, L> {
    ledger: &'a L,
    before: Before,
    happens: Mutex<Option<Answer<'a, ()>>>,
}

impl<'a, L: Ledger> Meanwhile<'a, L> {
    pub(crate) fn new(ledger: &'a L, before: Before, happens: impl Future<Output = ()> + Send + 'a) -> Self {
        Meanwhile { ledger, before, happens: Mutex::new(Some(Box::pin(happens))) }
    }

    async fn happen(&self, before: Before) {
        let happens = self.happens.lock().unwrap().take_if(|_| self.before == before);
        if let Some(happens) = happens {
            happens.await;
        }
    }
}

impl<L: Ledger> Journal for Meanwhile<'_, L> {
    fn append<'a>(&'a self, access: &'a MatterAccess, batch: Batch) -> Answer<'a, Result<Appended, Error>> {
        self.ledger.append(access, batch)
    }

    fn read<'a>(&'a self, access: &'a MatterAccess, query: Query) -> Answer<'a, Result<Page, Error>> {
        self.ledger.read(access, query)
    }

    fn blob<'a>(&'a self, access: &'a MatterAccess, digest: Digest) -> Answer<'a, Result<Blob, Error>> {
        Box::pin(async move {
            self.happen(Before::Blob).await;
            self.ledger.blob(access, digest).await
        })
    }
}

impl<L: Ledger> Ledger for Meanwhile<'_, L> {
    fn erase<'a>(
        &'a self,
        access: &'a MatterAccess,
        digest: Digest,
        receipt: Sealed,
    ) -> Answer<'a, Result<Erasure, Error>> {
        self.ledger.erase(access, digest, receipt)
    }

    fn head<'a>(&'a self, access: &'a MatterAccess) -> Answer<'a, Result<Head, Error>> {
        self.ledger.head(access)
    }

    fn scan<'a>(
        &'a self,
        access: &'a MatterAccess,
        after: u64,
        visitor: Visitor,
    ) -> Answer<'a, Result<(), Error>> {
        Box::pin(async move {
            self.happen(Before::Scan).await;
            self.ledger.scan(access, after, visitor).await
        })
    }

    fn watch<'a>(&'a self, access: &'a MatterAccess) -> Answer<'a, Result<watch::Receiver<u64>, Error>> {
        self.ledger.watch(access)
    }

    fn keep<'a>(
        &'a self,
        access: &'a MatterAccess,
        fold: &'a FoldId,
        version: u32,
        snapshot: Snapshot,
    ) -> Answer<'a, Result<(), Error>> {
        self.ledger.keep(access, fold, version, snapshot)
    }

    fn kept<'a>(
        &'a self,
        access: &'a MatterAccess,
        fold: &'a FoldId,
        version: u32,
    ) -> Answer<'a, Result<Option<Snapshot>, Error>> {
        self.ledger.kept(access, fold, version)
    }

    fn verify<'a>(
        &'a self,
        access: &'a MatterAccess,
        anchors: Vec<Anchor>,
    ) -> Answer<'a, Result<Report, Error>> {
        self.ledger.verify(access, anchors)
    }

    fn restore<'a>(
        &'a self,
        access: &'a MatterAccess,
        pieces: Box<dyn Iterator<Item = Result<Piece, Error>> + Send>,
    ) -> Answer<'a, Result<Head, Error>> {
        self.ledger.restore(access, pieces)
    }
}
