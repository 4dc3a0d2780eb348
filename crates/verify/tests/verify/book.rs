//! A ledger for tests: what was written, row by row, so that it can be changed and sealed anew.

use countersign_record::chain::{Anchor, Head, genesis};
use countersign_record::id::{MatterId, PrincipalId, RowKind, StreamId};
use countersign_record::json::Json;
use countersign_record::row::{BlobBytes, DataClass, Draft, PackedBlobs, Place, Proof, Row, Sealed, Taint};
use countersign_record::sign::Signature;
use countersign_record::time::Timestamp;
use countersign_testkit::forge::{key, public};
use countersign_verify::packet::{Blob, Entry};
use ed25519_dalek::Signer;
use std::collections::BTreeMap;

/// What somebody wrote.
#[derive(Clone, Debug)]
pub(crate) struct Written {
    pub(crate) stream: String,
    pub(crate) kind: String,
    pub(crate) version: u32,
    pub(crate) at: Timestamp,
    pub(crate) payload: Json,
    pub(crate) blobs: Vec<Vec<u8>>,
    /// Whether it is a decision, which is signed.
    pub(crate) is_decision: bool,
}

/// All that was written to a matter.
#[derive(Clone, Debug)]
pub(crate) struct Book {
    pub(crate) matter: MatterId,
    pub(crate) written: Vec<Written>,
}

/// The person who decides.
pub(crate) const PERSON: u8 = 7;

impl Book {
    /// The rows, each at its place.
    pub(crate) fn rows(&self) -> Vec<Row> {
        let mut rows: Vec<Row> = Vec::new();
        let mut streams: BTreeMap<&str, u64> = BTreeMap::new();
        let mut prev_hash = genesis(&self.matter);
        for written in &self.written {
            let sealed = self.sealed(written);
            let stream_seq = streams.entry(&written.stream).or_default();
            *stream_seq += 1;
            let place = Place { seq: rows.len() as u64 + 1, stream_seq: *stream_seq, prev_hash, cause: None };
            let packed = sealed.packed_blobs();
            let packed = PackedBlobs::try_from(packed.as_slice()).unwrap();
            let row = sealed.at(self.matter.as_str(), place, None, packed).to_row().unwrap();
            prev_hash = row.hash;
            rows.push(row);
        }
        rows
    }

    fn sealed(&self, written: &Written) -> Sealed {
        let blobs = written.blobs.iter().map(|bytes| BlobBytes::new(bytes.clone()).unwrap()).collect();
        // A record that says how secret it is has a row that is so.
        let record = written.payload.get("record");
        let class = record.and_then(|record| record.get("data_class")?.as_str());
        let draft = Draft {
            stream: StreamId::try_from(written.stream.clone()).unwrap(),
            kind: RowKind::try_from(written.kind.clone()).unwrap(),
            version: written.version,
            at: written.at.clone(),
            actor: PrincipalId::try_from("ana".to_owned()).unwrap(),
            proof: Proof::None,
            cause: None,
            data_class: class
                .and_then(|class| DataClass::try_from(class).ok())
                .unwrap_or(DataClass::Internal),
            taint: Taint::UserTrustedBounded,
            payload: written.payload.clone(),
            blobs,
        };
        let sealed = draft.seal().unwrap();
        if !written.is_decision {
            return sealed;
        }
        let signing = key(PERSON);
        let message = sealed.decision(&self.matter).unwrap();
        let signature = Signature::from_bytes(signing.sign(&message).to_bytes());
        sealed.with_proof(Proof::Signed { key: public(&signing), signature })
    }

    /// What a packet shows of the rows: those of the run whole, those of others by their hash.
    pub(crate) fn entries(&self, run: &str) -> Vec<Entry> {
        let is_own = |row: &Row| row.stream.as_str().split_once('/').is_some_and(|(_, name)| name == run);
        let rows = self.rows();
        let last = rows.iter().rposition(is_own).unwrap();
        let first = rows.iter().position(is_own).unwrap();
        let shown = rows.into_iter().take(last + 1).skip(first);
        shown
            .map(|row| match is_own(&row) {
                true => Entry::Whole(Box::new(row)),
                false => Entry::Withheld(Head { seq: row.seq, hash: row.hash }),
            })
            .collect()
    }

    /// The bytes that the rows of a run name.
    pub(crate) fn blobs(&self, run: &str) -> Vec<Blob> {
        let own = self.written.iter().filter(|one| one.stream.ends_with(run));
        own.flat_map(|one| one.blobs.iter().cloned().map(Blob::of)).collect()
    }

    /// The head, signed.
    pub(crate) fn anchor(&self, at: &Timestamp) -> Anchor {
        let last = self.rows().pop().unwrap();
        let (signing, head) = (key(9), Head { seq: last.seq, hash: last.hash });
        let statement = Anchor::statement(&self.matter, head, at, public(&signing)).unwrap();
        let signature = Signature::from_bytes(signing.sign(&statement).to_bytes());
        Anchor::signed(self.matter.clone(), head, at.clone(), public(&signing), signature)
    }
}
