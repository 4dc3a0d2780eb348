//! Anchors: the types of the contract.
//! Owns: their members and words. Must not: judge.

use super::basic::V10;
use super::wire::{record, words};
use crate::member::Member;
use alloc::string::String;

record! {
    /// Locator in structured content; at least one field.
    StructuredAnchor: value {
        section_id: Option<String>,
        field_path: Option<String>,
        citation_ref: Option<String>,
        row_id: Option<String>,
        cell_ref: Option<String>,
        schema_version: V10,
    }
}

words! {
    /// The only hash algorithm of TextAnchor.
    TextAnchorHashAlgorithm {
        Sha256CanonicalTextV1 = "sha256_canonical_text_v1",
    }
}

record! {
    /// Locator in text with a context hash.
    TextAnchor: value {
        start_offset: u64,
        end_offset: u64,
        context_before: String,
        context_after: String,
        context_hash: String,
        hash_algorithm: TextAnchorHashAlgorithm,
        schema_version: V10,
    }
    holds |anchor| {
        let offsets = anchor.count("start_offset").zip(anchor.count("end_offset"));
        let is_digest = |hash: &str| hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
        offsets.is_none_or(|(start, end)| start <= end) && anchor.text("context_hash").is_none_or(is_digest)
    }, "must not end before it begins, and its hash must be one"
}
