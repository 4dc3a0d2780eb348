//! Whatever rows say, a thing stands for rules where it stands for folds.

use super::*;
use crate::check::trial::{places, world};
use crate::fold::{Fold, Folds};
use std::format;
use std::string::String;

const REASONS: [&str; 4] = ["user_contested", "revision_resolved", "expired_by_policy", "rejected_by_user"];

/// Where something stands for the folds after all rows.
fn folded(world: &World, family: &Family, id: &str) -> String {
    let mut folds = Folds::default();
    world.all().for_each(|row| folds.apply(&row.into()));
    folds.board.find(family.snake, id).unwrap().word(family.member).unwrap().into()
}

fn raised(severity: &str) -> String {
    format!(
        r#"{{"finding_event_id":"e","finding_id":"f","result_id":"r","severity":"{severity}","emitted_state":"active"}}"#
    )
}

fn moved(from: &str, to: &str, reason: &str) -> String {
    format!(
        r#"{{"receipt_id":"l","finding_id":"f","from_state":"{from}","to_state":"{to}","transition_reason":"{reason}"}}"#
    )
}

/// For all pairs of states, reasons and severities: a finding moves where its fold moves, and nowhere else.
#[test]
fn findings_stand_where_their_folds_do() {
    let states: Vec<&str> = FINDING.machine.states().collect();
    let (mut counted, mut passed) = (0, 0);
    for severity in ["high", "blocking"] {
        for (from, to) in states.iter().flat_map(|from| states.iter().map(move |to| (*from, *to))) {
            for reason in REASONS {
                let receipt = moved(from, to, reason);
                let event = raised(severity);
                let rows = [
                    ("EvaluationFindingEvent", event.as_str()),
                    ("FindingLifecycleTransitionReceipt", receipt.as_str()),
                ];
                let world = world(&rows);
                let stood = Stood::of(&world, &FINDING);
                let folded = folded(&world, &FINDING, "f");
                assert_eq!(stood.at(&(None, "f"), 2), Some(folded.as_str()), "{severity} {receipt}");
                let is_moved = folded == to && to != "active";
                assert_eq!(stood.counts(world.all().last().unwrap()), is_moved, "{severity} {receipt}");
                counted += usize::from(is_moved);
                passed += usize::from(!is_moved);
            }
        }
    }
    assert!(counted > 4 && passed > 500, "{counted} {passed}");
}

/// The same for outcomes, which are of their run.
#[test]
fn outcomes_stand_where_their_folds_do() {
    let states: Vec<&str> = OUTCOME.machine.states().collect();
    for (from, to) in states.iter().flat_map(|from| states.iter().map(move |to| (*from, *to))) {
        let outcome = |run: &str| {
            format!(
                r#"{{"outcome_id":"o","run_id":"{run}","task_id":"t","depends_on_outcome_ids":[],"state":"pending"}}"#
            )
        };
        let event = format!(
            r#"{{"event_id":"e","outcome_id":"o","run_id":"r","from_state":"{from}","to_state":"{to}","cause":"x"}}"#
        );
        let (own, other) = (outcome("r"), outcome("q"));
        let rows = [
            (OUTCOME.kind, own.as_str()),
            (OUTCOME.kind, other.as_str()),
            ("OutcomeStateTransitionEvent", event.as_str()),
        ];
        let world = world(&rows);
        let stood = Stood::of(&world, &OUTCOME);
        let folded = folded(&world, &OUTCOME, "o");
        assert_eq!(stood.at(&(Some("r"), "o"), 3), Some(folded.as_str()), "{event}");
        assert_eq!(stood.at(&(Some("q"), "o"), 3), Some("pending"), "{event}");
    }
}

/// What nobody wrote down begins where the first row says that tells of it; from there on the table counts.
#[test]
fn what_nobody_wrote_down_begins_with_its_first_move() {
    let (first, second) =
        (moved("contested", "resolved", "x"), moved("contested", "rejected_by_user", "rejected_by_user"));
    let kind = "FindingLifecycleTransitionReceipt";
    let world = world(&[(kind, first.as_str()), (kind, second.as_str())]);
    let stood = Stood::of(&world, &FINDING);
    assert_eq!(stood.course(&(None, "f")), [(2, Some("rejected_by_user"))]);
}

/// An outcome of the same name in another run is another one, for whoever follows states or compares what was written.
#[test]
fn outcomes_of_two_runs_are_apart() {
    let outcome = |run: &str, state: &str, task: &str| {
        let text = format!(
            r#"{{"outcome_id":"o","run_id":"{run}","task_id":"{task}","depends_on_outcome_ids":[],"state":"{state}"}}"#
        );
        (OUTCOME.kind, text)
    };
    let begins = |run: &str| {
        let text = format!(
            r#"{{"event_id":"{run}","outcome_id":"o","run_id":"{run}","from_state":"pending","to_state":"evaluating"}}"#
        );
        ("OutcomeStateTransitionEvent", text)
    };
    let drift = "current_projection_without_source_event";
    let states = "lifecycle_transition_without_receipt";
    let both = || {
        Vec::from([
            outcome("r", "pending", "t"),
            begins("r"),
            outcome("q", "pending", "u"),
            outcome("r", "evaluating", "t"),
            outcome("q", "pending", "u"),
            begins("q"),
            outcome("q", "evaluating", "u"),
        ])
    };
    for (more, code, expected) in [
        (None, drift, &[] as &[&str]),
        (None, states, &[]),
        (Some(outcome("q", "satisfied", "u")), states, &["8/state"]),
        (Some(outcome("q", "evaluating", "t")), drift, &["8/task_id"]),
        (Some(outcome("r", "evaluating", "u")), drift, &["8/task_id"]),
    ] {
        let rows: Vec<(&str, String)> = both().into_iter().chain(more).collect();
        assert_eq!(places(code, &world(&rows)), expected, "{rows:?}");
    }
}

/// A row that may follow on others: its type, and what it says.
type Next = (&'static str, String);

fn general(subject: &str, from: &str, to: &str) -> Next {
    let text = format!(
        r#"{{"receipt_id":"l","subject_ref":"{subject}","from_state":"{from}","to_state":"{to}","reason":"x"}}"#
    );
    ("LifecycleTransitionReceipt", text)
}

/// Whatever follows on a row, a thing stands where its fold does, after each row.
fn as_folded(family: &'static Family, id: &str, first: &Next, next: &[Next], picked: &[usize]) {
    let mut rows: Vec<(&str, &str)> = Vec::from([(first.0, first.1.as_str())]);
    rows.extend(picked.iter().map(|at| (next[*at].0, next[*at].1.as_str())));
    let world = crate::check::trial::by_minute(&rows);
    let stood = Stood::of(&world, family);
    let mut folds = Folds::default();
    for row in world.all() {
        folds.apply(&row.into());
        let folded = folds.board.find(family.snake, id).unwrap().word(family.member);
        assert_eq!(stood.at(&(None, id), row.seq()), folded, "row {} of {rows:#?}", row.seq());
    }
}

/// What may happen to a question.
fn of_a_question() -> Vec<Next> {
    let lease = |token: &str, from: u32, to: u32, after: &str| {
        let text = format!(
            r#"{{"need_id":"n","lease_token":"{token}","acquired_at":"2026-03-02T08:{from:02}:00Z",
            "expires_at":"2026-03-02T08:{to:02}:00Z","on_expiry":"{after}"}}"#
        );
        ("ResearchNeedLease", text)
    };
    let asked = |id: &str, token: &str, by: &str| {
        let text = format!(
            r#"{{"operation_id":"{id}","operation_kind":"answer_research_need","payload_ref":"src:s","actor_ref":"{by}",
            "precondition":{{"target_record_ref":"research_need:n","lock_lease_ref":"research_need_lease:{token}"}}}}"#
        );
        ("SourceWorkspaceOperation", text)
    };
    let became = |id: &str, status: &str| {
        let text = format!(r#"{{"receipt_id":"w","operation_id":"{id}","status":"{status}"}}"#);
        ("SourceWorkspaceOperationReceipt", text)
    };
    let moved = |from, to| general("research_need:n", from, to);
    Vec::from([
        lease("a", 1, 3, "release_for_reclaim"),
        lease("a", 1, 30, "escalate"),
        lease("b", 2, 30, "release_for_reclaim"),
        lease("b", 30, 40, "release_for_reclaim"),
        lease("b", 9, 9, "release_for_reclaim"),
        asked("o", "a", "module:m"),
        asked("q", "b", "user:u"),
        became("o", "applied"),
        became("o", "conflict"),
        became("q", "applied"),
        moved("open", "human_needed"),
        moved("leased", "open"),
        moved("leased", "answered"),
        moved("human_needed", "open"),
        moved("human_needed", "unresolved"),
        moved("unresolved", "open"),
        moved("leased", "cancelled"),
    ])
}

/// What may happen to a chain.
fn of_a_chain() -> Vec<Next> {
    let result = |id: &str, producer: &str| {
        let text = format!(
            r#"{{"result_id":"{id}","target_evaluation_chain_id":"c","producer_kind":"{producer}"}}"#
        );
        ("EvaluationResultEnvelope", text)
    };
    let moved = |from, to| general("evaluation_chain_registry_record:c", from, to);
    Vec::from([
        result("e", "outcome_evaluator"),
        result("f", "outcome_evaluator"),
        result("j", "judge"),
        result("j", "outcome_evaluator"),
        result("s", "nobody"),
        moved("open", "timed_out"),
        moved("partial", "timed_out"),
        moved("partial", "complete"),
        moved("complete", "superseded"),
        moved("partial", "invalidated"),
    ])
}

const NEED_OPEN: &str = r#"{"need_id":"n","status":"open"}"#;
const CHAIN_OPEN: &str = r#"{"chain_id":"c","status":"open","expected_producers":["outcome_evaluator","judge"],
    "timeout_at":"2026-03-02T08:02:00Z"}"#;

proptest::proptest! {
    #[test]
    fn questions_stand_where_their_folds_do(picked in proptest::collection::vec(0_usize..17, 0..14)) {
        as_folded(&NEED, "n", &(NEED.kind, NEED_OPEN.into()), &of_a_question(), &picked);
    }

    #[test]
    fn chains_stand_where_their_folds_do(picked in proptest::collection::vec(0_usize..10, 0..10)) {
        as_folded(&CHAIN, "c", &(CHAIN.kind, CHAIN_OPEN.into()), &of_a_chain(), &picked);
    }
}

/// What was written down late says where it came to, and what led there may be told behind it.
#[test]
fn what_is_written_late_is_not_led_back() {
    let chain = CHAIN_OPEN.replace("open", "complete");
    let results = of_a_chain();
    let rows = [(CHAIN.kind, chain.as_str()), (results[0].0, &results[0].1), (results[5].0, &results[5].1)];
    let world = crate::check::trial::by_minute(&rows);
    let stood = Stood::of(&world, &CHAIN);
    assert_eq!(stood.course(&(None, "c"))[0], (1, Some("complete")));
    assert!(stood.counts(world.all().nth(1).unwrap()), "a result is one of it all the same");
}
