//! What the writer knows of its ledger without asking the disk.
//! Owns: the head, whose the rows are, the ends of streams, the numbers of names. Must not: outlive a transaction
//! that failed.

use super::columns::{self, Entry, Interned, int};
use super::failure;
use super::indexes;
use super::schema::Files;
use super::tables;
use countersign_record::chain::{Head, genesis};
use countersign_record::id::{MatterId, RowKind, StreamId};
use countersign_record::row::RowRef;
use countersign_runtime::ports::ledger::Error;
use rusqlite::{Connection, OptionalExtension};
use std::collections::HashMap;

/// Streams and kinds remembered beyond this are forgotten, and looked up again when they are needed.
const REMEMBERED_MAX: usize = 65_536;

/// The end of a stream.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stream {
    /// Its number; `None` if no row of it was ever put in.
    pub(super) id: Option<i64>,
    /// The place of its last row.
    pub(super) last: u64,
}

/// What the writer knows.
#[derive(Debug)]
pub(super) struct State {
    pub(super) head: Head,
    /// The last row that is in the lists of `indexes`.
    indexed: u64,
    /// The rows after it.
    beyond: Vec<Entry>,
    streams: HashMap<StreamId, Stream>,
    kinds: HashMap<RowKind, i64>,
}

/// Reads the head that the ledger itself remembers.
pub(super) fn head(connection: &Connection) -> Result<Head, rusqlite::Error> {
    connection.prepare_cached("SELECT seq, hash FROM head WHERE only = 1")?.query_row([], |row| {
        let hash = columns::digest(row.get_ref(1)?);
        let seq = columns::count(row.get_ref(0)?);
        match (seq, hash) {
            (Some(seq), Some(hash)) => Ok(Head { seq, hash }),
            _ => Err(indexes::disagrees("the recorded head is unreadable")),
        }
    })
}

/// So many rows may bear witness to whose they are when the first one does not.
const WITNESSES_MAX: u32 = 16;

/// Whether the ledger is this matter's. A file under another matter's name would give its rows to whoever may read
/// that one. Damage is not mistaken for another's file, so that `verify` can name it: while one of the first rows
/// has the hash that it would have in this matter (here or, rows being gone or put in, beside here), it is ours.
fn is_of(connection: &Connection, matter: &MatterId) -> Result<bool, rusqlite::Error> {
    let sql = format!("SELECT {} FROM rows ORDER BY seq LIMIT {WITNESSES_MAX}", columns::COLUMNS);
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query([])?;
    let genesis = genesis(matter);
    let mut interned = Interned::new();
    let mut is_empty = true;
    while let Some(row) = rows.next()? {
        is_empty = false;
        // `prev_hash`, looked at by itself: it is there even if the rest of the row can't be read.
        if columns::digest(row.get_ref(15)?) == Some(genesis) {
            return Ok(true);
        }
        let (_, Ok(stored)) = columns::read(connection, &mut interned, row)? else { continue };
        let beside = [stored.seq, stored.seq.saturating_add(1), stored.seq.saturating_sub(1)];
        let ours = |row: RowRef<'_>| row.computed_hash(matter.as_str()) == row.hash;
        if beside.into_iter().any(|seq| ours(RowRef { seq, ..stored }))
            || ours(RowRef { prev_hash: genesis, ..stored })
        {
            return Ok(true);
        }
    }
    // Where every row is gone the head may still say that there were some; whose, nobody can tell.
    let head = head(connection)?;
    Ok(is_empty && (head.seq > 0 || head.hash == genesis))
}

/// Refuses a file that is not a ledger through and through, and a ledger that is another matter's.
pub(super) fn require_of(connection: &Connection, matter: &MatterId, files: &Files) -> Result<(), Error> {
    let strange = || -> Result<Option<String>, rusqlite::Error> {
        if let Some(strange) = tables::first_strange(connection)? {
            return Ok(Some(strange));
        }
        let foreign = || format!("it belongs to another matter than {matter}");
        Ok((!is_of(connection, matter)?).then(foreign))
    };
    match strange() {
        Ok(None) => Ok(()),
        Ok(Some(why)) => Err(Error::Corrupt { place: files.database.display().to_string(), why }),
        Err(error) => Err(failure::of_sqlite(&files.database, &error)),
    }
}

/// The head must be the last row, or the next one would be built on a row that is not there.
fn checked_head(connection: &Connection) -> Result<Head, rusqlite::Error> {
    let head = head(connection)?;
    let last = connection
        .prepare_cached("SELECT seq, hash FROM rows ORDER BY seq DESC LIMIT 1")?
        .query_row([], |row| Ok((columns::count(row.get_ref(0)?), columns::digest(row.get_ref(1)?))))
        .optional()?;
    let agrees = match last {
        Some(last) => last == (Some(head.seq), Some(head.hash)),
        None => head.seq == 0,
    };
    if agrees { Ok(head) } else { Err(indexes::disagrees("the recorded head is not the last row")) }
}

impl State {
    /// Asks the disk.
    pub(super) fn load(connection: &Connection) -> Result<Self, rusqlite::Error> {
        let head = checked_head(connection)?;
        let indexed = indexes::indexed(connection)?;
        if indexed > head.seq {
            return Err(indexes::disagrees("more rows are listed than there are"));
        }
        let beyond = indexes::beyond(connection, indexed)?;
        Ok(State { head, indexed, beyond, streams: HashMap::new(), kinds: HashMap::new() })
    }

    /// Keeps memory bounded; called between transactions.
    pub(super) fn forget_if_many(&mut self) {
        if self.streams.len() > REMEMBERED_MAX {
            self.streams.clear();
        }
        if self.kinds.len() > REMEMBERED_MAX {
            self.kinds.clear();
        }
    }

    /// The end of a stream.
    pub(super) fn stream(
        &mut self,
        connection: &Connection,
        name: &StreamId,
    ) -> Result<Stream, rusqlite::Error> {
        if let Some(stream) = self.streams.get(name) {
            return Ok(*stream);
        }
        let id: Option<i64> = connection
            .prepare_cached("SELECT id FROM streams WHERE name = ?1")?
            .query_row([name.as_str()], |row| row.get(0))
            .optional()?;
        let last = match id {
            Some(id) => match self.beyond.iter().rev().find(|entry| entry.stream == id) {
                Some(entry) => u64::try_from(entry.stream_seq).unwrap_or(0),
                None => indexes::end(connection, id)?,
            },
            None => 0,
        };
        let stream = Stream { id, last };
        self.streams.insert(name.clone(), stream);
        Ok(stream)
    }

    /// The number of a stream and the next place in it; both are taken by this call.
    pub(super) fn next_in_stream(
        &mut self,
        connection: &Connection,
        name: &StreamId,
    ) -> Result<(i64, u64), rusqlite::Error> {
        let mut stream = self.stream(connection, name)?;
        let id = match stream.id {
            Some(id) => id,
            None => {
                connection.prepare_cached("INSERT INTO streams(name) VALUES (?1)")?.insert([name.as_str()])?
            }
        };
        stream = Stream { id: Some(id), last: stream.last + 1 };
        match self.streams.get_mut(name) {
            Some(known) => *known = stream,
            None => drop(self.streams.insert(name.clone(), stream)),
        }
        Ok((id, stream.last))
    }

    /// The number of a kind.
    pub(super) fn kind(&mut self, connection: &Connection, name: &RowKind) -> Result<i64, rusqlite::Error> {
        if let Some(id) = self.kinds.get(name) {
            return Ok(*id);
        }
        let found: Option<i64> = connection
            .prepare_cached("SELECT id FROM kinds WHERE name = ?1")?
            .query_row([name.as_str()], |row| row.get(0))
            .optional()?;
        let id = match found {
            Some(id) => id,
            None => {
                connection.prepare_cached("INSERT INTO kinds(name) VALUES (?1)")?.insert([name.as_str()])?
            }
        };
        self.kinds.insert(name.clone(), id);
        Ok(id)
    }

    /// Moves the head to a row that was put in. When there are enough rows beyond the lists, they are taken in.
    pub(super) fn advance(
        &mut self,
        connection: &Connection,
        head: Head,
        entry: Entry,
    ) -> Result<(), rusqlite::Error> {
        self.head = head;
        self.beyond.push(entry);
        if self.beyond.len() as u64 >= indexes::BEYOND_MAX {
            indexes::extend(connection, &self.beyond)?;
            self.indexed = head.seq;
            self.beyond.clear();
        }
        Ok(())
    }

    /// Writes the head down; part of every transaction that appends.
    pub(super) fn save_head(&self, connection: &Connection) -> Result<(), rusqlite::Error> {
        connection
            .prepare_cached("UPDATE head SET seq = ?1, hash = ?2, indexed = ?3 WHERE only = 1")?
            .execute((int(self.head.seq), self.head.hash.as_bytes(), int(self.indexed)))?;
        Ok(())
    }
}
