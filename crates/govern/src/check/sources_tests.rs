//! What is a source.

use crate::check::trial::has_places as check;
use std::string::String;
use std::vec::Vec;

#[test]
fn authority_is_not_treatment() {
    let code = "legal_payload_authority_level_legacy";
    check(code, &[("LegalSourcePayload", r#"{"authority_level":"binding"}"#)], &[(1, "/authority_level")]);
    let record = r#"{"source_id":"s","legal_payload":{"authority_level":"adverse"}}"#;
    check(code, &[("SourceRecord", record)], &[(1, "/legal_payload/authority_level")]);
    check(code, &[("ApplicabilityScope", r#"{"authority_level":"limited"}"#)], &[(1, "/authority_level")]);
    let record = r#"{"applicability_scopes":[{"authority_level":"binding"},{"authority_level":"adverse"}]}"#;
    check(code, &[("SourceRecord", record)], &[(1, "/applicability_scopes/1/authority_level")]);
    check(code, &[("ApplicabilityScope", r#"{"authority_level":"binding"}"#)], &[]);
    check(code, &[("SourceRecord", r#"{"legal_payload":7,"applicability_scopes":"x"}"#)], &[]);
}

#[test]
fn a_payload_speaks_for_its_own_jurisdiction() {
    let check = |payload: &str, scopes: &[(&str, &str)], expected: &[(u64, &str)]| {
        let scope = |(place, level): &(&str, &str)| {
            std::format!(
                r#"{{"scope_kind":"legal_jurisdiction","scope_value":"{place}","authority_level":"{level}"}}"#
            )
        };
        let scopes: Vec<String> = scopes.iter().map(scope).collect();
        let record =
            std::format!(r#"{{"legal_payload":{payload},"applicability_scopes":[{}]}}"#, scopes.join(","));
        check("authority_level_projection_drift", &[("SourceRecord", &record)], expected);
    };
    let at_0 = &[(1, "/applicability_scopes/0/authority_level")];
    let own = r#"{"source_authority_level":"binding","jurisdiction":"E"}"#;
    check(own, &[("E", "advisory")], at_0);
    check(own, &[("S", "advisory")], &[]);
    check(own, &[("E", "binding"), ("S", "advisory")], &[]);
    let unnamed = r#"{"source_authority_level":"binding"}"#;
    check(unnamed, &[("E", "advisory")], at_0);
    check(unnamed, &[("E", "advisory"), ("S", "binding")], &[]);
    check(r#"{"jurisdiction":"E"}"#, &[("E", "advisory")], &[]);
}

#[test]
fn lookups_become_sources_by_an_operation_only() {
    let code = "tier0_source_record_materialized";
    check(code, &[("SourceRecord", r#"{"source_id":"s","tier":4}"#)], &[(1, "/tier")]);
    let lookup = ("EphemeralSourceLookupReceipt", r#"{"receipt_id":"l"}"#);
    let record = ("SourceRecord", r#"{"source_id":"s","tier":1}"#);
    let edge =
        ("DerivationEdge", r#"{"output_ref":"src:s","input_refs":["ephemeral_source_lookup_receipt:l"]}"#);
    check(code, &[lookup, record, edge], &[(2, "/source_id")]);
    let operation = (
        "SourceWorkspaceOperation",
        r#"{"operation_id":"o","operation_kind":"add_source_record","payload_ref":"src:s"}"#,
    );
    let applied = ("SourceWorkspaceOperationReceipt", r#"{"operation_id":"o","status":"applied"}"#);
    let refused =
        ("SourceWorkspaceOperationReceipt", r#"{"operation_id":"o","status":"rejected_by_policy"}"#);
    check(code, &[lookup, operation, applied, record, edge], &[]);
    check(code, &[lookup, operation, refused, record, edge], &[(4, "/source_id")]);
    check(code, &[lookup, operation, record, edge], &[(3, "/source_id")]);
}

#[test]
fn lookups_support_nothing() {
    let code = "claim_depends_on_tier0_lookup";
    let lookup = ("EphemeralSourceLookupReceipt", r#"{"receipt_id":"l"}"#);
    check(
        code,
        &[lookup, ("SourceEvidenceAnchor", r#"{"source_record_ref":"src:l"}"#)],
        &[(2, "/source_record_ref")],
    );
    let named = r#"["src:s","ephemeral_source_lookup_receipt:l"]"#;
    let finding = std::format!(r#"{{"evidence_refs":{named}}}"#);
    check(code, &[lookup, ("EvaluationFindingEvent", &finding)], &[(2, "/evidence_refs/1")]);
    let package = std::format!(r#"{{"claim_support_map":[{{"supporting_anchor_refs":{named}}}]}}"#);
    let path = "/claim_support_map/0/supporting_anchor_refs/1";
    check(code, &[lookup, ("EvidencePackage", &package)], &[(2, path)]);
    let trace = std::format!(r#"{{"step_refs":{named}}}"#);
    check(code, &[lookup, ("ExplanationTrace", &trace)], &[]);
    let trace = std::format!(r#"{{"evidence_refs":{named}}}"#);
    check(code, &[lookup, ("ExplanationTrace", &trace)], &[]);
}

#[test]
fn each_move_of_a_tier_takes_a_receipt() {
    let code = "source_tier_transition_not_persisted";
    let at = |tier: u8| std::format!(r#"{{"source_id":"s","tier":{tier}}}"#);
    let (one, two) = (at(1), at(2));
    let (one, two) = (("SourceRecord", one.as_str()), ("SourceRecord", two.as_str()));
    let up = ("SourceTierTransitionReceipt", r#"{"source_id":"s","from_tier":1,"to_tier":2}"#);
    let down = ("SourceTierTransitionReceipt", r#"{"source_id":"s","from_tier":2,"to_tier":1}"#);
    check(code, &[one, one], &[]);
    check(code, &[one, up, two, down, one, up, two], &[]);
    check(code, &[one, up, two, down, one, two], &[(6, "/tier")]);
    check(code, &[one, down, two], &[(3, "/tier")]);
    check("source_tier_demotion_without_authority", &[up, down], &[(2, "/cleared_by_access_tier")]);
}
