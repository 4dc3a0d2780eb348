//! A journal in memory: what is written into it is gone with it.
//! Owns: places and hashes of rows, as a ledger gives them. Must not: touch the disk.

use crate::ports::Answer;
use crate::ports::ledger::{Appended, Batch, Blob, Error, Journal, Page, Query, Stamp};
use countersign_record::access::MatterAccess;
use countersign_record::chain::genesis;
use countersign_record::digest::Digest;
use countersign_record::id::StreamId;
use countersign_record::json::{self, Json};
use countersign_record::row::{PackedBlobs, Place, Sealed};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Rows that are gone with the process.
#[derive(Default)]
pub struct Scratch(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    head: Option<Digest>,
    rows: Vec<Sealed>,
    ends: BTreeMap<StreamId, u64>,
}

impl Scratch {
    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The payloads of the rows of a kind, each with the document that it is about, in order.
    pub(super) fn told(&self, kind: &str) -> Vec<(Json, Json)> {
        let kept = self.lock();
        let rows = kept.rows.iter().filter(|row| row.draft().kind.as_str() == kind);
        let one = |row: &Sealed| {
            let content = row.draft().blobs.first()?;
            Some((json::parse(row.payload()).ok()?, json::parse(content.bytes()).ok()?))
        };
        rows.filter_map(one).collect()
    }
}

impl Kept {
    fn append(&mut self, access: &MatterAccess, batch: Batch) -> Result<Appended, Error> {
        for (stream, expected) in batch.expected {
            let found = self.ends.get(&stream).copied().unwrap_or(0);
            if found != expected {
                return Err(Error::Conflict { stream, expected, found });
            }
        }
        let mut stamps = Vec::with_capacity(batch.rows.len());
        for row in batch.rows {
            let seq = self.rows.len() as u64 + 1;
            let last = self.ends.entry(row.draft().stream.clone()).or_insert(0);
            *last += 1;
            let prev_hash = self.head.unwrap_or_else(|| genesis(access.matter()));
            let place = Place { seq, stream_seq: *last, prev_hash, cause: None };
            let packed = row.packed_blobs();
            let packed = PackedBlobs::try_from(packed.as_slice())
                .map_err(|error| Error::RowCorrupt { seq, why: error.to_string() })?;
            let hash = row.at(access.matter().as_str(), place, None, packed).hash;
            self.head = Some(hash);
            stamps.push(Stamp { seq, stream_seq: place.stream_seq, hash });
            self.rows.push(row);
        }
        Ok(Appended { rows: stamps, repeated: false })
    }
}

impl Journal for Scratch {
    fn append<'a>(&'a self, access: &'a MatterAccess, batch: Batch) -> Answer<'a, Result<Appended, Error>> {
        let appended = self.lock().append(access, batch);
        Box::pin(std::future::ready(appended))
    }

    /// Nothing was ever written here that could be read: the purse of the matter is empty, and has no cap.
    fn read<'a>(&'a self, _: &'a MatterAccess, _: Query) -> Answer<'a, Result<Page, Error>> {
        Box::pin(std::future::ready(Ok(Page { rows: Vec::new(), next: None })))
    }

    fn blob<'a>(&'a self, _: &'a MatterAccess, _: Digest) -> Answer<'a, Result<Blob, Error>> {
        Box::pin(std::future::ready(Err(Error::Closed)))
    }
}
