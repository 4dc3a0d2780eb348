//! One process writes.
//! Owns: the lock file and the pid in it. Must not: be taken to read.

use rustix::fs::{FlockOperation, OFlags, fcntl_lock};
use rustix::io::Errno;
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::time::{Duration, Instant};

/// How often a lock file may vanish between opening and locking it before we give up.
const TRIES_MAX: usize = 16;
/// The steps in which a lock that another holds is waited for.
const WAIT_STEP: Duration = Duration::from_millis(5);

/// The lock, held until it is dropped (or the process ends, however it ends).
#[derive(Debug)]
pub struct Lock {
    file: File,
    pid: String,
}

/// Why there is no lock.
#[derive(Debug, thiserror::Error)]
pub enum NotTaken {
    /// Another holds it.
    #[error("another process holds it")]
    Held {
        /// The process, as far as it said.
        pid: Option<u32>,
    },
    /// The directory is not there.
    #[error("its directory is not there")]
    Gone,
    /// Something else stands where the file should be.
    #[error("it is no regular file")]
    NotRegular,
    /// The operating system refuses.
    #[error(transparent)]
    Io(io::Error),
}

impl Lock {
    /// Takes the lock, or says who has it. One that is held for a moment only is waited for, up to `wait`.
    ///
    /// # Errors
    /// It was not taken.
    pub fn take(path: &Path, wait: Duration) -> Result<Self, NotTaken> {
        let until = Instant::now() + wait;
        for _ in 0..TRIES_MAX {
            let file = open(path)?;
            loop {
                match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
                    Ok(()) => break,
                    // The kernel tells nobody when a lock is given back, unless they wait without an end.
                    Err(Errno::WOULDBLOCK) if Instant::now() < until => {
                        // Whoever has it can see that it is wanted. If not, it is only waited for longer.
                        fcntl_lock(&file, FlockOperation::NonBlockingLockShared).unwrap_or(());
                        std::thread::park_timeout(WAIT_STEP);
                    }
                    Err(Errno::WOULDBLOCK) => return Err(NotTaken::Held { pid: holder(&file) }),
                    Err(errno) => return Err(NotTaken::Io(errno.into())),
                }
            }
            // Whoever takes back what it made removes the file: a lock on a file without a name locks nobody out.
            if is_named(&file, path) {
                fcntl_lock(&file, FlockOperation::Unlock).unwrap_or(());
                return Ok(Lock { file, pid: format!("{}\n", std::process::id()) });
            }
        }
        Err(NotTaken::Held { pid: None })
    }

    /// Whether the file at `path` is still the one that is locked.
    #[must_use]
    pub fn is_ours(&self, path: &Path) -> bool {
        is_named(&self.file, path)
    }

    /// Whether another process waits for it. (The two kinds of locks that Linux has do not know of each other: the one
    /// is held, the other tells who waits.)
    #[must_use]
    pub fn is_wanted(&self) -> bool {
        match fcntl_lock(&self.file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {
                fcntl_lock(&self.file, FlockOperation::Unlock).unwrap_or(());
                false
            }
            Err(errno) => matches!(errno, Errno::AGAIN | Errno::ACCESS),
        }
    }

    /// Says whose it is.
    ///
    /// # Errors
    /// The file can't be written.
    pub fn sign(&self) -> io::Result<()> {
        self.file.set_len(0)?;
        self.tell()
    }

    /// Writes the pid (again), which wakes whoever watches the file.
    ///
    /// # Errors
    /// The file can't be written.
    pub fn tell(&self) -> io::Result<()> {
        self.file.write_all_at(self.pid.as_bytes(), 0)
    }
}

/// Opens the lock file, made if there is none. What another has put in its place is neither followed (the pid
/// would be written over what a link leads to) nor waited for.
fn open(path: &Path) -> Result<File, NotTaken> {
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
        Ok((true, file)) => Ok(file),
        Ok((false, _)) => Err(NotTaken::NotRegular),
        Err(_) if std::fs::symlink_metadata(path).is_ok_and(|about| !about.is_file()) => {
            Err(NotTaken::NotRegular)
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Err(NotTaken::Gone),
        Err(error) => Err(NotTaken::Io(error)),
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

#[cfg(test)]
mod tests {
    use super::*;
    use countersign_testkit::scratch::Scratch;

    #[test]
    fn one_holds_it_and_says_who() {
        let scratch = Scratch::new();
        let path = scratch.path().join("lock");
        let lock = Lock::take(&path, Duration::ZERO).unwrap();
        lock.sign().unwrap();
        let pid = Some(std::process::id());
        assert!(
            matches!(Lock::take(&path, Duration::ZERO), Err(NotTaken::Held { pid: told }) if told == pid)
        );
        drop(lock);
        assert!(Lock::take(&path, Duration::ZERO).unwrap().is_ours(&path));
    }

    #[test]
    fn what_is_no_file_is_no_lock() {
        let scratch = Scratch::new();
        let path = scratch.path().join("lock");
        assert!(matches!(Lock::take(&path.join("below"), Duration::ZERO), Err(NotTaken::Gone)));
        std::os::unix::fs::symlink("elsewhere", &path).unwrap();
        assert!(matches!(Lock::take(&path, Duration::ZERO), Err(NotTaken::NotRegular)));
        assert!(!scratch.path().join("elsewhere").exists());
    }
}
