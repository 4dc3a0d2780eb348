//! `countersign envelope`: what is valid, what is not and where, and one hash for one meaning.

use crate::binary::{self, FIXED, Work};
use countersign_record::digest::Digest;
use serde_json::{Value, json};
use std::path::Path;

const REQUIREMENTS: &[u8] = b"The lease ends in May.\n";

fn sha256(bytes: &[u8]) -> String {
    Digest::of(bytes).to_string()
}

/// The example of SR2-JSON-01 with real hashes where it has dots, and the hash that SR2-JSON-03 asks of history.
fn example() -> Value {
    json!({
        "agent": "A2_PromptShaper",
        "goal": "propose_headers",
        "timestamp": "2025-09-07T12:34:56Z",
        "request_id": "r-20250907-123456-001",
        "turn_id": 42,
        "source": "internal",
        "version": "1.0",
        "escalate": false,
        "reason": null,
        "provenance": {
            "files": [{"path": "docs/Req.md", "sha256": sha256(REQUIREMENTS), "mtime": 1694000000}],
            "history_refs": [{"id": "E:12345", "hash": sha256(b"turn"), "score": 0.82}],
            "eligibility": ["docs/Req.md", "notes/NVH.md"]
        },
        "payload": {"headers": ["Scope", "Term"]}
    })
}

/// Sets the member at a pointer.
fn with(pointer: &str, value: Value) -> Value {
    let mut document = example();
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    document.pointer_mut(parent).unwrap().as_object_mut().unwrap().insert(name.into(), value);
    document
}

fn without(pointer: &str) -> Value {
    let mut document = example();
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    document.pointer_mut(parent).unwrap().as_object_mut().unwrap().remove(name).expect("the member is there");
    document
}

/// Validates; gives back `code path` of every error.
fn errors(work: &Work, document: &Value) -> Vec<String> {
    let done = work.feed(&["envelope", "validate", "-", "--json", "--kind", "sr2"], document.to_string());
    let report = done.json();
    let errors: Vec<String> = report["errors"].as_array().unwrap().iter().map(one_error).collect();
    let exit = i32::from(!errors.is_empty());
    let report = done.exits(exit).json();
    assert_eq!(report["valid"], errors.is_empty());
    assert_eq!(report["sha256"].is_string(), errors.is_empty());
    assert_eq!(report["kind"], "sr2");
    errors
}

fn one_error(error: &Value) -> String {
    assert!(error["message"].as_str().unwrap().len() > 5);
    format!("{} {}", error["code"].as_str().unwrap(), error["path"].as_str().unwrap())
}

#[test]
fn the_seeds_example_is_valid() {
    let work = Work::new();
    assert_eq!(errors(&work, &example()), [""; 0]);
    work.write("handoff.json", example().to_string());
    // Computed with Python's json and hashlib.
    let digest = "496a121ee3d1d7f3d8e145fb5b93987e71a4af7d164a5dede9cfdcae62013c97";
    assert_eq!(work.run(&["envelope", "hash", "handoff.json"]).good().text(), format!("{digest}\n"));
    let done = work.run(&["envelope", "validate", "handoff.json"]).good();
    assert_eq!(done.text(), format!("valid sr2 envelope  sha256 {digest}\n"));
    // What may be left out.
    for pointer in
        ["/escalate", "/reason", "/provenance/files", "/provenance/history_refs", "/provenance/eligibility"]
    {
        assert_eq!(errors(&work, &without(pointer)), [""; 0], "{pointer}");
    }
    for pointer in ["/provenance/files/0/mtime", "/provenance/history_refs/0/score"] {
        assert_eq!(errors(&work, &without(pointer)), [""; 0], "{pointer}");
    }
    assert!(!work.path(binary::DATA).exists());
}

#[test]
fn every_required_field_is_required() {
    let work = Work::new();
    let texts = ["/agent", "/goal", "/timestamp", "/request_id", "/source", "/version"];
    let others = ["/turn_id", "/provenance", "/payload"];
    let nested = [
        "/provenance/files/0/path",
        "/provenance/files/0/sha256",
        "/provenance/history_refs/0/id",
        "/provenance/history_refs/0/hash",
    ];
    for pointer in texts.iter().chain(&others).chain(&nested) {
        assert_eq!(errors(&work, &without(pointer)), [format!("field.missing {pointer}")]);
        assert_eq!(errors(&work, &with(pointer, Value::Null)), [format!("field.wrong_type {pointer}")]);
        let wrong = if *pointer == "/turn_id" { json!("42") } else { json!(42) };
        assert_eq!(errors(&work, &with(pointer, wrong)), [format!("field.wrong_type {pointer}")]);
        assert_eq!(errors(&work, &with(pointer, json!([]))), [format!("field.wrong_type {pointer}")]);
    }
    for pointer in texts.iter().chain(&nested) {
        for empty in ["", " \t"] {
            assert_eq!(errors(&work, &with(pointer, json!(empty))), [format!("field.invalid {pointer}")]);
        }
    }
    // Everything that is wrong is said at once.
    let document = json!({"agent": "", "payload": []});
    let expected = [
        "field.invalid /agent",
        "field.missing /goal",
        "field.missing /request_id",
        "field.missing /version",
        "field.missing /timestamp",
        "field.missing /turn_id",
        "field.missing /source",
        "field.missing /provenance",
        "field.wrong_type /payload",
    ];
    assert_eq!(errors(&work, &document), expected);
}

#[test]
fn values_that_are_not_allowed() {
    let work = Work::new();
    let check =
        |document: Value, expected: &str| assert_eq!(errors(&work, &document), [expected], "{document}");
    let mut escalated = without("/reason");
    escalated["escalate"] = json!(true);
    check(escalated.clone(), "field.missing /reason");
    escalated["reason"] = Value::Null;
    check(escalated.clone(), "field.missing /reason");
    escalated["reason"] = json!("schema_violation");
    assert_eq!(errors(&work, &escalated), [""; 0]);
    escalated["reason"] = json!("because it was late");
    check(escalated, "field.invalid /reason");
    check(with("/escalate", json!("false")), "field.wrong_type /escalate");
    check(with("/escalate", Value::Null), "field.wrong_type /escalate");
    check(with("/source", json!("Internal")), "field.invalid /source");
    check(with("/timestamp", json!("2025-09-07 12:34:56")), "field.invalid /timestamp");
    check(with("/timestamp", json!("2025-02-30T00:00:00Z")), "field.invalid /timestamp");
    check(with("/turn_id", json!(-1)), "field.invalid /turn_id");
    check(with("/turn_id", json!(1.5)), "field.invalid /turn_id");
    check(with("/golas", json!("x")), "field.unknown /golas");
    check(with("/a~1b", json!("x")), "field.unknown /a~01b");
    check(with("/provenance/file", json!([])), "field.unknown /provenance/file");
    check(with("/provenance/files/0/size", json!(1)), "field.unknown /provenance/files/0/size");
    check(
        with("/provenance/history_refs/0/sha256", json!("")),
        "field.unknown /provenance/history_refs/0/sha256",
    );
    check(with("/provenance/files/0/sha256", json!("...")), "field.invalid /provenance/files/0/sha256");
    check(
        with("/provenance/files/0/sha256", json!(sha256(b"").to_uppercase())),
        "field.invalid /provenance/files/0/sha256",
    );
    check(with("/provenance/eligibility", json!(["a", 1])), "field.wrong_type /provenance/eligibility/1");
    check(with("/provenance/files", json!(["docs/Req.md"])), "field.wrong_type /provenance/files/0");
}

#[test]
fn a_hostile_document_forges_no_line() {
    let work = Work::new();
    let name = "x\nvalid sr2 envelope\u{1b}[2J\u{9b}31m\u{202e}";
    let text = with(&format!("/{name}"), json!(1)).to_string();
    let done = work.feed(&["envelope", "validate", "-"], text).exits(1);
    let shown = "x\\nvalid sr2 envelope\\u{1b}[2J\\u{9b}31m\\u{202e}";
    let expected =
        format!("field.unknown: /{shown}: there is no such field\nnot a valid sr2 envelope: 1 error\n");
    assert_eq!(done.text(), expected);
}

#[test]
fn an_inexact_number_is_refused() {
    let work = Work::new();
    let text = example()
        .to_string()
        .replace("{\"headers\":", "{\"n\":9007199254740993,\"a/b\":[1,{},0.5,1e400],\"headers\":");
    let done = work.feed(&["envelope", "validate", "-", "--json"], &text).exits(1);
    let errors: Vec<String> = done.json()["errors"].as_array().unwrap().iter().map(one_error).collect();
    assert_eq!(errors, ["number.inexact /payload/a~1b/3", "number.inexact /payload/n"]);
    for command in ["canonical", "hash"] {
        let refusal = work.feed(&["envelope", command, "-"], &text).refused_silently(2, "number.inexact");
        assert_eq!(
            (&refusal.details["literal"], &refusal.details["path"]),
            (&json!("1e400"), &json!("/payload/a~1b/3"))
        );
    }
    for literal in ["1e400", "-1e-400", "0.1000000000000000055511151231257827", &"9".repeat(999)] {
        let text = format!("{{\"n\":{literal}}}");
        work.feed(&["envelope", "canonical", "-"], &text).refused_silently(2, "number.inexact");
    }
}

#[test]
fn files_are_checked() {
    let work = Work::new();
    std::fs::create_dir_all(work.path("task/docs")).unwrap();
    work.write("task/docs/Req.md", REQUIREMENTS);
    work.write("outside.md", REQUIREMENTS);
    std::os::unix::fs::symlink("../../outside.md", work.path("task/docs/link.md")).unwrap();
    std::os::unix::fs::symlink("Req.md", work.path("task/docs/alias.md")).unwrap();
    let pipe = std::process::Command::new("mkfifo").arg(work.path("task/docs/pipe")).status().unwrap();
    assert!(pipe.success());
    let check = |path: &str, error: Option<&str>| {
        let document = with("/provenance/files/0/path", json!(path)).to_string();
        let done = work.feed(&["envelope", "validate", "-", "--json", "--files", "task"], &document);
        let done = done.exits(i32::from(error.is_some()));
        if let Some(error) = error {
            assert_eq!(one_error(&done.json()["errors"][0]), error, "{path}");
        }
    };
    for good in ["docs/Req.md", "./docs/./Req.md", "docs/alias.md"] {
        check(good, None);
    }
    let absolute = work.path("task/docs/Req.md");
    for bad in ["docs/missing.md", "docs", "docs/pipe", "docs/link.md"] {
        check(bad, Some("envelope.file_changed /provenance/files/0"));
    }
    for bad in
        ["../outside.md", "docs/../docs/Req.md", "/etc/passwd", absolute.to_str().unwrap(), "docs/\0Req.md"]
    {
        check(bad, Some("field.invalid /provenance/files/0/path"));
    }
    let args = ["envelope", "validate", "-", "--files", "task", "--kind", "generic"];
    work.feed(&args, "{}").refused_silently(2, "usage.invalid");
    work.write("task/docs/Req.md", b"The lease ends in June.\n");
    check("docs/Req.md", Some("envelope.file_changed /provenance/files/0"));
    let text = with("/provenance/files/0/path", json!("docs/Req.md")).to_string();
    let done = work.feed(&["envelope", "validate", "-", "--files", "task"], &text).exits(1);
    let changed = sha256(b"The lease ends in June.\n");
    let expected = format!(
        "envelope.file_changed: /provenance/files/0: docs/Req.md has the SHA-256 {changed}\nnot a valid sr2 envelope: 1 error\n"
    );
    assert_eq!(done.text(), expected);
}

#[test]
fn canonical_is_rfc_8785() {
    let work = Work::new();
    let canonical = |text: &str| work.feed(&["envelope", "canonical", "-"], text).good().bytes;
    let check = |text: &str, expected: &str| {
        assert_eq!(String::from_utf8(canonical(text)).unwrap(), expected);
        let hash = work.feed(&["envelope", "hash", "-"], text).good();
        assert_eq!(hash.text(), format!("{}\n", sha256(expected.as_bytes())));
        let hash = work.feed(&["envelope", "hash", "-", "--json"], text).good();
        assert_eq!(hash.json(), json!({"sha256": sha256(expected.as_bytes())}));
        let form = work.feed(&["envelope", "canonical", "-", "--json"], text).good();
        assert_eq!(form.json(), json!({"canonical": expected}));
    };
    check(" {\"b\" : 1.0 , \"a\":[ true,null ] }\n", "{\"a\":[true,null],\"b\":1}");
    check("{\"a\":[null],\"b\":{\"d\":1e2,\"c\":-0.0}}", "{\"a\":[null],\"b\":{\"c\":0,\"d\":100}}");
    check("[0.000001,1e-7,1e21,1e20,4.50]", "[0.000001,1e-7,1e+21,100000000000000000000,4.5]");
    check("\"\\u00e9\\u0007\\/\\u2028\"", "\"é\\u0007/\u{2028}\"");
    // Sorted by UTF-16 code units: the emoji's surrogates stand before U+FB33.
    check(
        "{\"\u{FB33}\":1,\"\u{1F600}\":2,\"\\r\":3,\"1\":4}",
        "{\"\\r\":3,\"1\":4,\"\u{1F600}\":2,\"\u{FB33}\":1}",
    );
    for (one, other) in [
        ("{\"a\":1,\"b\":{\"c\":2,\"d\":3}}", "{\"b\":{\"d\":3,\"c\":2},\"a\":1}"),
        ("[1.0]", "[1]"),
        ("[1e2]", "[100]"),
        ("[100.0E0]", "[1e+2]"),
        ("[-0]", "[0]"),
        ("[\"\\u0041\"]", "[\"A\"]"),
        ("{\"\\u0061\":1}", "{\"a\":1}"),
    ] {
        assert_eq!(canonical(one), canonical(other), "{one} {other}");
    }
    for (one, other) in [
        ("[1]", "[\"1\"]"),
        ("[1,2]", "[2,1]"),
        ("[null]", "[]"),
        ("{\"a\":null}", "{}"),
        ("[\"é\"]", "[\"e\u{301}\"]"),
    ] {
        assert_ne!(canonical(one), canonical(other), "{one} {other}");
    }
}

#[test]
fn every_vector_of_the_origin_is_valid() {
    let work = Work::new();
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../record/tests/data/jeeves");
    let files = binary::files(&dir);
    assert!(files.len() >= 19);
    for file in files {
        let name = file.file_name().unwrap().to_str().unwrap();
        let dialect = match name {
            _ if name.starts_with("c_") => "C",
            _ if name.ends_with(".seed.json") => "A",
            _ => "B",
        };
        let path = file.to_str().unwrap();
        let report = work.run(&["envelope", "validate", path, "--json"]).good().json();
        assert_eq!(report["reading"]["dialect"], dialect, "{name}");
        assert_eq!(report["kind"], "generic", "{name}");
        let hash = work.run(&["envelope", "hash", path]).good();
        assert_eq!(hash.text().trim_end(), report["sha256"], "{name}");
    }
    assert!(!work.path(binary::DATA).exists());
}

#[test]
fn a_generic_envelope_is_told_with_what_was_made_up() {
    let work = Work::new();
    let args = [&["envelope", "validate", "-", "--json"], &FIXED[..]].concat();
    let text = "{\"raw_input\":\"hello\",\"user_id\":\"u\"}";
    let first = work.feed(&args, text);
    assert_eq!(first.bytes, work.feed(&args, text).bytes);
    let report = first.json();
    // Whatever the contract says of a document this bare, it is said with paths or with what was minted.
    if report["valid"] == true {
        assert!(report["reading"]["minted"].as_array().unwrap().contains(&json!("envelope_id")), "{report}");
    } else {
        assert!(!report["errors"].as_array().unwrap().is_empty());
    }
    let broken = "{\"envelope_id\":\"env_1\",\"raw_input\":7,\"terminated\":\"no\"}";
    let report = work.feed(&["envelope", "validate", "-", "--json"], broken).exits(1).json();
    let paths: Vec<&str> =
        report["errors"].as_array().unwrap().iter().map(|error| error["path"].as_str().unwrap()).collect();
    for path in ["/envelope_id", "/raw_input", "/terminated"] {
        assert!(paths.contains(&path), "{paths:?}");
    }
}

#[test]
fn a_foreign_envelope_keeps_its_digits() {
    let work = Work::new();
    let hash = |number: &str| {
        let text = format!("{{\"envelope_id\":\"e\",\"raw_input\":\"x\",\"metadata\":{{\"n\":{number}}}}}");
        work.feed(&["envelope", "hash", "-"], text).good().text().to_owned()
    };
    let inexact = hash("9007199254740993");
    assert_eq!(inexact, hash("9007199254740993"));
    for other in ["9007199254740992", "\"9007199254740993\"", "9007199254740994"] {
        assert_ne!(inexact, hash(other), "{other}");
    }
    assert_eq!(hash("1.0"), hash("1"));
    // The same number anywhere else has no hash.
    let text = "{\"metadata\":{\"n\":9007199254740993}}";
    work.feed(&["envelope", "hash", "-"], text).refused_silently(2, "number.inexact");
    work.feed(&["envelope", "hash", "-", "--kind", "generic"], text).good();
}

#[test]
fn one_file_has_one_digest() {
    let work = Work::new();
    let mut document = example();
    let mut second = document["provenance"]["files"][0].clone();
    second["sha256"] = json!("0".repeat(64));
    document["provenance"]["files"].as_array_mut().unwrap().push(second);
    let done = work.feed(&["envelope", "validate", "-", "--json"], document.to_string()).exits(1);
    assert_eq!(one_error(&done.json()["errors"][0]), "field.conflict /provenance/files/1");
}

#[test]
fn the_better_fit_is_taken() {
    let work = Work::new();
    let validate =
        |document: &Value| work.feed(&["envelope", "validate", "-", "--json"], document.to_string());
    let mut generic =
        json!({"envelope_id": "env_0123456789abcdef", "raw_input": "x", "outputs": {}, "agent": "planner"});
    let verdict = validate(&generic).exits(0).json();
    assert_eq!((&verdict["kind"], &verdict["conforms"]), (&json!("generic"), &json!(false)));
    for (name, value) in [("request_id", "req_0123456789abcdef"), ("session_id", "sess_0123456789abcdef")] {
        generic[name] = json!(value);
    }
    (generic["user_id"], generic["current_stage"], generic["terminated"]) =
        (json!("u"), json!("start"), json!(false));
    assert_eq!(validate(&generic).exits(0).json()["conforms"], json!(true));
    validate(&json!({"agent": "a", "raw_input": "x"})).refused_silently(2, "envelope.unknown");
}

#[test]
fn a_run_waits_for_one_thing_or_has_ended() {
    let work = Work::new();
    for (document, path) in [
        (
            json!({"raw_input": "x", "clarification_pending": true, "confirmation_pending": true}),
            "/confirmation_pending",
        ),
        (json!({"raw_input": "x", "clarification_pending": true, "terminated": true}), "/terminated"),
    ] {
        let done = work.feed(&["envelope", "validate", "-", "--json"], document.to_string()).exits(1);
        assert_eq!(one_error(&done.json()["errors"][0]), format!("field.conflict {path}"));
    }
}
