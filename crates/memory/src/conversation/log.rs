//! Appends turns.
//! Owns: the one writer, the order of write and fsync, what a crash left. Must not: acknowledge a turn that is not
//! durable, or change a line that is.

use super::{Conversation, Error, FILE_MODE, LINE_BYTES_MAX, lines, tail};
use countersign_durable::{self as durable, Lock};
use countersign_kernel::history::item;
use countersign_record::digest::Digest;
use countersign_record::json;
use countersign_record::turn::MemoryTurn;
use rustix::fs::OFlags;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::PathBuf;
use std::time::Duration;

/// How long another writer is waited for: an append takes a few milliseconds.
const WAIT_MAX: Duration = Duration::from_secs(2);
/// How many torn lines may have begun at one byte before we give up.
const TORN_MAX: usize = 1_000;

/// The log, open for writing. One process has it at a time.
#[derive(Debug)]
pub struct Log {
    file: File,
    path: PathBuf,
    length: u64,
    /// Whether something stands behind the last line that could not be taken back: nothing may follow it.
    is_torn: bool,
    // Given back after the file is closed.
    _lock: Lock,
}

/// A turn that is durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Appended {
    /// Where its line begins.
    pub offset: u64,
    /// How long the line is, with its end.
    pub bytes: u64,
}

/// A line that a crash cut short. It was never acknowledged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Torn {
    /// Only its end was missing, which it got.
    Completed {
        /// Where it begins.
        offset: u64,
    },
    /// It is no turn. Its bytes were put aside.
    PutAside {
        /// Where it began.
        offset: u64,
        /// How many bytes there were.
        bytes: u64,
        /// Where they are now.
        path: PathBuf,
    },
}

impl Log {
    /// Opens the log, made if there is none, and mends what a crash left at its end.
    ///
    /// # Errors
    /// Another process writes it, or it can't be written.
    pub fn open(conversation: &Conversation) -> Result<(Self, Option<Torn>), Error> {
        let dir = conversation.dir();
        durable::make_dirs(dir, 0o700).map_err(|error| Error::unwritable(dir, &error))?;
        let lock_path = conversation.file("conversation.lock");
        let lock =
            Lock::take(&lock_path, WAIT_MAX).map_err(|refused| Error::not_taken(&lock_path, refused))?;
        lock.sign().map_err(|error| Error::unwritable(&lock_path, &error))?;
        let path = conversation.log();
        let file = open(&path).and_then(|file| {
            // The name of a new file is as durable as its lines.
            durable::sync_dir(dir)?;
            Ok(file)
        });
        let file = file.map_err(|error| Error::unwritable(&path, &error))?;
        let length = file.metadata().map_err(|error| Error::unreadable(&path, &error))?.len();
        let mut log = Log { file, path, length, is_torn: false, _lock: lock };
        let torn = log.mend().map_err(|error| Error::unwritable(&log.path, &error))?;
        Ok((log, torn))
    }

    /// Appends a turn; it is durable when this returns.
    ///
    /// # Errors
    /// The turn is too long, or the disk fails; then nothing of it is in the log.
    pub fn append(&mut self, turn: &MemoryTurn) -> Result<Appended, Error> {
        let unwritable = |error: &io::Error| Error::unwritable(&self.path, error);
        if self.is_torn {
            return Err(unwritable(&io::Error::other("a line that failed stands at its end; open it again")));
        }
        item::check(turn).map_err(|why| Error::TooMuch { why })?;
        let mut line =
            json::to_text(turn).map_err(|error| unwritable(&io::Error::other(error)))?.into_bytes();
        line.push(b'\n');
        if line.len() > LINE_BYTES_MAX {
            return Err(Error::TooLong { bytes: line.len() });
        }
        let offset = self.length;
        let written = self.file.write_all(&line).and_then(|()| self.file.sync_data());
        if let Err(error) = written {
            // What is there of the line was not acknowledged. If it can't be taken back, the next writer mends it.
            let error = unwritable(&error);
            self.is_torn = self.file.set_len(offset).and_then(|()| self.file.sync_data()).is_err();
            return Err(error);
        }
        self.length += line.len() as u64;
        Ok(Appended { offset, bytes: line.len() as u64 })
    }

    /// How long the log is.
    #[must_use]
    pub fn length(&self) -> u64 {
        self.length
    }

    /// How many lines it has.
    pub(super) fn lines(&self) -> Result<u64, Error> {
        lines::count(&self.file, 0, self.length).map_err(|error| Error::unreadable(&self.path, &error))
    }

    /// What its end is known by.
    pub(super) fn landmark(&self) -> Result<Digest, Error> {
        lines::landmark(&self.file, self.length).map_err(|error| Error::unreadable(&self.path, &error))
    }

    fn mend(&mut self) -> io::Result<Option<Torn>> {
        let offset = tail::end_of_lines(&self.file, self.length)?;
        if offset == self.length {
            return Ok(None);
        }
        let bytes = self.length - offset;
        let fits = usize::try_from(bytes).ok().filter(|bytes| *bytes < LINE_BYTES_MAX);
        let is_turn = match fits {
            Some(bytes) => {
                let mut line = vec![0; bytes];
                self.file.read_exact_at(&mut line, offset)?;
                lines::read_turn(&line).is_ok()
            }
            None => false,
        };
        let torn = if is_turn {
            self.file.write_all(b"\n")?;
            self.length += 1;
            Torn::Completed { offset }
        } else {
            let path = self.put_aside(offset)?;
            self.file.set_len(offset)?;
            self.length = offset;
            Torn::PutAside { offset, bytes, path }
        };
        self.file.sync_data()?;
        Ok(Some(torn))
    }

    /// Copies what follows `offset` into a file of its own.
    fn put_aside(&self, offset: u64) -> io::Result<PathBuf> {
        for number in 0..TORN_MAX {
            let path = PathBuf::from(format!("{}.torn-{offset}-{number}", self.path.display()));
            let mut aside = match OpenOptions::new().write(true).create_new(true).mode(FILE_MODE).open(&path)
            {
                Ok(aside) => aside,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(error) => return Err(error),
            };
            let mut from = offset;
            let mut block = vec![0; 1 << 20];
            loop {
                let read = self.file.read_at(&mut block, from)?;
                if read == 0 {
                    break;
                }
                aside.write_all(block.get(..read).unwrap_or_default())?;
                from += read as u64;
            }
            aside.sync_all()?;
            durable::sync_dir(durable::parent_of(&path))?;
            return Ok(path);
        }
        Err(io::Error::other("too many torn lines were put aside already"))
    }
}

fn open(path: &std::path::Path) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = OpenOptions::new()
        .read(true)
        .append(true)
        .create(true)
        .mode(FILE_MODE)
        .custom_flags(flags.bits().cast_signed())
        .open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::other("it is no regular file")),
    }
}
