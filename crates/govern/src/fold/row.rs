//! A row as folds see it.
//! Owns: what of a row is looked at. Must not: look at other rows.

use crate::kind::Number;
use crate::member::Member;
use crate::reference::snake;
use crate::types::wire::Wire;
use crate::world::{Record, Streams};
use alloc::format;
use alloc::string::{String, ToString};
use countersign_record::json::Json;
use countersign_record::time::{Instant, Timestamp};

/// A row at its place.
#[derive(Clone, Copy, Debug)]
pub struct Row<'r> {
    /// Its place, from 1.
    pub seq: u64,
    /// The name of its type.
    pub kind: &'r str,
    /// What it is called.
    pub id: &'r str,
    /// When it was written.
    pub at: Option<Instant>,
    /// What it says.
    pub json: &'r Json,
    /// The streams that count for themselves, if it stands in one.
    pub streams: Option<&'r Streams>,
}

impl Row<'_> {
    /// The reference that names it.
    #[must_use]
    pub fn reference(&self) -> String {
        match Number::of(self.kind) {
            Some(known) => format!("{}:{}", known.snake, self.id),
            None => format!("{}:{}", snake(self.kind), self.id),
        }
    }

    /// The place in the log that a member names.
    #[must_use]
    pub fn place(&self, path: &str) -> Option<u64> {
        let place = self.json.count(path)?;
        Some(self.streams.map_or(place, |streams| streams.seq(self.seq, place)))
    }

    /// The number of the stream that counts for itself in which it stands.
    pub(super) fn stream(&self) -> Option<usize> {
        self.streams.and_then(|streams| streams.of(self.seq))
    }

    /// When it was written, as a text.
    #[must_use]
    pub fn time(&self) -> Option<Json> {
        self.at.and_then(time)
    }
}

impl<'w> From<Record<'w>> for Row<'w> {
    fn from(record: Record<'w>) -> Self {
        Row {
            seq: record.seq(),
            kind: record.kind(),
            id: record.id(),
            at: record.written_at(),
            json: record.json(),
            streams: Some(record.world.streams()),
        }
    }
}

/// A time as records write it.
pub(super) fn time(at: Instant) -> Option<Json> {
    Timestamp::try_from(at).ok().map(|time| Json::from(time.to_string()))
}

/// A number as records write it.
pub(super) fn number(value: u64) -> Json {
    value.write().unwrap_or(Json::Null)
}
