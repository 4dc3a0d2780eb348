//! How often a revision made something worse, and how long things took.
//! Owns: counting them. Must not: compute a rate; formulas do.

use super::{has_length, window};
use crate::cost;
use crate::desk::{Desk, Error, From, reference};
use crate::finding;
use crate::task::micros;
use crate::workspace;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_govern::member::Member;
use countersign_govern::reference::Reference;
use countersign_govern::types::added::criterion::{
    LatencyDistribution, LatencyQuantiles, MetricObservationInvalidationEvent, MetricValue,
};
use countersign_govern::types::basic::{RegressionSeverity, Severity, StorageRef, V10};
use countersign_govern::types::cost::CostDimension;
use countersign_govern::types::formula::{
    MetricObservation, MetricRollup, MetricRollupExcludedObservationRef as Excluded,
    MetricRollupExcludedObservationRefExclusionReason as Exclusion, NumericUnit, ZeroDenominatorPolicy,
};
use countersign_govern::types::quality::SeverityWeightedRegressionRate;
use countersign_govern::types::wire::{OrNull, Reading, Wire};
use countersign_record::json::{Json, Number, Object};

/// The metric of regressions.
const REGRESSIONS: &str = "regression_rate_v1";

/// What became of the versions of an artifact.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Counted {
    accepted: u64,
    /// How bad each version was that made something worse.
    worse: Vec<RegressionSeverity>,
}

/// Counts, for each artifact, the versions that were accepted, and those that made an outcome worse that was met before.
fn count(desk: &Desk) -> BTreeMap<String, Counted> {
    let mut all: BTreeMap<String, Counted> = BTreeMap::new();
    let mut worse: BTreeMap<(String, u64), RegressionSeverity> = BTreeMap::new();
    for row in desk.rows() {
        match row.kind.as_str() {
            "ArtifactVersionTransitionEvent" if row.record.is("to_state", "accepted_head") => {
                let version = row.record.reference("artifact_version_ref");
                let artifact = version.and_then(|one| artifact_of(desk, one));
                if let Some(artifact) = artifact {
                    all.entry(artifact).or_default().accepted += 1;
                }
            }
            "OutcomeStateTransitionEvent" if row.record.is("to_state", "regressed") => {
                let outcome = row.record.text("outcome_id").map(|id| desk.local(id));
                let artifact = outcome.and_then(|id| {
                    let outcome = desk.task().outcome(id)?;
                    Some(desk.task().artifact_of(outcome)?.id.clone())
                });
                let result = row.record.text("result_id");
                if let Some(artifact) = artifact {
                    let version = all.entry(artifact.clone()).or_default().accepted;
                    let found = severity(desk, result);
                    let worst = worse.entry((artifact, version)).or_insert(found);
                    *worst = (*worst).max(found);
                }
            }
            _other => {}
        }
    }
    for ((artifact, _), severity) in worse {
        all.entry(artifact).or_default().worse.push(severity);
    }
    all
}

fn artifact_of(desk: &Desk, version: Reference<'_>) -> Option<String> {
    let row = desk.find::<Json>("ArtifactVersion", version.id)?;
    row.text("artifact_stable_id").map(|id| desk.local(id).to_string())
}

/// How bad it is, by the worst finding of a result.
fn severity(desk: &Desk, result: Option<&str>) -> RegressionSeverity {
    let own = finding::all(desk).into_iter().filter(|one| Some(one.event.result_id.as_str()) == result);
    match own.map(|one| one.event.severity).max() {
        Some(Severity::Blocking) => RegressionSeverity::Critical,
        Some(Severity::High) => RegressionSeverity::Major,
        Some(Severity::Medium | Severity::Low) | None => RegressionSeverity::Minor,
    }
}

/// How often a version made something worse: by artifact, and for the whole task.
pub(super) fn regressions(desk: &mut Desk) -> Result<(), Error> {
    let counted = count(desk);
    let subject = reference("Task", &desk.task().id)?;
    for one in counted.values().filter(|one| one.accepted > 0) {
        let (value_ref, receipt) = rate(desk, one.worse.len() as u64, one.accepted, Vec::new())?;
        let (_, data_class, _) = workspace::whole(desk);
        desk.put(&MetricObservation {
            observation_id: desk.id("regressions"),
            metric_id: REGRESSIONS.to_string(),
            formula_eval_receipt_ref: receipt,
            subject_ref: subject.clone(),
            observed_at: desk.now(),
            value_ref,
            data_class,
            matter_id: Some(desk.matter().to_string()),
            schema_version: V10,
        })?;
    }
    let accepted = counted.values().map(|one| one.accepted).sum();
    let worse: Vec<RegressionSeverity> = counted.values().flat_map(|one| one.worse.iter().copied()).collect();
    if accepted == 0 {
        return Ok(());
    }
    roll_up(desk, &subject, worse.len() as u64, accepted)?;
    weigh(desk, &worse, accepted)
}

/// A rate as a value of its own: the references to it and to its receipt.
fn rate(
    desk: &mut Desk,
    worse: u64,
    accepted: u64,
    input_refs: Vec<StorageRef>,
) -> Result<(StorageRef, StorageRef), Error> {
    let value_id = desk.id("rate");
    let output_ref = reference("MetricValue", &value_id)?;
    let inputs = Object::from([
        ("regression_introduced_count", worse.write().unwrap_or(Json::Null)),
        ("accepted_count", accepted.write().unwrap_or(Json::Null)),
    ]);
    let from = From { formula: REGRESSIONS, inputs, input_refs, output_ref: output_ref.clone() };
    let derived = desk.derive_whole(from)?;
    let (value, unit) = (derived.value, NumericUnit::Ratio);
    desk.open("MetricValue", &MetricValue { value_id, value, unit, schema_version: Some(V10) })?;
    Ok((output_ref, derived.receipt))
}

fn roll_up(desk: &mut Desk, subject: &StorageRef, worse: u64, accepted: u64) -> Result<(), Error> {
    let withdrawn: BTreeSet<StorageRef> =
        desk.all::<MetricObservationInvalidationEvent>().map(|one| one.observation_ref).collect();
    let (mut included, mut excluded) = (Vec::new(), Vec::new());
    for one in desk.all::<MetricObservation>() {
        if one.metric_id != REGRESSIONS || one.subject_ref != *subject {
            continue;
        }
        let observation_ref = reference("MetricObservation", &one.observation_id)?;
        if withdrawn.contains(&observation_ref) {
            excluded.push(Excluded { observation_ref, exclusion_reason: Exclusion::Invalidated });
        } else {
            included.push(observation_ref);
        }
    }
    // What was observed now lies at the end of the window, which is not in it.
    let mut window = window(desk)?;
    window.end = desk.later(1).ok_or_else(|| Error::Missing("end of the window".to_string()))?;
    let (value_ref, receipt) = rate(desk, worse, accepted, included.clone())?;
    let rollup = MetricRollup {
        rollup_id: desk.id("rollup"),
        metric_id: REGRESSIONS.to_string(),
        subject_scope_ref: subject.clone(),
        measurement_window: window,
        sample_size: included.len() as u64,
        included_observation_refs: included,
        excluded_observation_refs: excluded,
        formula_eval_receipt_ref: receipt,
        value_ref,
        confidence_interval: None,
        confidence_interval_level: None,
        created_at: desk.now(),
        schema_version: V10,
    };
    desk.open("MetricRollup", &rollup)?;
    Ok(())
}

/// What each regression weighs.
const WEIGHTS: [(RegressionSeverity, u32); 3] =
    [(RegressionSeverity::Minor, 1), (RegressionSeverity::Major, 2), (RegressionSeverity::Critical, 5)];

/// The same by how bad each was.
fn weigh(desk: &mut Desk, worse: &[RegressionSeverity], accepted: u64) -> Result<(), Error> {
    let of = |wanted: RegressionSeverity| worse.iter().filter(|one| **one == wanted).count() as u64;
    let breakdown: BTreeMap<RegressionSeverity, u64> =
        WEIGHTS.iter().map(|(severity, _)| (*severity, of(*severity))).collect();
    let weights: BTreeMap<RegressionSeverity, Number> =
        WEIGHTS.iter().map(|(severity, weight)| (*severity, Number::from(*weight))).collect();
    let id = desk.id("regression-rate");
    let output_ref = reference("SeverityWeightedRegressionRate", &id)?;
    let accepted_json = accepted.write().unwrap_or(Json::Null);
    let plain = Object::from([
        ("regression_introduced_count", (worse.len() as u64).write().unwrap_or(Json::Null)),
        ("accepted_count", accepted_json.clone()),
    ]);
    let from =
        From { formula: REGRESSIONS, inputs: plain, input_refs: Vec::new(), output_ref: output_ref.clone() };
    let unweighted = desk.derive_whole(from)?;
    let inputs = Object::from([
        ("severity_breakdown", breakdown.write().unwrap_or(Json::Null)),
        ("severity_weights", weights.write().unwrap_or(Json::Null)),
        ("accepted_count", accepted_json),
    ]);
    let formula = "severity_weighted_penalty_rate_v1";
    let penalty = desk.derive_whole(From { formula, inputs, input_refs: Vec::new(), output_ref })?;
    let number = |value: &Json| match value {
        Json::Number(number) => OrNull(Some(number.clone())),
        Json::Null | Json::Bool(_) | Json::String(_) | Json::Array(_) | Json::Object(_) => OrNull(None),
    };
    let counted =
        breakdown.iter().filter_map(|(severity, count)| Some((*severity, Number::try_from(*count).ok()?)));
    let record = SeverityWeightedRegressionRate {
        accepted_count: accepted,
        regression_introduced_count: worse.len() as u64,
        severity_breakdown: counted.collect(),
        severity_weights: weights,
        unweighted_regression_rate: number(&unweighted.value),
        severity_weighted_penalty_rate: number(&penalty.value),
        zero_denominator_policy: ZeroDenominatorPolicy::ReturnIndeterminateInsufficientData,
        formula_eval_receipt_ref: penalty.receipt,
        schema_version: V10,
    };
    desk.open_named("SeverityWeightedRegressionRate", &id, &record)?;
    Ok(())
}

/// How long the pieces of work took, where that was measured.
pub(super) fn latency(desk: &mut Desk) -> Result<(), Error> {
    let (mut values, mut input_refs) = (Vec::new(), Vec::new());
    for (_, vector) in cost::actual(desk) {
        let Some(time) = vector.components.get(&CostDimension::WallClockMs) else { continue };
        if micros(&Json::Number(time.expected.clone())).is_some() {
            values.push(Json::Number(time.expected.clone()));
            input_refs.push(reference("CostVector", &vector.cost_vector_id)?);
        }
    }
    let window = window(desk)?;
    if values.is_empty() || !has_length(&window) {
        return Ok(());
    }
    let sample_size = values.len() as u64;
    let latency_id = desk.id("latency");
    let inputs =
        Object::from([("values", Json::Array(values)), ("window", window.write().unwrap_or(Json::Null))]);
    let output_ref = reference("LatencyDistribution", &latency_id)?;
    let from = From { formula: "latency_distribution_v1", inputs, input_refs, output_ref };
    let derived = desk.derive_whole(from)?;
    let quantiles = LatencyQuantiles::read(&derived.value, &mut Reading::default());
    desk.put(&LatencyDistribution {
        latency_id,
        subject_ref: reference("Task", &desk.task().id)?,
        distribution_ms: quantiles
            .ok_or_else(|| Error::Missing("quantiles of how long it took".to_string()))?,
        sample_size,
        measurement_window: window,
        formula_eval_receipt_ref: derived.receipt,
        schema_version: Some(V10),
    })?;
    Ok(())
}
