//! What is learned from a run when it is over: how often it went around, what got worse, how long it took, what it is like.
//! Owns: these measures, each by its formula, from the rows of the run. Must not: learn from work that nobody may learn from, or say a
//! number where there are too few cases.

mod likeness;
mod rates;
mod worth;

pub use likeness::{Features, Nearest, Pattern, features, nearest};

use crate::desk::{Desk, Error, From, reference};
use crate::outcome;
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_govern::table::outcome::{Learning, entry};
use countersign_govern::types::added::criterion::MetricObservationInvalidationEvent;
use countersign_govern::types::added::learned::LearningSignal;
use countersign_govern::types::added::outcome::OutcomeStateTransitionEvent;
use countersign_govern::types::added::policy::PolicyEvaluation;
use countersign_govern::types::basic::{DateRange, StorageRef, V10};
use countersign_govern::types::chain::{EvaluationChainResolutionReceipt, EvaluationResultEnvelope};
use countersign_govern::types::learning::LearningMode;
use countersign_govern::types::outcome::OutcomeEvaluationState as State;
use countersign_govern::types::quality::{
    OutcomeCycleTerminalClass as Ended, RevisionCycleEfficiencyRollup, RevisionCycleOutcomeObservation,
};
use countersign_govern::types::wire::Wire;
use countersign_record::json::{Json, Number, Object};

/// Measures a run that is over.
///
/// # Errors
/// Something can't be written.
pub fn measure(desk: &mut Desk, near: Option<&Nearest>) -> Result<(), Error> {
    cycles(desk)?;
    rates::regressions(desk)?;
    rates::latency(desk)?;
    likeness::novelty(desk, near)?;
    likeness::template(desk, near)?;
    worth::calibration(desk)?;
    worth::reputation(desk)?;
    signal(desk)
}

/// From when the run began until now.
pub(super) fn window(desk: &Desk) -> Result<DateRange, Error> {
    let id = desk.own("leave");
    let began: PolicyEvaluation = desk.find("PolicyEvaluation", &id).ok_or(Error::Missing(id))?;
    Ok(DateRange { start: began.decided_at, end: desk.now() })
}

/// Whether a window has a length, so that several things can have happened in it.
pub(super) fn has_length(window: &DateRange) -> bool {
    window.start != window.end
}

/// How an outcome's cycles ended.
fn ended(state: State) -> Ended {
    match state {
        State::Satisfied => Ended::Succeeded,
        State::Unrecoverable => Ended::FailedUnrecoverable,
        State::MaxIterationsReached => Ended::MaxIterationsReached,
        State::BlockedByPolicy => Ended::BlockedByPolicy,
        State::NeedsHumanJudgment => Ended::NeedsHumanJudgment,
        State::NeedsInformation => Ended::NeedsInformation,
        State::Superseded => Ended::CancelledByUser,
        State::Pending
        | State::PendingDependency
        | State::Evaluating
        | State::Dirty
        | State::NeedsRevision
        | State::NeedsVerification
        | State::UnableToEvaluate
        | State::Regressed
        | State::UpstreamFailure => Ended::StillOpenRightCensored,
    }
}

/// How many looks each outcome took, and what that comes to for the run.
fn cycles(desk: &mut Desk) -> Result<(), Error> {
    let window = window(desk)?;
    for outcome in desk.task().outcomes.clone() {
        let outcome_id = desk.own(&outcome.id);
        if desk.all::<RevisionCycleOutcomeObservation>().any(|one| one.outcome_id == outcome_id) {
            continue;
        }
        let moves: Vec<OutcomeStateTransitionEvent> =
            desk.all().filter(|one: &OutcomeStateTransitionEvent| one.outcome_id == outcome_id).collect();
        let looks = moves.iter().filter(|one| one.to_state == State::Evaluating).count() as u64;
        let last = moves.last().map(|one| reference("OutcomeStateTransitionEvent", &one.event_id));
        let terminal_class = ended(outcome::state(desk, &outcome.id));
        let is_open = terminal_class == Ended::StillOpenRightCensored;
        desk.put(&RevisionCycleOutcomeObservation {
            observation_id: desk.id("cycles"),
            outcome_id,
            run_id: desk.run().to_string(),
            cycle_count: looks,
            terminal_class,
            terminal_state_ref: last.transpose()?,
            right_censored_at: is_open.then(|| desk.now()),
            observation_window: window.clone(),
            cost_vector_ref: None,
            formula_eval_receipt_ref: None,
            schema_version: V10,
        })?;
    }
    efficiency(desk, &window)
}

fn efficiency(desk: &mut Desk, window: &DateRange) -> Result<(), Error> {
    let seen: Vec<RevisionCycleOutcomeObservation> = desk.all().collect();
    if seen.is_empty() || !has_length(window) && seen.len() > 1 {
        return Ok(());
    }
    let mut included = Vec::new();
    for one in &seen {
        included.push(reference("RevisionCycleOutcomeObservation", &one.observation_id)?);
    }
    let row = |one: &RevisionCycleOutcomeObservation| {
        let count = one.cycle_count.write().unwrap_or(Json::Null);
        Object::from([("cycle_count", count), ("terminal_class", one.terminal_class.as_str().into())]).into()
    };
    let inputs = Object::from([
        ("observations", Json::Array(seen.iter().map(row).collect())),
        ("window", window.write().unwrap_or(Json::Null)),
    ]);
    let rollup_id = desk.id("efficiency");
    let output_ref = reference("RevisionCycleEfficiencyRollup", &rollup_id)?;
    // Where nothing is closed there is no rate, and the record of the rates can't be without it.
    let of_all = From {
        formula: "cycle_efficiency_v1",
        inputs: inputs.clone(),
        input_refs: included.clone(),
        output_ref: output_ref.clone(),
    };
    if !matches!(desk.value(&of_all)?.get("max_iterations_rate"), Some(Json::Number(_))) {
        return Ok(());
    }
    let mut rates: BTreeMap<&str, Number> = BTreeMap::new();
    let mut receipt = None;
    for name in RATES {
        let (inputs, input_refs, output_ref) = (inputs.clone(), included.clone(), output_ref.clone());
        let from = From { formula: "cycle_efficiency_v1", inputs, input_refs, output_ref };
        if let Some((rate, of)) = rate(desk, from, name)? {
            rates.insert(name, rate);
            receipt = Some(of);
        }
    }
    let (Some(receipt), Some(censored), Some(worn)) =
        (receipt, rates.remove("right_censored_rate"), rates.remove("max_iterations_rate"))
    else {
        return Ok(());
    };
    let rollup = RevisionCycleEfficiencyRollup {
        rollup_id,
        measurement_window: window.clone(),
        avg_cycles_to_success: rates.remove("avg_cycles_to_success"),
        wasted_cycle_burn_rate: rates.remove("wasted_cycle_burn_rate"),
        right_censored_rate: censored,
        max_iterations_rate: worn,
        included_observation_refs: included,
        formula_eval_receipt_ref: receipt,
        schema_version: V10,
    };
    desk.open("RevisionCycleEfficiencyRollup", &rollup)?;
    Ok(())
}

/// One part of a value with the receipt of it; nothing is written where there is no such number.
fn rate(desk: &mut Desk, from: From, name: &str) -> Result<Option<(Number, StorageRef)>, Error> {
    let value = desk.value(&from)?;
    match value.get(name) {
        Some(Json::Number(number)) => {
            let number = number.clone();
            let derived = desk.derive_member(from, name)?;
            Ok(Some((number, derived.receipt)))
        }
        Some(Json::Null | Json::Bool(_) | Json::String(_) | Json::Array(_) | Json::Object(_)) | None => {
            Ok(None)
        }
    }
}

/// What the formula of cycles gives.
const RATES: [&str; 4] =
    ["avg_cycles_to_success", "wasted_cycle_burn_rate", "right_censored_rate", "max_iterations_rate"];

/// An observation does not count any more: what comes together later leaves it out.
///
/// # Errors
/// It can't be written.
pub fn withdraw(desk: &mut Desk, observation: &StorageRef, reason: &str) -> Result<(), Error> {
    desk.put(&MetricObservationInvalidationEvent {
        event_id: desk.id("withdrawn"),
        observation_ref: observation.clone(),
        reason: reason.to_string(),
        created_at: desk.now(),
        schema_version: Some(V10),
    })?;
    Ok(())
}

/// Whether an observation does not count any more.
#[must_use]
pub(crate) fn is_withdrawn(desk: &Desk, id: &str) -> bool {
    let own = reference("MetricObservation", id).ok();
    let mut withdrawn = desk.all::<MetricObservationInvalidationEvent>();
    withdrawn.any(|one| Some(one.observation_ref) == own)
}

/// What may be learned from: how the outcomes that count for that were resolved last. Nothing, if there is none.
fn signal(desk: &mut Desk) -> Result<(), Error> {
    let outcomes = desk.task().outcomes.clone();
    let counts = |id: &str| entry(outcome::state(desk, id)).learning == Learning::Eligible;
    let own: Vec<String> =
        outcomes.iter().filter(|one| counts(&one.id)).map(|one| desk.own(&one.id)).collect();
    let results: Vec<EvaluationResultEnvelope> = desk.all().collect();
    let mut receipt_refs: Vec<StorageRef> = Vec::new();
    for receipt in desk.all::<EvaluationChainResolutionReceipt>() {
        let is_own =
            |id: &String| results.iter().any(|one| one.result_id == *id && own.contains(&one.outcome_id));
        if receipt.result_ids_considered.iter().any(is_own) {
            receipt_refs.push(reference("EvaluationChainResolutionReceipt", &receipt.receipt_id)?);
        }
    }
    if receipt_refs.is_empty() {
        return Ok(());
    }
    desk.put(&LearningSignal {
        signal_id: desk.id("signal"),
        learning_mode: LearningMode::Production,
        receipt_refs,
        created_at: desk.now(),
        schema_version: Some(V10),
    })?;
    Ok(())
}
