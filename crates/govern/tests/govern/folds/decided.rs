//! Rows of what people decide on and rely on, whole and of their types.

use super::rows::{row, time};
use countersign_govern::world::Draft;

pub(super) fn packet(minute: u64, id: &str) -> Draft {
    let manifest = "{'final_artifact_refs':[],'evaluation_chain_ids':[],'evaluation_chain_resolution_receipt_refs':[],'evaluation_snapshot_refs':[],'source_workspace_snapshot_refs':[],'evidence_package_refs':[],'revision_review_packet_refs':[],'hard_call_resolution_refs':[],'policy_decision_refs':[],'known_good_checkpoint_refs':[],'created_from_event_seq':1,'input_manifest_hash':'h','schema_version':'1.0'}";
    let derivation = "{'status':'rely_with_limitations','decisive_input_refs':[],'unresolved_limitations':[],'required_human_review_refs':[],'scope_statement':'x','derivation_policy_ref':'p','explanation':'x','schema_version':'1.0'}";
    row(
        "TaskReliancePacket",
        minute,
        &format!(
            "{{'packet_id':'{id}','task_id':'t1','run_id':'run1','input_manifest':{manifest},'reliance_derivation':{derivation},'lifecycle_state':'draft','generated_by_ref':'engine','data_class':'internal','taint_class':'user_trusted_bounded','privileged':false,'user_visible_summary':'x','schema_version':'1.1'}}"
        ),
    )
}

pub(super) fn invalidated(minute: u64, packet: &str) -> Draft {
    let at = time(minute);
    row(
        "RelianceInvalidationEvent",
        minute,
        &format!(
            "{{'event_id':'ri{minute}','packet_id':'{packet}','invalidation_kind':'source_workspace_changed','triggering_ref':'source_record:s1','created_at':'{at}','schema_version':'1.0'}}"
        ),
    )
}

pub(super) fn certification(minute: u64, id: &str) -> Draft {
    let at = time(minute);
    row(
        "WorkProductCertification",
        minute,
        &format!(
            "{{'certification_id':'{id}','task_reliance_packet_ref':'task_reliance_packet:p1','rendered_certification_ref':'document:d','lifecycle_state':'draft','created_at':'{at}','schema_version':'1.0'}}"
        ),
    )
}

pub(super) fn contract(minute: u64, id: &str) -> Draft {
    let at = time(minute);
    row(
        "EvaluationContractReview",
        minute,
        &format!(
            "{{'review_id':'{id}','task_id':'t1','compiled_plan_ref':'plan:p','interpreted_goal':'x','criteria_summary':[],'threshold_summary':[],'source_requirements':[],'required_capabilities':[],'hard_call_triggers':[],'user_approval_required':true,'approval_status':'pending','lifecycle_state':'draft','created_at':'{at}','schema_version':'1.1'}}"
        ),
    )
}

pub(super) fn attention(minute: u64, id: &str, kind: &str, source: &str, priority: &str) -> Draft {
    let at = time(minute);
    row(
        "AttentionLedgerItem",
        minute,
        &format!(
            "{{'item_id':'{id}','task_id':'t1','attention_kind':'{kind}','source_ref':'{source}','summary':'x','priority':'{priority}','lifecycle_state':'open','created_at':'{at}','schema_version':'1.0'}}"
        ),
    )
}

pub(super) fn review(minute: u64, id: &str) -> Draft {
    let at = time(minute);
    row(
        "RevisionReviewPacket",
        minute,
        &format!(
            "{{'packet_id':'{id}','task_id':'t1','run_id':'run1','revision_plan_ref':'revision_plan:p1','before_artifact_version_ref':'artifact_version:a','candidate_artifact_version_ref':'artifact_version:b','semantic_diff_ref':'diff:d','finding_to_change_map':{{}},'preservation_constraint_result_refs':[],'source_changes':[],'revalidation_result_refs':[],'regression_risk_summary':'x','state':'generated','decision_receipt_refs':[],'created_at':'{at}','schema_version':'1.1'}}"
        ),
    )
}

pub(super) fn decided(minute: u64, packet: &str, action: &str) -> Draft {
    let at = time(minute);
    row(
        "RevisionReviewDecisionReceipt",
        minute,
        &format!(
            "{{'receipt_id':'rd{minute}','packet_id':'{packet}','action':'{action}','actor_ref':'user:u1','created_at':'{at}','schema_version':'1.0'}}"
        ),
    )
}

pub(super) fn plan(minute: u64, id: &str) -> Draft {
    row(
        "RevisionPlan",
        minute,
        &format!("{{'plan_id':'{id}','mutation_mode':'candidate_only','steps':[],'run_id':'run1'}}"),
    )
}

/// A receipt that may move a plan, and the event that says it did.
pub(super) fn plan_moved(
    minute: u64,
    plan: &str,
    states: (&str, &str),
    by: (&str, &str, &str),
) -> Vec<Draft> {
    let (at, (from, to), (kind, member, word)) = (time(minute), states, by);
    let (snake, field) = match kind {
        "RevisionOperationReceipt" => ("revision_operation_receipt", "receipt_id"),
        "HardCallResolutionReceipt" => ("hard_call_resolution_receipt", "receipt_id"),
        "FeedbackConsumptionReceipt" => ("feedback_consumption_receipt", "receipt_id"),
        "SourceWorkspaceOperationReceipt" => ("source_workspace_operation_receipt", "receipt_id"),
        "TaskCancelReceipt" => ("task_cancel_receipt", "receipt_id"),
        "TaskSkipReceipt" => ("task_skip_receipt", "skip_id"),
        "RevalidationCascadeReceipt" => ("revalidation_cascade_receipt", "receipt_id"),
        other => panic!("{other} moves no plan"),
    };
    let receipt = format!("{{'{field}':'pr{minute}','{member}':'{word}','created_at':'{at}'}}");
    let event = format!(
        "{{'event_id':'pt{minute}','plan_id':'{plan}','from_state':'{from}','to_state':'{to}','triggered_by_receipt_kind':'{kind}','receipt_ref':'{snake}:pr{minute}','created_at':'{at}','schema_version':'1.0'}}"
    );
    vec![row(kind, minute, &receipt), row("RevisionLifecycleTransitionEvent", minute, &event)]
}

pub(super) fn call(minute: u64, id: &str) -> Draft {
    let at = time(minute);
    row(
        "HardRevisionCall",
        minute,
        &format!(
            "{{'hard_call_id':'{id}','response_mode':'closed_choice','options':[{{'option_id':'a'}},{{'option_id':'b'}}],'prompt_text':'?','created_at':'{at}','schema_version':'1.1'}}"
        ),
    )
}

pub(super) fn resolved(minute: u64, call: &str, option: &str) -> Draft {
    let at = time(minute);
    row(
        "HardCallResolutionReceipt",
        minute,
        &format!(
            "{{'receipt_id':'hr{minute}','hard_call_id':'{call}','operation_kind':'hard_call_resolved','dispatcher_actor_ref':'engine:d','resolved_by_user_ref':'user:u1','selected_option_id':'{option}','created_at':'{at}','schema_version':'1.0'}}"
        ),
    )
}

pub(super) fn waited(minute: u64, call: &str, cause: &str, action: &str) -> Draft {
    let at = time(minute);
    row(
        "HardCallPendingEvent",
        minute,
        &format!(
            "{{'event_id':'hp{minute}','hard_call_id':'{call}','cause':'{cause}','action':'{action}','created_at':'{at}','schema_version':'1.0'}}"
        ),
    )
}

pub(super) fn cancelled(minute: u64, stopped: &str) -> Draft {
    let at = time(minute);
    row(
        "TaskCancelReceipt",
        minute,
        &format!(
            "{{'receipt_id':'tc{minute}','cancel_request_id':'c','stopped_refs':['{stopped}'],'executed_side_effects':[],'cancelled_intent_refs':[],'candidate_disposition':'discard','created_at':'{at}','schema_version':'1.0'}}"
        ),
    )
}

pub(super) fn owner(minute: u64, id: &str, status: &str) -> Draft {
    row(
        "TypeOwnerRegistryEntry",
        minute,
        &format!("{{'type_name':'{id}','canonical_owner_doc':'DOC12','status':'{status}'}}"),
    )
}

pub(super) fn obligation(minute: u64, id: &str) -> Draft {
    row("CrossDocInsertObligation", minute, &format!("{{'obligation_id':'{id}','state':'open'}}"))
}

pub(super) fn manifest(minute: u64, id: &str, cites: &str) -> Draft {
    row("ReadModelInputManifest", minute, &format!("{{'manifest_id':'{id}','input_refs':[{cites}]}}"))
}

/// A header in a run, a task and a matter.
pub(super) fn header(
    minute: u64,
    id: &str,
    model: &str,
    manifest: &str,
    from: u64,
    place: (u8, u8, u8),
) -> Draft {
    let (at, (run, task, matter)) = (time(minute), place);
    row(
        "DerivedReadModelRecord",
        minute,
        &format!(
            "{{'read_model_id':'{id}','read_model_kind':'{model}','input_manifest_ref':'read_model_input_manifest:{manifest}','derivation_policy_ref':'policy:p','formula_eval_receipt_refs':[],'valid_from_event_seq':{from},'created_at':'{at}','schema_version':'1.0','run_id':'run{run}','task_id':'t{task}','matter_id':'m{matter}'}}"
        ),
    )
}
