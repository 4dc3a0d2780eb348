//! Directories whose files are all generated.
//! Owns: comparing and writing them. Must not: know what is in a file, or touch a directory that is not all its own.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context, Result};

/// What a directory should hold, and nothing else.
pub(crate) struct Directory {
    /// The task that writes it.
    pub(crate) task: &'static str,
    /// From the root of the repository, with `/`.
    pub(crate) path: &'static str,
    /// Name and text of each file.
    pub(crate) files: BTreeMap<String, String>,
}

impl Directory {
    /// The files that are missing, different or too many, by path.
    pub(crate) fn differing(&self, root: &Path) -> Result<Vec<String>> {
        let held = self.held(root)?;
        let names: BTreeSet<&String> = held.keys().chain(self.files.keys()).collect();
        let differs = |name: &&&String| {
            held.get(**name) != self.files.get(**name).map(String::as_bytes).map(Vec::from).as_ref()
        };
        Ok(names.iter().filter(differs).map(|name| format!("{}/{name}", self.path)).collect())
    }

    /// Makes the directory hold just its files. A file that is right already is not touched.
    pub(crate) fn write(&self, root: &Path) -> Result<()> {
        let directory = root.join(self.path);
        std::fs::create_dir_all(&directory)
            .with_context(|| format!("cannot make {}", directory.display()))?;
        let held = self.held(root)?;
        for name in held.keys().filter(|name| !self.files.contains_key(*name)) {
            let path = directory.join(name);
            std::fs::remove_file(&path).with_context(|| format!("cannot remove {}", path.display()))?;
        }
        for (name, text) in &self.files {
            if held.get(name).map(Vec::as_slice) != Some(text.as_bytes()) {
                let path = directory.join(name);
                std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
            }
        }
        Ok(())
    }

    fn held(&self, root: &Path) -> Result<BTreeMap<String, Vec<u8>>> {
        let directory = root.join(self.path);
        let mut held = BTreeMap::new();
        if !directory.exists() {
            return Ok(held);
        }
        let entries =
            std::fs::read_dir(&directory).with_context(|| format!("cannot list {}", directory.display()))?;
        for entry in entries {
            let entry = entry.with_context(|| format!("cannot list {}", directory.display()))?;
            let name = entry.file_name().to_string_lossy().into_owned();
            // A directory inside is another one's.
            if entry.path().is_dir() {
                continue;
            }
            let bytes =
                std::fs::read(entry.path()).with_context(|| format!("cannot read {}/{name}", self.path))?;
            held.insert(name, bytes);
        }
        Ok(held)
    }
}

/// Fails where the repository's own files are not what is generated.
#[cfg(test)]
pub(crate) fn assert_up_to_date(directory: &Directory) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let differing = directory.differing(&root).unwrap();
    assert!(
        differing.is_empty(),
        "run `cargo run -p xtask -- {}`; it would change {differing:?}",
        directory.task
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_made_to_hold_just_its_files() {
        let root = std::env::temp_dir().join(format!("countersign-generated-{}", std::process::id()));
        let files = [("a.md", "a\n"), ("b.md", "b\n"), ("c.md", "c\n")];
        let files: BTreeMap<String, String> =
            files.map(|(name, text)| (name.to_owned(), text.to_owned())).into();
        let directory = Directory { task: "test", path: "docs", files };
        std::fs::create_dir_all(root.join("docs")).unwrap();
        for (name, text) in [("a.md", "a\n"), ("b.md", "other\n"), ("old.md", "old\n")] {
            std::fs::write(root.join("docs").join(name), text).unwrap();
        }
        let found = directory.differing(&root).unwrap();
        assert_eq!(found, ["docs/b.md", "docs/c.md", "docs/old.md"]);
        directory.write(&root).unwrap();
        let after = directory.differing(&root).unwrap();
        std::fs::remove_dir_all(&root).unwrap();
        assert_eq!(after, Vec::<String>::new());
    }
}
