//! Runs many inputs through one target and keeps the one that breaks it.
//! Owns: the corpus on disk, catching a panic, keeping the input. Must not: change the corpus.

use crate::Target;
use crate::mutate::{self, Seeds};
use std::fmt;
use std::fs;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The seed where nobody names one.
pub const SEED: u64 = 20_251_210;

/// When to stop.
#[derive(Clone, Copy, Debug)]
pub enum Until {
    /// After this many cases.
    Cases(u64),
    /// After this long.
    Elapsed(Duration),
}

/// What was run.
#[derive(Clone, Copy, Debug)]
pub struct Summary {
    /// Files of the corpus.
    pub files: usize,
    /// Mutations.
    pub cases: u64,
    /// How long it took.
    pub took: Duration,
}

/// An input that breaks a law.
#[derive(Debug)]
pub struct Failure {
    /// The target.
    pub target: &'static str,
    /// Which input: a file of the corpus, or a seed and a case.
    pub input: String,
    /// Where the input was put.
    pub kept: PathBuf,
    /// What the panic said.
    pub message: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Failure { target, input, kept, message } = self;
        let file = kept.display();
        write!(
            f,
            "{target} fails on {input}: {message}\nkept in {file}; again: cargo run -p countersign-fuzz -- {target} {file}"
        )
    }
}

/// The seeds in the corpus of `name`, sorted: the same everywhere.
///
/// # Errors
/// The directory or a file can't be read.
pub fn corpus(name: &str) -> io::Result<Vec<(PathBuf, Vec<u8>)>> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(name))? {
        paths.push(entry?.path());
    }
    paths.sort();
    paths.into_iter().map(|path| fs::read(&path).map(|bytes| (path, bytes))).collect()
}

/// Runs the target's corpus and that of `json`, which is hostile to everybody; then mutations of both.
///
/// # Errors
/// The corpus can't be read.
pub fn run(target: &'static Target, seed: u64, until: Until) -> io::Result<Result<Summary, Failure>> {
    let start = Instant::now();
    let own = corpus(target.name)?;
    let shared = if target.name == "json" { Vec::new() } else { corpus("json")? };
    for (path, bytes) in own.iter().chain(&shared) {
        if let Err(message) = caught(target, bytes) {
            return Ok(Err(Failure {
                target: target.name,
                input: "a seed".into(),
                kept: path.clone(),
                message,
            }));
        }
    }
    let files = own.len() + shared.len();
    let bytes = |seeds: Vec<(PathBuf, Vec<u8>)>| seeds.into_iter().map(|(_, bytes)| bytes).collect();
    let seeds = Seeds { own: bytes(own), shared: bytes(shared) };
    let mut case = 0;
    while until.goes_on(case, start.elapsed()) {
        let input = mutate::input(target, &seeds, seed, case);
        if let Err(message) = caught(target, &input) {
            let kept = keep(target, seed, case, &input)?;
            let input = format!("seed {seed}, case {case}");
            return Ok(Err(Failure { target: target.name, input, kept, message }));
        }
        case += 1;
    }
    Ok(Ok(Summary { files, cases: case, took: start.elapsed() }))
}

impl Until {
    fn goes_on(self, cases: u64, elapsed: Duration) -> bool {
        match self {
            Until::Cases(most) => cases < most,
            Until::Elapsed(most) => elapsed < most,
        }
    }
}

/// Runs one input.
///
/// # Errors
/// The words of the panic.
pub fn caught(target: &Target, input: &[u8]) -> Result<(), String> {
    catch_unwind(AssertUnwindSafe(|| target.check(input))).map_err(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic without words").to_owned()
    })
}

fn keep(target: &Target, seed: u64, case: u64, input: &[u8]) -> io::Result<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/fuzz-failures");
    fs::create_dir_all(&dir)?;
    let path = dir.canonicalize()?.join(format!("{}-{seed}-{case}", target.name));
    fs::write(&path, input)?;
    Ok(path)
}
