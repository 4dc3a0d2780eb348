//! Ways in which the rules of this area fire, and do not, besides the fixtures.

use crate::check::trial::{from_lines, has_in_lines, places};
use crate::table::invalidation::{ReadModel, SPECS, Scope, When};
use std::format;
use std::string::String;

const STALE: &str = "lifecycle_event_without_read_model_invalidation";

#[test]
fn manifests_have_the_hash_that_they_state() {
    has_in_lines(
        "read_model_without_input_manifest",
        &[
            (r#"DerivedReadModelRecord {"read_model_id":"r"}"#, &["1/input_manifest_ref"]),
            (
                r#"RelianceInputManifest {"row_id":"m","final_artifact_refs":[],"input_manifest_hash":"0"}
                   DerivedReadModelRecord {"read_model_id":"r","input_manifest_ref":"reliance_input_manifest:m"}"#,
                &["2/input_manifest_ref"],
            ),
            (
                r#"RelianceInputManifest {"row_id":"m","final_artifact_refs":[]}
                   DerivedReadModelRecord {"read_model_id":"r","input_manifest_ref":"reliance_input_manifest:m"}"#,
                &[],
            ),
        ],
    );
}

/// A row that is the event of a spec, in a place that is called by a letter.
fn event(event: &str, when: When, at: char) -> String {
    let members = match when {
        When::Always => String::new(),
        When::Has(member) => format!(r#""{member}":"x:1","#),
        When::Is(member, word) => format!(r#""{member}":"{word}","#),
        When::Names(member, kind) => format!(r#""{member}":"{kind}:1","#),
    };
    format!(r#"{event} {{{members}"row_id":"e","run_id":"{at}","task_id":"{at}","matter_id":"{at}"}}"#)
}

/// For all specs, all read models and both places: what depends on an event and is still valid is found, nothing else is.
#[test]
fn what_stays_valid_is_found() {
    for spec in SPECS {
        for model in ReadModel::ALL {
            for (at, is_cited, closed) in [
                ('a', true, ""),
                ('b', false, ""),
                ('a', false, ""),
                ('a', true, r#","valid_until_event_seq":2"#),
            ] {
                let cited = format!("{}:e", crate::reference::snake(spec.event));
                let cites = if is_cited { cited.as_str() } else { "other:e" };
                let lines = format!(
                    r#"ReadModelInputManifest {{"manifest_id":"m","input_refs":["{cites}"]}}
                       DerivedReadModelRecord {{"read_model_id":"r","read_model_kind":"{}","input_manifest_ref":"read_model_input_manifest:m","valid_from_event_seq":1,"run_id":"a","task_id":"a","matter_id":"a"{closed}}}
                       {}"#,
                    model.as_str(),
                    event(spec.event, spec.when, at)
                );
                let scope = spec.invalidates.iter().find(|(one, _)| one == model).map(|(_, scope)| *scope);
                let is_reached = match scope {
                    Some(Scope::SameRun | Scope::SameTask | Scope::SameMatter) => at == 'a',
                    Some(Scope::SpecificRefs) => is_cited,
                    None => false,
                };
                let is_found = !places(STALE, &from_lines(&lines)).is_empty();
                assert_eq!(is_found, is_reached && closed.is_empty(), "{lines}");
            }
        }
    }
}

const HEADER: &str = r#"DerivedReadModelRecord {"read_model_id":"r","read_model_kind":"EvidencePackage","valid_from_event_seq":1,"run_id":"a","task_id":"t"}"#;

#[test]
fn places_are_found_through_what_events_belong_to() {
    let operation = r#"SourceWorkspaceOperation {"operation_id":"o","task_id":"t","workspace_id":"w"}"#;
    let applied =
        r#"SourceWorkspaceOperationReceipt {"receipt_id":"p","operation_id":"o","status":"applied"}"#;
    let failed = r#"SourceWorkspaceOperationReceipt {"receipt_id":"p","operation_id":"o","status":"failed"}"#;
    let found: &[&str] = &["1/invalidated_by_event_ref"];
    for (lines, expected) in [
        ([HEADER, operation, applied].join("\n"), found),
        ([HEADER, operation, failed].join("\n"), &[]),
        // What happened before it was derived is in it.
        ([HEADER.replace(":1,", ":3,").as_str(), operation, applied].join("\n"), &[]),
        // A later version of the header counts, not the first one.
        ([HEADER, operation, applied, &HEADER.replace(":1,", ":3,")].join("\n"), &[]),
        // A spec of the bundle replaces ours for its event kind.
        (
            [HEADER, operation, applied, r#"ReadModelInvalidationSpec {"producer_event_kind":"SourceWorkspaceOperationReceipt","invalidates_read_models":["BudgetNarrative"],"invalidation_scope":"same_task"}"#].join("\n"),
            &[],
        ),
        (
            [HEADER, r#"TaskSkipReceipt {"skip_id":"s","run_id":"a"}"#, r#"ReadModelInvalidationSpec {"producer_event_kind":"TaskSkipReceipt","invalidates_read_models":["EvidencePackage"],"invalidation_scope":"same_run"}"#].join("\n"),
            found,
        ),
        (
            [HEADER, r#"TaskSkipReceipt {"skip_id":"s"}"#, r#"ReadModelInvalidationSpec {"producer_event_kind":"TaskSkipReceipt","invalidates_read_models":["EvidencePackage"],"invalidation_scope":"specific_refs","target_refs":["derived_read_model_record:r"]}"#].join("\n"),
            found,
        ),
    ] {
        assert_eq!(places(STALE, &from_lines(&lines)), expected, "{lines}");
    }
}

#[test]
fn findings_reach_inboxes_of_their_matter_or_of_their_run() {
    let inbox = |matter: &str| {
        format!(
            r#"DerivedReadModelRecord {{"read_model_id":"r","read_model_kind":"FindingsInbox","valid_from_event_seq":1,"run_id":"a"{matter}}}"#
        )
    };
    let lines = |matter: &str| {
        let result = r#"EvaluationResultEnvelope {"result_id":"x","run_id":"a"}"#;
        let finding = r#"EvaluationFindingEvent {"finding_event_id":"e","finding_id":"f","result_id":"x"}"#;
        let moved = r#"FindingLifecycleTransitionReceipt {"receipt_id":"l","finding_id":"f"}"#;
        [inbox(matter).as_str(), result, finding, moved].join("\n")
    };
    assert_eq!(places(STALE, &from_lines(&lines(""))), ["1/invalidated_by_event_ref"]);
    assert!(places(STALE, &from_lines(&lines(r#","matter_id":"m""#))).is_empty());
}

#[test]
fn every_transition_has_a_spec() {
    has_in_lines(
        STALE,
        &[
            (r#"MatterTransitionEvent {"from_state":"open","to_state":"closed"}"#, &["1"]),
            (
                r#"MatterTransitionEvent {"from_state":"open","to_state":"closed"}
               ReadModelInvalidationSpec {"producer_event_kind":"MatterTransitionEvent","invalidates_read_models":[],"invalidation_scope":"same_matter"}"#,
                &[],
            ),
            // Not an event, but a row of a table.
            (r#"RevisionExecutionLifecycleTransition {"from_state":"a","to_state":"b"}"#, &[]),
            (
                r#"RunGuidanceLifecycleReceipt {"receipt_id":"r","from_state":"proposed","to_state":"active"}"#,
                &[],
            ),
        ],
    );
}

#[test]
fn what_is_shown_follows_from_its_inputs() {
    let under = r#"ReadModelInputManifest {"manifest_id":"m","input_refs":["evaluation_finding_record:f","evaluation_chain_registry_record:c"]}
        DerivedReadModelRecord {"read_model_id":"r","input_manifest_ref":"read_model_input_manifest:m","payload_ref":"attention_ledger_item:i"}
        EvaluationFindingRecord {"finding_id":"f","current_state":"dismissed"}
        EvaluationChainRegistryRecord {"chain_id":"c"}"#;
    for (line, expected) in [
        (
            r#"TaskHealthCard {"task_id":"t","active_blocker_refs":["evaluation_finding_record:f"],"health_status":"blocked","derived_read_model_ref":"derived_read_model_record:r"}"#,
            ["5/active_blocker_refs"].as_slice(),
        ),
        (
            r#"TaskHealthCard {"task_id":"t","active_blocker_refs":["evaluation_chain_registry_record:c"],"health_status":"healthy","derived_read_model_ref":"derived_read_model_record:r"}"#,
            &["5/health_status"],
        ),
        (
            r#"TaskHealthCard {"task_id":"t","active_blocker_refs":[],"health_status":"healthy","derived_read_model_ref":"derived_read_model_record:r"}"#,
            &[],
        ),
        (
            r#"UnifiedEvaluationChainView {"view_id":"v","chain_id":"d","chain_registry_record_ref":"evaluation_chain_registry_record:c","derived_read_model_ref":"derived_read_model_record:r"}"#,
            &["5/chain_registry_record_ref"],
        ),
        (r#"AttentionLedgerItem {"item_id":"i","source_ref":"hard_revision_call:h"}"#, &["5/source_ref"]),
        // What is there and not in the manifest, wherever it is cited.
        (
            r#"TaskHealthCard {"task_id":"t","open_refs":["research_need:n","evaluation_finding_record:f"],"derived_read_model_ref":"derived_read_model_record:r"}"#,
            &["5/open_refs/0"],
        ),
        (
            r#"EvidencePackage {"evidence_package_id":"e","claim_support_map":[{"x_ref":"research_need:n"}],"derived_read_model_ref":"derived_read_model_record:r"}"#,
            &["5/claim_support_map/0/x_ref"],
        ),
        // Rules are no inputs, and what a text says is no citation.
        (
            r#"TaskHealthCard {"task_id":"t","by_ref":"derived_field_registry:p","note":"research_need:n","derived_read_model_ref":"derived_read_model_record:r"}"#,
            &[],
        ),
        // Not under a header, so nothing is known of its inputs.
        (r#"AttentionLedgerItem {"item_id":"j","source_ref":"hard_revision_call:h"}"#, &[]),
    ] {
        let beside = r#"ResearchNeed {"need_id":"n","status":"open"}
            DerivedFieldRegistry {"row_id":"p","record_kind":"RunDiff"}"#;
        let lines = [under, line, beside].join("\n");
        assert_eq!(places("read_model_asserts_unbacked_truth", &from_lines(&lines)), expected, "{line}");
    }
}

#[test]
fn inputs_stand_in_a_manifest() {
    has_in_lines(
        "read_model_without_input_manifest",
        &[(
            r#"OutcomeRecord {"outcome_id":"m"}
               DerivedReadModelRecord {"read_model_id":"r","input_manifest_ref":"outcome_record:m"}"#,
            &["2/input_manifest_ref"],
        )],
    );
}

/// A header is closed where the first event stands that it depends on, and not by whatever else is written there.
#[test]
fn a_header_that_is_closed_elsewhere_is_still_valid() {
    let until = |until: &str| format!(r#","valid_until_event_seq":{until}"#);
    let by = |by: &str| format!(r#","invalidated_by_event_ref":"{by}""#);
    let (first, second) = ("task_skip_receipt:s", "task_skip_receipt:t");
    for (closed, is_found) in [
        (String::new(), true),
        (until("999999"), true),
        (until("4"), true),
        (until("3"), false),
        (until("2"), false),
        (until("0"), true),
        (by(first), false),
        // An event that came later, before, that has nothing to do with it, or that nobody wrote.
        (by(second), true),
        (by("task_skip_receipt:q"), true),
        (by("outcome_record:o"), true),
        (by("task_skip_receipt:other"), true),
        (by("task_skip_receipt:lost"), true),
        (until("3") + &by(first), false),
        (until("999999") + &by(first), true),
    ] {
        let lines = format!(
            r#"TaskSkipReceipt {{"skip_id":"q","row_id":"q","run_id":"a"}}
               DerivedReadModelRecord {{"read_model_id":"r","read_model_kind":"TaskHealthCard","valid_from_event_seq":1,"run_id":"a"{closed}}}
               TaskSkipReceipt {{"skip_id":"s","row_id":"s","run_id":"a"}}
               OutcomeRecord {{"outcome_id":"o","run_id":"a"}}
               TaskSkipReceipt {{"skip_id":"other","row_id":"other","run_id":"b"}}
               TaskSkipReceipt {{"skip_id":"t","row_id":"t","run_id":"a"}}"#
        );
        assert_eq!(!places(STALE, &from_lines(&lines)).is_empty(), is_found, "{lines}");
    }
}
