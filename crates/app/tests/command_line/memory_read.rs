//! `memory read` through the binary: paths, errors and what is left untouched.

use crate::binary::{self, BINARY, Done, Work};
use serde_json::{Value, json};
use std::io::Read;

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

/// The time of a row is not the time that ages are counted from: that one is part of the input, or there is none.
#[test]
fn a_file_that_hides_its_length_is_no_store() {
    let work = Work::new();
    let asked =
        json!({"query": "x", "store_paths": ["/proc/self/status"], "budget": {"max_excerpt_tokens": 9}});
    work.feed(&["memory", "read", "-"], asked.to_string()).refused(2, "memory.store_unreadable");
}

/// More stores than the process may have open files.
#[test]
fn stores_are_not_all_open_at_once() {
    let work = Work::new();
    let name = |number: usize| format!("store-{number}.jsonl");
    for number in 0..100 {
        work.write(&name(number), format!("{{\"memory_id\":\"m{number}\",\"text\":\"roof\"}}\n"));
    }
    let stores: Vec<String> = (0..100).map(name).collect();
    let asked = json!({"query": "roof", "store_paths": stores, "budget": {"max_excerpt_tokens": 999, "max_items": 100}});
    work.write("asked.json", asked.to_string());
    let script = format!("ulimit -n 40; exec {BINARY} memory read asked.json");
    let output = work.command("sh", &["-c", &script]).output().unwrap();
    let package = Done::new(&["memory", "read"], output).good().json();
    assert_eq!(package["selection"]["selected"].as_array().unwrap().len(), 100);
}

#[test]
fn the_clock_does_not_reach_the_scores() {
    let work = Work::new();
    work.write("notes.jsonl", "{\"memory_id\":\"m1\",\"text\":\"roof\",\"ts_utc\":\"2025-12-10T10:00:00Z\"}");
    let mut asked = asked();
    asked["scoring"] = json!({"enable_recency_weight": true});
    let now = ["--now", "2025-12-10T10:00:00Z"];
    let recorded = work.feed(&[&["memory", "read", "-", "--receipt"], &now[..]].concat(), asked.to_string());
    let package = recorded.good().json();
    assert_eq!(package["selection"]["selected"][0]["score"], json!(1));
    let rows = work.run(&["ledger", "rows", "--kind", "memory.read"]).good().json();
    assert_eq!((&rows["at"], &rows["actor"]), (&json!("2025-12-10T10:00:00Z"), &json!("local")));
    assert_eq!(rows["payload"]["package_hash"], package["package_hash"]);
    asked["now_utc"] = json!("2025-12-10T10:00:00Z");
    let package = work.feed(&["memory", "read", "-", "--receipt"], asked.to_string()).good().json();
    assert_eq!(package["selection"]["selected"][0]["score"], json!(2));
}

/// Whoever has seen the first byte of a package can find its receipt, also if the reader dies in the middle of it.
#[test]
fn the_receipt_is_there_before_the_package() {
    let work = Work::new();
    // More than a pipe holds, so that the rest is waiting to be written.
    let store: String =
        (0..20_000).map(|at| format!("{{\"memory_id\":\"m{at}\",\"text\":\"roof\"}}\n")).collect();
    work.write("notes.jsonl", store);
    work.write("asked.json", asked().to_string());
    let mut child = work.command(BINARY, &["memory", "read", "asked.json", "--receipt"]).spawn().unwrap();
    let mut first = [0];
    child.stdout.as_mut().unwrap().read_exact(&mut first).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(first, [b'{']);
    let receipt = work.run(&["ledger", "rows"]).good().json();
    assert_eq!(receipt["kind"], "memory.read");
    assert_eq!(receipt["payload"]["selected_count"], json!(10));
    work.run(&["ledger", "verify"]).good();
}
