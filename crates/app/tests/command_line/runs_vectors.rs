//! Every document of the contract's origin through `process`, and every way that a run can end.
//! Owns: what stays as it was, and that no two kinds of end look alike. Must not: read a document but as the product does.

use crate::binary::{Done, Work};
use crate::runs_crash::{Desk, completed, ended, waits};
use countersign_record::json::{self, Json};
use serde_json::{Value, json};

/// The stages that the documents stand at, each followed by one more.
fn desk() -> Desk {
    let names = ["perception", "intent", "planner", "executor", "synthesizer", "critic", "integration"];
    let stage = |name: &str| {
        Desk::stage(name, "do", &format!("output_key = \"{name}_did\"\ndefault_next = \"last\"\n"))
    };
    let mut stages: String = names.map(stage).concat();
    stages.push_str(&Desk::stage("last", "do", ""));
    Desk::of(&stages)
}

/// What is nobody's business but its writer's: numbers that no double holds, odd letters.
const FOREIGN: &str = "\"x_foreign\":{\"b\":[null,{\"to_dict\":0.10}],\"e\":1e400,\"m\":-0,\"n\":9007199254740993,\"s\":\"<&>\u{2028}\u{1f980}\",\"z\":1.50}";

/// The documents, by name, each with something foreign added.
fn vectors() -> Vec<(String, String)> {
    let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/../record/tests/data/jeeves");
    let mut all: Vec<(String, String)> = Vec::new();
    for file in crate::binary::files(std::path::Path::new(dir)) {
        let name = file.file_stem().unwrap().to_str().unwrap().to_owned();
        let text = std::fs::read_to_string(&file).unwrap();
        let body = text.trim_end().strip_suffix('}').unwrap().trim_end();
        all.push((name, format!("{body},{FOREIGN}}}")));
    }
    assert_eq!(all.len(), 19);
    all
}

/// What becomes of a document, from what its writer called it.
#[derive(Debug, PartialEq)]
enum Expected {
    Goes,
    Waits,
    IsOver,
}

fn expected(name: &str) -> Expected {
    match name {
        _ if name.contains("_pending") || name == "c_02_agent_review" => Expected::Waits,
        _ if name.contains("_terminated") => Expected::IsOver,
        _ => Expected::Goes,
    }
}

/// What a stage changes, and nothing else does.
const GOVERNED: [&str; 11] = [
    "outputs",
    "current_stage",
    "stage_order",
    "agent_hop_count",
    "terminal_reason",
    "terminated",
    "termination_reason",
    "completed_at",
    "metadata",
    "processing_history",
    "interrupt",
];
/// Words of other dialects, which have one form with us.
const RENAMED: [&str; 2] = ["loop_feedback", "terminal_reason"];

fn text(value: &Json) -> String {
    json::to_text(value).unwrap()
}

/// Everything of a part is in the whole, byte for byte.
fn holds(whole: &Json, part: &Json, place: &str) {
    match (whole, part) {
        (Json::Object(whole), Json::Object(part)) => {
            for (name, value) in part.iter() {
                let found = whole.get(name).unwrap_or_else(|| panic!("{place}/{name} is lost"));
                assert_eq!(text(found), text(value), "{place}/{name}");
            }
        }
        (Json::Array(whole), Json::Array(part)) => {
            assert!(whole.len() >= part.len(), "{place}");
            for (at, (found, value)) in whole.iter().zip(part).enumerate() {
                holds(found, value, &format!("{place}/{at}"));
            }
        }
        (Json::Array(_) | Json::Object(_), Json::Null) => {}
        (whole, part) => assert_eq!(text(whole), text(part), "{place}"),
    }
}

/// Nothing of a document is lost in what was made of it.
fn kept(name: &str, before: &str, done: &Done, is_touched: bool) -> Json {
    assert!(done.text().contains(FOREIGN), "{name}: {}", done.text());
    let (before, after) = (json::parse(before.as_bytes()).unwrap(), json::parse(&done.bytes).unwrap());
    for (member, value) in before.as_object().unwrap().iter() {
        let place = format!("{name}/{member}");
        let found = after.get(member);
        match found {
            None => assert!(RENAMED.contains(&member), "{place} is lost"),
            Some(_) if RENAMED.contains(&member) && !is_touched => {}
            // What is there is still there; more may be.
            Some(found) if ["outputs", "metadata", "processing_history"].contains(&member) => {
                holds(found, value, &place)
            }
            Some(_) if is_touched && GOVERNED.contains(&member) => {}
            Some(found) if *value == Json::Null => {
                assert!(matches!(found, Json::Null | Json::Array(_) | Json::Object(_)), "{place}");
            }
            Some(found) => assert_eq!(text(found), text(value), "{place}"),
        }
    }
    after
}

#[test]
fn every_document_of_the_origin_goes_through_and_loses_nothing() {
    for (name, document) in vectors() {
        for step in [&["--step"][..], &[]] {
            let desk = desk();
            desk.work.write("envelope.json", &document);
            let args = ["process", "envelope.json", "--pipeline", "pipeline.toml", "--allow-programs"];
            let done = desk.work.run(&[&args[..], step].concat());
            let expected = expected(&name);
            let after = kept(&name, &document, &done, expected == Expected::Goes);
            let runs = if expected == Expected::Goes { 1 } else { 0 };
            match expected {
                Expected::Goes => {
                    assert_eq!((done.exit, done.err.as_str()), (Some(0), ""), "{name}");
                    let whole = step.is_empty();
                    assert_eq!(after.get("terminated"), Some(&Json::Bool(whole)), "{name}");
                    assert_eq!(desk.calls().len(), if whole { 2 } else { 1 }, "{name}");
                    let run =
                        after.get("metadata").unwrap().get("run_id").unwrap().as_str().unwrap().to_owned();
                    // What is kept is what was handed out, byte for byte.
                    let shown = desk.work.run(&["runs", "show", &run, "--json"]).good();
                    assert!(shown.text().contains(done.text().trim_end()), "{name}: {}", shown.text());
                }
                Expected::Waits => drop(done.refused(3, "run.waiting")),
                Expected::IsOver => drop(done.refused(1, "run.over")),
            }
            assert_eq!(desk.runs().len(), runs, "{name}");
        }
    }
}

#[test]
fn a_pretty_document_is_the_same_document() {
    let desk = desk();
    for (name, document) in vectors().into_iter().filter(|(name, _)| expected(name) != Expected::Goes) {
        desk.work.write("envelope.json", &document);
        let [plain, pretty] = [&[][..], &["--pretty"]]
            .map(|more| desk.work.run(&[&["process", "envelope.json"], more].concat()));
        assert_eq!((plain.text().lines().count(), pretty.exit), (1, plain.exit), "{name}");
        assert!(pretty.text().lines().count() > 20, "{name}");
        let [plain, pretty] = [plain, pretty].map(|done| text(&json::parse(&done.bytes).unwrap()));
        assert_eq!(plain, pretty, "{name}");
    }
}

#[test]
fn what_is_out_of_bounds_or_invalid_is_told_apart() {
    let desk = desk();
    let read = |name: &str| -> Value {
        let path = format!("{}/../record/tests/data/jeeves/{name}.json", env!("CARGO_MANIFEST_DIR"));
        serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
    };
    for name in ["01_fresh.go", "02_mid_run.py", "13_multi_stage.seed", "c_01_running"] {
        for (members, reason) in [
            (json!({"iteration": 4, "max_iterations": 3}), "max_iterations_exceeded"),
            (json!({"llm_call_count": 10, "max_llm_calls": 10}), "max_llm_calls_exceeded"),
            (json!({"agent_hop_count": 21, "max_agent_hops": 21}), "max_agent_hops_exceeded"),
            (
                json!({"iteration": 9, "max_iterations": 3, "agent_hop_count": 99, "max_agent_hops": 21}),
                "max_iterations_exceeded",
            ),
        ] {
            let mut document = read(name);
            document.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
            let envelope = ended(&desk.process(&document, &[]), "run.bound", reason);
            assert!(envelope["completed_at"].is_string() && envelope["termination_reason"].is_string());
            for (member, value) in members.as_object().unwrap() {
                assert_eq!(&envelope[member], value, "{name}: a bound that is hit changes no counter");
            }
        }
        for (member, value) in [
            ("iteration", json!(-1)),
            ("terminated", json!("no")),
            ("llm_call_count", json!(1.5)),
            ("envelope_id", json!("")),
            ("outputs", json!([])),
            ("terminal_reason", json!("because")),
            ("received_at", json!("yesterday")),
        ] {
            let mut document = read(name);
            document[member] = value;
            let refused = desk.process(&document, &[]).refused_silently(2, "envelope.invalid");
            let path = refused.details["errors"][0]["path"].as_str().unwrap().to_owned();
            assert_eq!(path, format!("/{member}"), "{name}");
        }
    }
    assert_eq!(desk.calls(), [""; 0], "nobody was called for any of that");
}

/// An agent that hands over this.
fn saying(payload: Value) -> String {
    json!({"payload": payload}).to_string()
}

#[test]
fn the_ends_that_only_agents_lead_to() {
    let input = json!({"raw_input": "x"});
    // Policy says no, in the words of an agent.
    let denied = json!({"escalate": true, "reason": "denied_by_policy", "payload": {"message": "not this"}});
    let desk = Desk::new(&[("one", &denied.to_string()), ("two", "do")]);
    let envelope = ended(&desk.process(&input, &[]), "run.denied", "denied_by_policy");
    assert_eq!((&envelope["termination_reason"], desk.calls().len()), (&json!("not this"), 1));
    assert_eq!(envelope["processing_history"][0]["status"], "denied");
    // The critic has it done again as often as there are iterations.
    let reintent = saying(json!({"verdict": "reintent", "feedback": "no"}));
    let again = "rules = [{ key = \"verdict\", value = \"reintent\", target = \"critic\" }]\n";
    let desk =
        Desk::of(&format!("[limits]\nmax_critic_fires = 9\n{}", Desk::stage("critic", &reintent, again)));
    let given = json!({"raw_input": "x", "max_iterations": 2});
    let envelope = ended(&desk.process(&given, &[]), "run.bound", "max_iterations_exceeded");
    assert_eq!((&envelope["iteration"], desk.calls().len()), (&json!(2), 3));
    assert_eq!(envelope["critic_feedback"], json!(["no", "no", "no"]));
    // Goals are left, and there is no stage for them.
    let intent = saying(json!({"intent": "all", "goals": ["a", "b", "c"]}));
    let next = saying(json!({"verdict": "next_stage", "satisfied_goals": ["a"]}));
    let onward = "rules = [{ key = \"verdict\", value = \"next_stage\", target = \"critic\" }]\n";
    let stages =
        Desk::stage("intent", &intent, "default_next = \"critic\"\n") + &Desk::stage("critic", &next, onward);
    let desk = Desk::of(&stages);
    let given = json!({"raw_input": "x", "max_stages": 2});
    let envelope = ended(&desk.process(&given, &[]), "run.bound", "max_iterations_exceeded");
    assert_eq!(
        (&envelope["current_stage_number"], &envelope["remaining_goals"]),
        (&json!(2), &json!(["b", "c"]))
    );
    assert_eq!(envelope["goal_completion_status"], json!({"a": "satisfied", "b": "pending", "c": "pending"}));
    assert!(envelope["termination_reason"].as_str().unwrap().contains("2 stages"), "{envelope}");
    // A failure that has a stage of its own ends nothing.
    let failed = json!({"escalate": true, "reason": "tool_failed_fatally", "payload": {"error_type": "E", "message": "m"}});
    let stages =
        Desk::stage("one", &failed.to_string(), "error_next = \"mend\"\n") + &Desk::stage("mend", "do", "");
    let desk = Desk::of(&stages);
    let envelope = completed(&desk.process(&input, &[]));
    assert_eq!((&envelope["errors"][0]["message"], desk.calls().len()), (&json!("m"), 2));
    assert_eq!(envelope["errors"][0]["recoverable"], json!(false));
    // And what waits has its word, and has not ended.
    for (kind, reason) in [("ask", "clarification_required"), ("leave", "confirmation_required")] {
        let desk = Desk::new(&[("one", kind)]);
        let (envelope, stop) = waits(&desk.process(&input, &[]));
        assert_eq!((&envelope["terminated"], &envelope["terminal_reason"]), (&json!(false), &json!(reason)));
        assert_eq!(stop.reason, reason);
        assert_eq!(envelope["completed_at"], Value::Null);
    }
}

#[test]
fn a_pipeline_that_has_no_such_stage_does_nothing() {
    let work = Work::new();
    let given = json!({"raw_input": "x", "current_stage": "elsewhere"});
    let done = work.feed(&["process"], given.to_string());
    assert!(done.refused(1, "run.stage").message.contains("elsewhere"));
    let envelope: Value = serde_json::from_slice(&done.bytes).unwrap();
    assert_eq!((&envelope["terminated"], &envelope["current_stage"]), (&json!(false), &json!("elsewhere")));
    assert_eq!(envelope["processing_history"], json!([]));
}
