//! Logs that contradict themselves, one of each kind.

use super::*;
use crate::world::Draft;
use countersign_record::json;
use std::format;
use std::string::ToString;
use std::vec::Vec;

/// Rows as `Type {members}`, one to a line, each a minute after the one before.
fn world(lines: &str) -> World {
    let lines = lines.lines().map(str::trim).filter(|line| !line.is_empty());
    let row = |(at, line): (usize, &str)| {
        let (kind, record) = line.split_once(' ').unwrap();
        let time = format!("2026-01-01T00:{at:02}:00Z");
        Draft {
            kind: kind.to_string(),
            id: None,
            at: countersign_record::time::Instant::read(&time),
            record: json::parse(record.as_bytes()).unwrap_or_else(|error| panic!("{record}: {error}")),
        }
    };
    World::new(lines.enumerate().map(row).collect(), None)
}

fn check(lines: &str, expected: &[(u64, &str, What)]) {
    let found = contradictions(&world(lines));
    let found: Vec<(u64, &str, What)> =
        found.iter().map(|one| (one.row, one.path.as_str(), one.what)).collect();
    assert_eq!(found, expected, "{lines}");
}

#[test]
fn what_is_out_of_date_is_so_by_the_first_thing_that_happened() {
    let header = |more: &str| {
        format!(
            r#"DerivedReadModelRecord {{"read_model_id":"h","read_model_kind":"BudgetNarrative","run_id":"r","valid_from_event_seq":0{more}}}"#
        )
    };
    let cost = |id: &str| format!(r#"TaskCostRecord {{"cost_record_id":"{id}","run_id":"r"}}"#);
    let log = |until: u64, by: &str| {
        let closed = header(&format!(
            r#","valid_until_event_seq":{until},"invalidated_by_event_ref":"task_cost_record:{by}""#
        ));
        [header(""), cost("a"), cost("b"), closed].join("\n")
    };
    check(&log(2, "a"), &[]);
    let wrong = [(4, "/valid_until_event_seq", What::Fold)];
    check(&log(3, "a"), &wrong);
    check(&log(3, "b"), &wrong);
    check(&log(2, "b"), &wrong);
}

#[test]
fn what_is_not_there_is_told() {
    let lines = r#"SourceRecord {"source_id":"s1"}
        SourceRecord {"source_id":"s2"}
        DerivationEdge {"output_ref":"source_record:s2","input_refs":["src:s1","source_record:s3","user:u1"],"created_at":"2026-01-01T00:02:00Z"}"#;
    check(lines, &[(3, "/input_refs/1", What::NamesNothing)]);
}

#[test]
fn what_comes_later_can_not_be_named() {
    check(
        r#"UserConfirmation {"confirmation_id":"c1","subject_ref":"policy_evaluation:p1"}
        PolicyEvaluation {"policy_evaluation_id":"p1","decided_at":"2026-01-01T00:01:00Z"}"#,
        &[(1, "/subject_ref", What::NamesLater)],
    );
}

#[test]
fn a_place_is_that_of_an_event() {
    let rows = |seq: u64| {
        format!(
            r#"OutcomeRecord {{"outcome_id":"o1","state":"pending"}}
            OutcomeStateTransitionEvent {{"event_id":"e1","outcome_id":"o1","from_state":"pending","to_state":"evaluating"}}
            OutcomeRecord {{"outcome_id":"o1","state":"evaluating"}}
            EventProjectionLink {{"canonical_event_ref":"outcome_state_transition_event:e1","current_projection_ref":"outcome_record:o1","projection_event_seq":{seq}}}"#
        )
    };
    check(&rows(2), &[]);
    check(&rows(1), &[(4, "/projection_event_seq", What::Place)]);
    check(&rows(3), &[(4, "/projection_event_seq", What::Place)]);
}

#[test]
fn nothing_is_made_before_what_it_names() {
    let rows = |time: &str| {
        format!(
            r#"PolicyEvaluation {{"policy_evaluation_id":"p0"}}
            PolicyEvaluation {{"policy_evaluation_id":"p1"}}
            UserConfirmation {{"confirmation_id":"c1","subject_ref":"policy_evaluation:p1","created_at":"2026-01-01T00:{time}:00Z"}}"#
        )
    };
    check(&rows("01"), &[]);
    check(&rows("00"), &[(3, "/created_at", What::Time)]);
    check(&rows("03"), &[(3, "/created_at", What::Time)]);
}

#[test]
fn what_is_told_twice_is_told_alike() {
    check(
        r#"ArtifactVersion {"artifact_version_id":"v1","run_id":"r1","task_id":"t1"}
        ArtifactVersion {"artifact_version_id":"v2","run_id":"r1","task_id":"t2"}"#,
        &[(2, "/task_id", What::Repeat)],
    );
    check(
        r#"TaskReliancePacket {"packet_id":"p1","lifecycle_state":"draft","data_class":"internal"}
        LifecycleTransitionReceipt {"receipt_id":"m1","subject_ref":"task_reliance_packet:p1","from_state":"draft","to_state":"ready_for_review"}
        TaskReliancePacket {"packet_id":"p1","lifecycle_state":"ready_for_review","data_class":"public"}"#,
        &[(3, "/data_class", What::Repeat)],
    );
}

#[test]
fn how_something_stands_is_what_its_events_make_it() {
    let rows = |state: &str, from: &str| {
        format!(
            r#"OutcomeRecord {{"outcome_id":"o1","state":"pending"}}
            OutcomeStateTransitionEvent {{"event_id":"e1","outcome_id":"o1","from_state":"pending","to_state":"evaluating"}}
            OutcomeStateTransitionEvent {{"event_id":"e2","outcome_id":"o1","from_state":"{from}","to_state":"satisfied"}}
            OutcomeRecord {{"outcome_id":"o1","state":"{state}"}}"#
        )
    };
    check(&rows("satisfied", "evaluating"), &[]);
    check(&rows("evaluating", "evaluating"), &[(4, "/state", What::Fold)]);
    let expected = [(3, "", What::Fold), (3, "/from_state", What::Fold), (4, "/state", What::Fold)];
    check(&rows("satisfied", "dirty"), &expected);
    // A move that the machine does not have is none, whatever is said behind it.
    let alone = r#"OutcomeRecord {"outcome_id":"o1","state":"pending"}
        OutcomeStateTransitionEvent {"event_id":"e1","outcome_id":"o1","from_state":"pending","to_state":"satisfied"}"#;
    check(alone, &[(2, "", What::Fold)]);
}

#[test]
fn a_list_leaves_nothing_out() {
    let rows = |listed: &str| {
        format!(
            r#"SourceRecord {{"source_id":"s1"}}
            ArtifactVersion {{"artifact_version_id":"v1","artifact_stable_id":"a1"}}
            SourceEvidenceAnchor {{"anchor_id":"n1","source_record_ref":"src:s1","supports_claim_refs":["claim:a1/c1"]}}
            ClaimSupportDerivationReceipt {{"receipt_id":"r1","claim_ref":"claim:a1/c1","supporting_anchor_refs":[{listed}],"contradicting_anchor_refs":[]}}"#
        )
    };
    check(&rows("\"source_evidence_anchor:n1\""), &[]);
    check(&rows(""), &[(4, "/supporting_anchor_refs", What::List)]);
}

#[test]
fn a_finding_has_the_hash_of_its_text() {
    let hash = alloc::string::String::from(crate::derive::text::hash("The term is wrong."));
    let rows = |text: &str| {
        format!(
            r#"EvaluationFindingEvent {{"finding_event_id":"e1","finding_id":"f1","finding_text":"{text}","match_key":{{"normalized_finding_text_hash":"{hash}"}}}}
            EvaluationFindingRecord {{"finding_id":"f1","canonical_event_ref":"evaluation_finding_event:e1"}}"#
        )
    };
    check(&rows("The  term is wrong."), &[]);
    check(&rows("The term is right."), &[(1, "/match_key/normalized_finding_text_hash", What::Hash)]);
}

#[test]
fn what_holds_something_is_as_secret_as_that() {
    let rows = |class: &str| {
        format!(
            r#"SourceRecord {{"source_id":"s1","data_class":"privileged","verification_state":"verified"}}
            EvidencePackage {{"evidence_package_id":"p1","source_record_refs":["src:s1"],"data_class":"{class}"}}"#
        )
    };
    check(&rows("privileged"), &[]);
    check(&rows("internal"), &[(2, "/data_class", What::Holding)]);
}

/// Also what no type of the contract is called by: a signal rests on receipts that are there.
#[test]
fn signals_come_after_their_receipts() {
    let lines = r#"LearningSignal {"signal_id":"a","receipt_refs":["task_skip_receipt:r","elsewhere:x","command_receipt:c"]}
        TaskSkipReceipt {"skip_id":"r"}
        LearningSignal {"signal_id":"b","receipt_refs":["task_skip_receipt:r"]}"#;
    let expected = [
        (1, "/receipt_refs/0", What::NamesLater),
        (1, "/receipt_refs/1", What::NamesNothing),
        (1, "/receipt_refs/2", What::NamesNothing),
    ];
    check(lines, &expected);
}
