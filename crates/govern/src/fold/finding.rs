//! How a finding stands: the event that raised it and the receipts that moved it.
//! Owns: which receipts count. Must not: raise a finding.

use super::family::FINDING;
use super::life::{Board, Life, Opens, typed};
use super::row::Row;
use crate::member::Member;
use crate::types::finding::EvaluationFindingRecord;
use alloc::vec::Vec;
use countersign_record::json::Json;

pub(super) const LIFE: Life = Life {
    kind: FINDING.kind,
    snake: FINDING.snake,
    projects: FINDING.kind,
    families: &[&FINDING],
    hears: &[EVENT],
    opens: Opens::Event,
    live: &[],
    // No receipt says when a finding ends, what replaced it, or what it was looked at against again.
    free: &["expires_at", "superseded_by_finding_id", AGAINST[0].0, AGAINST[1].0],
    grows: &["lifecycle_transition_refs"],
    apply,
    record: typed::<EvaluationFindingRecord>,
};

const EVENT: &str = "EvaluationFindingEvent";
/// What a finding was last looked at against, and the members of its event that say so.
const AGAINST: [(&str, &[&str]); 2] = [
    (
        "last_validated_against_artifact_version_ref",
        &["target_artifact_version_ref", "based_on_artifact_version_ref"],
    ),
    ("last_validated_against_source_workspace_snapshot_ref", &["based_on_source_workspace_snapshot_ref"]),
];

fn apply(row: &Row<'_>, board: &mut Board) {
    if row.kind == EVENT {
        raised(row, board);
    } else if let Some((id, step)) = FINDING.read(row.kind, row.json) {
        let Some(standing) = board.find_mut(FINDING.snake, id) else { return };
        if standing.step(&FINDING, &step, row) {
            standing.push("lifecycle_transition_refs", row.reference().into());
            standing.touch(row);
        }
    }
}

/// An event raises a finding, or says again what was raised: the state stays, the rest is as the last event says.
fn raised(row: &Row<'_>, board: &mut Board) {
    let Some(id) = row.json.id_at("finding_id") else { return };
    if let Some(standing) = board.open(FINDING.snake, id, row) {
        standing.put("finding_id", Some(id.into()));
        standing.put("schema_version", Some("1.0".into()));
        standing.put("lifecycle_transition_refs", Some(Json::Array(Vec::new())));
        standing.begin(&FINDING, row.json.text("emitted_state"));
    }
    let reference = row.reference();
    let Some(standing) = board.find_mut(FINDING.snake, id) else { return };
    standing.put("canonical_event_ref", Some(reference.as_str().into()));
    standing.put("current_severity", row.json.text("severity").map(Json::from));
    for (member, paths) in AGAINST {
        let against = paths.iter().find_map(|path| row.json.text(path));
        standing.put(member, against.map(Json::from));
    }
    standing.event = Some(reference);
    standing.hear(row);
    standing.touch(row);
}
