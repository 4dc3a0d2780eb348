//! Every rule on a ledger of a million governed records, in bounded memory.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a bench fails by panicking")]

mod rows;

use countersign_govern::audit::Found;
use countersign_govern::reference::snake;
use countersign_record::access::MatterAccess;
use countersign_record::json::{Json, Object};
use countersign_record::row::{DataClass, Draft, Proof, Taint};
use countersign_record::time::Timestamp;
use countersign_runtime::audit::{self, Asked};
use countersign_store::Sqlite;
use countersign_testkit::bench::{Bar, Bench, resident_kib};
use countersign_testkit::worlds::{self, Builder, Written};
use rows::{Scratch, access, append, open};
use std::path::Path;
use std::process::Command;
use std::time::Instant;

/// Runs whose rows are a million together.
const RUNS: usize = 2_000;
const ROWS_MIN: u64 = 1_000_000;
/// Runs that are written together.
const PIECE: usize = 50;
/// What an audit may take beyond what the process has before it.
const MEMORY_MAX_KIB: u64 = 512 * 1024;
const ROUNDS: usize = 3;
const FILL: &str = "--fill";
/// A ledger that was filled before is looked at once, for whoever wants to see where the time goes.
const AT: &str = "--at";

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
    let place = |word: &str| std::env::args().skip_while(|argument| argument != word).nth(1);
    if let Some(place) = place(FILL) {
        runtime.block_on(fill(Path::new(&place)));
        return;
    }
    if let Some(place) = place(AT) {
        let start = Instant::now();
        let (ledger, access) = (open(Path::new(&place)), access());
        let rows = runtime.block_on(audited(&ledger, &access));
        told(&mut Bench::default(), rows, rows as f64 / start.elapsed().as_secs_f64());
        return;
    }
    let scratch = Scratch::new("audit");
    // Another process makes the ledger, so that its memory is not counted.
    let made = Command::new(std::env::current_exe().unwrap()).arg(FILL).arg(&scratch.0).status().unwrap();
    assert!(made.success());
    let (ledger, access) = (open(&scratch.0), access());
    let before = resident_kib("VmRSS:");
    std::fs::write("/proc/self/clear_refs", "5").unwrap();
    let mut best: f64 = 0.0;
    let mut rows = 0;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        rows = runtime.block_on(audited(&ledger, &access));
        best = best.max(rows as f64 / start.elapsed().as_secs_f64());
    }
    let grown = resident_kib("VmHWM:").saturating_sub(before).max(1);
    let mut bench = Bench::default();
    told(&mut bench, rows, best);
    bench.print(
        "the memory that this takes",
        &format!("peak {} MiB more", grown / 1024),
        &format!("limit {} MiB", MEMORY_MAX_KIB / 1024),
        MEMORY_MAX_KIB as f64 / grown as f64,
        Bar::AtLeast(1.0),
    );
    bench.finish();
}

fn told(bench: &mut Bench, rows: u64, rate: f64) {
    bench.print(
        &format!("audit of a ledger of {rows} governed records by all rules, from SQLite, on one core"),
        &format!("countersign {:.0} k rows/s", rate / 1e3),
        "200 k rows/s",
        rate / 200e3,
        Bar::AtLeast(1.0),
    );
}

/// How many rows were looked at: nothing is wrong with them.
async fn audited(ledger: &Sqlite, access: &MatterAccess) -> u64 {
    let audited = audit::ledger(ledger, access, Asked::default(), |_| {}).await.unwrap();
    assert!(audited.rows >= ROWS_MIN, "only {} rows", audited.rows);
    assert_eq!(audited.found, Found::default());
    audited.rows
}

/// Runs go on beside each other within a piece; what was written is handed out behind each, so that nobody holds a million rows.
async fn fill(place: &Path) {
    let (ledger, access) = (open(place), access());
    let mut builder = Builder::new(1);
    for from in (0..RUNS).step_by(PIECE) {
        worlds::play(&mut builder, from..RUNS.min(from + PIECE));
        append(&ledger, &access, builder.take().into_iter().map(draft)).await;
    }
}

fn draft(row: Written) -> Draft {
    let mut payload = Object::from([("record", row.draft.record)]);
    if let Some(id) = row.draft.id {
        payload.insert("id", id);
    }
    Draft {
        stream: format!("{}/{}", if row.stream == "shared" { "matter" } else { "run" }, row.stream)
            .as_str()
            .try_into()
            .expect("a stream"),
        kind: format!("govern.{}", snake(&row.draft.kind)).as_str().try_into().expect("a kind"),
        version: 1,
        at: Timestamp::try_from(row.draft.at.expect("a time")).expect("a time"),
        actor: "bench".try_into().expect("a principal"),
        proof: Proof::None,
        cause: None,
        data_class: DataClass::Internal,
        taint: Taint::Unclassified,
        payload: Json::Object(payload),
        blobs: Vec::new(),
    }
}
