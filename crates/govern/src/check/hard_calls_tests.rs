//! Hard calls, cancelling, skipping: what fires, what does not.

use crate::check::trial::{by_minute, has_rows, rows_with, world};
use std::format;

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
    let unsaid = ("ProcedureAttemptRecord", "{'attempt_id':'a'}");
    let planned = ("ProcedureAttemptRecord", "{'revision_plan_ref':'revision_plan:p'}");
    let plan = ("RevisionPlan", "{'plan_id':'p'}");
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
            // An attempt that says less is not better off.
            (&[HELD, unsaid, ANSWER, unsaid], &[2]),
            (&[plan, HELD, planned], &[3]),
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

/// Time that a call still has is not over because an event says so.
#[test]
fn a_call_times_out_when_its_time_is_over() {
    let over =
        ("HardCallPendingEvent", "{'hard_call_id':'h','cause':'timed_out','action':'continue_with_warning'}");
    let goes_on = ("ProcedureAttemptRecord", "{'attempt_id':'a','run_id':'r'}");
    // Each row is a minute behind the one before.
    for (time, expected) in [("60000", &[][..]), ("60001", &[3])] {
        let until = "'on_timeout':";
        let call = HELD.1.replace(until, &std::format!("'timeout_ms':{time},{until}"));
        let world = super::super::trial::by_minute(&[(HELD.0, &call), over, goes_on]);
        let rows = super::super::trial::rows_with("hard_call_resolved_without_dispatcher_receipt", &world);
        assert_eq!(rows, expected, "{time}");
    }
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
    const BARE: (&str, &str) = (
        "TaskCancelProtocol",
        "{'cancel_request_id':'q','run_id':'r','cancel_scope':'revision_plan','target_refs':['p']}",
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
            (&[STEP, SENT, BARE, SILENT], &[4]),
            (&[SENT, BARE, SILENT], &[]),
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

/// What names its plan alone is of the run of that plan.
#[test]
fn a_call_holds_what_names_its_plan_alone() {
    let plan = ("RevisionPlan", "{'plan_id':'q','run_id':'r','steps':[{'step_id':'t'}]}");
    let elsewhere = ("RevisionPlan", "{'plan_id':'q','run_id':'other','steps':[{'step_id':'t'}]}");
    let of_plan = ("RevisionOperationReceipt", "{'operation_kind':'dispatched','plan_id':'q'}");
    let of_step = ("RevisionOperationReceipt", "{'operation_kind':'step_started','step_id':'t'}");
    let tried = ("ProcedureAttemptRecord", "{'outcome_id':'o','revision_plan_ref':'revision_plan:q'}");
    has_rows(
        "hard_call_resolved_without_dispatcher_receipt",
        &[
            (&[plan, HELD, of_plan, of_step, tried], &[3, 4, 5]),
            (&[elsewhere, HELD, of_plan, of_step, tried], &[]),
            (&[plan, HELD, ANSWER, of_plan], &[]),
        ],
    );
}

/// Many calls, each of which lets something on, against what each of them holds alone.
#[test]
fn calls_hold_what_none_of_them_lets_on() {
    let mut state = 11_u64;
    let mut pick = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from((state >> 33) % below).unwrap()
    };
    let code = "hard_call_resolved_without_dispatcher_receipt";
    for _ in 0..40 {
        let mut rows: std::vec::Vec<(&str, std::string::String)> = std::vec::Vec::new();
        let allowed = ["", "'revision_plan:p'", "'step:s'", "'s','p'", "'r'", "'outcome:o','step:s'"];
        let blocked = ["", "'revision_plan:p'", "'outcome:o'"];
        for at in 0..40 {
            rows.push(match pick(4) {
                0 => ("HardRevisionCall", std::format!(
                    "{{'hard_call_id':'h{at}','run_id':'r','options':[{{'option_id':'a'}}],'pending_policy':{{'blocking_scope':'{}',
                    'blocked_refs':[{}],'allowed_to_continue_refs':[{}]}}}}",
                    ["entire_run", "outcome"][pick(2)], blocked[pick(3)], allowed[pick(6)]
                )),
                1 => ("HardCallResolutionReceipt", std::format!(
                    "{{'hard_call_id':'h{}','operation_kind':'hard_call_resolved','dispatcher_actor_ref':'engine:e','selected_option_id':'a'}}",
                    pick(40)
                )),
                2 => ("RevisionOperationReceipt", std::format!(
                    "{{'operation_kind':'dispatched','plan_id':'{}','step_id':'{}','run_id':'r'}}",
                    ["p", "q"][pick(2)], ["s", "t"][pick(2)]
                )),
                _ => ("ProcedureAttemptRecord", std::format!(
                    "{{'outcome_id':'{}','run_id':'r'}}", ["o", "n"][pick(2)]
                )),
            });
        }
        let rows: std::vec::Vec<(&str, &str)> =
            rows.iter().map(|(kind, row)| (*kind, row.as_str())).collect();
        let together = rows_with(code, &by_minute(&rows));
        let mut alone = std::collections::BTreeSet::new();
        for call in (0..rows.len()).filter(|at| rows[*at].0 == "HardRevisionCall") {
            let other = ("ForumTick", "{}");
            let is_call = |at: usize| rows[at].0 == "HardRevisionCall";
            let one = (0..rows.len()).map(|at| if is_call(at) && at != call { other } else { rows[at] });
            alone.extend(rows_with(code, &by_minute(&one.collect::<std::vec::Vec<_>>())));
        }
        assert_eq!(together, alone.into_iter().collect::<std::vec::Vec<_>>(), "{rows:#?}");
    }
}

/// What a call holds goes on in more than one way: by a plan for it, by a module, by leaving the state in which it waited.
/// An outcome of the same name in another run is another one.
#[test]
fn a_call_holds_the_outcome_of_its_own_run() {
    let call = |run: &str| {
        let text = format!(
            "{{'hard_call_id':'h',{run}'pending_policy':{{'blocking_scope':'outcome','blocked_refs':['outcome_record:o']}}}}"
        );
        ("HardRevisionCall", text)
    };
    let attempt =
        |run: &str| ("ProcedureAttemptRecord", format!("{{{run}'attempt_id':'a','outcome_id':'o'}}"));
    let code = "hard_call_resolved_without_dispatcher_receipt";
    for (held, goes_on, expected) in [
        ("'run_id':'r',", "'run_id':'r',", &[2_u64] as &[u64]),
        ("'run_id':'r',", "'run_id':'q',", &[]),
        // Who does not say it may be of any.
        ("'run_id':'r',", "", &[2]),
        ("", "'run_id':'q',", &[2]),
        ("", "", &[2]),
    ] {
        let rows = [call(held), attempt(goes_on)];
        assert_eq!(rows_with(code, &world(&rows)), expected, "{held} {goes_on}");
    }
}

#[test]
fn what_is_held_goes_on_in_no_way() {
    let call = |refs: &'static str| ("HardRevisionCall", refs);
    let outcome = call(
        "{'hard_call_id':'h','pending_policy':{'blocking_scope':'outcome','blocked_refs':['outcome:o1']}}",
    );
    let artifact = call(
        "{'hard_call_id':'h','pending_policy':{'blocking_scope':'artifact','blocked_refs':['artifact:a1']}}",
    );
    let module = call(
        "{'hard_call_id':'h','pending_policy':{'blocking_scope':'module','blocked_refs':['module:m1']}}",
    );
    let plan = (
        "RevisionPlan",
        "{'plan_id':'p','outcome_ids':['o1'],'steps':[{'step_id':'s','target_refs':['artifact:a1']}]}",
    );
    let sent = ("RevisionOperationReceipt", "{'operation_kind':'dispatched','plan_id':'p'}");
    let started = ("ModuleActivationEvent", "{'activation_id':'x','module_id':'m1','state':'running'}");
    let left = (
        "OutcomeStateTransitionEvent",
        "{'outcome_id':'o1','from_state':'needs_human_judgment','to_state':'dirty'}",
    );
    has_rows(
        "hard_call_resolved_without_dispatcher_receipt",
        &[
            (&[plan, outcome, sent], &[3]),
            (&[plan, artifact, sent], &[3]),
            (&[plan, module, sent], &[]),
            (&[module, started], &[2]),
            (&[outcome, started], &[]),
            (&[outcome, left], &[2]),
            (&[artifact, left], &[]),
        ],
    );
}

/// What a packet says may be relied on is old once a call ran out of time, and once a need was taken up.
#[test]
fn what_is_relied_on_is_old_when_a_call_expires_or_a_need_moves() {
    const CALL: (&str, &str) = ("HardRevisionCall", "{'hard_call_id':'h','run_id':'r','task_id':'t'}");
    const NEED: (&str, &str) = ("ResearchNeed", "{'need_id':'n','run_id':'r','task_id':'t'}");
    const MANIFEST: (&str, &str) = ("ReadModelInputManifest", "{'manifest_id':'m','input_refs':[]}");
    let header = |kind: &str| {
        std::format!(
            "{{'read_model_id':'h','read_model_kind':'{kind}','run_id':'r','task_id':'t','valid_from_event_seq':3,
            'input_manifest_ref':'read_model_input_manifest:m'}}"
        )
    };
    let pending = |cause: &str| {
        std::format!("{{'event_id':'e','hard_call_id':'h','cause':'{cause}','action':'abort'}}")
    };
    let (expired, deferred) = (pending("timed_out"), pending("deferred"));
    let lease = ("ResearchNeedLease", "{'need_id':'n'}");
    for kind in ["TaskReliancePacket", "WorkProductCertification"] {
        let header = header(kind);
        let shown = ("DerivedReadModelRecord", header.as_str());
        has_rows(
            "lifecycle_event_without_read_model_invalidation",
            &[
                (&[CALL, NEED, MANIFEST, shown, ("HardCallPendingEvent", &expired)], &[4]),
                (&[CALL, NEED, MANIFEST, shown, ("HardCallPendingEvent", &deferred)], &[]),
                (&[CALL, NEED, MANIFEST, shown, lease], &[4]),
                (&[CALL, NEED, lease, MANIFEST, shown], &[]),
            ],
        );
    }
}
