//! Hard calls, cancelling, skipping: what fires, what does not.

use crate::check::trial::has_rows;

#[test]
fn options() {
    const CALL: &str = "HardRevisionCall";
    has_rows(
        "hard_call_options_empty",
        &[
            (&[(CALL, "{'response_mode':'closed_choice'}")], &[1]),
            (&[(CALL, "{'response_mode':'closed_choice_with_other','options':[]}")], &[1]),
            (&[(CALL, "{'options':[]}"), (CALL, "{'response_mode':7,'options':7}")], &[]),
        ],
    );
    has_rows(
        "hard_call_closed_choice_needs_two_options",
        &[
            (
                &[(
                    CALL,
                    "{'response_mode':'closed_choice','options':[{'option_id':'a'},{'option_id':'a'}]}",
                )],
                &[1],
            ),
            (
                &[(
                    CALL,
                    "{'response_mode':'closed_choice','options':[{'option_id':'a'},{'option_id':'b'}]}",
                )],
                &[],
            ),
            (&[(CALL, "{'response_mode':'closed_choice','options':[]}")], &[]),
        ],
    );
    has_rows(
        "hard_call_freeform_missing_response_schema",
        &[
            (
                &[(
                    CALL,
                    "{'response_mode':'freeform_required','freeform_response_schema_ref':{'schema_id':''}}",
                )],
                &[1],
            ),
            (
                &[(
                    CALL,
                    "{'response_mode':'freeform_required','freeform_response_schema_ref':{'schema_id':'s'}}",
                )],
                &[],
            ),
            (
                &[(CALL, "{'response_mode':'freeform_required','freeform_response_schema_ref':'schema:s'}")],
                &[],
            ),
        ],
    );
}

const HELD: (&str, &str) = (
    "HardRevisionCall",
    "{'hard_call_id':'h','run_id':'r','options':[{'option_id':'a'},{'option_id':'b'}],'pending_policy':
    {'blocking_scope':'entire_run','blocked_refs':['revision_plan:p'],'allowed_to_continue_refs':['outcome_record:free'],
    'on_timeout':'continue_with_warning','on_defer':'pause_scope'}}",
);
const ANSWER: (&str, &str) = (
    "HardCallResolutionReceipt",
    "{'hard_call_id':'h','operation_kind':'hard_call_resolved','dispatcher_actor_ref':'engine:e','selected_option_id':'a'}",
);
const CLOSED: (&str, &str) = (
    "AttentionLedgerItem",
    "{'attention_kind':'hard_call_pending','source_ref':'hard_revision_call:h','lifecycle_state':'resolved'}",
);
const DISPATCH: (&str, &str) =
    ("RevisionOperationReceipt", "{'operation_kind':'dispatched','plan_id':'p','run_id':'other'}");
const ATTEMPT: (&str, &str) = ("ProcedureAttemptRecord", "{'outcome_id':'o','run_id':'r'}");

#[test]
fn a_call_holds_its_scope_until_it_is_answered() {
    let stop = ("TaskCancelReceipt", "{'receipt_id':'c','stopped_refs':['hard_revision_call:h']}");
    let late =
        ("HardCallPendingEvent", "{'hard_call_id':'h','cause':'timed_out','action':'continue_with_warning'}");
    let deferred =
        ("HardCallPendingEvent", "{'hard_call_id':'h','cause':'deferred','action':'continue_with_warning'}");
    let free = ("ProcedureAttemptRecord", "{'outcome_id':'free','run_id':'r'}");
    let sent = ("SideEffectLedgerEntry", "{'side_effect_id':'s','run_id':'r','state':'executed'}");
    let answer = (
        "HardCallResolutionReceipt",
        "{'receipt_id':'x','hard_call_id':'h','operation_kind':'hard_call_resolved','dispatcher_actor_ref':'engine:e'}",
    );
    let left = (
        "RevisionLifecycleTransitionEvent",
        "{'from_state':'waiting_hard_call','triggered_by_receipt_kind':'HardCallResolutionReceipt',
        'receipt_ref':'hard_call_resolution_receipt:x'}",
    );
    let silent = ("HardCallResolutionReceipt", "{'hard_call_id':'h','operation_kind':'hard_call_resolved'}");
    let other = (
        "HardCallResolutionReceipt",
        "{'hard_call_id':'h','operation_kind':'hard_call_resolved','dispatcher_actor_ref':'engine:e','selected_option_id':'z'}",
    );
    has_rows(
        "hard_call_resolved_without_dispatcher_receipt",
        &[
            (&[HELD, CLOSED], &[2]),
            (&[HELD, CLOSED, ANSWER], &[2]),
            (&[HELD, ANSWER, CLOSED], &[]),
            (&[HELD, stop, CLOSED, ATTEMPT], &[]),
            (&[HELD, silent, CLOSED], &[2, 3]),
            (&[HELD, other], &[2]),
            (&[DISPATCH, ATTEMPT, sent, HELD], &[]),
            (&[HELD, DISPATCH, ATTEMPT, sent, free, ANSWER, DISPATCH], &[2, 3, 4]),
            (&[HELD, late, DISPATCH, ATTEMPT], &[]),
            (&[HELD, late, CLOSED], &[3]),
            (&[HELD, deferred, ATTEMPT], &[3]),
            (&[CLOSED, ANSWER], &[]),
            (&[HELD, ANSWER, left], &[3]),
            (&[HELD, answer, left], &[]),
            (&[HELD, left, answer], &[2]),
        ],
    );
}

#[test]
fn a_cancel_tells_what_was_done() {
    const RUN: (&str, &str) = (
        "TaskCancelProtocol",
        "{'cancel_request_id':'q','run_id':'r','cancel_scope':'entire_run','target_refs':[]}",
    );
    const PLAN: (&str, &str) = (
        "TaskCancelProtocol",
        "{'cancel_request_id':'q','run_id':'r','cancel_scope':'revision_plan','target_refs':['revision_plan:p']}",
    );
    const SENT: (&str, &str) = (
        "SideEffectLedgerEntry",
        "{'side_effect_id':'s','run_id':'r','state':'executed','receipt_ref':'revision_operation_receipt:o'}",
    );
    const STEP: (&str, &str) = ("RevisionOperationReceipt", "{'receipt_id':'o','plan_id':'p'}");
    const SILENT: (&str, &str) = ("TaskCancelReceipt", "{'receipt_id':'c','cancel_request_id':'q'}");
    let undone = (
        "TaskCancelReceipt",
        "{'cancel_request_id':'q','executed_side_effects':[{'ref':'side_effect_ledger_entry:s','disposition':'undone'}]}",
    );
    let mended = (
        "TaskCancelReceipt",
        "{'cancel_request_id':'q','executed_side_effects':
        [{'ref':'side_effect_ledger_entry:s','disposition':'corrective_artifact','corrective_artifact_ref':'artifact:a'}]}",
    );
    let by_artifact = (
        "TaskCancelReceipt",
        "{'cancel_request_id':'q','executed_side_effects':[{'ref':'side_effect_ledger_entry:s','disposition':'artifact_version:a'}]}",
    );
    let by_nothing = (
        "TaskCancelReceipt",
        "{'cancel_request_id':'q','executed_side_effects':[{'ref':'side_effect_ledger_entry:s','disposition':'corrective_artifact_ref'}]}",
    );
    let intent = (
        "TaskCancelReceipt",
        "{'cancel_request_id':'q','executed_side_effects':[{'ref':'side_effect_ledger_entry:s','disposition':'left'}],
        'cancelled_intent_refs':['side_effect_ledger_entry:s']}",
    );
    has_rows(
        "cancel_ignores_executed_side_effect",
        &[
            (&[SENT, RUN, SILENT], &[3]),
            (&[RUN, SILENT, SENT], &[]),
            (&[STEP, SENT, PLAN, SILENT], &[4]),
            (&[SENT, PLAN, SILENT], &[]),
            (&[SENT, RUN, undone], &[3]),
            (&[SENT, RUN, mended], &[]),
            (&[SENT, RUN, by_artifact], &[]),
            (&[SENT, RUN, by_nothing], &[3]),
            (&[SENT, RUN, intent], &[3]),
            (&[SENT, SILENT], &[]),
        ],
    );
}

#[test]
fn a_skip_has_a_receipt_or_was_never_due() {
    const STEP: (&str, &str) = (
        "RevisionOperationReceipt",
        "{'operation_kind':'step_skipped','step_id':'x','plan_id':'p','run_id':'r'}",
    );
    const MODULE: (&str, &str) =
        ("ModuleActivationEvent", "{'activation_id':'x','module_id':'m','state':'skipped'}");
    const OUTCOME: (&str, &str) =
        ("OutcomeStateTransitionEvent", "{'outcome_id':'x','run_id':'r','cause':'skipped'}");
    let plain = ("TaskSkipReceipt", "{'skip_id':'k','target_ref':'x'}");
    let of_step = ("TaskSkipReceipt", "{'skip_id':'k','target_ref':'revision_plan_step_base:x'}");
    let run = ("TaskCancelProtocol", "{'cancel_request_id':'q','run_id':'r','cancel_scope':'entire_run'}");
    let cancel = ("TaskCancelReceipt", "{'receipt_id':'c','cancel_request_id':'q'}");
    has_rows(
        "skip_without_receipt",
        &[
            (&[STEP, MODULE, OUTCOME], &[1, 2, 3]),
            (&[plain, STEP, MODULE, OUTCOME], &[]),
            (&[of_step, STEP, MODULE, OUTCOME], &[3, 4]),
            (&[STEP, of_step], &[1]),
            (&[run, cancel, STEP, OUTCOME, MODULE], &[5]),
        ],
    );
}
