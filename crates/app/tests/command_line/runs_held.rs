//! A run and whoever carries it on: one at a time, where it was begun, with programs that end when it does.
//! Owns: looking at processes and directories. Must not: sleep; what is waited for is looked at again.

use crate::binary::{BINARY, DATA, Done, Running};
use crate::runs_crash::{Desk, completed, ended, waits};
use crate::talks::{rows, verified};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

/// A stage whose program leaves another one behind, which keeps its streams open.
fn leaving(name: &str, more: &str) -> String {
    let command = format!("sleep 7777 & echo $! > left-{name}; exec python3 agent.py do");
    format!(
        "[[stages]]\nname = \"{name}\"\n{more}agent = {{ kind = \"process\", command = [\"sh\", \"-c\", \"{command}\"] }}\n"
    )
}

/// Waits until a process that was noted is gone, or only its parent has not looked yet.
fn is_gone(desk: &Desk, note: &str) {
    let noted = std::fs::read_to_string(desk.work.path(note)).unwrap();
    let stat = format!("/proc/{}/stat", noted.trim());
    while let Ok(stat) = std::fs::read_to_string(&stat) {
        if stat.rsplit(')').next().unwrap().trim_start().starts_with('Z') {
            return;
        }
        std::thread::yield_now();
    }
}

#[test]
fn what_a_program_leaves_behind_ends_with_it() {
    let desk = Desk::of(&leaving("one", ""));
    let done = completed(&desk.process(&json!({"raw_input": "x"}), &[]));
    assert_eq!(done["outputs"]["one"]["heard"], json!([null, null]), "what it said counts");
    is_gone(&desk, "left-one");
}

#[test]
fn a_signal_ends_the_run_and_its_programs() {
    for signal in [Signal::INT, Signal::TERM] {
        let desk = Desk::of(&leaving("one", ""));
        desk.work.write("envelope.json", json!({"raw_input": "x"}).to_string());
        desk.gate("one");
        let running = Running::start(
            &desk.work,
            &["process", "envelope.json", "--pipeline", "pipeline.toml", "--allow-programs"],
        );
        let gate = desk.at_the_gate("one");
        kill_process(Pid::from_raw(i32::try_from(running.id()).unwrap()).unwrap(), signal).unwrap();
        let envelope = ended(&running.ended(), "run.failed", "tool_failed_recoverably");
        assert_eq!(envelope["errors"][0]["message"], "it was cancelled");
        is_gone(&desk, "left-one");
        drop(gate);
        verified(&desk.work);
    }
}

#[test]
fn a_run_that_somebody_carries_on_is_not_taken_from_them() {
    let desk = Desk::new(&[("one", "do"), ("two", "do")]);
    let one = desk.process(&json!({"raw_input": "x"}), &["--step"]).good().json();
    let run = one["metadata"]["run_id"].as_str().unwrap();
    desk.gate("two");
    let running = Running::start(&desk.work, &["runs", "resume", run, "--allow-programs", "--json"]);
    let gate = desk.at_the_gate("two");
    let before = desk.rows();
    desk.resume(run).refused_silently(1, "run.busy");
    desk.process(&one, &[]).refused(1, "run.busy");
    assert_eq!(desk.rows(), before);
    assert_eq!(desk.show(run)["standing"], "open", "looking is free");
    drop(gate);
    completed(&running.ended());
    assert_eq!(desk.calls(), ["one", "two"]);
    let left = std::fs::read_dir(desk.work.path(DATA).join("matters/default/runs")).unwrap();
    assert_eq!(left.count(), 0, "nothing is kept of a run that is over");
}

#[test]
fn an_answer_from_elsewhere_goes_on_where_the_run_was_begun() {
    let desk = Desk::new(&[("stops", "leave")]);
    let (_, stop) = waits(&desk.process(&json!({"raw_input": "x"}), &[]));
    let elsewhere = desk.work.path("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    std::fs::write(elsewhere.join("agent.py"), "raise SystemExit('another program')").unwrap();
    let args = ["answer", &stop.run, "--id", &stop.id, "--approve", "--allow-programs", "--json"];
    let mut command = desk.work.command(BINARY, &args);
    command.current_dir(&elsewhere).env("COUNTERSIGN_DATA", desk.work.path(DATA));
    let done = completed(&Done::new(&args, command.output().unwrap()));
    assert_eq!(done["outputs"]["stops"]["heard"], json!([null, true]));
}

#[test]
fn what_others_hand_over_is_of_this_request_and_rests_on_what_is_there() {
    let text = "# Lease\n\nIt ends in May.\n";
    let found = countersign_record::digest::Digest::of(text.as_bytes()).to_string();
    let files = |path: &str, sha256: &str| {
        json!({"provenance": {"files": [{"path": path, "sha256": sha256}]}}).to_string()
    };
    let zeros = "0".repeat(64);
    for (says, path) in [
        (json!({"request_id": "req_ffffffffffffffff"}).to_string(), Some("/request_id")),
        (json!({"turn_id": 9}).to_string(), Some("/turn_id")),
        (files("lease.md", &zeros), Some("/provenance/files/0")),
        (files("other.md", &found), Some("/provenance/files/0")),
        (files("../docs/lease.md", &found), Some("/provenance/files/0")),
        (files("lease.md", &found), None),
    ] {
        let desk = Desk::new(&[("one", &says), ("two", "do")]);
        std::fs::create_dir(desk.work.path("docs")).unwrap();
        desk.work.write("docs/lease.md", text);
        let done = desk.process(&json!({"raw_input": "x"}), &["--sources", "docs"]);
        let Some(path) = path else {
            completed(&done);
            continue;
        };
        let (envelope, stop) = waits(&done);
        assert_eq!((stop.reason.as_str(), desk.calls().len()), ("validation_fail", 1), "{says}");
        assert!(envelope["clarification_question"].as_str().unwrap().contains(path), "{says}: {envelope}");
        assert_eq!(rows(&desk.work, "run.called").len(), 1, "nobody else is called");
    }
}
