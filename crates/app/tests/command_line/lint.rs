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
    let answer = work.feed(&["lint", "-"], bundle(&call(&options()))).good().json();
    assert_eq!(codes(&answer), [""; 0]);
    assert!(answer["shape_count"].as_u64().unwrap() > 0, "members are missing, which only --strict minds");
    assert_eq!(
        codes(&work.feed(&["lint", "-", "--strict"], bundle(&call(&options()))).exits(1).json()),
        [""; 0]
    );
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
    assert_eq!(answer, json!({"rows": 2, "governed": 1, "codes": []}));
    work.feed(&["ledger", "append", "-"], row("run/2", &other(&json!([])))).good();
    let answer = work.run(&["lint", "--ledger"]).exits(1).json();
    assert_eq!((&answer["rows"], codes(&answer)), (&json!(3), vec!["validation.hard_call_options_empty"]));
    assert_eq!(answer["codes"][0]["row"], 3);
    work.run(&["lint"]).refused(2, "usage.invalid");
    work.run(&["lint", "--ledger", "bundle.json"]).refused(2, "usage.invalid");
}
