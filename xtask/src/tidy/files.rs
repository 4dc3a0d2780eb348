//! The files of the repository and their text.
//! Owns: all disk and process access of tidy. Must not: judge what it reads.

use std::fmt;
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

/// Reads every text file below `root`, sorted by path. Binary files are left out.
pub(crate) fn read(root: &Path) -> Result<(Vec<File>, ListedBy)> {
    let (mut paths, listed_by) = match list_with_git(root) {
        Some(paths) => (paths, ListedBy::Git),
        None => (walk(root)?, ListedBy::Walk),
    };
    paths.sort();
    let mut files = Vec::new();
    for path in paths {
        let full = root.join(&path);
        // Git still lists a file deleted since the last `git add`; a link is checked where it points.
        if !full.symlink_metadata().is_ok_and(|meta| meta.is_file()) {
            continue;
        }
        let bytes = std::fs::read(&full).with_context(|| format!("cannot read {}", full.display()))?;
        if let Ok(text) = String::from_utf8(bytes)
            && !text.contains('\0')
        {
            files.push(File { path, text });
        }
    }
    Ok((files, listed_by))
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
    let listed = String::from_utf8(output.stdout).ok()?;
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
            if kind.is_file() {
                paths.push(path);
            } else if kind.is_dir() && name != "target" && !name.starts_with('.') {
                waiting.push(path);
            }
        }
    }
    Ok(paths)
}
