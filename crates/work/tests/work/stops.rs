//! Plans and runs that are cancelled, and outcomes that are left out.

use crate::revisions::{BOAT, END, EXTEND, LEASE, RENT, looked_at, memo, nobody, task};
use crate::stage::{Answer, Stage};
use countersign_govern::types::hard_call::TaskSkipReceiptReason as Reason;
use countersign_govern::types::outcome::OutcomeEvaluationState as State;
use countersign_work::call;
use countersign_work::revise;
use countersign_work::stop::{self, Scope};

#[test]
fn a_plan_is_cancelled_wherever_it_is() {
    let text = memo(&format!("{END} {EXTEND} {BOAT}"), RENT);
    for stop_at in 0..5 {
        let mut stage = looked_at(&task("mechanical_waived"), &text);
        let compiled = stage.one_plan();
        let id = compiled.plan().to_owned();
        let mut at = 0;
        let mut reached = || {
            at += 1;
            at > stop_at
        };
        if !reached() {
            let mut dispatched = stage.begin(compiled);
            'steps: while !reached() {
                match stage.start(dispatched.clone()) {
                    revise::Next::Work(started) => {
                        for one in started {
                            if reached() {
                                break 'steps;
                            }
                            let base = stage.base("memo");
                            let answer = one.alone(&base).map_or(Answer::Nothing, Answer::Text);
                            if let revise::After::On(next) = stage.done(one, &answer) {
                                dispatched = next;
                            }
                        }
                    }
                    revise::Next::Done(stepped) => {
                        stage.review(stepped);
                        break;
                    }
                }
            }
        }
        stage.later();
        stop::cancel(&mut stage.desk, Scope::Plan(&id), "user:ana").unwrap();
        stage.is_clean();
        assert!(stop::cancel(&mut stage.desk, Scope::Plan(&id), "user:ana").is_err());
        assert_eq!((stage.standing(), stage.text("memo")), (vec![], text.clone()), "{stop_at}");
        assert!(call::open(&stage.desk).is_empty());
        assert_eq!(stage.words("ProcedureAttemptRecord", "terminal_status"), ["failed"]);
        assert_ne!(stage.hand_over_heads(), "human_review_required");
        stage.is_clean();
    }
}

#[test]
fn a_run_is_cancelled_as_a_whole() {
    let text = memo(&format!("{END} {EXTEND} {BOAT}"), RENT);
    let mut stage = looked_at(&task("mechanical_waived"), &text);
    let plan = stage.one_plan();
    stage.carry(plan, nobody);
    stage.later();
    stop::cancel(&mut stage.desk, Scope::Run, "user:ana").unwrap();
    stage.is_clean();
    assert!(call::open(&stage.desk).is_empty());
    assert_eq!(stage.standing(), []);
    assert_eq!(stage.words("RevisionCycleOutcomeObservation", "terminal_class"), ["cancelled_by_user"]);
}

#[test]
fn an_outcome_is_left_out() {
    let optional = task("waived").replace(r#""term-stated", "#, r#""term-stated", "required": false, "#);
    let cases = [(task("waived"), "not_safe_to_rely"), (optional, "rely_with_limitations")];
    for (task, status) in cases {
        let mut stage = Stage::new(&task, &[("lease", LEASE)]);
        stage.version("memo", &memo(END, RENT));
        stage.later();
        stop::skip(&mut stage.desk, "term-stated", "ana", Reason::NotApplicable).unwrap();
        assert!(stop::skip(&mut stage.desk, "term-stated", "ana", Reason::NotApplicable).is_err());
        assert!(stop::skip(&mut stage.desk, "nothing", "ana", Reason::NotApplicable).is_err());
        stage.is_clean();
        assert_eq!(stage.plan().plans.len(), 0);
        stage.look_again();
        stage.is_clean();
        assert_eq!(
            (stage.state("term-stated"), stage.state("rent-stated")),
            (State::Superseded, State::Satisfied)
        );
        let again = stop::skip(&mut stage.desk, "rent-stated", "ana", Reason::UserDirected);
        assert!(again.is_err(), "it was looked at");
        let said = |member: &str| stage.words("TaskSkipReceipt", member);
        assert_eq!(
            (said("reason"), said("downstream_effect")),
            (vec!["not_applicable".into()], vec!["none".into()])
        );
        assert_eq!(stage.hand_over_heads(), status);
        stage.is_clean();
    }
}

/// What was done outside stays done and is told so; what was only meant to be done is not.
#[test]
fn a_cancel_does_not_call_undone_what_was_done() {
    use countersign_govern::types::added::repair::{SideEffectLedgerEntry, SideEffectState};
    use countersign_govern::types::basic::{StorageRef, V10};
    for is_run in [false, true] {
        let mut stage = looked_at(&task("waived"), &memo(END, RENT));
        let plan = stage.one_plan();
        let id = plan.plan().to_owned();
        let dispatched = stage.begin(plan);
        stage.start(dispatched);
        let receipt = stage.words("RevisionOperationReceipt", "receipt_id").pop().unwrap();
        let receipt = StorageRef::try_from(format!("revision_operation_receipt:{receipt}").as_str()).unwrap();
        for (word, state, receipt_ref) in
            [("sent", SideEffectState::Executed, Some(receipt)), ("meant", SideEffectState::Intent, None)]
        {
            let entry = SideEffectLedgerEntry {
                side_effect_id: stage.desk.own(word),
                run_id: stage.desk.run().to_owned(),
                kind: "mail".into(),
                irreversible: true,
                state,
                receipt_ref,
                replay_request_id: None,
                created_at: stage.desk.now(),
                schema_version: Some(V10),
            };
            stage.desk.put(&entry).unwrap();
        }
        stage.later();
        let scope = if is_run { Scope::Run } else { Scope::Plan(&id) };
        stop::cancel(&mut stage.desk, scope, "user:ana").unwrap();
        stage.is_clean();
        let row = stage.desk.rows().find(|row| row.kind == "TaskCancelReceipt").unwrap();
        let count = |member: &str| row.record.get(member).and_then(|one| one.as_array()).unwrap().len();
        assert_eq!(
            (count("executed_side_effects"), count("cancelled_intent_refs")),
            (1, usize::from(is_run))
        );
    }
}
