//! Sufficiency: what fires, what does not.

use super::*;
use crate::check::trial::{by_minute, has_rows, rows_with};
use proptest::prelude::*;
use std::vec::Vec;

type Row = (&'static str, &'static str);

const END: Row = (
    "SufficiencyDetectionResult",
    "{'detection_id':'d','outcome_id':'o','run_id':'r','no_sufficient_procedure':true,'terminal_route':'unrecoverable'}",
);
const GOES_ON: Row = (
    "SufficiencyDetectionResult",
    "{'detection_id':'d','outcome_id':'o','run_id':'r','no_sufficient_procedure':false,'terminal_route':'unrecoverable'}",
);

fn envelope(text: &'static str) -> Row {
    ("EvaluationResultEnvelope", text)
}

fn detection(text: &'static str) -> Row {
    ("SufficiencyDetectionResult", text)
}

#[test]
fn nothing_is_given_up_without_a_detection() {
    let gap = ("TaskProcessGapSignal", "{'outcome_id':'o','run_id':'r'}");
    let given_up =
        envelope("{'outcome_id':'o','run_id':'r','decision':{'disposition':'max_iterations_reached'}}");
    let in_other =
        envelope("{'outcome_id':'o','run_id':'s','decision':{'disposition':'unable_to_evaluate'}}");
    let moved = ("OutcomeStateTransitionEvent", "{'outcome_id':'o','run_id':'r','to_state':'unrecoverable'}");
    let call = |text| ("HardRevisionCall", text);
    let cites =
        call("{'hard_call_kind':'no_sufficient_procedure','source_ref':'sufficiency_detection_result:d'}");
    let of_run = call("{'hard_call_kind':'no_sufficient_procedure','run_id':'r'}");
    let of_outcome =
        call("{'hard_call_kind':'no_sufficient_procedure','run_id':'r','source_ref':'outcome_record:x'}");
    let bare = call("{'hard_call_kind':'no_sufficient_procedure'}");
    has_rows(
        "sufficiency_protocol_without_detection",
        &[
            (&[gap, given_up, moved, of_run, bare], &[1, 2, 3, 4, 5]),
            (&[END, gap, given_up, moved, cites, of_run, bare], &[]),
            (&[END, in_other, of_outcome], &[2, 3]),
            (&[given_up, cites, END], &[1, 2]),
            (&[envelope("{'decision':{'disposition':'unrecoverable'}}")], &[]),
        ],
    );
}

#[test]
fn no_improvement_is_measured() {
    let policy = |text| ("SufficiencyDetectionPolicy", text);
    let formula = ("FormulaSpec", "{'formula_id':'f'}");
    let good = policy("{'policy_id':'p','improvement_metric_ref':'f','no_improvement_window':1,'epsilon':1}");
    let scored = detection(
        "{'policy_ref':'p','triggered_by':['max_attempts_without_material_score_improvement'],
        'attempts':[{},{'score_before':{'value':0.1},'score_after':{'value':0.1}}]}",
    );
    let unscored = detection(
        "{'policy_ref':'p','triggered_by':['max_attempts_without_material_score_improvement'],
        'attempts':[{'score_before':{'value':0.1},'score_after':{'value':0.1}},{'score_before':{'value':0.1}}]}",
    );
    has_rows(
        "no_improvement_without_metric",
        &[
            (&[formula, good, scored], &[]),
            (&[formula, good, unscored], &[3]),
            (&[good, scored], &[1]),
            (&[formula, policy("{'policy_id':'p','improvement_metric_ref':''}"), scored], &[2, 3]),
            (&[formula, scored], &[2]),
        ],
    );
    for (text, expected) in [
        ("{'policy_id':'p'}", &[1][..]),
        ("{'policy_id':'p','epsilon':'NaN'}", &[1]),
        ("{'policy_id':'p','epsilon':-0.03}", &[1]),
        ("{'policy_id':'p','epsilon':1.01}", &[1]),
        ("{'policy_id':'p','epsilon':1}", &[]),
    ] {
        assert_eq!(
            rows_with("no_improvement_without_epsilon", &by_minute(&[policy(text), scored])),
            expected,
            "{text}"
        );
    }
}

#[test]
fn everything_is_listed_before_it_is_exhausted() {
    let trigger = "all_policy_allowed_procedures_exhausted";
    for (candidates, is_wrong) in [
        ("", true),
        ("{'policy_allowed':true,'exhausted':true}", false),
        ("{'policy_allowed':true,'exhausted':false}", true),
        ("{'policy_allowed':true,'exhausted':false,'inapplicable_reason':'missing_capability'}", false),
        ("{'policy_allowed':false,'exhausted':false}", false),
    ] {
        let text = format!("{{'triggered_by':['{trigger}'],'candidate_procedures':[{candidates}]}}");
        let code = "procedure_exhaustion_without_candidate_universe";
        let rows = rows_with(code, &by_minute(&[("SufficiencyDetectionResult", &text)]));
        assert_eq!(!rows.is_empty(), is_wrong, "{candidates}");
    }
}

#[test]
fn a_person_is_asked_where_one_can_change_it() {
    let asks = |route: &str, more: &str| {
        format!(
            "{{'detection_id':'d','outcome_id':'o','run_id':'r','hard_call_required':true,'terminal_route':'{route}'{more}}}"
        )
    };
    let need = |text| ("ResearchNeed", text);
    let open = need("{'need_id':'n','status':'human_needed'}");
    let dead = need("{'need_id':'n','status':'unresolved'}");
    let verifier = ("VerificationRequestStep", "{'outcome_id':'o','run_id':'r'}");
    let by_need = ",'blocking_research_need_refs':['n']";
    for (route, more, other, is_wrong) in [
        ("needs_human_judgment", "", open, false),
        ("unrecoverable", "", open, true),
        ("unable_to_evaluate", "", open, true),
        ("process_gap_out", "", open, true),
        ("needs_information", by_need, open, true),
        ("needs_information", by_need, dead, false),
        ("needs_information", "", open, false),
        ("needs_verification", "", verifier, true),
        ("needs_verification", "", open, false),
        ("blocked_by_policy", "", open, false),
    ] {
        let text = asks(route, more);
        let code = "hard_call_raised_when_no_human_choice_available";
        let rows = rows_with(code, &by_minute(&[other, ("SufficiencyDetectionResult", &text)]));
        assert_eq!(!rows.is_empty(), is_wrong, "{text}");
    }
    let cites = ("HardRevisionCall", "{'source_ref':'sufficiency_detection_result:d'}");
    has_rows("hard_call_raised_when_no_human_choice_available", &[(&[END, cites], &[2])]);
}

#[test]
fn a_route_has_its_disposition_and_its_record() {
    let given = |disposition: &str| {
        format!("{{'outcome_id':'o','run_id':'r','decision':{{'disposition':'{disposition}'}}}}")
    };
    let call = ("HardRevisionCall", "{'source_ref':'sufficiency_detection_result:d'}");
    let need = ("ResearchNeed", "{'need_id':'n','run_id':'r','status':'open'}");
    let step = ("VerificationRequestStep", "{'outcome_id':'o','run_id':'r'}");
    let plan = (
        "RevisionPlan",
        "{'plan_id':'p','run_id':'r','outcome_ids':['o'],'steps':[{'step_kind':'verification_request'}]}",
    );
    let gap = ("TaskProcessGapSignal", "{'signal_id':'g','outcome_id':'o','run_id':'r'}");
    let decision = ("PolicyEvaluation", "{'policy_evaluation_id':'e'}");
    let nothing = ("ForumTick", "{}");
    for (route, disposition, record, is_wrong) in [
        ("needs_information", "needs_information", need, false),
        ("needs_information", "needs_information", nothing, true),
        ("needs_information", "needs_revision", need, true),
        ("needs_verification", "needs_verification", step, false),
        ("needs_verification", "needs_verification", plan, false),
        ("needs_verification", "needs_verification", need, true),
        ("blocked_by_policy", "blocked_by_policy", decision, false),
        ("blocked_by_policy", "blocked_by_policy", nothing, true),
        ("process_gap_out", "unable_to_evaluate", gap, false),
        ("process_gap_out", "unable_to_evaluate", nothing, true),
        ("unable_to_evaluate", "unable_to_evaluate", nothing, false),
        ("needs_human_judgment", "needs_human_judgment", call, false),
        ("needs_human_judgment", "needs_human_judgment", nothing, true),
        ("unrecoverable", "unrecoverable", nothing, false),
        ("unrecoverable", "max_iterations_reached", nothing, false),
        ("unrecoverable", "satisfied", nothing, true),
    ] {
        let marker = format!(
            "{{'detection_id':'d','outcome_id':'o','run_id':'r','no_sufficient_procedure':true,'terminal_route':'{route}',
            'decisive_policy_decision_refs':['policy_evaluation:e']}}"
        );
        let given = given(disposition);
        let rows = [
            ("SufficiencyDetectionResult", marker.as_str()),
            record,
            ("EvaluationResultEnvelope", given.as_str()),
        ];
        let found = rows_with("insufficiency_marker_not_mapped_to_outcome_state", &by_minute(&rows));
        assert_eq!(!found.is_empty(), is_wrong, "{route} {disposition} {record:?}");
    }
    // A call of before, or of another kind, is not the one that the route asks for.
    let asks = (
        "SufficiencyDetectionResult",
        "{'detection_id':'d','outcome_id':'o','run_id':'r','no_sufficient_procedure':true,
        'terminal_route':'needs_human_judgment','hard_call_kind':'contradictory_requirements'}",
    );
    let given = (
        "EvaluationResultEnvelope",
        "{'outcome_id':'o','run_id':'r','decision':{'disposition':'needs_human_judgment'}}",
    );
    let deadlock =
        ("HardRevisionCall", "{'hard_call_id':'f','run_id':'r','hard_call_kind':'forum_deadlock'}");
    let own = (
        "HardRevisionCall",
        "{'hard_call_id':'g','run_id':'r','hard_call_kind':'contradictory_requirements'}",
    );
    let cases: &[(&[Row], &[u64])] = &[
        (&[deadlock, asks, given], &[2]),
        (&[asks, deadlock, given], &[1]),
        (&[own, asks, given], &[2]),
        (&[asks, own, given], &[]),
    ];
    has_rows("insufficiency_marker_not_mapped_to_outcome_state", cases);
    let entered = (
        "OutcomeStateTransitionEvent",
        "{'outcome_id':'o','run_id':'r','from_state':'evaluating','to_state':'unrecoverable'}",
    );
    let illegal = (
        "OutcomeStateTransitionEvent",
        "{'outcome_id':'o','run_id':'r','from_state':'pending','to_state':'unrecoverable'}",
    );
    let cases: &[(&[Row], &[u64])] = &[
        (&[END], &[1]),
        (&[GOES_ON], &[]),
        (&[END, entered], &[]),
        (&[entered, END], &[2]),
        (&[END, illegal], &[1]),
    ];
    has_rows("insufficiency_marker_not_mapped_to_outcome_state", cases);
}

const ATTEMPT: Row = ("ProcedureAttemptRecord", "{'outcome_id':'o','run_id':'r'}");
const ANSWER: Row = ("HardCallResolutionReceipt", "{'hard_call_id':'h','selected_option_id':'a'}");
const CALL: Row = ("HardRevisionCall", "{'hard_call_id':'h'}");
const CAPABLE: Row = ("CapabilitySnapshot", "{'snapshot_id':'c','capabilities':[]}");
const UNLOCKS: [Row; 4] = [
    ANSWER,
    ("ResearchNeed", "{'need_id':'n','run_id':'r','status':'answered'}"),
    ("CapabilitySnapshot", "{'snapshot_id':'d','capabilities':[{'capability_id':'x'}]}"),
    ("EvaluationContractReview", "{'review_id':'c','run_id':'r','approval_status':'edited'}"),
];

#[test]
fn only_a_change_allows_another_attempt() {
    let plan = ("RevisionPlan", "{'plan_id':'p','run_id':'r','outcome_ids':['x','o']}");
    let go = ("RevisionOperationReceipt", "{'operation_kind':'dispatched','plan_id':'p'}");
    let of_plan = ("ProcedureAttemptRecord", "{'revision_plan_ref':'revision_plan:p'}");
    let of_run = ("ProcedureAttemptRecord", "{'run_id':'r'}");
    let of_other_run = ("ProcedureAttemptRecord", "{'run_id':'s'}");
    let of_outcome = ("ProcedureAttemptRecord", "{'outcome_id':'o'}");
    let of_nothing = ("ProcedureAttemptRecord", "{'attempt_id':'a'}");
    let other_end =
        ("SufficiencyDetectionResult", "{'outcome_id':'q','run_id':'s','no_sufficient_procedure':true}");
    let other_plan = ("RevisionPlan", "{'plan_id':'p','outcome_ids':['o']}");
    let ran = ("RevisionOperationReceipt", "{'plan_id':'p','step_id':'s'}");
    let finished = ("RevisionOperationReceipt", "{'operation_kind':'step_finished','plan_id':'p'}");
    let stops =
        ("HardRevisionCall", "{'hard_call_id':'h','options':[{'option_id':'a','effect':'abort_scope'}]}");
    let elsewhere = ("HardRevisionCall", "{'hard_call_id':'h','run_id':'s'}");
    let same = ("PolicySnapshot", "{'policy_refs':['a']}");
    let changed = ("PolicySnapshot", "{'policy_refs':['a','b']}");
    let other_need = ("ResearchNeed", "{'need_id':'n','run_id':'s','status':'answered'}");
    let verified = (
        "OutcomeStateTransitionEvent",
        "{'outcome_id':'o','run_id':'r','from_state':'needs_verification','to_state':'dirty'}",
    );
    let other = ("ProcedureAttemptRecord", "{'outcome_id':'o','run_id':'s'}");
    has_rows(
        "sufficiency_retry_after_terminal_detection",
        &[
            (&[ATTEMPT, END, other], &[]),
            (&[END, ATTEMPT], &[2]),
            (&[GOES_ON, ATTEMPT], &[]),
            (&[plan, END, go], &[3]),
            // What does not say for which outcome it is tried is by its plan, and else for any of its run.
            (&[plan, END, of_plan], &[3]),
            (&[END, of_run], &[2]),
            (&[END, of_other_run], &[]),
            // Who says less is not better off.
            (&[END, of_outcome], &[2]),
            (&[END, of_nothing], &[2]),
            (&[CALL, of_nothing, END, ANSWER, of_nothing], &[]),
            (&[CALL, END, ANSWER, other_end, of_nothing, of_run, of_other_run], &[5, 7]),
            (&[other_plan, END, of_plan], &[3]),
            (&[plan, END, ran], &[3]),
            (&[plan, END, finished], &[]),
            (&[stops, END, ANSWER, ATTEMPT], &[4]),
            (&[elsewhere, END, ANSWER, ATTEMPT], &[4]),
            (&[same, END, same, ATTEMPT], &[4]),
            (&[same, END, changed, ATTEMPT], &[]),
            (&[END, other_need, ATTEMPT], &[3]),
            (&[END, verified, ATTEMPT], &[]),
            (&[CALL, END, ANSWER, END, ATTEMPT], &[5]),
            // An answer to nothing, a first snapshot and one of another run change nothing.
            (&[END, ANSWER, ATTEMPT], &[3]),
            (&[END, CAPABLE, ATTEMPT], &[3]),
            (&[CAPABLE, END, UNLOCKS[2], ATTEMPT], &[]),
            (&[CAPABLE, checkpoint("r", "c"), END, UNLOCKS[2], checkpoint("s", "d"), ATTEMPT], &[6]),
            (&[CAPABLE, checkpoint("r", "c"), END, UNLOCKS[2], checkpoint("r", "d"), ATTEMPT], &[]),
        ],
    );
    for unlock in UNLOCKS {
        let code = "sufficiency_retry_after_terminal_detection";
        assert_eq!(
            rows_with(code, &by_minute(&[CALL, CAPABLE, END, unlock, ATTEMPT, ATTEMPT])),
            &[] as &[u64],
            "{unlock:?}"
        );
        let behind = by_minute(&[CALL, CAPABLE, unlock, END, ATTEMPT, unlock]);
        assert_eq!(rows_with(code, &behind), &[5], "{unlock:?}");
    }
}

/// What is tried again and again for many outcomes is told at each attempt, and only while one of them is at an end.
#[test]
fn a_plan_is_held_by_any_of_its_outcomes() {
    let plan = ("RevisionPlan", "{'plan_id':'p','run_id':'r','outcome_ids':['x','o','y']}");
    let go = ("RevisionOperationReceipt", "{'operation_kind':'dispatched','plan_id':'p'}");
    let of_run = ("ProcedureAttemptRecord", "{'run_id':'r'}");
    let x = detection("{'detection_id':'e','outcome_id':'x','run_id':'r','no_sufficient_procedure':true}");
    let verified = (
        "OutcomeStateTransitionEvent",
        "{'outcome_id':'x','run_id':'r','from_state':'needs_verification','to_state':'dirty'}",
    );
    let of_o = (
        "OutcomeStateTransitionEvent",
        "{'outcome_id':'o','run_id':'r','from_state':'needs_verification','to_state':'dirty'}",
    );
    let rows = &[plan, go, END, go, of_run, x, go, of_o, go, of_run, verified, go, of_run, END, go];
    has_rows("sufficiency_retry_after_terminal_detection", &[(rows, &[4, 5, 7, 9, 10, 15])]);
}

fn checkpoint(run: &str, snapshot: &str) -> Row {
    match (run, snapshot) {
        ("r", "c") => {
            ("KnownGoodCheckpoint", "{'run_id':'r','capability_snapshot_ref':'capability_snapshot:c'}")
        }
        ("r", _) => {
            ("KnownGoodCheckpoint", "{'run_id':'r','capability_snapshot_ref':'capability_snapshot:d'}")
        }
        (_, _) => ("KnownGoodCheckpoint", "{'run_id':'s','capability_snapshot_ref':'capability_snapshot:d'}"),
    }
}

proptest! {
    /// An attempt is told exactly where the last thing before it that ends or unlocks is an end.
    #[test]
    fn no_attempt_behind_an_end_without_an_unlock(turns in prop::collection::vec(0_u8..4, 0..20)) {
        let row = |turn: &u8| match turn {
            0 => END,
            1 => ANSWER,
            2 => ATTEMPT,
            _ => ("ForumTick", "{}"),
        };
        let rows: Vec<Row> = [CALL].into_iter().chain(turns.iter().map(row)).collect();
        let (mut is_ended, mut expected) = (false, Vec::new());
        for (seq, turn) in (2..).zip(&turns) {
            match turn {
                0 => is_ended = true,
                1 => is_ended = false,
                2 if is_ended => expected.push(seq),
                _ => {}
            }
        }
        prop_assert_eq!(rows_with("sufficiency_retry_after_terminal_detection", &by_minute(&rows)), expected);
    }
}
