//! Canonical JSON (RFC 8785) and the hashes over it: the only place that makes bytes to hash.
//! Owns: the canonical form of values and of our types, SHA-256 over it, the six-decimal door for scores.
//! Must not: hold a copy of what it writes; a value streams into its sink (`emit` names the one exception).
//!
//! Two different documents never share a hash. Where RFC 8785 would print a number that is not the one
//! written (`9007199254740993`), the canonical form does not exist and [`write`] says so.

mod emit;
mod score;
mod sink;
mod text;
mod value;

pub use emit::{Unwritable, hash_of, to_bytes_of};
pub use score::{Score, ScoreOutOfRange};
pub use sink::{Hasher, Sink};
pub use text::write_string;
pub use value::{Inexact, Texts, hash, hash_as_written, hash_object, hash_texts, to_bytes, write};

pub(crate) use emit::{BYTES_LIKELY, Form, Pen, emit, hash_as_written_of};
pub(crate) use text::plain_length;

#[cfg(test)]
#[path = "canonical_tests.rs"]
pub(crate) mod tests;
