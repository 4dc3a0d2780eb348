//! The files of the repository and their text.
//! Owns: all disk and process access of tidy. Must not: judge what it reads.

use std::fmt;
use std::io;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

/// A text file: its path from the root, with `/`, and what it holds.
pub(crate) struct File {
    pub(crate) path: String,
    pub(crate) text: String,
}

impl File {
    #[cfg(test)]
    pub(crate) fn new(path: &str, text: &str) -> Self {
        File { path: path.to_owned(), text: text.to_owned() }
    }
}

/// Something listed that gives no text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Oddity {
    pub(crate) path: String,
    pub(crate) kind: OddityKind,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum OddityKind {
    /// A symbolic link, wherever it points; it is not followed.
    Link,
    /// Holds a NUL or is not UTF-8, first on this line.
    Binary { line: usize },
    /// The system refuses to give it out.
    Unreadable { error: String },
    /// Its name is not UTF-8, so nothing could point at it.
    Nameless,
}

/// What is below a root.
pub(crate) struct Listing {
    /// Sorted by path.
    pub(crate) files: Vec<File>,
    pub(crate) oddities: Vec<Oddity>,
    pub(crate) listed_by: ListedBy,
}

/// Where the list of files came from; the report says it, because a walk also sees ignored files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ListedBy {
    Git,
    Walk,
}

impl fmt::Display for ListedBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ListedBy::Git => "git",
            ListedBy::Walk => "a directory walk",
        })
    }
}

/// Reads every file below `root`.
pub(crate) fn read(root: &Path) -> Result<Listing> {
    let (mut paths, listed_by) = match list_with_git(root) {
        Some(paths) => (paths, ListedBy::Git),
        None => (walk(root)?, ListedBy::Walk),
    };
    paths.sort();
    let (mut files, mut oddities) = (Vec::new(), Vec::new());
    for path in paths {
        match read_entry(&root.join(&path), &path) {
            Ok(Some(text)) => files.push(File { path, text }),
            Ok(None) => {}
            Err(kind) => oddities.push(Oddity { path, kind }),
        }
    }
    Ok(Listing { files, oddities, listed_by })
}

/// The text of one listed file; `None` where there is no file.
fn read_entry(full: &Path, path: &str) -> Result<Option<String>, OddityKind> {
    if path.contains(char::REPLACEMENT_CHARACTER) {
        return Err(OddityKind::Nameless);
    }
    let unreadable = |error: io::Error| OddityKind::Unreadable { error: error.to_string() };
    let meta = match full.symlink_metadata() {
        Ok(meta) => meta,
        // Git still lists a file deleted since the last `git add`, or replaced by a file above it.
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(unreadable(error)),
    };
    if meta.is_symlink() {
        return Err(OddityKind::Link);
    }
    if !meta.is_file() {
        return Ok(None);
    }
    text_of(std::fs::read(full).map_err(unreadable)?).map(Some)
}

fn text_of(bytes: Vec<u8>) -> Result<String, OddityKind> {
    let valid = std::str::from_utf8(&bytes).map_or_else(|error| error.valid_up_to(), str::len);
    let odd = bytes.iter().position(|byte| *byte == 0).map_or(valid, |nul| nul.min(valid));
    let line = 1 + bytes.iter().take(odd).filter(|byte| **byte == b'\n').count();
    if odd < bytes.len() {
        return Err(OddityKind::Binary { line });
    }
    String::from_utf8(bytes).map_err(|_| OddityKind::Binary { line })
}

/// Tracked and new files, or `None` where `root` is no checkout or git cannot read it (absent, or a
/// checkout that belongs to somebody else): the walk then gives at least every file git would.
fn list_with_git(root: &Path) -> Option<Vec<String>> {
    if !root.join(".git").exists() {
        return None;
    }
    let output = Command::new("git")
        // Inside a commit hook these point at the committing repository, whatever `root` is.
        .env_remove("GIT_DIR")
        .env_remove("GIT_WORK_TREE")
        .env_remove("GIT_INDEX_FILE")
        .arg("-C")
        .arg(root)
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .output()
        .ok()?;
    if !output.status.success() {
        return None;
    }
    let listed = String::from_utf8_lossy(&output.stdout);
    Some(listed.split('\0').filter(|path| !path.is_empty()).map(str::to_owned).collect())
}

/// Every file below `root`, but none below `target` or a dot directory. Links are not followed, so
/// the walk ends.
fn walk(root: &Path) -> Result<Vec<String>> {
    let mut paths = Vec::new();
    let mut waiting = vec![String::new()];
    while let Some(dir) = waiting.pop() {
        let full = root.join(&dir);
        let entries = std::fs::read_dir(&full).with_context(|| format!("cannot list {}", full.display()))?;
        for entry in entries {
            let entry = entry.with_context(|| format!("cannot list {}", full.display()))?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = if dir.is_empty() { name.clone() } else { format!("{dir}/{name}") };
            let kind = entry.file_type().with_context(|| format!("cannot stat {path}"))?;
            // A `target` may be a link to a bigger disk.
            let is_built = name == "target" && !kind.is_file();
            if kind.is_dir() && !is_built && !name.starts_with('.') {
                waiting.push(path);
            } else if !kind.is_dir() && !is_built {
                paths.push(path);
            }
        }
    }
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_utf_8_without_nul() {
        let check = |bytes: &[u8], expected: Result<&str, usize>| {
            let expected = expected.map(str::to_owned).map_err(|line| OddityKind::Binary { line });
            assert_eq!(text_of(bytes.to_vec()), expected, "{bytes:?}");
        };
        check(b"", Ok(""));
        check("\u{feff}é \\0\n".as_bytes(), Ok("\u{feff}é \\0\n"));
        check(b"// a\n// \0\n", Err(2));
        check(b"\xff\n", Err(1));
        check(b"a\n\nb \xc3", Err(3));
        check(b"\0\n\xff", Err(1));
        check(b"\xff\n\0", Err(1));
    }
}
