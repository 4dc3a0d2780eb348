//! What a stage cost that nobody saw the end of.
//! Owns: that what was foreseen for it counts as spent. Must not: guess that it asked nothing; what may have left can't be taken back.

use super::{Amounts, UNIT, add, bounded_vector, piece};
use crate::asking::activation;
use crate::desk::{Desk, Error};
use crate::task::micros;
use alloc::string::ToString;
use countersign_govern::types::basic::{EstimatorConfidence as Confidence, V10};
use countersign_govern::types::cost::{
    CostDimension as Dimension, CostVector, CostVectorBasis as Basis, TaskCostRecord,
    TaskCostRecordCostClass as Class,
};
use countersign_record::json::Json;

/// The agents that ask: by what name their work is counted, and what was foreseen of it.
const ASKING: [(&str, &str, &str); 4] = [
    ("task_draft", "draft", "draft."),
    ("enforcement", "enforcement", "draft."),
    ("task_critic", "evaluator", "judge."),
    ("task_revision", "revision", "revision"),
];

/// What was foreseen of some work, at most as far as that is known.
fn foreseen(desk: &Desk, word: &str) -> Amounts {
    let own = piece(desk, word);
    let mut all = Amounts::new();
    for vector in desk.all::<CostVector>().filter(|one| one.cost_vector_id.starts_with(&own)) {
        let part = |(unit, part): (&Dimension, &_)| amount(part).map(|amount| (*unit, amount));
        add(&mut all, &vector.components.iter().filter_map(part).collect());
    }
    all
}

fn amount(part: &countersign_govern::types::cost::CostDistribution) -> Option<u64> {
    micros(&Json::Number(part.hard_cap.as_ref().unwrap_or(&part.expected).clone()))
}

/// Writes that a stage cost what was foreseen for it, where nobody saw what it asked; `false` where nothing was foreseen.
///
/// # Errors
/// It can't be written.
pub fn lost(desk: &mut Desk, agent: &str) -> Result<bool, Error> {
    let Some((_, module, word)) = ASKING.iter().find(|(name, ..)| *name == agent) else { return Ok(false) };
    let amounts = foreseen(desk, word);
    if amounts.values().all(|amount| *amount < UNIT) {
        return Ok(false);
    }
    let (id, activation) = (desk.id("cost"), activation(desk, module));
    let basis = (Basis::Heuristic, Confidence::Uncalibrated);
    let assumptions = ["nobody saw what was asked, so what was foreseen counts as spent"];
    let actual = bounded_vector(desk, &id, (&amounts, &Amounts::new()), basis, &assumptions)?;
    desk.put(&TaskCostRecord {
        cost_record_id: desk.id("spent"),
        task_id: desk.task().id.clone(),
        run_id: Some(desk.run().to_string()),
        module_id: Some((*module).to_string()),
        activation_seq: Some(activation),
        planned_cost_vector_ref: None,
        actual_cost_vector_ref: Some(actual),
        cost_class: Class::InfrastructureRetry,
        created_at: desk.now(),
        schema_version: V10,
    })?;
    Ok(true)
}
