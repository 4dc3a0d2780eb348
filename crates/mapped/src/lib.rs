//! A file's bytes in place: mapped into memory, not read.
//! Owns: opening the file, the mapping, and the only `unsafe` of the workspace. Must not: interpret the bytes, write
//! them, or map what is no regular file.
//!
//! # Invariant
//! A mapping shows the file, not a copy of it. If somebody writes into the file, the bytes change under the reader; if
//! somebody cuts it short, touching a byte beyond its new end ends the process (SIGBUS). So only files may be mapped
//! that are published whole by a rename and never changed in place afterwards: a rename or a removal leaves the mapped
//! file as it is, because the mapping keeps it. Whoever may write to the file against that rule may also stop
//! whoever reads it; what they can't do is make us act on the bytes, which are hostile to everything above anyway.

use memmap2::{Mmap, MmapOptions};
use rustix::fs::OFlags;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Why a file is not mapped.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is nothing of this name.
    #[error("there is no such file")]
    Missing,
    /// The name is a link, which could lead anywhere by the time it is followed.
    #[error("it is a symbolic link")]
    Link,
    /// A directory, a pipe, a device.
    #[error("it is no regular file")]
    NotAFile,
    /// The operating system refused.
    #[error("{}", .0.kind())]
    System(io::Error),
}

/// A regular file's bytes.
#[derive(Debug)]
pub struct Mapped {
    map: Mmap,
    /// Held as long as its bytes are: a lock taken on it would live as long as the mapping.
    _file: File,
}

impl Mapped {
    /// Maps a whole regular file, read-only; its length is that of this moment.
    ///
    /// # Errors
    /// There is no such file, it is a link or no regular file, or the system refuses.
    pub fn open(path: &Path) -> Result<Mapped, Error> {
        // Without NONBLOCK, a pipe of this name would hold us for ever.
        let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
        let file = OpenOptions::new().read(true).custom_flags(flags).open(path);
        let file = file.map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => Error::Missing,
            _ if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) => Error::Link,
            _ => Error::System(error),
        })?;
        if !file.metadata().map_err(Error::System)?.is_file() {
            return Err(Error::NotAFile);
        }
        let map = map(&file).map_err(Error::System)?;
        Ok(Mapped { map, _file: file })
    }

    /// The bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.map
    }
}

#[allow(unsafe_code, reason = "no safe call maps a file; the invariant of this crate is what it needs")]
fn map(file: &File) -> io::Result<Mmap> {
    // SAFETY: the mapping is read-only and of a regular file. Rust asks that its bytes do not change while they are
    // borrowed, which is the invariant above: what is mapped was published by a rename and is not changed in place.
    unsafe { MmapOptions::new().map(file) }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests fail by panicking")]
mod tests {
    use super::*;
    use countersign_testkit::scratch::Scratch;
    use std::fs;

    #[test]
    fn bytes_stay_when_the_name_goes() {
        let scratch = Scratch::new();
        let place = scratch.path().join("file");
        for bytes in [&b""[..], b"x", &[7; 10_000]] {
            fs::write(&place, bytes).unwrap();
            let mapped = Mapped::open(&place).unwrap();
            assert_eq!(mapped.bytes(), bytes);
            let other = scratch.path().join("other");
            fs::write(&other, "another file").unwrap();
            fs::rename(&other, &place).unwrap();
            assert_eq!(mapped.bytes(), bytes);
            fs::remove_file(&place).unwrap();
            assert_eq!(mapped.bytes(), bytes);
        }
    }

    #[test]
    fn only_regular_files_are_mapped() {
        let scratch = Scratch::new();
        let place = |name: &str| scratch.path().join(name);
        fs::write(place("file"), "x").unwrap();
        std::os::unix::fs::symlink(place("file"), place("link")).unwrap();
        let (kind, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR);
        rustix::fs::mknodat(rustix::fs::CWD, place("pipe"), kind, mode, 0).unwrap();
        let told = |name: &str| Mapped::open(&place(name)).unwrap_err().to_string();
        assert_eq!(told("nothing"), "there is no such file");
        assert_eq!(told("link"), "it is a symbolic link");
        assert_eq!(told("pipe"), "it is no regular file");
        assert_eq!(told("."), "it is no regular file");
    }
}
