//! Pages that were fetched a while ago.
//! Owns: what is kept, for how long and how much of it; that nothing is given out which is not as it was kept.
//! Must not: fail a call, permit one, or be needed.

mod file;
mod row;

use crate::page::Page;
use countersign_record::code::Code;
use countersign_record::time::Instant;
use file::{CacheFile, Open};
use rusqlite::{Connection, ErrorCode, OptionalExtension, TransactionBehavior, params};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Duration;

/// Pages of one cache, whatever they hold.
const PAGES_MAX: u32 = 4_096;
/// A page beyond this is not kept; it is well within what is read of a file.
const PAGE_BYTES_MAX: u64 = 8 * 1024 * 1024;
/// How long a thread that may wait does so for another process.
const BUSY_MAX: Duration = Duration::from_millis(250);

/// Why the cache was not used. The page was, or is, fetched anew.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Trouble {
    /// The file is none of ours, or no longer whole; it was put aside.
    #[error("{file} is damaged ({why}) and was put aside")]
    Damaged { file: String, why: String },
    /// What was kept of this page is not as it was kept.
    #[error("what {file} holds of this page is damaged")]
    DamagedPage { file: String },
    /// A newer version of this program wrote it.
    #[error("{file} was made by a newer version")]
    Newer { file: String },
    /// Another has it.
    #[error("{file} is locked by another process")]
    Locked { file: String },
    /// It, or who waits for it before us, takes too long.
    #[error("{file} is not to be had in time")]
    Slow { file: String },
    /// The operating system refuses.
    #[error("{file} can't be used: {why}")]
    Unusable { file: String, why: String },
}

impl Trouble {
    /// The stable code.
    pub(crate) fn code(&self) -> Code {
        match self {
            Trouble::Damaged { .. }
            | Trouble::DamagedPage { .. }
            | Trouble::Newer { .. }
            | Trouble::Locked { .. }
            | Trouble::Slow { .. }
            | Trouble::Unusable { .. } => Code::WebCache,
        }
    }

    /// Whether a page that was fetched since can be kept.
    pub(crate) fn lets_keep(&self) -> bool {
        match self {
            Trouble::Damaged { .. } | Trouble::DamagedPage { .. } => true,
            Trouble::Newer { .. }
            | Trouble::Locked { .. }
            | Trouble::Slow { .. }
            | Trouble::Unusable { .. } => false,
        }
    }
}

/// What a look without waiting gave.
#[derive(Debug)]
pub(crate) enum Glance {
    /// An answer.
    Seen(Result<Option<Page>, Trouble>),
    /// It has to be waited for.
    Later,
}

/// The cache of a matter.
pub(crate) struct Cache {
    file: CacheFile,
    ttl: Duration,
    bytes_max: u64,
    /// Apart from the writer's, so that a page is found while another is kept.
    reader: Mutex<Option<Open>>,
    writer: Mutex<Option<Open>>,
}

impl Cache {
    /// The one at this path; it need not be there.
    pub(crate) fn at(path: &Path, ttl: Duration, bytes_max: u64) -> Self {
        let file = CacheFile::at(path);
        Cache { file, ttl, bytes_max, reader: Mutex::new(None), writer: Mutex::new(None) }
    }

    /// Looks for a page if that takes no waiting and no opening of a file.
    pub(crate) fn glance(&self, url: &str, now: Instant) -> Glance {
        let slot = match self.reader.try_lock() {
            Ok(slot) => slot,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return Glance::Later,
        };
        match slot.as_ref().filter(|open| open.is_current(&self.file)) {
            Some(open) => match self.read(open, url, now, Duration::ZERO) {
                Ok(found) => Glance::Seen(found.ok_or_else(|| self.damaged_page())),
                // What to do about it takes time.
                Err(_) => Glance::Later,
            },
            None => Glance::Later,
        }
    }

    /// Looks for a page. Waits for files and other processes.
    pub(crate) fn look(&self, url: &str, now: Instant) -> Result<Option<Page>, Trouble> {
        let mut slot = lock(&self.reader);
        if !slot.as_ref().is_some_and(|open| open.is_current(&self.file)) {
            *slot = None;
            *slot = self.file.open()?;
        }
        let Some(open) = slot.as_ref() else { return Ok(None) };
        match self.read(open, url, now, BUSY_MAX) {
            Ok(found) => found.ok_or_else(|| self.damaged_page()),
            Err(error) => Err(self.trouble(&mut slot, &error)),
        }
    }

    /// Keeps a page, in the place of what was kept of it, and gives up the oldest where there is too much. Waits.
    pub(crate) fn keep(&self, page: &Page) -> Result<(), Trouble> {
        let mut slot = lock(&self.writer);
        if !slot.as_ref().is_some_and(|open| open.is_current(&self.file)) {
            *slot = None;
            *slot = match self.file.open()? {
                Some(open) => Some(open),
                None => {
                    self.file.create()?;
                    self.file.open()?
                }
            };
        }
        let Some(open) = slot.as_mut() else {
            return Err(self.file.unusable("it is gone as soon as it is made"));
        };
        let (ttl, bytes_max) = (self.ttl_seconds(), self.bytes_max);
        match write(open.connection_mut(), page, ttl, bytes_max) {
            Ok(()) => Ok(()),
            Err(error) => Err(self.trouble(&mut slot, &error)),
        }
    }

    /// The page, if it is fresh. The inner `None` is a page that is not as it was kept.
    #[expect(clippy::option_option, reason = "whole or not, and there or not, are two questions")]
    fn read(
        &self,
        open: &Open,
        url: &str,
        now: Instant,
        wait: Duration,
    ) -> Result<Option<Option<Page>>, rusqlite::Error> {
        let connection = open.connection();
        connection.busy_timeout(wait)?;
        let mut statement = connection.prepare_cached(row::SELECT)?;
        let found = statement.query_row([url], |found| Ok(row::read(found, url))).optional()?;
        Ok(match found {
            None => Some(None),
            Some(None) => None,
            Some(Some(page)) => Some(self.is_fresh(page.at, now).then_some(page)),
        })
    }

    /// A page of the future is none: a clock was wrong, then or now.
    fn is_fresh(&self, at: Instant, now: Instant) -> bool {
        let until = Instant { seconds: at.seconds.saturating_add(self.ttl_seconds()), nanos: at.nanos };
        at <= now && now < until
    }

    fn ttl_seconds(&self) -> i64 {
        i64::try_from(self.ttl.as_secs()).unwrap_or(i64::MAX)
    }

    /// What is said of a wait that was given up.
    pub(crate) fn slow(&self) -> Trouble {
        Trouble::Slow { file: self.file.name() }
    }

    fn damaged_page(&self) -> Trouble {
        Trouble::DamagedPage { file: self.file.name() }
    }

    /// Says what a failure of SQLite means, and puts aside a file that can't be used any more.
    fn trouble(&self, slot: &mut Option<Open>, error: &rusqlite::Error) -> Trouble {
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                Trouble::Locked { file: self.file.name() }
            }
            Some(code) if file::is_damage(code) => match slot.take() {
                Some(open) => self.file.put_aside(open.into_identity(), "SQLite can't read it"),
                None => self.file.unusable("SQLite can't read it"),
            },
            Some(_) | None => {
                *slot = None;
                self.file.unusable("SQLite can't use it")
            }
        }
    }
}

fn lock(slot: &Mutex<Option<Open>>) -> MutexGuard<'_, Option<Open>> {
    slot.lock().unwrap_or_else(PoisonError::into_inner)
}

const FORGET: &str = "DELETE FROM pages WHERE url = ?1";
const EXPIRE: &str = "DELETE FROM pages WHERE at_seconds < ?1 OR at_seconds > ?2";
/// Counts from the newest; what is beyond a bound goes.
const EVICT: &str = "DELETE FROM pages WHERE rowid IN (
    SELECT id FROM (
        SELECT rowid AS id,
               sum(size) OVER newest AS total,
               row_number() OVER newest AS place
        FROM pages WINDOW newest AS (ORDER BY at_seconds DESC, at_nanos DESC, rowid DESC))
    WHERE total > ?1 OR place > ?2)";

fn write(
    connection: &mut Connection,
    page: &Page,
    ttl_seconds: i64,
    bytes_max: u64,
) -> Result<(), rusqlite::Error> {
    connection.busy_timeout(BUSY_MAX)?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // One that is larger than all may be would take the place of all others and then be given up itself.
    match u64::try_from(row::size_of(page)).is_ok_and(|size| size <= bytes_max.min(PAGE_BYTES_MAX)) {
        true => row::insert(&transaction, page)?,
        false => drop(transaction.prepare_cached(FORGET)?.execute([&page.url])?),
    }
    let oldest = page.at.seconds.saturating_sub(ttl_seconds);
    transaction.prepare_cached(EXPIRE)?.execute(params![oldest, page.at.seconds])?;
    let bytes_max = i64::try_from(bytes_max).unwrap_or(i64::MAX);
    transaction.prepare_cached(EVICT)?.execute(params![bytes_max, PAGES_MAX])?;
    transaction.commit()
}
