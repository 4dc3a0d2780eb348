//! Whether confidence meant what it said, and what those who looked at the work are worth.
//! Owns: what is counted for that. Must not: say a score where there are too few cases; the formulas say that there is none.

use crate::cost::{UNIT, number};
use crate::desk::{Desk, Error, From, reference};
use crate::names::{EVALUATOR, JUDGE};
use crate::task::micros;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_govern::member::Member;
use countersign_govern::types::basic::{ProducerKind, StorageRef, SubAgentRef, UnitRange, V10};
use countersign_govern::types::calibration::{
    CalibrationMetricResult, CalibrationMetricResultIndeterminateReason as Reason, CalibrationMetricSpec,
    CalibrationMetricSpecMetricId as Metric, CalibrationMetricSpecObservedOutcomeEncoding as Encoding,
    CalibrationMetricSpecSamplePolicy as SamplePolicy,
    CalibrationMetricSpecSamplePolicyInsufficientSampleResult as Insufficient,
};
use countersign_govern::types::chain::{EvaluationChainResolutionReceipt, EvaluationResultEnvelope};
use countersign_govern::types::quality::{
    SubAgentReputationFormulaConfig, SubAgentReputationFormulaConfigConfidenceIntervalMethod as Interval,
    SubAgentReputationFormulaConfigFormulaId as Formula, SubAgentReputationFormulaConfigWeights as Weights,
    SubAgentReputationScore, SubAgentReputationScoreComponentScores as Parts,
    SubAgentReputationScoreScoreStatus as Status,
};
use countersign_govern::types::wire::{OrNull, Reading, Wire};
use countersign_record::json::{Json, Number, Object};

/// Plans that it takes to say how well they foresaw their end.
const PLANS_MIN: u64 = 30;
/// Looks that it takes to say what somebody is worth.
const LOOKS_MIN: u64 = 10;
const ONE: u32 = 1;
/// How much worse it is not to find something.
const MISSED: u32 = 2;

/// How far the confidence in plans was from what came of them.
pub(super) fn calibration(desk: &mut Desk) -> Result<(), Error> {
    let metric = Metric::PlannerConfidenceBrierScore;
    desk.put(&CalibrationMetricSpec {
        metric_id: metric,
        predicted_value_field: "plan_risk_score".to_string(),
        observed_outcome_field: "to_state".to_string(),
        observed_outcome_encoding: Encoding::BinarySuccess,
        sample_policy: SamplePolicy {
            min_sample_size: PLANS_MIN,
            insufficient_sample_result: Insufficient::Indeterminate,
        },
        binning_policy: None,
        censoring_policy: None,
        formula_ref: format!("formula_spec:{}", metric.as_str()),
        schema_version: V10,
    })?;
    let plans = plans(desk)?;
    let positive = plans.iter().filter(|one| one.came).count() as u64;
    let inputs = Object::from([
        ("predicted", Json::Array(plans.iter().map(|one| Json::Number(one.confidence.clone())).collect())),
        (
            "observed",
            Json::Array(plans.iter().map(|one| Json::Number(Number::from(u32::from(one.came)))).collect()),
        ),
        ("min_sample_size", PLANS_MIN.write().unwrap_or(Json::Null)),
    ]);
    let result_id = desk.id("calibration");
    let output_ref = reference("CalibrationMetricResult", &result_id)?;
    let input_refs = plans.iter().map(|one| one.plan_ref.clone()).collect();
    let from = From { formula: "planner_confidence_brier_score", inputs, input_refs, output_ref };
    let derived = desk.derive_member(from, "metric_value")?;
    let said = |name: &str| derived.value.get(name).filter(|one| **one != Json::Null);
    let metric_value = said("metric_value").and_then(|one| Number::read(one, &mut Reading::default()));
    let reason = said("indeterminate_reason").and_then(Json::as_str).and_then(Reason::find);
    let record = CalibrationMetricResult {
        result_id,
        metric_spec_ref: format!("calibration_metric_spec:{}", metric.as_str()),
        metric_value: OrNull(metric_value),
        indeterminate_reason: reason,
        sample_size: plans.len() as u64,
        positive_count: Some(positive),
        negative_count: Some(plans.len() as u64 - positive),
        confidence_interval: None,
        formula_eval_receipt_ref: derived.receipt,
        created_at: desk.now(),
        schema_version: V10,
    };
    desk.open("CalibrationMetricResult", &record)?;
    Ok(())
}

/// A plan that has ended: how sure it was, and whether it came to a good end.
struct Plan {
    plan_ref: StorageRef,
    confidence: Number,
    came: bool,
}

/// The plans that have ended, in order. How sure a plan was is what its risk leaves.
fn plans(desk: &Desk) -> Result<Vec<Plan>, Error> {
    let mut ends: BTreeMap<String, bool> = BTreeMap::new();
    for found in desk.each::<Json>("RevisionLifecycleTransitionEvent") {
        let (Some(plan), Some(to)) = (found.record.text("plan_id"), found.record.text("to_state")) else {
            continue;
        };
        if to.starts_with("terminal_") {
            ends.insert(plan.to_string(), to == "terminal_satisfied");
        }
    }
    let mut plans = Vec::new();
    for found in desk.each::<Json>("RevisionPlan") {
        let risk = found.record.get("plan_risk_score").and_then(micros);
        let confidence = risk.and_then(|risk| UNIT.checked_sub(risk)).map(number);
        if let (Some(came), Some(confidence)) = (ends.get(&found.id), confidence) {
            plans.push(Plan { plan_ref: reference("RevisionPlan", &found.id)?, confidence, came: *came });
        }
    }
    Ok(plans)
}

fn config() -> SubAgentReputationFormulaConfig {
    let one = || Number::from(ONE);
    SubAgentReputationFormulaConfig {
        formula_id: Formula::SubAgentReputationScoreV1,
        weights: Weights {
            hit_rate: one(),
            attribution_lift: one(),
            inverse_regression_penalty: one(),
            inverse_cost_penalty: one(),
            false_negative_penalty: one(),
            false_positive_penalty: one(),
        },
        false_negative_weight_multiplier: Number::from(MISSED),
        min_invocation_count: LOOKS_MIN,
        confidence_interval_method: Interval::Wilson,
        output_range: UnitRange,
        schema_version: V10,
    }
}

/// What those who look at the work are worth: how often the chain came to what they said.
pub(super) fn reputation(desk: &mut Desk) -> Result<(), Error> {
    let config = config();
    let config_ref = desk.put(&config)?;
    for (agent, producer) in [(EVALUATOR, ProducerKind::OutcomeEvaluator), (JUDGE, ProducerKind::Judge)] {
        let (invocations, hits) = hits(desk, producer);
        if invocations > 0 {
            worth(desk, agent, (&config, &config_ref), (invocations, hits))?;
        }
    }
    Ok(())
}

/// How often somebody spoke, and how often the chain came to the same.
fn hits(desk: &Desk, producer: ProducerKind) -> (u64, u64) {
    let results: BTreeMap<String, EvaluationResultEnvelope> =
        desk.all::<EvaluationResultEnvelope>().map(|one| (one.result_id.clone(), one)).collect();
    let (mut all, mut same) = (0, 0);
    for receipt in desk.all::<EvaluationChainResolutionReceipt>() {
        let own = receipt.result_ids_considered.iter().filter_map(|id| results.get(id));
        for decision in
            own.filter(|one| one.producer_kind == producer).filter_map(|one| one.decision.as_ref())
        {
            all += 1;
            same += u64::from(decision.verdict == receipt.resolved_verdict);
        }
    }
    (all, same)
}

fn worth(
    desk: &mut Desk,
    agent: &str,
    (config, config_ref): (&SubAgentReputationFormulaConfig, &StorageRef),
    (invocations, hits): (u64, u64),
) -> Result<(), Error> {
    let id = desk.id(&format!("worth.{agent}"));
    let output_ref = reference("SubAgentReputationScore", &id)?;
    let count = |value: u64| value.write().unwrap_or(Json::Null);
    let inputs = Object::from([
        ("invocations", count(invocations)),
        ("hits", count(hits)),
        ("weights", config.weights.write().unwrap_or(Json::Null)),
        ("false_negative_weight_multiplier", Json::Number(config.false_negative_weight_multiplier.clone())),
        ("min_invocation_count", count(config.min_invocation_count)),
    ]);
    let from = |output_ref: &StorageRef| From {
        formula: "sub_agent_reputation_score_v1",
        inputs: inputs.clone(),
        input_refs: Vec::from([config_ref.clone()]),
        output_ref: output_ref.clone(),
    };
    let scored = desk.derive_member(from(&output_ref), "current_score")?;
    let status = desk.derive_member(from(&output_ref), "score_status")?.value;
    let status = status.get("score_status").and_then(Json::as_str).and_then(Status::find);
    let mut parts = Object::new();
    let given = scored.value.get("component_scores").and_then(Json::as_object);
    for (name, part) in given.into_iter().flat_map(|all| all.iter()).filter(|(_, part)| **part != Json::Null)
    {
        parts.insert(name, part.clone());
    }
    let parts = Parts::read(&parts.into(), &mut Reading::default());
    let current = scored.value.get("current_score").filter(|one| **one != Json::Null);
    let score = SubAgentReputationScore {
        sub_agent_ref: SubAgentRef { sub_agent_id: agent.to_string(), version: "1".to_string() },
        current_score: OrNull(current.and_then(|one| Number::read(one, &mut Reading::default()))),
        score_status: status.ok_or_else(|| Error::Missing("status of a score".to_string()))?,
        component_scores: parts.ok_or_else(|| Error::Missing("parts of a score".to_string()))?,
        formula_config_ref: config_ref.clone(),
        formula_eval_receipt_ref: scored.receipt,
        sample_size: invocations,
        confidence_interval: None,
        confidence_interval_level: None,
        schema_version: V10,
    };
    desk.open_named("SubAgentReputationScore", &id, &score)?;
    Ok(())
}
