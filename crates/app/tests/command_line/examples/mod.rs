//! Runs of the tasks that ship, as a user runs them.
//! Owns: running one, the clock and names of every step. Must not: know what a test expects.

use crate::binary::{Done, Work};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The folder of an example.
pub(crate) fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name)
}

/// A data directory with a run of an example.
pub(crate) struct Example {
    pub(crate) work: Work,
    pub(crate) run: String,
    /// What the run came to.
    pub(crate) told: Value,
}

impl Example {
    /// Runs an example, as ana.
    pub(crate) fn run(name: &str, exit: i32) -> Self {
        let work = Work::new();
        let (run, told) = began(&work, name, 1, exit);
        Example { work, run, told }
    }

    /// A command line about the run, at a time of its own and as somebody.
    pub(crate) fn at(&self, hour: u8, name: &str, args: &[&str]) -> Done {
        let now = format!("2026-02-01T{hour:02}:00:00Z");
        self.work.run(&[args, &["--now", &now, "--seed", "7", "--as", name]].concat())
    }

    /// Gives a command with a request.
    pub(crate) fn command(&self, hour: u8, name: &str, id: &str, request: &str) -> Done {
        self.keyed(hour, name, (id, request), &[])
    }

    /// The same, with more options.
    pub(crate) fn keyed(&self, hour: u8, name: &str, (id, request): (&str, &str), more: &[&str]) -> Done {
        self.work.write("request.json", request);
        let args = ["command", "run", id, "--run", &self.run, "--request", "request.json", "--json"];
        self.at(hour, name, &[&args[..], more].concat())
    }

    /// Rows in the ledger.
    pub(crate) fn rows(&self) -> u64 {
        self.work.run(&["ledger", "summary", "--json"]).good().json()["rows"].as_u64().unwrap()
    }

    /// The records of a kind, in order.
    pub(crate) fn records(&self, kind: &str) -> Vec<Value> {
        let rows = self.work.run(&["ledger", "rows", "--kind", &format!("govern.{kind}"), "--json"]).good();
        rows.lines().into_iter().map(|row| row["payload"]["record"].clone()).collect()
    }
}

/// Runs an example in a directory: its run, and what it came to. It is named as a user names it, so that a run is the same wherever the
/// examples are.
pub(crate) fn began(work: &Work, name: &str, seed: u8, exit: i32) -> (String, Value) {
    let examples = work.path("examples");
    if !examples.exists() {
        std::os::unix::fs::symlink(folder("."), &examples).unwrap();
    }
    let (named, seed) = (format!("examples/{name}"), seed.to_string());
    let args = ["run", &named, "--now", "2026-02-01T09:00:00Z", "--as", "ana", "--json"];
    let done = work.run(&[&args[..], &["--seed", &seed]].concat()).exits(exit);
    let told = done.json();
    (told["run"].as_str().unwrap().to_owned(), told)
}
