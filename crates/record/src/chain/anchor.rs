//! A signed head: what a ledger was at one moment, to be kept somewhere else.
//! Owns: its form and its signature. Must not: sign.

use crate::canonical::{self, Unwritable};
use crate::code::Code;
use crate::digest::Digest;
use crate::fields::{Fields, Trouble};
use crate::id::MatterId;
use crate::json::Json;
use crate::sign::{Forged, PublicKey, Purpose, Signature, message};
use crate::time::Timestamp;
use alloc::vec::Vec;
use serde::Serialize;

/// The last row of a ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Head {
    /// Its place; 0 in an empty ledger.
    pub seq: u64,
    /// Its hash; the first link in an empty ledger.
    pub hash: Digest,
}

/// A head that somebody signed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Anchor {
    /// The form's version.
    pub anchor: u32,
    /// The matter.
    pub matter: MatterId,
    /// The last row's place.
    pub seq: u64,
    /// The last row's hash.
    pub hash: Digest,
    /// When the head was read.
    pub at: Timestamp,
    /// Whose signature it is.
    pub key: PublicKey,
    /// Over all of the above.
    pub signature: Signature,
}

/// The version that this build writes.
pub(super) const ANCHOR_VERSION: u32 = 1;

#[derive(Serialize)]
struct Statement<'a> {
    anchor: u32,
    at: &'a Timestamp,
    hash: Digest,
    key: PublicKey,
    matter: &'a MatterId,
    seq: u64,
}

/// An anchor that can't be relied on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AnchorProblem {
    /// It is no anchor.
    #[error("{}", .0.first().map_or_else(Default::default, alloc::string::ToString::to_string))]
    Form(Vec<Trouble>),
    /// Of a version this build does not know.
    #[error("an anchor of version {version}; this build reads {ANCHOR_VERSION}")]
    Version {
        /// The version.
        version: u64,
    },
    /// The signature is not of the key in it.
    #[error(transparent)]
    Forged(#[from] Forged),
}

impl AnchorProblem {
    /// The stable code.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            AnchorProblem::Form(_) | AnchorProblem::Version { .. } => Code::AnchorInvalid,
            AnchorProblem::Forged(_) => Code::AnchorForged,
        }
    }
}

impl Anchor {
    /// The bytes to sign for an anchor of `head`.
    ///
    /// # Errors
    /// None for the head of a ledger; a `seq` beyond 2^53 has no canonical form.
    pub fn statement(
        matter: &MatterId,
        head: Head,
        at: &Timestamp,
        key: PublicKey,
    ) -> Result<Vec<u8>, Unwritable> {
        let statement = Statement { anchor: ANCHOR_VERSION, at, hash: head.hash, key, matter, seq: head.seq };
        canonical::to_bytes_of(&statement).map(|bytes| message(Purpose::Anchor, &bytes))
    }

    /// The anchor itself; `signature` is over [`Anchor::statement`] of the same values.
    #[must_use]
    pub fn signed(matter: MatterId, head: Head, at: Timestamp, key: PublicKey, signature: Signature) -> Self {
        Anchor { anchor: ANCHOR_VERSION, matter, seq: head.seq, hash: head.hash, at, key, signature }
    }

    /// Reads an anchor and checks its signature. Whether the *key* is one to trust is the caller's question.
    ///
    /// # Errors
    /// It is no anchor, or its signature is not of the key in it.
    pub fn read(value: &Json) -> Result<Self, AnchorProblem> {
        let mut fields = Fields::of(value).map_err(|trouble| AnchorProblem::Form([trouble].into()))?;
        let version = fields.integer("anchor");
        if let Some(version) = version.filter(|version| *version != u64::from(ANCHOR_VERSION)) {
            return Err(AnchorProblem::Version { version });
        }
        let matter = fields.id("matter");
        let seq = fields.integer("seq");
        let hash = fields.parse("hash", |text| Digest::try_from(text));
        let at = fields.timestamp("at");
        let key = fields.parse("key", |text| PublicKey::try_from(text));
        let signature = fields.parse("signature", |text| Signature::try_from(text));
        fields.deny_unknown();
        fields.finish().map_err(AnchorProblem::Form)?;
        let (Some(matter), Some(seq), Some(hash), Some(at), Some(key), Some(signature)) =
            (matter, seq, hash, at, key, signature)
        else {
            return Err(AnchorProblem::Form(Vec::new()));
        };
        let statement = Anchor::statement(&matter, Head { seq, hash }, &at, key).map_err(|_| Forged)?;
        key.verify(&statement, &signature)?;
        Ok(Anchor { anchor: ANCHOR_VERSION, matter, seq, hash, at, key, signature })
    }
}
