//! Rules follow what is moved by receipts, operations and results alone: the projection is written once, and nobody writes it again.

use crate::check::trial::{by_minute, places, until};
use std::format;
use std::string::String;
use std::vec::Vec;

const RECEIPT: &str = "LifecycleTransitionReceipt";

/// Where a code is found in rows, each a minute behind the one before.
#[track_caller]
fn check<T: AsRef<str>>(code: &str, rows: &[(&str, T)], expected: &[&str]) {
    let rows: Vec<(&str, &str)> = rows.iter().map(|(kind, text)| (*kind, text.as_ref())).collect();
    assert_eq!(places(code, &by_minute(&rows)), expected, "{code} {rows:#?}");
}

/// The receipt for what has none of its own.
fn moved(subject: &str, from: &str, to: &str) -> (&'static str, String) {
    let text = format!(
        "{{'receipt_id':'l','subject_ref':'{subject}','from_state':'{from}','to_state':'{to}','reason':'as said'}}"
    );
    (RECEIPT, text)
}

fn row(kind: &'static str, text: &str) -> (&'static str, String) {
    (kind, String::from(text))
}

fn need(status: &str) -> (&'static str, String) {
    row("ResearchNeed", &format!("{{'need_id':'n','run_id':'r','status':'{status}'}}"))
}

/// A lease from one minute to another.
fn lease(from: u32, to: u32) -> (&'static str, String) {
    let text = format!(
        "{{'need_id':'n','lease_token':'t','acquired_at':'2026-03-02T08:{from:02}:00Z','expires_at':'2026-03-02T08:{to:02}:00Z'}}"
    );
    row("ResearchNeedLease", &text)
}

/// An answer by an operation, and what became of it.
fn answer(status: &str) -> [(&'static str, String); 2] {
    let operation = row(
        "SourceWorkspaceOperation",
        "{'operation_id':'o','operation_kind':'answer_research_need','payload_ref':'source_record:s',
        'precondition':{'target_record_ref':'research_need:n','lock_lease_ref':'research_need_lease:t'}}",
    );
    let text = format!("{{'receipt_id':'w','operation_id':'o','status':'{status}'}}");
    [operation, row("SourceWorkspaceOperationReceipt", &text)]
}

#[test]
fn an_answer_by_an_operation_unlocks() {
    let code = "sufficiency_retry_after_terminal_detection";
    let end = row(
        "SufficiencyDetectionResult",
        "{'detection_id':'d','outcome_id':'x','run_id':'r','no_sufficient_procedure':true,
        'blocking_research_need_refs':['research_need:n']}",
    );
    let attempt = row("ProcedureAttemptRecord", "{'attempt_id':'a','outcome_id':'x','run_id':'r'}");
    let rows = |middle: &[(&'static str, String)]| {
        [&[need("open"), end.clone()], middle, core::slice::from_ref(&attempt)].concat()
    };
    let [asked, applied] = answer("applied");
    check(code, &rows(&[]), &["3"]);
    check(code, &rows(&[lease(2, 20), asked.clone(), applied.clone()]), &[]);
    // Not by an answer that was refused, came without a live lease, or is only told of.
    let [_, refused] = answer("conflict");
    check(code, &rows(&[lease(2, 20), asked.clone(), refused]), &["6"]);
    check(code, &rows(&[lease(2, 3), asked.clone(), applied.clone()]), &["6"]);
    check(code, &rows(&[asked, applied]), &["5"]);
    let told = moved("research_need:n", "leased", "answered");
    check(code, &rows(&[lease(2, 20), told.clone()]), &["5"]);
    check(code, &rows(&[lease(2, 20), told, need("answered")]), &[]);
}

#[test]
fn an_answered_question_leaves_no_choice_and_no_lease() {
    let code = "hard_call_raised_when_no_human_choice_available";
    let detection = row(
        "SufficiencyDetectionResult",
        "{'detection_id':'d','outcome_id':'x','run_id':'r','terminal_route':'needs_information',
        'hard_call_required':true,'blocking_research_need_refs':['research_need:n']}",
    );
    let [asked, applied] = answer("applied");
    let open = [need("open"), lease(1, 20), detection.clone()];
    check(code, &open, &["3/hard_call_required"]);
    check(code, &[need("open"), lease(1, 20), asked.clone(), applied.clone(), detection.clone()], &[]);
    check(code, &[need("open"), moved("research_need:n", "open", "unresolved"), detection], &[]);
    // The lease ends with the answer.
    let code = "research_need_double_leased";
    let again = asked.1.replace("'o'", "'again'");
    let rows = [need("open"), lease(1, 20), asked, applied, row("SourceWorkspaceOperation", &again)];
    check(code, &rows, &["5/precondition/lock_lease_ref"]);
}

#[test]
fn who_waits_for_a_person_needs_an_open_route() {
    let code = "research_need_human_needed_without_exit";
    let waits = moved("research_need:n", "open", "human_needed");
    let item = row(
        "AttentionLedgerItem",
        "{'item_id':'i','attention_kind':'research_need_human','source_ref':'research_need:n',
        'lifecycle_state':'open','priority':'high'}",
    );
    check(code, &[need("open"), waits.clone()], &["2/to_state"]);
    check(code, &[need("open"), waits.clone(), item.clone()], &[]);
    let [dismissed, resolved] =
        ["dismissed", "resolved"].map(|to| moved("attention_ledger_item:i", "open", to));
    check(code, &[need("open"), waits.clone(), item.clone(), dismissed.clone()], &["2/to_state"]);
    check(code, &[need("open"), waits.clone(), item.clone(), resolved], &["2/to_state"]);
    let returned = moved("research_need:n", "human_needed", "open");
    check(code, &[need("open"), waits.clone(), item.clone(), returned, dismissed.clone()], &[]);
    let stated =
        row("ResearchNeed", "{'need_id':'n','status':'human_needed','human_needed_reason':'only they know'}");
    check(code, &[stated.clone(), item.clone()], &[]);
    check(code, &[stated, item.clone(), dismissed], &["1/status"]);
    let unexplained = (RECEIPT, waits.1.replace(",'reason':'as said'", ""));
    check(code, &[need("open"), unexplained, item], &["2/reason"]);
}

const PACKET: &str = "TaskReliancePacket";

fn packet(state: &str) -> (&'static str, String) {
    let text = format!(
        "{{'packet_id':'p','run_id':'r','lifecycle_state':'{state}',
        'input_manifest':{{'created_from_event_seq':1,'final_artifact_refs':['artifact:a']}}}}"
    );
    row(PACKET, &text)
}

/// The receipts that lead a reliance artifact along these states.
fn along(subject: &str, states: &[&str]) -> Vec<(&'static str, String)> {
    states.windows(2).map(|pair| moved(subject, pair[0], pair[1])).collect()
}

const LIFE: [&str; 4] = ["draft", "ready_for_review", "user_reviewed", "issued"];

#[test]
fn a_packet_stands_where_receipts_led_it() {
    let code = "reliance_packet_stale_snapshot";
    let changed = [
        row("ArtifactVersion", "{'artifact_version_id':'w','artifact_stable_id':'a'}"),
        row(
            "ArtifactVersionTransitionEvent",
            "{'event_id':'e','artifact_version_ref':'artifact_version:w','to_state':'accepted_head'}",
        ),
    ];
    let rows = |first: &str, states: &[&str], after: &[(&'static str, String)]| {
        let moves = along("task_reliance_packet:p", states);
        [&[packet(first)], moves.as_slice(), &changed, after].concat()
    };
    let wrong = &["1/input_manifest/final_artifact_refs"];
    check(code, &rows("draft", &LIFE[..1], &[]), &[]);
    for count in 2..=LIFE.len() {
        check(code, &rows("draft", &LIFE[..count], &[]), wrong);
    }
    let gone = [moved("task_reliance_packet:p", "issued", "superseded")];
    check(code, &rows("issued", &[], &[]), wrong);
    check(code, &rows("issued", &[], &gone), &[]);
    check(code, &rows("draft", &LIFE, &gone), &[]);
    // A receipt that leads from where the packet is not leads nowhere.
    check(code, &rows("ready_for_review", &[], &gone), wrong);
}

#[test]
fn a_certification_is_issued_by_receipts_too() {
    let code = "work_product_certification_without_reliance_packet";
    let certification = |state: &str| {
        let text = format!(
            "{{'certification_id':'w','task_reliance_packet_ref':'task_reliance_packet:p','lifecycle_state':'{state}'}}"
        );
        row("WorkProductCertification", &text)
    };
    let issues = along("work_product_certification:w", &LIFE);
    let rows = |packet_states: &[&str], after: &[(&'static str, String)]| {
        let packet_moves = along("task_reliance_packet:p", packet_states);
        [&[packet("draft")], packet_moves.as_slice(), &[certification("draft")], &issues, after].concat()
    };
    check(code, &rows(&LIFE[..1], &[]), &["5/to_state"]);
    check(code, &rows(&LIFE[..2], &[]), &["6/to_state"]);
    check(code, &rows(&LIFE[..3], &[]), &[]);
    check(code, &rows(&LIFE, &[]), &[]);
    let fell = row("RelianceInvalidationEvent", "{'event_id':'i','packet_id':'p'}");
    check(code, &rows(&LIFE[..3], core::slice::from_ref(&fell)), &["7/to_state"]);
    let taken_back = moved("work_product_certification:w", "issued", "invalidated");
    check(code, &rows(&LIFE[..3], &[fell.clone(), taken_back]), &[]);
    // Issued at once, on a packet that receipts led there; to be written once more is not to be issued once more.
    let reviewed = along("task_reliance_packet:p", &LIFE[..3]);
    let first = [&[packet("draft")], reviewed.as_slice(), &[certification("issued")]].concat();
    check(code, &first, &[]);
    let gone = moved("task_reliance_packet:p", "user_reviewed", "superseded");
    check(code, &[first.as_slice(), &[gone, certification("issued")]].concat(), &[]);
    check(code, &[first.as_slice(), &[fell]].concat(), &["4/lifecycle_state"]);
}

const CHAINED: [&str; 2] = ["outcome_evaluator", "judge"];

fn chain(status: &str) -> (&'static str, String) {
    let roles = CHAINED.map(|kind| format!("{{'producer_kind':'{kind}','required':true}}")).join(",");
    let text = format!(
        "{{'chain_id':'c','chain_kind':'pattern_c_evaluator_then_judge','status':'{status}','received_result_ids':[],
        'expected_producers':['outcome_evaluator','judge'],'participant_roles':[{roles}],
        'timeout_at':'2026-03-02T08:30:00Z'}}"
    );
    row("EvaluationChainRegistryRecord", &text)
}

fn result(id: &str, producer: &str) -> (&'static str, String) {
    let text = format!(
        "{{'result_id':'{id}','target_evaluation_chain_id':'c','producer_kind':'{producer}','decision':{{'verdict':'passed'}}}}"
    );
    row("EvaluationResultEnvelope", &text)
}

#[test]
fn a_chain_is_complete_when_all_have_answered() {
    let (unresolved, missing) =
        ("pattern_c_chain_without_resolution_receipt", "pattern_c_missing_expected_producer");
    let resolved = row(
        "EvaluationChainResolutionReceipt",
        "{'receipt_id':'x','chain_id':'c','result_ids_considered':['e','j'],'conflict_type':'none'}",
    );
    let (evaluator, judge) = (result("e", "outcome_evaluator"), result("j", "judge"));
    let both = [chain("open"), evaluator.clone(), judge.clone()];
    check(unresolved, &both, &["1/status"]);
    check(unresolved, &[both.as_slice(), &[resolved]].concat(), &[]);
    check(unresolved, &[chain("open"), evaluator.clone()], &[]);
    check(unresolved, &[chain("open"), evaluator.clone(), result("f", "outcome_evaluator")], &[]);
    let gone = moved("evaluation_chain_registry_record:c", "complete", "superseded");
    check(unresolved, &[both.as_slice(), &[gone]].concat(), &[]);
    // Who answered is not missing when the time is over, and who did not is.
    let late = |code: &str, rows: &[(&str, String)], expected: &[&str]| {
        let rows: Vec<(&str, &str)> = rows.iter().map(|(kind, text)| (*kind, text.as_str())).collect();
        assert_eq!(places(code, &until(40, &rows)), expected, "{code} {rows:#?}");
    };
    late(unresolved, &both, &["1/status"]);
    late(missing, &both, &[]);
    late(missing, &[chain("open"), evaluator], &["1/timeout_at"]);
}

/// What came in is held against the receipt, also where the chain was not written again.
#[test]
fn a_receipt_may_not_leave_out_what_came_in() {
    let passed = |considered: &str| {
        let text = format!(
            "{{'receipt_id':'x','chain_id':'c','result_ids_considered':[{considered}],'resolved_verdict':'passed',
            'resolved_route':'pass_path','conflict_type':'none'}}"
        );
        row("EvaluationChainResolutionReceipt", &text)
    };
    let failed = ("EvaluationResultEnvelope", result("e", "outcome_evaluator").1.replace("passed", "failed"));
    let judge = result("j", "judge");
    let code = "pattern_c_route_conflict_unresolved";
    let good = [chain("open"), result("e", "outcome_evaluator"), judge.clone(), passed("'e','j'")];
    check(code, &good, &[]);
    assert!(!places(code, &by_minute(&borrowed(&[chain("open"), failed, judge, passed("'j'")]))).is_empty());
}

fn borrowed<'r>(rows: &'r [(&'r str, String)]) -> Vec<(&'r str, &'r str)> {
    rows.iter().map(|(kind, text)| (*kind, text.as_str())).collect()
}

#[test]
fn an_item_is_closed_by_a_receipt_too() {
    let code = "hard_call_resolved_without_dispatcher_receipt";
    let call = row("HardRevisionCall", "{'hard_call_id':'h','options':[{'option_id':'a'}]}");
    let item = row(
        "AttentionLedgerItem",
        "{'item_id':'i','attention_kind':'hard_call_pending','source_ref':'hard_revision_call:h','lifecycle_state':'open'}",
    );
    let closed = moved("attention_ledger_item:i", "open", "resolved");
    let answered = row(
        "HardCallResolutionReceipt",
        "{'receipt_id':'a','hard_call_id':'h','operation_kind':'hard_call_resolved','dispatcher_actor_ref':'module:d',
        'selected_option_id':'a'}",
    );
    let pending = |action: &str| {
        let text = format!("{{'event_id':'e','hard_call_id':'h','cause':'timed_out','action':'{action}'}}");
        row("HardCallPendingEvent", &text)
    };
    let rows = |middle: &[(&'static str, String)]| {
        [&[call.clone(), item.clone()], middle, core::slice::from_ref(&closed)].concat()
    };
    check(code, &rows(&[]), &["3/to_state"]);
    check(code, &rows(core::slice::from_ref(&answered)), &[]);
    check(code, &[rows(&[]), Vec::from([answered])].concat(), &["3/to_state"]);
    let cancelled = row("TaskCancelReceipt", "{'receipt_id':'k','stopped_refs':['hard_revision_call:h']}");
    check(code, &rows(&[cancelled]), &[]);
    // Nobody is asked any more where the time was over and the scope was given up; where it goes on with a warning, somebody is.
    check(code, &rows(&[pending("abort")]), &[]);
    check(code, &rows(&[pending("continue_with_warning")]), &["4/to_state"]);
    let dismissed = moved("attention_ledger_item:i", "open", "dismissed");
    check(code, &[call, item, dismissed], &[]);
}

#[test]
fn promoted_is_what_was_written() {
    let code = "library_promotion_candidate_confused_with_durable_write";
    let candidate = row("LibraryPromotionCandidate", "{'candidate_id':'c','status':'approved'}");
    let told = moved("library_promotion_candidate:c", "approved", "promoted");
    let written = row(
        "LibraryPromotionReceipt",
        "{'candidate_id':'c','status':'promoted','durable_library_write_ref':'library_entry:e'}",
    );
    check(code, &[candidate.clone(), told.clone()], &["2/to_state"]);
    check(code, &[candidate.clone(), written.clone(), told.clone()], &[]);
    check(code, &[candidate.clone(), told, written], &["2/to_state"]);
    check(code, &[candidate, moved("library_promotion_candidate:c", "approved", "cancelled")], &[]);
}

#[test]
fn a_review_is_decided_by_a_decision() {
    let code = "review_decision_without_receipt";
    let packet = row("RevisionReviewPacket", "{'packet_id':'p','state':'review_pending'}");
    let told = moved("revision_review_packet:p", "review_pending", "accepted");
    let decided =
        row("RevisionReviewDecisionReceipt", "{'receipt_id':'d','packet_id':'p','action':'accept'}");
    check(code, &[packet.clone(), told.clone()], &["2/to_state"]);
    check(code, &[packet.clone(), decided, told], &[]);
    check(code, &[packet, moved("revision_review_packet:p", "review_pending", "superseded")], &[]);
}

/// What is shown of findings and outcomes is held against how they stand.
#[test]
fn what_is_shown_is_how_it_stands() {
    let event = row(
        "EvaluationFindingEvent",
        "{'finding_event_id':'e','finding_id':'f','severity':'high','emitted_state':'active'}",
    );
    let record = row("EvaluationFindingRecord", "{'finding_id':'f','current_state':'active'}");
    let rejected = row(
        "FindingLifecycleTransitionReceipt",
        "{'receipt_id':'l','finding_id':'f','from_state':'active','to_state':'rejected_by_user',
        'transition_reason':'rejected_by_user'}",
    );
    let view = |state: &str| {
        let text = format!(
            "{{'current_finding_record_ref':'evaluation_finding_record:f','lifecycle_state':'{state}'}}"
        );
        row("FeedbackFindingView", &text)
    };
    let code = "feedback_finding_view_authority_drift";
    let rows = |view: (&'static str, String)| [event.clone(), record.clone(), rejected.clone(), view];
    check(code, &rows(view("active")), &["4/lifecycle_state"]);
    check(code, &rows(view("rejected_by_user")), &[]);
    check(code, &[event.clone(), record.clone(), view("active"), rejected.clone()], &[]);
    let code = "read_model_asserts_unbacked_truth";
    let shown = [
        row("ReadModelInputManifest", "{'manifest_id':'m','input_refs':['evaluation_finding_record:f']}"),
        row(
            "DerivedReadModelRecord",
            "{'read_model_id':'h','input_manifest_ref':'read_model_input_manifest:m'}",
        ),
        row(
            "TaskHealthCard",
            "{'task_id':'t','active_blocker_refs':['evaluation_finding_record:f'],'health_status':'blocked',
            'derived_read_model_ref':'derived_read_model_record:h'}",
        ),
    ];
    check(code, &[&[event.clone(), record.clone()], shown.as_slice()].concat(), &[]);
    check(
        code,
        &[&[event.clone(), record, rejected.clone()], shown.as_slice()].concat(),
        &["6/active_blocker_refs"],
    );
    // Nobody need have written the projection.
    check(code, &[&[event, rejected], shown.as_slice()].concat(), &["5/active_blocker_refs"]);
}

#[test]
fn a_cascade_ends_by_any_receipt() {
    let code = "success_marked_before_cascade_quiescent";
    let plan = row("RevisionPlan", "{'plan_id':'q','run_id':'r'}");
    let origin =
        row("RevisionOperationReceipt", "{'receipt_id':'o','plan_id':'q','operation_kind':'plan_admitted'}");
    let run = row(
        "RevalidationCascadeRun",
        "{'cascade_run_id':'k','status':'running','origin_outcome_id':'x','run_id':'r',
        'originating_receipt_ref':'revision_operation_receipt:o'}",
    );
    let success = row(
        "RevisionCycleOutcomeObservation",
        "{'outcome_id':'x','run_id':'r','terminal_class':'succeeded'}",
    );
    let ended = moved("revalidation_cascade_run:k", "running", "aborted");
    check(code, &[plan.clone(), origin.clone(), run.clone(), success.clone()], &["4/terminal_class"]);
    check(code, &[plan, origin, run, ended, success], &[]);
}
