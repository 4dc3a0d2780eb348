//! Reads rows, blobs and snapshots.
//! Owns: the queries. Must not: hold more than one page, or one row of a walk, in memory.

use super::columns::{self, Entry, Interned, int};
use super::erase;
use super::readers::Stop;
use countersign_record::chain::{Head, genesis};
use countersign_record::digest::Digest;
use countersign_record::id::{FoldId, MatterId};
use countersign_record::row::RowRef;
use countersign_record::upcast::Upcasts;
use countersign_runtime::ports::ledger::{
    Blob, Error, PAGE_ROWS_MAX, Page, Query, Select, Snapshot, Visitor,
};
use rusqlite::{Connection, OptionalExtension, params};
use std::ops::ControlFlow;

/// A page ends after this many bytes of payload, even if it could hold more rows: 1,000 rows of 1 MiB are no page.
const PAGE_BYTES_MAX: usize = 8 * 1024 * 1024;

/// A page of rows.
pub(super) fn page(connection: &Connection, upcasts: &Upcasts, query: &Query) -> Result<Page, Stop> {
    let limit = query.limit.clamp(1, PAGE_ROWS_MAX);
    let (first, last) = (query.after, int(query.up_to));
    let columns = columns::COLUMNS;
    let (sql, id, from) = match &query.select {
        Select::All => {
            (format!("SELECT {columns} FROM rows WHERE seq > ?2 AND seq <= ?3 ORDER BY seq"), 0, int(first))
        }
        Select::Kind(kind) => {
            let Some(id) = number(connection, "SELECT id FROM kinds WHERE name = ?1", kind.as_str())? else {
                return Ok(Page { rows: Vec::new(), next: None });
            };
            let sql =
                format!("SELECT {columns} FROM rows WHERE kind = ?1 AND seq > ?2 AND seq <= ?3 ORDER BY seq");
            (sql, id, int(first))
        }
        Select::Stream(stream) => {
            let Some(id) = number(connection, "SELECT id FROM streams WHERE name = ?1", stream.as_str())?
            else {
                return Ok(Page { rows: Vec::new(), next: None });
            };
            let sql = format!(
                "SELECT {columns} FROM rows WHERE stream = ?1 AND stream_seq >= ?2 AND seq <= ?3 ORDER BY stream_seq"
            );
            (sql, id, first_after(connection, id, int(first))?)
        }
    };
    let mut statement = connection.prepare_cached(&sql)?;
    let mut found = statement.query(params![id, from, last])?;
    let mut interned = Interned::new();
    let mut page = Page { rows: Vec::new(), next: None };
    let mut bytes = 0;
    while let Some(row) = found.next()? {
        if page.rows.len() == limit || bytes > PAGE_BYTES_MAX {
            page.next = page.rows.last().map(|row| row.seq);
            break;
        }
        let (seq, stored) = columns::read(connection, &mut interned, row)?;
        let seq = u64::try_from(seq).unwrap_or(0);
        let stored =
            stored.map_err(|what| Error::RowCorrupt { seq, why: format!("{what} is unreadable") })?;
        bytes += stored.payload.len();
        let row = stored.to_row().map_err(|why| Error::RowCorrupt { seq, why: why.to_string() })?;
        page.rows.push(upcasts.read(row).map_err(Error::from)?);
    }
    Ok(page)
}

fn number(connection: &Connection, sql: &str, name: &str) -> Result<Option<i64>, rusqlite::Error> {
    connection.prepare_cached(sql)?.query_row([name], |row| row.get(0)).optional()
}

/// The place in its stream of the first row after `after`. Places in a stream and in the matter grow together, so
/// it is found by halving, and a page deep in a long stream costs no more than its first.
fn first_after(connection: &Connection, stream: i64, after: i64) -> Result<i64, rusqlite::Error> {
    if after <= 0 {
        return Ok(0);
    }
    let mut last = connection
        .prepare_cached("SELECT stream_seq FROM rows WHERE stream = ?1 ORDER BY stream_seq DESC LIMIT 1")?
        .query_row([stream], |row| row.get::<_, i64>(0))
        .optional()?
        .map_or(0, |last| last.saturating_add(1));
    let mut first = 0;
    let mut probe = connection.prepare_cached(
        "SELECT seq FROM rows WHERE stream = ?1 AND stream_seq >= ?2 ORDER BY stream_seq LIMIT 1",
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

/// Shows every row after `after` to `see`, exactly as it is stored.
pub(super) fn walk(
    connection: &Connection,
    after: i64,
    mut see: impl FnMut(Entry, Result<RowRef<'_>, &'static str>) -> Result<ControlFlow<()>, Stop>,
) -> Result<(), Stop> {
    let sql = format!("SELECT {} FROM rows WHERE seq > ?1 ORDER BY seq", columns::COLUMNS);
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query([after])?;
    let mut interned = Interned::new();
    while let Some(row) = rows.next()? {
        let entry = columns::entry(row);
        let (_, stored) = columns::read(connection, &mut interned, row)?;
        if see(entry, stored)?.is_break() {
            break;
        }
    }
    Ok(())
}

/// A walk for a caller outside.
pub(super) fn scan(connection: &Connection, after: u64, mut visitor: Visitor) -> Result<(), Stop> {
    walk(connection, int(after), |entry, stored| {
        let seq = u64::try_from(entry.seq).unwrap_or(0);
        Ok(visitor(seq, stored.map_err(|what| format!("{what} is unreadable"))))
    })
}

/// A blob's bytes.
pub(super) fn blob(connection: &Connection, digest: Digest) -> Result<Blob, Stop> {
    let Some(record) = erase::record(connection, digest)? else {
        return Err(erase::unknown_or_missing(connection, digest)?.into());
    };
    if !record.is_present {
        return match record.receipt {
            Some(receipt) => Ok(Blob::Erased { receipt }),
            None => Err(Error::BlobMissing { digest }.into()),
        };
    }
    let bytes: Vec<u8> = connection
        .prepare_cached("SELECT bytes FROM blobs WHERE id = ?1")?
        .query_row([record.id], |row| row.get(0))?;
    if Digest::of(&bytes) != digest {
        return Err(Error::BlobChanged { digest }.into());
    }
    Ok(Blob::Present(bytes))
}

/// A fold's state, if it is of this version and of this history.
pub(super) fn kept(
    connection: &Connection,
    matter: &MatterId,
    fold: &FoldId,
    version: u32,
) -> Result<Option<Snapshot>, Stop> {
    let sql = "SELECT seq, hash, bytes FROM snapshots WHERE fold = ?1 AND version = ?2";
    let found = connection
        .prepare_cached(sql)?
        .query_row(params![fold.as_str(), version], |row| {
            let (seq, hash) = (columns::count(row.get_ref(0)?), columns::digest(row.get_ref(1)?));
            Ok((seq.zip(hash).map(|(seq, hash)| Head { seq, hash }), row.get(2)?))
        })
        .optional()?;
    let Some((Some(head), bytes)) = found else { return Ok(None) };
    let standing = match head.seq {
        0 => Some(genesis(matter)),
        seq => connection
            .prepare_cached("SELECT hash FROM rows WHERE seq = ?1")?
            .query_row([int(seq)], |row| Ok(columns::digest(row.get_ref(0)?)))
            .optional()?
            .flatten(),
    };
    Ok((standing == Some(head.hash)).then_some(Snapshot { head, bytes }))
}
