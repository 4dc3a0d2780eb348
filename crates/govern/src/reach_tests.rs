//! Logs that contradict themselves, one of each kind.

use super::*;
use crate::world::Draft;
use countersign_record::json;
use std::string::ToString;
use std::vec;

fn row(kind: &str, at: &str, record: &str) -> Draft {
    Draft {
        kind: kind.to_string(),
        id: None,
        at: countersign_record::time::Instant::read(at),
        record: json::parse(record.as_bytes()).unwrap(),
    }
}

#[test]
fn what_is_not_there_is_told() {
    let edge = r#"{"output_ref":"source_record:s2","input_refs":["src:s1","source_record:s3","user:u1"],"created_at":"2026-01-01T00:00:00Z"}"#;
    let world = World::new(
        vec![
            row("SourceRecord", "2026-01-01T00:00:00Z", r#"{"source_id":"s1"}"#),
            row("SourceRecord", "2026-01-01T00:00:00Z", r#"{"source_id":"s2"}"#),
            row("DerivationEdge", "2026-01-01T00:00:00Z", edge),
        ],
        None,
    );
    let expected = Unresolved { row: 3, path: "/input_refs/1".into(), reference: "source_record:s3".into() };
    assert_eq!(unresolved(&world), [expected]);
}
