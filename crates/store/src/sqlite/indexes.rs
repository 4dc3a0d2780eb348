//! Holds the indexes against the rows.
//! Owns: finding an index that would hide a row from a reader. Must not: name a row; an index is made anew from rows.
//!
//! Each index is walked once and compared with the rows by an order-free sum over its entries, so this needs no
//! memory and a tenth of the time of SQLite's own check.

use super::columns::Entry;
use rusqlite::{Connection, ErrorCode, ffi};

/// What the indexes should hold, as the rows have it.
#[derive(Debug, Default)]
pub(super) struct Indexes {
    by_stream: u64,
    by_kind: u64,
}

impl Indexes {
    /// Takes the next row in.
    pub(super) fn row(&mut self, entry: Entry) {
        self.by_stream = self.by_stream.wrapping_add(mixed([entry.stream, entry.stream_seq, entry.seq]));
        self.by_kind = self.by_kind.wrapping_add(mixed([entry.kind, entry.seq, 0]));
    }

    /// Walks the indexes.
    pub(super) fn check(&self, connection: &Connection) -> Result<(), rusqlite::Error> {
        let by_stream =
            "SELECT stream, stream_seq, seq FROM rows INDEXED BY rows_by_stream ORDER BY stream, stream_seq";
        let by_kind = "SELECT kind, seq, 0 FROM rows INDEXED BY rows_by_kind ORDER BY kind, seq";
        for (name, sql, expected) in
            [("rows_by_stream", by_stream, self.by_stream), ("rows_by_kind", by_kind, self.by_kind)]
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

/// Spreads three numbers over 64 bits (the finaliser of SplitMix64). Accidents are to be found, and the lazy; an
/// attacker who forges sums can drop the index and make it anew.
fn mixed(values: [i64; 3]) -> u64 {
    values.iter().fold(0x9E37_79B9_7F4A_7C15, |hash, value| {
        let mut mixed = (hash ^ value.cast_unsigned()).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 32)
    })
}
