//! Reads rows, blobs and snapshots.
//! Owns: the queries. Must not: hold more than one page, or one row of a walk, in memory.

use super::columns::{self, Entry, Interned, int};
use super::erase;
use super::indexes;
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

/// A page of rows: what the indexes know, then the rows beyond them.
pub(super) fn page(connection: &Connection, upcasts: &Upcasts, query: &Query) -> Result<Page, Stop> {
    let limit = query.limit.clamp(1, PAGE_ROWS_MAX);
    let (after, up_to) = (int(query.after), int(query.up_to));
    let beyond = int(indexes::indexed(connection)?).max(after);
    let mut filling =
        Filling { connection, upcasts, limit, bytes: 0, page: Page { rows: Vec::new(), next: None } };
    match &query.select {
        Select::All => filling.fill(&of_all(), [0, after, up_to])?,
        Select::Kind(kind) => {
            let id = number(connection, "SELECT id FROM kinds WHERE name = ?1", kind.as_str())?;
            if let Some(id) = id {
                filling.fill(&of_kind(), [id, after, up_to])?;
                filling.fill(&of_kind_beyond(), [id, beyond, up_to])?;
            }
        }
        Select::Stream(stream) => {
            let id = number(connection, "SELECT id FROM streams WHERE name = ?1", stream.as_str())?;
            if let Some(id) = id {
                let first = indexes::first_after(connection, id, after)?;
                filling.fill(&of_stream(), [id, first, up_to])?;
                filling.fill(&of_stream_beyond(), [id, beyond, up_to])?;
            }
        }
    }
    Ok(filling.page)
}

fn of_all() -> String {
    format!("SELECT {} FROM rows WHERE seq > ?2 AND seq <= ?3 ORDER BY seq", columns::COLUMNS)
}

fn of_kind() -> String {
    format!(
        "SELECT {} FROM by_kind AS found CROSS JOIN rows USING (seq) \
         WHERE found.kind = ?1 AND found.seq > ?2 AND found.seq <= ?3 ORDER BY found.seq",
        columns::OF_ROWS
    )
}

/// By the place in the stream, so that the rows come in order without being sorted.
fn of_stream() -> String {
    format!(
        "SELECT {} FROM by_stream AS found CROSS JOIN rows USING (seq) \
         WHERE found.stream = ?1 AND found.stream_seq >= ?2 AND found.seq <= ?3 ORDER BY found.stream_seq",
        columns::OF_ROWS
    )
}

fn of_kind_beyond() -> String {
    format!("SELECT {} FROM rows WHERE kind = ?1 AND seq > ?2 AND seq <= ?3 ORDER BY seq", columns::COLUMNS)
}

fn of_stream_beyond() -> String {
    format!("SELECT {} FROM rows WHERE stream = ?1 AND seq > ?2 AND seq <= ?3 ORDER BY seq", columns::COLUMNS)
}

/// A page that is being filled.
struct Filling<'a> {
    connection: &'a Connection,
    upcasts: &'a Upcasts,
    limit: usize,
    bytes: usize,
    page: Page,
}

impl Filling<'_> {
    /// Takes rows in until the page is full; then `next` says that there are more.
    fn fill(&mut self, sql: &str, parameters: [i64; 3]) -> Result<(), Stop> {
        if self.page.next.is_some() {
            return Ok(());
        }
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut found = statement.query(parameters)?;
        let mut interned = Interned::new();
        while let Some(row) = found.next()? {
            if self.page.rows.len() == self.limit || self.bytes > PAGE_BYTES_MAX {
                self.page.next = self.page.rows.last().map(|row| row.seq);
                return Ok(());
            }
            let (seq, stored) = columns::read(self.connection, &mut interned, row)?;
            let seq = u64::try_from(seq).unwrap_or(0);
            let unreadable = |what| Error::RowCorrupt { seq, why: format!("{what} is unreadable") };
            let stored = stored.map_err(unreadable)?;
            self.bytes += stored.payload.len();
            let row = stored.to_row().map_err(|why| Error::RowCorrupt { seq, why: why.to_string() })?;
            self.page.rows.push(self.upcasts.read(row).map_err(Error::from)?);
        }
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

#[cfg(test)]
mod tests {
    use super::super::schema::{Files, create, open_writer};
    use super::*;
    use countersign_testkit::scratch::Scratch;

    /// A page must cost what it holds, not what the ledger holds: every query goes by an index.
    #[test]
    fn pages_and_ends_go_by_an_index() {
        let scratch = Scratch::new();
        let files = Files::of(scratch.path(), "m");
        std::fs::create_dir_all(&files.dir).unwrap();
        create(&files, &[0; 32]).unwrap();
        let connection = open_writer(&files).unwrap();
        let check = |sql: &str, ways: &[&str]| {
            let mut plan = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
            let mut steps = plan.raw_query();
            let mut found = Vec::new();
            while let Some(step) = steps.next().unwrap() {
                found.push(step.get::<_, String>(3).unwrap());
            }
            assert_eq!(found, ways, "{sql}");
        };
        let of_rows = "SEARCH rows USING INTEGER PRIMARY KEY (rowid=?)";
        let a_few = "SEARCH rows USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)";
        check(&of_all(), &[a_few]);
        check(&of_kind(), &["SEARCH found USING PRIMARY KEY (kind=? AND seq>? AND seq<?)", of_rows]);
        check(&of_stream(), &["SEARCH found USING PRIMARY KEY (stream=? AND stream_seq>?)", of_rows]);
        check(&of_kind_beyond(), &[a_few]);
        check(&of_stream_beyond(), &[a_few]);
    }
}
