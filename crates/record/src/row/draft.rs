//! A row that has no place yet.
//! Owns: what a writer says, and its canonical form. Must not: know `seq`.

use super::{BLOB_BYTES_MAX, BLOBS_MAX, BlobRef, DataClass, PAYLOAD_BYTES_MAX, Proof, Taint};
use crate::canonical::{self, Inexact, Unwritable};
use crate::code::Code;
use crate::digest::Digest;
use crate::id::{MatterId, PrincipalId, RowKind, StreamId};
use crate::json::{Json, Limits};
use crate::sign::{Purpose, message};
use crate::time::Timestamp;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use serde::Serialize;

/// How deep a payload may nest: in a line of an export it stands one level deeper.
const PAYLOAD_DEPTH_MAX: usize = Limits::GOVERNED.depth_max - 1;

/// Bytes too large or too private for a row, named by their digest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlobBytes {
    digest: Digest,
    bytes: Vec<u8>,
}

impl BlobBytes {
    /// Takes the bytes and computes their name.
    ///
    /// # Errors
    /// There are too many.
    pub fn new(bytes: Vec<u8>) -> Result<Self, NotADraft> {
        if bytes.len() > BLOB_BYTES_MAX {
            return Err(NotADraft::BlobTooLarge { bytes: bytes.len() });
        }
        Ok(BlobBytes { digest: Digest::of(&bytes), bytes })
    }

    /// Their name.
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// The bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// As a row names it.
    #[must_use]
    pub fn reference(&self) -> BlobRef {
        BlobRef { digest: self.digest, size: self.bytes.len() as u64 }
    }
}

/// The row that brought a row about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// A row of the ledger, by `seq`.
    Row(u64),
    /// A row of the same batch, by its place from 0; it must stand before.
    Batch(usize),
}

/// What a writer says; `P` is its payload, as a value or, in a [`Sealed`] draft, as canonical bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draft<P = Json> {
    /// The stream it belongs to.
    pub stream: StreamId,
    /// What happened.
    pub kind: RowKind,
    /// Version of the payload's shape.
    pub version: u32,
    /// When.
    pub at: Timestamp,
    /// Who.
    pub actor: PrincipalId,
    /// What stands behind the name.
    pub proof: Proof,
    /// What brought it about.
    pub cause: Option<Cause>,
    /// How far it may travel.
    pub data_class: DataClass,
    /// How far it can be trusted.
    pub taint: Taint,
    /// What happened, in the kind's own words.
    pub payload: P,
    /// Bytes that the row names.
    pub blobs: Vec<BlobBytes>,
}

/// A payload's canonical bytes and their hash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Canonical {
    bytes: Vec<u8>,
    hash: Digest,
}

/// Why a draft can't become a row.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotADraft {
    /// A number without a canonical form.
    #[error(transparent)]
    Inexact(#[from] Inexact),
    /// More payload than a row holds.
    #[error("the payload has {bytes} bytes; a row holds {PAYLOAD_BYTES_MAX}, what is larger is a blob")]
    PayloadTooLarge {
        /// How many there are.
        bytes: usize,
    },
    /// A payload that could be written and not be read again.
    #[error("the payload is nested deeper than {PAYLOAD_DEPTH_MAX}")]
    PayloadTooDeep,
    /// A blob beyond the limit.
    #[error("a blob has {bytes} bytes; the limit is {BLOB_BYTES_MAX}")]
    BlobTooLarge {
        /// How many there are.
        bytes: usize,
    },
    /// More blobs than a row may name.
    #[error("{blobs} blobs; a row may name {BLOBS_MAX}")]
    TooManyBlobs {
        /// How many there are.
        blobs: usize,
    },
    /// Versions count from 1.
    #[error("version 0: versions count from 1")]
    VersionZero,
}

impl NotADraft {
    /// The stable code.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            NotADraft::Inexact(_) => Code::NumberInexact,
            NotADraft::PayloadTooLarge { .. }
            | NotADraft::BlobTooLarge { .. }
            | NotADraft::TooManyBlobs { .. } => Code::RowTooLarge,
            NotADraft::PayloadTooDeep => Code::JsonTooDeep,
            NotADraft::VersionZero => Code::RowInvalid,
        }
    }
}

/// A draft whose payload has become its canonical bytes and their hash. Made by the caller's own task, which also
/// takes the value apart, so that the ledger's one writer has little left to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sealed(Draft<Canonical>);

impl Draft {
    /// Makes the canonical bytes and their hash.
    ///
    /// # Errors
    /// The draft can't become a row.
    pub fn seal(self) -> Result<Sealed, NotADraft> {
        if !self.payload.fits_depth(PAYLOAD_DEPTH_MAX) {
            return Err(NotADraft::PayloadTooDeep);
        }
        let bytes = canonical::to_bytes(&self.payload)?;
        if bytes.len() > PAYLOAD_BYTES_MAX {
            return Err(NotADraft::PayloadTooLarge { bytes: bytes.len() });
        }
        if self.blobs.len() > BLOBS_MAX {
            return Err(NotADraft::TooManyBlobs { blobs: self.blobs.len() });
        }
        if self.version == 0 {
            return Err(NotADraft::VersionZero);
        }
        let Draft { stream, kind, version, at, actor, proof, cause, data_class, taint, payload: _, blobs } =
            self;
        let payload = Canonical { hash: Digest::of(&bytes), bytes };
        Ok(Sealed(Draft {
            stream,
            kind,
            version,
            at,
            actor,
            proof,
            cause,
            data_class,
            taint,
            payload,
            blobs,
        }))
    }
}

impl Sealed {
    /// What the writer said.
    #[must_use]
    pub fn draft(&self) -> &Draft<Canonical> {
        &self.0
    }

    /// The payload's canonical bytes.
    #[must_use]
    pub fn payload(&self) -> &[u8] {
        &self.0.payload.bytes
    }

    /// Their hash.
    #[must_use]
    pub fn payload_hash(&self) -> Digest {
        self.0.payload.hash
    }

    /// The same draft with a proof, made over [`Sealed::decision`].
    #[must_use]
    pub fn with_proof(mut self, proof: Proof) -> Self {
        self.0.proof = proof;
        self
    }

    /// The bytes that a decision's signature stands under: what was decided, by whom, when and where. Not the
    /// place in the chain, which is not known when a person signs.
    ///
    /// # Errors
    /// None that a sealed draft can bring about; the writer of canonical JSON may still refuse.
    pub fn decision(&self, matter: &MatterId) -> Result<Vec<u8>, Unwritable> {
        let draft = &self.0;
        let blobs: Vec<BlobRef> = draft.blobs.iter().map(BlobBytes::reference).collect();
        decision_message(&Decision {
            actor: draft.actor.as_str(),
            at: draft.at.as_str(),
            blobs: &blobs,
            kind: draft.kind.as_str(),
            matter: matter.as_str(),
            payload_hash: self.payload_hash(),
            stream: draft.stream.as_str(),
            version: draft.version,
        })
    }

    /// What makes two requests the same one. Time is left out: a retry has another.
    fn identity(&self) -> impl Serialize + '_ {
        let draft = &self.0;
        Identity {
            actor: &draft.actor,
            blobs: draft.blobs.iter().map(BlobBytes::digest).collect(),
            cause: draft.cause.map(|cause| match cause {
                Cause::Row(seq) => format!("row:{seq}"),
                Cause::Batch(at) => format!("batch:{at}"),
            }),
            data_class: draft.data_class,
            kind: &draft.kind,
            payload_hash: self.payload_hash(),
            stream: &draft.stream,
            taint: draft.taint,
            version: draft.version,
        }
    }
}

/// SHA-256 over what a request asks for; the ledger keeps it beside the request's key.
///
/// # Errors
/// `expected` holds something that canonical JSON can't say.
pub fn request_hash(rows: &[Sealed], expected: impl Serialize) -> Result<Digest, Unwritable> {
    let rows: Vec<_> = rows.iter().map(Sealed::identity).collect();
    canonical::hash_of(&(rows, expected))
}

#[derive(Serialize)]
struct Identity<'a> {
    actor: &'a PrincipalId,
    blobs: Vec<Digest>,
    cause: Option<String>,
    data_class: DataClass,
    kind: &'a RowKind,
    payload_hash: Digest,
    stream: &'a StreamId,
    taint: Taint,
    version: u32,
}

/// What a decision says.
#[derive(Serialize)]
pub(crate) struct Decision<'a> {
    pub(crate) actor: &'a str,
    pub(crate) at: &'a str,
    pub(crate) blobs: &'a [BlobRef],
    pub(crate) kind: &'a str,
    pub(crate) matter: &'a str,
    pub(crate) payload_hash: Digest,
    pub(crate) stream: &'a str,
    pub(crate) version: u32,
}

pub(crate) fn decision_message(decision: &Decision<'_>) -> Result<Vec<u8>, Unwritable> {
    canonical::to_bytes_of(decision).map(|bytes| message(Purpose::Decision, &bytes))
}
