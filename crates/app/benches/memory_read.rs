//! `memory read` over 200,000 records of about 300 bytes, as a user runs it.
//! Peers: the straightforward Python reference of the tests, and ripgrep, which counts the lines with one of the same
//! five terms and parses nothing. All three are processes that read one file; what they print goes to a file.
//! (COUNTERSIGN_BENCH_PYTHON names a Python, COUNTERSIGN_BENCH_RG a ripgrep; `./bench` sets them.)
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a bench fails by panicking")]

use countersign_testkit::bench::{Bar, Bench, Side};
use countersign_testkit::random::Random;
use std::fmt::Write as _;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const RECORDS: usize = 200_000;
const TERMS: [&str; 5] = ["insurance", "warehouse", "roof", "landlord", "deposit"];
/// What the read may take at most, in KiB.
const PEAK_KIB_MAX: f64 = 120_000.0;

fn main() {
    let scratch = Scratch::new();
    let (store, halves) =
        (scratch.0.join("store.jsonl"), ["a.jsonl", "b.jsonl"].map(|name| scratch.0.join(name)));
    let lines = lines();
    std::fs::write(&store, lines.concat()).unwrap();
    let (first, second) = lines.split_at(RECORDS / 2);
    std::fs::write(&halves[0], first.concat()).unwrap();
    std::fs::write(&halves[1], second.concat()).unwrap();
    let (one, two) = (scratch.0.join("one.json"), scratch.0.join("two.json"));
    std::fs::write(&one, input(&[&store])).unwrap();
    std::fs::write(&two, input(&[&halves[0], &halves[1]])).unwrap();
    let out = scratch.0.join("out");

    let mut bench = Bench::default();
    let ours = |name, input: &Path| {
        let (input, out) = (input.to_path_buf(), out.clone());
        Side::timed(name, move |times| (0..times).map(|_| run(&mut read(&input), &out)).sum())
    };
    match std::env::var("COUNTERSIGN_BENCH_RG") {
        Ok(rg) => {
            let mut command = Command::new(rg);
            command.args(["--no-config", "--count"]);
            command.args(TERMS.iter().flat_map(|term| ["-e", term])).arg(&store);
            let peer = Side::timed("ripgrep counting 5 terms", |times| {
                (0..times).map(|_| run(&mut command, &out)).sum()
            });
            let side = ours("countersign", &one);
            bench.compare("memory read, 200,000 records (reads)", side, peer, Bar::AtLeast(0.15));
        }
        Err(_) => missing(&mut bench, "COUNTERSIGN_BENCH_RG"),
    }
    match std::env::var("COUNTERSIGN_BENCH_PYTHON") {
        Ok(python) => {
            // It takes a minute, so it runs once, after ours has.
            let took = (0..5).map(|_| run(&mut read(&one), &out)).min().unwrap();
            let reference = Path::new(env!("CARGO_MANIFEST_DIR")).join("../memory/tests/reference.py");
            let case = format!("{{\"input\":{},\"cwd\":\"/\"}}\n", input(&[&store]));
            let case_file = scratch.0.join("case.json");
            std::fs::write(&case_file, case).unwrap();
            let mut command = Command::new(python);
            command.arg(reference).stdin(File::open(case_file).unwrap());
            let peer = run(&mut command, &out);
            bench.print(
                "memory read, 200,000 records, against the Python reference",
                &format!("countersign {:.3} s", took.as_secs_f64()),
                &format!("reference.py {:.1} s", peer.as_secs_f64()),
                peer.as_secs_f64() / took.as_secs_f64(),
                Bar::AtLeast(40.0),
            );
        }
        Err(_) => missing(&mut bench, "COUNTERSIGN_BENCH_PYTHON"),
    }
    let (both, single) = (ours("two stores", &two), ours("one store", &one));
    bench.compare("memory read of two stores (reads)", both, single, Bar::None);
    let peak = peak_kib(&one, &out);
    bench.print(
        "memory read, peak memory",
        &format!("countersign {:.0} MB", peak * 1.024 / 1_000.0),
        "120 MB",
        PEAK_KIB_MAX / peak,
        Bar::AtLeast(1.0),
    );
    bench.finish();
}

fn missing(bench: &mut Bench, name: &str) {
    bench.print("memory read", "not measured", &format!("{name} is not set"), 0.0, Bar::AtLeast(1.0));
}

fn read(input: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_countersign"));
    command.args(["memory", "read"]).arg(input);
    command
}

fn run(command: &mut Command, out: &Path) -> Duration {
    command.stdout(File::create(out).unwrap()).stderr(Stdio::inherit());
    let start = Instant::now();
    let status = command.status().unwrap();
    assert!(status.success(), "{command:?}");
    start.elapsed()
}

/// The largest resident size of a read, which the kernel keeps until the process is waited for.
fn peak_kib(input: &Path, out: &Path) -> f64 {
    let mut command = read(input);
    // A full pipe holds the child at its end, when its peak is behind it.
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    let status = format!("/proc/{}/status", child.id());
    let mut peak: f64 = 0.0;
    let mut sink = File::create(out).unwrap();
    let mut block = vec![0; 1 << 16];
    loop {
        let number = std::io::Read::read(&mut stdout, &mut block).unwrap();
        if let Ok(status) = std::fs::read_to_string(&status)
            && let Some(line) = status.lines().find(|line| line.starts_with("VmHWM:"))
        {
            let kib = line.split_whitespace().nth(1).and_then(|kib| kib.parse().ok());
            peak = peak.max(kib.unwrap_or(0.0));
        }
        if number == 0 {
            break;
        }
        std::io::Write::write_all(&mut sink, &block[..number]).unwrap();
    }
    assert!(child.wait().unwrap().success());
    peak
}

fn input(stores: &[&Path]) -> String {
    let stores: Vec<String> = stores.iter().map(|store| format!("\"{}\"", store.display())).collect();
    format!(
        "{{\"query\":\"{}\",\"store_paths\":[{}],\"budget\":{{\"max_excerpt_tokens\":2000}},\
         \"scoring\":{{\"enable_recency_weight\":true}},\"now_utc\":\"2026-01-01T00:00:00Z\"}}",
        TERMS.join(" "),
        stores.join(",")
    )
}

fn lines() -> Vec<String> {
    const WORDS: [&str; 24] = [
        "the", "lease", "of", "a", "building", "was", "signed", "and", "its", "owner", "asked", "for",
        "repair", "before", "winter", "while", "board", "approved", "budget", "next", "meeting", "Thursday",
        "report", "with",
    ];
    let mut random = Random::new(11);
    let line = |number: usize| {
        let mut text = String::new();
        while text.len() < 150 {
            let word = match random.once_in(40) {
                true => TERMS[random.index(0..TERMS.len())],
                false => WORDS[random.index(0..WORDS.len())],
            };
            text.push_str(word);
            text.push(' ');
        }
        let (day, hour) = (random.index(1..29), random.index(0..24));
        let mut line = String::new();
        writeln!(
            line,
            "{{\"memory_id\":\"m-{number:06}\",\"ts_utc\":\"2025-11-{day:02}T{hour:02}:00:00Z\",\"text\":\"{}\",\
             \"tags\":[\"lease\",\"{}\"],\"refs\":[{{\"doc\":\"file-{}.md\"}}]}}",
            text.trim_end(),
            TERMS[random.index(0..TERMS.len())],
            random.index(0..1_000),
        )
        .unwrap();
        line
    };
    (0..RECORDS).map(line).collect()
}

/// A directory on the disk that holds the target directory, gone at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("memory-read-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Scratch(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.0));
    }
}
