//! Files and directories that are still there after a power cut.
//! Owns: the order of write, fsync and rename. Must not: know what is in a file.

use rustix::fs::{CWD, RenameFlags};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Makes `dir` and the directories above it that are missing, each one durable; gives back those it made, the
/// outermost first.
///
/// # Errors
/// A directory can't be made; those that were are taken back.
pub fn make_dirs(dir: &Path, mode: u32) -> io::Result<Vec<PathBuf>> {
    let mut missing = Vec::new();
    let mut place = dir;
    while !place.as_os_str().is_empty() && !place.is_dir() {
        missing.push(place.to_path_buf());
        match place.parent() {
            Some(parent) => place = parent,
            None => break,
        }
    }
    missing.reverse();
    let mut made = Vec::new();
    for place in missing {
        match fs::DirBuilder::new().mode(mode).create(&place) {
            Ok(()) => {
                sync_dir(parent_of(&place))?;
                made.push(place);
            }
            // Another process was faster; the directory is there, which is all that was asked.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && place.is_dir() => {}
            Err(error) => {
                remove_dirs(&made);
                return Err(error);
            }
        }
    }
    Ok(made)
}

/// Takes back what [`make_dirs`] made, as far as it is empty.
pub fn remove_dirs(made: &[PathBuf]) {
    for place in made.iter().rev() {
        if fs::remove_dir(place).is_err() {
            return;
        }
    }
}

/// Makes the entries of a directory durable.
///
/// # Errors
/// It can't be opened, or the disk fails.
pub fn sync_dir(dir: &Path) -> io::Result<()> {
    File::open(dir)?.sync_all()
}

/// Writes a file that must not be there yet, and makes its content durable. Its name is durable after
/// [`sync_dir`]. What could not be written whole is removed.
///
/// # Errors
/// There is a file of that name, or it can't be written whole.
pub fn write_new(path: &Path, mode: u32, bytes: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(path)?;
    let written = file.write_all(bytes).and_then(|()| file.sync_all());
    if written.is_err() {
        drop(fs::remove_file(path));
    }
    written
}

/// Gives `from` the name `to`, unless there is something of that name.
///
/// # Errors
/// There is something of that name, or it can't be renamed.
pub fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    match rustix::fs::renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        Ok(()) => {}
        // Some file systems can't rename without replacing; then the check and the rename are two steps.
        Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS) => {
            if fs::symlink_metadata(to).is_ok() {
                return Err(io::ErrorKind::AlreadyExists.into());
            }
            fs::rename(from, to)?;
        }
        Err(errno) => return Err(errno.into()),
    }
    sync_dir(parent_of(to))
}

/// Puts a file that was written beside, whole and durable, in the place of `to`: whoever opens `to` finds the old one
/// or the new one.
///
/// # Errors
/// It can't be renamed.
pub fn replace(from: &Path, to: &Path) -> io::Result<()> {
    fs::rename(from, to)?;
    sync_dir(parent_of(to))
}

/// Removes a file, if it is there. A link is removed, not what it leads to.
///
/// # Errors
/// It is there and can't be removed.
pub fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// The directory that holds `path`.
#[must_use]
pub fn parent_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        Some(_) | None => Path::new("."),
    }
}
