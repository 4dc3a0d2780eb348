//! What a run cost in the end, against what was foreseen.
//! Owns: the story of it. Must not: measure, or leave a cost out.

use super::{Amounts, actual, expected, find, is_over, number, overspent, sum, words};
use crate::desk::{Desk, Error, reference};
use crate::outcome;
use crate::show;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_govern::types::basic::{StorageRef, V11};
use countersign_govern::types::cost::{BudgetNarrative, CostDimension as Dimension, TaskRunCostForecast};
use countersign_govern::types::hard_call::TaskSkipReceipt;
use countersign_govern::types::outcome::OutcomeEvaluationState as State;
use countersign_govern::types::read_models::DerivedReadModelRecordReadModelKind as ReadModel;
use countersign_record::json::Json;

/// What is never left out to save something.
const NEVER_LEFT_OUT: [&str; 2] = ["claims are checked against sources", "outcomes are evaluated"];

/// Tells what the run cost so far; gives the reference to it.
///
/// # Errors
/// Something can't be written.
pub fn narrative(desk: &mut Desk) -> Result<StorageRef, Error> {
    let forecast = desk.all::<TaskRunCostForecast>().next_back();
    let planned = match &forecast {
        Some(forecast) => expected(&find(desk, &forecast.planned_cost_vector_ref)?),
        None => Amounts::new(),
    };
    let all = actual(desk);
    let (mut spent, mut records, mut parts) = (Amounts::new(), Vec::new(), Vec::new());
    for (record, vector) in &all {
        super::add(&mut spent, &expected(vector));
        records.push(reference("TaskCostRecord", &record.cost_record_id)?);
        parts.push(reference("CostVector", &vector.cost_vector_id)?);
    }
    let receipt = match parts.is_empty() {
        true => None,
        false => Some(sum(desk, &desk.id("total"), &parts)?.1),
    };
    let forecast_ref = forecast.map(|one| reference("TaskRunCostForecast", &one.forecast_id)).transpose()?;
    let (skipped, degraded) = (skipped(desk), degraded(desk));
    let told = BudgetNarrative {
        budget_narrative_id: desk.id("narrative"),
        task_id: desk.task().id.clone(),
        run_id: desk.run().to_string(),
        planned_forecast_ref: forecast_ref.clone(),
        actual_cost_record_refs: records.clone(),
        forecast_vs_actual_summary: compared(&planned, &spent),
        summary: summary(all.len(), &spent, &overspent(desk)),
        quality_impact_summary: impact(&skipped, &degraded).to_string(),
        skipped_optional_helpers: skipped,
        preserved_non_degradable_modes: NEVER_LEFT_OUT.iter().map(ToString::to_string).collect(),
        degraded_modes_used: degraded,
        formula_eval_receipt_refs: receipt.clone().into_iter().collect(),
        created_at: desk.now(),
        schema_version: V11,
    };
    let mut inputs = records;
    inputs.extend(forecast_ref);
    let shown = desk.open("BudgetNarrative", &told)?;
    let receipts = receipt.into_iter().collect();
    show::header(desk, ReadModel::BudgetNarrative, inputs, Some(shown.clone()), receipts)?;
    Ok(shown)
}

/// The last story of costs.
///
/// # Errors
/// It can't be named.
pub fn last(desk: &Desk) -> Result<Option<StorageRef>, Error> {
    let last = desk.each::<Json>("BudgetNarrative").next_back();
    last.map(|found| reference("BudgetNarrative", &found.id)).transpose()
}

/// What the pieces of work came to, and by how much that is beyond the caps.
fn summary(pieces: usize, spent: &Amounts, over: &Amounts) -> String {
    let all = format!("{pieces} pieces of work: {}.", super::told(spent));
    match over.is_empty() {
        true => all,
        false => format!("{all} That is beyond the budget by {}.", super::told(over)),
    }
}

/// What was spent of each dimension, of what was foreseen.
fn compared(planned: &Amounts, spent: &Amounts) -> String {
    let dimensions: BTreeSet<Dimension> = planned.keys().chain(spent.keys()).copied().collect();
    let one = |dimension: Dimension| {
        let of = |amounts: &Amounts| number(amounts.get(&dimension).copied().unwrap_or_default()).literal();
        format!("{}: {} of {} foreseen", words(dimension), of(spent), of(planned))
    };
    let all: Vec<String> = dimensions.into_iter().map(one).collect();
    if all.is_empty() { "Nothing was foreseen and nothing was spent.".to_string() } else { all.join("; ") }
}

/// What could have been done and was not.
fn skipped(desk: &Desk) -> Vec<String> {
    let mut all: Vec<String> = desk.all::<TaskSkipReceipt>().map(|one| one.target_ref).collect();
    if is_over(desk) {
        all.push("revision".to_string());
    }
    all
}

/// What was done less well than it could have been.
fn degraded(desk: &Desk) -> Vec<String> {
    let task = desk.task().clone();
    let unable = task.outcomes.iter().filter(|one| outcome::state(desk, &one.id) == State::UnableToEvaluate);
    unable.map(|one| format!("{} could not be evaluated", one.id)).collect()
}

fn impact(skipped: &[String], degraded: &[String]) -> &'static str {
    match (skipped.is_empty(), degraded.is_empty()) {
        (true, true) => "None.",
        (false, true) => "Work that could have made it better was left out.",
        (true, false) => "A part could not be evaluated.",
        (false, false) => {
            "Work that could have made it better was left out, and a part could not be evaluated."
        }
    }
}
