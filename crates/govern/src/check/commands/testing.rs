//! Worlds of a few rows, for tests.

use crate::bundle::Bundle;
use crate::check::check;
use countersign_record::json;
use std::collections::BTreeSet;
use std::format;
use std::string::String;
use std::vec::Vec;

/// The codes of an area that rows of kinds and texts have, and the places and paths where.
pub(in crate::check) fn found(rules: &[super::Rule], rows: &[(&str, &str)]) -> Vec<String> {
    let rows: Vec<String> =
        rows.iter().map(|(kind, record)| format!(r#"{{"kind":"{kind}","record":{record}}}"#)).collect();
    let text = format!(r#"{{"schema_version":"1.0","rows":[{}]}}"#, rows.join(","));
    let document = json::parse(text.as_bytes()).unwrap_or_else(|error| panic!("{error}: {text}"));
    let codes: BTreeSet<&str> = rules.iter().map(|rule| rule.code).collect();
    let all = check(&Bundle::read(document).unwrap().world());
    let own = all.into_iter().filter(|one| codes.contains(one.code));
    own.map(|one| format!("{} {} {}", one.row, one.code, one.path)).collect()
}

/// Rows have exactly these.
pub(in crate::check) fn expect(rules: &[super::Rule], rows: &[(&str, &str)], expected: &[&str]) {
    assert_eq!(found(rules, rows), expected, "{rows:?}");
}
