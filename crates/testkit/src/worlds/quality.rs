//! How good the work is, in one number.
//! Owns: these scenes. Must not: make up a score that no formula gives.

use super::builder::{Builder, Run};
use super::formula::{From, json_of, plain, registered};
use countersign_record::json::Json;
use serde_json::{Value, json};

/// Weighs the criteria of an outcome, scores them, and puts the scores together.
pub(super) fn index(b: &mut Builder, run: &mut Run) {
    let outcome = b.random.pick(&run.known.outcomes).clone();
    let config = record(b, "OutcomeComplianceScoringConfig", "config_id", &outcome.config_id);
    let criteria: Vec<Value> =
        outcome.criteria.iter().map(|id| record(b, "Criterion", "criterion_id", id)).collect();
    let refs: Vec<String> = outcome.criteria.iter().map(|id| format!("criterion:{id}")).collect();
    let config_ref = format!("outcome_compliance_scoring_config:{}", outcome.config_id);
    let from = From {
        inputs: json!({"criteria": criteria, "config": config}),
        input_refs: &refs,
        output_ref: config_ref.clone(),
    };
    let weights = b.derive(run, &registered("criterion_weights_v1"), from, Clone::clone);
    let weights = plain(&weights.value);
    let dimensions: Vec<Value> = criteria
        .iter()
        .map(|one| {
            let score = b.random.within(0..11) as f64 / 10.0;
            let id = one["criterion_id"].as_str().unwrap_or_default();
            json!({"criterion_id": id, "weight": weights[id], "required": one["required"],
                "threshold": one["threshold"], "score": score})
        })
        .collect();
    let method = *b.random.pick(&["all_required_then_weighted_mean", "weighted_mean", "min_required_score"]);
    let inputs = json!({"dimensions": dimensions, "aggregation_method": method,
        "missing_dimension_policy": "fail_required", "pass_threshold": 0.6});
    let id = b.id("quality");
    let output_ref = format!("quality_index:{id}");
    let mut index = json!({});
    let mut input_refs = refs;
    input_refs.push(config_ref);
    let from = From { inputs, input_refs: &input_refs, output_ref };
    let derived = b.derive(run, &registered("quality_index_v1"), from, |value| {
        index = whole(value, method);
        json_of(&index)
    });
    index["formula_eval_receipt_ref"] = json!(derived.receipt_ref);
    b.add_named("QualityIndex", &id, index);
}

/// The index without the receipt, which can be named only afterwards.
fn whole(value: &Json, method: &str) -> Value {
    let mut index = plain(value);
    index["aggregation_method"] = json!(method);
    index["missing_dimension_policy"] = json!("fail_required");
    index["metric_semantics_version"] = json!("1.0.0");
    index["schema_version"] = json!("1.1");
    index
}

/// The last row of a type that a member names.
fn record(b: &Builder, kind: &str, member: &str, id: &str) -> Value {
    let is_own = |row: &super::Written| {
        row.draft.kind == kind && row.draft.record.get(member).and_then(Json::as_str) == Some(id)
    };
    plain(&b.own().rfind(|(_, row)| is_own(row)).expect("a row").1.draft.record)
}
