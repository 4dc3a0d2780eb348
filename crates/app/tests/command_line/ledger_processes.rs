//! More than one process on one data directory, and processes that end badly.

use crate::binary::{self, BINARY, DATA, Done, Reachable, Running, Work};
use rusqlite::Connection;
use serde_json::Value;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

fn row(payload: u64) -> String {
    format!("{{\"stream\":\"s\",\"kind\":\"external.a\",\"payload\":{payload}}}")
}

fn payloads(rows: &[Value]) -> Vec<u64> {
    rows.iter().map(|row| row["payload"].as_u64().unwrap()).collect()
}

const APPEND: [&str; 4] = ["ledger", "append", "-", "--json"];

#[test]
fn processes_write_in_turn_and_all_read() {
    let work = Work::new();
    let mut writer = Running::start(&work, &APPEND);
    writer.send(&row(1));
    writer.line();
    // It has the ledger open, and nothing to write: others do not wait for its end.
    work.feed(&APPEND, row(2)).good();
    work.run(&["ledger", "hold", "place", "h", "--reason", "r"]).good();
    // Another matter is another ledger.
    work.feed(&["ledger", "append", "-", "--matter", "other"], row(1)).good();
    let rows = ["ledger", "rows", "--stream", "s"];
    assert_eq!(payloads(&work.run(&rows).good().lines()), [1, 2]);
    assert_eq!(work.run(&["ledger", "summary", "--json"]).good().json()["rows"], 3);
    work.run(&["ledger", "verify"]).good();
    work.run(&["ledger", "anchor"]).good();
    work.run(&["ledger", "export", "archive"]).good();
    work.run(&["doctor"]);
    writer.send(&row(3));
    writer.line();
    assert_eq!(payloads(&work.run(&rows).good().lines()), [1, 2, 3]);
    writer.finish().good();
    work.feed(&APPEND, row(4)).good();
    assert_eq!(payloads(&work.run(&rows).good().lines()), [1, 2, 3, 4]);
}

#[test]
fn tail_follows_another_process() {
    let work = Work::new();
    let mut writer = Running::start(&work, &APPEND);
    writer.send(&row(1));
    writer.line();
    let mut tail = Running::start(&work, &["ledger", "tail", "--after", "0", "--count", "4"]);
    let payload = |line: String| serde_json::from_str::<Value>(&line).unwrap()["payload"].as_u64().unwrap();
    assert_eq!(payload(tail.line()), 1);
    for number in 2..=3 {
        writer.send(&row(number));
        assert_eq!(payload(tail.line()), number);
    }
    writer.finish().good();
    // A writer that comes later wakes it too.
    work.feed(&APPEND, row(4)).good();
    assert_eq!(payload(tail.line()), 4);
    let done = tail.finish().good();
    assert_eq!(done.text(), "");
}

#[test]
fn a_killed_writer_loses_nothing_it_acknowledged() {
    let work = Work::new();
    let mut acknowledged = 0;
    for round in 0..5_u64 {
        let mut writer = Running::start(&work, &APPEND);
        for _ in 0..=round * 3 {
            acknowledged += 1;
            writer.send(&row(acknowledged));
            let stamp: Value = serde_json::from_str(&writer.line()).unwrap();
            assert!(stamp["seq"].as_u64().unwrap() >= acknowledged);
        }
        // Under way, perhaps durable, never acknowledged.
        for _ in 0..round {
            writer.send(&row(1_000));
        }
        writer.kill();
        let rows = payloads(&work.run(&["ledger", "rows"]).good().lines());
        let kept: Vec<u64> = rows.into_iter().filter(|payload| *payload < 1_000).collect();
        assert_eq!(kept, (1..=acknowledged).collect::<Vec<_>>());
        work.run(&["ledger", "verify"]).good();
    }
}

fn set_mode(path: &std::path::Path, dirs: u32, files: u32) {
    for file in binary::files(path) {
        std::fs::set_permissions(&file, PermissionsExt::from_mode(files)).unwrap();
        for dir in file.ancestors().skip(1).take_while(|dir| dir.starts_with(path)) {
            std::fs::set_permissions(dir, PermissionsExt::from_mode(dirs)).unwrap();
        }
    }
}

#[test]
fn a_directory_that_can_not_be_written() {
    let work = Work::new();
    work.write("rows", row(1));
    work.run(&["ledger", "append", "rows"]).good();
    work.run(&["principal", "add", "ana"]).good();
    work.run(&["ledger", "export", "archive"]).good();
    std::fs::remove_dir_all(work.path("data/keys")).unwrap();
    set_mode(&work.path(DATA), 0o555, 0o444);
    set_mode(&work.path("archive"), 0o555, 0o444);
    std::fs::set_permissions(work.path("."), PermissionsExt::from_mode(0o555)).unwrap();
    let before = binary::contents(&work.path("."));
    let reachable = Reachable::new();
    let run = |args: &[&str]| Done::new(args, work.as_nobody(&reachable, args).output().unwrap());
    run(&["ledger", "append", "rows"]).refused_silently(1, "ledger.read_only");
    run(&["ledger", "append", "rows", "--data", "fresh"]).refused_silently(1, "ledger.read_only");
    run(&["ledger", "append", "rows", "--matter", "other"]).refused_silently(1, "ledger.read_only");
    run(&["ledger", "hold", "place", "h", "--reason", "r"]).refused_silently(1, "ledger.read_only");
    run(&["ledger", "import", "archive", "--data", "fresh"]).refused_silently(1, "ledger.read_only");
    run(&["principal", "add", "ben"]).refused_silently(1, "principal.key");
    run(&["ledger", "anchor"]).refused_silently(1, "principal.key");
    run(&["ledger", "export", "again"]).refused_silently(1, "output.failed");
    // Reading goes on.
    assert_eq!(payloads(&run(&["ledger", "rows"]).good().lines()), [1]);
    assert_eq!(run(&["ledger", "summary", "--json"]).good().json()["rows"], 1);
    run(&["ledger", "verify"]).good();
    run(&["ledger", "tail", "--no-follow"]).good();
    let doctor = run(&["doctor", "--json"]).exits(1).json();
    assert_eq!(doctor["ok"], false);
    assert_eq!(binary::contents(&work.path(".")), before);
    std::fs::set_permissions(work.path("."), PermissionsExt::from_mode(0o755)).unwrap();
    set_mode(&work.path(DATA), 0o755, 0o644);
    set_mode(&work.path("archive"), 0o755, 0o644);
}

#[test]
fn a_file_where_the_directory_should_be() {
    let work = Work::new();
    work.write("file", b"mine");
    work.feed(&["ledger", "append", "-", "--data", "file"], row(1)).refused_silently(1, "ledger.io");
    work.run(&["ledger", "rows", "--data", "file"]).refused_silently(1, "ledger.io");
    work.run(&["doctor", "--data", "file"]).exits(1);
    assert_eq!(std::fs::read(work.path("file")).unwrap(), b"mine");
}

#[test]
fn an_export_names_the_directory_that_is_missing() {
    let work = Work::new();
    work.write("rows", row(1));
    work.run(&["ledger", "append", "rows"]).good();
    let check = |target: &str, message: &str| {
        let refusal = work.run(&["ledger", "export", target]).refused_silently(1, "output.failed");
        assert_eq!(refusal.message, message);
    };
    check("/nosuch/x", "/nosuch is not there: make the directory first");
    check("no/such/parent", "no/such is not there: make the directory first");
    check("no/such/", "no is not there: make the directory first");
    check("rows/x", "rows is no directory");
    assert!(!work.path("no").exists());
    work.run(&["ledger", "export", "archive/"]).good();
    work.run(&["ledger", "export", "archive/deeper"]).good();
}

#[test]
fn a_reader_that_has_seen_enough() {
    let work = Work::new();
    let rows: String = (0..2_000).map(|number| row(number) + "\n").collect();
    work.feed(&["ledger", "append", "-", "--atomic"], &rows).good();
    for args in [&["ledger", "rows"][..], &["ledger", "tail", "--after", "0"]] {
        let mut child = work.command(BINARY, args).spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        drop(out);
        Done::new(args, child.wait_with_output().unwrap()).good();
    }
    let done = work.command("sh", &["-c", "\"$0\" ledger rows | head -1", BINARY]).output().unwrap();
    assert_eq!(Done::new(&[], done).good().lines().len(), 1);
}

/// Runs with a standard output that nobody reads.
fn unread(work: &Work, args: &[&str], input: &str) -> Done {
    let mut child = work.command(BINARY, args).stdin(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    Done::new(args, child.wait_with_output().unwrap())
}

#[test]
fn without_a_reader_the_work_is_done_and_the_verdict_stands() {
    let work = Work::new();
    let rows: String = (0..100).map(|number| row(number) + "\n").collect();
    unread(&work, &["ledger", "append", "-"], &rows).good();
    assert_eq!(work.run(&["ledger", "rows"]).good().lines().len(), 100);
    unread(&work, &["ledger", "verify"], "").good();
    let connection = Connection::open(work.database("default")).unwrap();
    connection.execute_batch("UPDATE rows SET actor = 'ben' WHERE seq = 50").unwrap();
    connection.close().unwrap();
    unread(&work, &["ledger", "verify"], "").exits(1);
    unread(&work, &["ledger", "verify", "--json"], "").exits(1);
    unread(&work, &["envelope", "validate", "-"], "{\"agent\":1}").exits(1);
    unread(&work, &["--help"], "").good();
}

#[test]
fn a_full_output_is_told() {
    let work = Work::new();
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    work.write("rows", row(1));
    let output = work
        .command(BINARY, &["ledger", "append", "rows"])
        .stdout(full.try_clone().unwrap())
        .output()
        .unwrap();
    Done::new(&[], output).refused(1, "output.failed");
    // The row is there; only the acknowledgement was lost.
    assert_eq!(work.run(&["ledger", "rows"]).good().lines().len(), 1);
    for args in [&["ledger", "rows"][..], &["--help"], &["explain", "--list"], &["completions", "bash"]] {
        let output = work.command(BINARY, args).stdout(full.try_clone().unwrap()).output().unwrap();
        Done::new(args, output).refused(1, "output.failed");
    }
    // Nobody can be told on a full standard error either; the exit code still says it.
    let output = work.command(BINARY, &["explain", "nothing"]).stderr(full).output().unwrap();
    Done::new(&[], output).exits(2);
}
