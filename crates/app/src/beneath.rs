//! Files beneath a directory that a user named.
//! Owns: opening one so that nothing leads out, reading it in bounded memory. Must not: wait for a pipe.

use rustix::fs::{Mode, OFlags, ResolveFlags};
use rustix::io::Errno;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Opens a regular file. The kernel keeps the path beneath the root, links included.
pub(crate) fn open(root: &Path, path: &str) -> Result<File, String> {
    let words = |error: std::io::Error| error.to_string();
    let root = File::open(root).map_err(words)?;
    // Without NONBLOCK a pipe would wait for ever.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
    let beneath = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    let file = match rustix::fs::openat2(&root, path, flags, Mode::empty(), beneath) {
        Ok(file) => File::from(file),
        Err(Errno::XDEV) => return Err("the path leads out of the directory".to_owned()),
        Err(error) => return Err(words(error.into())),
    };
    match file.metadata().map_err(words)?.is_file() {
        true => Ok(file),
        false => Err("it is no regular file".to_owned()),
    }
}

/// Reads a file that may have so many bytes, and one more of a longer one: whoever asks says what that means.
pub(crate) fn read(root: &Path, path: &str, bytes_max: u64) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    open(root, path)?.take(bytes_max + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    Ok(bytes)
}
