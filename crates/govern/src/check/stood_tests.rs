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
