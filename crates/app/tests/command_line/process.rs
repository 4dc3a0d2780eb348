//! `process`, `answer`, `runs`: envelopes that agents carry on, and runs that wait for people.
//! Owns: running them as users do, with programs as agents. Must not: reach into the ledger but by commands.

use crate::binary::{self, Done, FIXED, Work};
use serde_json::{Value, json};

/// An agent in Python: it hands over what its argument says, and counts how often it was called.
const AGENT: &str = r#"
import json, sys
question = json.load(sys.stdin)
assert question["agent"] == "controller" and question["escalate"] is False, question
with open("calls.txt", "a") as calls:
    calls.write(question["payload"]["stage"] + "\n")
answer = {"agent": "tester", "goal": question["goal"], "timestamp": question["timestamp"],
          "request_id": question["request_id"], "turn_id": question["turn_id"], "source": "external",
          "version": "1.0", "escalate": False, "reason": None, "provenance": {}, "payload": {}}
answer.update(json.loads(sys.argv[1]))
if answer.get("payload") == "state":
    answer["payload"] = {"answers": question["payload"]["state"]["clarification_response"]}
json.dump(answer, sys.stdout)
"#;

struct Desk {
    work: Work,
}

impl Desk {
    /// A pipeline whose stages are run by the agent above, each with what it hands over.
    fn new(stages: &[(&str, &str, Value)]) -> Self {
        let work = Work::new();
        work.write("agent.py", AGENT);
        let mut pipeline = "name = \"test\"\n".to_owned();
        for (at, (name, more, says)) in stages.iter().enumerate() {
            let next = stages
                .get(at + 1)
                .map(|(next, ..)| format!("default_next = \"{next}\"\n"))
                .unwrap_or_default();
            let next = if more.contains("default_next") { String::new() } else { next };
            pipeline.push_str(&format!(
                "[[stages]]\nname = \"{name}\"\n{next}{more}agent = {{ kind = \"process\", command = [\"python3\", \"agent.py\", '{says}'] }}\n"
            ));
        }
        work.write("pipeline.toml", pipeline);
        Desk { work }
    }

    fn process(&self, envelope: &Value, more: &[&str]) -> Done {
        let args = [&["process", "--pipeline", "pipeline.toml", "--allow-programs"], more].concat();
        self.work.feed(&args, envelope.to_string())
    }

    fn answer(&self, run: &str, id: &str, more: &[&str]) -> Done {
        self.work.run(&[&["answer", run, "--id", id, "--allow-programs", "--json"], more].concat())
    }

    /// The stages whose agents were called, in order.
    fn calls(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.work.path("calls.txt")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }
}

/// What a run that did not end well says: the envelope, the code, the error.
fn told(done: &Done, exit: i32) -> (Value, String, Value) {
    assert_eq!(done.exit, Some(exit), "{}\n{}", done.text(), done.err);
    let envelope = serde_json::from_slice(&done.bytes).unwrap_or_else(|_| panic!("{}", done.text()));
    let error: Value = serde_json::from_str(&done.err).unwrap_or_else(|_| panic!("{}", done.err));
    let code = error["error"]["code"].as_str().unwrap().to_owned();
    (envelope, code, error["error"]["details"].clone())
}

fn done(payload: Value) -> Value {
    json!({ "payload": payload })
}

fn escalated(reason: &str, payload: Value) -> Value {
    json!({ "escalate": true, "reason": reason, "payload": payload })
}

#[test]
fn programs_carry_an_envelope_to_its_end() {
    let desk = Desk::new(&[
        ("one", "", done(json!({"a": 1}))),
        ("two", "output_key = \"second\"\n", done(json!({"b": [2]}))),
    ]);
    let given = json!({
        "raw_input": "Do it.", "metadata": {"large": 9007199254740993_u64, "x": "<&>\u{2028}"}, "unknown": [1.50, {"k": null}]
    });
    let text = given.to_string().replace("1.5,", "1.50,");
    let args = ["process", "--pipeline", "pipeline.toml", "--allow-programs"];
    let out = desk.work.feed(&args, &text).good();
    assert!(out.text().contains("1.50") && out.text().contains("9007199254740993"), "{}", out.text());
    let envelope: Value = serde_json::from_slice(&out.bytes).unwrap();
    assert_eq!(envelope["outputs"], json!({"one": {"a": 1}, "second": {"b": [2]}}));
    assert_eq!(
        (&envelope["terminated"], &envelope["terminal_reason"], &envelope["current_stage"]),
        (&json!(true), &json!("completed_successfully"), &json!("end"))
    );
    assert_eq!(envelope["stage_order"], json!(["one", "two"]));
    assert_eq!(envelope["agent_hop_count"], json!(2));
    let history = envelope["processing_history"].as_array().unwrap();
    let keys: Vec<&String> = history[0].as_object().unwrap().keys().collect();
    assert_eq!(
        keys,
        ["agent", "completed_at", "duration_ms", "error", "llm_calls", "stage_order", "started_at", "status"]
    );
    assert_eq!((&history[0]["stage_order"], &history[1]["stage_order"]), (&json!(1), &json!(2)));
    // It has ended: nothing happens to it any more, and it is handed back as it is.
    let (again, code, _) = told(&desk.process(&envelope, &[]), 1);
    assert_eq!((again, code.as_str()), (envelope, "run.over"));
    assert_eq!(desk.calls(), ["one", "two"]);
}

#[test]
fn one_stage_at_a_time_is_one_run() {
    let desk = Desk::new(&[
        ("one", "", done(json!({}))),
        ("two", "", done(json!({}))),
        ("three", "", done(json!({}))),
    ]);
    let mut envelope = json!({"raw_input": "Do it."});
    for count in 1..=3 {
        let out = desk.process(&envelope, &["--step"]).good();
        envelope = serde_json::from_slice(&out.bytes).unwrap();
        assert_eq!(desk.calls().len(), count);
    }
    assert_eq!(envelope["terminal_reason"], "completed_successfully");
    let runs = desk.work.run(&["runs", "list", "--json"]).good();
    let runs = &runs.json()["runs"];
    assert_eq!(runs.as_array().unwrap().len(), 1, "{runs}");
    assert_eq!(runs[0]["standing"], "over");
    let run = runs[0]["run"].as_str().unwrap();
    let shown = desk.work.run(&["runs", "show", run, "--json"]).good();
    let shown: Value = serde_json::from_slice(&shown.bytes).unwrap();
    assert_eq!(shown["envelope"], envelope, "the rows tell the same state");
    let kinds: Vec<&str> =
        shown["timeline"].as_array().unwrap().iter().map(|line| line["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds.iter().filter(|kind| **kind == "run.returned").count(), 3);
    assert_eq!((kinds[0], *kinds.last().unwrap()), ("run.began", "run.ended"));
    desk.work.run(&["runs", "show", run]).good();
    desk.work.run(&["ledger", "verify"]).good();
    // A client that changes the envelope on the way begins another run.
    let mut changed = desk.process(&json!({"raw_input": "Do it."}), &["--step"]).good();
    let mut edited: Value = serde_json::from_slice(&changed.bytes).unwrap();
    edited["outputs"]["one"] = json!({"forged": true});
    changed = desk.process(&edited, &["--step"]).good();
    let after: Value = serde_json::from_slice(&changed.bytes).unwrap();
    assert_ne!(after["metadata"]["run_id"], edited["metadata"]["run_id"]);
}

#[test]
fn a_question_is_answered_once_and_by_its_name() {
    let desk = Desk::new(&[
        ("intent", "", escalated("clarification_required", json!({"question": "Which lease?"}))),
        ("work", "", json!({"payload": "state"})),
    ]);
    let (envelope, code, details) = told(&desk.process(&json!({"raw_input": "End it."}), &[]), 3);
    assert_eq!(code, "run.waiting");
    assert_eq!(
        (&envelope["clarification_pending"], &envelope["clarification_question"], &envelope["terminated"]),
        (&json!(true), &json!("Which lease?"), &json!(false))
    );
    assert_eq!((&details["kind"], &details["agent"]), (&json!("clarification"), &json!("python3")));
    let (run, id) = (details["run"].as_str().unwrap(), details["id"].as_str().unwrap());
    // It stays stopped: for whoever hands it in again, and after a restart.
    assert_eq!(told(&desk.process(&envelope, &[]), 3).1, "run.waiting");
    assert_eq!(desk.work.run(&["runs", "resume", run, "--allow-programs"]).exit, Some(3));
    let refused = |more: &[&str], id: &str, code: &str| {
        let answer = desk.answer(run, id, more);
        let error: Value = serde_json::from_str(&answer.err).unwrap();
        assert_eq!(
            (answer.exit, error["error"]["code"].as_str().unwrap()),
            (Some(1), code),
            "{}",
            answer.err
        );
    };
    refused(&["--value", "x"], "stop_0000000000000000", "answer.unasked");
    refused(&["--approve"], id, "answer.kind");
    assert_eq!(desk.calls(), ["intent"], "nothing has changed");
    // The agent asks whenever it is called, so the same run asks again, under another name.
    let (envelope, _, details) = told(&desk.answer(run, id, &["--value", "the harbour's"]), 3);
    assert_eq!(envelope["clarification_response"], Value::Null);
    assert_ne!(details["id"].as_str().unwrap(), id);
    refused(&["--value", "again"], id, "answer.unasked");
    let shown = desk.work.run(&["runs", "show", run]).good();
    assert!(shown.text().contains("answered   text by local"), "{}", shown.text());
    assert!(shown.text().contains("countersign answer run_"), "{}", shown.text());
}

#[test]
fn leave_is_asked_for_and_denied_or_given() {
    let stages = || {
        Desk::new(&[
            ("execution", "", done(json!({"status": "success"}))),
            ("publish", "", escalated("confirmation_required", json!({"message": "publish it"}))),
        ])
    };
    let desk = stages();
    let (envelope, _, details) = told(&desk.process(&json!({"raw_input": "x"}), &[]), 3);
    assert_eq!(
        (&envelope["confirmation_pending"], &envelope["confirmation_message"]),
        (&json!(true), &json!("publish it"))
    );
    let (run, id) = (details["run"].as_str().unwrap(), details["id"].as_str().unwrap());
    let (envelope, code, _) = told(&desk.answer(run, id, &["--deny"]), 1);
    assert_eq!((code.as_str(), &envelope["terminal_reason"]), ("run.denied", &json!("denied_by_policy")));
    assert_eq!(envelope["confirmation_response"], json!(false));
    assert_eq!(desk.calls(), ["execution", "publish"]);
    let late = desk.answer(run, id, &["--approve"]);
    assert!(late.exit == Some(1) && late.err.contains("run.over"), "{}", late.err);
    let desk = stages();
    let (_, _, details) = told(&desk.process(&json!({"raw_input": "x"}), &[]), 3);
    let (run, id) = (details["run"].as_str().unwrap(), details["id"].as_str().unwrap());
    told(&desk.answer(run, id, &["--approve", "--as", "ana"]), 3);
    assert_eq!(desk.calls(), ["execution", "publish", "publish"], "it goes on where it was asked");
}

#[test]
fn what_is_no_handoff_goes_to_a_person_and_no_other_agent_is_called() {
    for (says, reason) in [
        (json!({"turn_id": -1}), "validation_fail"),
        (json!({"twelfth": 1}), "validation_fail"),
        (json!({"provenance": {"files": [{"path": "a"}]}}), "validation_fail"),
        (json!({"provenance": {"history_refs": [{"id": "E:1"}]}}), "validation_fail"),
        (json!({"escalate": true}), "validation_fail"),
        (done(json!({"verdict": "perhaps"})), "schema_violation"),
        (escalated("insufficient_context", json!({"message": "no file says it"})), "insufficient_context"),
    ] {
        let desk = Desk::new(&[("critic", "", says.clone()), ("after", "", done(json!({})))]);
        let (_, code, details) = told(&desk.process(&json!({"raw_input": "x"}), &[]), 3);
        assert_eq!((code.as_str(), &details["reason"]), ("run.waiting", &json!(reason)), "{says}");
        assert_eq!(desk.calls(), ["critic"], "{says}");
        assert!(details["next_steps"].as_array().unwrap().contains(&json!("retry")));
        let (run, id) = (details["run"].as_str().unwrap(), details["id"].as_str().unwrap());
        let (envelope, code, _) = told(&desk.answer(run, id, &["--choose", "give up"]), 1);
        assert_eq!((code.as_str(), &envelope["terminated"]), ("run.denied", &json!(true)));
    }
}

#[test]
fn every_end_has_its_code() {
    let failing = |recoverable: bool| {
        let reason = if recoverable { "tool_failed_recoverably" } else { "tool_failed_fatally" };
        escalated(
            reason,
            json!({"error_type": "ToolError", "message": "timeout", "details": {"timeout_ms": 3}}),
        )
    };
    for (recoverable, reason) in [(true, "tool_failed_recoverably"), (false, "tool_failed_fatally")] {
        let desk = Desk::new(&[("work", "", failing(recoverable))]);
        let (envelope, code, _) = told(&desk.process(&json!({"raw_input": "x"}), &[]), 1);
        assert_eq!((code.as_str(), &envelope["terminal_reason"]), ("run.failed", &json!(reason)));
        let error = envelope["errors"][0].as_object().unwrap();
        let keys: Vec<&String> = error.keys().collect();
        assert_eq!(keys, ["agent", "details", "error_type", "message", "recoverable", "timestamp"]);
    }
    let critic = |verdict: &str| done(json!({"verdict": verdict, "satisfied_goals": [], "feedback": "no"}));
    let again = "rules = [{ key = \"verdict\", value = \"reintent\", target = \"critic\" }]\n";
    let desk = Desk::new(&[("critic", again, critic("reintent"))]);
    let (envelope, code, _) = told(&desk.process(&json!({"raw_input": "x"}), &[]), 1);
    assert_eq!(
        (code.as_str(), &envelope["terminal_reason"]),
        ("run.bound", &json!("max_critic_fires_exceeded"))
    );
    assert_eq!(envelope["critic_feedback"], json!(["no", "no", "no"]));
    let round = "default_next = \"work\"\n";
    let desk = Desk::new(&[("work", round, done(json!({})))]);
    for (more, reason) in [
        (json!({"max_agent_hops": 3}), "max_agent_hops_exceeded"),
        (json!({"llm_call_count": 10}), "max_llm_calls_exceeded"),
        (json!({"iteration": 4}), "max_iterations_exceeded"),
    ] {
        let mut given = json!({"raw_input": "x"});
        given.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let (envelope, code, details) = told(&desk.process(&given, &[]), 1);
        assert_eq!((code.as_str(), &details["terminal_reason"]), ("run.bound", &json!(reason)));
        assert_eq!((&envelope["terminated"], envelope["completed_at"].is_string()), (&json!(true), true));
    }
    // A program that fails, says nothing, or says too much.
    for command in ["'sh', '-c', 'exit 3'", "'true'", "'/no/such/program'", "'sh', '-c', 'yes'"] {
        let text = format!(
            "name = \"t\"\n[[stages]]\nname = \"a\"\nagent = {{ kind = \"process\", command = [{command}] }}\n"
        );
        desk.work.write("pipeline.toml", text);
        let done = desk.process(&json!({"raw_input": "x"}), &[]);
        assert!([Some(1), Some(3)].contains(&done.exit), "{command}: {}", done.err);
        serde_json::from_slice::<Value>(&done.bytes).unwrap();
    }
}

#[test]
fn what_is_wrong_with_a_pipeline_is_told_with_its_line() {
    let work = Work::new();
    let refused = |pipeline: &str, code: &str, expected: &str| {
        work.write("pipeline.toml", pipeline);
        let done = work.feed(&["process", "--pipeline", "pipeline.toml"], "{}");
        let error: Value = serde_json::from_str(&done.err).unwrap();
        assert_eq!(error["error"]["code"], code, "{}", done.err);
        assert!(error["error"]["message"].as_str().unwrap().contains(expected), "{expected}: {}", done.err);
        // What was asked is handed back, as it came.
        assert!(done.text().contains("\"processing_history\":[]"), "{}", done.text());
    };
    refused("name = ", "run.pipeline", "line 1");
    refused("name = \"a\"\nstages = []\n", "run.pipeline", "line 2: /stages: 1 to 64 stages");
    let stage = "[[stages]]\nname = \"a\"\nagent = { kind = \"built_in\", name = \"intent\" }\n";
    refused(&format!("name = \"a\"\n{stage}default_next = \"b\"\n"), "run.pipeline", "there is no stage b");
    refused(&format!("name = \"a\"\n{stage}\ncolour = \"red\"\n"), "run.pipeline", "line 6: ");
    refused(
        &format!("name = \"a\"\n[limits]\nmax_stages = 0\n{stage}"),
        "run.pipeline",
        "line 3: /limits/max_stages: a limit of 0",
    );
    refused(
        "name = \"a\"\n[[stages]]\nname = \"a\"\nagent = { kind = \"built_in\", name = \"magic\" }\n",
        "run.agent",
        "magic",
    );
    refused(
        "name = \"a\"\n[[stages]]\nname = \"a\"\nagent = { kind = \"process\", command = [\"true\"] }\n",
        "run.agent",
        "--allow-programs",
    );
}

#[test]
fn what_is_no_envelope_is_refused_and_nothing_is_written() {
    let work = Work::new();
    for (input, exit) in [
        ("", 2),
        ("[]", 2),
        ("{\"terminated\":\"true\"}", 2),
        ("{\"iteration\":-1}", 2),
        ("{\"a\":1,\"a\":2}", 2),
    ] {
        let done = work.feed(&["process"], input);
        assert_eq!((done.exit, done.text()), (Some(exit), ""), "{input}");
    }
    let both = r#"{"dag_mode":false,"clarification_pending":true,"confirmation_pending":true}"#;
    assert!(work.feed(&["process"], both).err.contains("envelope.invalid"));
    assert!(
        work.feed(&["process"], r#"{"terminated":true,"interrupt_pending":true}"#)
            .err
            .contains("envelope.invalid")
    );
    // What could not be read again, with what stages add to it, is not begun.
    let dense = json!({"raw_input": "\u{1}".repeat(1 << 20)}).to_string();
    let sparse = json!({"raw_input": "Why?", "metadata": {"note": "x".repeat(15 << 20)}}).to_string();
    for input in [dense, sparse] {
        let done = work.feed(&["process"], &input);
        assert_eq!((done.exit, done.text()), (Some(2), ""));
        assert!(done.err.contains("envelope.invalid"), "{}", done.err);
    }
    assert!(!work.path(binary::DATA).exists());
}

#[test]
fn the_same_clock_and_seed_give_the_same_ledger() {
    let work = Work::new();
    std::fs::create_dir(work.path("docs")).unwrap();
    work.write(
        "docs/lease.md",
        "# Lease\n\nThe lease of the harbour ends on 31 May 2027.\n\nThe rent is 900 euros.\n",
    );
    let export = |data: &str| {
        let ask = ["ask", "When does the lease of the harbour end?", "--sources", "docs", "--data", data];
        let answer = work.run(&[&ask, &FIXED[..]].concat()).good();
        let archive = format!("archive-{data}");
        work.run(&["ledger", "export", &archive, "--data", data]).good();
        (answer.text().to_owned(), binary::contents(&work.path(&archive)))
    };
    let (one, other) = (export("one"), export("other"));
    assert!(one.0.contains("The lease of the harbour ends on 31 May 2027. [lease.md:3]"), "{}", one.0);
    assert_eq!(one.0, other.0);
    assert!(one.1 == other.1, "the exports differ");
}

#[test]
fn what_nothing_answers_has_what_comes_closest() {
    let work = Work::new();
    std::fs::create_dir(work.path("docs")).unwrap();
    work.write("docs/pump.md", "# Pump\n\nAbove 7.1 mm/s, stop the pump at once.\n\nThe housing is blue.\n");
    let ask = ["ask", "At what vibration level must I switch the pump off immediately?", "--sources", "docs"];
    let done = work.run(&ask);
    assert_eq!((done.exit, done.err.as_str()), (Some(1), ""), "{}", done.text());
    let told = done.text();
    assert!(told.starts_with("The sources do not say.\n"), "{told}");
    let close = "What comes closest, and may be about something else:\n  Above 7.1 mm/s, stop the pump at once. [pump.md:3]\n";
    assert!(told.contains(close), "{told}");
    let done = work.run(&[&ask[..], &["--json"]].concat());
    let told: Value = serde_json::from_slice(&done.bytes).unwrap();
    assert_eq!((&told["answered"], &told["citations"]), (&json!(false), &json!([])));
    assert_eq!(told["closest"][0]["location"], "pump.md:3");
    assert_eq!(told["closest"][0]["question"], ask[1]);
}
