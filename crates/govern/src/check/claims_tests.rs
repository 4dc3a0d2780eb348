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
    check(&good, &[], &receipt("not_checked", "not_checked"), &[]);
    check(&good, &[], &receipt("not_checked", "direct_contradiction"), &[(3, "/decisive_reason")]);
    // Who says that nobody looked says so of a claim that nothing bears on.
    let unchecked = receipt("not_checked", "not_checked");
    check(&good, &["direct"], &unchecked, &[(4, "/derived_support_status")]);
    check(&good, &["contradicts"], &unchecked, &[(4, "/derived_support_status")]);
}

#[test]
fn a_claim_stands_by_a_policy_that_is_there() {
    let supported = receipt("supported", "direct_verified_support");
    let receipt = ("ClaimSupportDerivationReceipt", &*supported);
    check(CODE, &[receipt], &[(1, "/policy_ref")]);
    check(CODE, &[("ClaimSupportDerivationPolicy", r#"{"policy_id":"p"}"#), receipt], &[(2, "/policy_ref")]);
    let against = r#"{"source_record_ref":"src:s","supports_claim_refs":["claim:a/c"],"support_strength":"contradicts"}"#;
    check(CODE, &[("SourceEvidenceAnchor", against), receipt], &[(2, "/policy_ref")]);
}

#[test]
fn no_receipt_is_too_old_to_be_derived_anew() {
    let unsupported = receipt("unsupported", "no_supporting_anchor");
    let supported = receipt("supported", "direct_verified_support");
    let mut rows = std::vec![POLICY, ("ClaimSupportDerivationReceipt", &*supported)];
    rows.extend((0..200).map(|_| ("ClaimSupportDerivationReceipt", &*unsupported)));
    check(CODE, &rows, &[(2, "/derived_support_status")]);
}

/// Receipts among anchors and sources in any order, against what each of them comes to alone.
#[test]
fn what_bears_on_a_claim_is_counted_as_it_comes() {
    let mut state = 7_u64;
    let mut pick = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    for _ in 0..60 {
        let flag = |one: u64| if one == 0 { "false" } else { "true" };
        let rules = ["any_direct_contradiction_controls", "weighted_by_authority"];
        let policy = format!(
            r#"{{"policy_id":"p","required_for_supported":{{"min_direct_supporting_anchors":{},"require_verified_source":{},
            "allow_stale_source":{},"allow_contradicting_anchor":true}},
            "partial_support_rule":"direct_anchor_unverified","contradiction_rule":"{}"}}"#,
            pick(4),
            flag(pick(2)),
            flag(pick(2)),
            rules[usize::try_from(pick(2)).unwrap()]
        );
        let mut rows = std::vec![("ClaimSupportDerivationPolicy", policy)];
        for _ in 0..40 {
            let (id, number) = (pick(3), usize::try_from(pick(4)).unwrap());
            rows.push(match pick(3) {
                0 => ("SourceRecord", format!(
                    r#"{{"source_id":"s{id}","verification_state":"{}","fresh_until":"2026-03-02T08:{:02}:00Z",
                    "applicability_scopes":[{{"authority_level":"{}"}}]}}"#,
                    ["verified", "unverified"][number % 2],
                    10 + pick(30),
                    ["binding", "persuasive", "advisory", "unknown"][number]
                )),
                1 => ("SourceEvidenceAnchor", format!(
                    r#"{{"source_record_ref":"src:s{id}","supports_claim_refs":["claim:a/c"],"support_strength":"{}"}}"#,
                    ["direct", "direct", "indirect", "contradicts"][number]
                )),
                _ => ("ClaimSupportDerivationReceipt", String::from(
                    r#"{"claim_ref":"claim:a/c","policy_ref":"p","derived_support_status":"supported"}"#,
                )),
            });
        }
        let rows: std::vec::Vec<(&str, &str)> =
            rows.iter().map(|(kind, row)| (*kind, row.as_str())).collect();
        let together = crate::check::trial::rows_with(CODE, &crate::check::trial::by_minute(&rows));
        let is_receipt = |at: &usize| rows[*at].0 == "ClaimSupportDerivationReceipt";
        let alone = (0..rows.len()).filter(is_receipt).filter(|at| {
            // No other receipt, but a place for each; and nothing that bears on the claim behind it.
            let other = ("TaskCostRecord", "{}");
            let is_other = |one: &usize| {
                is_receipt(one) && one != at || one > at && rows[*one].0 == "SourceEvidenceAnchor"
            };
            let few = (0..rows.len()).map(|one| if is_other(&one) { other } else { rows[one] });
            let few: std::vec::Vec<(&str, &str)> = few.collect();
            !crate::check::trial::rows_with(CODE, &crate::check::trial::by_minute(&few)).is_empty()
        });
        let alone: std::vec::Vec<u64> = alone.map(|at| u64::try_from(at).unwrap() + 1).collect();
        assert_eq!(together, alone, "{rows:#?}");
    }
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
    let need = ("ResearchNeed", r#"{"target_refs":["src:s"],"unresolved_reason":"source_unavailable"}"#);
    let about = ("ResearchNeed", r#"{"target_refs":["src:s"],"question":"Does it still apply?"}"#);
    let reader = |kind: &str| format!(r#"{{"capability_ref":"x","source_kinds":["{kind}"]}}"#);
    let (own, other) = (reader("custom"), reader("file"));
    let check = |reader: &str, need: (&str, &str), expected: &[(u64, &str)]| {
        crate::check::trial::has_places(code, &[source, ("ExtractorCapability", reader), need], expected);
    };
    check(&other, need, &[(3, "/target_refs")]);
    check(&own, need, &[]);
    // A question about a source that is there says nothing of what could read it.
    check(&other, about, &[]);
    crate::check::trial::has_places(code, &[source, need], &[]);
}
