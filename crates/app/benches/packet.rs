//! A reader who is handed a packet does not wait: the packet of `examples/lease-memo` is verified in less than 100 ms.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a bench fails by panicking")]

use countersign_testkit::bench::{Bar, Bench};
use countersign_testkit::scratch::Scratch;
use countersign_verify::report::Outcome;
use countersign_verify::verify;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

const RUN: &str = "run_6c4952ec8b203d9f";
const ROUNDS: usize = 20;
/// What it may take, at the slowest of the rounds.
const MS_MAX: f64 = 100.0;

fn main() {
    let scratch = Scratch::new();
    let run = |args: &[&str]| {
        let done = Command::new(env!("CARGO_BIN_EXE_countersign"))
            .args(args)
            .args(["--now", "2026-02-01T09:00:00Z", "--seed", "1"])
            .current_dir(scratch.path())
            .env("COUNTERSIGN_DATA", "data")
            .output()
            .unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    };
    let task = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/lease-memo");
    run(&["run", task.to_str().unwrap()]);
    run(&["packet", "export", RUN, "--yes", "--out", "packet.json"]);
    let packet = std::fs::read(scratch.path().join("packet.json")).unwrap();
    let round = |_| {
        let start = Instant::now();
        let report = verify(&packet, &[]);
        let took = start.elapsed().as_secs_f64() * 1_000.0;
        assert_eq!(report.result, Outcome::Verified);
        took
    };
    let mut all: Vec<f64> = (0..ROUNDS).map(round).collect();
    all.sort_by(f64::total_cmp);
    let (middle, slowest) = (all[ROUNDS / 2], all[ROUNDS - 1]);
    let mut bench = Bench::default();
    bench.print(
        &format!("verify the packet of lease-memo ({} kB)", packet.len() / 1_000),
        &format!("{middle:.0} ms, {slowest:.0} ms at the slowest"),
        &format!("{MS_MAX} ms"),
        MS_MAX / slowest,
        Bar::AtLeast(1.0),
    );
    bench.finish();
}
