//! Files that somebody else may have put there.
//! Owns: opening regular ones and nothing else. Must not: wait for a pipe.

use rustix::fs::OFlags;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

/// What a symbolic link at the end of a path means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Links {
    /// What it leads to: whoever named the path meant it.
    Followed,
    /// Somebody wants us elsewhere: the file should be our own.
    Refused,
}

/// Opens a file to read, and says how long it is at this moment.
///
/// # Errors
/// It can't be opened, or is no regular file.
pub fn open_regular(path: &Path, links: Links) -> io::Result<(File, u64)> {
    let flags = match links {
        Links::Followed => OFlags::NONBLOCK,
        Links::Refused => OFlags::NONBLOCK | OFlags::NOFOLLOW,
    };
    let file = OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path)?;
    let about = file.metadata()?;
    if !about.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    // Files that the system makes up as they are read say nothing of their length.
    if about.len() == 0 && file.read_at(&mut [0], 0)? > 0 {
        return Err(io::Error::other("it holds more than it says, as the files of /proc do"));
    }
    Ok((file, about.len()))
}
