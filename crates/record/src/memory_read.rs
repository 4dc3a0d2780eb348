//! The row about a memory read (SPEC-006).
//! Owns: its kind, its stream and what it says. Must not: hold anything of what was read.

use crate::digest::Digest;
use crate::json::{Json, Number, Object};
use alloc::string::String;
use alloc::vec::Vec;
use serde::Serialize;

/// A read that succeeded, and the tool that did it.
pub const KIND: &str = "memory.read";
/// The stream that these rows stand in.
pub const STREAM: &str = "memory";
/// The version of the payload.
pub const VERSION: u32 = 1;

/// What is recorded of a read that succeeded: exactly this, and nothing of what was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "MemoryReadReceipt"))]
pub struct Receipt {
    /// SHA-256 of the query in its normal form.
    pub query_hash: Digest,
    /// The stores, cleaned and sorted.
    pub store_paths: Vec<String>,
    /// How many records were selected.
    pub selected_count: u64,
    /// The package that was handed out.
    pub package_hash: Digest,
}

impl Receipt {
    /// The row's payload.
    #[must_use]
    pub fn payload(self) -> Json {
        let paths = self.store_paths.into_iter().map(Json::String).collect();
        // No list in memory has 2^53 entries.
        let count = Number::try_from(self.selected_count).map_or(Json::Null, Json::Number);
        Object::from([
            ("query_hash", Json::String(self.query_hash.into())),
            ("store_paths", Json::Array(paths)),
            ("selected_count", count),
            ("package_hash", Json::String(self.package_hash.into())),
        ])
        .into()
    }
}
