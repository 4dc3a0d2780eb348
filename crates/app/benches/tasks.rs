//! The main job: a task goes in, the work and its packet come out. Once, from a cold start; and a thousand times, 32 at once.
//! Limit: what the machine takes for it in the same run, a process that starts and as many durable writes as the run commits.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a bench fails by panicking")]

#[path = "tasks/cold.rs"]
mod cold;
#[path = "../src/enforcing.rs"]
mod enforcing;
#[path = "tasks/many.rs"]
mod many;
#[path = "../src/passages.rs"]
mod passages;
#[path = "../src/tasks/texts.rs"]
mod texts;
#[path = "tasks/works.rs"]
mod works;

use countersign_testkit::bench::Bench;
use std::fs;
use std::path::{Path, PathBuf};

/// As in the binary.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    let scratch = Scratch::new();
    let mut bench = Bench::default();
    // `cargo bench … -- cold` measures that alone.
    let wants = |part: &str| {
        let named = ["cold", "many"].map(|part| std::env::args().any(|word| word == part));
        named == [false; 2] || std::env::args().any(|word| word == part)
    };
    if wants("cold") {
        cold::measure(&mut bench, &scratch.0);
    }
    if wants("many") {
        many::measure(&mut bench, &scratch.0);
    }
    bench.finish();
}

/// A directory on the disk that holds the target directory, gone at the end. Not in `/tmp`, which may be memory.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("tasks-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Scratch(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}
