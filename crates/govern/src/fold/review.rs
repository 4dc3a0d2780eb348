//! How a packet for the review of a revision stands: its body is frozen, its state is the fold of the decisions on it.
//! Owns: which decisions count. Must not: decide.

use super::family::{GENERAL, REVIEW};
use super::life::{Board, Life, Opens, typed};
use super::row::Row;
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
    if standing.step(&REVIEW, &step, row) && row.kind != GENERAL {
        standing.push("decision_receipt_refs", row.reference().into());
    }
}
