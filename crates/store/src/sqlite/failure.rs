//! What SQLite and the operating system say, in the ledger's terms.
//! Owns: the translation. Must not: hide which place it was.

use countersign_runtime::ports::ledger::Error;
use rusqlite::ErrorCode;
use rustix::io::Errno;
use std::io;
use std::path::Path;

/// SQLite's extended codes for a shared-memory or database file that may not be written.
const READONLY_DIRECTORY: i32 = 8 | (6 << 8);

/// A failure of SQLite at `place`.
pub(super) fn of_sqlite(place: &Path, error: &rusqlite::Error) -> Error {
    let (name, why) = (place.display().to_string(), error.to_string());
    // Our statements are fixed: where one finds no table, no row or another type, the file is not what we wrote.
    let Some(failure) = error.sqlite_error() else {
        return Error::Corrupt { place: name, why };
    };
    match failure.code {
        ErrorCode::DiskFull => Error::DiskFull { place: name },
        ErrorCode::ReadOnly | ErrorCode::PermissionDenied => Error::ReadOnly { place: name },
        ErrorCode::DatabaseCorrupt
        | ErrorCode::NotADatabase
        | ErrorCode::ConstraintViolation
        | ErrorCode::Unknown => Error::Corrupt { place: name, why },
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => {
            Error::Io { place: name, why: "another process keeps the file locked; try again".into() }
        }
        _ if failure.extended_code == READONLY_DIRECTORY => Error::ReadOnly { place: name },
        // SQLite reports a full quota, a full disk under mmap and a denied open as I/O errors; the errno that the
        // last system call left is the best witness there is.
        ErrorCode::CannotOpen | ErrorCode::SystemIoFailure => match last_errno_kind(place) {
            Some(error) => error,
            None => Error::Io { place: name, why },
        },
        _ => Error::Io { place: name, why },
    }
}

/// A failure of the operating system at `place`.
pub(super) fn of_io(place: &Path, error: &io::Error) -> Error {
    let name = place.display().to_string();
    match error.raw_os_error().map(Errno::from_raw_os_error) {
        Some(Errno::NOSPC | Errno::DQUOT) => Error::DiskFull { place: name },
        Some(Errno::ACCESS | Errno::PERM | Errno::ROFS) => Error::ReadOnly { place: name },
        Some(_) | None => Error::Io { place: name, why: error.to_string() },
    }
}

/// Finds out why a file could not be opened or written by asking for the least that is needed.
fn last_errno_kind(place: &Path) -> Option<Error> {
    let dir = countersign_durable::parent_of(place);
    if let Err(Errno::ACCESS | Errno::ROFS | Errno::PERM) =
        rustix::fs::access(dir, rustix::fs::Access::WRITE_OK)
    {
        return Some(Error::ReadOnly { place: place.display().to_string() });
    }
    match rustix::fs::statvfs(dir) {
        Ok(room) if room.f_bavail == 0 => Some(Error::DiskFull { place: place.display().to_string() }),
        Ok(_) | Err(_) => None,
    }
}
