//! Tries rules on rows that are written as `Type {members}`, one to a line.
//! Owns: reading them. Must not: be there outside of tests.

use crate::check::check;
use crate::member::Member;
use crate::world::{Draft, World};
use countersign_record::json;
use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

/// The rows. A member `row_id` names a row whose type has no field for that.
pub(in crate::check) fn world(lines: &str) -> World {
    let lines = lines.lines().map(str::trim).filter(|line| !line.is_empty());
    let draft = |line: &str| {
        let (kind, record) = line.split_once(' ').unwrap();
        let record = json::parse(record.as_bytes()).unwrap_or_else(|error| panic!("{record}: {error}"));
        let id = record.text("row_id").map(ToString::to_string);
        Draft { kind: kind.to_string(), id, at: None, record }
    };
    World::new(lines.map(draft).collect(), None)
}

/// Where a code is found, as `row/path`.
pub(in crate::check) fn places(code: &str, world: &World) -> Vec<String> {
    let found = check(world).into_iter().filter(|one| one.code == code);
    found.map(|one| format!("{}{}", one.row, one.path)).collect()
}

/// Rows, and where a code is found in them.
pub(in crate::check) fn expect(code: &str, cases: &[(&str, &[&str])]) {
    for (lines, expected) in cases {
        assert_eq!(places(code, &world(lines)), *expected, "{code} in\n{lines}");
    }
}
