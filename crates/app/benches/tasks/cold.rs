//! `countersign run examples/lease-memo` from its start to its end.
//! Owns: starting it again and again, each time in a new data directory. Must not: keep anything warm but the files that the system
//! itself keeps.

use crate::works::{Works, commits};
use countersign_record::json;
use countersign_testkit::bench::{Bar, Bench};
use countersign_work::task;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const TIMES: usize = 15;
/// What it may take, at the slowest.
const MILLIS_MAX: f64 = 1_000.0;
/// Durable writes that are timed, each of a page as a commit writes at least.
const WRITES: u32 = 64;
const PAGE: [u8; 4_096] = [1; 4_096];

pub(crate) fn measure(bench: &mut Bench, scratch: &Path) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/lease-memo");
    let start = sorted(|_| took(countersign().arg("--version")))[TIMES / 2];
    let all = sorted(|at| {
        let data = scratch.join(format!("cold-{at}"));
        took(countersign().arg("--data").arg(data).arg("run").arg(&folder))
    });
    let (middle, slowest) = (millis(all[TIMES / 2]), millis(all[TIMES - 1]));
    let (write, commits) = (written(scratch), committed(scratch, &folder));
    bench.print(
        "run examples/lease-memo, from its start to its end, in a new data directory",
        &format!("countersign {middle:.0} ms, {slowest:.0} ms at the slowest"),
        &format!("{MILLIS_MAX} ms"),
        MILLIS_MAX / slowest,
        Bar::AtLeast(1.0),
    );
    let limit = millis(start) + f64::from(commits) * millis(write);
    bench.print(
        "the same, against what the machine takes",
        &format!("countersign {middle:.0} ms"),
        &format!(
            "{limit:.0} ms: a process that starts ({:.1} ms), {commits} commits of {:.2} ms",
            millis(start),
            millis(write)
        ),
        limit / middle,
        Bar::None,
    );
}

fn countersign() -> Command {
    Command::new(env!("CARGO_BIN_EXE_countersign"))
}

fn took(command: &mut Command) -> Duration {
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let start = Instant::now();
    let status = command.status().unwrap();
    assert!(status.success(), "{command:?}");
    start.elapsed()
}

fn sorted(work: impl FnMut(usize) -> Duration) -> Vec<Duration> {
    let mut times: Vec<Duration> = (0..TIMES).map(work).collect();
    times.sort();
    times
}

fn millis(took: Duration) -> f64 {
    took.as_secs_f64() * 1e3
}

/// What a page takes until it is durable.
fn written(scratch: &Path) -> Duration {
    let file = File::create(scratch.join("page")).unwrap();
    let start = Instant::now();
    for at in 0..WRITES {
        file.write_all_at(&PAGE, u64::from(at) * PAGE.len() as u64).unwrap();
        file.sync_data().unwrap();
    }
    start.elapsed() / WRITES
}

/// How many transactions the run commits, told by a run of it in this process.
fn committed(scratch: &Path, folder: &Path) -> u32 {
    let read = |path: &str| std::fs::read(folder.join(path)).unwrap();
    let table: serde_json::Value = toml::from_str(&String::from_utf8(read("task.toml")).unwrap()).unwrap();
    let task = task::read_whole(&json::parse(table.to_string().as_bytes()).unwrap()).unwrap();
    let sources = task.sources.iter().map(|one| read(&one.path)).collect();
    let place = scratch.join("counted");
    let works = Works::new(&place, task, sources);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    commits(&place, || runtime.block_on(works.run()))
}
