//! Reads rows, blobs and snapshots.
//! Owns: the queries. Must not: hold more than one page, or one row of a walk, in memory.

use super::columns::{self, Entry, Interned, int};
use super::erase;
use super::indexes::{self, Of};
use super::readers::Stop;
use countersign_record::chain::{Head, genesis};
use countersign_record::digest::Digest;
use countersign_record::id::{FoldId, MatterId};
use countersign_record::row::RowRef;
use countersign_record::upcast::Upcasts;
use countersign_runtime::ports::ledger::{
    Blob, Error, Glancer, PAGE_ROWS_MAX, Page, Query, Select, Snapshot, Visitor,
};
use rusqlite::{Connection, OptionalExtension, params};
use std::ops::ControlFlow;

/// A page ends after this many bytes of payload, even if it could hold more rows: 1,000 rows of 1 MiB are no page.
const PAGE_BYTES_MAX: usize = 8 * 1024 * 1024;

/// A page of rows: those in the lists, then the few beyond them.
pub(super) fn page(
    connection: &Connection,
    matter: &MatterId,
    upcasts: &Upcasts,
    query: &Query,
) -> Result<Page, Stop> {
    let limit = query.limit.clamp(1, PAGE_ROWS_MAX);
    let range = (int(query.after), int(query.up_to));
    let mut filling = Filling {
        connection,
        matter,
        upcasts,
        limit,
        bytes: 0,
        interned: Interned::new(),
        page: Page { rows: Vec::new(), next: None },
    };
    if query.select == Select::All {
        filling.fill(None, range)?;
        return Ok(filling.page);
    }
    let of = list_of(connection, &query.select)?;
    if let Some(of) = of {
        filling.fill_from_list(of, range)?;
        let beyond = int(indexes::indexed(connection)?).max(range.0);
        filling.fill(Some(of), (beyond, range.1))?;
    }
    Ok(filling.page)
}

/// The list of a selection, if there is one.
fn list_of(connection: &Connection, select: &Select) -> Result<Option<Of>, rusqlite::Error> {
    Ok(match select {
        Select::All => None,
        Select::Kind(kind) => {
            number(connection, "SELECT id FROM kinds WHERE name = ?1", kind.as_str())?.map(Of::Kind)
        }
        Select::Stream(stream) => {
            number(connection, "SELECT id FROM streams WHERE name = ?1", stream.as_str())?.map(Of::Stream)
        }
    })
}

/// A page that is being filled.
struct Filling<'a> {
    connection: &'a Connection,
    matter: &'a MatterId,
    upcasts: &'a Upcasts,
    limit: usize,
    bytes: usize,
    interned: Interned,
    page: Page,
}

impl Filling<'_> {
    /// Takes in the rows of a range, of one list only if one is named.
    fn fill(&mut self, of: Option<Of>, (after, up_to): (i64, i64)) -> Result<(), Stop> {
        let sql = format!("SELECT {} FROM rows WHERE seq > ?1 AND seq <= ?2 ORDER BY seq", columns::COLUMNS);
        let mut statement = self.connection.prepare_cached(&sql)?;
        let mut rows = statement.query([after, up_to])?;
        while self.page.next.is_none()
            && let Some(row) = rows.next()?
        {
            if of.is_none_or(|of| of.holds(columns::entry(row))) {
                self.take(row)?;
            }
        }
        Ok(())
    }

    /// Takes in the rows of a list.
    fn fill_from_list(&mut self, of: Of, range: (i64, i64)) -> Result<(), Stop> {
        let sql = format!("SELECT {} FROM rows WHERE seq = ?1", columns::COLUMNS);
        let mut statement = self.connection.prepare_cached(&sql)?;
        indexes::walk(self.connection, of, range, |seq| {
            let mut rows = statement.query([seq])?;
            match rows.next()? {
                Some(row) if of.holds(columns::entry(row)) => self.take(row)?,
                Some(_) | None => return Err(unlisted(seq)),
            }
            Ok(self.page.next.is_none())
        })
    }

    /// Takes the row in, unless the page is full: then `next` says that there are more.
    fn take(&mut self, row: &rusqlite::Row<'_>) -> Result<(), Stop> {
        if self.page.rows.len() == self.limit || self.bytes > PAGE_BYTES_MAX {
            self.page.next = self.page.rows.last().map(|row| row.seq);
            return Ok(());
        }
        let (seq, stored) = columns::read(self.connection, &mut self.interned, row)?;
        let seq = u64::try_from(seq).unwrap_or(0);
        let unreadable = |what| Error::RowCorrupt { seq, why: format!("{what} is unreadable") };
        let stored = stored.map_err(unreadable)?;
        // What is shown as a row is one that was appended: the hashes cost less than a wrong answer.
        let is_as_appended = stored.computed_hash(self.matter.as_str()) == stored.hash
            && Digest::of(stored.payload) == stored.payload_hash;
        if !is_as_appended {
            return Err(Error::RowCorrupt { seq, why: "it is not as it was appended".into() }.into());
        }
        self.bytes += stored.payload.len();
        let row = stored.to_row().map_err(|why| Error::RowCorrupt { seq, why: why.to_string() })?;
        self.page.rows.push(self.upcasts.read(row).map_err(Error::from)?);
        Ok(())
    }
}

fn number(connection: &Connection, sql: &str, name: &str) -> Result<Option<i64>, rusqlite::Error> {
    connection.prepare_cached(sql)?.query_row([name], |row| row.get(0)).optional()
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

/// Shows every row after `after` at a glance.
pub(super) fn glance(connection: &Connection, after: u64, mut glancer: Glancer) -> Result<(), Stop> {
    let sql = format!("SELECT {} FROM rows WHERE seq > ?1 ORDER BY seq", columns::AT_A_GLANCE);
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query([int(after)])?;
    let mut interned = Interned::new();
    while let Some(row) = rows.next()? {
        let (seq, glance) = columns::glance(connection, &mut interned, row)?;
        let seq = u64::try_from(seq).unwrap_or(0);
        if glancer(seq, glance.map_err(|what| format!("{what} is unreadable"))).is_break() {
            break;
        }
    }
    Ok(())
}

/// Shows the rows of a selection up to a place at a glance: those in the list, then the few beyond it.
pub(super) fn glance_at(
    connection: &Connection,
    select: &Select,
    up_to: u64,
    mut glancer: Glancer,
) -> Result<(), Stop> {
    let up_to = int(up_to);
    let mut interned = Interned::new();
    let mut see = |row: &rusqlite::Row<'_>| -> Result<bool, Stop> {
        let (seq, glance) = columns::glance(connection, &mut interned, row)?;
        let seq = u64::try_from(seq).unwrap_or(0);
        Ok(glancer(seq, glance.map_err(|what| format!("{what} is unreadable"))).is_continue())
    };
    let of = list_of(connection, select)?;
    if of.is_none() && *select != Select::All {
        return Ok(());
    }
    let mut beyond = 0;
    if let Some(of) = of {
        let sql = format!("SELECT {} FROM rows WHERE seq = ?1", columns::AT_A_GLANCE);
        let mut statement = connection.prepare_cached(&sql)?;
        let mut goes_on = true;
        indexes::walk(connection, of, (0, up_to), |seq| {
            let mut rows = statement.query([seq])?;
            let row = rows.next()?.filter(|row| of.holds(columns::entry(row)));
            goes_on = see(row.ok_or_else(|| unlisted(seq))?)?;
            Ok::<bool, Stop>(goes_on)
        })?;
        if !goes_on {
            return Ok(());
        }
        beyond = int(indexes::indexed(connection)?);
    }
    let sql = format!("SELECT {} FROM rows WHERE seq > ?1 AND seq <= ?2 ORDER BY seq", columns::AT_A_GLANCE);
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query([beyond, up_to])?;
    while let Some(row) = rows.next()? {
        if of.is_none_or(|of| of.holds(columns::entry(row))) && !see(row)? {
            break;
        }
    }
    Ok(())
}

/// A list names a row that is not of it.
fn unlisted(seq: i64) -> Stop {
    let seq = u64::try_from(seq).unwrap_or(0);
    Error::RowCorrupt { seq, why: "it is not where it is listed".into() }.into()
}

/// A blob's bytes.
pub(super) fn blob(connection: &Connection, digest: Digest) -> Result<Blob, Stop> {
    let Some(record) = erase::record(connection, digest)? else {
        return Err(erase::unknown_or_missing(connection, digest)?.into());
    };
    if !record.is_present() {
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
