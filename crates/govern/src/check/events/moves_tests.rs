//! For every machine and all pairs of states: a row that tells of a move is told of exactly if the table has no such way.

use super::*;
use crate::admission::Desk;
use crate::check::trial::{rows_with, world};
use crate::fold::family::{FAMILIES, FINDING, GUIDANCE, OUTCOME, PLAN, REVIEW, REVIEWED};
use crate::world::Draft;
use countersign_record::json;
use countersign_record::time::Instant;

fn code(family: &Family) -> &'static str {
    match family.kind {
        kind if kind == GUIDANCE.kind => "run_guidance_lifecycle_transition_without_receipt",
        kind if kind == REVIEW.kind => "review_decision_without_receipt",
        kind if kind == PLAN.kind => "revision_lifecycle_illegal_transition",
        _other => "lifecycle_transition_without_receipt",
    }
}

/// A row that tells of a move of something that nobody wrote down.
fn told(family: &Family, from: &str, to: &str) -> Option<(&'static str, String)> {
    let states = format!(r#""from_state":"{from}","to_state":"{to}""#);
    let kinds: Vec<&'static str> = family.moved_by().collect();
    if kinds.contains(&GENERAL) && family.kind != OUTCOME.kind {
        let text = format!(r#"{{"receipt_id":"l","subject_ref":"{}:x",{states}}}"#, family.snake);
        return Some((GENERAL, text));
    }
    let (kind, member) = match family.kind {
        kind if kind == FINDING.kind => ("FindingLifecycleTransitionReceipt", "finding_id"),
        kind if kind == GUIDANCE.kind => ("RunGuidanceLifecycleReceipt", "guidance_id"),
        kind if kind == OUTCOME.kind => ("OutcomeStateTransitionEvent", "outcome_id"),
        _other => return None,
    };
    let reason = family.machine.ways(from, to).next().map_or("user_contested", |way| way.by);
    let reason = reason.split(' ').next().unwrap_or_default();
    Some((kind, format!(r#"{{"{member}":"x",{states},"transition_reason":"{reason}"}}"#)))
}

#[test]
fn a_move_is_told_of_exactly_if_no_table_has_it() {
    let (mut desk, mut tried) = (Desk::new(Vec::new()), 0);
    let at = Instant::read("2026-03-02T08:00:00Z").unwrap();
    for family in FAMILIES {
        let states: Vec<&str> = family.machine.states().collect();
        for (from, to) in states.iter().flat_map(|from| states.iter().map(move |to| (*from, *to))) {
            let Some((kind, text)) = told(family, from, to) else { continue };
            // A review of a contract has two lives.
            let lives = FAMILIES.iter().filter(|one| one.kind == family.kind);
            let is_legal = lives.into_iter().any(|one| one.machine.allows(from, to));
            // What a reviewer decided only a decision tells.
            let is_decided = family.kind == REVIEW.kind && REVIEWED.iter().any(|(_, state)| *state == to);
            let is_legal = is_legal && !is_decided;
            let expected: &[u64] = if is_legal { &[] } else { &[1] };
            assert_eq!(rows_with(code(family), &world(&[(kind, text.as_str())])), expected, "{kind} {text}");
            let record = json::parse(text.as_bytes()).unwrap();
            let draft = Draft { kind: kind.into(), id: None, at: Some(at), record };
            let codes = match desk.ask(Vec::from([(1, draft)]), at) {
                Ok(_) => Vec::new(),
                Err(refused) => refused.codes,
            };
            assert_eq!(codes.iter().any(|one| one.code == code(family)), !is_legal, "{kind} {text}");
            tried += 1;
        }
    }
    assert!(tried > 800, "{tried}");
}

/// A reason that the table does not name for a way is none.
#[test]
fn a_move_by_another_reason_is_none() {
    for (reason, expected) in [("user_contested", &[] as &[u64]), ("revision_resolved", &[1]), ("", &[1])] {
        let text = format!(
            r#"{{"finding_id":"f","from_state":"active","to_state":"contested","transition_reason":"{reason}"}}"#
        );
        let world = world(&[("FindingLifecycleTransitionReceipt", text.as_str())]);
        assert_eq!(rows_with("lifecycle_transition_without_receipt", &world), expected, "{reason}");
    }
}
