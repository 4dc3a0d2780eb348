//! What becomes of a request: pure decisions, from how things stand and what is asked to the records that are appended.
//! Owns: the decisions, and how their records become rows. Must not: append a row, read a world, see a clock: the time comes
//! with the request.
//!
//! Invariant: what a decision gives, put into a log behind what it was given, has no codes.

pub mod board;
pub mod command;
pub mod fork;
pub mod lease;
pub mod replay;
pub mod workspace;

use crate::reference::Reference;
use crate::types::basic::StorageRef;
use crate::types::wire::{Wire, Written};
use crate::world::Draft;
use alloc::format;
use alloc::string::{String, ToString};
use countersign_record::canonical;
use countersign_record::json::Json;
use countersign_record::time::{Instant, Timestamp};

/// A record as the row of a log.
#[must_use]
pub fn row<T: Written>(record: &T, at: &Timestamp) -> Draft {
    folded(T::KIND, record, at)
}

/// A projection or read model as a row, for a log that somebody else is to read; an engine folds it instead.
#[must_use]
pub fn folded<T: Wire>(kind: &str, record: &T, at: &Timestamp) -> Draft {
    let record = record.write().unwrap_or(Json::Null);
    Draft { kind: kind.to_string(), id: None, at: Some(at.instant()), record }
}

/// From a time to another, that one left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// When it begins.
    pub start: Instant,
    /// When it has ended.
    pub end: Instant,
}

impl Span {
    /// Whether a time is in it.
    #[must_use]
    pub fn holds(self, at: Instant) -> bool {
        self.start <= at && at < self.end
    }

    /// Whether some time is in both.
    #[must_use]
    pub fn meets(self, other: Span) -> bool {
        self.start.max(other.start) < self.end.min(other.end)
    }
}

/// The reference to a record; `None` if what it is called would be read as something else, such as a version.
fn named(kind: &str, id: &str) -> Option<StorageRef> {
    let text = format!("{kind}:{id}");
    let read =
        Reference::read(&text).filter(|read| !id.trim().is_empty() && read.kind == kind && read.id == id);
    read.and_then(|_| StorageRef::try_from(text.as_str()).ok())
}

/// An id of its own for what follows from some things: the same for the same things, another for others.
fn id_from(word: &str, parts: &[&str]) -> String {
    let parts = Json::Array(parts.iter().copied().map(Json::from).collect());
    format!("{word}-{}", canonical::hash_as_written(&parts))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_read_back_can_be_named() {
        assert_eq!(named("research_need", "n1").unwrap().as_str(), "research_need:n1");
        for id in ["", " ", "n@1", &format!("n#{}", "0".repeat(64))] {
            assert_eq!(named("research_need", id), None, "{id}");
        }
        assert!(named("research_need", "n@x").is_some());
        assert_eq!(named("Need", "n1"), None);
    }

    #[test]
    fn a_span_ends_before_its_end() {
        let at = |seconds: i64| Instant { seconds, nanos: 0 };
        let span = |start: i64, end: i64| Span { start: at(start), end: at(end) };
        assert!(span(1, 3).holds(at(1)) && span(1, 3).holds(at(2)) && !span(1, 3).holds(at(3)));
        assert!(span(1, 3).meets(span(2, 9)) && span(2, 9).meets(span(1, 3)));
        assert!(!span(1, 3).meets(span(3, 9)) && !span(2, 2).meets(span(1, 3)));
    }

    #[test]
    fn ids_keep_their_parts_apart() {
        assert_ne!(id_from("x", &["ab", "c"]), id_from("x", &["a", "bc"]));
        assert_eq!(id_from("x", &["ab", "c"]), id_from("x", &["ab", "c"]));
    }
}
