//! Rows of all kinds that folds hear, whole and of their types.

use countersign_govern::world::Draft;
use countersign_record::json;
use countersign_record::time::{Instant, Timestamp};

/// The first minute of all logs.
const START: i64 = 1_772_438_400;

/// A minute of the log as a text.
pub(super) fn time(minute: u64) -> String {
    let seconds = START + i64::try_from(minute).unwrap() * 60;
    Timestamp::try_from(Instant { seconds, nanos: 0 }).unwrap().to_string()
}

pub(super) fn instant(minute: u64) -> Instant {
    Instant::read(&time(minute)).unwrap()
}

/// A row, written in a minute. In its text `'` stands for `"`.
pub(super) fn row(kind: &str, minute: u64, record: &str) -> Draft {
    let text = record.replace('\'', "\"");
    let record = json::parse(text.as_bytes()).unwrap_or_else(|error| panic!("{text}: {error}"));
    Draft { kind: kind.to_owned(), id: None, at: Some(instant(minute)), record }
}

/// A receipt for things that have none of their own.
pub(super) fn general(minute: u64, subject: &str, from: &str, to: &str) -> Draft {
    let at = time(minute);
    row(
        "LifecycleTransitionReceipt",
        minute,
        &format!(
            "{{'receipt_id':'lt{minute}','subject_ref':'{subject}','from_state':'{from}','to_state':'{to}','actor_ref':'user:u1','reason':'because','created_at':'{at}','schema_version':'1.0'}}"
        ),
    )
}

pub(super) fn finding(minute: u64, id: &str, state: &str, severity: &str) -> Draft {
    let at = time(minute);
    row(
        "EvaluationFindingEvent",
        minute,
        &format!(
            "{{'finding_event_id':'{id}-e{minute}','finding_id':'{id}','result_id':'r1','severity':'{severity}','emitted_state':'{state}','target_artifact_version_ref':'artifact_version:a1','created_at':'{at}'}}"
        ),
    )
}

pub(super) fn finding_moved(minute: u64, id: &str, from: &str, to: &str, reason: &str) -> Draft {
    let at = time(minute);
    row(
        "FindingLifecycleTransitionReceipt",
        minute,
        &format!(
            "{{'receipt_id':'fl{minute}','finding_id':'{id}','from_state':'{from}','to_state':'{to}','transition_reason':'{reason}','actor_ref':'user:u1','evidence_refs':['tool_receipt:t1','sufficiency_detection_result:d1','evaluation_finding_record:y'],'created_at':'{at}','schema_version':'1.0'}}"
        ),
    )
}

pub(super) fn guidance(minute: u64, id: &str) -> Draft {
    let at = time(minute);
    row(
        "RunGuidanceCreationEvent",
        minute,
        &format!(
            "{{'event_id':'{id}-e1','guidance_id':'{id}','source_feedback_bundle_ref':'evaluation_feedback_bundle:fb1','guidance_text':'x','scope_ref':'task_run:run1','created_at':'{at}','schema_version':'1.0'}}"
        ),
    )
}

pub(super) fn guidance_moved(minute: u64, id: &str, from: &str, to: &str) -> Draft {
    let at = time(minute);
    row(
        "RunGuidanceLifecycleReceipt",
        minute,
        &format!(
            "{{'receipt_id':'gl{minute}','guidance_id':'{id}','from_state':'{from}','to_state':'{to}','actor_ref':'user:u1','reason':'x','created_at':'{at}','schema_version':'1.0'}}"
        ),
    )
}

pub(super) fn chain(minute: u64, id: &str, expected: &str) -> Draft {
    let at = time(minute);
    row(
        "EvaluationChainRegistryRecord",
        minute,
        &format!(
            "{{'chain_id':'{id}','chain_kind':'pattern_c_evaluator_then_judge','task_id':'t1','run_id':'run1','target_artifact_ref':'artifact:a1','target_artifact_version_ref':null,'target_scope_ref':null,'evaluation_snapshot_ref':'evaluation_snapshot:s1','expected_producers':[{expected}],'received_result_ids':[],'participant_roles':[],'status':'open','created_at':'{at}','validation_failures':[],'schema_version':'1.0'}}"
        ),
    )
}

pub(super) fn result(minute: u64, chain: &str, producer: &str) -> Draft {
    row(
        "EvaluationResultEnvelope",
        minute,
        &format!(
            "{{'result_id':'res{minute}','producer_kind':'{producer}','outcome_id':'o1','run_id':'run1','target_evaluation_chain_id':'{chain}','evaluation_snapshot_ref':'evaluation_snapshot:s1','schema_version':'1.0'}}"
        ),
    )
}

pub(super) fn outcome(minute: u64, id: &str) -> Draft {
    row(
        "OutcomeRecord",
        minute,
        &format!(
            "{{'outcome_id':'{id}','run_id':'run1','task_id':'t1','depends_on_outcome_ids':[],'state':'pending','schema_version':'1.0'}}"
        ),
    )
}

pub(super) fn outcome_moved(minute: u64, id: &str, from: &str, to: &str) -> Draft {
    let at = time(minute);
    row(
        "OutcomeStateTransitionEvent",
        minute,
        &format!(
            "{{'event_id':'ot{minute}','outcome_id':'{id}','run_id':'run1','from_state':'{from}','to_state':'{to}','cause':'x','created_at':'{at}','schema_version':'1.0'}}"
        ),
    )
}

pub(super) fn cascade(minute: u64, id: &str) -> Draft {
    let at = time(minute);
    row(
        "RevalidationCascadeRun",
        minute,
        &format!(
            "{{'cascade_run_id':'{id}','originating_receipt_ref':'revision_operation_receipt:x','task_id':'t1','run_id':'run1','origin_outcome_id':'o1','visited_outcome_ids':[],'active_outcome_ids':['o1'],'depth':1,'max_depth':9,'status':'running','created_at':'{at}','schema_version':'1.0'}}"
        ),
    )
}

pub(super) fn cascade_ended(minute: u64, id: &str, status: &str) -> Draft {
    let at = time(minute);
    row(
        "RevalidationCascadeReceipt",
        minute,
        &format!(
            "{{'receipt_id':'cr{minute}','cascade_run_id':'{id}','status':'{status}','affected_outcome_ids':['o1'],'created_at':'{at}','schema_version':'1.0'}}"
        ),
    )
}

pub(super) fn source(minute: u64, id: &str, tier: u64) -> Draft {
    row(
        "SourceRecord",
        minute,
        &format!(
            "{{'source_id':'{id}','tier':{tier},'source_kind':'web_source','workspace_id':'w1','task_id':'t1','taint_class':'external_untrusted','data_class':'internal','privileged':false}}"
        ),
    )
}

pub(super) fn tier_moved(minute: u64, id: &str, from: u64, to: u64) -> Draft {
    let at = time(minute);
    row(
        "SourceTierTransitionReceipt",
        minute,
        &format!(
            "{{'receipt_id':'st{minute}','source_id':'{id}','from_tier':{from},'to_tier':{to},'transition_reason':'x','actor_ref':'user:u1','created_at':'{at}','schema_version':'1.0'}}"
        ),
    )
}

pub(super) fn operation(minute: u64, id: &str, kind: &str, more: &str) -> Draft {
    let at = time(minute);
    row(
        "SourceWorkspaceOperation",
        minute,
        &format!(
            "{{'operation_id':'{id}','operation_kind':'{kind}','task_id':'t1','run_id':'run1','workspace_id':'w1','actor_ref':'module:m1','idempotency_key':'{id}','policy_decision_refs':[],'data_class':'internal','taint_class':'external_untrusted','privileged':false,'created_at':'{at}','schema_version':'1.0'{more}}}"
        ),
    )
}

pub(super) fn operated(minute: u64, id: &str, kind: &str, status: &str, prior: u64) -> Draft {
    let (at, new) = (time(minute), prior + 1);
    row(
        "SourceWorkspaceOperationReceipt",
        minute,
        &format!(
            "{{'receipt_id':'{id}-r','operation_id':'{id}','operation_kind':'{kind}','workspace_id':'w1','prior_workspace_head_hash':'h{prior}','new_workspace_head_hash':'h{new}','prior_event_seq':{prior},'new_event_seq':{new},'status':'{status}','created_at':'{at}','schema_version':'1.0'}}"
        ),
    )
}

pub(super) fn need(minute: u64, id: &str) -> Draft {
    let at = time(minute);
    row(
        "ResearchNeed",
        minute,
        &format!(
            "{{'need_id':'{id}','need_scope':'run','task_id':'t1','run_id':'run1','workspace_id':'w1','target_refs':[],'question':'why','status':'open','created_at':'{at}','updated_at':'{at}','schema_version':'1.1'}}"
        ),
    )
}

pub(super) fn lease(minute: u64, need: &str, token: &str, until: u64, on_expiry: &str) -> Draft {
    let (start, end) = (time(minute), time(until));
    row(
        "ResearchNeedLease",
        minute,
        &format!(
            "{{'need_id':'{need}','leased_by_module_id':'m1','lease_token':'{token}','acquired_at':'{start}','expires_at':'{end}','on_expiry':'{on_expiry}','schema_version':'1.0'}}"
        ),
    )
}

/// An answer under a lease, and its receipt.
pub(super) fn answer(minute: u64, need: &str, token: &str, actor: &str) -> Vec<Draft> {
    let (id, kind) = (format!("an{minute}"), "answer_research_need");
    let more = format!(
        ",'payload_ref':'source_evidence_anchor:x','precondition':{{'target_record_ref':'research_need:{need}','lock_lease_ref':'research_need_lease:{token}'}}"
    );
    let mut asked = operation(minute, &id, kind, &more);
    let mut members = asked.record.as_object().unwrap().clone();
    members.insert("actor_ref", actor);
    asked.record = members.into();
    vec![asked, operated(minute, &id, kind, "applied", 900 + minute)]
}

pub(super) fn board_event(minute: u64, id: &str) -> Draft {
    row("RunBoardAuditEvent", minute, &format!("{{'event_id':'{id}','task_id':'t1','run_id':'run1'}}"))
}

pub(super) fn post(minute: u64, id: &str, event: &str) -> Draft {
    let at = time(minute);
    row(
        "RunBoardVisiblePost",
        minute,
        &format!(
            "{{'post_id':'{id}','source_event_id':'{event}','rendered_payload_ref':'payload:p','redacted':false,'lifecycle_state':'active','created_at':'{at}','schema_version':'1.0'}}"
        ),
    )
}

pub(super) fn candidate(minute: u64, id: &str) -> Draft {
    let at = time(minute);
    row(
        "LibraryPromotionCandidate",
        minute,
        &format!(
            "{{'candidate_id':'{id}','source_record_ref':'src:s1','workspace_id':'w1','requested_by_ref':'user:u1','status':'queued','created_at':'{at}','schema_version':'1.0'}}"
        ),
    )
}

pub(super) fn promoted(minute: u64, id: &str, status: &str) -> Draft {
    let at = time(minute);
    row(
        "LibraryPromotionReceipt",
        minute,
        &format!(
            "{{'receipt_id':'lp{minute}','candidate_id':'{id}','gate_ref':'library_promotion_gate:g','durable_library_write_ref':'library_entry:e','status':'{status}','created_at':'{at}','schema_version':'1.0'}}"
        ),
    )
}
