//! `countersign enforce`: one draft, one contract, at most one repair.

use crate::binary::{DATA, Done, FIXED, Work};
use serde_json::{Value, json};
use std::os::unix::fs::symlink;

const GOOD: &str = "```python\n\"\"\"Adds.\"\"\"\n\nimport logging\n\nlogger = logging.getLogger(__name__)\n\n\ndef add(first, second):\n    \
                    \"\"\"Add.\"\"\"\n    return first + second\n```\n";

fn bad() -> String {
    GOOD.replace("return first + second", "return eval(\"first\")")
}

fn input(draft: &str) -> Value {
    json!({
        "draft": draft, "codespec_path": "builtin:python", "task": { "language": "python" },
        "stop": { "single_file": true, "filename": "main.py", "no_prose": true }, "prompt": "Add two numbers.",
    })
}

fn enforce(work: &Work, input: &Value, more: &[&str]) -> Done {
    let args = [&["enforce", "-"], more, &FIXED[..]].concat();
    work.feed(&args, input.to_string())
}

/// A model that says these, one after the other.
fn scripted(work: &Work, replies: &[Value]) {
    let lines: String = replies.iter().map(|reply| format!("{reply}\n")).collect();
    work.write("replies.jsonl", lines);
    let add = ["models", "add", "demo", "--provider", "scripted", "--file", "replies.jsonl", "--replace"];
    work.run(&add).good();
}

/// The envelope and its payload, where the exit code says FAIL.
fn failed(done: Done, reason: &str) -> Value {
    let envelope = done.exits(1).json();
    assert_eq!((&envelope["escalate"], &envelope["reason"]), (&json!(true), &json!(reason)));
    assert_eq!(envelope["payload"]["status"], "FAIL");
    assert!(!envelope["payload"]["violations"].as_array().unwrap().is_empty());
    envelope["payload"].clone()
}

#[test]
fn a_draft_that_fits_passes() {
    let work = Work::new();
    let done = enforce(&work, &input(GOOD), &[]).good();
    let envelope = done.json();
    let keys: Vec<&str> =
        done.text().split("\":").map(|part| part.rsplit('"').next().unwrap()).take(10).collect();
    let order = [
        "agent",
        "goal",
        "timestamp",
        "request_id",
        "turn_id",
        "source",
        "version",
        "escalate",
        "reason",
        "provenance",
    ];
    assert_eq!(keys, order);
    assert_eq!(envelope["agent"], "A5_SchemaFormatEnforcer");
    assert_eq!((&envelope["escalate"], &envelope["reason"]), (&json!(false), &Value::Null));
    let payload = &envelope["payload"];
    assert_eq!((&payload["status"], &payload["violations"]), (&json!("PASS"), &json!([])));
    assert_eq!(payload["artifact"], json!({ "filename": "main.py", "code_fenced": GOOD.trim_end() }));
    work.write("envelope.json", done.text());
    work.run(&["envelope", "validate", "envelope.json"]).good();
    assert_eq!(enforce(&work, &input(GOOD), &[]).text(), done.text());
    assert!(!work.path(DATA).exists());
}

#[test]
fn without_a_model_nothing_is_repaired() {
    let work = Work::new();
    let mut input = input(&bad());
    input["request_id"] = json!("r-7");
    input["turn_id"] = json!(42);
    let done = enforce(&work, &input, &[]);
    let envelope = done.clone().exits(1).json();
    assert_eq!((&envelope["request_id"], &envelope["turn_id"]), (&json!("r-7"), &json!(42)));
    let payload = failed(done, "repair_unavailable");
    let violation = &payload["violations"][0];
    assert_eq!((&violation["rule"], &violation["line"]), (&json!("forbidden_code"), &json!(11)));
    assert_eq!(payload["repair"]["outcome"], "unavailable");
    assert_eq!(payload["hashes"]["draft_sha256"], payload["hashes"]["final_sha256"]);
}

#[test]
fn a_repair_is_asked_for_once() {
    let work = Work::new();
    scripted(&work, &[json!(GOOD)]);
    let envelope = enforce(&work, &input(&bad()), &["--model", "demo"]).good().json();
    assert_eq!(envelope["payload"]["repair"]["outcome"], "applied");
    assert_eq!(envelope["payload"]["artifact"]["code_fenced"], GOOD.trim_end());
    // The second reply is never heard.
    scripted(&work, &[json!(bad()), json!(GOOD)]);
    let payload = failed(enforce(&work, &input(&bad()), &["--model", "demo"]), "repair_insufficient");
    assert_eq!(payload["repair"]["outcome"], "insufficient");
    // Nobody is asked where nothing is wrong.
    scripted(&work, &[json!({ "error": "model.busy" })]);
    let envelope = enforce(&work, &input(GOOD), &["--model", "demo"]).good().json();
    assert_eq!(envelope["payload"]["repair"], Value::Null);
}

#[test]
fn a_bad_repair_fails_with_the_drafts_report() {
    let work = Work::new();
    let draft = failed(enforce(&work, &input(&bad()), &[]), "repair_unavailable");
    for (reply, outcome) in [
        (json!(""), "empty"),
        (json!("Sorry, I can't."), "unparsable"),
        (json!("```python\ndef f(\n```"), "unparsable"),
        (json!(bad().replace("import logging", "import logging\nimport socket")), "worse"),
        (json!({ "error": "model.busy" }), "failed"),
        (json!({ "error": "model.timeout" }), "late"),
    ] {
        scripted(&work, &[reply, json!(GOOD)]);
        let reason = format!("repair_{outcome}");
        let payload = failed(enforce(&work, &input(&bad()), &["--model", "demo"]), &reason);
        assert_eq!(payload["repair"]["outcome"], outcome);
        assert_eq!(payload["violations"], draft["violations"], "{outcome}");
        assert_eq!(payload["hashes"], draft["hashes"], "{outcome}");
    }
}

#[test]
fn a_model_that_is_elsewhere_is_not_asked() {
    let work = Work::new();
    let add = [
        "models",
        "add",
        "far",
        "--provider",
        "openai",
        "--model",
        "m",
        "--base-url",
        "http://127.0.0.1:9/v1",
    ];
    work.run(&add).good();
    enforce(&work, &input(&bad()), &["--model", "far"]).refused_silently(1, "leaving.local_only");
    enforce(&work, &input(&bad()), &["--model", "nobody"]).refused_silently(2, "model.unknown");
}

#[test]
fn the_contract_comes_from_a_file() {
    let work = Work::new();
    let spec = work.run(&["enforce", "--print-codespec", "python"]).good();
    std::fs::create_dir(work.path("specs")).unwrap();
    work.write("specs/CodeSpec.md", spec.text());
    let mut input = input(GOOD);
    input["codespec_path"] = json!("specs/CodeSpec.md");
    let envelope = enforce(&work, &input, &[]).good().json();
    let file = &envelope["provenance"]["files"][0];
    assert_eq!(file["path"], "specs/CodeSpec.md");
    assert_eq!(file["sha256"], envelope["payload"]["hashes"]["spec_sha256"]);
    input["codespec_sha256"] = file["sha256"].clone();
    enforce(&work, &input, &[]).good();
    work.write("envelope.json", envelope.to_string());
    work.run(&["envelope", "validate", "envelope.json", "--files", "."]).good();
    // One letter more, and the pin does not hold.
    work.write("specs/CodeSpec.md", format!("{}\n", spec.text()));
    enforce(&work, &input, &[]).refused_silently(2, "field.conflict");
    let rust = work.run(&["enforce", "--print-codespec", "rust"]).good();
    assert!(rust.text().contains("```codespec-rust"));
    work.run(&["enforce", "--print-codespec", "go"]).refused_silently(2, "usage.invalid");
}

#[test]
fn what_is_wrong_with_the_contract_is_told_with_its_line() {
    let work = Work::new();
    work.write("spec.md", "# Spec\n\n```codespec-python\nversion = \"1\"\n[import]\n```\n");
    let mut input = input(GOOD);
    input["codespec_path"] = json!("spec.md");
    let refusal = enforce(&work, &input, &[]).refused_silently(2, "field.invalid");
    assert_eq!(refusal.message, "spec.md: /codespec_path: line 5: there is no rule import");
    assert_eq!(refusal.details["line"], 5);
    for path in ["nothing.md", ".", "outside.md"] {
        symlink("/etc/hostname", work.path("outside.md")).ok();
        input["codespec_path"] = json!(path);
        enforce(&work, &input, &[]).refused_silently(2, "file.unreadable");
    }
    work.write("spec.md", b"\xFF");
    input["codespec_path"] = json!("spec.md");
    enforce(&work, &input, &[]).refused_silently(2, "json.not_utf8");
    work.write("spec.md", "x".repeat((1 << 20) + 1));
    enforce(&work, &input, &[]).refused_silently(2, "field.invalid");
}

#[test]
fn what_is_wrong_with_the_input_is_told() {
    let work = Work::new();
    let mut wrong = input(GOOD);
    wrong["task"]["lang"] = json!("python");
    wrong["codespec_path"] = json!("/etc/passwd");
    let refusal = enforce(&work, &wrong, &[]).refused_silently(2, "field.invalid");
    let paths: Vec<&str> = refusal.details["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["path"].as_str().unwrap())
        .collect();
    assert_eq!(paths, ["/codespec_path", "/task/lang"]);
    work.feed(&["enforce", "-"], "{").refused_silently(2, "json.truncated");
    work.run(&["enforce", "nothing.json"]).refused_silently(2, "file.unreadable");
    work.run(&["enforce"]).refused_silently(2, "usage.invalid");
}

#[test]
fn rust_passes_too() {
    let work = Work::new();
    let mut input = input("```rust\n//! Adds.\n\n/// Adds.\npub fn add(a: u8, b: u8) -> u8 { a+b }\n```");
    input["task"] = json!({ "language": "rust", "runtime": "2024" });
    input["stop"]["filename"] = json!("main.rs");
    input["codespec_path"] = json!("builtin:rust");
    let payload = enforce(&work, &input, &[]).good().json()["payload"].clone();
    let code = "```rust\n//! Adds.\n\n/// Adds.\npub fn add(a: u8, b: u8) -> u8 {\n    a + b\n}\n```";
    assert_eq!(payload["artifact"]["code_fenced"], code);
    assert_eq!(payload["style_fixes"][0]["rule"], "format");
}
