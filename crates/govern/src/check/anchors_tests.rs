//! Anchors point somewhere, and to the same text as before.

use super::*;
use crate::check::trial::has_places as check;
use alloc::string::String;
use std::string::ToString;
use std::vec::Vec;

#[test]
fn anchors_say_where() {
    let code = "structured_anchor_empty";
    check(code, &[("StructuredAnchor", r#"{"row_id":"3"}"#)], &[]);
    check(code, &[("StructuredAnchor", r#"{"row_id":" ","cell_ref":null}"#)], &[(1, "")]);
    let finding = r#"{"target_scope_ref":{"artifact_stable_id":"a","anchor":{"schema_version":"1.0"}}}"#;
    check(code, &[("EvaluationFindingEvent", finding)], &[(1, "/target_scope_ref/anchor")]);
    let need =
        r#"{"target_refs":["claim:a/c",{"anchor":{}},{"anchor":"whole"},{"anchor":{"start_offset":1}}]}"#;
    check(code, &[("ResearchNeed", need)], &[(1, "/target_refs/1/anchor")]);
    let key = r#"{"match_key":{"target_scope_ref":{"artifact_stable_id":"a","anchor":{"row_id":""}}}}"#;
    check(code, &[("EvaluationFindingEvent", key)], &[(1, "/match_key/target_scope_ref/anchor")]);
    let candidates =
        r#"{"candidate_procedures":[{},{"repair_target":{"artifact_scope_ref":{"anchor":{}}}}]}"#;
    let place = "/candidate_procedures/1/repair_target/artifact_scope_ref/anchor";
    check(code, &[("SufficiencyDetectionResult", candidates)], &[(1, place)]);
}

fn anchor(before: &str, after: &str, hash: &str, algorithm: &str) -> String {
    format!(
        r#"{{"start_offset":1,"context_before":"{before}","context_after":"{after}","context_hash":"{hash}","hash_algorithm":"{algorithm}"}}"#
    )
}

#[test]
fn surroundings_are_compared() {
    let code = "context_hash_unverified";
    let hash = text::context_hash("a b", "").unwrap().to_string();
    // What was made and never looked up is left alone, whatever it says.
    check(code, &[("TextAnchor", &anchor("a", "b", &hash, "md5"))], &[]);
    let check_one = |record: &str, path: Option<&str>| {
        let receipt = format!(
            r#"{{"receipt_id":"r","anchor_ref":"text_anchor:1","status":"resolved","recomputed_context_hash":"{hash}"}}"#
        );
        let expected: Vec<(u64, &str)> = path.map(|path| (1, path)).into_iter().collect();
        check(code, &[("TextAnchor", record), ("TextAnchorResolutionReceipt", &receipt)], &expected);
    };
    check_one(&anchor("a  b", "", &hash, text::ALGORITHM), None);
    check_one(&anchor("a", "b", &hash, text::ALGORITHM), Some("/context_hash"));
    check_one(&anchor("a b", "", &hash, "md5"), Some("/hash_algorithm"));
    let scope = format!(r#"{{"scope_ref":{{"anchor":{}}}}}"#, anchor("x", "y", &hash, text::ALGORITHM));
    check(code, &[("RunGuidanceCreationEvent", &scope)], &[(1, "/scope_ref/anchor/context_hash")]);
}

#[test]
fn what_was_resolved_was_compared() {
    let own = text::context_hash("a", "b").unwrap().to_string();
    let record = countersign_record::json::parse(anchor("a", "b", &own, text::ALGORITHM).as_bytes()).unwrap();
    let found = |status: &str, hash: &str| {
        let receipt = format!(
            r#"{{"receipt_id":"r","anchor_ref":"text_anchor:t","status":"{status}","recomputed_context_hash":"{hash}"}}"#
        );
        let receipt = countersign_record::json::parse(receipt.as_bytes()).unwrap();
        let row = |kind: &str, id: Option<&str>, record: &Json| world::Draft {
            kind: kind.to_string(),
            id: id.map(ToString::to_string),
            at: None,
            record: record.clone(),
        };
        let rows = std::vec![
            row("TextAnchor", Some("t"), &record),
            row("TextAnchorResolutionReceipt", None, &receipt)
        ];
        let world = World::new(rows, None);
        crate::check::trial::places("context_hash_unverified", &world).len()
    };
    assert_eq!(found("resolved", &own), 0);
    assert_eq!(found("resolved", ""), 1);
    assert_eq!(found("resolved", &"0".repeat(64)), 1);
    assert_eq!(found("context_changed", &"0".repeat(64)), 0);
}

#[test]
fn answers_are_found_whatever_the_blanks() {
    let code = "hard_call_hash_unnormalized";
    let check = |prompt: &str,
                 options: &str,
                 prompt_hash: Digest,
                 options_hash: Digest,
                 expected: &[(u64, &str)]| {
        let record = format!(
            r#"{{"prompt_text":"{prompt}","options":{options},"normalized_prompt_hash":"{prompt_hash}","normalized_options_hash":"{options_hash}"}}"#
        );
        check(code, &[("HardCallResolution", &record)], expected);
    };
    let options = r#"[{"option_id":"y","label":"Yes  please"}]"#;
    let value = countersign_record::json::parse(options.as_bytes()).unwrap();
    let right = text::value_hash(&value).unwrap();
    let wrong = &[(1, "/normalized_options_hash")];
    check("a  b", options, text::hash("a b"), right, &[]);
    check("a b", options, Digest::of(b"a b"), right, &[]);
    check("a  b", options, Digest::of(b"a  b"), right, &[(1, "/normalized_prompt_hash")]);
    check("a b", options, text::hash("a b"), world::hash(&value).unwrap(), wrong);
    check("a b", options, text::hash("a b"), Digest::of(options.as_bytes()), wrong);
    let plain = r#"[{"option_id":"y","label":"Yes"}]"#;
    check("a b", plain, text::hash("a b"), Digest::of(plain.as_bytes()), wrong);
    // A hash of something else is no raw hash.
    check("a b", options, Digest::of(b"x"), Digest::of(b"x"), &[]);
}
