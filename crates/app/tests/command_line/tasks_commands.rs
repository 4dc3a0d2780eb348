//! Tasks whose criteria are checked by commands, and tasks with a judge that fails, run as a user runs them.
//! Owns: one small task with many checks. Must not: need a machine that can hold programs, where it only tries what is refused.

use crate::binary::{Done, Work};
use crate::talks::verified;
use serde_json::{Value, json};

const LEASE: &str = "# Lease\n\nThe lease of the warehouse ends on 31 May 2027.\n\n\
    The lease of the warehouse ends early if the rent stays unpaid for 60 days.\n\nThe rent is 900 euros a month.\n";

/// A task whose memo has one quote at first; `$CHECK` is what its second criterion is checked by.
const TASK: &str = r#"schema_version = "1.0"
id = "lease-memo"
title = "Memo"
goal = "Say when the lease ends."
capabilities = ["shell"]

[[artifacts]]
id = "memo"
path = "out/memo.md"
kind = "markdown"
title = "Memo"
sections = [{ id = "term", heading = "Term", ask = "When does the lease of the warehouse end?", quotes = 1 }]

[[sources]]
id = "lease"
path = "lease.md"
kind = "document"
trust_basis = "user_supplied"
verified_by = "ana"
tier = 2

[[outcomes]]
id = "term-stated"
statement = "The memo says when the lease ends."
section = "term"

[[outcomes.criteria]]
id = "grounded"
text = "Every sentence stands in a source."
basis = "source_grounded"
required = true
threshold = 1

[[outcomes.criteria]]
id = "checked"
text = "A command says so."
basis = "deterministic_check"
required = true
threshold = 1
check = { kind = "command", $CHECK }
"#;

const RUN: &str = "run_6c4952ec8b203d9f";

fn task(check: &str) -> String {
    TASK.replace("$CHECK", check)
}

/// A folder with a task in it.
fn folder(task: &str) -> Work {
    let work = Work::new();
    std::fs::create_dir(work.path("task")).unwrap();
    work.write("task/task.toml", task);
    work.write("task/lease.md", LEASE);
    work
}

fn at(work: &Work, hour: u8, args: &[&str]) -> Done {
    let now = format!("2026-02-01T{hour:02}:00:00Z");
    work.run(&[args, &["--now", &now, "--seed", "1", "--as", "ana"]].concat())
}

/// Runs a task; gives what it came to.
fn ran(task: &str, exit: i32) -> (Work, Value) {
    let work = folder(task);
    let told = at(&work, 9, &["run", "task", "--json"]).exits(exit).json();
    // What commands looked at is gone.
    let looks = work.path("data").join("matters/default/looks");
    let left = std::fs::read_dir(looks).map_or(0, Iterator::count);
    assert_eq!(left, 0);
    (work, told)
}

/// Everything that can be checked of a run is right.
fn is_whole(work: &Work) {
    verified(work);
    let lint = work.run(&["lint", "--ledger", "--json"]).good().json();
    assert_eq!(lint["codes"], json!([]));
    let packet = ["packet", "export", RUN, "--now", "2026-02-01T18:00:00Z", "--out", "packet.json"];
    work.run(&packet).good();
    work.run(&["verify", "packet.json"]).good();
    for mode in ["audit_reconstruction", "simulation_from_recorded_outputs"] {
        let told = at(work, 19, &["replay", RUN, "--mode", mode, "--json"]).good().json();
        assert_eq!(told["same"], json!(true), "{mode}: {told}");
    }
}

/// What the last look handed over.
fn critic(work: &Work) -> Value {
    let rows = work.run(&["runs", "show", RUN, "--json"]).good();
    rows.json()["envelope"]["agent_outputs"]["critic"].clone()
}

#[test]
fn a_criterion_is_met_by_a_command() {
    let (work, told) = ran(&task(r#"argv = ["grep", "-q", "31 May 2027", "out/memo.md"]"#), 0);
    assert_eq!(told["status"], "safe_to_rely_within_scope", "{told}");
    assert_eq!(told["not_looked_at"], Value::Null);
    is_whole(&work);
    // A replay runs nothing: what a tool came to is taken as it was, or the replay is refused.
    at(&work, 19, &["replay", RUN, "--mode", "deterministic_reexecution"])
        .refused_silently(1, "replay.refused");
    let again = at(&work, 19, &["replay", RUN, "--mode", "best_effort_rerun", "--json"]).good().json();
    let critic = again["steps"].as_array().unwrap().iter().find(|one| {
        one["step"].as_str().unwrap().ends_with(".critic")
    });
    assert_eq!(critic.unwrap()["treatment"], "its recorded output is taken", "{again}");
    assert_eq!(again["same"], json!(true), "{again}");
}
