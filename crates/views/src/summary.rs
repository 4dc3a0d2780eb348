//! What is in a ledger, at a glance.
//! Owns: the counts. Must not: grow with the number of rows or streams; only with the number of kinds.

use crate::Fold;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use countersign_record::canonical;
use countersign_record::fields::Fields;
use countersign_record::json::{self, Json};
use countersign_record::row::{Proof, RowRef};
use serde::Serialize;

/// Counts over the rows of one matter.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// Rows.
    pub rows: u64,
    /// Streams: places in a stream begin at 1, so each has one row there.
    pub streams: u64,
    /// Blobs named, counted once per naming.
    pub blobs: u64,
    /// Decisions that were signed.
    pub signed: u64,
    /// Decisions of people without a key.
    pub self_asserted: u64,
    /// The first row's time, as written.
    pub first_at: Option<String>,
    /// The last row's time, as written.
    pub last_at: Option<String>,
    /// Rows of each kind.
    pub kinds: BTreeMap<String, u64>,
}

impl Fold for Summary {
    const NAME: &'static str = "summary";
    const VERSION: u32 = 1;

    fn apply(&mut self, row: &RowRef<'_>) {
        self.rows += 1;
        self.streams += u64::from(row.stream_seq == 1);
        self.blobs += row.blobs.iter().count() as u64;
        match row.proof {
            Proof::None => {}
            Proof::SelfAsserted => self.self_asserted += 1,
            Proof::Signed { .. } => self.signed += 1,
        }
        if self.first_at.is_none() {
            self.first_at = Some(row.at.into());
        }
        match &mut self.last_at {
            Some(last) if last.len() == row.at.len() => last.replace_range(.., row.at),
            last => *last = Some(row.at.into()),
        }
        match self.kinds.get_mut(row.kind) {
            Some(count) => *count += 1,
            None => drop(self.kinds.insert(row.kind.into(), 1)),
        }
    }

    fn save(&self) -> Vec<u8> {
        // Counts of rows are below 2^53 and the rest is text, so this has a canonical form; if it ever had not,
        // an empty state is simply folded anew.
        canonical::to_bytes_of(self).unwrap_or_default()
    }

    fn load(bytes: &[u8]) -> Option<Self> {
        let value = json::parse(bytes).ok()?;
        let mut fields = Fields::of(&value).ok()?;
        let [rows, streams, blobs, signed, self_asserted] =
            ["rows", "streams", "blobs", "signed", "self_asserted"].map(|name| fields.integer(name));
        let [first_at, last_at] = ["first_at", "last_at"].map(|name| fields.optional(name, Fields::text));
        let counts = fields.free_object("kinds")?;
        let kinds: Option<BTreeMap<String, u64>> = counts
            .iter()
            .map(|(kind, count)| match count {
                Json::Number(number) => number.as_u64().map(|count| (String::from(kind), count)),
                Json::Null | Json::Bool(_) | Json::String(_) | Json::Array(_) | Json::Object(_) => None,
            })
            .collect();
        Some(Summary {
            rows: rows?,
            streams: streams?,
            blobs: blobs?,
            signed: signed?,
            self_asserted: self_asserted?,
            first_at,
            last_at,
            kinds: kinds?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use countersign_record::digest::Digest;
    use countersign_record::row::{DataClass, PackedBlobs, Taint};
    use proptest::prelude::*;

    fn row<'a>(stream_seq: u64, kind: &'a str, at: &'a str, proof: Proof) -> RowRef<'a> {
        let hash = Digest::of(b"");
        RowRef {
            seq: 1,
            stream: "s",
            stream_seq,
            kind,
            version: 1,
            at,
            actor: "ana",
            proof,
            cause: None,
            idem_key: None,
            data_class: DataClass::Internal,
            taint: Taint::Unclassified,
            payload: b"null",
            payload_hash: hash,
            blobs: PackedBlobs::try_from([].as_slice()).unwrap(),
            prev_hash: hash,
            hash,
        }
    }

    proptest! {
        /// Stopping anywhere, keeping the state and going on gives the bytes of folding in one go.
        #[test]
        fn kept_up_to_date_is_folded_anew(rows in proptest::collection::vec((1_u64..3, 0_usize..3, 0_usize..2), 0..40), stop in 0_usize..40) {
            let kinds = ["external.note", "hold.placed", "blob.erased"];
            let times = ["2025-12-10T10:00:00Z", "2025-12-10T10:00:00.123+05:30"];
            let mut whole = Summary::default();
            let mut kept = Summary::default();
            for (at, (stream_seq, kind, time)) in rows.iter().enumerate() {
                let proof = if kind % 2 == 0 { Proof::None } else { Proof::SelfAsserted };
                let row = row(*stream_seq, kinds[*kind], times[*time], proof);
                whole.apply(&row);
                if at == stop {
                    kept = Summary::load(&kept.save()).unwrap();
                }
                kept.apply(&row);
            }
            prop_assert_eq!(&kept, &whole);
            prop_assert_eq!(kept.save(), whole.save());
            prop_assert_eq!(Summary::load(&whole.save()), Some(whole));
        }

        #[test]
        fn a_state_that_is_none_is_refused(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
            prop_assert!(Summary::load(&bytes).is_none());
        }
    }
}
