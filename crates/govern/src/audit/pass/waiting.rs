//! Streams that may go on, and their rows.
//! Owns: when one is quiet. Must not: read a row; as the log has it, it takes less.

use crate::audit::names::{By, Names};
use crate::audit::shape::Raw;
use crate::kind::Number;
use crate::world::Held;
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_record::time::Instant;

/// A row that waits.
pub(super) enum Row {
    Raw { seq: u64, place: u64, known: Number, at: Option<Instant>, payload: Box<[u8]> },
    Held(Held),
}

impl Row {
    pub(super) fn raw(row: Raw<'_>, known: Number) -> Self {
        Row::Raw { seq: row.seq, place: row.place, known, at: row.at, payload: row.payload.into() }
    }
}

/// The rows of a stream that may go on.
pub(super) struct Waiting {
    pub(super) rows: Vec<Row>,
    /// What they have and name.
    pub(super) names: Names,
    pub(super) bytes: usize,
    /// The place of the last one.
    pub(super) last: u64,
}

/// Streams that may go on.
pub(super) struct Streams {
    by: By,
    waiting: BTreeMap<String, Waiting>,
    /// The stream of the last row: the next one is often of the same.
    last: Option<(String, Waiting)>,
    /// Of all their rows.
    pub(super) bytes: usize,
    looked_at: u64,
}

impl Streams {
    pub(super) fn new(by: By) -> Self {
        Streams { by, waiting: BTreeMap::new(), last: None, bytes: 0, looked_at: 0 }
    }

    /// The next row, but for its names.
    pub(super) fn add(&mut self, row: Raw<'_>, waits: Row) {
        let waiting = self.of(row.stream);
        waiting.rows.push(waits);
        waiting.bytes += row.payload.len();
        waiting.last = row.seq;
        self.bytes += row.payload.len();
    }

    /// The names of the rows of a stream.
    pub(super) fn names(&mut self, stream: &str) -> &mut Names {
        &mut self.of(stream).names
    }

    fn of(&mut self, stream: &str) -> &mut Waiting {
        let by = self.by;
        if self.last.as_ref().is_some_and(|(last, _)| last != stream) {
            self.waiting.extend(self.last.take());
        }
        let begin = || {
            let names = Names::new(by);
            (stream.to_string(), Waiting { rows: Vec::new(), names, bytes: 0, last: 0 })
        };
        let next = || self.waiting.remove_entry(stream).unwrap_or_else(begin);
        &mut self.last.get_or_insert_with(next).1
    }

    /// Whether so many rows came since this was last so.
    pub(super) fn is_time(&mut self, seq: u64, rows: u64) -> bool {
        let is_time = seq.saturating_sub(self.looked_at) >= rows;
        if is_time {
            self.looked_at = seq;
        }
        is_time
    }

    /// Those of which no row came among the last ones.
    pub(super) fn take_quiet(&mut self, seq: u64, rows: u64) -> BTreeMap<String, Waiting> {
        let is_quiet = |waiting: &Waiting| seq.saturating_sub(waiting.last) >= rows;
        let all = self.take_all();
        let (quiet, waiting): (BTreeMap<_, _>, BTreeMap<_, _>) =
            all.into_iter().partition(|(_, waiting)| is_quiet(waiting));
        self.bytes = waiting.values().map(|waiting: &Waiting| waiting.bytes).sum();
        self.waiting = waiting;
        quiet
    }

    /// All of them.
    pub(super) fn take_all(&mut self) -> BTreeMap<String, Waiting> {
        self.waiting.extend(self.last.take());
        self.bytes = 0;
        core::mem::take(&mut self.waiting)
    }
}
