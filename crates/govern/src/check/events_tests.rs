//! Ways in which the rules of this area fire, and do not, besides the fixtures.

use crate::check::trial::{from_lines, has_in_lines, places};
use crate::fold::family::{Family, RECEIPTED};
use crate::reference::snake;
use crate::types::finding::FindingLifecycleTransitionReceiptTransitionReason;
use std::borrow::ToOwned;
use std::format;
use std::string::String;
use std::vec::Vec;

#[test]
fn what_is_written_once_stays() {
    let code = "mutable_state_inside_immutable_snapshot";
    has_in_lines(
        code,
        &[
            // The same row twice is no change, another one under the same id is.
            (
                r#"PolicySnapshot {"snapshot_id":"p1","policy_refs":[]}
                   PolicySnapshot {"snapshot_id":"p1","policy_refs":[]}
                   PolicySnapshot {"snapshot_id":"p1","policy_refs":["policy:x"]}"#,
                &["3"],
            ),
            (
                r#"KnownGoodCheckpoint {"checkpoint_id":"c","superseded_by_checkpoint_id":"d"}"#,
                &["1/superseded_by_checkpoint_id"],
            ),
            (
                r#"TaskReliancePacket {"packet_id":"p","input_manifest":{"updated_at":"x"}}"#,
                &["1/input_manifest/updated_at"],
            ),
            // Which events end a packet is settled when it is assembled.
            (
                r#"TaskRunContextPacketAssemblyReceipt {"receipt_id":"r","invalidated_by_event_kinds":[]}"#,
                &[],
            ),
            // The state of a review packet is a projection, its body is not.
            (
                r#"RevisionReviewPacket {"packet_id":"p","state":"generated","decision_receipt_refs":[]}
                   RevisionReviewPacket {"packet_id":"p","state":"accepted","decision_receipt_refs":["x:1"]}
                   RevisionReviewPacket {"packet_id":"p","state":"accepted","regression_risk_summary":"none"}"#,
                &["3"],
            ),
            // Results, requests and plans are as immutable as what is called an event.
            (
                r#"EvaluationResultEnvelope {"result_id":"r","decision":{"verdict":"failed"}}
                   EvaluationResultEnvelope {"result_id":"r","decision":{"verdict":"passed"}}
                   HardRevisionCall {"hard_call_id":"h","prompt_text":"a"}
                   HardRevisionCall {"hard_call_id":"h","prompt_text":"b"}"#,
                &["2", "4"],
            ),
            // Projections, policies and versions of criteria move.
            (r#"ResearchNeed {"need_id":"n","updated_at":"x"}"#, &[]),
            (
                r#"CriterionIdentityFields {"criterion_id":"c","criterion_semantics_version":1}
                   CriterionIdentityFields {"criterion_id":"c","criterion_semantics_version":2}"#,
                &[],
            ),
            (r#"PolicySnapshot {"snapshot_id":"p1","resolved_at":null}"#, &[]),
        ],
    );
}

#[test]
fn projections_come_from_events() {
    has_in_lines(
        "current_projection_without_source_event",
        &[
            (r#"SourceWorkspaceCurrentState {"workspace_id":"w"}"#, &["1/canonical_event_ref"]),
            // The event of another workspace.
            (
                r#"SourceWorkspaceOperation {"operation_id":"o","workspace_id":"v"}
                   SourceWorkspaceCurrentState {"workspace_id":"w","canonical_event_ref":"source_workspace_operation:o"}"#,
                &["2/canonical_event_ref"],
            ),
            // An event of another type, and one that is written only afterwards.
            (
                r#"RunBoardAuditEvent {"event_id":"e"}
                   RunGuidanceItemCurrent {"guidance_id":"g","canonical_event_ref":"run_board_audit_event:e"}
                   RunGuidanceItemCurrent {"guidance_id":"h","canonical_event_ref":"run_guidance_creation_event:x"}
                   RunGuidanceCreationEvent {"event_id":"x","guidance_id":"h"}"#,
                &["2/canonical_event_ref", "3/canonical_event_ref"],
            ),
            (
                r#"RunBoardAuditEvent {"event_id":"e"}
                   RunBoardVisiblePost {"post_id":"p","source_event_id":"e"}
                   RunBoardVisiblePost {"post_id":"q","source_event_id":"f"}"#,
                &["3/source_event_id"],
            ),
            // Withheld posts and findings have codes of their own.
            (
                r#"RunBoardVisiblePost {"post_id":"q","source_event_id":"f","withheld_reason":"policy"}
                   EvaluationFindingRecord {"finding_id":"f"}"#,
                &[],
            ),
            // A link: to an event after its place, to one of another finding, to a right one, to any event.
            (
                r#"EvaluationFindingEvent {"finding_event_id":"e","finding_id":"f"}
                   EventProjectionLink {"canonical_event_ref":"evaluation_finding_event:e","current_projection_ref":"evaluation_finding_record:f","projection_event_seq":0}
                   EventProjectionLink {"canonical_event_ref":"evaluation_finding_event:e","current_projection_ref":"evaluation_finding_record:g","projection_event_seq":1}
                   EventProjectionLink {"canonical_event_ref":"evaluation_finding_event:e","current_projection_ref":"evaluation_finding_record:f","projection_event_seq":1}
                   EventProjectionLink {"canonical_event_ref":"evaluation_finding_event:e","current_projection_ref":"outcome_record:o","projection_event_seq":1}"#,
                &["2/canonical_event_ref", "3/canonical_event_ref"],
            ),
        ],
    );
}

/// A later version says what events came to, now or once; what began a thing stays as it was.
#[test]
fn projections_say_what_events_came_to() {
    let raised = r#"EvaluationFindingEvent {"finding_event_id":"e","finding_id":"f","emitted_state":"active","severity":"high","created_at":"2026-03-02T08:00:00Z"}
                    EvaluationFindingEvent {"finding_event_id":"g","finding_id":"f","emitted_state":"active","severity":"low","created_at":"2026-03-02T08:01:00Z"}
                    FindingLifecycleTransitionReceipt {"receipt_id":"r","finding_id":"f","from_state":"active","to_state":"contested","transition_reason":"user_contested","created_at":"2026-03-02T08:02:00Z"}"#;
    let record = |members: &str| {
        format!(
            r#"{raised}
               EvaluationFindingRecord {{"finding_id":"f","canonical_event_ref":"evaluation_finding_event:g","current_state":"contested",{members}}}"#
        )
    };
    let need = r#"ResearchNeed {"need_id":"n","status":"open","question":"why","updated_at":"2026-03-02T08:00:00Z"}"#;
    let later =
        |members: &str| format!("{need}\nResearchNeed {{\"need_id\":\"n\",\"status\":\"open\",{members}}}");
    let code = "current_projection_without_source_event";
    for (lines, expected) in [
        (record(r#""current_severity":"low""#), [].as_slice()),
        (record(r#""current_severity":"high""#), &[]),
        (record(r#""current_severity":"blocking""#), &["4/current_severity"]),
        (record(r#""lifecycle_transition_refs":[]"#), &[]),
        (record(r#""lifecycle_transition_refs":["finding_lifecycle_transition_receipt:r@1"]"#), &[]),
        (
            record(r#""lifecycle_transition_refs":["finding_lifecycle_transition_receipt:s"]"#),
            &["4/lifecycle_transition_refs"],
        ),
        (record(r#""updated_at":"2026-03-02T07:00:00Z""#), &["4/updated_at"]),
        // No receipt carries when a finding runs out.
        (record(r#""expires_at":"2027-01-01T00:00:00Z""#), &[]),
        (later(r#""question":"why""#), &[]),
        (later(r#""question":"how""#), &["2/question"]),
        (later(r#""answer_ref":"source_evidence_anchor:a""#), &["2/answer_ref"]),
        // Where the state is not accounted for, that is told and not what goes with it.
        (
            format!(
                r#"{need}
                       ResearchNeed {{"need_id":"n","status":"answered","answer_ref":"source_evidence_anchor:a"}}"#
            ),
            &[],
        ),
    ] {
        assert_eq!(places(code, &from_lines(&lines)), expected, "{lines}");
    }
}

#[test]
fn links_cover_their_stream() {
    let link = |seq: u64| {
        format!(
            r#"EventProjectionLink {{"canonical_event_ref":"source_workspace_operation:o","current_projection_ref":"source_workspace_current_state:w","projection_event_seq":{seq}}}"#
        )
    };
    let receipt = |status: &str, workspace: &str| {
        format!(r#"SourceWorkspaceOperationReceipt {{"workspace_id":"{workspace}","status":"{status}"}}"#)
    };
    let code = "projection_event_seq_out_of_date";
    for (lines, expected) in [
        ([link(0), receipt("applied", "w")], ["1/projection_event_seq"].as_slice()),
        ([link(0), receipt("conflict", "w")], &[]),
        ([link(0), receipt("applied", "v")], &[]),
        ([link(2), receipt("applied", "w")], &[]),
        // What is read is the last link.
        ([link(0), format!("{}\n{}", receipt("applied", "w"), link(2))], &[]),
    ] {
        assert_eq!(places(code, &from_lines(&lines.join("\n"))), expected, "{lines:?}");
    }
}

/// What tells that x moved, with everything that the table asks for.
fn receipt(family: &Family, from: &str, to: &str) -> String {
    let line = match (family.kind, to) {
        ("EvaluationFindingRecord", _) => {
            let way = family.machine.ways(from, to).next();
            let reason = way.and_then(|way| way.by.split(' ').next()).unwrap_or("router_admitted");
            return finding_moved(from, to, reason, r#""tool_receipt:t","sufficiency_detection_result:d""#);
        }
        ("ResearchNeed", "leased") => r#"ResearchNeedLease {"need_id":"x","lease_token":"l"}"#,
        ("ResearchNeed", "answered") => {
            r#"SourceWorkspaceOperation {"operation_id":"o","operation_kind":"answer_research_need","payload_ref":"research_need:x"}
               SourceWorkspaceOperationReceipt {"receipt_id":"r","operation_id":"o","status":"applied"}"#
        }
        ("LibraryPromotionCandidate", "promoted") => {
            r#"LibraryPromotionReceipt {"receipt_id":"r","candidate_id":"x","status":"promoted","durable_library_write_ref":"library_write:w"}"#
        }
        ("TaskReliancePacket", "invalidated") => {
            r#"RelianceInvalidationEvent {"event_id":"e","packet_id":"x"}"#
        }
        ("EvaluationChainRegistryRecord", "partial" | "complete") => {
            r#"EvaluationResultEnvelope {"result_id":"r","target_evaluation_chain_id":"x","producer_kind":"judge"}"#
        }
        (kind, _) => {
            let subject = snake(kind);
            return format!(
                r#"LifecycleTransitionReceipt {{"subject_ref":"{subject}:x","from_state":"{from}","to_state":"{to}"}}"#
            );
        }
    };
    line.to_owned()
}

fn finding_moved(from: &str, to: &str, reason: &str, evidence: &str) -> String {
    format!(
        r#"FindingLifecycleTransitionReceipt {{"receipt_id":"r","finding_id":"x","from_state":"{from}","to_state":"{to}","transition_reason":"{reason}","actor_ref":"user:u","evidence_refs":[{evidence}]}}"#
    )
}

/// A pair of the table by a reason that the table has for another one is no receipt, for any reason and any pair.
#[test]
fn findings_move_by_the_reasons_of_their_table() {
    let reasons = FindingLifecycleTransitionReceiptTransitionReason::WORDS;
    let evidence = r#""tool_receipt:t","sufficiency_detection_result:d""#;
    for way in crate::machine::FINDING.transitions {
        for reason in reasons {
            let version = |state: &str| {
                format!(
                    r#"EvaluationFindingRecord {{"finding_id":"x","current_state":"{state}","superseded_by_finding_id":"y"}}"#
                )
            };
            let lines =
                [version(way.from), finding_moved(way.from, way.to, reason, evidence), version(way.to)];
            let found = places("lifecycle_transition_without_receipt", &from_lines(&lines.join("\n")));
            let is_named = way.by.split(' ').next() == Some(reason);
            assert_eq!(found.is_empty(), is_named, "{} {} {reason}", way.from, way.to);
        }
    }
}

/// A move without what its table asks for besides the receipt.
#[test]
fn moves_show_what_their_tables_ask_for() {
    let finding = |state: &str, more: &str| {
        format!(r#"EvaluationFindingRecord {{"finding_id":"x","current_state":"{state}"{more}}}"#)
    };
    let by_engine = |line: String| line.replace("user:u", "engine:router");
    let general = |kind: &str, id: &str, member: &str, (from, to): (&str, &str), more: &str| {
        let version = |state: &str| format!(r#"{kind} {{"{id}":"x","{member}":"{state}"{more}}}"#);
        let subject = snake(kind);
        let told = format!(
            r#"LifecycleTransitionReceipt {{"subject_ref":"{subject}:x","from_state":"{from}","to_state":"{to}"}}"#
        );
        [version(from), told, version(to)]
    };
    let raised = |to: &str, reason: &str, evidence: &str, more: &str| {
        [finding("active", more), finding_moved("active", to, reason, evidence), finding(to, more)]
    };
    let approved = raised("user_approved", "user_confirmed", "", "");
    let [first, told, last] = approved.clone();
    for (lines, is_told) in [
        (raised("expired", "expired_by_policy", "", r#","current_severity":"blocking""#), false),
        (raised("expired", "expired_by_policy", "", r#","current_severity":"high""#), true),
        (raised("dismissed", "dismissed_duplicate", r#""tool_receipt:t""#, ""), false),
        (raised("dismissed", "dismissed_duplicate", r#""evaluation_finding_record:y""#, ""), true),
        (raised("dismissed", "dismissed_duplicate", "", r#","superseded_by_finding_id":"y""#), true),
        (raised("unrecoverable", "marked_unrecoverable", r#""tool_receipt:t""#, ""), false),
        (raised("unrecoverable", "marked_unrecoverable", r#""sufficiency_detection_result:d""#, ""), true),
        (raised("tool_verified", "tool_verified", "", ""), false),
        (raised("human_verified", "user_confirmed", "", ""), false),
        (raised("human_verified", "user_confirmed", r#""tool_receipt:t""#, ""), true),
        (approved, true),
        ([first, by_engine(told), last], false),
        (
            general(
                "EvaluationContractReview",
                "review_id",
                "approval_status",
                ("pending", "waived_by_policy"),
                r#","user_approval_required":true"#,
            ),
            false,
        ),
        (
            general(
                "EvaluationContractReview",
                "review_id",
                "approval_status",
                ("pending", "waived_by_policy"),
                r#","user_approval_required":false"#,
            ),
            true,
        ),
        (
            general(
                "AttentionLedgerItem",
                "item_id",
                "lifecycle_state",
                ("open", "dismissed"),
                r#","priority":"blocking""#,
            ),
            false,
        ),
        (
            general(
                "TaskReliancePacket",
                "packet_id",
                "lifecycle_state",
                ("user_reviewed", "issued"),
                r#","reliance_derivation":{"status":"not_safe_to_rely"}"#,
            ),
            false,
        ),
        (general("EvaluationChainRegistryRecord", "chain_id", "status", ("open", "complete"), ""), false),
        (general("ResearchNeed", "need_id", "status", ("open", "leased"), ""), false),
    ] {
        let found = places("lifecycle_transition_without_receipt", &from_lines(&lines.join("\n")));
        assert_eq!(found.is_empty(), is_told, "{lines:?}");
    }
}

/// For all machines and all pairs of states: a move is accepted exactly if the table has it and a receipt tells of it.
#[test]
fn states_move_as_their_tables_allow() {
    let code = "lifecycle_transition_without_receipt";
    for family in RECEIPTED {
        let id = crate::kind::find(family.kind).and_then(|kind| kind.id).unwrap();
        let states: Vec<&str> = family.machine.states().collect();
        for (from, to) in states.iter().flat_map(|from| states.iter().map(move |to| (from, to))) {
            // A chain waits for one more where a result makes it partial only.
            let expected = if *to == "partial" { r#"["judge","sub_agent"]"# } else { "[]" };
            let version = |state: &str| {
                format!(
                    r#"{} {{"{id}":"x","{}":"{state}","expected_producers":{expected},
                       "superseded_by_finding_id":"y"}}"#,
                    family.kind, family.member
                )
                .replace('\n', "")
            };
            let found = |lines: &[String]| places(code, &from_lines(&lines.join("\n")));
            if from == to {
                assert!(found(&[version(from), version(to)]).is_empty(), "{} {from}", family.kind);
                continue;
            }
            let receipt = receipt(family, from, to);
            let told = found(&[version(from), receipt.clone(), version(to)]);
            let is_legal = family.machine.allows(from, to);
            assert_eq!(told.is_empty(), is_legal, "{} {from} {to}", family.kind);
            let untold = found(&[version(from), version(to), receipt]);
            assert!(!untold.is_empty(), "{} {from} {to}", family.kind);
        }
    }
}

#[test]
fn receipts_lead_from_state_to_state() {
    has_in_lines(
        "lifecycle_transition_without_receipt",
        &[
            // A projection may be written after several moves, but each receipt counts once.
            (
                r#"AttentionLedgerItem {"item_id":"i","lifecycle_state":"open"}
                   ResearchNeed {"need_id":"n","status":"open"}
                   ResearchNeedLease {"need_id":"n","lease_token":"l"}
                   LifecycleTransitionReceipt {"subject_ref":"research_need:n","from_state":"leased","to_state":"open"}
                   LifecycleTransitionReceipt {"subject_ref":"research_need:n","from_state":"open","to_state":"unresolved"}
                   ResearchNeed {"need_id":"n","status":"unresolved"}
                   ResearchNeed {"need_id":"n","status":"open"}"#,
                &["7/status"],
            ),
            // Receipts and events of their own.
            (
                r#"ResearchNeed {"need_id":"n","status":"open"}
                   ResearchNeedLease {"need_id":"n","lease_token":"l"}
                   ResearchNeed {"need_id":"n","status":"leased"}
                   LibraryPromotionCandidate {"candidate_id":"c","status":"approved"}
                   LibraryPromotionReceipt {"receipt_id":"r","candidate_id":"c","status":"blocked_by_policy"}
                   LibraryPromotionCandidate {"candidate_id":"c","status":"promoted"}
                   TaskReliancePacket {"packet_id":"p","lifecycle_state":"issued"}
                   RelianceInvalidationEvent {"event_id":"e","packet_id":"p"}
                   TaskReliancePacket {"packet_id":"p","lifecycle_state":"invalidated"}
                   RevalidationCascadeRun {"cascade_run_id":"k","status":"running"}
                   RevalidationCascadeReceipt {"receipt_id":"s","cascade_run_id":"k","status":"quiescent"}
                   RevalidationCascadeRun {"cascade_run_id":"k","status":"quiescent"}"#,
                &["6/status"],
            ),
            // A finding begins as it was emitted.
            (
                r#"EvaluationFindingEvent {"finding_event_id":"e","finding_id":"f","emitted_state":"active"}
                   EvaluationFindingRecord {"finding_id":"f","canonical_event_ref":"evaluation_finding_event:e","current_state":"resolved"}"#,
                &["2/current_state"],
            ),
            // As it was first emitted: an event that is written anew has a code of its own.
            (
                r#"EvaluationFindingEvent {"finding_event_id":"e","finding_id":"f","emitted_state":"active"}
                   EvaluationFindingRecord {"finding_id":"f","canonical_event_ref":"evaluation_finding_event:e","current_state":"active"}
                   EvaluationFindingEvent {"finding_event_id":"e","finding_id":"f","emitted_state":"resolved"}"#,
                &[],
            ),
            // Guidance and source tiers have codes of their own.
            (
                r#"RunGuidanceItemCurrent {"guidance_id":"g","lifecycle_state":"proposed"}
                   RunGuidanceItemCurrent {"guidance_id":"g","lifecycle_state":"active"}
                   SourceRecord {"source_id":"s","tier":1}
                   SourceRecord {"source_id":"s","tier":2}"#,
                &[],
            ),
        ],
    );
}

#[test]
fn what_moves_does_not_hide_inside() {
    has_in_lines(
        "mutable_state_inside_immutable_snapshot",
        &[
            (
                r#"LibraryPromotionReceipt {"receipt_id":"r","body":{"notes":[{"current_state":"x"}],"updated_at":null}}"#,
                &["1/body/notes/0/current_state"],
            ),
            (
                r#"RunBoardAuditEvent {"event_id":"e","payload":{"superseded_by_event_id":"f"}}"#,
                &["1/payload/superseded_by_event_id"],
            ),
            (r#"LibraryPromotionReceipt {"receipt_id":"r","body":{"emitted_state":"x"}}"#, &[]),
            (r#"LibraryPromotionCandidate {"candidate_id":"c","body":{"updated_at":"x"}}"#, &[]),
        ],
    );
}
