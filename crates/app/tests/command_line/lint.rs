//! `countersign lint`: codes of a bundle and of a ledger, references that name nothing, `explain` of a code.

use crate::binary::Work;
use serde_json::{Value, json};

fn call(options: &Value) -> Value {
    json!({"hard_call_id": "hc1", "response_mode": "closed_choice", "options": options})
}

fn options() -> Value {
    let option = |id: &str| json!({"option_id": id, "label": id, "effect": "continue", "consequence_text": "The work goes on."});
    json!([option("a"), option("b")])
}

fn bundle(record: &Value) -> String {
    json!({"schema_version": "1.0", "rows": [{"kind": "HardRevisionCall", "record": record}]}).to_string()
}

fn codes(answer: &Value) -> Vec<&str> {
    answer["codes"].as_array().unwrap().iter().map(|one| one["code"].as_str().unwrap()).collect()
}

#[test]
fn a_bundle_has_its_codes() {
    let work = Work::new();
    let done = work.feed(&["lint", "-"], bundle(&call(&json!([]))));
    let answer = done.exits(1).json();
    assert_eq!(codes(&answer), ["validation.hard_call_options_empty"]);
    let first = &answer["codes"][0];
    assert_eq!(
        (&first["row"], &first["path"], &first["severity"]),
        (&json!(1), &json!("/options"), &json!("error"))
    );
    let told = work.run(&["explain", "validation.hard_call_options_empty"]).good();
    assert!(told.text().contains("options"), "{}", told.text());
    // A rule that needs a member reads nothing where it is missing.
    let answer = work.feed(&["lint", "-"], bundle(&call(&options()))).exits(1).json();
    assert_eq!(codes(&answer), [""; 0]);
    assert_eq!(answer["shape_count"], answer["shape_errors"], "{answer}");
    let mut whole = call(&options());
    let policy = json!({
        "hard_call_id": "hc1", "blocking_scope": "outcome", "blocked_refs": [], "allowed_to_continue_refs": [],
        "context_visible_to_continuing_modules": "hard_call_pending_summary", "on_defer": "pause_scope",
        "on_timeout": "escalate", "schema_version": "1.0"
    });
    let more = json!({"prompt_text": "Which?", "pending_policy": policy, "created_at": "2026-01-01T00:00:00Z", "schema_version": "1.1"});
    whole.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    work.feed(&["lint", "-"], bundle(&whole)).good();
    whole["zz"] = json!(1);
    let answer = work.feed(&["lint", "-"], bundle(&whole)).good().json();
    assert_eq!(
        (&answer["shape_count"], &answer["shape_errors"]),
        (&json!(1), &json!(0)),
        "only --strict minds it"
    );
    work.feed(&["lint", "-", "--strict"], bundle(&whole)).exits(1);
}

/// A member that is not of its type would switch rules off: it fails by itself.
#[test]
fn what_is_not_of_its_type_fails() {
    let work = Work::new();
    for (kind, record, path) in [
        ("SourceRecord", json!({"taint_class": "totally_trusted"}), "/taint_class"),
        ("SourceRecord", json!({"data_class": "secret"}), "/data_class"),
        ("HardRevisionCall", json!({"response_mode": "closed_chioce", "options": []}), "/response_mode"),
        ("HardRevisionCall", json!({"response_mode": "closed_choice", "options": "none"}), "/options"),
        ("EvaluationFindingRecord", json!({"finding_id": 5}), "/finding_id"),
        ("EvaluationFindingRecord", json!({"current_state": "banana"}), "/current_state"),
        ("CostVector", json!({"components": {"usd": {"expected": "-1"}}}), "/components/usd/expected"),
        ("StepIdempotencyKey", json!({"step_kind": 7}), "/step_kind"),
        ("RevisionPlan", json!({"plan_risk_score": "0.9"}), "/plan_risk_score"),
    ] {
        let rows = json!({"schema_version": "1.0", "rows": [{"kind": kind, "record": record}]}).to_string();
        let answer = work.feed(&["lint", "-"], rows).exits(1).json();
        let wrong = answer["shape"].as_array().unwrap().iter().filter(|one| one["message"] != "is missing");
        let wrong: Vec<&Value> = wrong.collect();
        let [first] = wrong.as_slice() else { panic!("{answer}") };
        let told = (&first["severity"], &first["row"], &first["kind"], &first["path"]);
        assert_eq!(told, (&json!("error"), &json!(1), &json!(kind), &json!(path)), "{answer}");
    }
}

#[test]
fn a_whole_log_does_not_contradict_itself() {
    let work = Work::new();
    let edge = json!({
        "output_ref": "source_record:s2", "input_refs": ["src:s1", "user:u1"], "created_at": "2026-01-01T00:00:00Z"
    });
    let bundle =
        json!({"schema_version": "1.0", "rows": [{"kind": "DerivationEdge", "record": edge}]}).to_string();
    let answer = work.feed(&["lint", "-"], bundle.clone()).good().json();
    assert_eq!(answer.get("contradictions"), None, "it may be a part of a log");
    let answer = work.feed(&["lint", "-", "--whole"], bundle).exits(1).json();
    let first = &answer["contradictions"][0];
    assert_eq!((&first["row"], &first["what"]), (&json!(1), &json!("names_nothing")));
}

#[test]
fn a_ledger_has_its_codes() {
    let work = Work::new();
    let row = |stream: &str, record: &Value| {
        format!(
            "{}\n",
            json!({"stream": stream, "kind": "external.govern.hard_revision_call", "payload": {"record": record}})
        )
    };
    let other = |options: &Value| {
        let mut call = call(options);
        call["hard_call_id"] = json!("hc2");
        call
    };
    let note = format!("{}\n", json!({"stream": "s", "kind": "external.note", "payload": 1}));
    work.feed(&["ledger", "append", "-"], note + &row("run/1", &call(&options()))).good();
    let answer = work.run(&["lint", "--ledger"]).good().json();
    let clean = json!({
        "rows": 2, "governed": 1, "codes": [], "shape": [], "shape_count": 0, "shape_errors": 0, "is_cut": false, "not_looked_at": []
    });
    assert_eq!(answer, clean);
    work.feed(&["ledger", "append", "-"], row("run/2", &other(&json!([])))).good();
    let answer = work.run(&["lint", "--ledger"]).exits(1).json();
    assert_eq!((&answer["rows"], codes(&answer)), (&json!(3), vec!["validation.hard_call_options_empty"]));
    assert_eq!(answer["codes"][0]["row"], 3);
    work.run(&["lint"]).refused(2, "usage.invalid");
    work.run(&["lint", "--ledger", "bundle.json"]).refused(2, "usage.invalid");
}

fn appended(rows: &[Value]) -> Work {
    let work = Work::new();
    let rows: String = rows.iter().map(|row| format!("{row}\n")).collect();
    work.feed(&["ledger", "append", "-"], rows).good();
    work
}

fn governed(kind: &str, payload: &Value) -> Value {
    json!({"stream": "run/1", "kind": format!("external.govern.{kind}"), "payload": payload})
}

#[test]
fn a_ledger_is_held_to_types_and_to_itself_where_that_is_asked() {
    let work = appended(&[governed("hard_revision_call", &json!({"record": call(&options())}))]);
    work.run(&["lint", "--ledger"]).good();
    let answer = work.run(&["lint", "--ledger", "--strict"]).exits(1).json();
    assert_eq!(codes(&answer), [""; 0]);
    let first = &answer["shape"][0];
    assert_eq!((&first["row"], &first["kind"]), (&json!(1), &json!("HardRevisionCall")));
    assert!(first["path"].as_str().unwrap().starts_with('/'), "{first}");
    let edge = json!({"output_ref": "source_record:s2", "input_refs": ["src:s1"]});
    let work = appended(&[governed("derivation_edge", &json!({"record": edge}))]);
    assert_eq!(work.run(&["lint", "--ledger"]).good().json().get("contradictions"), None);
    let answer = work.run(&["lint", "--ledger", "--whole"]).exits(1).json();
    let first = &answer["contradictions"][0];
    assert_eq!((&first["row"], &first["what"]), (&json!(1), &json!("names_nothing")));
    work.run(&["lint", "--ledger", "--as-of", "today"]).refused(2, "usage.invalid");
}

/// What can't be checked is told, with its row and its place, and what stands behind it is checked all the same.
#[test]
fn a_row_that_holds_no_record_is_told() {
    let work = appended(&[
        governed("hard_revision_call", &json!({"note": 1})),
        governed("hard_revision_call", &json!(1)),
        governed("no_such_thing", &json!({"record": {}})),
        governed("hard_revision_call", &json!({"record": call(&json!([]))})),
    ]);
    let answer = work.run(&["lint", "--ledger"]).exits(1).json();
    let told: Vec<_> =
        answer["shape"].as_array().unwrap().iter().map(|one| (&one["row"], &one["path"])).collect();
    assert_eq!(told, [(&json!(1), &json!("/record")), (&json!(2), &json!(""))]);
    let told: Vec<_> =
        answer["codes"].as_array().unwrap().iter().map(|one| (&one["row"], &one["code"])).collect();
    let (phantom, empty) =
        (json!("validation.phantom_type_reference"), json!("validation.hard_call_options_empty"));
    assert_eq!(told, [(&json!(3), &phantom), (&json!(4), &empty)]);
    assert_eq!((&answer["rows"], &answer["governed"]), (&json!(4), &json!(4)));
}

/// Feedback for which nobody answers in time is late only once that time is over.
#[test]
fn it_is_looked_up_to_a_time() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../conformance/feedback/feedback_consumed_without_receipt/fires.json"
    );
    let bundle: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let row = |one: &Value| {
        let words = one["kind"].as_str().unwrap().chars();
        let snake: String = words
            .flat_map(|one| one.is_uppercase().then_some('_').into_iter().chain(one.to_lowercase()))
            .collect();
        governed(snake.trim_start_matches('_'), &json!({"record": one["record"]}))
    };
    let rows: Vec<Value> = bundle["rows"].as_array().unwrap().iter().map(row).collect();
    let work = appended(&rows);
    let late = "validation.feedback_consumed_without_receipt";
    for (arguments, is_late) in [
        (["lint", path, "--as-of", "2026-03-02T08:13:00Z"], true),
        (["lint", path, "--as-of", "2026-03-02T08:02:00Z"], false),
        (["lint", "--ledger", "--as-of", "2100-01-01T00:00:00Z"], true),
        (["lint", "--ledger", "--as-of", "2020-01-01T00:00:00Z"], false),
    ] {
        let answer = work.run(&arguments).json();
        assert_eq!(codes(&answer).contains(&late), is_late, "{arguments:?}: {answer}");
    }
}

/// What was written after the time up to which is looked is not there yet: neither its codes nor its shape.
#[test]
fn what_was_written_later_is_not_there_yet() {
    let row = |at: Option<&str>| {
        let mut row = json!({"kind": "HardRevisionCall", "record": call(&json!([]))});
        at.into_iter().for_each(|at| row["at"] = json!(at));
        row
    };
    let work = Work::new();
    for (at, as_of, is_there) in [
        (Some("2026-03-02T09:00:00Z"), Some("2026-03-02T08:00:00Z"), false),
        (Some("2026-03-02T09:00:00Z"), Some("2026-03-02T09:00:00Z"), true),
        (Some("2026-03-02T09:00:00Z"), None, true),
        (None, Some("2026-03-02T08:00:00Z"), true),
    ] {
        let mut bundle =
            json!({"schema_version": "1.0", "rows": [row(Some("2026-03-02T07:00:00Z")), row(at)]});
        as_of.into_iter().for_each(|as_of| bundle["as_of"] = json!(as_of));
        let answer = work.feed(&["lint", "-"], bundle.to_string()).exits(1).json();
        for member in ["codes", "shape"] {
            let last = answer[member].as_array().unwrap().iter().any(|one| one["row"] == json!(2));
            assert_eq!(last, is_there, "{member} of {bundle}: {answer}");
        }
    }
    let early = json!({"schema_version": "1.0", "rows": [row(Some("2026-03-02T09:00:00Z"))]}).to_string();
    let answer = work.feed(&["lint", "-", "--as-of", "2020-01-01T00:00:00Z"], early).good().json();
    assert_eq!((codes(&answer).len(), &answer["shape_count"]), (0, &json!(0)));
    let work = appended(&[governed("hard_revision_call", &json!({"record": call(&json!([]))}))]);
    let answer = work.run(&["lint", "--ledger", "--as-of", "2020-01-01T00:00:00Z"]).good().json();
    assert_eq!((codes(&answer).len(), &answer["governed"]), (0, &json!(0)));
    let answer = work.run(&["lint", "--ledger", "--as-of", "2100-01-01T00:00:00Z"]).exits(1).json();
    assert_eq!(codes(&answer), ["validation.hard_call_options_empty"]);
}

#[test]
fn what_is_no_bundle_is_told_in_a_sentence() {
    let work = Work::new();
    let told = work.feed(&["lint", "-"], "[]").refused(2, "bundle.invalid");
    assert_eq!(told.message, "the bundle: must be an object");
    for at in ["2026-03-02T09:00:00+01:00", "2026-03-02T09:00:00-00:00"] {
        let row = json!({"kind": "HardRevisionCall", "at": at, "record": {}});
        let bundle = json!({"schema_version": "1.0", "rows": [row]}).to_string();
        work.feed(&["lint", "-"], bundle).refused(2, "bundle.invalid");
        let bundle = json!({"schema_version": "1.0", "as_of": at, "rows": []}).to_string();
        work.feed(&["lint", "-"], bundle).refused(2, "bundle.invalid");
    }
}

/// The bundle of the documentation has the one code that it is there for, and is as types have it.
#[test]
fn the_bundle_of_the_documentation_is_whole() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/governance.md");
    let page = std::fs::read_to_string(page).unwrap();
    let bundle = page.split("```json").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let answer = Work::new().feed(&["lint", "-"], bundle).exits(1).json();
    assert_eq!(codes(&answer), ["validation.hard_call_options_empty"]);
    assert_eq!(answer["shape_count"], json!(0), "{answer}");
}
