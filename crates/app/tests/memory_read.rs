//! `memory read` through the binary: paths, errors and what is left untouched.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod binary;

use binary::Work;
use serde_json::{Value, json};

fn asked() -> Value {
    json!({"query": "roof", "store_paths": ["notes.jsonl"], "budget": {"max_excerpt_tokens": 10}})
}

#[test]
fn a_store_is_read_relative_to_the_working_directory_and_not_touched() {
    let work = Work::new();
    let store = "{\"memory_id\":\"m1\",\"text\":\"The roof leaks.\"}\r\nno record\n{\"memory_id\":\"m2\",\"text\":\"\"}";
    work.write("notes.jsonl", store);
    let mut asked = asked();
    asked["store_paths"] = json!(["./notes.jsonl", "a/../notes.jsonl"]);
    let package = work.feed(&["memory", "read", "-"], asked.to_string()).good().json();
    let selected = &package["selection"]["selected"];
    assert_eq!(selected[0]["excerpt"], "The roof leaks.");
    assert_eq!((&selected[0]["score"], &selected[0]["store_path"]), (&json!(1), &json!("notes.jsonl")));
    assert_eq!((&selected[1]["memory_id"], &selected[1]["excerpt_tokens"]), (&json!("m2"), &json!(0)));
    let dropped = &package["selection"]["dropped"];
    assert_eq!(dropped.as_array().unwrap().len(), 1);
    assert_eq!(
        (&dropped[0]["memory_id"], &dropped[0]["reason"]),
        (&json!(""), &json!("invalid_record_schema"))
    );
    assert_eq!(package["controller_version"], "phase6-v1");
    assert_eq!(std::fs::read(work.path("notes.jsonl")).unwrap(), store.as_bytes());
    assert!(!work.path(binary::DATA).exists(), "a read makes no data directory");
}

/// The first thing wrong is told, in the contract's order, with the same words each time.
#[test]
fn bad_input_is_refused_in_order() {
    let work = Work::new();
    work.write("notes.jsonl", "");
    std::fs::create_dir(work.path("dir")).unwrap();
    work.write("trust.json", "{}");
    let check = |change: &dyn Fn(&mut Value), code: &str| {
        let mut asked = asked();
        change(&mut asked);
        let told =
            || work.feed(&["memory", "read", "-"], asked.to_string()).refused_silently(2, code).message;
        assert_eq!(told(), told(), "{asked}");
    };
    for bad in [json!(null), json!(""), json!(" \u{a0}\t"), json!(3)] {
        check(&|asked| (asked["query"], asked["store_paths"]) = (bad.clone(), json!([])), "memory.query");
    }
    for bad in [json!(null), json!([]), json!("notes.jsonl"), json!([""]), json!([1])] {
        check(
            &|asked| (asked["store_paths"], asked["budget"]) = (bad.clone(), json!(1)),
            "memory.store_paths",
        );
    }
    for bad in [json!(0), json!(-1), json!(true), json!(1.5), json!(null), json!("9")] {
        check(
            &|asked| {
                asked["budget"]["max_excerpt_tokens"] = bad.clone();
                asked["store_paths"] = json!(["missing"]);
            },
            "memory.budget",
        );
    }
    check(&|asked| asked["budget"]["per_item_max_excerpt_tokens"] = json!(0), "memory.budget");
    check(&|asked| asked["scoring"] = json!({"recency_half_life_days": 0}), "memory.input");
    check(&|asked| asked["now_utc"] = json!("2026-01-01"), "memory.input");
    check(&|asked| asked["trust_filter"] = json!({"deny": []}), "memory.input");
    check(&|asked| asked["store_paths"] = json!(["missing", "notes.jsonl"]), "memory.store_missing");
    check(&|asked| asked["store_paths"] = json!(["dir"]), "memory.store_unreadable");
    for path in ["nowhere.json", "dir", "trust.json", "notes.jsonl"] {
        let filter = json!({"trust_snapshot_path": path});
        check(&|asked| asked["trust_filter"] = filter.clone(), "memory.trust_snapshot");
    }
    work.feed(&["memory", "read", "-"], "").refused_silently(2, "json.empty");
    work.feed(&["memory", "read", "-"], "[]").refused_silently(2, "memory.input");
}

/// A pipe of a store's name keeps nobody waiting.
#[test]
fn a_pipe_is_no_store() {
    let work = Work::new();
    assert!(work.command("mkfifo", &["notes.jsonl"]).status().unwrap().success());
    work.feed(&["memory", "read", "-"], asked().to_string()).refused_silently(2, "memory.store_unreadable");
}
