//! Places in the stream of a run, as places in the log.
//! Owns: which row stands where in which stream. Must not: know which members of which records are places.
//!
//! Who writes a run sees its own stream: a place that one of its records names is one in that stream, wherever the ledger put the row.

use super::Record;
use crate::member::Member;
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// The streams whose records name places in them begin so.
const OWN: &str = "work/";

/// A row by its places: in its stream, and in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct At {
    place: u64,
    seq: u64,
}

/// The rows of the streams that count for themselves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Streams {
    numbers: BTreeMap<String, usize>,
    /// The rows of each stream, in order.
    streams: Vec<Vec<At>>,
    /// The stream of each row and its place there, by its place in the log.
    rows: BTreeMap<u64, (usize, u64)>,
}

impl Streams {
    /// The next row of a stream, with its place there and in the log. Streams that count with the log are passed over.
    pub fn add(&mut self, stream: &str, place: u64, seq: u64) {
        if !stream.starts_with(OWN) {
            return;
        }
        let number = match self.numbers.get(stream) {
            Some(number) => *number,
            None => {
                self.numbers.insert(stream.to_string(), self.streams.len());
                self.streams.push(Vec::new());
                self.streams.len() - 1
            }
        };
        if let Some(rows) = self.streams.get_mut(number) {
            rows.push(At { place, seq });
            self.rows.insert(seq, (number, place));
        }
    }

    /// The number of the stream that counts for itself in which a row stands.
    #[must_use]
    pub(crate) fn of(&self, row: u64) -> Option<usize> {
        self.rows.get(&row).map(|(number, _)| *number)
    }

    /// What a row means by a place: a place in the log. A row that is not here stands where the last one before it does; what is
    /// not written yet is behind everything.
    #[must_use]
    pub fn seq(&self, row: u64, place: u64) -> u64 {
        let Some((number, own)) = self.rows.get(&row) else { return place };
        let rows = self.streams.get(*number).map(Vec::as_slice).unwrap_or_default();
        let before = rows.partition_point(|one| one.place <= place);
        match before.checked_sub(1).and_then(|at| rows.get(at)) {
            Some(one) if one.place == place || place < *own => one.seq,
            Some(_) => u64::MAX,
            None => 0,
        }
    }
}

impl Record<'_> {
    /// The place in the log that a member names.
    #[must_use]
    pub fn place(self, path: &str) -> Option<u64> {
        self.count(path).map(|place| self.world.streams.seq(self.seq(), place))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two runs in turns, from the eleventh row on; something else between them.
    fn two() -> Streams {
        let mut streams = Streams::default();
        for place in 1..=4 {
            streams.add("work/a", place, 7 + 4 * place);
            streams.add("work/b", place, 8 + 4 * place);
            streams.add("run/a", place, 9 + 4 * place);
        }
        streams
    }

    #[test]
    fn a_place_is_one_of_the_rows_own_stream() {
        let streams = two();
        assert_eq!([1, 2, 4].map(|place| streams.seq(15, place)), [11, 15, 23]);
        assert_eq!([1, 2, 4].map(|place| streams.seq(16, place)), [12, 16, 24]);
        assert_eq!(streams.seq(15, 0), 0);
    }

    #[test]
    fn elsewhere_a_place_is_one_in_the_log() {
        let streams = two();
        assert_eq!([3, 13, 99].map(|place| streams.seq(13, place)), [3, 13, 99]);
    }

    #[test]
    fn what_is_not_written_yet_is_behind_everything() {
        assert_eq!(two().seq(23, 5), u64::MAX);
    }

    /// A part of a log lacks rows: what counts is what lies before and behind.
    #[test]
    fn a_row_that_is_not_here_stands_where_the_one_before_it_does() {
        let mut streams = Streams::default();
        for (place, seq) in [(2, 20), (7, 70)] {
            streams.add("work/a", place, seq);
        }
        assert_eq!([1, 2, 5, 7, 8].map(|place| streams.seq(70, place)), [0, 20, 20, 70, u64::MAX]);
    }
}
