//! JSON as it arrived: a value that loses nothing on the way in.
//! Owns: the value tree, its object order, the limits of reading. Must not: know any contract, round a number
//! or keep two members of one name.
//!
//! `serde_json::Value` keeps the last of two equal keys and reads `9007199254740993` as another number; a
//! ledger that hashes what it was given can afford neither, so the tree is our own.

mod name;
pub(crate) mod number;
mod object;
mod parse;
pub(crate) mod pointer;
mod print;
mod problem;

pub use name::Names;
pub use number::{NotFinite, Number};
pub use object::{Object, canonical_order};
pub use parse::{parse, parse_again, parse_with};
pub use pointer::{BYTES_MAX as POINTER_BYTES_MAX, escaped, inexact_numbers};
pub use print::{indented, to_text, value_of};
pub use problem::{Limits, ParseError, Problem};

use alloc::{string::String, vec::Vec};
use serde::ser::{Serialize, SerializeSeq, Serializer};

/// One JSON value. Objects hold their members in canonical order, each name once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Json {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number, with the digits it arrived with.
    Number(Number),
    /// A string; always valid Unicode without lone surrogates.
    String(String),
    /// A list.
    Array(Vec<Json>),
    /// Members in canonical order.
    Object(Object),
}

impl Json {
    /// The words of the JSON grammar, for messages.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Json::Null => "null",
            Json::Bool(_) => "boolean",
            Json::Number(_) => "number",
            Json::String(_) => "string",
            Json::Array(_) => "array",
            Json::Object(_) => "object",
        }
    }

    /// The text of a string value.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Json::String(text) => Some(text),
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::Array(_) | Json::Object(_) => None,
        }
    }

    /// The items, if this is an array.
    #[must_use]
    pub fn as_array(&self) -> Option<&[Json]> {
        match self {
            Json::Array(items) => Some(items),
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) | Json::Object(_) => None,
        }
    }

    /// The members of an object value.
    #[must_use]
    pub fn as_object(&self) -> Option<&Object> {
        match self {
            Json::Object(object) => Some(object),
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) | Json::Array(_) => None,
        }
    }

    /// How many bytes it has where it is written without spaces.
    #[must_use]
    pub fn written_len(&self) -> usize {
        let text = |text: &str| {
            let escaped = text.bytes().map(|byte| match byte {
                b'"' | b'\\' | b'\n' | b'\r' | b'\t' | 0x08 | 0x0c => 2,
                0..=0x1f => 6,
                _plain => 1,
            });
            escaped.sum::<usize>() + 2
        };
        match self {
            Json::Null => 4,
            Json::Bool(value) => {
                if *value {
                    4
                } else {
                    5
                }
            }
            Json::Number(number) => number.literal().len(),
            Json::String(value) => text(value),
            Json::Array(items) => items.iter().map(|item| item.written_len() + 1).sum::<usize>() + 2,
            Json::Object(object) => {
                object.iter().map(|(name, member)| text(name) + member.written_len() + 2).sum::<usize>() + 2
            }
        }
    }

    /// Whether no more than `depth_max` arrays and objects stand inside each other.
    #[must_use]
    pub fn fits_depth(&self, depth_max: usize) -> bool {
        let inside = |value: &Json| depth_max.checked_sub(1).is_some_and(|left| value.fits_depth(left));
        match self {
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => true,
            Json::Array(items) => depth_max > 0 && items.iter().all(inside),
            Json::Object(object) => depth_max > 0 && object.iter().all(|(_, member)| inside(member)),
        }
    }

    /// The member `name` of an object value.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Json> {
        self.as_object().and_then(|object| object.get(name))
    }
}

impl From<&str> for Json {
    fn from(text: &str) -> Self {
        Json::String(String::from(text))
    }
}

impl From<String> for Json {
    fn from(text: String) -> Self {
        Json::String(text)
    }
}

impl From<bool> for Json {
    fn from(value: bool) -> Self {
        Json::Bool(value)
    }
}

impl From<Object> for Json {
    fn from(object: Object) -> Self {
        Json::Object(object)
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Json::Null => serializer.serialize_unit(),
            Json::Bool(value) => serializer.serialize_bool(*value),
            Json::Number(number) => number.serialize(serializer),
            Json::String(text) => serializer.serialize_str(text),
            Json::Array(items) => {
                let mut seq = serializer.serialize_seq(Some(items.len()))?;
                for item in items {
                    seq.serialize_element(item)?;
                }
                seq.end()
            }
            Json::Object(object) => object.serialize(serializer),
        }
    }
}

#[cfg(test)]
#[path = "json_tests.rs"]
mod tests;
