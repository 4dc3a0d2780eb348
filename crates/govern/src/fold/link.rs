//! The links between projections and the events that they come from.
//! Owns: up to which place a projection is folded. Must not: fold.

use super::Projection;
use super::life::{Board, record_of};
use super::row::number;
use crate::kind::{self, Class};
use crate::types::events::EventProjectionLink;
use alloc::format;
use alloc::vec::Vec;
use countersign_record::json::{Json, Object};

/// A link for everything that is a projection and has an event behind it.
pub(super) fn links(board: &Board, all: &mut Vec<Projection>) {
    for life in super::LIVES {
        if kind::find(life.kind).map(|kind| kind.class) != Some(Class::Projection) {
            continue;
        }
        for (id, standing) in board.all(life.snake) {
            let (Some(event), Some(at)) = (&standing.event, &standing.heard_at) else { continue };
            let projection = format!("{}:{id}", life.snake);
            let link = Object::from([
                ("canonical_event_ref", Json::from(event.as_str())),
                ("current_projection_ref", projection.as_str().into()),
                ("projection_event_seq", number(standing.heard)),
                ("projection_valid_at", at.as_str().into()),
                ("schema_version", "1.0".into()),
            ]);
            if let Some(record) = record_of::<EventProjectionLink>(link) {
                all.push(Projection { kind: "EventProjectionLink", id: projection, record });
            }
        }
    }
}
