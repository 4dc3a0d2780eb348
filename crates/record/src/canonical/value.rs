//! The canonical form of a JSON value.
//! Owns: writing and hashing a value tree. Must not: sort (the tree is sorted already) or copy.

use super::emit::BYTES_LIKELY;
use super::sink::{Hasher, Sink};
use super::text::write_string;
use crate::digest::Digest;
use crate::json::{Json, Number};
use alloc::string::String;
use alloc::vec::Vec;

/// A number that has no canonical form: printed as RFC 8785 prints it, it would be another number.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the number {literal} has no canonical form: as a double it would be another number")]
pub struct Inexact {
    /// The number as it was written.
    pub literal: String,
}

/// Writes `value` in canonical form.
///
/// # Errors
/// The first number that the form can't say; what was put into the sink by then is of no use.
pub fn write(value: &Json, sink: &mut impl Sink) -> Result<(), Inexact> {
    let mut inexact = None;
    walk(value, sink, &mut |number, _| {
        inexact.get_or_insert_with(|| number.literal());
    });
    match inexact {
        Some(literal) => Err(Inexact { literal }),
        None => Ok(()),
    }
}

/// The canonical bytes of `value`.
///
/// # Errors
/// As [`write`].
pub fn to_bytes(value: &Json) -> Result<Vec<u8>, Inexact> {
    let mut bytes = Vec::with_capacity(BYTES_LIKELY);
    write(value, &mut bytes)?;
    Ok(bytes)
}

/// SHA-256 over the canonical form of `value`.
///
/// # Errors
/// As [`write`].
pub fn hash(value: &Json) -> Result<Digest, Inexact> {
    let mut hasher = Hasher::new();
    write(value, &mut hasher)?;
    Ok(hasher.finish())
}

/// SHA-256 of a foreign document: a number without a canonical form stands in it with the digits it came with.
///
/// No two documents meet here: digits that were a canonical print would not have been inexact.
#[must_use]
pub fn hash_as_written(value: &Json) -> Digest {
    let mut hasher = Hasher::new();
    walk(value, &mut hasher, &mut |number, sink| number.written(|text| sink.put(text.as_bytes())));
    hasher.finish()
}

fn walk<S: Sink>(value: &Json, sink: &mut S, inexact: &mut impl FnMut(&Number, &mut S)) {
    match value {
        Json::Null => sink.put(b"null"),
        Json::Bool(true) => sink.put(b"true"),
        Json::Bool(false) => sink.put(b"false"),
        Json::Number(number) => {
            if !number.canonical(|print| sink.put(print.as_bytes())) {
                inexact(number, sink);
            }
        }
        Json::String(text) => write_string(text, sink),
        Json::Array(items) => {
            sink.put(b"[");
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    sink.put(b",");
                }
                walk(item, sink, inexact);
            }
            sink.put(b"]");
        }
        Json::Object(object) => {
            sink.put(b"{");
            for (at, (name, member)) in object.iter().enumerate() {
                if at > 0 {
                    sink.put(b",");
                }
                write_string(name, sink);
                sink.put(b":");
                walk(member, sink, inexact);
            }
            sink.put(b"}");
        }
    }
}
