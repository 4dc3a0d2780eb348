//! Connections that only read.
//! Owns: a few of them, kept open between reads. Must not: wait for the writer, or keep one to an empty ledger.

use super::failure;
use super::schema::{self, Files, Found, Reader};
use super::state;
use countersign_record::chain::Head;
use countersign_record::id::MatterId;
use countersign_runtime::ports::ledger::Error;
use rusqlite::Connection;
use std::sync::{Mutex, PoisonError};

/// Idle connections that are kept.
const IDLE_MAX: usize = 4;

/// The idle connections of a matter.
#[derive(Debug, Default)]
pub(super) struct Readers {
    idle: Mutex<Vec<Connection>>,
}

/// Why a read ended early.
pub(super) enum Stop {
    /// SQLite failed.
    Sqlite(rusqlite::Error),
    /// The answer is an error of the ledger.
    Ledger(Error),
}

impl From<rusqlite::Error> for Stop {
    fn from(error: rusqlite::Error) -> Self {
        Stop::Sqlite(error)
    }
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Stop::Ledger(error)
    }
}

impl Readers {
    /// Reads in one snapshot: nothing that is appended meanwhile is seen. `work` is given the head.
    pub(super) fn read<T>(
        &self,
        files: &Files,
        matter: &MatterId,
        work: impl FnOnce(&Connection, Head) -> Result<T, Stop>,
    ) -> Result<T, Error> {
        let reader = match self.take() {
            Some(connection) => Reader { connection, is_frozen: false },
            None => match schema::recognise(files)? {
                Found::Ledger => {
                    let reader = schema::open_reader(files)?;
                    state::require_of(&reader.connection, matter, files)?;
                    reader
                }
                Found::Nothing => return Err(Error::Missing { matter: matter.clone() }),
            },
        };
        match in_snapshot(&reader.connection, matter, work) {
            Ok(value) => {
                self.give_back(reader);
                Ok(value)
            }
            // A ledger without rows may be taken back by a failed import, file and all.
            Err(Stop::Ledger(error @ Error::Missing { .. })) => Err(error),
            Err(Stop::Ledger(error)) => {
                self.give_back(reader);
                Err(error)
            }
            Err(Stop::Sqlite(error)) => Err(failure::of_sqlite(&files.database, &error)),
        }
    }

    fn take(&self) -> Option<Connection> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    fn give_back(&self, reader: Reader) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < IDLE_MAX && !reader.is_frozen && reader.connection.is_autocommit() {
            idle.push(reader.connection);
        }
    }

    /// Closes the idle ones.
    pub(super) fn close(&self) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

fn in_snapshot<T>(
    connection: &Connection,
    matter: &MatterId,
    work: impl FnOnce(&Connection, Head) -> Result<T, Stop>,
) -> Result<T, Stop> {
    let transaction = connection.unchecked_transaction()?;
    let head = state::head(&transaction)?;
    if head.seq == 0 && is_empty(&transaction)? {
        return Err(Stop::Ledger(Error::Missing { matter: matter.clone() }));
    }
    let result = work(&transaction, head)?;
    transaction.finish()?;
    Ok(result)
}

/// The recorded head of a ledger with rows may have been set to 0 by other hands.
fn is_empty(connection: &Connection) -> Result<bool, rusqlite::Error> {
    connection.prepare_cached("SELECT NOT EXISTS (SELECT 1 FROM rows)")?.query_row([], |row| row.get(0))
}
