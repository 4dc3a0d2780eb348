//! How a cascade of revalidations stands.
//! Owns: what its end says. Must not: walk the outcomes; `derive::cascade` does.

use super::family::{CASCADE, GENERAL, OUTCOME};
use super::life::{Board, Life, Opens, typed};
use super::row::Row;
use crate::member::Member;
use crate::types::cascade::RevalidationCascadeRun;
use countersign_record::json::Json;

pub(super) const LIFE: Life = Life {
    kind: CASCADE.kind,
    snake: CASCADE.snake,
    projects: CASCADE.kind,
    families: &[&CASCADE],
    hears: &[],
    opens: Opens::Row,
    live: &["terminal_reason", "completed_at"],
    // The contract has no event for a step on the way.
    free: &["visited_outcome_ids", "active_outcome_ids", "depth"],
    grows: &[],
    apply,
    record: typed::<RevalidationCascadeRun>,
};

fn apply(row: &Row<'_>, board: &mut Board) {
    let Some((id, step)) = CASCADE.read(row.kind, row.json) else { return };
    let failed = |id: &&str| {
        board.find(OUTCOME.snake, id).and_then(|one| one.word(OUTCOME.member)) == Some("upstream_failure")
    };
    let has_failed = row.json.ids_at("affected_outcome_ids").iter().any(failed);
    let Some(standing) = board.find_mut(CASCADE.snake, id) else { return };
    if !standing.step(&CASCADE, &step, row) {
        return;
    }
    let reason = match step.to {
        "quiescent" if has_failed => "upstream_failure_cascade",
        "quiescent" => "all_dependents_revalidated",
        "aborted" => "cancelled",
        other => other,
    };
    standing.put("terminal_reason", Some(reason.into()));
    standing.put("completed_at", row.time());
    standing.put("active_outcome_ids", Some(Json::Array(alloc::vec::Vec::new())));
    if row.kind != GENERAL {
        standing.put("visited_outcome_ids", row.json.at("affected_outcome_ids").cloned());
    }
}
