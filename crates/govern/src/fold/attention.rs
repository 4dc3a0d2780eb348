//! How an item that waits for a person stands.
//! Owns: when it may be closed. Must not: close it by itself.

use super::family::{APPROVAL, ATTENTION, CALL, NEED};
use super::life::{Board, Life, Opens, typed};
use super::row::Row;
use super::standing::Standing;
use crate::reference::Reference;
use crate::types::reliance::AttentionLedgerItem;

pub(super) const LIFE: Life = Life {
    kind: ATTENTION.kind,
    snake: ATTENTION.snake,
    projects: ATTENTION.kind,
    families: &[&ATTENTION],
    hears: &[],
    opens: Opens::Row,
    live: &["resolved_at"],
    free: &[],
    grows: &[],
    apply,
    record: typed::<AttentionLedgerItem>,
};

fn apply(row: &Row<'_>, board: &mut Board) {
    let Some((id, step)) = ATTENTION.read(row.kind, row.json) else { return };
    let may = |item| step.to != "resolved" || !is_waiting(item, board);
    let may = board.find(ATTENTION.snake, id).is_some_and(may);
    if let Some(item) = board.find_mut(ATTENTION.snake, id).filter(|_| may)
        && item.step(&ATTENTION, &step, row)
        && step.to == "resolved"
    {
        item.put("resolved_at", row.time());
    }
}

/// Whether what an item is about still waits. What is not known is not held against it.
fn is_waiting(item: &Standing, board: &Board) -> bool {
    let Some(source) = item.word("source_ref").and_then(Reference::read) else { return false };
    let (family, waiting): (_, &[&str]) = match item.word("attention_kind") {
        Some("hard_call_pending") => (&CALL, &["pending", "deferred", "escalated"]),
        Some("research_need_human") => (&NEED, &["human_needed"]),
        Some("approval_required") => (&APPROVAL, &["pending", "edited"]),
        Some(_) | None => return false,
    };
    let state = board.find(family.snake, source.id).and_then(|one| one.word(family.member));
    source.kind == family.snake && state.is_some_and(|state| waiting.contains(&state))
}
