//! Ways in which the rules of this area fire, and do not, besides the fixtures.

use crate::check::trial::{from_lines, has_in_lines, places};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

const CONFLICT: &str = "workspace_event_seq_conflict";

#[test]
fn writers_say_what_they_expect() {
    let lines = |precondition: &str| {
        format!(
            r#"SourceWorkspaceOperation {{"operation_kind":"add_source_record","precondition":{precondition}}}"#
        )
    };
    let full =
        r#"{"expected_workspace_head_hash":"h","expected_event_seq":0,"lock_mode":"optimistic_event_seq"}"#;
    let locked = full.replace("optimistic_event_seq", "pessimistic_write_lock");
    for (precondition, expected) in [
        (full.to_string(), [].as_slice()),
        ("{}".to_string(), &["1/precondition"]),
        (full.replace(r#""h""#, r#""""#), &["1/precondition/expected_workspace_head_hash"]),
        (full.replace(":0,", ":null,"), &["1/precondition/expected_event_seq"]),
        (locked, &["1/precondition/lock_lease_ref"]),
    ] {
        let code = "workspace_mutation_without_precondition";
        assert_eq!(places(code, &from_lines(&lines(&precondition))), expected, "{precondition}");
    }
    let export = r#"SourceWorkspaceOperation {"operation_kind":"export_workspace_bundle"}"#;
    has_in_lines("workspace_mutation_without_precondition", &[(export, &[])]);
    let receipt = |kind: &str, status: &str| {
        format!(
            r#"SourceWorkspaceOperation {{"operation_id":"o","operation_kind":"{kind}","precondition":{full}}}
            SourceWorkspaceOperationReceipt {{"operation_id":"p","operation_kind":"{kind}","status":"{status}"}}"#
        )
    };
    let unasked = receipt("add_source_record", "applied");
    let code = "workspace_mutation_without_precondition";
    has_in_lines(code, &[(&unasked, &["2/operation_id"]), (&unasked.replace(r#""p""#, r#""o""#), &[])]);
    has_in_lines(code, &[(&receipt("add_source_record", "failed"), &[])]);
    has_in_lines(code, &[(&receipt("export_workspace_bundle", "applied"), &[])]);
}

#[test]
fn operations_are_registered_and_receipts_complete() {
    has_in_lines(
        "workspace_api_operation_unregistered",
        &[
            (
                r#"SourceWorkspaceOperation {"operation_id":"o","operation_kind":"drop_everything"}"#,
                &["1/operation_kind"],
            ),
            (r#"SourceWorkspaceOperation {"operation_id":"o"}"#, &[]),
        ],
    );
    has_in_lines(
        "workspace_receipt_missing_head_hash",
        &[
            (
                r#"SourceWorkspaceOperationReceipt {"status":"read_completed"}"#,
                &["1/prior_workspace_head_hash"],
            ),
            (
                r#"SourceWorkspaceOperationReceipt {"status":"applied","prior_workspace_head_hash":"a","new_workspace_head_hash":"b","prior_event_seq":0}"#,
                &["1/new_event_seq"],
            ),
            (r#"SourceWorkspaceOperationReceipt {"status":"rejected_by_policy"}"#, &[]),
        ],
    );
}

#[test]
fn what_is_cited_was_read_in_that_run() {
    let read = |run: &str| {
        format!(
            r#"SourceRecord {{"source_id":"s","workspace_id":"w"}}
               SourceWorkspaceOperation {{"operation_id":"o","workspace_id":"w"{run}}}
               SourceWorkspaceOperationReceipt {{"receipt_id":"r","operation_id":"o","operation_kind":"read_workspace_snapshot","workspace_id":"w","status":"read_completed","prior_workspace_head_hash":"h"}}
               EvaluationResultEnvelope {{"result_id":"x","run_id":"a","evaluation_snapshot_ref":"evaluation_snapshot:t"}}"#
        )
    };
    let snapshot = r#"EvaluationSnapshot {"snapshot_id":"t","source_workspace_snapshot_hashes":[{"source_workspace_ref":"w","source_workspace_head_hash":"h"}]}"#;
    let finding = |cited: &str| {
        format!(
            r#"EvaluationFindingEvent {{"result_id":"x","based_on_source_workspace_snapshot_ref":"{cited}"}}"#
        )
    };
    let packet = r#"TaskRunContextPacket {"packet_id":"p","run_id":"a","items":[{"item_ref":"artifact:z"},{"item_ref":"src:s"}]}"#;
    let (own, other) = (r#","run_id":"a""#, r#","run_id":"b""#);
    let hashes: &[&str] = &["5/source_workspace_snapshot_hashes/0"];
    let based: &[&str] = &["5/based_on_source_workspace_snapshot_ref"];
    for (run, citing, expected) in [
        (own, snapshot.to_string(), [].as_slice()),
        ("", snapshot.to_string(), &[]),
        (other, snapshot.to_string(), hashes),
        (own, snapshot.replace(r#""h""#, r#""k""#), hashes),
        (own, finding("source_workspace_operation_receipt:r"), &[]),
        (own, finding("source_workspace_snapshot:unknown"), &[]),
        (own, finding("source_workspace:v"), based),
        (other, finding("source_workspace_snapshot:unknown"), based),
        (own, packet.to_string(), &[]),
        (other, packet.to_string(), &["5/items/1/item_ref"]),
    ] {
        let lines = [read(run), citing].join("\n");
        assert_eq!(
            places("workspace_read_without_snapshot_receipt", &from_lines(&lines)),
            expected,
            "{lines}"
        );
    }
}

#[test]
fn a_write_on_an_old_state_is_refused() {
    let lines = |seq: u64| {
        format!(
            r#"SourceWorkspaceOperationReceipt {{"operation_kind":"add_source_record","workspace_id":"w","status":"applied","prior_event_seq":7,"new_event_seq":8}}
               SourceWorkspaceOperation {{"operation_kind":"add_source_record","workspace_id":"w","precondition":{{"expected_event_seq":{seq}}}}}"#
        )
    };
    assert_eq!(places(CONFLICT, &from_lines(&lines(7)).at_admission()), ["2/precondition"]);
    assert!(places(CONFLICT, &from_lines(&lines(8)).at_admission()).is_empty());
    assert!(places(CONFLICT, &from_lines(&lines(7))).is_empty(), "nothing was applied, so the log is right");
}

/// A log of writers: each knows the state it read last, and writes on that to one of two workspaces.
fn log(turns: &[(usize, usize, bool)], obeys: bool) -> (String, usize) {
    let (mut lines, mut wrong): (Vec<String>, usize) = (Vec::new(), 0);
    let mut heads: BTreeMap<usize, u64> = BTreeMap::new();
    let mut known: BTreeMap<(usize, usize), u64> = BTreeMap::new();
    for (turn, (writer, workspace, reads)) in turns.iter().enumerate() {
        let head = heads.entry(*workspace).or_default();
        let expected = known.entry((*writer, *workspace)).or_insert(*head);
        if *reads {
            *expected = *head;
            continue;
        }
        let (seq, kind) = (*expected, "update_source_record");
        lines.push(format!(r#"SourceWorkspaceOperation {{"operation_id":"o{turn}","operation_kind":"{kind}","workspace_id":"w{workspace}","precondition":{{"expected_event_seq":{seq},"expected_workspace_head_hash":"h{seq}"}}}}"#));
        let is_applied = seq == *head || !obeys;
        wrong += usize::from(seq != *head);
        let (status, new) = if is_applied { ("applied", *head + 1) } else { ("conflict", *head) };
        lines.push(format!(r#"SourceWorkspaceOperationReceipt {{"operation_id":"o{turn}","operation_kind":"{kind}","workspace_id":"w{workspace}","status":"{status}","prior_event_seq":{head},"new_event_seq":{new},"prior_workspace_head_hash":"h{head}","new_workspace_head_hash":"h{new}"}}"#));
        *head = new;
    }
    (lines.join("\n"), wrong)
}

proptest! {
    /// However writers interleave: an engine that applies only what was made on the current state leaves a clean log, and
    /// one that applies everything leaves one finding for each write on an old state.
    #[test]
    fn writers_on_an_old_state_are_found(turns in proptest::collection::vec((0..3_usize, 0..2_usize, any::<bool>()), 0..40)) {
        prop_assert!(places(CONFLICT, &from_lines(&log(&turns, true).0)).is_empty());
        let (lines, wrong) = log(&turns, false);
        prop_assert_eq!(places(CONFLICT, &from_lines(&lines)).len(), wrong);
    }
}
