//! Reads an archive in.
//! Owns: that every file of it is one an export writes. Must not: follow a link, or read without a bound.

use super::{BLOBS, Error, MANIFEST, ROWS, unreadable};
use countersign_record::access::{MatterAccess, Role};
use countersign_record::chain::Head;
use countersign_record::digest::Digest;
use countersign_record::manifest::Manifest;
use countersign_record::row::{self, BLOB_BYTES_MAX, BlobBytes};
use countersign_runtime::ports::ledger::{self, Ledger, Piece};
use rustix::fs::OFlags;
use rustix::io::Errno;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// A manifest has a few hundred bytes.
const MANIFEST_BYTES_MAX: usize = 64 * 1024;
/// The longest line that is read.
const LINE_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Makes the matter's ledger from the archive at `dir`, whole or not at all. Gives back its last row.
///
/// # Errors
/// The archive is not what an export writes, is of another matter, or the matter has a ledger.
pub async fn import(ledger: &dyn Ledger, access: &MatterAccess, dir: &Path) -> Result<Head, Error> {
    access.require(Role::Admin).map_err(ledger::Error::from)?;
    let manifest = read_manifest(dir)?;
    if manifest.matter != *access.matter() {
        return Err(Error::Foreign { asked: access.matter().clone(), found: manifest.matter });
    }
    let blobs = list_blobs(dir)?;
    check_entries(dir, blobs.is_empty())?;
    if blobs.len() as u64 != manifest.blobs {
        let why = format!("there are {} blobs; the manifest says {}", blobs.len(), manifest.blobs);
        return Err(Error::Invalid { place: dir.join(BLOBS), why });
    }
    let place = dir.join(ROWS);
    let file = open(&place)?;
    let lines =
        Lines { file: BufReader::new(file), buffer: Vec::new(), line: 0, last: None, done: false, manifest };
    let blobs = blobs.into_iter().map(|(digest, place)| read_blob(digest, &place));
    Ok(ledger.restore(access, Box::new(blobs.chain(lines))).await?)
}

fn invalid(place: &Path, why: &str) -> Error {
    Error::Invalid { place: place.to_path_buf(), why: why.into() }
}

/// Opens a regular file, and nothing else: no link, no pipe, no device.
fn open(place: &Path) -> Result<File, Error> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits();
    let opened = OpenOptions::new().read(true).custom_flags(flags.cast_signed()).open(place);
    let file = opened.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => invalid(place, "the file is missing"),
        _ if error.raw_os_error() == Some(Errno::LOOP.raw_os_error()) => invalid(place, "it is a link"),
        _ => unreadable(place)(error),
    })?;
    let about = file.metadata().map_err(unreadable(place))?;
    if !about.is_file() {
        return Err(invalid(place, "it is no regular file"));
    }
    Ok(file)
}

fn read_manifest(dir: &Path) -> Result<Manifest, Error> {
    let place = dir.join(MANIFEST);
    let mut bytes = Vec::new();
    let file = open(&place)?;
    file.take(MANIFEST_BYTES_MAX as u64 + 1).read_to_end(&mut bytes).map_err(unreadable(&place))?;
    if bytes.len() > MANIFEST_BYTES_MAX {
        return Err(invalid(&place, "the manifest is too long"));
    }
    Manifest::read(&bytes).map_err(|why| Error::Invalid { place, why })
}

/// The directory holds the manifest, the rows, the blobs if there are any, and nothing else.
fn check_entries(dir: &Path, no_blobs: bool) -> Result<(), Error> {
    for entry in fs::read_dir(dir).map_err(unreadable(dir))? {
        let entry = entry.map_err(unreadable(dir))?;
        let name = entry.file_name();
        let known = name == MANIFEST || name == ROWS || (name == BLOBS && !no_blobs);
        if !known {
            return Err(invalid(&entry.path(), "an export writes no such file"));
        }
    }
    Ok(())
}

/// Every blob's digest and file, in order of digest.
fn list_blobs(dir: &Path) -> Result<Vec<(Digest, PathBuf)>, Error> {
    let mut blobs = Vec::new();
    let top = dir.join(BLOBS);
    for (shelf, name) in directory(&top)? {
        let is_shelf = name.len() == 2 && name.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        if !is_shelf {
            return Err(invalid(&shelf, "an export writes no such directory"));
        }
        let files = directory(&shelf)?;
        if files.is_empty() {
            return Err(invalid(&shelf, "the directory is empty"));
        }
        for (file, digest) in files {
            match Digest::try_from(digest.as_str()) {
                Ok(found) if digest.starts_with(&name) => blobs.push((found, file)),
                Ok(_) | Err(_) => return Err(invalid(&file, "a blob is named by its SHA-256")),
            }
        }
    }
    blobs.sort();
    Ok(blobs)
}

/// The entries of a directory that is no link; none if there is no such directory.
fn directory(dir: &Path) -> Result<Vec<(PathBuf, String)>, Error> {
    match fs::symlink_metadata(dir) {
        Ok(about) if about.is_dir() => {}
        Ok(_) => return Err(invalid(dir, "it is no directory")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(unreadable(dir)(error)),
    }
    let mut entries = Vec::new();
    for entry in fs::read_dir(dir).map_err(unreadable(dir))? {
        let entry = entry.map_err(unreadable(dir))?;
        match entry.file_name().into_string() {
            Ok(name) => entries.push((entry.path(), name)),
            Err(_) => return Err(invalid(&entry.path(), "an export writes no such file")),
        }
    }
    Ok(entries)
}

fn refused(error: &Error) -> ledger::Error {
    ledger::Error::Archive { why: error.to_string() }
}

fn read_blob(digest: Digest, place: &Path) -> Result<Piece, ledger::Error> {
    let file = open(place).map_err(|error| refused(&error))?;
    let mut bytes = Vec::new();
    file.take(BLOB_BYTES_MAX as u64 + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| refused(&unreadable(place)(error)))?;
    let blob = BlobBytes::new(bytes).map_err(|error| ledger::Error::Archive { why: error.to_string() })?;
    if blob.digest() != digest {
        return Err(ledger::Error::BlobChanged { digest });
    }
    Ok(Piece::Blob(blob))
}

/// The rows of the archive, held against its manifest.
struct Lines {
    file: BufReader<File>,
    buffer: Vec<u8>,
    line: u64,
    last: Option<Head>,
    done: bool,
    manifest: Manifest,
}

impl Iterator for Lines {
    type Item = Result<Piece, ledger::Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        let piece = self.read().transpose();
        self.done = !matches!(piece, Some(Ok(_)));
        match piece {
            None if self.last != Some(self.manifest.head) => {
                let why = format!("{ROWS} does not end with the row that the manifest names as head");
                Some(Err(ledger::Error::Archive { why }))
            }
            piece => piece,
        }
    }
}

impl Lines {
    fn read(&mut self) -> Result<Option<Piece>, ledger::Error> {
        self.buffer.clear();
        let io = |error: io::Error| ledger::Error::Archive { why: format!("{ROWS}: {error}") };
        let mut bounded = (&mut self.file).take(LINE_BYTES_MAX as u64 + 1);
        if bounded.read_until(b'\n', &mut self.buffer).map_err(io)? == 0 {
            return Ok(None);
        }
        self.line += 1;
        let line = self.line;
        if self.line > self.manifest.rows {
            let why = format!("{ROWS} has more lines than the {} of the manifest", self.manifest.rows);
            return Err(ledger::Error::Archive { why });
        }
        let Some(text) = self.buffer.strip_suffix(b"\n") else {
            return Err(ledger::Error::Archive {
                why: format!("{ROWS}, line {line}: the line is cut or too long"),
            });
        };
        let row = row::read_line(text).map_err(|why| ledger::Error::BadLine { line, why })?;
        self.last = Some(Head { seq: row.seq, hash: row.hash });
        Ok(Some(Piece::Row(Box::new(row))))
    }
}
