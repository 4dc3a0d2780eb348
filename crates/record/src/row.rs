//! One row of the ledger, before and after it has its place.
//! Owns: what a row holds and what of it is hashed and signed. Must not: give itself a place (the ledger does)
//! or read a kind's payload.

mod archive;
mod draft;
mod stored;

pub use archive::{BadLine, line, read, read_line};
pub use draft::{BlobBytes, Canonical, Cause, Draft, NotADraft, Sealed, request_hash};
pub use stored::{NotPacked, PackedBlobs, Place, RowRef, Unreadable};

use crate::digest::Digest;
use crate::id::{IdemKey, PrincipalId, RowKind, StreamId};
use crate::json::Json;
use crate::sign::{PublicKey, Signature};
use crate::time::Timestamp;
use alloc::vec::Vec;
use serde::Serialize;

/// The greatest payload that a row holds itself; what is larger is a blob.
pub const PAYLOAD_BYTES_MAX: usize = 4 * 1024 * 1024;
/// The greatest blob.
pub const BLOB_BYTES_MAX: usize = 256 * 1024 * 1024;
/// The most blobs that one row may name.
pub const BLOBS_MAX: usize = 1024;

/// How far a row's content may travel, from the widest circle to the narrowest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum DataClass {
    /// Anybody may see it.
    Public,
    /// The organisation may.
    Internal,
    /// The people of the matter may.
    Privileged,
    /// It never leaves the machine.
    LocalOnly,
}

/// How far a row's content can be trusted, from the most trusted to the least.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Taint {
    /// From the organisation's own corpus.
    InternalCorpusTrusted,
    /// From the user, within what the user may say.
    UserTrustedBounded,
    /// From an outside authority with a trust basis.
    ExternalAuthorityTrusted,
    /// From outside.
    ExternalUntrusted,
    /// Nobody has said.
    Unclassified,
}

/// The words of an enum on the wire, and back.
macro_rules! words {
    ($name:ident { $($variant:ident = $word:literal),* }) => {
        impl $name {
            /// Every value, in order.
            pub const ALL: &'static [$name] = &[$($name::$variant),*];

            /// The word on the wire.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $($name::$variant => $word),* }
            }
        }

        impl TryFrom<&str> for $name {
            type Error = UnknownWord;

            fn try_from(word: &str) -> Result<Self, UnknownWord> {
                match word { $($word => Ok($name::$variant),)* _ => Err(UnknownWord) }
            }
        }
    };
}
words!(DataClass { Public = "public", Internal = "internal", Privileged = "privileged", LocalOnly = "local_only" });
words!(Taint {
    InternalCorpusTrusted = "internal_corpus_trusted",
    UserTrustedBounded = "user_trusted_bounded",
    ExternalAuthorityTrusted = "external_authority_trusted",
    ExternalUntrusted = "external_untrusted",
    Unclassified = "unclassified"
});

/// A word that is none of the enum's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it is none of the words this field takes")]
pub struct UnknownWord;

/// What stands behind the actor's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Proof {
    /// The row records no decision.
    None,
    /// A decision of somebody without a key: only the name was given.
    SelfAsserted,
    /// A decision, signed.
    Signed {
        /// The key.
        key: PublicKey,
        /// Over the decision ([`Sealed::decision`]).
        signature: Signature,
    },
}

/// A blob that a row names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BlobRef {
    /// SHA-256 of its bytes.
    pub digest: Digest,
    /// How many there are.
    pub size: u64,
}

/// A row in its place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Row {
    /// Place in the matter, dense from 1.
    pub seq: u64,
    /// The stream it belongs to.
    pub stream: StreamId,
    /// Place in the stream, dense from 1.
    pub stream_seq: u64,
    /// What happened.
    pub kind: RowKind,
    /// Version of the payload's shape, from 1.
    pub version: u32,
    /// When, as the writer's clock had it.
    pub at: Timestamp,
    /// Who.
    pub actor: PrincipalId,
    /// What stands behind the name.
    pub proof: Proof,
    /// The row that brought this one about.
    pub cause: Option<u64>,
    /// The key of the request that wrote it.
    pub idem_key: Option<IdemKey>,
    /// How far it may travel.
    pub data_class: DataClass,
    /// How far it can be trusted.
    pub taint: Taint,
    /// What happened, in the kind's own words.
    pub payload: Json,
    /// SHA-256 of the payload's canonical form, as it was appended.
    pub payload_hash: Digest,
    /// The blobs it names.
    pub blobs: Vec<BlobRef>,
    /// Hash of the row before it.
    pub prev_hash: Digest,
    /// SHA-256 over all of the above.
    pub hash: Digest,
}
