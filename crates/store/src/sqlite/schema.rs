//! The file of a matter: its tables, its format, how a connection to it is set up.
//! Owns: creating, recognising and opening the file. Must not: touch a file that it does not recognise.

use super::failure;
use super::tables::TABLES;
use countersign_durable as durable;
use countersign_runtime::ports::ledger::Error;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use rustix::fs::OFlags;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// "CSgn": SQLite keeps it at byte 68 of the file.
pub(super) const APPLICATION_ID: u32 = 0x4353_676E;
/// The newest format that this build reads, and the one it writes.
pub(super) const FORMAT: u32 = 1;

/// Pages of 4 KiB after which the log is copied into the file: 16 MiB, so that a checkpoint and its two fsyncs
/// are rare, and recovery after a crash is short.
const CHECKPOINT_PAGES: u32 = 4_096;
/// A log that grew under a long reader is cut back to this many bytes.
const LOG_BYTES_MAX: u32 = 64 * 1024 * 1024;
/// How long a connection waits for another one's short lock (recovery after a crash, a checkpoint).
pub(super) const BUSY_MAX: Duration = Duration::from_millis(5_000);
/// A ledger is its owner's alone, whatever its directory is.
const FILE_MODE: u32 = 0o600;
/// Prepared statements that a connection keeps.
const STATEMENTS_MAX: usize = 48;

/// The files of a matter.
#[derive(Clone, Debug)]
pub(super) struct Files {
    /// The directory.
    pub(super) dir: PathBuf,
    /// The database.
    pub(super) database: PathBuf,
    /// The writer's lock.
    pub(super) lock: PathBuf,
}

impl Files {
    pub(super) fn of(root: &Path, matter: &str) -> Self {
        let dir = root.join("matters").join(matter);
        Files { database: dir.join("ledger.sqlite"), lock: dir.join("ledger.lock"), dir }
    }

    /// A file of the database beside the database: `-wal`, `-shm`, `-new`.
    pub(super) fn beside(&self, suffix: &str) -> PathBuf {
        self.dir.join(format!("ledger.sqlite{suffix}"))
    }

    /// The same without symbolic links above it: those are the owner's business, but SQLite, told to follow none,
    /// refuses a path with any.
    fn resolved(&self, suffix: &str) -> Result<PathBuf, Error> {
        let dir = fs::canonicalize(&self.dir).map_err(|error| failure::of_io(&self.dir, &error))?;
        Ok(dir.join(format!("ledger.sqlite{suffix}")))
    }
}

/// What stands where the database should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// Nothing.
    Nothing,
    /// A ledger of a format that this build reads.
    Ledger,
}

/// Looks at the file without SQLite, which would change a file that it can't make sense of.
pub(super) fn recognise(files: &Files) -> Result<Found, Error> {
    let path = &files.database;
    // Without NONBLOCK, a pipe of this name would hold us for ever.
    // A symbolic link could lead to another matter's ledger.
    let flags = (OFlags::NONBLOCK | OFlags::NOFOLLOW).bits().cast_signed();
    let corrupt = |why: &str| Error::Corrupt { place: path.display().to_string(), why: why.into() };
    let mut file = match OpenOptions::new().read(true).custom_flags(flags).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Found::Nothing),
        Err(_) if path.is_symlink() => return Err(corrupt("it is a symbolic link")),
        Err(error) => return Err(failure::of_io(path, &error)),
    };
    let about = file.metadata().map_err(|error| failure::of_io(path, &error))?;
    if !about.is_file() {
        return Err(corrupt("it is no regular file"));
    }
    let mut header = [0; 100];
    match file.read_exact(&mut header) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
            return Err(corrupt("the file is cut short"));
        }
        Err(error) => return Err(failure::of_io(path, &error)),
    }
    let number = |at: usize| header[at..at + 4].iter().fold(0, |value, byte| value << 8 | u32::from(*byte));
    if &header[..16] != b"SQLite format 3\0" {
        return Err(corrupt("it is no SQLite database"));
    }
    if number(68) != APPLICATION_ID {
        return Err(corrupt("it is a database of another application"));
    }
    let format = number(60);
    if format > FORMAT {
        return Err(Error::TooNew { place: path.display().to_string(), found: format, newest: FORMAT });
    }
    if format == 0 {
        return Err(corrupt("it has no format version"));
    }
    let page = u64::from(header[16]) << 8 | u64::from(header[17]);
    // While there is a log, pages may still be on their way from it into the file.
    let log = fs::metadata(files.beside("-wal")).map_or(0, |log| log.len());
    if log == 0 && page > 1 && about.len() < page * u64::from(number(28)) {
        return Err(corrupt("the file is cut short"));
    }
    Ok(Found::Ledger)
}

/// The file that becomes the database, and what SQLite makes beside it.
const NEW: [&str; 4] = ["-new", "-new-journal", "-new-wal", "-new-shm"];

/// Makes an empty ledger, whole or not at all: it is built beside and renamed. The caller holds the lock.
pub(super) fn create(files: &Files, genesis: &[u8; 32]) -> Result<(), Error> {
    let new = files.beside("-new");
    let remove_new = || NEW.iter().for_each(|suffix| drop(fs::remove_file(files.beside(suffix))));
    remove_new();
    let resolved = files.resolved("-new")?;
    // SQLite would make the file for everybody whom the umask lets in. Its log and shared memory take its mode.
    let reserve = || -> io::Result<()> {
        let file = OpenOptions::new().write(true).create_new(true).mode(FILE_MODE).open(&new)?;
        file.set_permissions(fs::Permissions::from_mode(FILE_MODE))
    };
    let build = || -> Result<(), rusqlite::Error> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        let connection = Connection::open_with_flags(&resolved, flags)?;
        connection.pragma_update(None, "page_size", 4_096)?;
        // Nobody opens the file before it is whole, and then it is synced as a whole: syncing each table would take longer
        // than everything else that the first command does.
        connection.pragma_update(None, "synchronous", "OFF")?;
        connection.pragma_update_and_check(None, "journal_mode", "MEMORY", |_| Ok(()))?;
        let tables = connection.unchecked_transaction()?;
        tables.pragma_update(None, "application_id", APPLICATION_ID)?;
        tables.pragma_update(None, "user_version", FORMAT)?;
        tables.execute_batch(TABLES)?;
        tables.execute("INSERT INTO head VALUES (1, 0, ?1, 0)", [genesis])?;
        tables.commit()?;
        // Last, while nothing is in a log: closing would not tell that a log could not be copied into the file.
        connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
        connection.close().map_err(|(_, error)| error)
    };
    let finish = || -> io::Result<()> {
        File::open(&new)?.sync_all()?;
        fs::rename(&new, &files.database)?;
        durable::sync_dir(&files.dir)
    };
    let reserved = reserve().map_err(|error| failure::of_io(&new, &error));
    let built = reserved.and_then(|()| build().map_err(|error| failure::of_sqlite(&new, &error)));
    let made = built.and_then(|()| finish().map_err(|error| failure::of_io(&new, &error)));
    if made.is_err() {
        remove_new();
    }
    made
}

/// The writer's connection. The caller holds the lock and has recognised the file.
pub(super) fn open_writer(files: &Files) -> Result<Connection, Error> {
    let database = files.resolved("")?;
    let open = || -> Result<Connection, rusqlite::Error> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        let connection = Connection::open_with_flags(&database, flags)?;
        connection.busy_timeout(BUSY_MAX)?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        connection.pragma_update_and_check(None, "secure_delete", true, |_| Ok(()))?;
        connection.pragma_update_and_check(None, "wal_autocheckpoint", CHECKPOINT_PAGES, |_| Ok(()))?;
        connection.pragma_update_and_check(None, "journal_size_limit", LOG_BYTES_MAX, |_| Ok(()))?;
        connection.pragma_update(None, "cache_size", -16_384)?;
        // What an import notes on the way is as private as the ledger, so it goes to no common directory.
        connection.pragma_update(None, "temp_store", "MEMORY")?;
        distrust(&connection)?;
        connection.set_prepared_statement_cache_capacity(STATEMENTS_MAX);
        Ok(connection)
    };
    open().map_err(|error| failure::of_sqlite(&files.database, &error))
}

/// Whoever can write the file can put a trigger or a view into it: none of them runs here.
fn distrust(connection: &Connection) -> Result<(), rusqlite::Error> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    // A statement is planned once. Else each new value is looked at for the sake of the partial index, and planned again for.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(())
}

/// A reader's connection.
pub(super) struct Reader {
    pub(super) connection: Connection,
    /// Whether it sees the file only as it was when it was opened: good for one read.
    pub(super) is_frozen: bool,
}

/// A reader's connection. It takes no lock that a writer would wait for.
pub(super) fn open_reader(files: &Files) -> Result<Reader, Error> {
    let database = files.resolved("")?;
    match connect_reader(&database, false) {
        Ok(connection) => Ok(Reader { connection, is_frozen: false }),
        // In a directory that can't be written SQLite can't make its shared memory. Without a log nobody has
        // written since the last clean end, and the file can be read as it stands.
        Err(_)
            if !is_writable(&files.dir)
                && fs::metadata(files.beside("-wal")).map_or(0, |log| log.len()) == 0 =>
        {
            connect_reader(Path::new(&format!("file:{}?immutable=1", escaped(&database))), true)
                .map(|connection| Reader { connection, is_frozen: true })
                .map_err(|error| failure::of_sqlite(&files.database, &error))
        }
        Err(error) => Err(failure::of_sqlite(&files.database, &error)),
    }
}

fn connect_reader(name: &Path, is_uri: bool) -> Result<Connection, rusqlite::Error> {
    let mut flags =
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    flags.set(OpenFlags::SQLITE_OPEN_URI, is_uri);
    let connection = Connection::open_with_flags(name, flags)?;
    connection.busy_timeout(BUSY_MAX)?;
    connection.pragma_update(None, "query_only", true)?;
    connection.pragma_update(None, "cache_size", -8_192)?;
    distrust(&connection)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS_MAX);
    // Opening is lazy; the first read is what tells whether the file can be read at all.
    connection.query_row("SELECT seq FROM head", [], |row| row.get::<_, i64>(0))?;
    Ok(connection)
}

fn is_writable(dir: &Path) -> bool {
    rustix::fs::access(dir, rustix::fs::Access::WRITE_OK).is_ok()
}

/// A path as part of a `file:` URI.
fn escaped(path: &Path) -> String {
    let mut text = String::new();
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'%' | b'?' | b'#' => text.push_str(&format!("%{byte:02x}")),
            _ if byte.is_ascii_graphic() => text.push(char::from(*byte)),
            _ => text.push_str(&format!("%{byte:02x}")),
        }
    }
    text
}
