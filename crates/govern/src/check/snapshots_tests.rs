//! Ways in which the rules of this area fire, and do not, besides the fixtures.

use crate::check::trial::{from_lines, has_in_lines, places};
use crate::world::hash;
use std::format;

#[test]
fn hashes_of_sources_stand_in_their_sets() {
    has_in_lines(
        "source_workspace_hash_typed_as_artifact_hash",
        &[
            (
                r#"EvaluationSnapshot {"snapshot_id":"s","artifact_state_refs":["src:a"]}"#,
                &["1/artifact_state_refs/0"],
            ),
            (r#"EvaluationSnapshot {"snapshot_id":"s","hashes":{"source_workspace:w":"x"}}"#, &["1/hashes"]),
            // The head of a workspace under the name of an artifact.
            (
                r#"SourceWorkspaceCurrentState {"workspace_id":"w","head_hash":"h1"}
               EvaluationSnapshot {"snapshot_id":"s","hashes":{"artifact:a":"h1"}}
               EvaluationSnapshot {"snapshot_id":"t","hashes":{"artifact:a":"h2"}}"#,
                &["2/hashes"],
            ),
        ],
    );
}

#[test]
fn snapshots_have_a_set_for_every_workspace_that_is_cited() {
    let snapshot = |sets: &str| {
        format!(r#"EvaluationSnapshot {{"snapshot_id":"s","source_workspace_snapshot_hashes":[{sets}]}}"#)
    };
    let finding = r#"EvaluationFindingEvent {"finding_event_id":"e","evaluation_snapshot_ref":"evaluation_snapshot:s","based_on_source_workspace_snapshot_ref":"source_workspace:w"}"#;
    let result = r#"EvaluationResultEnvelope {"result_id":"r","evaluation_snapshot_ref":"evaluation_snapshot:s","evaluation_basis":{"source_workspace_snapshot_refs":["source_workspace_snapshot:unknown"]}}"#;
    let (own, other) =
        (r#"{"source_workspace_ref":"w"}"#, r#"{"source_workspace_ref":"source_workspace:v"}"#);
    let found: &[&str] = &["1/source_workspace_snapshot_hashes"];
    for (sets, citing, expected) in [
        ("", finding, found),
        (other, finding, found),
        (own, finding, &[]),
        // Where it is not known which workspace is meant, any set will do.
        ("", result, found),
        (other, result, &[]),
    ] {
        let lines = [snapshot(sets).as_str(), citing].join("\n");
        let code = "evaluation_snapshot_missing_workspace_hash_set";
        assert_eq!(places(code, &from_lines(&lines)), expected, "{lines}");
    }
}

#[test]
fn hashes_are_those_of_their_time() {
    let source = r#"{"source_id":"a","tier":1}"#;
    let own = hash(&countersign_record::json::parse(source.as_bytes()).unwrap()).unwrap();
    let lines = |hash: &str| {
        format!(
            r#"SourceRecord {source}
               EvaluationSnapshot {{"snapshot_id":"s","source_workspace_snapshot_hashes":[{{"source_workspace_ref":"w","source_record_hashes":{{"src:a":"{hash}","src:b":"x"}}}}]}}
               SourceRecord {{"source_id":"a","tier":2}}"#
        )
    };
    let code = "workspace_snapshot_hash_mismatch";
    assert!(places(code, &from_lines(&lines(&format!("{own}")))).is_empty());
    let found = places(code, &from_lines(&lines("x")));
    assert_eq!(found, ["2/source_workspace_snapshot_hashes/0/source_record_hashes"]);
}
