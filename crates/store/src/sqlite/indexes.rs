//! Finding the rows of a stream or a kind.
//! Owns: the two indexes, which rows are in them, and holding them against the rows. Must not: name a damaged row;
//! an index can be made anew from the rows.
//!
//! Each stream and each kind grows at a place of its own in an index, so indexing every row at once would write a
//! page for every row of a commit. The last rows are therefore left out: the indexes hold the rows up to
//! `head.indexed`, the few beyond are looked through one by one, and when there are [`BEYOND_MAX`] of them they
//! are taken in together, in the index's order.

use super::columns::{self, Entry, int};
use rusqlite::{Connection, ErrorCode, OptionalExtension, ffi};
use std::collections::HashMap;

/// So many rows are never beyond the indexes when a transaction ends: the most that a reader looks through.
pub(super) const BEYOND_MAX: u64 = 1_024;

/// The last row that is in the indexes.
pub(super) fn indexed(connection: &Connection) -> Result<u64, rusqlite::Error> {
    connection
        .prepare_cached("SELECT indexed FROM head WHERE only = 1")?
        .query_row([], |row| columns::count(row.get_ref(0)?).ok_or(rusqlite::Error::InvalidQuery))
}

/// Takes the rows after `from`, up to and with `to`, in.
pub(super) fn extend(connection: &Connection, from: u64, to: u64) -> Result<(), rusqlite::Error> {
    let by_stream = "INSERT INTO by_stream SELECT stream, stream_seq, seq FROM rows \
                     WHERE seq > ?1 AND seq <= ?2 ORDER BY stream, stream_seq";
    let by_kind =
        "INSERT INTO by_kind SELECT kind, seq FROM rows WHERE seq > ?1 AND seq <= ?2 ORDER BY kind, seq";
    for sql in [by_stream, by_kind] {
        connection.prepare_cached(sql)?.execute([int(from), int(to)])?;
    }
    Ok(())
}

/// The ends of the streams that have rows after `indexed`.
pub(super) fn ends_beyond(
    connection: &Connection,
    indexed: u64,
) -> Result<HashMap<i64, u64>, rusqlite::Error> {
    let sql = "SELECT stream, max(stream_seq) FROM rows WHERE seq > ?1 GROUP BY stream";
    let mut statement = connection.prepare_cached(sql)?;
    let ends = statement
        .query_map([int(indexed)], |row| Ok((row.get(0)?, columns::count(row.get_ref(1)?).unwrap_or(0))))?;
    ends.collect()
}

/// The end of a stream as far as the index knows.
pub(super) fn end(connection: &Connection, stream: i64) -> Result<u64, rusqlite::Error> {
    let last = connection
        .prepare_cached(
            "SELECT stream_seq FROM by_stream WHERE stream = ?1 ORDER BY stream_seq DESC LIMIT 1",
        )?
        .query_row([stream], |row| Ok(columns::count(row.get_ref(0)?).unwrap_or(0)))
        .optional()?;
    Ok(last.unwrap_or(0))
}

/// The place in its stream of the first indexed row after `after`. Places in a stream and in the matter grow
/// together, so it is found by halving, and a page deep in a long stream costs no more than its first.
pub(super) fn first_after(connection: &Connection, stream: i64, after: i64) -> Result<i64, rusqlite::Error> {
    if after <= 0 {
        return Ok(0);
    }
    let (mut first, mut last) = (0, int(end(connection, stream)?).saturating_add(1));
    let mut probe = connection.prepare_cached(
        "SELECT seq FROM by_stream WHERE stream = ?1 AND stream_seq >= ?2 ORDER BY stream_seq LIMIT 1",
    )?;
    while first < last {
        let middle = first + (last - first) / 2;
        let seq: Option<i64> = probe.query_row([stream, middle], |row| row.get(0)).optional()?;
        match seq {
            Some(seq) if seq <= after => first = middle + 1,
            Some(_) | None => last = middle,
        }
    }
    Ok(first)
}

/// What the indexes should hold, as the rows have it: an order-free sum over the entries. So holding an index
/// against the rows needs no memory and one walk, a tenth of the time of SQLite's own check.
#[derive(Debug)]
pub(super) struct Sums {
    indexed: i64,
    by_stream: u64,
    by_kind: u64,
}

impl Sums {
    /// Before the first row.
    pub(super) fn new(indexed: u64) -> Self {
        Sums { indexed: int(indexed), by_stream: 0, by_kind: 0 }
    }

    /// Takes the next row in.
    pub(super) fn row(&mut self, entry: Entry) {
        if entry.seq <= self.indexed {
            self.by_stream = self.by_stream.wrapping_add(mixed([entry.stream, entry.stream_seq, entry.seq]));
            self.by_kind = self.by_kind.wrapping_add(mixed([entry.kind, entry.seq, 0]));
        }
    }

    /// Walks the indexes: one that would hide a row from a reader, or show it twice, is an error.
    pub(super) fn check(&self, connection: &Connection) -> Result<(), rusqlite::Error> {
        let by_stream = "SELECT stream, stream_seq, seq FROM by_stream ORDER BY stream, stream_seq";
        let by_kind = "SELECT kind, seq, 0 FROM by_kind ORDER BY kind, seq";
        for (name, sql, expected) in
            [("by_stream", by_stream, self.by_stream), ("by_kind", by_kind, self.by_kind)]
        {
            if sum(connection, sql)? != Some(expected) {
                let corrupt =
                    ffi::Error { code: ErrorCode::DatabaseCorrupt, extended_code: ffi::SQLITE_CORRUPT };
                let why = format!("the index {name} does not agree with the rows");
                return Err(rusqlite::Error::SqliteFailure(corrupt, Some(why)));
            }
        }
        Ok(())
    }
}

/// The sum over an index; `None` if its entries are out of order.
fn sum(connection: &Connection, sql: &str) -> Result<Option<u64>, rusqlite::Error> {
    let mut statement = connection.prepare_cached(sql)?;
    let mut entries = statement.query([])?;
    let (mut sum, mut last) = (0_u64, None);
    while let Some(entry) = entries.next()? {
        let values: [i64; 3] = [entry.get(0)?, entry.get(1)?, entry.get(2)?];
        if last.is_some_and(|last| last >= values) {
            return Ok(None);
        }
        sum = sum.wrapping_add(mixed(values));
        last = Some(values);
    }
    Ok(Some(sum))
}

/// Spreads three numbers over 64 bits, as SplitMix64 ends. Accidents are to be found, and the lazy: whoever forges
/// sums hides rows from a page, but from no walk and no export.
fn mixed(values: [i64; 3]) -> u64 {
    values.iter().fold(0x9E37_79B9_7F4A_7C15, |hash, value| {
        let mut mixed = (hash ^ value.cast_unsigned()).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 32)
    })
}
