//! Every formula has what the contract asks for, and every vector holds.

use super::super::spec::{Below, IntervalMethod};
use super::super::{Evaluated, evaluate};
use super::*;
use countersign_record::json::{self, Json};
use std::collections::BTreeSet;
use std::{format, string::String, vec::Vec};

/// What a vector gives: the value and the codes, or the code by which it was refused.
fn found(spec: &Spec, inputs: &Json) -> (Json, Vec<&'static str>) {
    let ready = spec.read().unwrap_or_else(|error| panic!("{}: {error}", spec.id));
    match evaluate(&ready, inputs.as_object().unwrap()) {
        Ok(evaluated) => (evaluated.value, evaluated.codes),
        Err(refused) => (Json::from(format!("{refused}")), refused.code().into_iter().collect()),
    }
}

/// What the vectors of a formula give that are not refused.
fn evaluated(spec: &Spec) -> Vec<Evaluated> {
    let ready = spec.read().unwrap();
    let inputs = spec.vectors.iter().map(|vector| json::parse(vector.inputs.as_bytes()).unwrap());
    inputs.filter_map(|inputs| evaluate(&ready, inputs.as_object().unwrap()).ok()).collect()
}

fn is_near(one: &Json, other: &Json) -> bool {
    match (one, other) {
        (Json::Number(one), Json::Number(other)) => (one.as_f64() - other.as_f64()).abs() < 1e-9,
        (Json::Array(one), Json::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| is_near(one, other))
        }
        (Json::Object(one), Json::Object(other)) => {
            let same =
                |(name, value): (&str, &Json)| other.get(name).is_some_and(|other| is_near(value, other));
            one.len() == other.len() && one.iter().all(same)
        }
        (one, other) => one == other,
    }
}

#[test]
fn every_vector_holds() {
    let mut wrong: Vec<String> = Vec::new();
    for spec in all() {
        for vector in spec.vectors {
            let read =
                |text: &str| json::parse(text.as_bytes()).unwrap_or_else(|_| panic!("{} {text}", spec.id));
            let (value, codes) = found(spec, &read(vector.inputs));
            let is_refused = !codes.is_empty();
            if codes != vector.codes || !(is_refused || is_near(&value, &read(vector.expected))) {
                wrong.push(format!(
                    "{} {}: {} {codes:?}",
                    spec.id,
                    vector.name,
                    json::to_text(&value).unwrap()
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_formula_is_complete() {
    let mut ids = BTreeSet::new();
    for spec in all() {
        assert!(ids.insert(spec.id), "{} is there twice", spec.id);
        assert!(!spec.vectors.is_empty() && !spec.purpose.is_empty(), "{}", spec.id);
        let record = spec.record().unwrap_or_else(|| panic!("{}", spec.id));
        let shows_missing = record
            .test_vectors
            .iter()
            .any(|vector| vector.missing_input_policy_applied == Some(spec.missing));
        assert!(shows_missing, "{} has no vector for a missing input", spec.id);
        let shows_zero =
            record.test_vectors.iter().any(|vector| vector.zero_denominator_policy_applied == spec.zero);
        assert!(shows_zero, "{} has no vector for a zero", spec.id);
        assert_eq!(record.sample_policy.is_some(), spec.sample.is_some(), "{}", spec.id);
        assert_eq!(record.confidence_interval_policy.is_some(), spec.interval.is_some(), "{}", spec.id);
    }
}

/// Those that the contract names have a formula each.
#[test]
fn what_is_derived_has_a_formula() {
    let named = "criterion_weights_v1 template_match_score_v1 quality_index_v1 claim_support_v1 \
        concurrency_tie_break_v1 regression_rate_v1 severity_weighted_penalty_rate_v1 \
        sub_agent_reputation_score_v1 cycle_efficiency_v1 planner_confidence_brier_score \
        planner_confidence_expected_calibration_error novelty_threshold_auc confidence_convergence_spearman \
        novelty_threshold_precision_recall wilson_interval_v1 bootstrap_mean_interval_v1 beta_interval_v1 \
        novelty_v1 cost_vector_sum_v1 latency_distribution_v1 taint_join_v1 sufficiency_route_v1 \
        pattern_c_resolution_v1 reliance_status_v1 health_status_v1 improvement_v1 pattern_distance_v1 \
        nearest_pattern_v1 source_taint_v1 workspace_holding_v1";
    for id in named.split_whitespace() {
        assert!(find(id).is_some(), "{id}");
    }
}

#[test]
fn samples_are_counted_and_too_few_are_told() {
    for spec in all() {
        let Some(sample) = spec.sample else { continue };
        let all = evaluated(spec);
        let counted: Vec<bool> = all.iter().filter_map(|one| one.sample).map(|one| one.is_enough()).collect();
        assert!(counted.contains(&true) && counted.contains(&false), "{} shows one side only", spec.id);
        let by_input = sample.least.map(|name| spec.inputs.iter().find(|input| input.name == name).unwrap());
        let default = by_input.map(|input| input.default.unwrap());
        assert!(default.is_none_or(|default| default == format!("{}", sample.min)), "{}", spec.id);
        let window = spec.inputs.iter().find(|input| input.name == "window");
        assert!(!sample.window_required || window.is_some_and(|window| window.is_required), "{}", spec.id);
        for one in all {
            let Some(sampled) = one.sample else { continue };
            let flag = one.value.as_object().and_then(|value| value.get("low_confidence").cloned());
            match sample.below {
                Below::LowConfidence if one.value != Json::Null => {
                    assert_eq!(flag, Some(Json::Bool(!sampled.is_enough())), "{}", spec.id);
                }
                Below::LowConfidence | Below::Indeterminate(_) => assert_eq!(flag, None, "{}", spec.id),
            }
            assert!(sampled.is_enough() || one.interval.is_none(), "{} is sure of too little", spec.id);
        }
    }
}

#[test]
fn intervals_are_found_as_their_policy_says() {
    for spec in all() {
        let Some(interval) = spec.interval else { continue };
        let called = match interval.method {
            IntervalMethod::Wilson => "wilson(",
            IntervalMethod::Bootstrap => "bootstrap_",
            IntervalMethod::NormalApproximation => "normal_interval(",
            IntervalMethod::BayesianBeta => "beta_interval(",
            IntervalMethod::NotApplicable => panic!("{} has an interval that does not apply", spec.id),
        };
        assert!(spec.text().contains(called), "{} does not call {called}", spec.id);
        let all = evaluated(spec);
        assert!(all.iter().any(|one| one.interval.is_some()), "{} has no vector with an interval", spec.id);
        for one in all {
            assert!(!interval.required || one.interval.is_some() || one.value == Json::Null, "{}", spec.id);
            let inside = one.value.as_object().and_then(|value| value.get("confidence_interval").cloned());
            let ends = one.interval.map(|bounds| {
                assert!(bounds.low <= bounds.high && bounds.level < 1.0, "{}", spec.id);
                json::parse(format!("[{},{}]", bounds.low, bounds.high).as_bytes()).unwrap()
            });
            if let (Some(inside), Some(ends)) = (&inside, &ends) {
                assert!(is_near(inside, ends), "{}", spec.id);
            }
            assert!(inside.is_none() || ends.is_some(), "{}", spec.id);
        }
    }
}

/// A value that is asked for at another level says that level.
#[test]
fn an_interval_says_its_level() {
    let ready = find("wilson_interval_v1").unwrap().read().unwrap();
    let inputs = json::parse(br#"{"hits":8,"trials":10,"level":0.8}"#).unwrap();
    let bounds = evaluate(&ready, inputs.as_object().unwrap()).unwrap().interval.unwrap();
    assert_eq!((bounds.low, bounds.high, bounds.level), (0.601596, 0.913763, 0.8));
}

/// Inputs that are not what they must be are refused by name.
#[test]
fn inputs_have_a_shape_and_values_a_range() {
    let refused = |id: &str, inputs: &str| {
        let ready = find(id).unwrap().read().unwrap();
        let inputs = json::parse(inputs.as_bytes()).unwrap();
        format!("{}", evaluate(&ready, inputs.as_object().unwrap()).unwrap_err())
    };
    let cases = [
        ("wilson_interval_v1", r#"{"hits":1.5,"trials":2}"#, "the input hits must be count"),
        ("wilson_interval_v1", r#"{"hits":"many","trials":2}"#, "the input hits must be count"),
        ("latency_distribution_v1", r#"{"values":["a"],"window":{}}"#, "the input values/0 must be number"),
        ("taint_join_v1", r#"{"inputs":"x"}"#, "the input inputs must be list_of_TaintClass"),
        (
            "taint_join_v1",
            r#"{"inputs":["x"]}"#,
            "the input inputs/0 must be internal_corpus_trusted | user_trusted_bounded | external_authority_trusted | external_untrusted | unclassified",
        ),
        ("taint_join_v1", r#"{"inputs":[],"more":1}"#, "the input more is not known here"),
        (
            "reliance_status_v1",
            r#"{"limitations":[],"evidence_packages":1,"failed_chains":0,"live_blockers":-1}"#,
            "the input live_blockers must be count",
        ),
    ];
    for (id, inputs, expected) in cases {
        assert_eq!(refused(id, inputs), expected, "{id}");
    }
}

/// However many parts a mean has, it reaches the threshold that each of them reaches.
#[test]
fn a_mean_of_very_many_is_what_each_is() {
    let ready = ready("quality_index_v1").unwrap().unwrap();
    for (count, score) in [(60_000, "0.3"), (10_000, "0.7"), (7, "0.1")] {
        let one = |at: usize| {
            format!(r#"{{"criterion_id":"c{at}","weight":0.1,"required":false,"score":{score}}}"#)
        };
        let dimensions: Vec<String> = (0..count).map(one).collect();
        let inputs = format!(
            r#"{{"dimensions":[{}],"aggregation_method":"weighted_mean","missing_dimension_policy":"fail_required","pass_threshold":{score}}}"#,
            dimensions.join(",")
        );
        let inputs = json::parse(inputs.as_bytes()).unwrap();
        let value = evaluate(ready, inputs.as_object().unwrap()).unwrap().value;
        assert_eq!(
            value.get("derived_pass_status"),
            Some(&Json::from("passed")),
            "{count} {score} {value:?}"
        );
    }
}
