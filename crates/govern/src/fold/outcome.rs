//! How an outcome stands.
//! Owns: which events count. Must not: evaluate.

use super::family::OUTCOME;
use super::life::{Board, Life, Opens, typed};
use super::row::Row;
use crate::member::Member;
use crate::types::added::outcome::OutcomeRecord;

pub(super) const LIFE: Life = Life {
    kind: OUTCOME.kind,
    snake: OUTCOME.snake,
    projects: OUTCOME.kind,
    families: &[&OUTCOME],
    hears: &[],
    opens: Opens::Row,
    live: &[],
    // What an outcome rests on is declared anew with its contract.
    free: &["depends_on_outcome_ids"],
    grows: &[],
    apply,
    record: typed::<OutcomeRecord>,
};

fn apply(row: &Row<'_>, board: &mut Board) {
    if let Some((id, step)) = OUTCOME.read(row.kind, row.json)
        && let Some(standing) = board.find_mut(OUTCOME.snake, id)
    {
        let (own, said) = (standing.word("run_id"), row.json.text("run_id"));
        if own.zip(said).is_none_or(|(own, said)| own == said) {
            standing.step(&OUTCOME, &step, row);
        }
    }
}
