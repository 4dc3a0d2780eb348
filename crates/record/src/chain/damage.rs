//! What can be wrong with a ledger.
//! Owns: the kinds of damage and their words. Must not: find any.

use crate::code::Code;
use crate::digest::Digest;
use alloc::format;
use alloc::string::String;
use serde::ser::{Serialize, SerializeStruct, Serializer};

/// One thing that is wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The row, by the place where it stands or should stand.
    pub seq: u64,
    /// What is wrong.
    pub damage: Damage,
}

/// What can be wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Damage {
    /// Rows are gone, up to and with this one.
    Removed {
        /// The last of them.
        to: u64,
    },
    /// A row was taken out and the ones after it were given new places.
    ClosedGap,
    /// A row was put in and the ones after it were given new places.
    Inserted,
    /// The row stood elsewhere.
    Moved {
        /// Where.
        from: u64,
    },
    /// The payload is not the one that was appended.
    PayloadChanged,
    /// Something beside the payload is not what was appended.
    RowChanged,
    /// A column holds what no writer of ours would store.
    Unreadable {
        /// Which.
        what: String,
    },
    /// The row was changed and given a new hash: the next row was built on another.
    Replaced,
    /// The row's place in its stream does not follow the one before.
    StreamOutOfOrder {
        /// The place it should have.
        expected: u64,
        /// The place it has.
        found: u64,
    },
    /// A decision's signature is not of the key that the row names.
    SignatureForged,
    /// A blob that the row names is not there, and no receipt says that it was erased.
    BlobMissing {
        /// Which.
        digest: Digest,
    },
    /// A blob's bytes are not those it is named for.
    BlobChanged {
        /// Which.
        digest: Digest,
    },
    /// Bytes are there that no row names, or names no more.
    BlobUnnamed {
        /// Their digest.
        digest: Digest,
    },
    /// An index of the store does not agree with the rows. No row is lost, but a reader may miss one.
    Index {
        /// How.
        what: String,
    },
    /// A kept state of a view is not what the rows give.
    StateChanged {
        /// The view.
        view: String,
    },
    /// What the ledger remembers of the request that wrote the row is not so: a repeat of it would be appended
    /// twice, or another one not at all.
    RequestChanged,
    /// Rows that an anchor or the ledger's own head speaks of are not there.
    Truncated {
        /// The last of them.
        to: u64,
    },
    /// The row is not the one that an anchor speaks of: the ledger was written anew.
    NotAnchored,
}

impl Damage {
    /// Whether every row and every blob that a row names are as they were.
    #[must_use]
    pub fn is_beside_the_rows(&self) -> bool {
        matches!(self, Damage::BlobUnnamed { .. } | Damage::Index { .. } | Damage::StateChanged { .. })
    }

    /// The stable code.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            Damage::Removed { .. } | Damage::ClosedGap => Code::ChainRemoved,
            Damage::Inserted => Code::ChainInserted,
            Damage::Moved { .. } => Code::ChainReordered,
            Damage::PayloadChanged
            | Damage::RowChanged
            | Damage::Unreadable { .. }
            | Damage::Replaced
            | Damage::RequestChanged => Code::ChainChanged,
            Damage::StreamOutOfOrder { .. } => Code::ChainStream,
            Damage::SignatureForged => Code::ChainSignature,
            Damage::BlobMissing { .. } => Code::BlobMissing,
            Damage::BlobChanged { .. } => Code::BlobChanged,
            Damage::BlobUnnamed { .. } => Code::BlobUnnamed,
            Damage::Index { .. } => Code::LedgerIndex,
            Damage::StateChanged { .. } => Code::LedgerState,
            Damage::Truncated { .. } => Code::ChainTruncated,
            Damage::NotAnchored => Code::ChainRewritten,
        }
    }
}

impl Finding {
    /// A sentence for a person.
    #[must_use]
    pub fn message(&self) -> String {
        let seq = self.seq;
        match &self.damage {
            Damage::Removed { to } if *to == seq => format!("row {seq} was removed"),
            Damage::Removed { to } => format!("rows {seq} to {to} were removed"),
            Damage::ClosedGap => format!("a row before row {seq} was removed and the rest renumbered"),
            Damage::Inserted => format!("row {seq} was inserted"),
            Damage::Moved { from } => format!("row {seq} was moved here from {from}"),
            Damage::PayloadChanged => format!("the payload of row {seq} was changed"),
            Damage::RowChanged => format!("row {seq} was changed"),
            Damage::Unreadable { what } => format!("row {seq} was changed: {what} is unreadable"),
            Damage::Replaced => format!("row {seq} was replaced: row {} was built on another", seq + 1),
            Damage::StreamOutOfOrder { expected, found } => {
                format!("row {seq} is number {found} of its stream and should be {expected}")
            }
            Damage::SignatureForged => format!("the signature of row {seq} is not of the key it names"),
            Damage::BlobMissing { digest } => {
                format!("blob {digest} of row {seq} is missing without a receipt")
            }
            Damage::BlobChanged { digest } => format!("the bytes of blob {digest} of row {seq} were changed"),
            Damage::BlobUnnamed { digest } => {
                format!("the bytes of blob {digest} are there, and no row names them (any more)")
            }
            Damage::Index { what } => what.clone(),
            Damage::StateChanged { view } => {
                format!("the kept state of the view {view} is not what the rows give")
            }
            Damage::RequestChanged => format!("what is remembered of the request of row {seq} was changed"),
            Damage::Truncated { to } if *to == seq => format!("row {seq} is missing at the end"),
            Damage::Truncated { to } => format!("rows {seq} to {to} are missing at the end"),
            Damage::NotAnchored => format!("row {seq} is not the one that the anchor speaks of"),
        }
    }
}

impl Serialize for Finding {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut finding = serializer.serialize_struct("Finding", 3)?;
        finding.serialize_field("code", &self.damage.code())?;
        finding.serialize_field("seq", &self.seq)?;
        finding.serialize_field("message", &self.message())?;
        finding.end()
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Finding {
    fn schema_name() -> alloc::borrow::Cow<'static, str> {
        "Finding".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let code = Code::json_schema(generator);
        schemars::json_schema!({
            "type": "object",
            "properties": { "code": code, "seq": { "type": "integer", "minimum": 0 }, "message": { "type": "string" } },
            "required": ["code", "seq", "message"],
            "additionalProperties": false
        })
    }
}
