//! A run whose process ends in the middle: nothing is done twice, and what nobody saw is asked about.
//! Owns: the agents that tests of runs share, killing the binary at known points. Must not: sleep; an agent that stands in
//! its work waits at a gate, and a row that is waited for is followed.

use crate::binary::{BINARY, Done, Running, Work};
use crate::talks::{rows, verified};
use serde_json::{Value, json};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::process::{Command, Stdio};

/// Agents in Python. Each counts its calls and waits at its gate, if there is one. `ask` wants an answer in words first,
/// `leave` wants leave first, `late` wants it by a time that is over, `stuck` needs a person until it is mended; an object
/// is what is handed over; anything else just hands over.
const AGENT: &str = r#"
import json, os, sys
question = json.load(sys.stdin)
state, stage, kind = question["payload"]["state"], question["payload"]["stage"], sys.argv[1]
with open("calls.txt", "a") as calls:
    calls.write(stage + "\n")
if os.path.exists("gate-" + stage):
    open("gate-" + stage).read()
heard = [state["clarification_response"], state["confirmation_response"]]
answer = {"agent": "tester", "goal": question["goal"], "timestamp": question["timestamp"],
          "request_id": question["request_id"], "turn_id": question["turn_id"], "source": "external",
          "version": "1.0", "escalate": False, "reason": None, "provenance": {}, "payload": {"heard": heard}}
def escalate(reason, payload):
    answer.update(escalate=True, reason=reason, payload=payload)
if kind == "ask" and heard[0] is None:
    escalate("clarification_required", {"question": "Which lease?"})
if kind == "leave" and heard[1] is None:
    escalate("confirmation_required", {"message": "publish it"})
if kind == "late":
    escalate("confirmation_required", {"message": "publish it", "expires_at": "2020-01-01T00:00:00Z"})
if kind == "stuck" and not os.path.exists("mended"):
    escalate("insufficient_context", {"message": "no file says it", "next_steps": ["retry", "give up"]})
if kind.startswith("{"):
    answer.update(json.loads(kind))
json.dump(answer, sys.stdout)
"#;

/// A directory with a pipeline of these agents.
pub(crate) struct Desk {
    pub(crate) work: Work,
}

impl Desk {
    /// Stages by name, each with what its agent does; one follows the other.
    pub(crate) fn new(stages: &[(&str, &str)]) -> Self {
        let next = |at: usize| match stages.get(at + 1) {
            Some((next, _)) => format!("default_next = \"{next}\"\n"),
            None => String::new(),
        };
        let stage = |(at, (name, kind)): (usize, &(&str, &str))| Desk::stage(name, kind, &next(at));
        Desk::of(&stages.iter().enumerate().map(stage).collect::<String>())
    }

    /// A pipeline of these stages, as its file has them.
    pub(crate) fn of(stages: &str) -> Self {
        let work = Work::new();
        work.write("agent.py", AGENT);
        work.write("pipeline.toml", format!("name = \"test\"\n{stages}"));
        Desk { work }
    }

    /// One stage, as the pipeline's file has it.
    pub(crate) fn stage(name: &str, kind: &str, more: &str) -> String {
        format!(
            "[[stages]]\nname = \"{name}\"\n{more}agent = {{ kind = \"process\", command = [\"python3\", \"agent.py\", '{kind}'] }}\n"
        )
    }

    pub(crate) fn process(&self, envelope: &Value, more: &[&str]) -> Done {
        self.work.write("envelope.json", envelope.to_string());
        self.work.run(&[&PROCESS[..], more].concat())
    }

    pub(crate) fn answer(&self, stop: &Stop, more: &[&str]) -> Done {
        let args = ["answer", &stop.run, "--id", &stop.id, "--allow-programs", "--json"];
        self.work.run(&[&args[..], more].concat())
    }

    pub(crate) fn resume(&self, run: &str) -> Done {
        self.work.run(&["runs", "resume", run, "--allow-programs", "--json"])
    }

    /// The stages whose agents were called, in order.
    pub(crate) fn calls(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.work.path("calls.txt")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    pub(crate) fn runs(&self) -> Vec<Value> {
        self.work.run(&["runs", "list", "--json"]).good().json()["runs"].as_array().unwrap().clone()
    }

    pub(crate) fn show(&self, run: &str) -> Value {
        self.work.run(&["runs", "show", run, "--json"]).good().json()
    }

    /// How many rows there are.
    pub(crate) fn rows(&self) -> usize {
        self.work.run(&["ledger", "rows", "--json"]).good().lines().len()
    }

    /// Has an agent wait in the middle of its work.
    pub(crate) fn gate(&self, stage: &str) {
        assert!(
            Command::new("mkfifo").arg(self.work.path(&format!("gate-{stage}"))).status().unwrap().success()
        );
    }

    /// Waits until the agent stands there; it goes on when what this gives is dropped.
    pub(crate) fn at_the_gate(&self, stage: &str) -> File {
        OpenOptions::new().write(true).open(self.work.path(&format!("gate-{stage}"))).unwrap()
    }

    /// Runs the binary until the agent of a stage is at work, and ends it with SIGKILL.
    fn kill_in(&self, stage: &str, args: &[&str]) {
        self.gate(stage);
        let running = Running::start(&self.work, args);
        let gate = self.at_the_gate(stage);
        running.kill();
        drop(gate);
        std::fs::remove_file(self.work.path(&format!("gate-{stage}"))).unwrap();
    }
}

/// Processes what stands in `envelope.json`.
const PROCESS: [&str; 5] = ["process", "envelope.json", "--pipeline", "pipeline.toml", "--allow-programs"];

/// What a run waits for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Stop {
    pub(crate) run: String,
    pub(crate) id: String,
    pub(crate) kind: String,
    pub(crate) reason: String,
}

/// The run waits: its envelope, and for what.
pub(crate) fn waits(done: &Done) -> (Value, Stop) {
    let envelope =
        serde_json::from_slice(&done.bytes).unwrap_or_else(|_| panic!("{} {}", done.text(), done.err));
    let details = done.refused(3, "run.waiting").details;
    let text = |name: &str| details[name].as_str().unwrap().to_owned();
    (envelope, Stop { run: text("run"), id: text("id"), kind: text("kind"), reason: text("reason") })
}

/// The run has ended with this code and reason: its envelope.
pub(crate) fn ended(done: &Done, code: &str, reason: &str) -> Value {
    let details = done.refused(1, code).details;
    assert_eq!(details["terminal_reason"], reason, "{}", done.err);
    let envelope: Value = serde_json::from_slice(&done.bytes).unwrap();
    assert_eq!((&envelope["terminated"], &envelope["terminal_reason"]), (&json!(true), &json!(reason)));
    envelope
}

/// The run has ended well: its envelope.
pub(crate) fn completed(done: &Done) -> Value {
    let envelope = done.clone().good();
    let envelope: Value = serde_json::from_slice(&envelope.bytes).unwrap();
    assert_eq!(envelope["terminal_reason"], "completed_successfully");
    envelope
}

fn agents(envelope: &Value) -> Vec<&str> {
    envelope["processing_history"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["agent"].as_str().unwrap())
        .collect()
}

/// Three stages of which each just hands over.
fn three() -> Desk {
    Desk::new(&[("one", "do"), ("two", "do"), ("three", "do")])
}

#[test]
fn what_an_agent_was_doing_is_asked_about_and_never_done_again_by_itself() {
    for (stage, before) in
        [("one", &["one"][..]), ("two", &["one", "two"]), ("three", &["one", "two", "three"])]
    {
        let desk = three();
        desk.work.write("envelope.json", r#"{"raw_input":"Do it."}"#);
        desk.kill_in(stage, &PROCESS);
        assert_eq!(desk.calls(), before);
        let runs = desk.runs();
        assert_eq!((runs.len(), &runs[0]["standing"]), (1, &json!("open")));
        let run = runs[0]["run"].as_str().unwrap();
        let (envelope, stop) = waits(&desk.resume(run));
        assert_eq!((stop.kind.as_str(), stop.reason.as_str()), ("escalation", "unknown_effect"));
        assert_eq!((&envelope["current_stage"], &stop.run), (&json!(stage), &run.to_owned()));
        // It stays stopped, however often somebody begins again, and nothing is written for that.
        let rows_then = desk.rows();
        assert_eq!(waits(&desk.resume(run)), (envelope.clone(), stop.clone()));
        assert_eq!(waits(&desk.process(&envelope, &[])), (envelope, stop.clone()));
        assert_eq!(
            (desk.rows(), desk.calls()),
            (rows_then, before.to_vec().iter().map(|s| (*s).to_owned()).collect())
        );
        // A person says that it is to be done again, and only then it is.
        let done = completed(&desk.answer(&stop, &["--choose", "retry", "--as", "ana"]));
        let called = desk.calls();
        for name in ["one", "two", "three"] {
            let times = called.iter().filter(|call| *call == name).count();
            assert_eq!(times, if name == stage { 2 } else { 1 }, "{name} of {called:?}");
        }
        assert_eq!(done, desk.show(run)["envelope"]);
        desk.answer(&stop, &["--choose", "retry"]).refused_silently(1, "run.over");
        assert_eq!(rows(&desk.work, "run.answered").len(), 1);
        verified(&desk.work);
    }
}

#[test]
fn what_nobody_saw_may_be_given_up() {
    let desk = three();
    desk.work.write("envelope.json", r#"{"raw_input":"Do it."}"#);
    desk.kill_in("two", &PROCESS);
    let (_, stop) = waits(&desk.resume(desk.runs()[0]["run"].as_str().unwrap()));
    ended(&desk.answer(&stop, &["--choose", "give up"]), "run.denied", "denied_by_policy");
    assert_eq!(desk.calls(), ["one", "two"]);
}

#[test]
fn an_envelope_from_before_the_crash_goes_on_with_its_run() {
    let desk = three();
    let one = desk.process(&json!({"raw_input": "Do it."}), &["--step"]).good().json();
    desk.work.write("envelope.json", one.to_string());
    desk.kill_in("two", &PROCESS);
    // Whoever asked has the envelope of the first stage and no other.
    let (envelope, stop) = waits(&desk.process(&one, &[]));
    assert_eq!(
        (envelope["metadata"]["run_id"].as_str().unwrap(), stop.reason.as_str()),
        (&*stop.run, "unknown_effect")
    );
    assert_eq!(one["metadata"]["run_id"], envelope["metadata"]["run_id"]);
    assert_eq!(
        (waits(&desk.process(&one, &[])).1, waits(&desk.process(&one, &["--step"])).1),
        (stop.clone(), stop.clone())
    );
    assert_eq!((desk.calls(), desk.runs().len()), (vec!["one".to_owned(), "two".to_owned()], 1));
    let done = completed(&desk.answer(&stop, &["--choose", "retry"]));
    assert_eq!(agents(&done), ["one", "two", "two", "three"]);
}

/// A pipe that is full: whoever writes to it waits for a reader.
fn full() -> (std::io::PipeReader, Stdio) {
    let (reader, mut writer) = std::io::pipe().unwrap();
    let size = rustix::pipe::fcntl_getpipe_size(&writer).unwrap();
    writer.write_all(&vec![b'-'; size]).unwrap();
    (reader, Stdio::from(writer))
}

/// Runs the binary until so many rows of a kind are there, and ends it with SIGKILL before it has said a word.
fn kill_unheard(desk: &Desk, args: &[&str], kind: &str, count: &str) {
    let (reader, stdout) = full();
    let mut child = desk.work.command(BINARY, args).stdout(stdout).spawn().unwrap();
    desk.work.run(&["ledger", "tail", "--kind", kind, "--count", count, "--json"]).good();
    child.kill().unwrap();
    child.wait().unwrap();
    drop(reader);
}

#[test]
fn what_was_done_and_not_told_is_told_and_not_done_again() {
    let desk = three();
    let one = desk.process(&json!({"raw_input": "Do it."}), &["--step"]).good().json();
    desk.work.write("envelope.json", one.to_string());
    kill_unheard(&desk, &[&PROCESS[..], &["--step"]].concat(), "run.returned", "2");
    // The next stage is due, and was not asked for yet: the stage that was done is handed out.
    let two = desk.process(&one, &["--step"]).good().json();
    assert_eq!((&two["current_stage"], agents(&two)), (&json!("three"), vec!["one", "two"]));
    assert_eq!(desk.process(&one, &["--step"]).good().json(), two);
    assert_eq!(desk.calls(), ["one", "two"]);
    desk.work.write("envelope.json", two.to_string());
    kill_unheard(&desk, &PROCESS, "run.ended", "1");
    let done = completed(&desk.process(&two, &[]));
    for earlier in [&one, &two] {
        assert_eq!(completed(&desk.process(earlier, &[])), done);
        assert_eq!(completed(&desk.process(earlier, &["--step"])), done);
    }
    let run = done["metadata"]["run_id"].as_str().unwrap();
    assert_eq!(desk.show(run)["envelope"], done);
    desk.resume(run).refused_silently(1, "run.over");
    assert_eq!((desk.calls(), desk.runs().len()), (["one", "two", "three"].map(str::to_owned).to_vec(), 1));
    verified(&desk.work);
}

#[test]
fn before_anything_is_written_there_is_no_run() {
    let desk = three();
    // It waits for its envelope.
    Running::start(&desk.work, &["process", "--pipeline", "pipeline.toml", "--allow-programs"]).kill();
    assert_eq!((desk.runs(), desk.calls()), (vec![], vec![]));
}

#[test]
fn a_run_between_two_stages_goes_on_at_the_second() {
    let desk = three();
    let one = desk.process(&json!({"raw_input": "Do it."}), &["--step"]).good().json();
    let run = one["metadata"]["run_id"].as_str().unwrap();
    assert_eq!(desk.show(run)["standing"], "open");
    let done = completed(&desk.resume(run));
    assert_eq!(
        (agents(&done), desk.calls()),
        (vec!["one", "two", "three"], ["one", "two", "three"].map(str::to_owned).to_vec())
    );
}

#[test]
fn an_answer_counts_though_what_it_led_to_was_not_seen() {
    let desk = Desk::new(&[("publish", "leave"), ("after", "do")]);
    let (_, stop) = waits(&desk.process(&json!({"raw_input": "x"}), &[]));
    let answer = ["answer", &stop.run, "--id", &stop.id, "--allow-programs", "--approve"];
    desk.kill_in("publish", &answer);
    let (_, unknown) = waits(&desk.resume(&stop.run));
    assert_eq!((unknown.reason.as_str(), desk.calls().len()), ("unknown_effect", 2));
    desk.answer(&stop, &["--approve"]).refused_silently(1, "answer.unasked");
    assert_eq!(rows(&desk.work, "run.answered").len(), 1);
    let done = completed(&desk.answer(&unknown, &["--choose", "retry"]));
    assert_eq!(done["outputs"]["publish"]["heard"], json!([null, true]), "leave holds");
    assert_eq!(desk.calls(), ["publish", "publish", "publish", "after"]);
}

#[test]
fn a_run_that_two_go_on_with_is_worked_on_once() {
    for _ in 0..4 {
        let desk = three();
        let one = desk.process(&json!({"raw_input": "Do it."}), &["--step"]).good().json();
        let run = one["metadata"]["run_id"].as_str().unwrap();
        let both = [0, 1]
            .map(|_| Running::start(&desk.work, &["runs", "resume", run, "--allow-programs", "--json"]));
        let both = both.map(Running::ended);
        let called = desk.calls();
        for name in ["one", "two", "three"] {
            assert!(
                called.iter().filter(|call| *call == name).count() <= 1,
                "{called:?} {both:?}",
                both = both.each_ref().map(|done| &done.err)
            );
        }
        assert_eq!((&desk.show(run)["standing"], called.len()), (&json!("over"), 3), "{called:?}");
        verified(&desk.work);
    }
}

/// A document without what depends on when it was made.
fn timeless(mut value: Value) -> Value {
    match &mut value {
        Value::Object(members) => {
            // What was read was written a moment earlier or later.
            members.retain(|name, _| !["duration_ms", "mtime"].contains(&name.as_str()));
            members.values_mut().for_each(|member| *member = timeless(member.take()));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| *item = timeless(item.take())),
        _ => {}
    }
    value
}

#[test]
fn agents_of_ours_are_called_again_and_no_stage_is_left_out() {
    const STAGES: [&str; 7] = ["perception", "intent", "plan", "execution", "draft", "critic", "integration"];
    let begin = || {
        let work = crate::served::library();
        work.write("envelope.json", json!({"raw_input": crate::served::QUESTION}).to_string());
        // There is a ledger.
        work.run(&["capability", "grant", "fs:write"]).good();
        work
    };
    let ask = ["process", "envelope.json", "--sources", "docs"];
    let whole = completed(&begin().run(&ask));
    assert_eq!(agents(&whole), STAGES);
    for count in 1..=STAGES.len() {
        let work = begin();
        let running = Running::start(&work, &ask);
        work.run(&["ledger", "tail", "--kind", "run.called", "--count", &count.to_string(), "--json"]).good();
        running.kill();
        let runs = work.run(&["runs", "list", "--json"]).good().json()["runs"].clone();
        let run = runs[0]["run"].as_str().unwrap();
        // It may have been faster.
        if runs[0]["standing"] == "open" {
            completed(&work.run(&["runs", "resume", run, "--json"]));
        }
        let shown = work.run(&["runs", "show", run, "--json"]).good().json();
        assert_eq!(agents(&shown["envelope"]), STAGES, "killed at {count}");
        assert_eq!(timeless(shown["envelope"]["outputs"].clone()), timeless(whole["outputs"].clone()));
        verified(&work);
    }
}
