//! How a packet for the review of a revision stands: its body is frozen, its state is the fold of the decisions on it.
//! Owns: which decisions count. Must not: decide.

use super::family::{GENERAL, REVIEW, REVIEWED};
use super::life::{Board, Life, Opens, typed};
use super::row::Row;
use super::standing::By;
use crate::member::Member;
use crate::types::review::RevisionReviewPacket;

pub(super) const LIFE: Life = Life {
    kind: REVIEW.kind,
    snake: REVIEW.snake,
    projects: REVIEW.kind,
    families: &[&REVIEW],
    hears: &[],
    opens: Opens::Row,
    live: &["decision_receipt_refs"],
    free: &[],
    grows: &["decision_receipt_refs"],
    apply,
    record: typed::<RevisionReviewPacket>,
};

fn apply(row: &Row<'_>, board: &mut Board) {
    let Some((id, step)) = REVIEW.read(row.kind, row.json) else { return };
    let Some(standing) = board.find_mut(REVIEW.snake, id) else { return };
    if row.kind == GENERAL {
        // What a reviewer decides is told by a receipt of its own.
        let is_decided = REVIEWED.iter().any(|(_, state)| *state == step.to);
        if !is_decided {
            standing.step(&REVIEW, &step, By::Pair);
        }
    } else if standing.step(&REVIEW, &step, By::Word(row.json.text("action").unwrap_or_default())) {
        standing.push("decision_receipt_refs", row.reference().into());
    }
}
