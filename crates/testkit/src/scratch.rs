//! Directories for tests.
//! Owns: making and removing them. Must not: leave one behind, unless a test failed in it.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

static MADE: AtomicU64 = AtomicU64::new(0);

/// A directory that is gone after the test. After a failure it stays, to be looked at.
#[derive(Debug)]
pub struct Scratch {
    dir: PathBuf,
}

impl Scratch {
    /// A new, empty directory.
    #[must_use]
    pub fn new() -> Self {
        Scratch::below(&std::env::temp_dir())
    }

    /// The same in memory, where the machine keeps files there: for what ends with its process, and never with a power cut.
    #[must_use]
    pub fn in_memory() -> Self {
        let memory = Path::new("/dev/shm");
        if memory.is_dir() { Scratch::below(memory) } else { Scratch::new() }
    }

    fn below(parent: &Path) -> Self {
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let dir = parent.join(format!("countersign-{}-{number}", std::process::id()));
        std::fs::create_dir(&dir).expect("a scratch directory can be made");
        Scratch { dir }
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.dir
    }
}

impl Default for Scratch {
    fn default() -> Self {
        Scratch::new()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("what the test left is in {}", self.dir.display());
        } else {
            drop(std::fs::remove_dir_all(&self.dir));
        }
    }
}
