//! How a source stands: its tier by receipts, its taint by sanitization, the rest by the rows that operations name.
//! Owns: when a tier or a taint moves. Must not: classify a source.

use super::life::{Board, Life, Opens, typed};
use super::row::Row;
use super::standing::Standing;
use crate::member::Member;
use crate::types::basic::TaintClass;
use crate::types::source::SourceRecord;
use countersign_record::json::Json;

pub(super) const LIFE: Life = Life {
    kind: "SourceRecord",
    snake: "source_record",
    projects: "SourceRecord",
    families: &[],
    hears: &["SourceTierTransitionReceipt", "SanitizationNode"],
    opens: Opens::Row,
    live: &[],
    // An operation on a source carries nothing itself: what it says of the source stands in a row of the source.
    free: &[
        "trust_basis",
        "data_class",
        "privileged",
        "verification_state",
        "fresh_until",
        "legal_payload",
        "applicability_scopes",
        "domain_payload",
        "domain_payload_registry_ref",
        "updated_at",
        "policy_decision_refs",
    ],
    grows: &[],
    apply,
    record: typed::<SourceRecord>,
};

const TIERS: core::ops::RangeInclusive<u64> = 1..=3;

fn apply(row: &Row<'_>, board: &mut Board) {
    let json = row.json;
    match row.kind {
        "SourceTierTransitionReceipt" => {
            let id = json.text("source_id");
            if let Some(standing) = id.and_then(|id| board.find_mut(LIFE.snake, id)) {
                tier_moved(row, standing);
            }
        }
        "SanitizationNode" => {
            let output = json.reference("output_ref").filter(|to| ["src", LIFE.snake].contains(&to.kind));
            if let Some(standing) = output.and_then(|to| board.find_mut(LIFE.snake, to.id))
                && standing.word("taint_class") == json.text("input_taint")
            {
                standing.put("taint_class", json.text("output_taint").map(Json::from));
            }
        }
        // What is trusted less than before needs nobody's leave.
        "SourceRecord" => {
            if let Some(standing) = board.find_mut(LIFE.snake, row.id) {
                let taint = |word: Option<&str>| word.and_then(TaintClass::find);
                if taint(json.text("taint_class")) > taint(standing.word("taint_class")) {
                    standing.put("taint_class", json.text("taint_class").map(Json::from));
                }
            }
        }
        _other => {}
    }
}

/// A tier moves from where it is; down only if somebody cleared it.
fn tier_moved(row: &Row<'_>, standing: &mut Standing) {
    let (Some(from), Some(to)) = (row.json.count("from_tier"), row.json.count("to_tier")) else { return };
    let is_cleared = to > from || !row.json.is_blank("cleared_by_access_tier");
    let is_here = standing.says("tier") == Some(&super::row::number(from));
    if is_here && is_cleared && TIERS.contains(&to) {
        standing.put("tier", Some(super::row::number(to)));
    }
}
