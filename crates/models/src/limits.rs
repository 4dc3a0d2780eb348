//! How much an answer may be.
//! Owns: the bounds, each with a name. Must not: be set by a server.

use countersign_record::json;

/// Bytes of the text of one answer.
pub(crate) const REPLY_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Bytes of everything a server sends for one answer: each token comes in a few hundred of them.
pub(crate) const STREAM_BYTES_MAX: u64 = 256 * 1024 * 1024;
/// Bytes of an answer that comes in one document.
pub(crate) const WHOLE_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Bytes of one event, its lines together.
pub(crate) const EVENT_BYTES_MAX: usize = 1024 * 1024;
/// Bytes of a refusal that are looked at.
pub(crate) const REFUSAL_BYTES_MAX: usize = 16 * 1024;
/// How often a model is asked, at most.
pub(crate) const ATTEMPTS_MAX: u32 = 3;

/// What a document of a server may ask for.
pub(crate) const DOCUMENT: json::Limits =
    json::Limits { bytes_max: WHOLE_BYTES_MAX, depth_max: 32, number_max: 100, values_max: 100_000 };
