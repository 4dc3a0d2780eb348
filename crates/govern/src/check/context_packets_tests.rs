//! Ways in which the rules of this area fire, and do not, besides the fixtures.

use crate::check::trial::{from_lines, has_in_lines, places};
use std::format;

#[test]
fn packets_end_with_events_of_their_run_or_workspace() {
    let lines = |item: &str, event: &str, until: &str| {
        format!(
            r#"SourceRecord {{"source_id":"s","workspace_id":"w"}}
               SourceWorkspaceOperation {{"operation_id":"o","task_id":"t","workspace_id":"w"}}
               SourceWorkspaceOperation {{"operation_id":"q","task_id":"t","workspace_id":"v"}}
               TaskRunContextPacket {{"packet_id":"p","run_id":"r","task_id":"t","items":[{{"item_ref":"{item}"}}]}}
               TaskRunContextPacketAssemblyReceipt {{"receipt_id":"a","packet_ref":"task_run_context_packet:p","invalidated_by_event_kinds":["SourceWorkspaceOperationReceipt","TaskSkipReceipt"]{until}}}
               {event}
               ContextPacketConsumption {{"consumption_id":"c","packet_ref":"task_run_context_packet:p"}}"#
        )
    };
    let applied = |operation: &str, status: &str| {
        format!(r#"SourceWorkspaceOperationReceipt {{"operation_id":"{operation}","status":"{status}"}}"#)
    };
    let skipped = |run: &str| format!(r#"TaskSkipReceipt {{"skip_id":"x","run_id":"{run}"}}"#);
    let code = "context_packet_valid_after_invalidation_event";
    let found: &[&str] = &["7/packet_ref"];
    for (item, event, until, expected) in [
        ("src:s", applied("o", "applied"), "", found),
        // Nothing changed; another workspace changed; a packet without sources depends on its task.
        ("src:s", applied("o", "failed"), "", &[]),
        ("src:s", applied("q", "applied"), "", &[]),
        ("artifact:a", applied("q", "applied"), "", found),
        ("src:s", skipped("r"), "", found),
        ("src:s", skipped("other"), "", &[]),
        ("src:s", skipped("other"), r#","valid_until_event_seq":6"#, found),
        ("src:s", skipped("other"), r#","valid_until_event_seq":7"#, &[]),
    ] {
        let lines = lines(item, &event, until);
        assert_eq!(places(code, &from_lines(&lines)), expected, "{lines}");
    }
}

#[test]
fn packets_are_asked_for_and_receipted() {
    has_in_lines(
        "context_packet_without_request",
        &[(
            r#"TaskRunContextPacketRequest {"request_id":"q","task_id":"t","run_id":"r"}
           TaskRunContextPacket {"packet_id":"p","task_id":"t","run_id":"s"}
           TaskRunContextPacketAssemblyReceipt {"receipt_id":"a","request_id":"q","packet_ref":"task_run_context_packet:p"}"#,
            &["3/request_id"],
        )],
    );
    has_in_lines(
        "context_packet_without_assembly_receipt",
        &[
            (r#"TaskRunContextPacketRequest {"request_id":"q","task_id":"t","run_id":"r"}"#, &[]),
            (r#"TaskRunContextPacket {"packet_id":"p","items":[]}"#, &["1/content_hash"]),
            (
                r#"ContextPacketConsumption {"consumption_id":"c","packet_ref":"task_run_context_packet:p"}
               TaskRunContextPacketAssemblyReceipt {"receipt_id":"a","packet_ref":"task_run_context_packet:p","packet_content_hash":"h"}
               TaskRunContextPacket {"packet_id":"p","content_hash":"h"}
               ContextPacketConsumption {"consumption_id":"d","packet_ref":"task_run_context_packet:p"}"#,
                &["1/packet_ref"],
            ),
            (
                r#"TaskRunContextPacketAssemblyReceipt {"receipt_id":"a","packet_ref":"task_run_context_packet:p"}
               ContextPacketConsumption {"consumption_id":"d","packet_ref":"task_run_context_packet:p"}"#,
                &["2/packet_ref"],
            ),
        ],
    );
}

#[test]
fn budgets_add_up() {
    has_in_lines(
        "per_activation_context_budget_exceeded",
        &[
            (
                r#"PerActivationContextBudget {"max_total_tokens":9,"packet_token_count":1,"board_digest_token_count":2,"feedback_bundle_token_count":3,"total_token_count":7}"#,
                &["1/total_token_count"],
            ),
            (
                r#"PerActivationContextBudget {"max_total_tokens":9,"packet_token_count":9007199254740991,"board_digest_token_count":2,"feedback_bundle_token_count":3}"#,
                &["1/max_total_tokens"],
            ),
            (r#"PerActivationContextBudget {"max_total_tokens":1,"packet_token_count":"many"}"#, &[]),
        ],
    );
}

#[test]
fn required_items_are_there_or_missed() {
    let lines = |status: &str, omitted: &str, item: &str| {
        format!(
            r#"TaskRunContextPacketRequest {{"request_id":"q","required_item_refs":["x:1"]}}
               TaskRunContextPacket {{"packet_id":"p","items":[{item}]}}
               TaskRunContextPacketAssemblyReceipt {{"request_id":"q","packet_ref":"task_run_context_packet:p","omitted_items":[{omitted}],{status}}}"#
        )
    };
    let omitted = r#"{"item_ref":"x:1","required":false}"#;
    let complete = r#""packet_status":"complete""#;
    for (status, omitted, item, expected) in [
        (complete, "", "", ["3/omitted_items"].as_slice()),
        (complete, "", r#"{"item_ref":"x:1"}"#, &[]),
        // The same record, written in another way.
        (complete, "", r#"{"item_ref":"x:1@1"}"#, &[]),
        (complete, "", r#"{"item_ref":"y:1"}"#, &["3/omitted_items"]),
        // It is required, whatever the receipt says.
        (complete, omitted, "", &["3/omitted_items/0"]),
        (r#""packet_status":"blocked""#, omitted, "", &[]),
        (r#""packet_status":"complete_with_warnings","warnings":["x:1"]"#, omitted, "", &[]),
        (
            r#""packet_status":"complete_with_warnings","warnings":["y:1"]"#,
            omitted,
            "",
            &["3/omitted_items/0"],
        ),
    ] {
        let lines = lines(status, omitted, item);
        let code = "required_packet_item_omitted_without_block_or_warning";
        assert_eq!(places(code, &from_lines(&lines)), expected, "{lines}");
    }
}

#[test]
fn a_required_item_may_be_named_in_several_ways() {
    for (required, held, is_there) in [
        ("source_record:x", "src:x", true),
        ("src:x", "source_record:x@1", true),
        ("src:x", "src:y", false),
        ("srcset:x", "source_set:x", true),
        ("x:1@1", "x:1", true),
        ("x:1@1", "x:1@1", true),
        ("x:1@1", "x:1@2", false),
        // A version by its number and by its hash.
        ("outcome_record:o@1", "outcome_record:o#HASH", true),
        ("outcome_record:o@2", "outcome_record:o#HASH", false),
        ("x 1", "x 1", true),
    ] {
        let hash = crate::check::trial::hash_of(r#"{"outcome_id":"o"}"#);
        let held = held.replace("HASH", &hash);
        let lines = format!(
            r#"OutcomeRecord {{"outcome_id":"o"}}
               OutcomeRecord {{"outcome_id":"o","state":"pending"}}
               TaskRunContextPacketRequest {{"request_id":"q","required_item_refs":["{required}"]}}
               TaskRunContextPacket {{"packet_id":"p","items":[{{"item_ref":"{held}"}}]}}
               TaskRunContextPacketAssemblyReceipt {{"request_id":"q","packet_ref":"task_run_context_packet:p","packet_status":"complete"}}"#
        );
        let code = "required_packet_item_omitted_without_block_or_warning";
        assert_eq!(places(code, &from_lines(&lines)).is_empty(), is_there, "{lines}");
    }
}
