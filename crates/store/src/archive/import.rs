//! Reads an archive in.
//! Owns: that every file of it is one an export writes. Must not: follow a link, or read without a bound.

use super::{BLOBS, Error, MANIFEST, ROWS, blocking, unreadable};
use countersign_record::access::{MatterAccess, Role};
use countersign_record::chain::Head;
use countersign_record::digest::Digest;
use countersign_record::id::MatterId;
use countersign_record::manifest::Manifest;
use countersign_record::row::{self, BLOB_BYTES_MAX, BlobBytes};
use countersign_runtime::ports::ledger::{self, Ledger, Piece};
use rustix::fs::OFlags;
use rustix::io::Errno;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// A manifest has a few hundred bytes.
const MANIFEST_BYTES_MAX: usize = 64 * 1024;
/// The longest line that is read. The longest row has its payload and the names of a thousand blobs.
const LINE_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Makes the matter's ledger from the archive at `dir`, whole or not at all. Gives back its last row.
///
/// # Errors
/// The archive is not what an export writes, is of another matter, or the matter has a ledger.
pub async fn import(ledger: &dyn Ledger, access: &MatterAccess, dir: &Path) -> Result<Head, Error> {
    access.require(Role::Admin).map_err(ledger::Error::from)?;
    let (dir, matter) = (dir.to_path_buf(), access.matter().clone());
    // The pieces themselves are read where the ledger is written, which waits for the disk anyhow.
    let (blobs, lines) = blocking(move || look(&dir, matter)).await?;
    Ok(ledger.restore(access, Box::new(blobs.chain(lines))).await?)
}

type Pieces = Box<dyn Iterator<Item = Result<Piece, ledger::Error>> + Send>;

/// Looks at all that can be told without reading rows and blobs.
fn look(dir: &Path, asked: MatterId) -> Result<(Pieces, Lines), Error> {
    let manifest = read_manifest(dir)?;
    if manifest.matter != asked {
        return Err(Error::Foreign { asked, found: manifest.matter });
    }
    let blobs = list_blobs(dir, manifest.blobs)?;
    check_entries(dir, blobs.is_empty())?;
    let file = open(&dir.join(ROWS))?;
    let lines =
        Lines { file: BufReader::new(file), buffer: Vec::new(), line: 0, last: None, done: false, manifest };
    let top = dir.join(BLOBS);
    let blobs = blobs.into_iter().map(move |digest| {
        let name = digest.to_string();
        read_blob(digest, &top.join(name.get(..2).unwrap_or_default()).join(&name))
    });
    Ok((Box::new(blobs), lines))
}

fn invalid(place: &Path, why: &str) -> Error {
    Error::Invalid { place: place.to_path_buf(), why: why.into() }
}

/// Opens a regular file, and nothing else: no link, no pipe, no device.
fn open(place: &Path) -> Result<File, Error> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits();
    let is = |error: &io::Error, errno: Errno| error.raw_os_error() == Some(errno.raw_os_error());
    let opened = OpenOptions::new().read(true).custom_flags(flags.cast_signed()).open(place);
    let file = opened.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => invalid(place, "the file is missing"),
        _ if is(&error, Errno::LOOP) => invalid(place, "it is a link"),
        // A socket, which can't even be opened.
        _ if is(&error, Errno::NXIO) => invalid(place, "it is no regular file"),
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

/// Every blob's digest, in order. What does not fit is told at once: a directory may have any number of entries.
fn list_blobs(dir: &Path, expected: u64) -> Result<Vec<Digest>, Error> {
    let mut blobs = Vec::new();
    let top = dir.join(BLOBS);
    let miscounted = |found: &str| Error::Invalid {
        place: top.clone(),
        why: format!("there are {found} blobs; the manifest says {expected}"),
    };
    each_entry(&top, |shelf, name| {
        let is_shelf = name.len() == 2 && name.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        if !is_shelf {
            return Err(invalid(shelf, "an export writes no such directory"));
        }
        let before = blobs.len();
        each_entry(shelf, |file, digest| {
            match Digest::try_from(digest) {
                Ok(found) if digest.starts_with(name) => blobs.push(found),
                Ok(_) | Err(_) => return Err(invalid(file, "a blob is named by its SHA-256")),
            }
            if blobs.len() as u64 > expected { Err(miscounted("more")) } else { Ok(()) }
        })?;
        if blobs.len() == before { Err(invalid(shelf, "the directory is empty")) } else { Ok(()) }
    })?;
    if blobs.len() as u64 != expected {
        return Err(miscounted(&blobs.len().to_string()));
    }
    blobs.sort();
    Ok(blobs)
}

/// Shows the entries of a directory that is no link, until one is refused; none if there is no such directory.
fn each_entry(dir: &Path, mut see: impl FnMut(&Path, &str) -> Result<(), Error>) -> Result<(), Error> {
    match fs::symlink_metadata(dir) {
        Ok(about) if about.is_dir() => {}
        Ok(_) => return Err(invalid(dir, "it is no directory")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(unreadable(dir)(error)),
    }
    for entry in fs::read_dir(dir).map_err(unreadable(dir))? {
        let entry = entry.map_err(unreadable(dir))?;
        match entry.file_name().to_str() {
            Some(name) => see(&entry.path(), name)?,
            None => return Err(invalid(&entry.path(), "an export writes no such file")),
        }
    }
    Ok(())
}

fn refused(error: &Error) -> ledger::Error {
    ledger::Error::Archive { why: error.to_string() }
}

fn read_blob(digest: Digest, place: &Path) -> Result<Piece, ledger::Error> {
    let failed = |error: io::Error| refused(&unreadable(place)(error));
    let too_large = || refused(&invalid(place, &format!("a blob has {BLOB_BYTES_MAX} bytes at most")));
    let file = open(place).map_err(|error| refused(&error))?;
    // Asked before reading: a file may claim far more than anybody wants to wait for.
    if file.metadata().map_err(failed)?.len() > BLOB_BYTES_MAX as u64 {
        return Err(too_large());
    }
    let mut bytes = Vec::new();
    file.take(BLOB_BYTES_MAX as u64 + 1).read_to_end(&mut bytes).map_err(failed)?;
    let blob = BlobBytes::new(bytes).map_err(|_| too_large())?;
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
