//! Tries the rules on a few rows, for tests.
//! Owns: the ways in which tests write rows down, what is found in them. Must not: be there outside of tests.

use super::{Area, Diagnostic, check};
use crate::bundle::Bundle;
use crate::member::Member;
use crate::world::{Draft, World, hash};
use countersign_record::json::{self, Json};
use countersign_record::time::Instant;
use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

/// What rows say, and the places of those in which a code is found.
pub(super) type Case<'c> = (&'c [(&'c str, &'c str)], &'c [u64]);

/// A document, in double quotes or else in single ones.
fn document(text: &str) -> Json {
    let plain = if text.contains('"') { text.to_string() } else { text.replace('\'', "\"") };
    json::parse(plain.as_bytes()).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// A member `row_id` names a row whose type has no field for that.
fn draft(kind: &str, record: &str, at: Option<Instant>) -> Draft {
    let record = document(record);
    let id = record.text("row_id").map(ToString::to_string);
    Draft { kind: kind.to_string(), id, at, record }
}

/// A time that many minutes after eight.
fn minute(minute: usize) -> Option<Instant> {
    Instant::read(&format!("2026-03-02T08:{minute:02}:00Z"))
}

/// Rows: their types, and what they say.
pub(super) fn world<T: AsRef<str>>(rows: &[(&str, T)]) -> World {
    World::new(rows.iter().map(|(kind, record)| draft(kind, record.as_ref(), None)).collect(), None)
}

/// The same, looked at that many minutes after eight.
pub(super) fn until(now: usize, rows: &[(&str, &str)]) -> World {
    World::new(rows.iter().map(|(kind, record)| draft(kind, record, None)).collect(), minute(now))
}

/// The same, each row a minute behind the one before.
pub(super) fn by_minute(rows: &[(&str, &str)]) -> World {
    let timed = |(at, (kind, record)): (usize, &(&str, &str))| draft(kind, record, minute(at));
    World::new(rows.iter().enumerate().map(timed).collect(), None)
}

/// Rows that are written as `Type {members}`, one to a line.
pub(super) fn from_lines(text: &str) -> World {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let read = |line: &str| line.split_once(' ').map(|(kind, record)| draft(kind, record, None)).unwrap();
    World::new(lines.map(read).collect(), None)
}

/// Rows that are written as in a bundle.
pub(super) fn bundle(rows: &[String]) -> World {
    let text = format!(r#"{{"schema_version":"1.0","rows":[{}]}}"#, rows.join(","));
    Bundle::read(document(&text)).unwrap().world()
}

/// A row of a bundle, its id and minute left out where they are empty.
pub(super) fn row(kind: &str, id: &str, minute: &str, record: &str) -> String {
    let id = if id.is_empty() { String::new() } else { format!(r#""id":"{id}","#) };
    let at = if minute.is_empty() { String::new() } else { format!(r#""at":"2026-03-02T08:{minute}:00Z","#) };
    format!(r#"{{"kind":"{kind}",{id}{at}"record":{{{record}}}}}"#)
}

/// The hash of a value, as receipts say it.
pub(super) fn hash_of(value: &str) -> String {
    hash(&document(value)).unwrap().to_string()
}

/// What the rules of an area find.
fn found(area: &Area, world: &World) -> Vec<Diagnostic> {
    let is_own = |one: &Diagnostic| area.rules.iter().any(|rule| rule.code == one.code);
    check(world).into_iter().filter(is_own).collect()
}

/// The codes of an area, each once.
pub(super) fn codes(area: &Area, world: &World) -> Vec<&'static str> {
    let mut codes: Vec<&str> = found(area, world).into_iter().map(|one| one.code).collect();
    codes.sort_unstable();
    codes.dedup();
    codes
}

/// Where a code is found: the row, and the path in it behind.
pub(super) fn places(code: &str, world: &World) -> Vec<String> {
    let found = check(world).into_iter().filter(|one| one.code == code);
    found.map(|one| format!("{}{}", one.row, one.path)).collect()
}

/// The places of the rows in which a code is found.
pub(super) fn rows_with(code: &str, world: &World) -> Vec<u64> {
    let found = check(world).into_iter().filter(|one| one.code == code);
    let mut rows: Vec<u64> = found.map(|one| one.row).collect();
    rows.dedup();
    rows
}

/// An area finds these codes in some rows.
#[track_caller]
pub(super) fn has_codes(area: &Area, rows: &[(&str, &str)], expected: &[&str]) {
    assert_eq!(codes(area, &world(rows)), expected, "{rows:#?}");
}

/// The same for rows that were made.
#[track_caller]
pub(super) fn has_codes_owned(area: &Area, rows: &[(&str, String)], expected: &[&str]) {
    assert_eq!(codes(area, &world(rows)), expected, "{rows:#?}");
}

/// The same for rows that are written as in a bundle.
#[track_caller]
pub(super) fn has_in_bundle(area: &Area, rows: &[String], expected: &[&str]) {
    assert_eq!(codes(area, &bundle(rows)), expected, "{rows:#?}");
}

/// An area finds exactly these, each written as its row, its code and its path.
#[track_caller]
pub(super) fn has_found(area: &Area, rows: &[(&str, &str)], expected: &[&str]) {
    let told = |one: Diagnostic| format!("{} {} {}", one.row, one.code, one.path);
    let found: Vec<String> = found(area, &world(rows)).into_iter().map(told).collect();
    assert_eq!(found, expected, "{rows:?}");
}

/// A code is found at these places, and nowhere else.
#[track_caller]
pub(super) fn has_places(code: &str, rows: &[(&str, &str)], expected: &[(u64, &str)]) {
    let expected: Vec<String> = expected.iter().map(|(row, path)| format!("{row}{path}")).collect();
    assert_eq!(places(code, &world(rows)), expected, "{code} {rows:?}");
}

/// A code is found in these rows of each case.
#[track_caller]
pub(super) fn has_rows(code: &str, cases: &[Case<'_>]) {
    for (rows, expected) in cases {
        assert_eq!(rows_with(code, &by_minute(rows)), *expected, "{code}: {rows:?}");
    }
}

/// A code is found at these places of each case, whose rows are lines.
#[track_caller]
pub(super) fn has_in_lines(code: &str, cases: &[(&str, &[&str])]) {
    for (text, expected) in cases {
        assert_eq!(places(code, &from_lines(text)), *expected, "{code} in\n{text}");
    }
}
