//! A row as a store holds it, borrowed from the store.
//! Owns: the bytes that a row's hash covers. Must not: allocate where a million rows are verified.

use super::draft::{Decision, decision_message};
use super::{BlobBytes, BlobRef, DataClass, Proof, Row, Sealed, Taint};
use crate::canonical::{Hasher, Sink, write_string};
use crate::code::Code;
use crate::digest::Digest;
use crate::id::{IdemKey, NotAnId};
use crate::json::{self, ParseError};
use crate::sign::{Forged, PublicKey};
use crate::time::{NotATimestamp, Timestamp};
use alloc::vec::Vec;

/// Where a row goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Place in the matter.
    pub seq: u64,
    /// Place in the stream.
    pub stream_seq: u64,
    /// Hash of the row before it.
    pub prev_hash: Digest,
    /// The row that brought it about, by its final place.
    pub cause: Option<u64>,
}

/// A stored row.
#[derive(Clone, Copy, Debug)]
pub struct RowRef<'a> {
    /// Place in the matter.
    pub seq: u64,
    /// The stream.
    pub stream: &'a str,
    /// Place in the stream.
    pub stream_seq: u64,
    /// What happened.
    pub kind: &'a str,
    /// Version of the payload's shape.
    pub version: u32,
    /// When.
    pub at: &'a str,
    /// Who.
    pub actor: &'a str,
    /// What stands behind the name.
    pub proof: Proof,
    /// What brought it about.
    pub cause: Option<u64>,
    /// The request's key.
    pub idem_key: Option<&'a str>,
    /// How far it may travel.
    pub data_class: DataClass,
    /// How far it can be trusted.
    pub taint: Taint,
    /// The payload's canonical bytes.
    pub payload: &'a [u8],
    /// Their hash.
    pub payload_hash: Digest,
    /// The blobs it names.
    pub blobs: PackedBlobs<'a>,
    /// Hash of the row before it.
    pub prev_hash: Digest,
    /// Its own.
    pub hash: Digest,
}

/// A digest and a size.
const PACKED: usize = 40;

/// Blob references as a store holds them: 32 bytes of digest and 8 of size (big end first) each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PackedBlobs<'a>(&'a [u8]);

/// Bytes that are no packed references.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("packed blob references come in pieces of {PACKED} bytes")]
pub struct NotPacked;

impl<'a> TryFrom<&'a [u8]> for PackedBlobs<'a> {
    type Error = NotPacked;

    fn try_from(bytes: &'a [u8]) -> Result<Self, NotPacked> {
        if bytes.len().is_multiple_of(PACKED) { Ok(PackedBlobs(bytes)) } else { Err(NotPacked) }
    }
}

impl<'a> PackedBlobs<'a> {
    /// Each reference.
    pub fn iter(self) -> impl Iterator<Item = BlobRef> + 'a {
        self.0.chunks_exact(PACKED).map(|piece| {
            let (mut digest, mut size) = ([0; 32], [0; 8]);
            digest.copy_from_slice(&piece[..32]);
            size.copy_from_slice(&piece[32..]);
            BlobRef { digest: Digest::from_bytes(digest), size: u64::from_be_bytes(size) }
        })
    }

    /// The bytes a store holds.
    #[must_use]
    pub fn as_bytes(self) -> &'a [u8] {
        self.0
    }

    /// Packs references.
    #[must_use]
    pub fn pack(blobs: impl Iterator<Item = BlobRef>) -> Vec<u8> {
        let mut bytes = Vec::new();
        for blob in blobs {
            bytes.extend_from_slice(blob.digest.as_bytes());
            bytes.extend_from_slice(&blob.size.to_be_bytes());
        }
        bytes
    }
}

impl Sealed {
    /// The references that the row will hold, packed.
    #[must_use]
    pub fn packed_blobs(&self) -> Vec<u8> {
        PackedBlobs::pack(self.draft().blobs.iter().map(BlobBytes::reference))
    }

    /// The row at its place, its hash computed. `blobs` is [`Sealed::packed_blobs`].
    #[must_use]
    pub fn at<'a>(
        &'a self,
        matter: &str,
        place: Place,
        idem_key: Option<&'a IdemKey>,
        blobs: PackedBlobs<'a>,
    ) -> RowRef<'a> {
        let draft = self.draft();
        let mut row = RowRef {
            seq: place.seq,
            stream: draft.stream.as_str(),
            stream_seq: place.stream_seq,
            kind: draft.kind.as_str(),
            version: draft.version,
            at: draft.at.as_str(),
            actor: draft.actor.as_str(),
            proof: draft.proof,
            cause: place.cause,
            idem_key: idem_key.map(IdemKey::as_str),
            data_class: draft.data_class,
            taint: draft.taint,
            payload: self.payload(),
            payload_hash: self.payload_hash(),
            blobs,
            prev_hash: place.prev_hash,
            hash: place.prev_hash,
        };
        row.hash = row.computed_hash(matter);
        row
    }
}

impl RowRef<'_> {
    /// SHA-256 over the canonical form of everything but `hash` and the payload, which stands in it by
    /// `payload_hash`. The matter stands in it too: a row is worth nothing in another one.
    #[must_use]
    pub fn computed_hash(&self, matter: &str) -> Digest {
        self.header_hash(matter).0
    }

    /// The row's hash, and over how many bytes it was made.
    pub(crate) fn header_hash(&self, matter: &str) -> (Digest, u64) {
        let mut hasher = Hasher::new();
        self.write_header(matter, &mut hasher);
        let length = hasher.length();
        (hasher.finish(), length)
    }

    /// Written by hand rather than through serde: this is the inner loop of `ledger verify`.
    pub(crate) fn write_header(&self, matter: &str, sink: &mut impl Sink) {
        sink.put(b"{\"actor\":");
        write_string(self.actor, sink);
        sink.put(b",\"at\":");
        write_string(self.at, sink);
        sink.put(b",\"blobs\":[");
        for (at, blob) in self.blobs.iter().enumerate() {
            sink.put(if at == 0 { b"{\"digest\":\"" } else { b",{\"digest\":\"" });
            sink.put(&blob.digest.hex());
            sink.put(b"\",\"size\":");
            put_integer(blob.size, sink);
            sink.put(b"}");
        }
        sink.put(b"],\"cause\":");
        match self.cause {
            Some(seq) => put_integer(seq, sink),
            None => sink.put(b"null"),
        }
        sink.put(b",\"data_class\":\"");
        sink.put(self.data_class.as_str().as_bytes());
        sink.put(b"\",\"idem_key\":");
        match self.idem_key {
            Some(key) => write_string(key, sink),
            None => sink.put(b"null"),
        }
        sink.put(b",\"kind\":");
        write_string(self.kind, sink);
        sink.put(b",\"matter\":");
        write_string(matter, sink);
        sink.put(b",\"payload_hash\":\"");
        sink.put(&self.payload_hash.hex());
        sink.put(b"\",\"prev_hash\":\"");
        sink.put(&self.prev_hash.hex());
        sink.put(b"\",\"proof\":");
        put_proof(&self.proof, sink);
        sink.put(b",\"seq\":");
        put_integer(self.seq, sink);
        sink.put(b",\"stream\":");
        write_string(self.stream, sink);
        sink.put(b",\"stream_seq\":");
        put_integer(self.stream_seq, sink);
        sink.put(b",\"taint\":\"");
        sink.put(self.taint.as_str().as_bytes());
        sink.put(b"\",\"version\":");
        put_integer(self.version.into(), sink);
        sink.put(b"}");
    }

    /// The key that signed the row; nothing where it is no decision, or one that is only asserted.
    ///
    /// # Errors
    /// The signature is not of the key that it names.
    pub fn signer(&self, matter: &str) -> Result<Option<PublicKey>, Forged> {
        let (key, signature) = match self.proof {
            Proof::None | Proof::SelfAsserted => return Ok(None),
            Proof::Signed { key, signature } => (key, signature),
        };
        let blobs: Vec<BlobRef> = self.blobs.iter().collect();
        let message = decision_message(&Decision {
            actor: self.actor,
            at: self.at,
            blobs: &blobs,
            kind: self.kind,
            matter,
            payload_hash: self.payload_hash,
            stream: self.stream,
            version: self.version,
        });
        key.verify(&message.map_err(|_| Forged)?, &signature).map(|()| Some(key))
    }

    /// The row with its own copies, every part through its checked door.
    ///
    /// # Errors
    /// A part is not what it should be: the store was changed by other hands.
    pub fn to_row(&self) -> Result<Row, Unreadable> {
        Ok(Row {
            seq: self.seq,
            stream: self.stream.try_into()?,
            stream_seq: self.stream_seq,
            kind: self.kind.try_into()?,
            version: self.version,
            at: Timestamp::try_from(self.at)?,
            actor: self.actor.try_into()?,
            proof: self.proof,
            cause: self.cause,
            idem_key: self.idem_key.map(TryInto::try_into).transpose()?,
            data_class: self.data_class,
            taint: self.taint,
            payload: json::parse(self.payload)?,
            payload_hash: self.payload_hash,
            blobs: self.blobs.iter().collect(),
            prev_hash: self.prev_hash,
            hash: self.hash,
        })
    }
}

fn put_integer(value: u64, sink: &mut impl Sink) {
    sink.put(itoa::Buffer::new().format(value).as_bytes());
}

fn put_proof(proof: &Proof, sink: &mut impl Sink) {
    match proof {
        Proof::None => sink.put(b"{\"kind\":\"none\"}"),
        Proof::SelfAsserted => sink.put(b"{\"kind\":\"self_asserted\"}"),
        Proof::Signed { key, signature } => {
            let (mut key_hex, mut signature_hex) = ([0; 64], [0; 128]);
            crate::digest::encode_hex(key.as_bytes(), &mut key_hex);
            crate::digest::encode_hex(signature.as_bytes(), &mut signature_hex);
            sink.put(b"{\"key\":\"");
            sink.put(&key_hex);
            sink.put(b"\",\"kind\":\"signed\",\"signature\":\"");
            sink.put(&signature_hex);
            sink.put(b"\"}");
        }
    }
}

/// A stored row with a part that no writer of ours would have stored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// An id.
    #[error(transparent)]
    Id(#[from] NotAnId),
    /// A time.
    #[error(transparent)]
    Time(#[from] NotATimestamp),
    /// The payload.
    #[error("the payload is not JSON: {0}")]
    Payload(#[from] ParseError),
}

impl Unreadable {
    /// The stable code.
    #[must_use]
    pub fn code(&self) -> Code {
        Code::LedgerCorrupt
    }
}
