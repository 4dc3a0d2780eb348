//! Erases a blob's bytes for good.
//! Owns: holds, the receipt, and that no copy of the bytes stays in the file or its log. Must not: touch a row.

use super::append::Pen;
use super::columns::{self, int};
use super::read::walk;
use super::readers::Stop;
use super::schema::BUSY_MAX;
use countersign_record::digest::Digest;
use countersign_record::hold::{self, Holds};
use countersign_record::row::Sealed;
use countersign_record::upcast;
use countersign_runtime::ports::ledger::{Error, Stamp};
use rusqlite::{Connection, OptionalExtension, params};
use std::ops::ControlFlow;
use std::time::Duration;

/// Erases the blob and puts the receipt in. The inner error is a refusal.
pub(super) fn erase(
    pen: &mut Pen<'_>,
    digest: Digest,
    receipt: &Sealed,
) -> Result<Result<Stamp, Error>, rusqlite::Error> {
    let record = match record(pen.connection, digest)? {
        Some(record) if record.is_present() => record,
        Some(Record { receipt: Some(receipt), .. }) => return Ok(Err(Error::Erased { digest, receipt })),
        Some(_) => return Ok(Err(Error::BlobMissing { digest })),
        None => return Ok(Err(unknown_or_missing(pen.connection, digest)?)),
    };
    // Bytes that were put there by other hands get no receipt of ours.
    if first_naming(pen.connection, digest)?.is_none() {
        return Ok(Err(Error::BlobUnknown { digest }));
    }
    let holds = match holds(pen.connection) {
        Ok(holds) => holds,
        Err(Stop::Ledger(error)) => return Ok(Err(error)),
        Err(Stop::Sqlite(error)) => return Err(error),
    };
    if let Some(hold) = holds.keeping(&digest) {
        return Ok(Err(Error::Held { digest, hold: hold.clone() }));
    }
    let first = pen.state.head.seq + 1;
    let stamp = pen.put(receipt, None, first)?;
    // The record shrinks in its place: SQLite frees the pages of the bytes and overwrites them with zeros.
    pen.connection
        .prepare_cached("UPDATE blobs SET bytes = NULL, receipt = ?2 WHERE id = ?1")?
        .execute(params![record.id, int(stamp.seq)])?;
    Ok(Ok(stamp))
}

/// How long one attempt to empty the log waits for readers; appends wait as long, so it is short.
const PURGE_MAX: Duration = Duration::from_millis(5);

/// Whether the log can hold bytes of an erased blob: something was erased once. Its kind is named with the first
/// receipt.
pub(super) fn was_ever(connection: &Connection) -> Result<bool, rusqlite::Error> {
    let sql = "SELECT EXISTS (SELECT 1 FROM kinds WHERE name = ?1)";
    connection.prepare_cached(sql)?.query_row([hold::ERASED], |row| row.get(0))
}

/// Copies the log into the file and empties it; `false` if a reader still needs it.
pub(super) fn purge(connection: &Connection) -> Result<bool, rusqlite::Error> {
    connection.busy_timeout(PURGE_MAX)?;
    let busy = connection
        .prepare_cached("PRAGMA wal_checkpoint(TRUNCATE)")
        .and_then(|mut checkpoint| checkpoint.query_row([], |row| row.get::<_, i64>(0)));
    connection.busy_timeout(BUSY_MAX)?;
    match busy {
        Ok(busy) => Ok(busy == 0),
        Err(error) if error.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseBusy) => Ok(false),
        Err(error) => Err(error),
    }
}

/// What the blobs table says of a digest.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record {
    pub(super) id: i64,
    /// How many bytes there should be.
    pub(super) size: Option<u64>,
    /// How many there are; `None` if they were erased.
    pub(super) length: Option<u64>,
    pub(super) receipt: Option<u64>,
}

impl Record {
    pub(super) fn is_present(&self) -> bool {
        self.length.is_some()
    }
}

/// The newest record of a digest.
pub(super) fn record(connection: &Connection, digest: Digest) -> Result<Option<Record>, rusqlite::Error> {
    let sql = "SELECT id, size, length(bytes), receipt FROM blobs WHERE digest = ?1 ORDER BY id DESC LIMIT 1";
    connection
        .prepare_cached(sql)?
        .query_row([digest.as_bytes()], |row| {
            let count = |at| row.get_ref(at).map(columns::count);
            Ok(Record { id: row.get(0)?, size: count(1)?, length: count(2)?, receipt: count(3)? })
        })
        .optional()
}

/// Tells a digest that no row names from one whose record is gone.
pub(super) fn unknown_or_missing(connection: &Connection, digest: Digest) -> Result<Error, rusqlite::Error> {
    Ok(match first_naming(connection, digest)? {
        Some(_) => Error::BlobMissing { digest },
        None => Error::BlobUnknown { digest },
    })
}

/// The first row that names a blob. A walk over the rows with blobs: only a stranger or damage asks for it.
pub(super) fn first_naming(connection: &Connection, digest: Digest) -> Result<Option<u64>, rusqlite::Error> {
    let sql = "SELECT seq, blobs FROM rows WHERE blobs IS NOT NULL ORDER BY seq";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let names = match row.get_ref(1)? {
            rusqlite::types::ValueRef::Blob(packed) => {
                packed.chunks(40).any(|one| one.starts_with(digest.as_bytes()))
            }
            _ => false,
        };
        if names {
            return Ok(columns::count(row.get_ref(0)?));
        }
    }
    Ok(None)
}

/// The holds in force, by a walk over every row: an index that lost one would give up what it keeps, and erasures
/// are rare. A row that can't be read may be a hold: nothing is erased while there is one.
fn holds(connection: &Connection) -> Result<Holds, Stop> {
    let mut holds = Holds::default();
    walk(connection, i64::MIN, |entry, stored| {
        let seq = u64::try_from(entry.seq).unwrap_or(0);
        let corrupt = |why: String| Error::RowCorrupt { seq, why };
        let stored = stored.map_err(|what| corrupt(format!("{what} is unreadable")))?;
        if matches!(stored.kind, hold::PLACED | hold::RELEASED) {
            let row = stored.to_row().map_err(|why| corrupt(why.to_string()))?;
            holds.apply(&upcast::LEDGER.read(row).map_err(Error::from)?);
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(holds)
}
