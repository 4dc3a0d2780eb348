//! The canonical form of a JSON value.
//! Owns: writing and hashing a value tree. Must not: sort (the tree is sorted already) or copy.

use super::emit::BYTES_LIKELY;
use super::sink::{Hasher, Sink};
use super::text::write_string;
use crate::digest::Digest;
use crate::json::{Json, Number, Object, canonical_order};
use alloc::string::String;
use alloc::vec::Vec;
use core::cmp::Ordering;

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
    told(|sink, inexact| walk(value, sink, inexact), sink)
}

/// Writes, and says which number was the first that the form can't say.
fn told<S: Sink>(
    write: impl FnOnce(&mut S, &mut dyn FnMut(&Number, &mut S)),
    sink: &mut S,
) -> Result<(), Inexact> {
    let mut inexact = None;
    write(sink, &mut |number, _| {
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

/// SHA-256 over the canonical form of an object.
///
/// # Errors
/// As [`write`].
pub fn hash_object(object: &Object) -> Result<Digest, Inexact> {
    let mut hasher = Hasher::new();
    told(|sink, inexact| members(object, sink, inexact), &mut hasher)?;
    Ok(hasher.finish())
}

/// SHA-256 over the canonical form of an object of texts that is not there as one: its members are written one after the other.
#[must_use]
pub fn hash_texts(write: impl FnOnce(&mut Texts<'_>)) -> Digest {
    let mut hasher = Hasher::new();
    hasher.put(b"{");
    write(&mut Texts { hasher: &mut hasher, last: None });
    hasher.put(b"}");
    hasher.finish()
}

/// The members of an object of texts.
pub struct Texts<'w> {
    hasher: &'w mut Hasher,
    last: Option<&'static str>,
}

impl Texts<'_> {
    /// A member that is a text.
    pub fn text(&mut self, name: &'static str, text: &str) {
        self.name(name);
        write_string(text, self.hasher);
    }

    /// A member that is a list of texts.
    pub fn list<'t>(&mut self, name: &'static str, texts: impl Iterator<Item = &'t str>) {
        self.name(name);
        self.hasher.put(b"[");
        for (at, text) in texts.enumerate() {
            if at > 0 {
                self.hasher.put(b",");
            }
            write_string(text, self.hasher);
        }
        self.hasher.put(b"]");
    }

    fn name(&mut self, name: &'static str) {
        let is_next = self.last.is_none_or(|last| canonical_order(last, name) == Ordering::Less);
        assert!(is_next, "{name} does not come next in canonical order");
        if self.last.replace(name).is_some() {
            self.hasher.put(b",");
        }
        write_string(name, self.hasher);
        self.hasher.put(b":");
    }
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

fn walk<S: Sink>(value: &Json, sink: &mut S, inexact: &mut dyn FnMut(&Number, &mut S)) {
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
        Json::Object(object) => members(object, sink, inexact),
    }
}

fn members<S: Sink>(object: &Object, sink: &mut S, inexact: &mut dyn FnMut(&Number, &mut S)) {
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
