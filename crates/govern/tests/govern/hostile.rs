//! Every registered formula with inputs that can't be: it refuses them by a code and a place, or its value and its receipt say what
//! happened. Nothing is chosen by hand but what no shape can tell: inputs that do not go together.

mod places;

use countersign_govern::formula::input::{Input, Shape};
use countersign_govern::formula::spec::{Ready, Spec};
use countersign_govern::formula::{Evaluated, NotEvaluated, Published, evaluate, publish, registry, verify};
use countersign_govern::types::basic::{Instant, StorageRef};
use countersign_govern::types::formula::FormulaEvaluationReceiptFiniteNumberCheck as Check;
use countersign_record::code::Code;
use countersign_record::json::{self, Json, Object};
use places::{Place, all, at, places, removed, replaced, with_member};
use proptest::prelude::*;
use std::collections::BTreeSet;

/// Values that are wrong in most places: of another kind, beyond every range, nearly nothing, nothing.
const HOSTILE: [&str; 27] = [
    "null",
    "true",
    "-1",
    "-0.0",
    "0",
    "0.5",
    "1.5",
    "2",
    "1e300",
    "-1e300",
    "1e308",
    "5e-324",
    "1e999",
    "9007199254740993",
    "0.1234567890123456789",
    "\"NaN\"",
    "\"Infinity\"",
    "\"-Infinity\"",
    "\"\"",
    "\"no_such_word\"",
    "\"0.5\"",
    "[]",
    "[null]",
    "[\"\"]",
    "{}",
    "{\"\":0}",
    "[[]]",
];

/// The legal examples of a formula.
fn legal(spec: &Spec) -> Vec<Json> {
    let ready = spec.read().unwrap();
    let inputs = spec.vectors.iter().map(|vector| json::parse(vector.inputs.as_bytes()).unwrap());
    inputs.filter(|inputs| evaluate(&ready, inputs.as_object().unwrap()).is_ok()).collect()
}

fn published() -> Published {
    Published {
        receipt_id: "r1".into(),
        producer_ref: "countersign:test".into(),
        input_refs: Vec::new(),
        output_ref: StorageRef::try_from("metric_value:v").unwrap(),
        at: Instant::try_from("2026-03-02T08:00:00Z").unwrap(),
        task_id: None,
        run_id: None,
    }
}

/// What holds for whatever inputs. What is wrong is told with the formula and the inputs.
fn law(ready: &Ready, inputs: &Json) -> Result<(), String> {
    let id = ready.spec.id;
    let inputs = inputs.as_object().unwrap();
    let said = |what: &str| Err(format!("{id}: {what}: {}", json::to_text(inputs).unwrap()));
    match evaluate(ready, inputs) {
        Err(refused) => match (is_told(&ready.spec, inputs, &refused), &refused) {
            (true, NotEvaluated::Missing { .. } | NotEvaluated::Input(_) | NotEvaluated::ZeroDenominator) => {
                Ok(())
            }
            (_, refused) => said(&format!("refused as {refused:?}")),
        },
        Ok(evaluated) => match is_accounted_for(ready, inputs, &evaluated) {
            Some(what) => said(&format!("{what} in {evaluated:?}")),
            None => Ok(()),
        },
    }
}

/// A refusal has a code, and a place that is in the inputs or that they lack.
fn is_told(spec: &Spec, inputs: &Object, refused: &NotEvaluated) -> bool {
    let trouble = refused.trouble();
    let codes = [
        Code::FieldMissing,
        Code::FieldUnknown,
        Code::FieldWrongType,
        Code::FieldInvalid,
        Code::FieldConflict,
        Code::NumberInexact,
    ];
    let first = trouble.path.strip_prefix('/').and_then(|path| path.split('/').next());
    let is_known = |name: &str| spec.inputs.iter().any(|input| input.name == name);
    let is_unknown = trouble.code == Code::FieldUnknown && !inputs.is_empty();
    codes.contains(&trouble.code)
        && !trouble.message.is_empty()
        && first.is_some_and(|name| is_known(name) || is_unknown)
}

/// What a value or its receipt does not account for.
fn is_accounted_for(ready: &Ready, inputs: &Object, evaluated: &Evaluated) -> Option<String> {
    let spec = &ready.spec;
    let receipt = match publish(ready, inputs, evaluated, published()) {
        Ok(receipt) => receipt,
        Err(error) => return Some(format!("no receipt, {error}")),
    };
    if verify(ready, inputs, &receipt) != Ok(Vec::new()) {
        return Some("another receipt the second time".to_owned());
    }
    if receipt.finite_number_check != Check::Passed || !receipt.validation_codes.is_empty() {
        return Some("a number that is none".to_owned());
    }
    for input in spec.inputs {
        let is_there = inputs.get(input.name).is_some_and(|value| *value != Json::Null);
        if !is_there && !receipt.omitted_input_names.iter().any(|name| name == input.name) {
            return Some(format!("no word of {}, which is missing,", input.name));
        }
    }
    if evaluated.value != Json::Null {
        return outside(spec.gives.unwrap(), spec.range, &evaluated.value);
    }
    let is_few = evaluated.sample.is_some_and(|sample| !sample.is_enough());
    let has_reason = receipt.zero_denominator_policy_applied.is_some()
        || receipt.missing_input_policy_applied == Some(spec.missing)
        || is_few;
    (!has_reason).then(|| "nothing, and no reason for it,".to_owned())
}

/// What of a value is not what a formula says that it gives: numbers out of their range, words that are none.
fn outside(gives: Shape, range: Option<(f64, f64)>, value: &Json) -> Option<String> {
    let wrong = || Some(format!("{} is not {}", json::to_text(value).unwrap(), gives.text()));
    let member = |input: &Input, value: &Json| {
        let own = input.range.map(|range| (range.low, range.high));
        outside(input.shape, own.or(range), value)
    };
    match (gives, value) {
        (Shape::Number | Shape::Count, Json::Number(number)) => {
            let (low, high) = range.unwrap_or((f64::MIN, f64::MAX));
            if (low..=high).contains(&number.as_f64()) { None } else { wrong() }
        }
        (Shape::Numbers, Json::Array(items)) => {
            items.iter().find_map(|item| outside(Shape::Number, range, item))
        }
        (Shape::Truth, Json::Bool(_)) | (Shape::Text, Json::String(_)) => None,
        (Shape::Word(words), Json::String(word)) => {
            if words.words.contains(&word.as_str()) {
                None
            } else {
                wrong()
            }
        }
        (Shape::List(item), Json::Array(items)) => items.iter().find_map(|one| member(item, one)),
        (Shape::Map(_, item), Json::Object(members)) => members.iter().find_map(|(_, one)| member(item, one)),
        (Shape::Record(record), Json::Object(members)) => members.iter().find_map(|(name, one)| {
            let declared = record.members.iter().find(|input| input.name == name);
            match (declared, one) {
                (None, _) => wrong(),
                (Some(input), Json::Null) if !input.is_required => None,
                (Some(input), one) => member(input, one),
            }
        }),
        _ => wrong(),
    }
}

#[test]
fn whatever_is_put_anywhere_is_refused_or_accounted_for() {
    let hostile: Vec<Json> = HOSTILE.iter().map(|text| json::parse(text.as_bytes()).unwrap()).collect();
    let mut wrong = Vec::new();
    let mut count = 0;
    for spec in registry::all() {
        let ready = spec.read().unwrap();
        for inputs in legal(spec) {
            for place in all(&inputs) {
                let values = hostile.iter().map(|value| replaced(&inputs, &place, value));
                let others = [removed(&inputs, &place), with_member(&inputs, &place)].into_iter().flatten();
                for changed in values.chain(others) {
                    count += 1;
                    wrong.extend(law(&ready, &changed).err());
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(count > 20_000, "{count}");
}

/// What a place's shape does not let in is refused there, whatever the formula.
#[test]
fn what_a_shape_does_not_let_in_is_refused_at_its_place() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for spec in registry::all() {
        let ready = spec.read().unwrap();
        for inputs in legal(spec) {
            for Place { path, shape, range, .. } in places(spec, &inputs) {
                for text in unfit(shape, range) {
                    let changed = replaced(&inputs, &path, &json::parse(text.as_bytes()).unwrap());
                    let found = evaluate(&ready, changed.as_object().unwrap());
                    let is_there = |refused: &NotEvaluated| {
                        let pointer: String = path.iter().map(|name| format!("/{name}")).collect();
                        refused.trouble().path.starts_with(&pointer)
                    };
                    count += 1;
                    if !found.as_ref().is_err_and(is_there) {
                        wrong.push(format!("{} {path:?} {text}: {found:?}", spec.id));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(count > 3_000, "{count}");
}

/// Values that are not of a shape.
fn unfit(shape: Shape, range: Option<(f64, f64)>) -> Vec<String> {
    let fixed: &[&str] = match shape {
        Shape::Number => &["true", "\"x\"", "[]", "{}", "\"0.5\""],
        Shape::Count => &["-1", "1.5", "1e300", "\"3\"", "\"NaN\"", "true", "[]"],
        Shape::Among(_) => &["0.123", "-1", "\"NaN\"", "\"0.95\"", "true", "[]"],
        Shape::Truth => &["\"true\"", "1", "[]"],
        Shape::Text => &["\"\"", "\" \"", "3", "true", "[]", "{}"],
        Shape::Time => &["\"\"", "\"yesterday\"", "\"2026-02-30T00:00:00Z\"", "5"],
        Shape::Version => &["\"\"", "\"latest\"", "\"1.x\"", "2"],
        Shape::Word(_) => &["\"no_such_word\"", "\"\"", "1", "[]"],
        Shape::Record(_) | Shape::Map(..) => &["[]", "\"x\"", "5", "{\"no_such_member\":1}"],
        Shape::Numbers | Shape::List(_) => &["{}", "\"x\"", "5", "[null]", "[[]]", "[true]"],
    };
    let ranged = range.into_iter().flat_map(|(low, high)| {
        let beyond = [low - 1.0, high * 2.0 + 1.0].into_iter().filter(|number| number.is_finite());
        let numbers = beyond.map(|number| json::to_text(&places::number(number)).unwrap());
        numbers.chain(["\"NaN\"", "\"-Infinity\"", "1e999"].map(str::to_owned))
    });
    let is_number = matches!(shape, Shape::Number | Shape::Count | Shape::Among(_));
    fixed.iter().map(|text| (*text).to_owned()).chain(ranged.filter(|_| is_number)).collect()
}

/// Inputs that do not go together: the formula, the inputs, where it is told, and the contract's code if it has one.
#[rustfmt::skip] // one to a line
const APART: &[(&str, &str, &str, Option<&str>)] = &[
    ("wilson_interval_v1", r#"{"hits":5,"trials":3}"#, "/hits", None),
    ("beta_interval_v1", r#"{"hits":5,"trials":3}"#, "/hits", None),
    ("normal_interval_v1", r#"{"hits":5,"trials":3}"#, "/hits", None),
    ("bootstrap_mean_interval_v1", r#"{"values":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21],"seed":1,"draws":1000000}"#, "/draws", None),
    ("latency_distribution_v1", r#"{"values":[5,6],"window":{"start":"2026-03-02T08:00:00Z","end":"2026-03-02T08:00:00Z"}}"#, "/window", None),
    ("met_share_v1", r#"{"met":4,"wanted":3}"#, "/met", None),
    ("regression_rate_v1", r#"{"regression_introduced_count":9,"accepted_count":8}"#, "/regression_introduced_count", None),
    ("severity_weighted_penalty_rate_v1", r#"{"severity_breakdown":{"minor":5,"major":4,"critical":0},"accepted_count":8}"#, "/severity_breakdown", None),
    ("severity_weighted_penalty_rate_v1", r#"{"severity_breakdown":{"minor":5,"major":0,"critical":0},"accepted_count":8,"regression_introduced_count":4}"#, "/regression_introduced_count", None),
    ("sub_agent_reputation_score_v1", r#"{"invocations":20,"hits":21}"#, "/hits", None),
    ("sub_agent_reputation_score_v1", r#"{"invocations":20,"hits":2,"mean_cost":1}"#, "/cohort_median_cost", None),
    ("sub_agent_reputation_score_v1", r#"{"invocations":2000000000,"hits":2,"confidence_interval_method":"bayesian_beta"}"#, "/confidence_interval_method", None),
    ("cycle_efficiency_v1", r#"{"observations":[],"window":{"start":"2026-03-03T08:00:00Z","end":"2026-03-02T08:00:00Z"}}"#, "/window", None),
    ("cycle_efficiency_v1", r#"{"observations":[{"observation_id":"a","cycle_count":1,"terminal_class":"succeeded"},{"observation_id":"a","cycle_count":1,"terminal_class":"succeeded"}],"window":{"start":"2026-03-02T08:00:00Z","end":"2026-03-03T08:00:00Z"}}"#, "/observations", None),
    ("planner_confidence_brier_score", r#"{"predicted":[0.5],"observed":[]}"#, "/observed", None),
    ("planner_confidence_brier_score", r#"{"predicted":[0.5,0.5,0.5,0.5,0.5,0.5,0.5,0.5,0.5,0.5,0.5,0.5,0.5,0.5,0.5,0.5,0.5,0.5,0.5,0.5,0.5],"observed":[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1],"draws":1000000}"#, "/draws", None),
    ("planner_confidence_expected_calibration_error", r#"{"predicted":[0.5],"observed":[]}"#, "/observed", None),
    ("planner_confidence_expected_calibration_error", r#"{"predicted":[0.5],"observed":[1],"draws":1000000,"bin_count":10000}"#, "/draws", None),
    ("novelty_threshold_auc", r#"{"predicted":[0.5],"observed":[1,0]}"#, "/observed", None),
    ("novelty_threshold_precision_recall", r#"{"predicted":[0.5],"observed":[1,0],"threshold":0.5}"#, "/observed", None),
    ("confidence_convergence_spearman", r#"{"predicted":[0.5],"observed":[1,0]}"#, "/observed", None),
    ("pattern_c_resolution_v1", r#"{"results":[],"missing":"nobody"}"#, "/results", None),
    ("pattern_c_resolution_v1", r#"{"results":[{"role":"observer","verdict":"passed","other_snapshot":false,"live_blocker_states":[]}],"missing":"nobody"}"#, "/results", None),
    ("quality_index_v1", r#"{"dimensions":[],"aggregation_method":"all_or_nothing","missing_dimension_policy":"fail_required","pass_threshold":0}"#, "/dimensions", Some("no_aggregation_eligible_criteria")),
    ("quality_index_v1", r#"{"dimensions":[{"criterion_id":"a","weight":1,"required":false,"score":1},{"criterion_id":"a","weight":1,"required":false,"score":0}],"aggregation_method":"weighted_mean","missing_dimension_policy":"fail_required","pass_threshold":0}"#, "/dimensions", Some("criterion_weight_invalid")),
    ("quality_index_v1", r#"{"dimensions":[{"criterion_id":"a","weight":0,"required":false,"score":1}],"aggregation_method":"weighted_mean","missing_dimension_policy":"fail_required","pass_threshold":0}"#, "/dimensions", Some("criterion_weight_sum_zero")),
    ("quality_index_v1", r#"{"dimensions":[{"criterion_id":"a","weight":-1,"required":false,"score":1}],"aggregation_method":"weighted_mean","missing_dimension_policy":"fail_required","pass_threshold":0}"#, "/dimensions/0/weight", Some("criterion_weight_invalid")),
    ("quality_index_v1", r#"{"dimensions":[{"criterion_id":"a","weight":1,"required":false,"score":"NaN"}],"aggregation_method":"weighted_mean","missing_dimension_policy":"fail_required","pass_threshold":0}"#, "/dimensions/0/score", Some("quality_index_score_out_of_range")),
    ("criterion_weights_v1", r#"{"criteria":[{"criterion_id":"a","scoring_basis":"human_label","weight":"Infinity"}],"config":{"unanchored_llm_judgment_policy":"exclude","default_weight_policy":"from_criterion_weight"}}"#, "/criteria/0", Some("criterion_weight_invalid")),
    ("criterion_weights_v1", r#"{"criteria":[{"criterion_id":"a","scoring_basis":"human_label","weight":1},{"criterion_id":"a","scoring_basis":"human_label","weight":1}],"config":{"unanchored_llm_judgment_policy":"exclude","default_weight_policy":"from_criterion_weight"}}"#, "/criteria/1", Some("criterion_weight_invalid")),
    ("template_match_score_v1", r#"{"components":{"semantic_intent_match":0,"task_type_match":1,"input_contract_match":0,"output_contract_match":0,"capability_availability_match":0,"entity_context_match":0,"user_preference_match":0,"prior_assessment_score":0,"recency_or_staleness_score":0},"weights":{"task_type_match":1},"soft_penalty_sum":0,"hard_veto_count":0,"formula":{"component_weights":{"semantic_intent_match":0,"task_type_match":1,"input_contract_match":0,"output_contract_match":0,"capability_availability_match":0,"entity_context_match":0,"user_preference_match":0,"prior_assessment_score":0,"recency_or_staleness_score":0},"hard_veto_cap":0.5,"soft_penalty_max_total":0.5}}"#, "/weights/capability_availability_match", Some("template_match_weight_invalid")),
    ("template_match_score_v1", r#"{"components":{"semantic_intent_match":0,"task_type_match":1,"input_contract_match":0,"output_contract_match":0,"capability_availability_match":0,"entity_context_match":0,"user_preference_match":0,"prior_assessment_score":0,"recency_or_staleness_score":0},"weights":{"semantic_intent_match":0,"task_type_match":1,"input_contract_match":0,"output_contract_match":0,"capability_availability_match":0,"entity_context_match":0,"user_preference_match":0,"prior_assessment_score":0,"recency_or_staleness_score":0},"soft_penalty_sum":0,"hard_veto_count":0,"formula":{"component_weights":{"task_type_match":1},"hard_veto_cap":0.5,"soft_penalty_max_total":0.5}}"#, "/formula/component_weights/semantic_intent_match", None),
    ("template_match_score_v1", r#"{"components":{"semantic_intent_match":0,"task_type_match":1,"input_contract_match":0,"output_contract_match":0,"capability_availability_match":0,"entity_context_match":0,"user_preference_match":0,"prior_assessment_score":0,"recency_or_staleness_score":0},"weights":{"semantic_intent_match":0,"task_type_match":1,"input_contract_match":0,"output_contract_match":0,"capability_availability_match":0,"entity_context_match":0,"user_preference_match":0,"prior_assessment_score":0,"recency_or_staleness_score":0},"soft_penalty_sum":0.6,"hard_veto_count":0,"formula":{"component_weights":{"semantic_intent_match":0,"task_type_match":1,"input_contract_match":0,"output_contract_match":0,"capability_availability_match":0,"entity_context_match":0,"user_preference_match":0,"prior_assessment_score":0,"recency_or_staleness_score":0},"hard_veto_cap":0.5,"soft_penalty_max_total":0.5}}"#, "/soft_penalty_sum", Some("template_match_soft_penalty_invalid")),
    ("template_match_score_v1", r#"{"components":{"semantic_intent_match":0,"task_type_match":1,"input_contract_match":0,"output_contract_match":0,"capability_availability_match":0,"entity_context_match":0,"user_preference_match":0,"prior_assessment_score":0,"recency_or_staleness_score":0},"weights":{"semantic_intent_match":0,"task_type_match":1,"input_contract_match":0,"output_contract_match":0,"capability_availability_match":0,"entity_context_match":0,"user_preference_match":0,"prior_assessment_score":0,"recency_or_staleness_score":0},"soft_penalty_sum":0,"hard_veto_count":0,"formula":{"component_weights":{"semantic_intent_match":0,"task_type_match":1,"input_contract_match":0,"output_contract_match":0,"capability_availability_match":0,"entity_context_match":0,"user_preference_match":0,"prior_assessment_score":0,"recency_or_staleness_score":0},"hard_veto_cap":"NaN","soft_penalty_max_total":0.5}}"#, "/formula/hard_veto_cap", Some("template_match_hard_veto_cap_invalid")),
    ("pattern_c_resolution_v1", r#"{"results":[{"result_id":"r","role":"upstream_evaluator","verdict":"passed","other_snapshot":false,"live_blocker_states":[]},{"result_id":"r","role":"downstream_judge","verdict":"passed","other_snapshot":false,"live_blocker_states":[]}],"missing":"nobody"}"#, "/results", None),
    ("workspace_holding_v1", r#"{"holdings":[{"taint_class":"unclassified","data_class":"public","privileged":false,"matter_id":"m1"},{"taint_class":"unclassified","data_class":"public","privileged":false,"matter_id":"m2"}]}"#, "/holdings", None),
    ("sub_agent_reputation_score_v1", r#"{"invocations":20,"hits":15,"false_negatives":3}"#, "/true_positives", None),
    ("sub_agent_reputation_score_v1", r#"{"invocations":20,"hits":15,"false_positives":3}"#, "/true_negatives", None),
    ("pattern_distance_v1", r#"{"distance_metric":"cosine_distance"}"#, "/vector", Some("novelty_metric_space_undefined")),
    ("pattern_distance_v1", r#"{"distance_metric":"cosine_distance","vector":[1],"other_vector":[1,2]}"#, "/other_vector", Some("novelty_metric_space_undefined")),
    ("pattern_distance_v1", r#"{"distance_metric":"cosine_distance","vector":[0],"other_vector":[1]}"#, "/vector", Some("novelty_metric_space_undefined")),
    ("pattern_distance_v1", r#"{"distance_metric":"jaccard","features":["a"]}"#, "/features", Some("novelty_metric_space_undefined")),
    ("pattern_distance_v1", r#"{"distance_metric":"jaccard","features":["a","a"],"other_features":[]}"#, "/features", None),
    ("pattern_distance_v1", r#"{"distance_metric":"jaccard","features":[],"other_features":["a","a"]}"#, "/other_features", None),
    ("pattern_distance_v1", r#"{"distance_metric":"hybrid"}"#, "/parts", Some("novelty_metric_space_undefined")),
    ("pattern_distance_v1", r#"{"distance_metric":"hybrid","parts":[{"share":0.5,"distance":0.5}]}"#, "/parts", Some("novelty_metric_space_undefined")),
    ("nearest_pattern_v1", r#"{"patterns":[{"pattern_id":"a","distance":0.1},{"pattern_id":"a","distance":0.2}]}"#, "/patterns", None),
    ("novelty_v1", r#"{"no_pattern_fallback":"use_domain_baseline","threshold":0.5}"#, "/domain_baseline", None),
    ("concurrency_tie_break_v1", r#"{"profiles":[{"plan_id":"a","outcome_priority":1,"plan_risk_score":0.9,"estimated_lock_duration_ms":1,"deterministic_final_key":"a"},{"plan_id":"a","outcome_priority":1,"plan_risk_score":0.9,"estimated_lock_duration_ms":1,"deterministic_final_key":"b"}]}"#, "/profiles", None),
    ("concurrency_tie_break_v1", r#"{"profiles":[{"plan_id":"a","outcome_priority":1,"plan_risk_score":0.9,"estimated_lock_duration_ms":1,"deterministic_final_key":"k"},{"plan_id":"b","outcome_priority":1,"plan_risk_score":0.9,"estimated_lock_duration_ms":1,"deterministic_final_key":"k"}]}"#, "/profiles", Some("concurrency_tie_breaker_missing_final_key")),
    ("health_status_v1", r#"{"outcome_states":[],"live_blockers":0,"open_hard_calls":0,"attention_priorities":[],"limitations":[]}"#, "/outcome_states", None),
    ("concurrency_tie_break_v1", r#"{"profiles":[{"plan_id":"a","outcome_priority":1,"plan_risk_score":0.9,"estimated_lock_duration_ms":1}]}"#, "/profiles", Some("concurrency_tie_breaker_missing_final_key")),
    ("cost_vector_sum_v1", r#"{"vectors":[]}"#, "/vectors", None),
    ("cost_vector_sum_v1", r#"{"vectors":[{"components":{"usd":{"expected":1,"hard_cap":1e16}},"basis":"heuristic","estimator_confidence":"experimental"}]}"#, "/vectors/0/components/usd/hard_cap", None),
    ("cost_vector_sum_v1", r#"{"vectors":[{"components":{"usd":{"expected":-1}},"basis":"heuristic","estimator_confidence":"experimental"}]}"#, "/vectors/0/components/usd/expected", Some("cost_vector_negative_component")),
    ("cost_vector_sum_v1", r#"{"vectors":[{"components":{"usd":{"expected":1,"p50":3,"p90":2}},"basis":"heuristic","estimator_confidence":"experimental"}]}"#, "/vectors", None),
    ("cost_vector_sum_v1", r#"{"vectors":[{"components":{"usd":{"expected":3,"hard_cap":2}},"basis":"heuristic","estimator_confidence":"experimental"}]}"#, "/vectors", None),
    ("cost_vector_sum_v1", r#"{"vectors":[{"components":{"usd":{"expected":1e300}},"basis":"heuristic","estimator_confidence":"experimental"}]}"#, "/vectors/0/components/usd/expected", None),
    ("cost_vector_sum_v1", r#"{"vectors":[{"components":{"usd":{"expected":-1}},"basis":"heuristic","estimator_confidence":"experimental"}]}"#, "/vectors/0/components/usd/expected", Some("cost_vector_negative_component")),
    ("cost_vector_sum_v1", r#"{"vectors":[{"components":{"usd":{"expected":1,"unit":"storage_bytes"}},"basis":"heuristic","estimator_confidence":"experimental"}]}"#, "/vectors/0/components/usd", Some("cost_vector_unit_mismatch")),
    ("cost_vector_sum_v1", r#"{"vectors":[{"components":{"usd":{"expected":1}},"basis":"heuristic","estimator_confidence":"experimental"}],"samples":[]}"#, "/samples", None),
    ("cost_vector_sum_v1", r#"{"vectors":[{"components":{"usd":{"expected":1}},"basis":"heuristic","estimator_confidence":"experimental"}],"correlation_policy":"empirical_joint_distribution"}"#, "/samples", None),
    ("cost_vector_sum_v1", r#"{"vectors":[{"components":{"usd":{"expected":1}},"basis":"heuristic","estimator_confidence":"experimental"},{"components":{"usd":{"expected":1}},"basis":"heuristic","estimator_confidence":"experimental"}],"correlation_policy":"empirical_joint_distribution","samples":[{"usd":[1]},{"usd":[1,2]}]}"#, "/samples", None),
];

#[test]
fn what_does_not_go_together_is_refused_at_its_place() {
    let mut broken = BTreeSet::new();
    for (id, inputs, path, code) in APART {
        let ready = registry::ready(id).unwrap().unwrap();
        let document = json::parse(inputs.as_bytes()).unwrap();
        let refused = evaluate(ready, document.as_object().unwrap()).expect_err(inputs);
        assert_eq!((refused.trouble().path.as_str(), refused.code()), (*path, *code), "{id} {inputs}");
        broken.insert((*id, refused.to_string()));
    }
    for spec in registry::all() {
        for requirement in spec.requires {
            // Metrics share what they require.
            let message = format!("the input {} must be so that {}", requirement.at, requirement.holds);
            let is_shared = requirement.at == "draws" && spec.id != "planner_confidence_brier_score";
            let is_broken = broken.contains(&(spec.id, message.clone()));
            assert!(is_broken || is_shared, "{} has no example that breaks: {message}", spec.id);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3_000))]

    /// Several things wrong at once, anywhere.
    #[test]
    fn whatever_is_put_everywhere_is_refused_or_accounted_for(
        (formula, vector) in (any::<prop::sample::Index>(), any::<prop::sample::Index>()),
        changes in prop::collection::vec((any::<prop::sample::Index>(), 0..HOSTILE.len()), 1..5),
    ) {
        let specs: Vec<&Spec> = registry::all().collect();
        let spec = specs[formula.index(specs.len())];
        let legal = legal(spec);
        let mut inputs = legal[vector.index(legal.len())].clone();
        for (place, value) in changes {
            let all = all(&inputs);
            if let Some(place) = all.get(place.index(all.len().max(1))) {
                inputs = replaced(&inputs, place, &json::parse(HOSTILE[value].as_bytes()).unwrap());
            }
        }
        prop_assert_eq!(law(registry::ready(spec.id).unwrap().unwrap(), &inputs), Ok(()));
    }
}

/// What the walk through shapes finds is what stands there.
#[test]
fn every_input_of_every_example_has_a_shape() {
    for spec in registry::all() {
        for inputs in legal(spec) {
            let shaped: BTreeSet<Vec<String>> =
                places(spec, &inputs).into_iter().map(|place| place.path).collect();
            for path in all(&inputs) {
                assert!(shaped.contains(&path), "{} {path:?} {:?}", spec.id, at(&inputs, &path));
            }
        }
    }
}
