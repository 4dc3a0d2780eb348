//! One process writes a matter.
//! Owns: the lock file, the pid in it, and telling followers in other processes that there is news. Must not: be
//! taken to read.

use super::failure;
use countersign_record::id::MatterId;
use countersign_runtime::ports::ledger::Error;
use rustix::fs::{FlockOperation, OFlags};
use rustix::io::Errno;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::time::{Duration, Instant};

/// How often a lock file may vanish between opening and locking it before we give up.
const TRIES_MAX: usize = 16;

/// How long a lock that another holds is waited for, and in which steps.
const WAIT_MAX: Duration = Duration::from_millis(200);
const WAIT_STEP: Duration = Duration::from_millis(5);

/// The lock, held until it is dropped (or the process ends, however it ends).
#[derive(Debug)]
pub(super) struct Lock {
    file: File,
    pid: String,
}

impl Lock {
    /// Takes the lock, or says who has it. One that is held for a moment only, to keep a state or to close, is waited
    /// for. `None` if the directory is gone: another has taken an empty ledger back.
    pub(super) fn take(path: &Path, matter: &MatterId) -> Result<Option<Self>, Error> {
        let until = Instant::now() + WAIT_MAX;
        for _ in 0..TRIES_MAX {
            let Some(file) = open(path)? else { return Ok(None) };
            loop {
                match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
                    Ok(()) => break,
                    // The kernel tells nobody when a lock is given back, unless they wait without an end.
                    Err(Errno::WOULDBLOCK) if Instant::now() < until => std::thread::park_timeout(WAIT_STEP),
                    Err(Errno::WOULDBLOCK) => {
                        return Err(Error::Locked { matter: matter.clone(), pid: holder(&file) });
                    }
                    Err(errno) => return Err(failure::of_io(path, &errno.into())),
                }
            }
            // Whoever takes a failed import back removes the file: a lock on a file without a name locks nobody out.
            if is_named(&file, path) {
                return Ok(Some(Lock { file, pid: format!("{}\n", std::process::id()) }));
            }
        }
        Err(Error::Locked { matter: matter.clone(), pid: None })
    }

    /// Whether the file at `path` is still the one that is locked.
    pub(super) fn is_ours(&self, path: &Path) -> bool {
        is_named(&self.file, path)
    }

    /// Says whose it is.
    pub(super) fn sign(&self) -> std::io::Result<()> {
        self.file.set_len(0)?;
        self.tell()
    }

    /// Writes the pid (again). SQLite makes a commit visible through shared memory, which nobody can wait for, so
    /// this write is what wakes followers in other processes (see `follow`).
    pub(super) fn tell(&self) -> std::io::Result<()> {
        self.file.write_all_at(self.pid.as_bytes(), 0)
    }
}

/// Opens the lock file, made if there is none. What another has put in its place is neither followed (the pid
/// would be written over what a link leads to) nor waited for.
fn open(path: &Path) -> Result<Option<File>, Error> {
    let corrupt =
        || Error::Corrupt { place: path.display().to_string(), why: "it is no regular file".into() };
    let flags = OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .custom_flags(flags.bits().cast_signed())
        .open(path);
    match file.and_then(|file| Ok((file.metadata()?.is_file(), file))) {
        Ok((true, file)) => Ok(Some(file)),
        Ok((false, _)) => Err(corrupt()),
        Err(_) if std::fs::symlink_metadata(path).is_ok_and(|about| !about.is_file()) => Err(corrupt()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failure::of_io(path, &error)),
    }
}

fn is_named(file: &File, path: &Path) -> bool {
    match (file.metadata(), std::fs::symlink_metadata(path)) {
        (Ok(held), Ok(named)) => held.dev() == named.dev() && held.ino() == named.ino(),
        _ => false,
    }
}

fn holder(file: &File) -> Option<u32> {
    let mut text = String::new();
    file.take(16).read_to_string(&mut text).ok()?;
    text.trim_end().parse().ok()
}
