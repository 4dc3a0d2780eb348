//! References between records: `kind:id[@version][#hash]`, the kind in snake case.
//! Owns: reading them. Must not: resolve them.

use crate::kind::Number;
use crate::letters;
use alloc::string::String;
use core::fmt;

/// A reference to a record, as it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reference<'a> {
    /// The kind, in snake case.
    pub kind: &'a str,
    /// Which one.
    pub id: &'a str,
    /// Which version of it.
    pub version: Option<u32>,
    /// SHA-256 of it, in hexadecimal digits.
    pub hash: Option<&'a str>,
}

impl<'a> Reference<'a> {
    /// Reads one; `None` if it is none.
    #[must_use]
    pub fn read(text: &'a str) -> Option<Self> {
        // Every text of every row is asked: one that begins as no kind does is soon known to be none.
        let end = letters::find_no_word(text.as_bytes())?;
        if text.as_bytes().get(end) != Some(&b':') {
            return None;
        }
        let (kind, rest) = (text.get(..end)?, text.get(end + 1..)?);
        // Nearly all references name neither a version nor a hash.
        let is_plain = letters::find_any(rest.as_bytes(), *b"#@").is_none();
        let (id, version, hash) = if is_plain { (rest, None, None) } else { pinned(rest) };
        (!kind.is_empty() && !id.is_empty()).then_some(Reference { kind, id, version, hash })
    }

    /// Whether two name the same record, whatever version.
    #[must_use]
    pub fn is_same(&self, other: &Reference<'_>) -> bool {
        self.kind == other.kind && self.id == other.id
    }
}

impl fmt::Display for Reference<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.kind, self.id)?;
        if let Some(version) = self.version {
            write!(f, "@{version}")?;
        }
        match self.hash {
            Some(hash) => write!(f, "#{hash}"),
            None => Ok(()),
        }
    }
}

/// An id with the version and the hash behind it.
fn pinned(text: &str) -> (&str, Option<u32>, Option<&str>) {
    let (rest, hash) = match text.rsplit_once('#') {
        Some((rest, hash)) if is_hash(hash) => (rest, Some(hash)),
        Some(_) | None => (text, None),
    };
    match rest.rsplit_once('@').map(|(id, version)| (id, version.parse().ok())) {
        Some((id, Some(version))) => (id, Some(version), hash),
        Some((_, None)) | None => (rest, None, hash),
    }
}

fn is_hash(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// The id that a text is or refers to: what names a record may say its kind in front. A text that begins otherwise is an id.
#[must_use]
pub fn bare(text: &str) -> &str {
    let named = Reference::read(text).filter(|reference| Number::of_snake(reference.kind).is_some());
    named.map_or(text, |reference| reference.id)
}

/// The name of a type in snake case, as references write it.
#[must_use]
pub fn snake(name: &str) -> String {
    let mut snake = String::with_capacity(name.len() + 8);
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.push(letter.to_ascii_lowercase());
    }
    snake
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::format;

    #[test]
    fn references_are_read() {
        let hash = "0".repeat(64);
        let text = format!("evaluation_finding_event:fe-1@3#{hash}");
        let found = Reference::read(&text).unwrap();
        assert_eq!((found.kind, found.id, found.version), ("evaluation_finding_event", "fe-1", Some(3)));
        assert_eq!(found.hash, Some(hash.as_str()));
        assert_eq!(format!("{found}"), text);
        for none in ["", "x", ":x", "Kind:x", "kind:"] {
            assert_eq!(Reference::read(none), None, "{none}");
        }
        let odd = Reference::read("src:a:b@c#d").unwrap();
        assert_eq!((odd.id, odd.version, odd.hash), ("a:b@c#d", None, None));
    }

    #[test]
    fn an_id_may_be_written_as_a_reference() {
        let hash = "0".repeat(64);
        let pinned = format!("revision_plan:p@2#{hash}");
        for (text, id) in [
            ("p", "p"),
            ("revision_plan:p", "p"),
            (pinned.as_str(), "p"),
            ("user:p", "user:p"),
            ("a:b", "a:b"),
            ("revision_plan:", "revision_plan:"),
        ] {
            assert_eq!(bare(text), id);
        }
    }

    #[test]
    fn names_become_snakes() {
        assert_eq!(snake("EvaluationFindingEvent"), "evaluation_finding_event");
        assert_eq!(snake("CostVector"), "cost_vector");
    }
}
