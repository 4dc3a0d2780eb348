//! The manifest of a folder with 100,000 files: warm, with every hash known, against a plain walk with stat.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a bench fails by panicking")]

use countersign_kernel::scope::{Input, select};
use countersign_record::json;
use countersign_sources::folder::{Asked, Folder, Found, Limits, read};
use countersign_testkit::bench::{Bar, Bench, Side};
use countersign_testkit::scratch::Scratch;
use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

const FILES: usize = 100_000;
const PER_DIRECTORY: usize = 200;
/// Seconds that a warm scope may take.
const SECONDS_MAX: f64 = 2.0;

fn main() {
    let scratch = Scratch::new();
    let (dir, cache) = (scratch.path().join("files"), scratch.path().join("cache"));
    make(&dir);
    let mut bench = Bench::default();
    let folder =
        || read(&Asked { dir: &dir, limits: Limits::default(), keep_out: &[], cache: Some(&cache) }).unwrap();
    let start = Instant::now();
    let cold = folder();
    let cold_seconds = start.elapsed().as_secs_f64();
    assert_eq!((cold.files.len(), cold.hashed), (FILES, FILES));
    // Hashes of files that were made just before are not kept: once more, and all are old enough.
    let mut warm = folder();
    while warm.hashed > 0 {
        warm = folder();
    }
    assert_eq!(warm.files, cold.files);
    let scope = |folder: &Folder| {
        let mut input = Input::read(json::parse(br#"{"prompt":"file 77","manifest":[]}"#).unwrap()).unwrap();
        input.manifest = folder.files.iter().map(Found::to_file).collect();
        let payload = select(&input);
        json::to_text(&payload).unwrap().len()
    };
    let start = Instant::now();
    black_box(scope(&folder()));
    let seconds = start.elapsed().as_secs_f64();
    bench.print(
        "scope of 100,000 files, hashes known: manifest, A0, JSON (seconds, of 2 that it may take)",
        &format!("{seconds:.2} s"),
        &format!("limit {SECONDS_MAX} s; all files hashed: {cold_seconds:.2} s"),
        SECONDS_MAX / seconds,
        Bar::AtLeast(1.0),
    );
    bench.compare(
        "manifest of 100,000 files, hashes known (folders)",
        Side::new("countersign", || drop(black_box(folder()))),
        Side::new("ignore's walk with stat", || {
            black_box(walk(&dir));
        }),
        Bar::None,
    );
    bench.finish();
}

fn make(dir: &Path) {
    for directory in 0..FILES / PER_DIRECTORY {
        let path = dir.join(format!("directory {directory}"));
        std::fs::create_dir_all(&path).unwrap();
        for file in 0..PER_DIRECTORY {
            let text = format!(
                "# File {file} of {directory}\n\nThe lease of house {file} ends in {directory} days.\n"
            );
            std::fs::write(path.join(format!("file_{file}.md")), text.repeat(10)).unwrap();
        }
    }
}

fn walk(dir: &Path) -> u64 {
    let (sender, receiver) = std::sync::mpsc::channel();
    let walker = ignore::WalkBuilder::new(dir)
        .threads(std::thread::available_parallelism().unwrap().get())
        .build_parallel();
    walker.run(|| {
        let sender = sender.clone();
        Box::new(move |entry| {
            sender.send(entry.unwrap().metadata().unwrap().len()).unwrap();
            ignore::WalkState::Continue
        })
    });
    drop(sender);
    receiver.into_iter().sum()
}
