//! `countersign ledger append`: what is counted is what is in the ledger, and a refused command line changes nothing.

use crate::binary::{BINARY, DATA, Done, Work};
use serde_json::{Value, json};

fn row(payload: u64) -> String {
    format!("{}\n", json!({"stream": "s", "kind": "external.note", "payload": payload}))
}

/// Runs with a standard output that takes nothing.
fn full(work: &Work, args: &[&str]) -> Done {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    Done::new(args, work.command(BINARY, args).stdout(full).output().unwrap())
}

fn rows(work: &Work) -> usize {
    work.run(&["ledger", "rows"]).good().lines().len()
}

#[test]
fn rows_are_counted_though_nobody_could_be_told() {
    let check = |args: &[&str], details: Value| {
        let work = Work::new();
        work.write("blob", b"bytes");
        work.write("one", row(1));
        work.write("three", row(1) + "\n" + &row(2) + &row(3));
        let refusal = full(&work, args).refused(1, "output.failed");
        assert_eq!(refusal.details, details, "{args:?}: {}", refusal.message);
        assert_eq!(details["appended"], rows(&work), "{args:?}");
    };
    check(&["ledger", "append", "three"], json!({"line": 1, "appended": 1}));
    check(&["ledger", "append", "three", "--json"], json!({"line": 1, "appended": 1}));
    check(&["ledger", "append", "three", "--atomic"], json!({"appended": 3}));
    check(&["ledger", "append", "three", "--atomic", "--json"], json!({"appended": 3}));
    check(&["ledger", "append", "one", "--blob", "blob"], json!({"line": 1, "appended": 1}));
}

#[test]
fn a_refused_batch_counts_nothing() {
    let work = Work::new();
    let expecting = json!({"stream": "s", "kind": "external.note", "payload": 2, "expected": 7}).to_string();
    let done = work.feed(&["ledger", "append", "-", "--atomic"], row(1) + &expecting);
    let refusal = done.refused_silently(1, "ledger.conflict");
    assert_eq!(refusal.details, json!({"stream": "s", "expected": 7, "found": 0, "appended": 0}));
    let done = work.feed(&["ledger", "append", "-", "--atomic"], row(1) + "{\"stream\":1}");
    let refusal = done.refused_silently(2, "row.invalid");
    assert_eq!((&refusal.details["line"], &refusal.details["appended"]), (&json!(2), &json!(0)));
}

#[test]
fn a_blob_with_more_than_one_row_changes_nothing() {
    let work = Work::new();
    work.write("blob", b"bytes");
    let check = |input: String, code: &str, line: u64| {
        let done = work.feed(&["ledger", "append", "-", "--blob", "blob"], input);
        let refusal = done.refused_silently(2, code);
        assert_eq!((&refusal.details["line"], &refusal.details["appended"]), (&json!(line), &json!(0)));
        assert!(!work.path(DATA).exists(), "{}", refusal.message);
    };
    check(row(1) + &row(2), "usage.invalid", 2);
    check(row(1) + "\n" + &row(2) + &row(3), "usage.invalid", 3);
    check(row(1) + "{\"stream\":NaN}", "json.not_finite", 2);
    work.feed(&["ledger", "append", "-", "--blob", "blob"], row(1) + "\n \n").good();
    assert_eq!(rows(&work), 1);
    // The one row's own line is named when the ledger refuses it.
    let expecting = json!({"stream": "s", "kind": "external.note", "payload": 2, "expected": 7}).to_string();
    let done = work.feed(&["ledger", "append", "-", "--blob", "blob"], format!("\n{expecting}\n"));
    let refusal = done.refused_silently(1, "ledger.conflict");
    assert_eq!((&refusal.details["line"], &refusal.details["appended"]), (&json!(2), &json!(0)));
    assert_eq!(rows(&work), 1);
}
