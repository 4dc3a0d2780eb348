//! How a chain of evaluations stands: who is expected, whose result came in.
//! Owns: when a chain is complete. Must not: resolve it; `derive::chain` does.

use super::family::{By, CHAIN, Move};
use super::life::{Board, Life, Opens, typed};
use super::row::Row;
use super::standing::Standing;
use crate::member::Member;
use crate::types::basic::ProducerKind;
use crate::types::chain::EvaluationChainRegistryRecord;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::ToString;
use countersign_record::json::Json;

pub(super) const LIFE: Life = Life {
    kind: CHAIN.kind,
    snake: CHAIN.snake,
    projects: CHAIN.kind,
    families: &[&CHAIN],
    hears: &["EvaluationResultEnvelope"],
    opens: Opens::Row,
    live: &["received_result_ids", "completed_at"],
    free: &["superseded_by_chain_id", "validation_failures"],
    grows: &["received_result_ids"],
    apply,
    record: typed::<EvaluationChainRegistryRecord>,
};

/// How the producers that answered are kept.
const PRODUCER: &str = "producer:";

/// A result of a chain: the chain that it is for.
pub(crate) fn chain_of<'r>(kind: &str, envelope: &'r Json) -> Option<&'r str> {
    envelope.id_at("target_evaluation_chain_id").filter(|_| kind == "EvaluationResultEnvelope")
}

/// Where a chain is after a result: complete if nobody is missing.
pub(crate) fn state_after(is_everybody_there: bool) -> &'static str {
    if is_everybody_there { "complete" } else { "partial" }
}

fn apply(row: &Row<'_>, board: &mut Board) {
    // Where a target or a scope may be null, it is so unless the row says otherwise.
    if row.kind == CHAIN.kind
        && let Some(standing) = board.find_mut(CHAIN.snake, row.id).filter(|one| one.opened == row.seq)
    {
        for member in ["target_artifact_ref", "target_artifact_version_ref", "target_scope_ref"] {
            if standing.says(member).is_none() {
                standing.put(member, Some(Json::Null));
            }
        }
    }
    if let Some(id) = chain_of(row.kind, row.json) {
        if let Some(standing) = board.find_mut(CHAIN.snake, id) {
            received(row, standing);
        }
    } else if let Some((id, step)) = CHAIN.read(row.kind, row.json)
        && let Some(standing) = board.find_mut(CHAIN.snake, id)
    {
        standing.step(&CHAIN, &step, row);
    }
}

fn received(row: &Row<'_>, standing: &mut Standing) {
    let Some(result) = row.json.id_at("result_id") else { return };
    let key = format!("result:{result}");
    let is_open = matches!(standing.word(CHAIN.member), Some("open" | "partial"));
    if !is_open || standing.kept.contains_key(&key) {
        return;
    }
    if let Some(producer) = row.json.text("producer_kind").and_then(ProducerKind::find) {
        standing.kept.insert(format!("{PRODUCER}{}", producer.as_str()), true.into());
    }
    standing.kept.insert(key, true.into());
    let producers =
        standing.kept.range(PRODUCER.to_string()..).map_while(|(key, _)| key.strip_prefix(PRODUCER));
    let answered: BTreeSet<&str> = producers.collect();
    let expected = standing.says("expected_producers").and_then(Json::as_array).unwrap_or_default();
    let is_there = |producer: &Json| producer.as_str().is_none_or(|producer| answered.contains(producer));
    let to = state_after(expected.iter().all(is_there));
    standing.step(&CHAIN, &Move { from: None, to, by: By::Pair }, row);
    standing.push("received_result_ids", result.into());
    if to == "complete" {
        standing.put("completed_at", row.time());
    }
}
