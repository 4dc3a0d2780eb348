//! A file that is there whole or not at all.
//! Owns: the order of write, fsync and rename. Must not: know what is in the file, or replace another.

use super::refusal::WriteError;
use countersign_durable as durable;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Stages of one name that may lie beside each other, left by writers that were killed.
const STAGES_MAX: u32 = 100;
/// What is remembered is nobody else's.
const MODE: u32 = 0o600;

/// Has a new file written beside its place, makes it durable, and gives it its name. On failure nothing is left.
///
/// # Errors
/// There is something of that name already, the writer fails, or the system refuses.
pub fn publish_new<T>(
    path: &Path,
    write: impl FnOnce(&mut File) -> Result<T, WriteError>,
) -> Result<T, WriteError> {
    let exists = || WriteError::Exists { path: path.display().to_string() };
    // Told before the work is done; the rename is what holds it.
    if fs::symlink_metadata(path).is_ok() {
        return Err(exists());
    }
    let (stage, mut file) = stage(path)?;
    let published = write(&mut file).and_then(|told| {
        file.sync_all()?;
        durable::rename_new(&stage, path).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => exists(),
            _ => error.into(),
        })?;
        Ok(told)
    });
    if published.is_err() {
        drop(fs::remove_file(&stage));
    }
    published
}

/// Makes a file that nobody else writes, in the directory of `path`.
fn stage(path: &Path) -> io::Result<(PathBuf, File)> {
    let Some(name) = path.file_name() else { return Err(io::ErrorKind::IsADirectory.into()) };
    for number in 0..STAGES_MAX {
        let mut staged = std::ffi::OsString::from(".");
        staged.push(name);
        staged.push(format!(".{}.{number}.part", std::process::id()));
        let stage = durable::parent_of(path).join(staged);
        match OpenOptions::new().write(true).create_new(true).mode(MODE).open(&stage) {
            Ok(file) => return Ok((stage, file)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}
