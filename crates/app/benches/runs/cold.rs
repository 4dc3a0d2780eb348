//! `countersign process` from its start to its end.
//! Owns: starting it again and again. Must not: keep anything warm but the files that the system itself keeps.

use countersign_testkit::bench::{Bar, Bench};
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const TIMES: usize = 41;
const MILLIS_MAX: f64 = 15.0;
const PIPELINE: &str =
    "name = \"one\"\n[[stages]]\nname = \"plan\"\nagent = { kind = \"built_in\", name = \"plan\" }\n";
const ENVELOPE: &str = r#"{"raw_input":"When does the lease of the warehouse end?","user_id":"u"}"#;

pub(crate) fn measure(bench: &mut Bench, scratch: &Path) {
    let (pipeline, envelope) = (scratch.join("pipeline.toml"), scratch.join("envelope.json"));
    fs::write(&pipeline, PIPELINE).unwrap();
    fs::write(&envelope, ENVELOPE).unwrap();
    let process = |data: &Path| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_countersign"));
        command.arg("--data").arg(data).args(["process", "--pipeline"]).arg(&pipeline);
        took(command.stdin(File::open(&envelope).unwrap()))
    };
    let nothing = median(|_| took(&mut Command::new("true")));
    let fresh = median(|at| process(&scratch.join(format!("fresh-{at}"))));
    let known = median(|_| process(&scratch.join("known")));
    for (what, took) in [("a new", fresh), ("a known", known)] {
        let millis = took.as_secs_f64() * 1e3;
        bench.print(
            &format!("process, from its start to its end, in {what} data directory"),
            &format!("countersign {millis:.1} ms"),
            &format!("{MILLIS_MAX} ms; a program that does nothing: {:.1} ms", nothing.as_secs_f64() * 1e3),
            MILLIS_MAX / millis,
            Bar::AtLeast(1.0),
        );
    }
}

fn took(command: &mut Command) -> Duration {
    command.stdout(Stdio::null()).stderr(Stdio::inherit());
    let start = Instant::now();
    let status = command.status().unwrap();
    assert!(status.success(), "{command:?}");
    start.elapsed()
}

fn median(work: impl FnMut(usize) -> Duration) -> Duration {
    let mut times: Vec<Duration> = (0..TIMES).map(work).collect();
    times.sort();
    times[TIMES / 2]
}
