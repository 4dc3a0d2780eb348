//! The tables of a matter's file.
//! Owns: what they are, and that a file holds these and nothing else. Must not: read or write a row.

use rusqlite::{Connection, MAIN_DB};
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// `lists` is an index that the writer fills a thousand rows at a time, see `indexes`.
///
/// Rows are never updated or deleted; `blobs` is only ever given a NULL for bytes, and bytes that come back are a
/// new record. So no page is ever merged or split in the middle, and no stale copy of erased bytes is left in one.
pub(super) const TABLES: &str = "
CREATE TABLE head(
    only INTEGER PRIMARY KEY,
    seq INTEGER NOT NULL,
    hash BLOB NOT NULL,
    indexed INTEGER NOT NULL
) STRICT;
CREATE TABLE streams(
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
) STRICT;
CREATE TABLE kinds(
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
) STRICT;
CREATE TABLE rows(
    seq INTEGER PRIMARY KEY,
    stream INTEGER NOT NULL,
    stream_seq INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    version INTEGER NOT NULL,
    at TEXT NOT NULL,
    actor TEXT NOT NULL,
    proof INTEGER NOT NULL,
    key BLOB,
    signature BLOB,
    cause INTEGER,
    idem_key TEXT,
    data_class INTEGER NOT NULL,
    taint INTEGER NOT NULL,
    payload_hash BLOB NOT NULL,
    prev_hash BLOB NOT NULL,
    hash BLOB NOT NULL,
    blobs BLOB,
    payload BLOB NOT NULL
) STRICT;
CREATE TABLE lists(
    what INTEGER NOT NULL,
    id INTEGER NOT NULL,
    first INTEGER NOT NULL,
    rest BLOB NOT NULL,
    PRIMARY KEY (what, id, first)
) STRICT, WITHOUT ROWID;
CREATE INDEX rows_with_blobs ON rows(seq) WHERE blobs IS NOT NULL;
CREATE TABLE idem(
    key TEXT PRIMARY KEY,
    request_hash BLOB,
    first_seq INTEGER NOT NULL,
    count INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE blobs(
    id INTEGER PRIMARY KEY,
    digest BLOB NOT NULL,
    size INTEGER NOT NULL,
    receipt INTEGER,
    bytes BLOB
) STRICT;
CREATE INDEX blobs_by_digest ON blobs(digest);
CREATE TABLE snapshots(
    fold TEXT PRIMARY KEY,
    version INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    hash BLOB NOT NULL,
    bytes BLOB NOT NULL
) STRICT;
";

/// One object of a database, as SQLite describes it: kind, name, table and the text that made it.
type Object = (String, String, String, Option<String>);

/// What a file of ours holds: read off the text that makes it. To have SQLite make it once more takes a tenth of the time that
/// a command has.
static OURS: LazyLock<BTreeSet<Object>> = LazyLock::new(|| {
    let made = TABLES.split(';').map(str::trim).filter(|text| !text.is_empty());
    let made = made.filter_map(|text| {
        let mut words = text.split([' ', '(']).skip(1);
        let (kind, name) = (words.next()?.to_lowercase(), words.next()?.to_owned());
        let table = words.nth(1).filter(|_| kind == "index").map_or_else(|| name.clone(), str::to_owned);
        Some((kind, name, table, Some(text.to_owned())))
    });
    // SQLite's own indexes, for what is unique.
    let own = |table: &&str| {
        let name = format!("sqlite_autoindex_{table}_1");
        ("index".to_owned(), name, (*table).to_owned(), None)
    };
    made.chain(["streams", "kinds", "snapshots"].iter().map(own)).collect()
});

/// The first thing that the file holds beside our tables, or lacks. A trigger or a view of other hands would act
/// on what we write, or show what is not there.
pub(super) fn first_strange(connection: &Connection) -> Result<Option<String>, rusqlite::Error> {
    let ours = &*OURS;
    let found = objects(connection)?;
    let strange = found.symmetric_difference(ours).next();
    Ok(strange.map(|object| {
        let (kind, name, ..) = object;
        match (found.contains(object), ours.iter().any(|(_, ours, ..)| ours == name)) {
            (true, false) => format!("it holds the {kind} {name}, which no ledger has"),
            (true, true) | (false, _) => format!("its {kind} {name} is not the one of a ledger"),
        }
    }))
}

fn objects(connection: &Connection) -> Result<BTreeSet<Object>, rusqlite::Error> {
    let sql =
        format!("SELECT type, name, tbl_name, sql FROM \"{}\".sqlite_schema", MAIN_DB.to_string_lossy());
    let mut statement = connection.prepare(&sql)?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))?;
    rows.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_off_the_text_is_what_sqlite_makes_of_it() {
        let memory = Connection::open_in_memory().unwrap();
        memory.execute_batch(TABLES).unwrap();
        assert_eq!(objects(&memory).unwrap(), *OURS);
    }
}
