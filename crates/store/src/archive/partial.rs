//! An archive that is being written.
//! Owns: its directory until it has its name, and clearing away those that nobody works on any more. Must not: touch
//! a directory that somebody works on, or anything that no export has made.

use super::{BLOBS, Error, unwritable};
use countersign_durable as durable;
use rustix::fs::{FlockOperation, OFlags};
use rustix::io::Errno;
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Names that may be tried for the directory that is written before it is renamed.
const NAMES_MAX: u32 = 1_000;

/// A directory beside the target that is removed again unless it gets the target's name. It is locked as long as
/// somebody works on it; the lock ends with the process, however that ends, and a later export clears it away.
#[derive(Debug)]
pub(super) struct Partial {
    dir: PathBuf,
    target: PathBuf,
    /// Holds the lock.
    held: File,
}

impl Partial {
    /// Makes the directory for an archive at `target`, and clears away what ended exports to it have left.
    pub(super) fn new(target: &Path) -> Result<Self, Error> {
        let exists = || Error::Exists { place: target.to_path_buf() };
        let name = target.file_name().ok_or_else(exists)?;
        let (parent, stem) = (durable::parent_of(target), stem(name));
        clear(parent, &stem);
        for attempt in 0..NAMES_MAX {
            let mut partial = stem.clone();
            partial.push(format!("{}-{attempt}", std::process::id()));
            let dir = parent.join(partial);
            // What is in a ledger is nobody else's business until its owner says so.
            match DirBuilder::new().mode(0o700).create(&dir) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(error) => return Err(unwritable(&dir)(error)),
            }
            // Another export may have cleared it away before it was locked; then it is made under another name.
            if let Some(held) = hold(&dir).map_err(unwritable(&dir))? {
                return Ok(Partial { dir, target: target.to_path_buf(), held });
            }
        }
        Err(unwritable(parent)(io::ErrorKind::AlreadyExists.into()))
    }

    /// Where a file of the archive is written.
    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    /// Makes the directory of the shelf `name` for blobs. Nothing above it is made: this directory may be gone.
    pub(super) fn make_shelf(&self, name: &str) -> Result<PathBuf, Error> {
        let (top, shelf) = (self.dir.join(BLOBS), self.dir.join(BLOBS).join(name));
        for dir in [&top, &shelf] {
            match DirBuilder::new().mode(0o755).create(dir) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(unwritable(dir)(error)),
            }
        }
        Ok(shelf)
    }

    /// Makes every name in it durable, and gives it the target's name.
    pub(super) fn finish(&self, shelves: &BTreeSet<PathBuf>) -> Result<(), Error> {
        let sync = |dir: &Path| durable::sync_dir(dir).map_err(unwritable(dir));
        for shelf in shelves {
            sync(shelf)?;
        }
        if !shelves.is_empty() {
            sync(&self.dir.join(BLOBS))?;
        }
        sync(&self.dir)?;
        durable::rename_new(&self.dir, &self.target).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => Error::Exists { place: self.target.clone() },
            _ => unwritable(&self.target)(error),
        })
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        // After the rename nothing of ours has this name; before it, an incomplete archive is of no use.
        if is_named(&self.held, &self.dir) {
            drop(fs::remove_dir_all(&self.dir));
        }
    }
}

/// How the names of the directories for the target `name` begin.
fn stem(name: &OsStr) -> OsString {
    let mut stem = OsString::from(".");
    stem.push(name);
    stem.push(".partial-");
    stem
}

/// Opens a directory that is no link, and locks it; `None` if another has it locked, or has removed it meanwhile.
fn lock(dir: &Path) -> io::Result<Option<File>> {
    let flags = OFlags::NOFOLLOW | OFlags::DIRECTORY | OFlags::NONBLOCK;
    let opened = OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(dir);
    let file = match opened {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) if is_named(&file, dir) => Ok(Some(file)),
        Ok(()) | Err(Errno::WOULDBLOCK) => Ok(None),
        Err(errno) => Err(errno.into()),
    }
}

/// Locks a directory of our own. Where the file system has no such locks nobody can clear it away either.
fn hold(dir: &Path) -> io::Result<Option<File>> {
    const LOCKLESS: [Errno; 4] = [Errno::BADF, Errno::INVAL, Errno::NOSYS, Errno::OPNOTSUPP];
    match lock(dir) {
        Err(error) if LOCKLESS.iter().any(|errno| error.raw_os_error() == Some(errno.raw_os_error())) => {
            File::open(dir).map(Some)
        }
        held => held,
    }
}

/// Whether `dir` is the directory that is open as `held`.
fn is_named(held: &File, dir: &Path) -> bool {
    match (held.metadata(), fs::symlink_metadata(dir)) {
        (Ok(held), Ok(named)) => held.dev() == named.dev() && held.ino() == named.ino(),
        _ => false,
    }
}

/// Removes the directories that ended exports have left. What can't be removed costs space and nothing else.
fn clear(parent: &Path, stem: &OsStr) {
    let Ok(entries) = fs::read_dir(parent) else { return };
    for entry in entries.flatten() {
        if is_partial(&entry.file_name(), stem)
            && let Ok(Some(_held)) = lock(&entry.path())
        {
            drop(fs::remove_dir_all(entry.path()));
        }
    }
}

/// Whether an export to the target would give this name: the stem, a process and a number.
fn is_partial(name: &OsStr, stem: &OsStr) -> bool {
    let is_number = |text: &[u8]| !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    let Some(rest) = name.as_encoded_bytes().strip_prefix(stem.as_encoded_bytes()) else { return false };
    let mut parts = rest.split(|byte| *byte == b'-');
    let (process, number, end) = (parts.next(), parts.next(), parts.next());
    process.is_some_and(is_number) && number.is_some_and(is_number) && end.is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_no_export_gives_is_left_alone() {
        let check = |name: &str, expected: bool| {
            let found = is_partial(OsStr::new(name), &stem(OsStr::new("a")));
            assert_eq!(found, expected, "{name}");
        };
        check(".a.partial-1-0", true);
        check(".a.partial-4194304-999", true);
        for name in
            ["a", ".a", ".a.partial-", ".a.partial-1", ".a.partial-1-", ".a.partial--1", ".b.partial-1-0"]
        {
            check(name, false);
        }
        for name in [".a.partial-1-0-0", ".a.partial-1-x", ".a.partial-1-0.partial-2-0", "a.partial-1-0"] {
            check(name, false);
        }
    }
}
