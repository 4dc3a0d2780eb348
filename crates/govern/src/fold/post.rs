//! How a post on the board of a run stands.
//! Owns: that there is no post without an event behind it. Must not: decide who sees it.

use super::family::POST;
use super::life::{Board, Life, Opens, typed};
use super::row::Row;
use crate::member::Member;
use crate::types::board::RunBoardVisiblePost;
use alloc::format;
use alloc::string::ToString;

pub(super) const LIFE: Life = Life {
    kind: POST.kind,
    snake: POST.snake,
    projects: POST.kind,
    families: &[&POST],
    hears: &["RunBoardAuditEvent"],
    opens: Opens::Event,
    live: &[],
    free: &[],
    grows: &[],
    apply,
    record: typed::<RunBoardVisiblePost>,
};

const EVENT: &str = "run_board_audit_event:";

fn apply(row: &Row<'_>, board: &mut Board) {
    if row.kind == "RunBoardAuditEvent" {
        board.remember(row.reference(), row.seq.to_string().into());
    } else if row.kind == POST.kind {
        // The first row of a post says how its event is shown; without the event there is nothing to show.
        let event = row.json.id_at("source_event_id");
        let event = event.map(|id| format!("{EVENT}{id}")).filter(|event| board.recall(event).is_some());
        if let Some(event) = event
            && board.find(POST.snake, row.id).is_none()
        {
            board.open_as_said(&LIFE, row);
            if let Some(standing) = board.find_mut(POST.snake, row.id) {
                standing.event = Some(event);
            }
        }
    } else if let Some((id, step)) = POST.read(row.kind, row.json)
        && let Some(standing) = board.find_mut(POST.snake, id)
    {
        standing.step(&POST, &step, row);
    }
}
