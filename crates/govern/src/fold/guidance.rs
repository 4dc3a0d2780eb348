//! How guidance stands: the event that gave it and the receipts that moved it.
//! Owns: which receipts count. Must not: select guidance for a run.

use super::family::GUIDANCE;
use super::life::{Board, Life, Opens, typed};
use super::row::Row;
use crate::member::Member;
use crate::types::guidance::RunGuidanceItemCurrent;

pub(super) const LIFE: Life = Life {
    kind: GUIDANCE.kind,
    snake: GUIDANCE.snake,
    projects: GUIDANCE.kind,
    families: &[&GUIDANCE],
    hears: &["RunGuidanceCreationEvent"],
    opens: Opens::Event,
    live: &[],
    free: &["cross_run_eligible", "selected_by_doc24_context_policy", "superseded_by_guidance_id"],
    grows: &[],
    apply,
    record: typed::<RunGuidanceItemCurrent>,
};

fn apply(row: &Row<'_>, board: &mut Board) {
    if row.kind == "RunGuidanceCreationEvent" {
        let Some(id) = row.json.id_at("guidance_id") else { return };
        let Some(standing) = board.open(GUIDANCE.snake, id, row) else { return };
        standing.put("guidance_id", Some(id.into()));
        standing.put("canonical_event_ref", Some(row.reference().into()));
        standing.put("schema_version", Some("1.0".into()));
        for flag in ["cross_run_eligible", "selected_by_doc24_context_policy"] {
            standing.put(flag, Some(false.into()));
        }
        standing.begin(&GUIDANCE, None);
        standing.event = Some(row.reference());
        standing.touch(row);
    } else if let Some((id, step)) = GUIDANCE.read(row.kind, row.json)
        && let Some(standing) = board.find_mut(GUIDANCE.snake, id)
        && standing.step(&GUIDANCE, &step, row)
    {
        standing.touch(row);
    }
}
