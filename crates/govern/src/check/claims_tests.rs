//! Claims stand as their receipts say, and receipts as their anchors do.

use crate::check::trial::has_places as check;
use std::format;
use std::string::String;

fn receipt(status: &str, reason: &str) -> String {
    format!(
        r#"{{"receipt_id":"r","claim_ref":"claim:a/c","policy_ref":"p","derived_support_status":"{status}","decisive_reason":"{reason}","created_at":"2026-03-02T09:00:00Z"}}"#
    )
}

const CODE: &str = "claim_support_status_without_derivation";
const POLICY: (&str, &str) = (
    "ClaimSupportDerivationPolicy",
    r#"{"policy_id":"p","required_for_supported":{"min_direct_supporting_anchors":1,"require_verified_source":true,
        "allow_stale_source":false,"allow_contradicting_anchor":false},
        "partial_support_rule":"any_indirect_or_contextual_anchor","contradiction_rule":"any_direct_contradiction_controls"}"#,
);

#[test]
fn an_entry_says_what_its_receipt_says() {
    let unchecked = receipt("not_checked", "not_checked");
    let entry = |claim: &str, status: &str, receipt: &str| {
        format!(
            r#"{{"claim_ref":"claim:a/{claim}","support_status":"{status}","support_derivation_receipt_ref":"{receipt}"}}"#
        )
    };
    let check = |entry: String, expected: &[(u64, &str)]| {
        let rows = &[("ClaimSupportDerivationReceipt", &*unchecked), ("EvidencePackageClaimEntry", &*entry)];
        check(CODE, rows, expected);
    };
    let (right, wrong) = ("claim_support_derivation_receipt:r", &[(2, "/support_status")]);
    check(entry("c", "not_checked", right), &[]);
    check(entry("c", "not_checked", "claim_support_derivation_receipt:q"), wrong);
    check(entry("d", "not_checked", right), wrong);
    check(entry("c", "unsupported", right), wrong);
    check(String::from("{}"), &[]);
}

#[test]
fn packages_hold_entries() {
    let package = r#"{"claim_support_map":[{"claim_ref":"claim:a/c","support_status":"supported"}]}"#;
    check(CODE, &[("EvidencePackage", package)], &[(1, "/claim_support_map/0/support_status")]);
}

#[test]
fn receipts_are_derived_anew() {
    let source = |state: &str, until: &str| {
        format!(
            r#"{{"source_id":"s","verification_state":"{state}","fresh_until":"2026-03-02T{until}:00Z"}}"#
        )
    };
    let anchor = |strength: &str| {
        format!(
            r#"{{"source_record_ref":"src:s","supports_claim_refs":["claim:a/c"],"support_strength":"{strength}"}}"#
        )
    };
    let check = |source: &str, anchors: &[&str], receipt: &str, expected: &[(u64, &str)]| {
        let anchors: std::vec::Vec<String> = anchors.iter().map(|strength| anchor(strength)).collect();
        let mut rows = std::vec![POLICY, ("SourceRecord", source)];
        rows.extend(anchors.iter().map(|anchor| ("SourceEvidenceAnchor", anchor.as_str())));
        rows.push(("ClaimSupportDerivationReceipt", receipt));
        check(CODE, &rows, expected);
    };
    let good = source("verified", "10:00");
    let supported = receipt("supported", "direct_verified_support");
    let stale = receipt("indeterminate_stale_or_unverified", "stale_or_unverified_source");
    check(&good, &["direct"], &supported, &[]);
    check(&good, &["direct", "contradicts"], &supported, &[(5, "/derived_support_status")]);
    check(&good, &["direct"], &receipt("supported", "no_supporting_anchor"), &[(4, "/decisive_reason")]);
    check(&good, &[], &supported, &[(3, "/derived_support_status")]);
    // A source is fresh until, and not at, that time.
    check(&source("verified", "09:00"), &["direct"], &stale, &[]);
    check(&source("unverified", "10:00"), &["direct"], &stale, &[]);
    check(&source("unverified", "10:00"), &["direct"], &supported, &[(4, "/derived_support_status")]);
    check(&good, &["direct"], &receipt("not_checked", "not_checked"), &[]);
    check(&good, &["direct"], &receipt("not_checked", "direct_contradiction"), &[(4, "/decisive_reason")]);
}

#[test]
fn what_came_later_changes_nothing() {
    let good = ("SourceRecord", r#"{"source_id":"s","verification_state":"verified"}"#);
    let bad = ("SourceRecord", r#"{"source_id":"s","verification_state":"unverified"}"#);
    let anchor = |strength: &str| {
        format!(
            r#"{{"source_record_ref":"src:s","supports_claim_refs":["claim:a/c"],"support_strength":"{strength}"}}"#
        )
    };
    let (direct, against) = (anchor("direct"), anchor("contradicts"));
    let supported = receipt("supported", "direct_verified_support");
    let rows = &[
        POLICY,
        good,
        ("SourceEvidenceAnchor", &*direct),
        ("ClaimSupportDerivationReceipt", &*supported),
        bad,
        ("SourceEvidenceAnchor", &*against),
    ];
    check(CODE, rows, &[]);
}

#[test]
fn anchors_bear_on_claims_that_are_there() {
    let code = "evidence_anchor_without_claim_ref";
    let anchor = ("SourceEvidenceAnchor", r#"{"supports_claim_refs":["claim:a/c"]}"#);
    check(code, &[anchor], &[(1, "/supports_claim_refs/0")]);
    check(code, &[anchor, ("ArtifactVersion", r#"{"artifact_stable_id":"a"}"#)], &[]);
    check(
        code,
        &[anchor, ("ArtifactVersion", r#"{"artifact_stable_id":"b"}"#)],
        &[(1, "/supports_claim_refs/0")],
    );
    check(code, &[anchor, ("EvaluationFindingEvent", r#"{"affected_claim_refs":["claim:a/c"]}"#)], &[]);
    check(code, &[("SourceEvidenceAnchor", "{}")], &[(1, "/supports_claim_refs")]);
    let odd = ("SourceEvidenceAnchor", r#"{"supports_claim_refs":["artifact:a"]}"#);
    check(
        code,
        &[odd, ("ArtifactVersion", r#"{"artifact_stable_id":"a"}"#)],
        &[(1, "/supports_claim_refs/0")],
    );
}

#[test]
fn payloads_have_registered_schemas() {
    let code = "domain_payload_without_registry_ref";
    let row = ("DomainPayloadRegistryRef", r#"{"domain_payload_kind":"lease","domain_payload_version":"1"}"#);
    let record = |version: &str| {
        format!(
            r#"{{"domain_payload":{{"a":1}},"domain_payload_registry_ref":{{"domain_payload_kind":"lease","domain_payload_version":"{version}"}},
                "applicability_scopes":[{{"domain_specific_payload":{{"b":1}}}}]}}"#
        )
    };
    let both = &[(2, "/applicability_scopes/0/domain_specific_payload"), (2, "/domain_payload")];
    check(code, &[row, ("SourceRecord", &record("1"))], &[]);
    check(code, &[row, ("SourceRecord", &record("2"))], both);
    let scope = ("ApplicabilityScope", r#"{"domain_specific_payload":{"b":1}}"#);
    check(code, &[row, scope], &[(2, "/domain_specific_payload")]);
    check(code, &[row, ("SourceRecord", r#"{"domain_payload":{}}"#)], &[]);
}

#[test]
fn what_cannot_be_read_is_not_missing() {
    let code = "extractor_missing_reported_as_source_missing";
    let source = ("SourceRecord", r#"{"source_id":"s","source_kind":"custom"}"#);
    let result = |cause: &str, source: &str| {
        format!(
            r#"{{"decision":{{"indeterminate_causes":["{cause}"],"limitations":[],"missing_source_refs":["src:{source}"]}}}}"#
        )
    };
    let check = |row: (&str, &str), expected: &[(u64, &str)]| check(code, &[source, row], expected);
    check(("EvaluationResultEnvelope", &result("missing_source", "s")), &[(2, "/decision")]);
    check(("EvaluationResultEnvelope", &result("missing_capability", "s")), &[]);
    check(("EvaluationResultEnvelope", &result("missing_source", "t")), &[]);
    let limited = r#"{"decision":{"limitations":["source_unavailable"],"missing_source_refs":["src:s"]}}"#;
    check(("EvaluationResultEnvelope", limited), &[(2, "/decision")]);
    let need = ("ResearchNeed", r#"{"target_refs":["src:s"]}"#);
    check(need, &[(2, "/target_refs")]);
    let reader = ("ExtractorCapability", r#"{"capability_ref":"x","source_kinds":["custom"]}"#);
    crate::check::trial::has_places(code, &[source, reader, need], &[]);
}
