//! How reliance packets, certifications and reviews of a contract stand: their bodies are frozen, this is what moves.
//! Owns: who reviewed, issued, approved. Must not: derive a status.

use super::family::{APPROVAL, CERTIFICATION, CONTRACT, PACKET};
use super::life::{Board, Life, Opens, typed};
use super::row::Row;
use crate::member::Member;
use crate::types::reliance::{EvaluationContractReview, TaskReliancePacket, WorkProductCertification};
use countersign_record::json::Json;

pub(super) const PACKETS: Life = Life {
    kind: PACKET.kind,
    snake: PACKET.snake,
    projects: PACKET.kind,
    families: &[&PACKET],
    hears: &[],
    opens: Opens::Row,
    live: &["reviewed_by_user_ref", "issued_at", "invalidated_by_event_ref"],
    free: &[],
    grows: &[],
    apply: packet_moved,
    record: typed::<TaskReliancePacket>,
};

pub(super) const CERTIFICATIONS: Life = Life {
    kind: CERTIFICATION.kind,
    snake: CERTIFICATION.snake,
    projects: CERTIFICATION.kind,
    families: &[&CERTIFICATION],
    hears: &[],
    opens: Opens::Row,
    live: &["issued_by_ref"],
    free: &[],
    grows: &[],
    apply: certification_moved,
    record: typed::<WorkProductCertification>,
};

pub(super) const REVIEWS: Life = Life {
    kind: CONTRACT.kind,
    snake: CONTRACT.snake,
    projects: CONTRACT.kind,
    families: &[&APPROVAL, &CONTRACT],
    hears: &[],
    opens: Opens::Row,
    live: &["approval_ref"],
    free: &[],
    grows: &[],
    apply: review_moved,
    record: typed::<EvaluationContractReview>,
};

fn packet_moved(row: &Row<'_>, board: &mut Board) {
    let Some((id, step)) = PACKET.read(row.kind, row.json) else { return };
    if let Some(standing) = board.find_mut(PACKET.snake, id)
        && standing.step(&PACKET, &step, row)
    {
        match step.to {
            "user_reviewed" => {
                standing.put("reviewed_by_user_ref", row.json.text("actor_ref").map(Json::from));
            }
            "issued" => standing.put("issued_at", row.time()),
            "invalidated" => standing.put("invalidated_by_event_ref", Some(row.reference().into())),
            _other => {}
        }
    }
}

fn certification_moved(row: &Row<'_>, board: &mut Board) {
    if let Some((id, step)) = CERTIFICATION.read(row.kind, row.json)
        && let Some(standing) = board.find_mut(CERTIFICATION.snake, id)
        && standing.step(&CERTIFICATION, &step, row)
        && step.to == "issued"
    {
        standing.put("issued_by_ref", row.json.text("actor_ref").map(Json::from));
    }
}

/// A review has two lives, with no state in common.
fn review_moved(row: &Row<'_>, board: &mut Board) {
    let Some((id, step)) = CONTRACT.read(row.kind, row.json) else { return };
    let Some(standing) = board.find_mut(CONTRACT.snake, id) else { return };
    standing.step(&CONTRACT, &step, row);
    if standing.step(&APPROVAL, &step, row) && step.to != "pending" {
        standing.put("approval_ref", Some(row.reference().into()));
    }
}
