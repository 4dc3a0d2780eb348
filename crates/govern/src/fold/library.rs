//! How a wish to put a source into the library stands.
//! Owns: what counts as promoted. Must not: judge the gate.

use super::family::CANDIDATE;
use super::life::{Board, Life, Opens, typed};
use super::row::Row;
use crate::types::library::LibraryPromotionCandidate;

pub(super) const LIFE: Life = Life {
    kind: CANDIDATE.kind,
    snake: CANDIDATE.snake,
    projects: CANDIDATE.kind,
    families: &[&CANDIDATE],
    hears: &[],
    opens: Opens::Row,
    live: &[],
    free: &[],
    grows: &[],
    apply,
    record: typed::<LibraryPromotionCandidate>,
};

fn apply(row: &Row<'_>, board: &mut Board) {
    let Some((id, step)) = CANDIDATE.read(row.kind, row.json) else { return };
    if let Some(standing) = board.find_mut(CANDIDATE.snake, id) {
        standing.step(&CANDIDATE, &step, row);
    }
}
