//! `ledger verify` against SHA-256 over the same bytes, and a fold of a million rows in bounded memory.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a bench fails by panicking")]

mod rows;

use countersign_record::digest::Digest;
use countersign_runtime::fold;
use countersign_runtime::ports::ledger::Ledger;
use countersign_testkit::bench::{Bar, Bench, Side, resident_kib};
use countersign_views::summary::Summary;
use rows::{Scratch, access, fill, open};
use std::time::{Duration, Instant};

/// What the fold may take beyond what the process has before it.
const FOLD_MEMORY_MAX_KIB: u64 = 64 * 1024;
const FOLD_ROWS: usize = 1_000_000;

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
    let mut bench = Bench::default();
    for (rows, payload, bar) in [(200_000, 1_000, Bar::AtLeast(1.0)), (200_000, 300, Bar::None)] {
        let scratch = Scratch::new("verify");
        let (ledger, access) = (open(&scratch.0), access());
        runtime.block_on(fill(&ledger, &access, rows, payload));
        verify(&mut bench, &runtime, &ledger, payload, bar);
    }
    fold_a_million(&mut bench, &runtime);
    bench.finish();
}

/// The bar: 300 MB/s on one core, or 0.6 of SHA-256; whichever is easier on this machine is printed as 1.
fn verify(
    bench: &mut Bench,
    runtime: &tokio::runtime::Runtime,
    ledger: &countersign_store::Sqlite,
    payload: usize,
    bar: Bar,
) {
    let access = access();
    let report = runtime.block_on(ledger.verify(&access, Vec::new())).unwrap();
    assert!(report.is_sound(), "{:?}", report.findings);
    let megabytes = report.bytes as f64 / 1e6;
    let bytes = vec![7_u8; usize::try_from(report.bytes / report.rows).unwrap()];
    let mut best = (0.0_f64, 0.0_f64);
    let ours = Side::timed("countersign (ledgers)", |times| {
        let start = Instant::now();
        for _ in 0..times {
            runtime.block_on(ledger.verify(&access, Vec::new())).unwrap();
        }
        let took = start.elapsed();
        best.0 = best.0.max(megabytes * times as f64 / took.as_secs_f64());
        took
    });
    let rows = report.rows;
    let peer = Side::timed("SHA-256 (the same bytes)", |times| sha256(&bytes, rows * times, &mut best.1));
    let what = format!("ledger verify, 200,000 rows of {payload} bytes of payload");
    bench.compare(&what, ours, peer, Bar::None);
    let (ours, peer) = best;
    let reached = (ours / 300.0).max(ours / (0.6 * peer));
    let (ours, peer) = (format!("{ours:.0} MB/s at best"), format!("300 MB/s, or 0.6 of {peer:.0} MB/s"));
    bench.print(&format!("{what}, of its bar"), &ours, &peer, reached, bar);
}

fn sha256(bytes: &[u8], times: u64, best: &mut f64) -> Duration {
    let start = Instant::now();
    for _ in 0..times {
        std::hint::black_box(Digest::of(std::hint::black_box(bytes)));
    }
    let took = start.elapsed();
    *best = best.max(bytes.len() as f64 * times as f64 / 1e6 / took.as_secs_f64());
    took
}

fn fold_a_million(bench: &mut Bench, runtime: &tokio::runtime::Runtime) {
    let scratch = Scratch::new("fold");
    let access = access();
    runtime.block_on(fill(&open(&scratch.0), &access, FOLD_ROWS, 120));
    // A fresh ledger, so that the memory of appending is not counted.
    let ledger = open(&scratch.0);
    let before = resident_kib("VmRSS:");
    std::fs::write("/proc/self/clear_refs", "5").unwrap();
    let start = Instant::now();
    let folded = runtime.block_on(fold::current::<Summary>(&ledger, &access)).unwrap();
    let took = start.elapsed();
    assert_eq!(folded.view.rows, FOLD_ROWS as u64);
    let grown = resident_kib("VmHWM:").saturating_sub(before).max(1);
    let rate = FOLD_ROWS as f64 / took.as_secs_f64() / 1e3;
    let ours = format!("{rate:.0} k rows/s, peak {} MiB more", grown / 1024);
    let limit = format!("limit {} MiB", FOLD_MEMORY_MAX_KIB / 1024);
    bench.print(
        "fold of 1,000,000 rows",
        &ours,
        &limit,
        FOLD_MEMORY_MAX_KIB as f64 / grown as f64,
        Bar::AtLeast(1.0),
    );
}
