//! How a question to a person stands.
//! Owns: what answers, puts off or ends it. Must not: answer.

use super::family::{By, CALL, Move};
use super::life::{Board, Life, Opens, record_of};
use super::row::{Row, number};
use super::standing::Standing;
use crate::member::Member;
use crate::types::basic::{Instant, StorageRef, V10};
use crate::types::wire::{record, words};
use alloc::string::String;
use countersign_record::json::{Json, Object};

words! {
    /// Where a question to a person is.
    HardCallState {
        Pending = "pending", Deferred = "deferred", Escalated = "escalated", Resolved = "resolved",
        Aborted = "aborted", Cancelled = "cancelled",
    }
}

record! {
    /// How a question to a person stands.
    HardCallCurrent: projection {
        hard_call_id: String,
        canonical_event_ref: StorageRef,
        state: HardCallState,
        resolution_receipt_ref: Option<StorageRef>,
        event_seq: u64,
        updated_at: Instant,
        schema_version: V10,
    }
}

pub(super) const LIFE: Life = Life {
    kind: CALL.kind,
    snake: CALL.snake,
    projects: "HardCallCurrent",
    families: &[&CALL],
    hears: &["TaskCancelReceipt", "HardCallPendingEvent"],
    opens: Opens::Row,
    live: &["updated_at", "resolution_receipt_ref", "canonical_event_ref"],
    free: &[],
    grows: &[],
    apply,
    record,
};

fn apply(row: &Row<'_>, board: &mut Board) {
    let json = row.json;
    match row.kind {
        "HardRevisionCall" => {
            let opened = board.find_mut(CALL.snake, row.id).filter(|call| call.opened == row.seq);
            if let Some(standing) = opened {
                standing.put("canonical_event_ref", Some(row.reference().into()));
                standing.event = Some(row.reference());
                standing.touch(row);
            }
        }
        "TaskCancelReceipt" => {
            for stopped in json.references("stopped_refs").into_iter().filter(|to| to.kind == CALL.snake) {
                moved(row, board, stopped.id, "cancelled");
            }
        }
        "HardCallPendingEvent" => {
            let to = match (json.text("cause"), json.text("action")) {
                (Some("deferred"), _) => "deferred",
                (Some("timed_out"), Some("escalate")) => "escalated",
                (Some("timed_out"), Some("abort")) => "aborted",
                (_, _) => return,
            };
            if let Some(id) = json.id_at("hard_call_id") {
                moved(row, board, id, to);
            }
        }
        "HardCallResolutionReceipt" => {
            let Some(id) = json.id_at("hard_call_id") else { return };
            let call = board.find(CALL.snake, id);
            if call.is_some_and(|call| unanswered(json, call.says("options")).is_none())
                && moved(row, board, id, "resolved")
                && let Some(call) = board.find_mut(CALL.snake, id)
            {
                call.put("resolution_receipt_ref", Some(row.reference().into()));
            }
        }
        _other => {}
    }
}

/// Why a receipt does not answer a question with these options: the member, and what is wrong with it.
pub(crate) fn unanswered(receipt: &Json, options: Option<&Json>) -> Option<(&'static str, &'static str)> {
    if !receipt.is("operation_kind", "hard_call_resolved") {
        return Some(("operation_kind", "is not that of a hard call that was resolved"));
    }
    if receipt.is_blank("dispatcher_actor_ref") {
        return Some(("dispatcher_actor_ref", "no dispatcher recorded the answer"));
    }
    let chosen = receipt.text("selected_option_id")?;
    let mut options = options.and_then(Json::as_array).unwrap_or_default().iter();
    let is_offered = options.any(|option| option.is("option_id", chosen));
    (!is_offered).then_some(("selected_option_id", "is no option of the call"))
}

fn moved(row: &Row<'_>, board: &mut Board, id: &str, to: &str) -> bool {
    let Some(call) = board.find_mut(CALL.snake, id) else { return false };
    call.hear(row);
    let has_moved = call.step(&CALL, &Move { from: None, to, by: By::Pair }, row);
    if has_moved {
        call.touch(row);
    }
    has_moved
}

fn record(standing: &Standing, _: &Board) -> Option<Json> {
    let members = ["hard_call_id", "canonical_event_ref", "state", "resolution_receipt_ref", "updated_at"];
    let said = |member: &'static str| standing.says(member).map(|value| (member, value.clone()));
    let mut object: Object = members.into_iter().filter_map(said).collect();
    object.insert("event_seq", number(standing.heard));
    object.insert("schema_version", "1.0");
    record_of::<HardCallCurrent>(object)
}
