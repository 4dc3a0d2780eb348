//! The ledger in SQLite: one file and one writer thread per matter.
//! Owns: which matters are open, and who may do what with them. Must not: let one matter's request see another's file.

mod append;
mod columns;
mod erase;
mod failure;
mod follow;
mod group;
mod indexes;
mod lock;
mod matter;
mod news;
mod purge;
mod read;
mod readers;
mod restore;
mod schema;
mod state;
mod tables;
mod verify;
mod vigil;
mod wait;
mod writer;

use append::Request;
use countersign_record::access::{MatterAccess, Role};
use countersign_record::chain::{Anchor, Head, Report};
use countersign_record::digest::Digest;
use countersign_record::hold;
use countersign_record::id::{FoldId, MatterId};
use countersign_record::json;
use countersign_record::row::Sealed;
use countersign_record::upcast::Upcasts;
use countersign_runtime::ports::Answer;
use countersign_runtime::ports::ledger::{
    Appended, Batch, Blob, Erasure, Error, Glancer, Journal, Ledger, Page, Piece, Query, Select, Snapshot,
    Visitor,
};
use matter::Matter;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::watch;
use writer::Command;

/// Beyond so many, matters that nobody writes or watches at the moment are closed, with their threads.
const MATTERS_MAX: usize = 256;

/// A data directory of ledgers.
pub struct Sqlite {
    root: PathBuf,
    upcasts: Upcasts,
    matters: Mutex<BTreeMap<MatterId, Arc<Matter>>>,
    patience: Duration,
}

impl Sqlite {
    /// A data directory. Nothing is opened or made before a matter is used.
    #[must_use]
    pub fn open(root: &Path, upcasts: Upcasts) -> Self {
        Sqlite {
            root: root.to_path_buf(),
            upcasts,
            matters: Mutex::new(BTreeMap::new()),
            patience: lock::PATIENCE,
        }
    }

    /// Waits so long for a matter that another process writes, before the request is refused as locked.
    #[must_use]
    pub fn waiting(self, patience: Duration) -> Self {
        Sqlite { patience, ..self }
    }

    fn matter(&self, access: &MatterAccess) -> Arc<Matter> {
        let mut matters = self.matters.lock().unwrap_or_else(PoisonError::into_inner);
        let id = access.matter();
        if let Some(matter) = matters.get(id) {
            return Arc::clone(matter);
        }
        if matters.len() >= MATTERS_MAX {
            matters.retain(|_, matter| Arc::strong_count(matter) > 1 || !matter.is_idle());
        }
        let matter = Arc::new(Matter::new(&self.root, id.clone(), self.patience));
        matters.insert(id.clone(), Arc::clone(&matter));
        matter
    }
}

impl Journal for Sqlite {
    fn append<'a>(&'a self, access: &'a MatterAccess, batch: Batch) -> Answer<'a, Result<Appended, Error>> {
        Box::pin(async move {
            access.require(Role::Operator)?;
            for row in &batch.rows {
                access.require(hold::role_to_append(&row.draft().kind))?;
                // Believed without the erasure, it would let a blob that is held vanish from the next export.
                if row.draft().kind.as_str() == hold::ERASED {
                    return Err(Error::Batch {
                        why: "a receipt for an erased blob is appended by erasing it",
                    });
                }
            }
            let request = Request::new(batch)?;
            self.matter(access).append(request).await
        })
    }

    fn read<'a>(&'a self, access: &'a MatterAccess, query: Query) -> Answer<'a, Result<Page, Error>> {
        Box::pin(async move {
            let (id, upcasts) = (access.matter().clone(), self.upcasts);
            let work =
                move |connection: &rusqlite::Connection, _| read::page(connection, &id, &upcasts, &query);
            self.matter(access).read(work).await
        })
    }

    fn blob<'a>(&'a self, access: &'a MatterAccess, digest: Digest) -> Answer<'a, Result<Blob, Error>> {
        Box::pin(async move {
            self.matter(access).read(move |connection, _| read::blob(connection, digest)).await
        })
    }
}

impl Ledger for Sqlite {
    fn erase<'a>(
        &'a self,
        access: &'a MatterAccess,
        digest: Digest,
        receipt: Sealed,
    ) -> Answer<'a, Result<Erasure, Error>> {
        Box::pin(async move {
            access.require(Role::Admin)?;
            let payload = json::parse(receipt.payload()).ok();
            let kind = receipt.draft().kind.as_str();
            if payload.and_then(|payload| hold::erased_digest(kind, &payload)) != Some(digest) {
                return Err(Error::Batch {
                    why: "the receipt must be of the kind blob.erased and name the digest",
                });
            }
            if receipt.draft().cause.is_some() || !receipt.draft().blobs.is_empty() {
                return Err(Error::Batch {
                    why: "the receipt for an erased blob has neither a cause nor blobs",
                });
            }
            let receipt = Box::new(receipt);
            self.matter(access).write(|reply| Command::Erase { digest, receipt, reply }).await
        })
    }

    fn head<'a>(&'a self, access: &'a MatterAccess) -> Answer<'a, Result<Head, Error>> {
        Box::pin(async move { self.matter(access).read(|_, head| Ok(head)).await })
    }

    fn scan<'a>(
        &'a self,
        access: &'a MatterAccess,
        after: u64,
        visitor: Visitor,
    ) -> Answer<'a, Result<(), Error>> {
        Box::pin(async move {
            self.matter(access).read(move |connection, _| read::scan(connection, after, visitor)).await
        })
    }

    fn glance<'a>(
        &'a self,
        access: &'a MatterAccess,
        after: u64,
        glancer: Glancer,
    ) -> Answer<'a, Result<(), Error>> {
        Box::pin(async move {
            self.matter(access).read(move |connection, _| read::glance(connection, after, glancer)).await
        })
    }

    fn glance_at<'a>(
        &'a self,
        access: &'a MatterAccess,
        select: Select,
        up_to: u64,
        glancer: Glancer,
    ) -> Answer<'a, Result<(), Error>> {
        Box::pin(async move {
            let matter = self.matter(access);
            matter.read(move |connection, _| read::glance_at(connection, &select, up_to, glancer)).await
        })
    }

    fn watch<'a>(&'a self, access: &'a MatterAccess) -> Answer<'a, Result<watch::Receiver<u64>, Error>> {
        Box::pin(async move { self.matter(access).watch().await })
    }

    fn keep<'a>(
        &'a self,
        access: &'a MatterAccess,
        fold: &'a FoldId,
        version: u32,
        snapshot: Snapshot,
    ) -> Answer<'a, Result<(), Error>> {
        Box::pin(async move {
            // A kept state is what others will be shown, so a reader may not keep one.
            access.require(Role::Operator)?;
            let matter = self.matter(access);
            // Only a ledger with rows has anything to fold, and keeping must not make one.
            matter.read(|_, _| Ok(())).await?;
            let fold = fold.clone();
            matter.write(|reply| Command::Keep { fold, version, snapshot, reply }).await
        })
    }

    fn kept<'a>(
        &'a self,
        access: &'a MatterAccess,
        fold: &'a FoldId,
        version: u32,
    ) -> Answer<'a, Result<Option<Snapshot>, Error>> {
        Box::pin(async move {
            let (id, fold) = (access.matter().clone(), fold.clone());
            self.matter(access).read(move |connection, _| read::kept(connection, &id, &fold, version)).await
        })
    }

    fn verify<'a>(
        &'a self,
        access: &'a MatterAccess,
        anchors: Vec<Anchor>,
    ) -> Answer<'a, Result<Report, Error>> {
        Box::pin(async move {
            let id = access.matter().clone();
            let work = move |connection: &rusqlite::Connection, head| {
                verify::verify(connection, &id, head, &anchors)
            };
            self.matter(access).read(work).await
        })
    }

    fn restore<'a>(
        &'a self,
        access: &'a MatterAccess,
        pieces: Box<dyn Iterator<Item = Result<Piece, Error>> + Send>,
    ) -> Answer<'a, Result<Head, Error>> {
        Box::pin(async move {
            access.require(Role::Admin)?;
            self.matter(access).write(|reply| Command::Restore { pieces, reply }).await
        })
    }
}
