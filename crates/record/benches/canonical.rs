//! Canonical JSON and SHA-256 of a 4 KiB envelope, from the parsed value and from the text.
//! Peers: `serde_json_canonicalizer` with `sha2` in this process, Python's `rfc8785` with `hashlib` in another
//! (COUNTERSIGN_BENCH_PYTHON names an interpreter that has it; `./bench` sets it).
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a bench fails by panicking")]

use countersign_record::{canonical, json};
use countersign_testkit::bench::{Bar, Bench, Side};
use sha2::Digest;
use std::hint::black_box;
use std::process::Command;
use std::time::Duration;

const ENVELOPE: &str = include_str!("envelope-4k.json");

const PYTHON: &str = "
import sys, time, json, hashlib, rfc8785
value, times = json.load(open(sys.argv[1])), int(sys.argv[2])
start = time.perf_counter()
for _ in range(times):
    digest = hashlib.sha256(rfc8785.dumps(value)).hexdigest()
print(time.perf_counter() - start, digest)
";

fn main() {
    let ours = json::parse(ENVELOPE.as_bytes()).unwrap();
    let theirs: serde_json::Value = serde_json::from_str(ENVELOPE).unwrap();
    let bytes = canonical::to_bytes(&ours).unwrap();
    assert_eq!(bytes, serde_json_canonicalizer::to_vec(&theirs).unwrap(), "both sides make the same bytes");
    let digest = canonical::hash(&ours).unwrap();

    let mut bench = Bench::default();
    let hash = || drop(black_box(canonical::hash(black_box(&ours))));
    let peer = || {
        let bytes = serde_json_canonicalizer::to_vec(black_box(&theirs)).unwrap();
        black_box(sha2::Sha256::digest(&bytes));
    };
    let what = "canonicalise + hash a 4 KiB envelope, from the parsed value";
    bench.compare(
        what,
        Side::new("countersign", hash),
        Side::new("serde_json_canonicalizer", peer),
        Bar::AtLeast(5.0),
    );
    let python = std::env::var("COUNTERSIGN_BENCH_PYTHON");
    if python.is_err() {
        bench.print(what, "not measured", "COUNTERSIGN_BENCH_PYTHON is not set", 0.0, Bar::AtLeast(30.0));
    }
    if let Ok(python) = python {
        let in_python = |times| python_took(&python, times, &digest.to_string());
        bench.compare(
            what,
            Side::new("countersign", hash),
            Side::timed("Python rfc8785", in_python),
            Bar::AtLeast(30.0),
        );
    }
    let only_hash = || {
        black_box(sha2::Sha256::digest(black_box(&bytes)));
    };
    bench.compare(what, Side::new("countersign", hash), Side::new("SHA-256 alone", only_hash), Bar::None);

    let parse_hash =
        || drop(black_box(canonical::hash(&json::parse(black_box(ENVELOPE.as_bytes())).unwrap())));
    let parse_peer = || {
        let value: serde_json::Value = serde_json::from_str(black_box(ENVELOPE)).unwrap();
        black_box(sha2::Sha256::digest(serde_json_canonicalizer::to_vec(&value).unwrap()));
    };
    let what = "the same, from the text";
    bench.compare(
        what,
        Side::new("countersign", parse_hash),
        Side::new("serde_json + canonicalizer", parse_peer),
        Bar::None,
    );
    bench.finish();
}

fn python_took(python: &str, times: u64, digest: &str) -> Duration {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/envelope-4k.json");
    let output =
        Command::new(python).args(["-c", PYTHON, file, &times.to_string()]).output().expect("Python runs");
    let text = String::from_utf8(output.stdout).unwrap();
    let (seconds, hash) =
        text.trim().split_once(' ').unwrap_or_else(|| panic!("{}", String::from_utf8_lossy(&output.stderr)));
    assert_eq!(hash, digest, "Python makes the same hash");
    Duration::from_secs_f64(seconds.parse().unwrap())
}
