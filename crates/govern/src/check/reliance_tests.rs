//! Other ways in which reliance goes wrong.

use super::*;
use crate::check::trial::has_found;
use countersign_record::json;
use std::format;
use std::string::String;

const PACKET: &str = "TaskReliancePacket";
const PACKAGE: (&str, &str) =
    ("EvidencePackage", r#"{"evidence_package_id":"e","run_id":"r","final_artifact_refs":["artifact:a"]}"#);
const STATUS: &str = "reliance_status_not_derivable /reliance_derivation/status";
const LIMITS: &str = "reliance_status_not_derivable /reliance_derivation/unresolved_limitations";

/// A packet of the run `r` on the evidence `e`, made at a place, with these members of its manifest besides.
fn packet(made: u64, manifest: &str, status: &str, limitations: &str, state: &str) -> String {
    let text = format!(
        r#"{{"final_artifact_refs":["artifact:a"],"evidence_package_refs":["evidence_package:e"],
        "created_from_event_seq":{made}{manifest}}}"#
    );
    let manifest = json::parse(text.as_bytes()).unwrap();
    let hash = String::from_utf8(world::hash(&manifest).unwrap().hex().to_vec()).unwrap();
    let Json::Object(mut members) = manifest else { panic!("no object") };
    members.insert("input_manifest_hash", hash);
    let manifest = json::to_text(&Json::Object(members)).unwrap();
    format!(
        r#"{{"packet_id":"p","run_id":"r","lifecycle_state":"{state}","input_manifest":{manifest},
        "reliance_derivation":{{"status":"{status}","unresolved_limitations":[{limitations}],
        "derivation_policy_ref":"policy"}}}}"#
    )
}

const CHAIN: &str = "EvaluationChainResolutionReceipt";
const CHAINED: &str =
    r#","evaluation_chain_resolution_receipt_refs":["evaluation_chain_resolution_receipt:c"]"#;

fn chain(verdict: &str, route: &str) -> String {
    format!(
        r#"{{"receipt_id":"c","chain_id":"k","resolved_verdict":"{verdict}","resolved_route":"{route}",
        "result_ids_considered":["x"]}}"#
    )
}

/// A row, the members of the manifest that cite it, and the status and the limitations that it leads to.
fn counts(kind: &str, record: &str, manifest: &str, status: &str, limitations: &str) {
    let right = packet(2, manifest, status, limitations, "draft");
    has_found(&AREA, &[PACKAGE, (kind, record), (PACKET, &right)], &[]);
    let wrong = if status == "not_safe_to_rely" { "human_review_required" } else { "not_safe_to_rely" };
    let wrong = packet(2, manifest, wrong, limitations, "draft");
    has_found(&AREA, &[PACKAGE, (kind, record), (PACKET, &wrong)], &[&format!("3 {STATUS}")]);
    let more = packet(2, manifest, status, r#""missing_capability""#, "draft");
    has_found(&AREA, &[PACKAGE, (kind, record), (PACKET, &more)], &[&format!("3 {LIMITS}")]);
}

#[test]
fn chains_and_policies_count() {
    let unresolved = r#""pattern_c_chain_unresolved""#;
    counts(CHAIN, &chain("passed", "pass_path"), CHAINED, "safe_to_rely_within_scope", "");
    counts(CHAIN, &chain("failed", "fail_path"), CHAINED, "not_safe_to_rely", "");
    counts(CHAIN, &chain("indeterminate", "human_review_path"), CHAINED, "human_review_required", "");
    counts(CHAIN, &chain("indeterminate", "retry_path"), CHAINED, "human_review_required", unresolved);
    let open = r#","evaluation_chain_ids":["k"]"#;
    counts("OutcomeRecord", r#"{"outcome_id":"o"}"#, open, "human_review_required", unresolved);
    for (word, status, limitation) in [
        ("allow", "safe_to_rely_within_scope", ""),
        ("warn", "rely_with_limitations", r#""policy_warning""#),
        ("deny", "rely_with_limitations", r#""policy_blocked""#),
        ("require_human", "human_review_required", r#""human_judgment_needed""#),
    ] {
        let policy = format!(r#"{{"policy_evaluation_id":"y","decision":"{word}"}}"#);
        let cited = r#","policy_decision_refs":["policy_evaluation:y"]"#;
        counts("PolicyEvaluation", &policy, cited, status, limitation);
    }
}

#[test]
fn reviews_limits_calls_and_effects_count() {
    let review = r#"{"packet_id":"v","state":"review_pending","decision_receipt_refs":[]}"#;
    let cited = r#","revision_review_packet_refs":["revision_review_packet:v"]"#;
    let limitation = r#""unreviewed_candidate_revision""#;
    counts("RevisionReviewPacket", review, cited, "human_review_required", limitation);
    let envelope = r#"{"result_id":"x","run_id":"r","evaluation_snapshot_ref":"evaluation_snapshot:s",
        "decision":{"limitations":["stale_evidence"]}}"#;
    let cited = r#","evaluation_snapshot_refs":["evaluation_snapshot:s"]"#;
    counts("EvaluationResultEnvelope", envelope, cited, "rely_with_limitations", r#""stale_evidence""#);
    let call = r#"{"hard_call_id":"h","run_id":"r","options":[{},{}]}"#;
    counts("HardRevisionCall", call, "", "human_review_required", "");
    let effect = r#"{"side_effect_id":"s","run_id":"r","kind":"mail","state":"executed"}"#;
    let limitation = r#""external_side_effect_unverified""#;
    counts("SideEffectLedgerEntry", effect, "", "rely_with_limitations", limitation);
}

/// A blocker of a result that a chain looked at counts, until it is closed.
#[test]
fn live_blockers_count() {
    let blocker = r#"{"finding_event_id":"fe","finding_id":"f","result_id":"x","severity":"blocking",
        "blocking_authority":{"satisfied":true},"emitted_state":"active"}"#;
    let passed = chain("passed", "pass_path");
    let rows = [PACKAGE, (CHAIN, passed.as_str()), ("EvaluationFindingEvent", blocker)];
    let blocked = packet(3, CHAINED, "not_safe_to_rely", "", "draft");
    has_found(&AREA, &[rows[0], rows[1], rows[2], (PACKET, &blocked)], &[]);
    let safe = packet(4, CHAINED, "safe_to_rely_within_scope", "", "draft");
    let blocked = packet(4, CHAINED, "not_safe_to_rely", "", "draft");
    for (from, to, reason, right) in [
        ("active", "resolved", "revision_resolved", &safe),
        // Out of an end, for no such reason, by waiting, from where it is not: all of that closes nothing.
        ("dismissed", "resolved", "revision_resolved", &blocked),
        ("active", "resolved", "user_contested", &blocked),
        ("active", "expired", "expired_by_policy", &blocked),
        ("proposed", "expired", "expired_by_policy", &blocked),
    ] {
        let closed = format!(
            r#"{{"receipt_id":"t","finding_id":"f","from_state":"{from}","to_state":"{to}","transition_reason":"{reason}"}}"#
        );
        let closed = ("FindingLifecycleTransitionReceipt", closed.as_str());
        has_found(&AREA, &[rows[0], rows[1], rows[2], closed, (PACKET, right)], &[]);
    }
}

/// A blocker counts that an earlier look raised, also where the last one did not raise it again; the last that was said of it counts.
#[test]
fn blockers_of_earlier_looks_count() {
    let event = |id: &str, result: &str, severity: &str| {
        format!(
            r#"{{"finding_event_id":"{id}","finding_id":"f","result_id":"{result}","severity":"{severity}",
            "blocking_authority":{{"satisfied":true}},"emitted_state":"active"}}"#
        )
    };
    let (first, worse, less) =
        (event("e1", "w", "blocking"), event("e2", "x", "blocking"), event("e2", "x", "medium"));
    let earlier = r#"{"result_id":"w","run_id":"r","outcome_id":"o"}"#;
    let last = r#"{"result_id":"x","run_id":"r","outcome_id":"o"}"#;
    let passed = chain("passed", "pass_path");
    let rows = [
        PACKAGE,
        ("EvaluationResultEnvelope", earlier),
        ("EvaluationFindingEvent", first.as_str()),
        ("EvaluationResultEnvelope", last),
        (CHAIN, passed.as_str()),
    ];
    let moved = r#"{"receipt_id":"t","finding_id":"f","from_state":"active","to_state":"superseded_by_source_change",
        "transition_reason":"source_changed"}"#;
    let moved = ("FindingLifecycleTransitionReceipt", moved);
    let other = r#"{"result_id":"w","run_id":"another","outcome_id":"o"}"#;
    let check = |rows: &[(&'static str, &str)], status: &str| {
        let packet = packet(rows.len() as u64, CHAINED, status, "", "draft");
        has_found(&AREA, &[rows, &[(PACKET, packet.as_str())]].concat(), &[]);
    };
    check(&rows, "not_safe_to_rely");
    check(&[&rows[..], &[moved]].concat(), "safe_to_rely_within_scope");
    check(&[&rows[..], &[("EvaluationFindingEvent", &worse)]].concat(), "not_safe_to_rely");
    check(&[&rows[..], &[("EvaluationFindingEvent", &less)]].concat(), "safe_to_rely_within_scope");
    let [package, _, finding, last, chain] = rows;
    let rows = [package, ("EvaluationResultEnvelope", other), finding, last, chain];
    check(&rows, "safe_to_rely_within_scope");
}

/// An outcome that was given up counts by whether the task insists on it; so does what was found of it.
#[test]
fn outcomes_that_were_given_up_count() {
    let failed = chain("failed", "fail_path");
    let envelope = r#"{"result_id":"x","run_id":"r","outcome_id":"o"}"#;
    let warned = r#""policy_warning""#;
    for (required, moved, status, limitation) in [
        ("", "needs_revision", "not_safe_to_rely", ""),
        ("", "superseded", "not_safe_to_rely", ""),
        ("", "upstream_failure", "not_safe_to_rely", ""),
        (r#","required":false"#, "needs_revision", "rely_with_limitations", warned),
        (r#","required":false"#, "superseded", "rely_with_limitations", warned),
    ] {
        let outcome = format!(r#"{{"outcome_id":"o","run_id":"r"{required}}}"#);
        let step = format!(
            r#"{{"event_id":"m","outcome_id":"o","run_id":"r","from_state":"pending","to_state":"{moved}"}}"#
        );
        let rows = [
            PACKAGE,
            ("OutcomeRecord", outcome.as_str()),
            ("EvaluationResultEnvelope", envelope),
            (CHAIN, failed.as_str()),
            ("OutcomeStateTransitionEvent", step.as_str()),
        ];
        let packet = packet(5, CHAINED, status, limitation, "draft");
        has_found(&AREA, &[&rows[..], &[(PACKET, &packet)]].concat(), &[]);
    }
    // Without any look: what was given up is seen by its move alone.
    let outcome = ("OutcomeRecord", r#"{"outcome_id":"o","run_id":"r"}"#);
    for (run, from, status) in [
        ("r", "pending", "not_safe_to_rely"),
        // From where it is not, and in another run.
        ("r", "satisfied", "safe_to_rely_within_scope"),
        ("q", "pending", "safe_to_rely_within_scope"),
    ] {
        let moved = format!(
            r#"{{"event_id":"m","outcome_id":"o","run_id":"{run}","from_state":"{from}","to_state":"superseded"}}"#
        );
        let packet = packet(3, "", status, "", "draft");
        let rows = [PACKAGE, outcome, ("OutcomeStateTransitionEvent", &moved), (PACKET, packet.as_str())];
        has_found(&AREA, &rows, &[]);
    }
}

#[test]
fn claims_and_missing_evidence_count() {
    let package = |status: &str| {
        format!(
            r#"{{"evidence_package_id":"e","claim_support_map":[{{"claim_ref":"claim:a/1","support_status":"{status}"}}]}}"#
        )
    };
    for (support, status, limitation) in [
        ("supported", "safe_to_rely_within_scope", ""),
        ("contradicted", "not_safe_to_rely", ""),
        ("unsupported", "rely_with_limitations", r#""unable_to_ground_claim""#),
        ("partially_supported", "rely_with_limitations", r#""insufficient_evidence""#),
        ("not_checked", "rely_with_limitations", r#""unchecked_claims_present""#),
        ("indeterminate_stale_or_unverified", "rely_with_limitations", r#""stale_source_present""#),
    ] {
        let packet = packet(1, "", status, limitation, "draft");
        has_found(&AREA, &[("EvidencePackage", &package(support)), (PACKET, &packet)], &[]);
    }
    // A manifest that names what is not there can't be derived from.
    let alone = packet(0, "", "safe_to_rely_within_scope", "", "draft");
    has_found(&AREA, &[(PACKET, &alone)], &["1 reliance_status_not_derivable /input_manifest"]);
}

#[test]
fn decisive_inputs_and_receipts_are_there() {
    let safe = packet(1, "", "safe_to_rely_within_scope", "", "draft");
    let outside = safe.replace(
        r#""derivation_policy_ref":"policy""#,
        r#""derivation_policy_ref":"","decisive_input_refs":["evidence_package:other"],
        "formula_eval_receipt_ref":"formula_evaluation_receipt:none""#,
    );
    let expected = [
        "2 reliance_status_not_derivable /reliance_derivation/decisive_input_refs",
        "2 reliance_status_not_derivable /reliance_derivation/derivation_policy_ref",
        "2 reliance_status_not_derivable /reliance_derivation/formula_eval_receipt_ref",
    ];
    has_found(&AREA, &[PACKAGE, (PACKET, &outside)], &expected);
    let nothing = r#"{"packet_id":"p","run_id":"r","lifecycle_state":"draft"}"#;
    has_found(&AREA, &[(PACKET, nothing)], &["1 reliance_packet_without_input_manifest /input_manifest"]);
}

#[test]
fn whatever_is_replaced_makes_it_stale() {
    let changes = [
        (
            "ArtifactVersion",
            r#"{"artifact_version_id":"w","artifact_stable_id":"a"}"#,
            "ArtifactVersionTransitionEvent",
            r#"{"event_id":"t","artifact_version_ref":"artifact_version:w","to_state":"accepted_head"}"#,
            "",
            "final_artifact_refs",
        ),
        (
            "EvaluationSnapshot",
            r#"{"snapshot_id":"s","source_workspace_snapshot_hashes":[{"source_workspace_ref":"ws"}]}"#,
            "SourceWorkspaceOperationReceipt",
            r#"{"receipt_id":"t","workspace_id":"ws","status":"applied","prior_workspace_head_hash":"5",
            "new_workspace_head_hash":"6"}"#,
            r#","evaluation_snapshot_refs":["evaluation_snapshot:s"]"#,
            "source_workspace_snapshot_refs",
        ),
        (
            "EvaluationChainResolutionReceipt",
            r#"{"receipt_id":"c","chain_id":"k","resolved_verdict":"passed","resolved_route":"pass_path"}"#,
            "EvaluationChainResolutionReceipt",
            r#"{"receipt_id":"d","chain_id":"k","resolved_verdict":"failed","resolved_route":"fail_path"}"#,
            r#","evaluation_chain_resolution_receipt_refs":["evaluation_chain_resolution_receipt:c"]"#,
            "evaluation_chain_resolution_receipt_refs",
        ),
        (
            "HardCallResolutionReceipt",
            r#"{"receipt_id":"c","hard_call_id":"h"}"#,
            "HardCallResolutionReceipt",
            r#"{"receipt_id":"d","hard_call_id":"h"}"#,
            r#","hard_call_resolution_refs":["hard_call_resolution_receipt:c"]"#,
            "hard_call_resolution_refs",
        ),
        (
            "PolicyEvaluation",
            r#"{"policy_evaluation_id":"y","decision":"allow","superseded_by":"policy_evaluation:z"}"#,
            "PolicyEvaluation",
            r#"{"policy_evaluation_id":"z","decision":"deny"}"#,
            r#","policy_decision_refs":["policy_evaluation:y"]"#,
            "policy_decision_refs",
        ),
        ("OutcomeRecord", r#"{"outcome_id":"o"}"#, PACKAGE.0, PACKAGE.1, "", "evidence_package_refs"),
    ];
    let fell = ("RelianceInvalidationEvent", r#"{"event_id":"i","packet_id":"p"}"#);
    for (kind, record, later_kind, later, manifest, field) in changes {
        let packet = |state| packet(2, manifest, "safe_to_rely_within_scope", "", state);
        let issued = packet("issued");
        let rows = [PACKAGE, (kind, record), (PACKET, issued.as_str()), (later_kind, later)];
        let expected = format!("3 reliance_packet_stale_snapshot /input_manifest/{field}");
        has_found(&AREA, &rows, &[&expected]);
        has_found(&AREA, &[rows[0], rows[1], rows[2], rows[3], fell], &[]);
        // What fell before stands for nobody.
        has_found(&AREA, &[rows[0], rows[1], rows[2], fell, rows[3]], &[]);
        let gone = packet("superseded");
        has_found(&AREA, &[rows[0], rows[1], rows[2], rows[3], (PACKET, &gone)], &[]);
    }
}

#[test]
fn certifications_stand_on_standing_packets() {
    let packet = |state| packet(1, "", "safe_to_rely_within_scope", "", state);
    let (reviewed, invalid) = (packet("user_reviewed"), packet("invalidated"));
    let issued = r#"{"certification_id":"w","task_reliance_packet_ref":"task_reliance_packet:p","lifecycle_state":"issued"}"#;
    let certification = ("WorkProductCertification", issued);
    let wrong = "work_product_certification_without_reliance_packet";
    has_found(&AREA, &[certification], &[&format!("1 {wrong} /task_reliance_packet_ref")]);
    let rows = [PACKAGE, (PACKET, reviewed.as_str()), certification];
    has_found(&AREA, &rows, &[]);
    let fell = ("RelianceInvalidationEvent", r#"{"event_id":"i","packet_id":"p"}"#);
    let state = format!("3 {wrong} /lifecycle_state");
    has_found(&AREA, &[rows[0], rows[1], rows[2], fell], &[&state]);
    has_found(&AREA, &[rows[0], rows[1], rows[2], (PACKET, &invalid)], &[&state]);
    let taken_back = issued.replace("issued", "invalidated");
    has_found(&AREA, &[rows[0], rows[1], rows[2], fell, ("WorkProductCertification", &taken_back)], &[]);
}
