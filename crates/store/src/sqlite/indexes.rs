//! Finding the rows of a stream or a kind.
//! Owns: the lists of places, which rows are in them, and holding them, and names, against the rows. Must not: name a damaged
//! row; the lists can be made anew from the rows.
//!
//! Each stream and each kind grows at a place of its own in an index, so indexing every row at once would write a
//! page for every row of a commit. The last rows are therefore left out: the lists hold the rows up to
//! `head.indexed`, the few beyond are looked through one by one, and when there are [`BEYOND_MAX`] of them they
//! are taken in together, one packed piece for each stream and kind.

use super::columns::{self, Entry, int};
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, ErrorCode, OptionalExtension, ffi, params};
use std::collections::{BTreeMap, BTreeSet};

/// So many rows are never beyond the lists when a transaction ends: the most that a reader looks through.
pub(super) const BEYOND_MAX: u64 = 1_024;

/// What a list is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Of {
    /// The rows of a stream, by its number.
    Stream(i64),
    /// The rows of a kind, by its number.
    Kind(i64),
}

impl Of {
    fn key(self) -> (i64, i64) {
        match self {
            Of::Stream(id) => (0, id),
            Of::Kind(id) => (1, id),
        }
    }

    /// Whether the row is one of the list's.
    pub(super) fn holds(self, entry: Entry) -> bool {
        match self {
            Of::Stream(id) => entry.stream == id,
            Of::Kind(id) => entry.kind == id,
        }
    }
}

/// The last row that is in the lists.
pub(super) fn indexed(connection: &Connection) -> Result<u64, rusqlite::Error> {
    connection.prepare_cached("SELECT indexed FROM head WHERE only = 1")?.query_row([], |row| {
        columns::count(row.get_ref(0)?).ok_or_else(|| disagrees("what is listed is unreadable"))
    })
}

/// The rows after `indexed`, in order.
pub(super) fn beyond(connection: &Connection, indexed: u64) -> Result<Vec<Entry>, rusqlite::Error> {
    let sql = "SELECT seq, stream, stream_seq, kind FROM rows WHERE seq > ?1 ORDER BY seq";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([int(indexed)])?;
    let mut entries = Vec::new();
    while let Some(row) = rows.next()? {
        entries.push(columns::entry(row));
    }
    Ok(entries)
}

/// Takes rows in; they follow those that are in the lists.
pub(super) fn extend(connection: &Connection, entries: &[Entry]) -> Result<(), rusqlite::Error> {
    let mut lists: BTreeMap<Of, Vec<i64>> = BTreeMap::new();
    for entry in entries {
        for of in [Of::Stream(entry.stream), Of::Kind(entry.kind)] {
            lists.entry(of).or_default().push(entry.seq);
        }
    }
    let mut insert =
        connection.prepare_cached("INSERT INTO lists(what, id, first, rest) VALUES (?1, ?2, ?3, ?4)")?;
    for (of, seqs) in lists {
        let (what, id) = of.key();
        let mut left = seqs.as_slice();
        while let [first, rest @ ..] = left {
            let packed = pack(*first, rest);
            insert.execute(params![what, id, first, packed])?;
            left = rest.get(packed.len() / 2..).unwrap_or_default();
        }
    }
    Ok(())
}

/// The distances of places from `first`, two bytes each, as far as they fit.
fn pack(first: i64, rest: &[i64]) -> Vec<u8> {
    let distances =
        rest.iter().map_while(|seq| seq.checked_sub(first).and_then(|far| u16::try_from(far).ok()));
    distances.flat_map(u16::to_be_bytes).collect()
}

/// The places in a piece, in order; `None` if it is no piece.
fn unpack(first: i64, rest: ValueRef<'_>) -> Option<impl Iterator<Item = i64>> {
    let ValueRef::Blob(packed) = rest else { return None };
    let distances = packed.chunks_exact(2).map(|pair| i64::from(pair[0]) << 8 | i64::from(pair[1]));
    let whole = packed.len().is_multiple_of(2);
    whole.then(|| std::iter::once(first).chain(distances.map(move |far| first.saturating_add(far))))
}

/// Shows the places of a list after `after`, up to and with `up_to`, in order, until `see` has enough.
pub(super) fn walk<E: From<rusqlite::Error>>(
    connection: &Connection,
    of: Of,
    (after, up_to): (i64, i64),
    mut see: impl FnMut(i64) -> Result<bool, E>,
) -> Result<(), E> {
    let (what, id) = of.key();
    // The piece in which `after` stands, or would, is the first that can hold a place after it.
    let sql = "SELECT first, rest FROM lists WHERE what = ?1 AND id = ?2 AND first <= ?4 AND first >= coalesce( \
               (SELECT max(first) FROM lists WHERE what = ?1 AND id = ?2 AND first <= ?3), 0) ORDER BY first";
    let mut statement = connection.prepare_cached(sql)?;
    let mut pieces = statement.query(params![what, id, after, up_to])?;
    while let Some(piece) = pieces.next()? {
        let seqs =
            unpack(piece.get(0)?, piece.get_ref(1)?).ok_or_else(|| disagrees("a list is unreadable"))?;
        for seq in seqs.filter(|seq| *seq > after && *seq <= up_to) {
            if !see(seq)? {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// The last place in a stream that has no row beyond the lists.
pub(super) fn end(connection: &Connection, stream: i64) -> Result<u64, rusqlite::Error> {
    let (what, id) = Of::Stream(stream).key();
    let sql = "SELECT first, rest FROM lists WHERE what = ?1 AND id = ?2 ORDER BY first DESC LIMIT 1";
    let last: Option<Option<i64>> = connection
        .prepare_cached(sql)?
        .query_row([what, id], |row| Ok(unpack(row.get(0)?, row.get_ref(1)?).and_then(Iterator::last)))
        .optional()?;
    // A stream is given a number together with its first row.
    let last = last.ok_or_else(|| disagrees("a stream has no list"))?;
    let row = last.ok_or_else(|| disagrees("a list is unreadable"))?;
    connection
        .prepare_cached("SELECT stream_seq FROM rows WHERE seq = ?1 AND stream = ?2")?
        .query_row([row, stream], |row| {
            columns::count(row.get_ref(0)?)
                .ok_or_else(|| disagrees("a row's place in its stream is unreadable"))
        })
        .optional()?
        .ok_or_else(|| disagrees("a list does not agree with the rows"))
}

/// Looks up every name of a stream or a kind as a reader would: the index of names may have lost one, or give it
/// another's number, while the names themselves are as they were.
pub(super) fn strange_name(connection: &Connection) -> Result<Option<&'static str>, rusqlite::Error> {
    // Without NOT INDEXED the names would be taken from the very index that they are held against.
    for (all, one) in [
        ("SELECT id, name FROM streams NOT INDEXED", "SELECT id FROM streams WHERE name = ?1"),
        ("SELECT id, name FROM kinds NOT INDEXED", "SELECT id FROM kinds WHERE name = ?1"),
    ] {
        let mut statement = connection.prepare_cached(all)?;
        let mut names = statement.query([])?;
        while let Some(row) = names.next()? {
            let (id, name): (i64, Value) = (row.get(0)?, row.get(1)?);
            let found: Option<i64> =
                connection.prepare_cached(one)?.query_row([name], |row| row.get(0)).optional()?;
            if found != Some(id) {
                return Ok(Some("the index of names does not agree with the names"));
            }
        }
    }
    Ok(None)
}

/// Whether there are names that no row uses, or a second head: no writer of ours leaves any, so somebody keeps
/// something there. The lists were held against the rows before.
pub(super) fn unused_name(connection: &Connection) -> Result<Option<&'static str>, rusqlite::Error> {
    let beyond = beyond(connection, indexed(connection)?)?;
    let streams: BTreeSet<i64> = beyond.iter().map(|entry| entry.stream).collect();
    let kinds: BTreeSet<i64> = beyond.iter().map(|entry| entry.kind).collect();
    let unlisted = |table: &str, what: i64| {
        format!(
            "SELECT id FROM {table} WHERE NOT EXISTS \
             (SELECT 1 FROM lists WHERE what = {what} AND lists.id = {table}.id)"
        )
    };
    for (sql, used) in [(unlisted("streams", 0), streams), (unlisted("kinds", 1), kinds)] {
        let mut statement = connection.prepare_cached(&sql)?;
        let mut names = statement.query([])?;
        while let Some(name) = names.next()? {
            if !used.contains(&name.get(0)?) {
                return Ok(Some("there is a name that no row uses"));
            }
        }
    }
    let heads: i64 = connection.query_row("SELECT count(*) FROM head", [], |row| row.get(0))?;
    Ok((heads != 1).then_some("there is more than one head"))
}

/// Damage that no row can be named for.
pub(super) fn disagrees(why: &str) -> rusqlite::Error {
    let corrupt = ffi::Error { code: ErrorCode::DatabaseCorrupt, extended_code: ffi::SQLITE_CORRUPT };
    rusqlite::Error::SqliteFailure(corrupt, Some(why.into()))
}

/// What the lists should hold, as the rows have it: an order-free sum over the places. So holding the lists
/// against the rows needs no memory and one walk.
#[derive(Debug)]
pub(super) struct Sum {
    indexed: i64,
    sum: u64,
}

impl Sum {
    /// Before the first row.
    pub(super) fn new(indexed: u64) -> Self {
        Sum { indexed: int(indexed), sum: 0 }
    }

    /// Takes the next row in.
    pub(super) fn row(&mut self, entry: Entry) {
        if entry.seq <= self.indexed {
            self.add(Of::Stream(entry.stream), entry.seq);
            self.add(Of::Kind(entry.kind), entry.seq);
        }
    }

    fn add(&mut self, of: Of, seq: i64) {
        let (what, id) = of.key();
        self.sum = self.sum.wrapping_add(mixed([what, id, seq]));
    }

    /// Walks the lists: what is wrong with one that would hide a row from a reader, or show it twice.
    pub(super) fn disagreement(
        &self,
        connection: &Connection,
    ) -> Result<Option<&'static str>, rusqlite::Error> {
        let mut statement =
            connection.prepare_cached("SELECT what, id, first, rest FROM lists ORDER BY what, id, first")?;
        let mut pieces = statement.query([])?;
        let (mut sum, mut last) = (0_u64, None);
        while let Some(piece) = pieces.next()? {
            let (what, id): (i64, i64) = (piece.get(0)?, piece.get(1)?);
            let Some(seqs) = unpack(piece.get(2)?, piece.get_ref(3)?) else {
                return Ok(Some("a list is unreadable"));
            };
            for seq in seqs {
                let here = [what, id, seq];
                if last.is_some_and(|last| last >= here) {
                    return Ok(Some("a list is out of order"));
                }
                sum = sum.wrapping_add(mixed(here));
                last = Some(here);
            }
        }
        Ok((sum != self.sum).then_some("the lists do not agree with the rows"))
    }
}

/// Spreads three numbers over 64 bits, as SplitMix64 ends. Accidents are to be found, and the lazy: whoever forges
/// sums hides rows from a page and moves the end of a stream, but hides nothing from a walk, an export, or the
/// holds that an erasure asks for.
fn mixed(values: [i64; 3]) -> u64 {
    values.iter().fold(0x9E37_79B9_7F4A_7C15, |hash, value| {
        let mut mixed = (hash ^ value.cast_unsigned()).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 32)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_gives_its_places_back() {
        let check = |first: i64, rest: &[i64], fit: usize| {
            let packed = pack(first, rest);
            let found: Vec<i64> = unpack(first, ValueRef::Blob(&packed)).unwrap().collect();
            assert_eq!(found, [&[first], &rest[..fit]].concat());
        };
        check(7, &[], 0);
        check(7, &[8, 9, 500, 65_542], 4);
        check(7, &[8, 65_543, 65_544], 1);
        check(i64::MAX, &[i64::MIN], 0);
        assert!(unpack(7, ValueRef::Blob(&[1])).is_none());
        assert!(unpack(7, ValueRef::Null).is_none());
    }
}
