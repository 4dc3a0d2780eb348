//! What is measured: costs, rates, novelty, fit, calibration, the worth of sub-agents.
//! Owns: the inputs. Must not: compute; the formulas do.

use super::builder::{Builder, Run, hash_of};
use super::making::{Derived, Outcome, proven, receipt, register, value_of};
use serde_json::{Map, Value, json};

/// What a run was to cost and did: forecast, records, the story of both.
pub(super) fn costs(b: &mut Builder, run: &mut Run) {
    let planned: Vec<Cost> = (0..b.random.index(2..4)).map(|_| cost(b, "historical")).collect();
    let total = sum(b, run, &planned, "historical");
    let forecast = b.id("forecast");
    b.add(
        "TaskRunCostForecast",
        json!({
            "forecast_id": forecast, "task_id": run.task_id, "planned_run_id": run.run_id,
            "planned_cost_vector_ref": total, "optional_helper_cost_vector_refs": [planned[0].reference],
            "non_degradable_mode_cost_vector_refs": [planned[1].reference],
            "skipped_if_budget_constrained": ["second reader"], "forecast_confidence": "calibrated",
            "created_at": b.now(), "schema_version": "1.0"
        }),
    );
    let forecast = format!("task_run_cost_forecast:{forecast}");
    let mut records = Vec::new();
    for (at, one) in (1_u64..).zip(&planned) {
        let actual = cost(b, "measured_actual");
        let id = b.id("cost-record");
        b.add(
            "TaskCostRecord",
            json!({
                "cost_record_id": id, "task_id": run.task_id, "run_id": run.run_id, "module_id": "draft",
                "activation_seq": at, "planned_cost_vector_ref": one.reference,
                "actual_cost_vector_ref": actual.reference, "cost_class": "logical_llm_work", "created_at": b.now(),
                "schema_version": "1.0"
            }),
        );
        records.push(format!("task_cost_record:{id}"));
    }
    narrate(b, run, &forecast, &records);
}

/// A cost and what it is in each dimension.
struct Cost {
    reference: String,
    usd: u64,
    tokens: u64,
}

fn cost(b: &mut Builder, basis: &str) -> Cost {
    let (id, usd, tokens) = (b.id("cost"), b.random.within(1..20), b.random.within(1..9) * 1_000);
    let amount = |expected: u64, unit: &str| json!({"expected": expected, "p90": expected * 2, "unit": unit});
    b.add(
        "CostVector",
        json!({
            "cost_vector_id": id, "components": {"usd": amount(usd, "usd"), "input_tokens": amount(tokens, "input_tokens")},
            "basis": basis, "estimator_confidence": "calibrated", "sample_size": 40, "assumptions": [],
            "schema_version": "1.0"
        }),
    );
    Cost { reference: format!("cost_vector:{id}"), usd, tokens }
}

/// The sum of costs, as if all that is dear came together; the reference to it.
fn sum(b: &mut Builder, run: &Run, parts: &[Cost], basis: &str) -> String {
    let id = b.id("cost");
    let reference = format!("cost_vector:{id}");
    let usd: Vec<u64> = parts.iter().map(|one| one.usd).collect();
    let tokens: Vec<u64> = parts.iter().map(|one| one.tokens).collect();
    let inputs = json!({"usd": usd, "input_tokens": tokens});
    let components = value_of("cost_sum_v1", &inputs);
    let of = Derived {
        formula: "cost_sum_v1",
        inputs: inputs.clone(),
        from: parts.iter().map(|one| one.reference.clone()).collect(),
        output: reference.clone(),
    };
    let computed = receipt(b, run, &of, &components);
    b.add(
        "CostVector",
        json!({
            "cost_vector_id": id, "components": components, "basis": basis, "estimator_confidence": "calibrated",
            "assumptions": ["What is dear comes together."], "formula_eval_receipt_ref": computed,
            "correlation_policy": "assume_perfect_correlation_upper_bound", "schema_version": "1.0"
        }),
    );
    reference
}

/// What was spent against what was foreseen, under its header.
fn narrate(b: &mut Builder, run: &Run, forecast: &str, records: &[String]) {
    let (manifest, header, narrative) = (b.id("manifest"), b.id("read-model"), b.id("narrative"));
    let inputs: Vec<&str> = records.iter().map(String::as_str).chain([forecast]).collect();
    let from = b.end();
    let mut inner = json!({"manifest_id": manifest, "input_refs": inputs, "created_from_event_seq": from, "created_at": b.now()});
    inner["input_manifest_hash"] = hash_of(&inner).into();
    b.add("ReadModelInputManifest", inner);
    b.add(
        "BudgetNarrative",
        json!({
            "budget_narrative_id": narrative, "task_id": run.task_id, "run_id": run.run_id,
            "planned_forecast_ref": forecast, "actual_cost_record_refs": records,
            "forecast_vs_actual_summary": "About as foreseen.", "summary": "The drafting took the most.",
            "skipped_optional_helpers": [], "preserved_non_degradable_modes": ["source check"],
            "degraded_modes_used": [], "quality_impact_summary": "None.", "formula_eval_receipt_refs": [],
            "created_at": b.now(), "schema_version": "1.1"
        }),
    );
    b.add(
        "DerivedReadModelRecord",
        json!({
            "read_model_id": header, "read_model_kind": "BudgetNarrative",
            "input_manifest_ref": format!("read_model_input_manifest:{manifest}"),
            "derivation_policy_ref": "derivation_policy:budget", "formula_eval_receipt_refs": [],
            "valid_from_event_seq": from, "payload_ref": format!("budget_narrative:{narrative}"), "run_id": run.run_id,
            "task_id": run.task_id, "matter_id": run.matter_id, "created_at": b.now(), "schema_version": "1.0"
        }),
    );
}

/// How often revisions made something worse, seen several times and put together.
pub(super) fn rates(b: &mut Builder, run: &mut Run) {
    let start = b.now();
    let (mut observed, mut worse, mut all) = (Vec::new(), 0, 0);
    for _ in 0..b.random.index(2..5) {
        let accepted = b.random.within(2..9);
        let regressed = b.random.within(0..accepted);
        observed.push(observe(b, run, regressed, accepted));
        (worse, all) = (worse + regressed, all + accepted);
    }
    let mut excluded = Vec::new();
    if b.random.once_in(2) {
        let wrong = observe(b, run, 1, 2);
        let event = json!({
            "event_id": b.id("withdrawn"), "observation_ref": wrong, "reason": "It was counted twice.",
            "created_at": b.now()
        });
        b.add("MetricObservationInvalidationEvent", event);
        excluded.push(json!({"observation_ref": wrong, "exclusion_reason": "invalidated"}));
    }
    let (value, computed) = rate(b, run, worse, all, observed.clone());
    let rollup = json!({
        "rollup_id": b.id("rollup"), "metric_id": "regression_rate_v1", "subject_scope_ref": format!("task:{}", run.task_id),
        "measurement_window": {"start": start, "end": b.now()}, "included_observation_refs": observed,
        "excluded_observation_refs": excluded, "formula_eval_receipt_ref": computed, "sample_size": observed.len(),
        "value_ref": value, "created_at": b.now(), "schema_version": "1.0"
    });
    b.add("MetricRollup", rollup);
}

/// A rate as a value of its own: the references to it and to its receipt.
fn rate(b: &mut Builder, run: &Run, worse: u64, all: u64, from: Vec<String>) -> (String, String) {
    let id = b.id("value");
    let inputs = json!({"regression_introduced_count": worse, "accepted_count": all});
    let value = value_of("regression_rate_v1", &inputs);
    b.add_named("MetricValue", &id, json!({"value_id": id, "value": value, "unit": "ratio"}));
    let reference = format!("metric_value:{id}");
    let of = Derived { formula: "regression_rate_v1", inputs, from, output: reference.clone() };
    let computed = receipt(b, run, &of, &value);
    (reference, computed)
}

fn observe(b: &mut Builder, run: &Run, worse: u64, all: u64) -> String {
    let (value, computed) = rate(b, run, worse, all, Vec::new());
    let id = b.id("observation");
    b.add(
        "MetricObservation",
        json!({
            "observation_id": id, "metric_id": "regression_rate_v1", "formula_eval_receipt_ref": computed,
            "subject_ref": format!("task:{}", run.task_id), "observed_at": b.now(), "value_ref": value,
            "matter_id": run.matter_id, "data_class": "internal", "schema_version": "1.0"
        }),
    );
    format!("metric_observation:{id}")
}

/// How many cycles outcomes took.
pub(super) fn cycles(b: &mut Builder, run: &mut Run) {
    let start = b.now();
    let (mut seen, mut rows) = (Vec::new(), Vec::new());
    for _ in 0..b.random.index(2..4) {
        let outcome = Outcome::new(b, run, &[]);
        let class = *b.random.pick(&["succeeded", "max_iterations_reached", "cancelled_by_user"]);
        let (id, count) = (b.id("cycle"), b.random.within(1..6));
        b.add(
            "RevisionCycleOutcomeObservation",
            json!({
                "observation_id": id, "run_id": run.run_id, "outcome_id": outcome.id, "cycle_count": count,
                "terminal_class": class, "observation_window": {"start": start, "end": b.now()}, "schema_version": "1.0"
            }),
        );
        seen.push(format!("revision_cycle_outcome_observation:{id}"));
        rows.push(json!({"cycle_count": count, "terminal_class": class}));
    }
    let id = b.id("efficiency");
    let inputs = json!({"observations": rows, "window": {"start": start, "end": b.now()}});
    let value = value_of("cycle_efficiency_v1", &inputs);
    let output = format!("revision_cycle_efficiency_rollup:{id}");
    let of = Derived { formula: "cycle_efficiency_v1", inputs, from: seen.clone(), output };
    let mut rollup = json!({
        "rollup_id": id, "measurement_window": {"start": start, "end": b.now()}, "included_observation_refs": seen,
        "schema_version": "1.0"
    });
    for (name, part) in value.as_object().into_iter().flatten().filter(|(_, part)| part.is_number()) {
        rollup["formula_eval_receipt_ref"] = receipt(b, run, &of, part).into();
        rollup[name] = part.clone();
    }
    b.add("RevisionCycleEfficiencyRollup", rollup);
}

/// How new a task is.
pub(super) fn novelty(b: &mut Builder, run: &mut Run) {
    let spec = json!({
        "metric_id": "novelty", "feature_vector_definition_ref": "feature_vector_definition:tasks",
        "distance_metric": "jaccard", "distance_range": [0, 1], "no_pattern_fallback": "novelty_one",
        "calibration_dataset_ref": "dataset:tasks", "threshold_default": 0.5, "metric_semantics_version": "1.0.0",
        "schema_version": "1.0"
    });
    b.share_once("NoveltyMetricSpec", "novelty", spec);
    for _ in 0..b.random.index(1..3) {
        let has_pattern = !b.random.once_in(3);
        let distance = b.random.within(0..10) as f64 / 10.0;
        let mut inputs = json!({"no_pattern_fallback": "novelty_one", "threshold": 0.5});
        if has_pattern {
            inputs["closest_pattern_distance"] = distance.into();
        }
        let value = value_of("novelty_v1", &inputs);
        let (id, signature) = (b.id("novelty"), b.some_hash());
        let mut record = json!({
            "input_signature_hash": signature, "metric_spec_ref": "novelty_metric_spec:novelty",
            "metric_semantics_version": "1.0.0", "novelty_score": value["novelty_score"],
            "forces_fresh_reasoning": value["forces_fresh_reasoning"],
            "triggers_task_agent": value["triggers_task_agent"], "schema_version": "1.1"
        });
        let kind = if has_pattern {
            record["neighbor_state"] = "nearest_pattern_found".into();
            record["closest_pattern_id"] = "lease-review".into();
            record["closest_pattern_distance"] = distance.into();
            record["similarity_score"] = value["similarity_score"].clone();
            "NoveltyAssessmentWithNeighbor"
        } else {
            record["neighbor_state"] = "no_pattern_found".into();
            record["no_pattern_fallback_applied"] = "novelty_one".into();
            "NoveltyAssessmentNoNeighbor"
        };
        let output = format!("{}:{id}", countersign_govern::reference::snake(kind));
        let of = Derived { formula: "novelty_v1", inputs, from: Vec::new(), output };
        let members = ["forces_fresh_reasoning", "triggers_task_agent"].map(|member| &value[member]);
        proven(b, run, kind, record, &of, &members);
    }
}

const PARTS: [&str; 9] = [
    "semantic_intent_match",
    "task_type_match",
    "input_contract_match",
    "output_contract_match",
    "capability_availability_match",
    "entity_context_match",
    "user_preference_match",
    "prior_assessment_score",
    "recency_or_staleness_score",
];

/// How well a template fits.
pub(super) fn template(b: &mut Builder, run: &mut Run) {
    let weights: Map<String, Value> = PARTS.iter().map(|part| ((*part).to_owned(), json!(1))).collect();
    let formula = json!({
        "formula_id": "template_match_score_v1", "component_weights": weights, "hard_veto_cap": 0.25,
        "soft_penalty_max_total": 0.5, "schema_version": "1.0"
    });
    b.share_once("TemplateMatchFormula", "template_match_score_v1", formula.clone());
    let mut score = || json!(b.random.within(0..11) as f64 / 10.0);
    let components: Map<String, Value> = PARTS.iter().map(|part| ((*part).to_owned(), score())).collect();
    let (penalty, vetoes) = (b.random.within(0..5) as f64 / 10.0, b.random.within(0..2));
    let inputs = json!({
        "components": components, "weights": weights, "soft_penalty_sum": penalty, "hard_veto_count": vetoes,
        "formula": formula
    });
    let value = value_of("template_match_score_v1", &inputs);
    let id = b.id("fit");
    b.add(
        "TemplateMatchEvaluation",
        json!({
            "evaluation_id": id, "formula_ref": "template_match_formula:template_match_score_v1",
            "components": components, "weights": weights, "soft_penalty_sum": penalty, "hard_veto_count": vetoes,
            "overall_score": value, "created_at": b.now()
        }),
    );
    let output = format!("template_match_evaluation:{id}");
    let from = vec!["template_match_formula:template_match_score_v1".to_owned()];
    receipt(b, run, &Derived { formula: "template_match_score_v1", inputs, from, output }, &value);
}

/// Whether the scores mean what they say.
pub(super) fn calibrate(b: &mut Builder, run: &mut Run) {
    let metric = *b.random.pick(&["novelty_threshold_auc", "planner_confidence_brier_score"]);
    register(b, metric);
    b.share_once(
        "CalibrationMetricSpec",
        metric,
        json!({
            "metric_id": metric, "predicted_value_field": "confidence", "observed_outcome_field": "succeeded",
            "observed_outcome_encoding": "binary_success",
            "sample_policy": {"min_sample_size": 5, "insufficient_sample_result": "indeterminate"},
            "formula_ref": metric, "schema_version": "1.0"
        }),
    );
    let count = b.random.index(3..12);
    let predicted: Vec<f64> = (0..count).map(|_| b.random.within(0..101) as f64 / 100.0).collect();
    let observed: Vec<u64> = (0..count).map(|_| b.random.within(0..2)).collect();
    let positive = observed.iter().sum::<u64>();
    let inputs = json!({"predicted": predicted, "observed": observed, "min_sample_size": 5});
    let value = value_of(metric, &inputs);
    let id = b.id("calibration");
    let output = format!("calibration_metric_result:{id}");
    let computed = receipt(
        b,
        run,
        &Derived { formula: metric, inputs, from: Vec::new(), output },
        &value["metric_value"],
    );
    let mut result = json!({
        "result_id": id, "metric_spec_ref": format!("calibration_metric_spec:{metric}"),
        "metric_value": value["metric_value"], "sample_size": count, "positive_count": positive,
        "negative_count": count as u64 - positive, "formula_eval_receipt_ref": computed, "created_at": b.now(),
        "schema_version": "1.0"
    });
    if !value["indeterminate_reason"].is_null() {
        result["indeterminate_reason"] = value["indeterminate_reason"].clone();
    }
    b.add("CalibrationMetricResult", result);
}

/// Where sub-agents may work, and what one was worth.
pub(super) fn reputation(b: &mut Builder, run: &mut Run) {
    let fallback = |point: &str| json!({"coordination_point": point, "on_no_sub_agent": "use_primary_module", "schema_version": "1.0"});
    b.share_once(
        "SubAgentCoordinationProfile",
        "readers",
        json!({
            "profile_id": "readers", "allowed_coordination_points": ["evaluation", "plan_verifier"],
            "output_contract_refs": ["output_contract:reading"],
            "fallback_policies": [fallback("evaluation"), fallback("plan_verifier")], "schema_version": "1.0"
        }),
    );
    let weights = json!({
        "hit_rate": 1, "attribution_lift": 1, "inverse_regression_penalty": 1, "inverse_cost_penalty": 1,
        "false_negative_penalty": 1, "false_positive_penalty": 1
    });
    let config = "sub_agent_reputation_score_v1";
    b.share_once(
        "SubAgentReputationFormulaConfig",
        config,
        json!({
            "formula_id": config, "weights": weights, "false_negative_weight_multiplier": 2, "min_invocation_count": 10,
            "confidence_interval_method": "wilson", "output_range": [0, 1], "schema_version": "1.0"
        }),
    );
    let (invocations, agent) = (b.random.within(4..30), b.id("reader"));
    let hits = b.random.within(0..invocations + 1);
    let inputs = json!({
        "invocations": invocations, "hits": hits, "weights": weights, "false_negative_weight_multiplier": 2,
        "min_invocation_count": 10
    });
    let value = value_of(config, &inputs);
    let interval =
        value_of("wilson_interval_v1", &json!({"hits": hits, "trials": invocations, "level": 0.95}));
    let output = format!("sub_agent_reputation_score:{agent}");
    let of = Derived {
        formula: config,
        inputs,
        from: vec![format!("sub_agent_reputation_formula_config:{config}")],
        output,
    };
    let computed = receipt(b, run, &of, &value["current_score"]);
    let parts = value["component_scores"].as_object().into_iter().flatten();
    let parts: Map<String, Value> =
        parts.filter(|(_, part)| !part.is_null()).map(|(name, part)| (name.clone(), part.clone())).collect();
    let record = json!({
        "sub_agent_ref": {"sub_agent_id": agent, "version": "1"}, "current_score": value["current_score"],
        "score_status": value["score_status"], "component_scores": parts, "confidence_interval": interval,
        "confidence_interval_level": 0.95,
        "formula_config_ref": format!("sub_agent_reputation_formula_config:{config}"),
        "formula_eval_receipt_ref": computed, "sample_size": invocations, "schema_version": "1.0"
    });
    proven(b, run, "SubAgentReputationScore", record, &of, &[&value["score_status"]]);
}
