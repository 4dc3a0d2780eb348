//! Which files a folder has.
//! Owns: what git would leave out, what can't be named. Must not: follow a link or open a file.

use super::stamp::Stamp;
use super::{Limits, Skipped, Why};
use ignore::{DirEntry, WalkBuilder, WalkState};
use std::ffi::OsStr;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

/// What stands in a folder.
pub(super) enum Entry {
    /// A file that may be read.
    File { path: String, stamp: Stamp },
    /// Something else.
    Skipped(Skipped),
}

/// What stands beneath `root`, in no order; `None` if it is too much.
pub(super) fn walk(root: &Path, keep_out: &[PathBuf], limits: Limits) -> Option<Vec<Entry>> {
    let keep_out: Vec<PathBuf> = keep_out.iter().filter_map(|dir| dir.canonicalize().ok()).collect();
    let (sender, receiver) = mpsc::channel();
    let count = AtomicUsize::new(0);
    let is_in_repository = root.ancestors().any(|dir| dir.join(".git").exists());
    let walker = WalkBuilder::new(root)
        // As git: hidden files count, `.ignore` is no file of git's, `.gitignore` counts also where the folder was copied
        // out of its repository. The user's own list does not: the same folder has the same files for everybody.
        .hidden(false)
        .ignore(false)
        .git_global(false)
        // In a repository the files above count up to its top, and `.git/info/exclude`; elsewhere those of the folder.
        .require_git(is_in_repository)
        .parents(is_in_repository)
        .follow_links(false)
        .threads(std::thread::available_parallelism().map_or(1, usize::from))
        .filter_entry(move |entry| {
            entry.depth() == 0
                || (entry.file_name() != OsStr::new(".git")
                    && !(keep_out.iter().any(|dir| dir == entry.path()) && is_dir(entry)))
        })
        .build_parallel();
    walker.run(|| {
        let sender = sender.clone();
        let count = &count;
        Box::new(move |entry| {
            if count.fetch_add(1, Ordering::Relaxed) > limits.entries_max {
                return WalkState::Quit;
            }
            let told = match entry {
                Ok(entry) => entry_of(root, &entry, limits),
                Err(error) => Some(Entry::Skipped(refused(root, &error))),
            };
            match told.map(|entry| sender.send(entry)) {
                Some(Err(_)) => WalkState::Quit,
                Some(Ok(())) | None => WalkState::Continue,
            }
        })
    });
    drop(sender);
    // The folder itself was counted too.
    (count.into_inner() <= limits.entries_max.saturating_add(1)).then(|| receiver.into_iter().collect())
}

fn is_dir(entry: &DirEntry) -> bool {
    entry.file_type().is_some_and(|kind| kind.is_dir())
}

/// What an entry is; nothing for a directory.
fn entry_of(root: &Path, entry: &DirEntry, limits: Limits) -> Option<Entry> {
    let kind = entry.file_type()?;
    if kind.is_dir() {
        return None;
    }
    let relative = entry.path().strip_prefix(root).unwrap_or(entry.path());
    let skipped = |why| Some(Entry::Skipped(Skipped { path: relative.to_string_lossy().into_owned(), why }));
    if kind.is_symlink() {
        return skipped(Why::Link);
    }
    if !kind.is_file() {
        return skipped(Why::NotRegular);
    }
    let Some(path) = relative.to_str() else { return skipped(Why::NotUtf8) };
    if path.chars().any(char::is_control) {
        return skipped(Why::ControlCharacter);
    }
    match entry.metadata() {
        Ok(about) if about.len() > limits.file_bytes_max => skipped(Why::TooLarge { bytes: about.len() }),
        Ok(about) => Some(Entry::File { path: path.to_owned(), stamp: Stamp::of(&about) }),
        Err(error) => skipped(why(&error)),
    }
}

fn refused(root: &Path, error: &ignore::Error) -> Skipped {
    let path = place(error).map_or(Path::new(""), |path| path.strip_prefix(root).unwrap_or(path));
    Skipped { path: path.to_string_lossy().into_owned(), why: why(error) }
}

fn why(error: &ignore::Error) -> Why {
    match error.io_error() {
        Some(error) if error.kind() == ErrorKind::NotFound => Why::Gone,
        Some(error) => Why::Unreadable { message: error.to_string() },
        None => Why::Unreadable { message: error.to_string() },
    }
}

/// Where an error happened.
fn place(error: &ignore::Error) -> Option<&Path> {
    match error {
        ignore::Error::WithPath { path, .. } => Some(path),
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => place(err),
        ignore::Error::Loop { child, .. } => Some(child),
        ignore::Error::Partial(errors) => errors.iter().find_map(place),
        ignore::Error::Io(_)
        | ignore::Error::Glob { .. }
        | ignore::Error::UnrecognizedFileType(_)
        | ignore::Error::InvalidDefinition => None,
    }
}
