//! The file of a cache: made, recognised, opened, put aside.
//! Owns: what stands where the cache should be. Must not: change a file that a newer version made, follow a link, or
//! delete what it does not know.

use super::Trouble;
use super::row::TABLES;
use countersign_durable::{self as durable, Lock, NotTaken};
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// "CSwc": SQLite keeps it at byte 68 of the file.
const APPLICATION_ID: u32 = 0x4353_7763;
/// The newest format that this build reads, and the one it writes.
const FORMAT: u32 = 1;
/// What a person fetched is that person's business.
const FILE_MODE: u32 = 0o600;
const DIR_MODE: u32 = 0o700;
/// Whoever else may write the file could have put anything there.
const OTHERS_WRITE: u32 = 0o022;
/// A text or a row beyond this is not read.
const ROW_BYTES_MAX: i32 = 16 * 1024 * 1024;
/// How long another process that makes or mends the file is waited for.
const WAIT_MAX: Duration = Duration::from_millis(200);
/// The file that becomes the cache, and what SQLite makes beside it.
const NEW: [&str; 2] = ["-new", "-new-journal"];
/// What SQLite keeps beside a database. What belongs to one that was put aside must not be read with the next.
const BESIDE: [&str; 3] = ["-journal", "-wal", "-shm"];

/// The names of what was put aside, the next where one can't be had.
const ASIDE: [&str; 2] = [".damaged", ".damaged-2"];

/// Where the cache is.
#[derive(Clone, Debug)]
pub(super) struct CacheFile {
    path: PathBuf,
}

/// Which file it is, whatever its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    device: u64,
    inode: u64,
}

/// A cache that was opened.
pub(super) struct Open {
    connection: Connection,
    identity: Identity,
}

impl Open {
    pub(super) fn connection(&self) -> &Connection {
        &self.connection
    }

    pub(super) fn connection_mut(&mut self) -> &mut Connection {
        &mut self.connection
    }

    /// Closes it, and says which file it was.
    pub(super) fn into_identity(self) -> Identity {
        self.identity
    }

    /// Whether the file of that name is still this one.
    pub(super) fn is_current(&self, file: &CacheFile) -> bool {
        fs::symlink_metadata(&file.path).is_ok_and(|about| identity(&about) == self.identity)
    }
}

fn identity(about: &fs::Metadata) -> Identity {
    Identity { device: about.dev(), inode: about.ino() }
}

/// Whether a failure of SQLite says that the file is not what it should be.
pub(super) fn is_damage(code: ErrorCode) -> bool {
    matches!(
        code,
        ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase | ErrorCode::TooBig | ErrorCode::TypeMismatch
    )
}

/// Why a file that is there is not opened.
enum Refused {
    /// It is none of ours, or damaged.
    Damaged(&'static str),
    Newer,
    Sqlite(rusqlite::Error),
}

impl From<rusqlite::Error> for Refused {
    fn from(error: rusqlite::Error) -> Self {
        Refused::Sqlite(error)
    }
}

impl CacheFile {
    pub(super) fn at(path: &Path) -> Self {
        CacheFile { path: path.to_path_buf() }
    }

    /// Its name, for messages: they go to models, whom the directories are no business of.
    pub(super) fn name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    pub(super) fn unusable(&self, why: impl Into<String>) -> Trouble {
        Trouble::Unusable { file: self.name(), why: why.into() }
    }

    fn failed(&self, error: &io::Error) -> Trouble {
        self.unusable(error.kind().to_string())
    }

    fn beside(&self, suffix: &str) -> PathBuf {
        let mut name = self.path.clone().into_os_string();
        name.push(suffix);
        PathBuf::from(name)
    }

    /// Opens it; `None` if it is not there. What is damaged is put aside.
    pub(super) fn open(&self) -> Result<Option<Open>, Trouble> {
        let about = match fs::symlink_metadata(&self.path) {
            Ok(about) => about,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(self.failed(&error)),
        };
        let identity = identity(&about);
        if let Some(why) = not_ours(&about) {
            return Err(self.put_aside(identity, why));
        }
        match self.connect() {
            // Between the look at it and opening it another may have taken its place.
            Ok(connection) => {
                let open = Open { connection, identity };
                match open.is_current(self) {
                    true => Ok(Some(open)),
                    false => Err(self.unusable("another file took its place")),
                }
            }
            Err(Refused::Damaged(why)) => Err(self.put_aside(identity, why)),
            Err(Refused::Newer) => Err(Trouble::Newer { file: self.name() }),
            Err(Refused::Sqlite(error)) => Err(match error.sqlite_error_code() {
                Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                    Trouble::Locked { file: self.name() }
                }
                Some(code) if is_damage(code) => self.put_aside(identity, "SQLite can't read it"),
                Some(_) | None => self.unusable("SQLite can't open it"),
            }),
        }
    }

    fn connect(&self) -> Result<Connection, Refused> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        let connection = Connection::open_with_flags(self.resolved(""), flags)?;
        connection.busy_timeout(WAIT_MAX)?;
        // Whoever can write the file can put a trigger or a view into it: none of them runs here.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
        connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, ROW_BYTES_MAX)?;
        connection.pragma_update(None, "cell_size_check", true)?;
        connection.pragma_update(None, "temp_store", "MEMORY")?;
        // What a power cut takes can be fetched again, and what it damages is noticed.
        connection.pragma_update(None, "synchronous", "OFF")?;
        check(&connection)?;
        Ok(connection)
    }

    /// The same without symbolic links above it: those are the owner's business, but SQLite, told to follow none,
    /// refuses a path with any.
    fn resolved(&self, suffix: &str) -> PathBuf {
        let named = self.beside(suffix);
        match (fs::canonicalize(durable::parent_of(&named)), named.file_name()) {
            (Ok(dir), Some(name)) => dir.join(name),
            (Ok(_) | Err(_), _) => named,
        }
    }

    /// Makes an empty one, whole or not at all, unless there is one.
    pub(super) fn create(&self) -> Result<(), Trouble> {
        durable::make_dirs(durable::parent_of(&self.path), DIR_MODE).map_err(|error| self.failed(&error))?;
        let _lock = self.lock()?;
        if fs::symlink_metadata(&self.path).is_ok() {
            return Ok(());
        }
        let clear = || NEW.iter().try_for_each(|suffix| durable::remove(&self.beside(suffix)));
        clear().map_err(|error| self.failed(&error))?;
        let new = self.beside("-new");
        let reserved = OpenOptions::new().write(true).create_new(true).mode(FILE_MODE).open(&new);
        reserved.map_err(|error| self.failed(&error))?;
        let built = build(&self.resolved("-new")).map_err(|_| self.unusable("SQLite can't make it"));
        let made =
            built.and_then(|()| durable::rename_new(&new, &self.path).map_err(|error| self.failed(&error)));
        if made.is_err() {
            drop(clear());
        }
        made
    }

    /// Gives the file another name, if it is still the one that was found damaged.
    pub(super) fn put_aside(&self, damaged: Identity, why: &str) -> Trouble {
        let moved = || -> Result<(), Trouble> {
            let _lock = self.lock()?;
            let is_same = |about: fs::Metadata| identity(&about) == damaged;
            if !fs::symlink_metadata(&self.path).is_ok_and(is_same) {
                return Ok(());
            }
            // A directory that was put aside before gives way to no file.
            let [first, second] = ASIDE.map(|suffix| self.beside(suffix));
            let moved = fs::rename(&self.path, first).or_else(|_| fs::rename(&self.path, second));
            moved.map_err(|error| self.failed(&error))?;
            let clear = BESIDE.iter().try_for_each(|suffix| durable::remove(&self.beside(suffix)));
            clear.map_err(|error| self.failed(&error))
        };
        match moved() {
            Ok(()) => Trouble::Damaged { file: self.name(), why: why.to_owned() },
            Err(trouble) => trouble,
        }
    }

    fn lock(&self) -> Result<Lock, Trouble> {
        Lock::take(&self.beside(".lock"), WAIT_MAX).map_err(|refused| match refused {
            NotTaken::Held { .. } => Trouble::Locked { file: self.name() },
            NotTaken::Gone | NotTaken::NotRegular => self.unusable(refused.to_string()),
            NotTaken::Io(error) => self.failed(&error),
        })
    }
}

/// Why what stands there is not opened. A second name is how somebody else keeps a hand on a file.
fn not_ours(about: &fs::Metadata) -> Option<&'static str> {
    if !about.is_file() {
        return Some("it is no regular file");
    }
    if about.nlink() != 1 {
        return Some("it has another name");
    }
    if about.uid() != rustix::process::geteuid().as_raw() {
        return Some("it belongs to another user");
    }
    (about.mode() & OTHERS_WRITE != 0).then_some("others may write it")
}

fn build(path: &Path) -> Result<(), rusqlite::Error> {
    let flags =
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.pragma_update(None, "page_size", 4_096)?;
    connection.pragma_update(None, "application_id", APPLICATION_ID)?;
    connection.pragma_update(None, "user_version", FORMAT)?;
    for table in TABLES {
        connection.execute_batch(table)?;
    }
    connection.close().map_err(|(_, error)| error)
}

/// Whether a database is a cache of this format, and nothing else.
fn check(connection: &Connection) -> Result<(), Refused> {
    let number = |pragma: &str| connection.pragma_query_value(None, pragma, |row| row.get::<_, i64>(0));
    if number("application_id")? != i64::from(APPLICATION_ID) {
        return Err(Refused::Damaged("it is no cache"));
    }
    let format = number("user_version")?;
    if format > i64::from(FORMAT) {
        return Err(Refused::Newer);
    }
    if format != i64::from(FORMAT) {
        return Err(Refused::Damaged("it has no format version"));
    }
    // With a log beside it, memory would be shared with whoever can write the directory.
    let journal = connection.pragma_query_value(None, "journal_mode", |row| row.get::<_, String>(0))?;
    let mut statement =
        connection.prepare("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid LIMIT 3")?;
    let words = statement.query_map([], |row| row.get::<_, String>(0))?.collect::<Result<Vec<_>, _>>()?;
    match journal == "delete" && words == TABLES {
        true => Ok(()),
        false => Err(Refused::Damaged("its tables are others")),
    }
}
