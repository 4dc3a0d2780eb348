//! The files of a folder, with their hashes.
//! Owns: which are there, which could not be read and why. Must not: follow a link, wait for a pipe, trust a hash that
//! could be of an earlier content, or leave out a file without saying so unless git would.

mod cache;
mod hash;
mod stamp;
mod walk;

use cache::{Cache, Known};
use countersign_kernel::scope::File;
use countersign_record::code::Code;
use countersign_record::digest::Digest;
use countersign_record::json::{self, Json, Number};
use stamp::Stamp;
use std::path::{Path, PathBuf};
use walk::Entry;

/// How much of a folder is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Files, directories and others; a folder with more is refused, since half of one could mislead.
    pub entries_max: usize,
    /// Bytes of a file; a longer one is told and not hashed.
    pub file_bytes_max: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { entries_max: 1_000_000, file_bytes_max: 1 << 30 }
    }
}

/// Which folder, and how.
#[derive(Clone, Debug)]
pub struct Asked<'a> {
    /// Where it is.
    pub dir: &'a Path,
    /// How much of it.
    pub limits: Limits,
    /// Directories that are no part of it, such as our own data.
    pub keep_out: &'a [PathBuf],
    /// The directory where hashes are kept for the next time.
    pub cache: Option<&'a Path>,
}

/// What stands in a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folder {
    /// The files, by path.
    pub files: Vec<Found>,
    /// What is there and is none of them, by path.
    pub skipped: Vec<Skipped>,
    /// How many files had to be read; the others were known.
    pub hashed: usize,
}

/// A file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Where it is, from the folder, with `/` between names.
    pub path: String,
    /// How long it is.
    pub bytes: u64,
    /// When it was changed, in seconds since 1970.
    pub mtime: i64,
    /// SHA-256 of its bytes.
    pub sha256: Digest,
}

impl Found {
    /// As a manifest names it.
    #[must_use]
    pub fn to_file(&self) -> File {
        File { path: self.path.clone(), sha256: self.sha256, mtime: number(self.mtime), tags: Vec::new() }
    }
}

/// A count of seconds as a number: those that a file system can say have a canonical form.
fn number(seconds: i64) -> Number {
    match json::parse(seconds.to_string().as_bytes()) {
        Ok(Json::Number(number)) if number.is_exact() => number,
        Ok(_) | Err(_) => Number::from(0),
    }
}

/// Something that is there and is not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// Where it is; what is not UTF-8 in it is replaced.
    pub path: String,
    /// Why.
    pub why: Why,
}

/// Why something is not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// Its name could not be written down.
    NotUtf8,
    /// Its name has a line's end or another control character.
    ControlCharacter,
    /// A symbolic link.
    Link,
    /// A pipe, a socket or a device.
    NotRegular,
    /// It is too long.
    TooLarge {
        /// How long.
        bytes: u64,
    },
    /// It was written to while it was read, again and again.
    Changing,
    /// It was there, and is not any more.
    Gone,
    /// The operating system refuses.
    Unreadable {
        /// In its words.
        message: String,
    },
}

impl Why {
    /// A word for it.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Why::NotUtf8 => "SKIPPED:not-utf8",
            Why::ControlCharacter => "SKIPPED:control-character",
            Why::Link => "SKIPPED:link",
            Why::NotRegular => "SKIPPED:not-regular",
            Why::TooLarge { .. } => "SKIPPED:too-large",
            Why::Changing => "SKIPPED:changing",
            Why::Gone => "SKIPPED:gone",
            Why::Unreadable { .. } => "SKIPPED:unreadable",
        }
    }

    /// A sentence for it.
    #[must_use]
    pub fn detail(&self) -> String {
        match self {
            Why::NotUtf8 => "its name is not UTF-8".to_owned(),
            Why::ControlCharacter => "its name has a control character".to_owned(),
            Why::Link => "it is a symbolic link, and none is followed".to_owned(),
            Why::NotRegular => "it is a pipe, a socket or a device".to_owned(),
            Why::TooLarge { bytes } => format!("it has {bytes} bytes"),
            Why::Changing => "it was written to while it was read".to_owned(),
            Why::Gone => "it is not there any more".to_owned(),
            Why::Unreadable { message } => message.clone(),
        }
    }
}

/// Why a folder is not read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// There is no such folder, or it can't be opened.
    #[error("{path}: {why}")]
    Unreadable {
        /// Which.
        path: String,
        /// Why.
        why: String,
    },
    /// It holds too much.
    #[error("{path} holds more than {entries_max} files and directories")]
    TooMany {
        /// Which.
        path: String,
        /// The limit.
        entries_max: usize,
    },
}

impl Error {
    /// The stable code.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            Error::Unreadable { .. } => Code::FileUnreadable,
            Error::TooMany { .. } => Code::FileTooMany,
        }
    }
}

/// A file whose hash is looked for.
struct Wanted {
    path: String,
    stamp: Stamp,
}

/// Reads a folder.
///
/// # Errors
/// There is none, or it holds too much.
pub fn read(asked: &Asked<'_>) -> Result<Folder, Error> {
    let named = asked.dir.display().to_string();
    let unreadable =
        |error: std::io::Error| Error::Unreadable { path: named.clone(), why: error.to_string() };
    // Whoever named the folder meant what a link leads to; beneath it none is followed.
    let root = asked.dir.canonicalize().map_err(unreadable)?;
    let opened = std::fs::File::open(&root).map_err(unreadable)?;
    if !opened.metadata().map_err(unreadable)?.is_dir() {
        return Err(Error::Unreadable { path: named, why: "it is no directory".to_owned() });
    }
    let entries = walk::walk(&root, asked.keep_out, asked.limits)
        .ok_or_else(|| Error::TooMany { path: named.clone(), entries_max: asked.limits.entries_max })?;
    let (mut wanted, mut skipped) = (Vec::new(), Vec::new());
    for entry in entries {
        match entry {
            Entry::File { path, stamp } => wanted.push(Wanted { path, stamp }),
            Entry::Skipped(one) => skipped.push(one),
        }
    }
    wanted.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    let cache = asked.cache.map(|dir| Cache::at(dir, &root));
    let known = cache.as_ref().map(Cache::read).unwrap_or_default();
    let (files, hashed) =
        known_or_hashed(&opened, wanted, &known, cache.as_ref(), asked.limits, &mut skipped);
    skipped.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    Ok(Folder { files, skipped, hashed })
}

/// The files with their hashes, and how many of them had to be read.
fn known_or_hashed(
    root: &std::fs::File,
    wanted: Vec<Wanted>,
    known: &[Known],
    cache: Option<&Cache>,
    limits: Limits,
    skipped: &mut Vec<Skipped>,
) -> (Vec<Found>, usize) {
    let unknown: Vec<&str> = wanted
        .iter()
        .filter(|one| cache::digest(known, &one.path, &one.stamp).is_none())
        .map(|one| one.path.as_str())
        .collect();
    // The file is made before the first one is read, so that its time says when reading began.
    let staged = if unknown.is_empty() { None } else { cache.and_then(Cache::stage) };
    let mut hashes = hash::all(root, &unknown, limits.file_bytes_max).into_iter();
    let hashed = unknown.len();
    let mut files = Vec::with_capacity(wanted.len());
    let mut keep = Vec::new();
    let mut has_news = false;
    for Wanted { path, stamp } in wanted {
        let (sha256, stamp) = match cache::digest(known, &path, &stamp) {
            Some(sha256) => (sha256, stamp),
            None => match hashes.next() {
                Some(Ok(hashed)) => {
                    has_news |= staged.as_ref().is_some_and(|staged| staged.is_settled(&hashed.1));
                    hashed
                }
                Some(Err(why)) => {
                    skipped.push(Skipped { path, why });
                    continue;
                }
                None => continue,
            },
        };
        if staged.is_some() {
            keep.push(Known { path: path.clone(), stamp, sha256 });
        }
        files.push(Found { path, bytes: stamp.bytes, mtime: stamp.mtime.0, sha256 });
    }
    if let Some(staged) = staged.filter(|_| has_news) {
        staged.publish(&keep);
    }
    (files, hashed)
}
