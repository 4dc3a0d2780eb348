//! A journal in memory.
//! Owns: chaining and keeping rows as a ledger does. Must not: touch the disk.

use countersign_record::access::MatterAccess;
use countersign_record::chain::genesis;
use countersign_record::digest::Digest;
use countersign_record::id::StreamId;
use countersign_record::row::{PackedBlobs, Place, Sealed};
use countersign_runtime::ports::Answer;
use countersign_runtime::ports::ledger::{Appended, Batch, Blob, Error, Journal, Page, Query, Stamp};
use std::collections::BTreeMap;
use std::sync::Mutex;

/// Rows that are gone with the process.
#[derive(Default)]
pub(crate) struct InMemory(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    head: Option<Digest>,
    rows: Vec<(Stamp, Sealed)>,
    ends: BTreeMap<StreamId, u64>,
}

impl InMemory {
    /// Begins anew.
    pub(crate) fn forget(&self) {
        *self.0.lock().unwrap() = Kept::default();
    }

    /// How many handoffs are kept.
    pub(crate) fn handoffs(&self) -> u64 {
        let kept = self.0.lock().unwrap();
        kept.rows.iter().filter(|(_, row)| row.draft().kind.as_str() == "run.returned").count() as u64
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
            let last = match self.ends.get_mut(&row.draft().stream) {
                Some(last) => last,
                None => self.ends.entry(row.draft().stream.clone()).or_insert(0),
            };
            *last += 1;
            let place = Place {
                seq: self.rows.len() as u64 + 1,
                stream_seq: *last,
                prev_hash: self.head.unwrap_or_else(|| genesis(access.matter())),
                cause: None,
            };
            let packed = row.packed_blobs();
            let packed = PackedBlobs::try_from(packed.as_slice()).unwrap();
            let hash = row.at(access.matter().as_str(), place, None, packed).hash;
            let stamp = Stamp { seq: place.seq, stream_seq: place.stream_seq, hash };
            self.head = Some(hash);
            self.rows.push((stamp, row));
            stamps.push(stamp);
        }
        Ok(Appended { rows: stamps, repeated: false })
    }
}

impl Journal for InMemory {
    fn append<'a>(&'a self, access: &'a MatterAccess, batch: Batch) -> Answer<'a, Result<Appended, Error>> {
        Box::pin(std::future::ready(self.0.lock().unwrap().append(access, batch)))
    }

    fn read<'a>(&'a self, _: &'a MatterAccess, _: Query) -> Answer<'a, Result<Page, Error>> {
        Box::pin(std::future::ready(Err(Error::Closed)))
    }

    fn blob<'a>(&'a self, _: &'a MatterAccess, _: Digest) -> Answer<'a, Result<Blob, Error>> {
        Box::pin(std::future::ready(Err(Error::Closed)))
    }
}
