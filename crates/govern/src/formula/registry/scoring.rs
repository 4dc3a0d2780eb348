//! Formulas: scores that the contract derives, and the order of plans.
//! Owns: their texts. Must not: compute.

use super::{flag, many};
use crate::derive::quality;
use crate::formula::input::{ANY, COUNT_MAX, item, part_of, record, word, words_of};
use crate::formula::spec::{Shape, Spec, may, needs, refused, requires, requires_or, vector};
use crate::types::basic::{
    Criterion, CriterionPriority, OutcomeComplianceScoringConfig, ScoringBasis, UnanchoredPolicy,
    WeightPolicy,
};
use crate::types::concurrency::RevisionPlanConcurrencyProfile;
use crate::types::formula::{FormulaSpecRoundingPolicy, MetricValueKind, NumericUnit};
use crate::types::template::{TemplateMatchComponent, TemplateMatchFormula};

/// Numbers by component. What may be wrong with one has codes of its own, in an order that the contract gives.
const BY_COMPONENT: Shape = Shape::Map(words_of!(TemplateMatchComponent), &item(Shape::Number));

/// A formula says of every component what it counts for.
const EVERY_COMPONENT: Shape = record(&[
    needs("semantic_intent_match", Shape::Number, ""),
    needs("task_type_match", Shape::Number, ""),
    needs("input_contract_match", Shape::Number, ""),
    needs("output_contract_match", Shape::Number, ""),
    needs("capability_availability_match", Shape::Number, ""),
    needs("entity_context_match", Shape::Number, ""),
    needs("user_preference_match", Shape::Number, ""),
    needs("prior_assessment_score", Shape::Number, ""),
    needs("recency_or_staleness_score", Shape::Number, ""),
]);

const OUT_OF_RANGE: &str = "quality_index_score_out_of_range";

pub(super) const FORMULAS: &[Spec] = &[
    Spec {
        id: "quality_index_v1",
        version: "1.9.0",
        purpose: "One score for a piece of work, and whether it is enough.",
        expression: "let missing = count(where(dimensions, 'score', nothing));
let is_open = missing > 0 and missing_dimension_policy == 'indeterminate';
# What is required and missing fails, and so does what is below its threshold where the method has gates.
let gate_failures = [for one in dimensions
  if one.required and (if present(one.score)
    then aggregation_method == 'all_required_then_weighted_mean' and present(one.threshold) and one.score < one.threshold
    else missing_dimension_policy != 'indeterminate'):
  one.criterion_id];
# What counts, and as what: a missing score is 0 where its weight stays, or is left out.
let counted = [for one in dimensions
  if present(one.score) or missing_dimension_policy == 'exclude_optional_with_penalty'
    or missing_dimension_policy == 'fail_required' and one.required:
  {score: or_else(one.score, 0), weight: one.weight, threshold: or_else(one.threshold, 0), required: one.required}];
let required = column(where(counted, 'required', true), 'score');
let weights = lifted(column(counted, 'weight'));
let weight = total(weights);
let weighted = total([for one, nth in counted: at(weights, nth) * one.score]);
let aggregate =
  if count(counted) == 0 and not is_open then
    refuse('no_aggregation_eligible_criteria', ['dimensions'], 'has none that counts')
  else if aggregation_method == 'all_or_nothing' then
    (if count(counted) > 0 and count([for one in counted if one.score < one.threshold: one]) == 0 then 1 else 0)
  else if aggregation_method == 'min_required_score' and count(required) > 0 then least(required)
  else if not is_zero(weight) then clamp(weighted / weight, 0, 1)
  else if is_open then 0
  else refuse('criterion_weight_sum_zero', ['dimensions'], 'has none that weighs something');
{aggregate_score: aggregate, pass_threshold: pass_threshold, required_gate_failures: gate_failures,
 derived_pass_status:
  if count(gate_failures) > 0 then 'failed_required_gate'
  else if is_open then 'indeterminate'
  # A few units in the last place are no difference: a mean can be that much below what it is.
  else if aggregate * 1.000000000000001 >= pass_threshold then 'passed'
  else 'failed_threshold'}",
        inputs: &[
            needs(
                "dimensions",
                Shape::List(&item(record(&[
                    needs("criterion_id", Shape::Text, ""),
                    needs("weight", Shape::Number, "").within_or(0.0, COUNT_MAX, "criterion_weight_invalid"),
                    needs("required", Shape::Truth, ""),
                    may("threshold", Shape::Number, "").within_or(0.0, 1.0, OUT_OF_RANGE),
                    may("score", Shape::Number, "").within_or(0.0, 1.0, OUT_OF_RANGE),
                ]))),
                "the criteria, what they weigh and how they were scored",
            ),
            needs("aggregation_method", word!(quality::Method), "how scores become one"),
            needs("missing_dimension_policy", word!(quality::Missing), "what a missing score means"),
            needs("pass_threshold", Shape::Number, "what is enough").within_or(0.0, 1.0, OUT_OF_RANGE),
        ],
        requires: &[
            requires_or("dimensions", "count(dimensions) > 0", "no_aggregation_eligible_criteria"),
            requires_or(
                "dimensions",
                "distinct(column(dimensions, 'criterion_id'))",
                "criterion_weight_invalid",
            ),
        ],
        omits: Some("column(where(dimensions, 'score', nothing), 'criterion_id')"),
        range: Some((0.0, 1.0)),
        gives: Some(record(&[
            needs("aggregate_score", Shape::Number, ""),
            needs("pass_threshold", Shape::Number, ""),
            needs("required_gate_failures", Shape::List(&item(Shape::Text)), ""),
            needs("derived_pass_status", word!(quality::Status), ""),
        ])),
        vectors: &[
            vector(
                "two_criteria",
                r#"{"dimensions":[{"criterion_id":"a","weight":0.25,"required":true,"threshold":0.5,"score":1},{"criterion_id":"b","weight":0.75,"required":false,"score":0.6}],"aggregation_method":"all_required_then_weighted_mean","missing_dimension_policy":"fail_required","pass_threshold":0.7}"#,
                r#"{"aggregate_score":0.7,"pass_threshold":0.7,"required_gate_failures":[],"derived_pass_status":"passed"}"#,
            ),
            vector(
                "weights_of_almost_nothing",
                r#"{"dimensions":[{"criterion_id":"a","weight":5e-324,"required":false,"score":0.5},{"criterion_id":"b","weight":5e-324,"required":false,"score":0.7}],"aggregation_method":"weighted_mean","missing_dimension_policy":"fail_required","pass_threshold":0.6}"#,
                r#"{"aggregate_score":0.6,"pass_threshold":0.6,"required_gate_failures":[],"derived_pass_status":"passed"}"#,
            ),
            vector(
                "a_hair_below",
                r#"{"dimensions":[{"criterion_id":"a","weight":1,"required":false,"score":0.69999999999995}],"aggregation_method":"weighted_mean","missing_dimension_policy":"fail_required","pass_threshold":0.7}"#,
                r#"{"aggregate_score":0.7,"pass_threshold":0.7,"required_gate_failures":[],"derived_pass_status":"failed_threshold"}"#,
            ),
            vector(
                "missing_threshold",
                r#"{"dimensions":[],"aggregation_method":"weighted_mean","missing_dimension_policy":"fail_required"}"#,
                "\"the input pass_threshold is missing\"",
            ),
            vector(
                "nobody_says_whether_it_is_required",
                r#"{"dimensions":[{"criterion_id":"a","weight":1}],"aggregation_method":"weighted_mean","missing_dimension_policy":"fail_required","pass_threshold":0.7}"#,
                "\"the input dimensions/0/required is missing\"",
            ),
            vector(
                "nothing_scored_leaves_it_open",
                r#"{"dimensions":[{"criterion_id":"a","weight":1,"required":false}],"aggregation_method":"all_or_nothing","missing_dimension_policy":"indeterminate","pass_threshold":0.7}"#,
                r#"{"aggregate_score":0,"pass_threshold":0.7,"required_gate_failures":[],"derived_pass_status":"indeterminate"}"#,
            ),
            refused(
                "nothing_scored",
                r#"{"dimensions":[{"criterion_id":"a","weight":1,"required":false}],"aggregation_method":"all_or_nothing","missing_dimension_policy":"fail_required","pass_threshold":0.7}"#,
                &["no_aggregation_eligible_criteria"],
            ),
            refused(
                "more_than_all",
                r#"{"dimensions":[{"criterion_id":"a","weight":1,"required":false,"score":1.5}],"aggregation_method":"weighted_mean","missing_dimension_policy":"fail_required","pass_threshold":0.7}"#,
                &[OUT_OF_RANGE],
            ),
        ],
        // What is compared with the threshold is what is published.
        rounding: FormulaSpecRoundingPolicy::NoRoundingStoreFullPrecision,
        ..Spec::PLAIN
    },
    Spec {
        id: "criterion_weights_v1",
        version: "1.6.0",
        purpose: "What each criterion counts for; all together one.",
        expression: "let unanchored = [for one, place in criteria if one.scoring_basis == 'unanchored_llm_judgment': place];
let counted = [for one, place in criteria
  if config.unanchored_llm_judgment_policy != 'exclude' or one.scoring_basis != 'unanchored_llm_judgment':
  {id: one.criterion_id, place: place, weight: one.weight, priority: or_else(one.priority, 'should_have')}];
let stands_again = again(column(counted, 'id'));
let from = config.default_weight_policy;
let raw =
  # 1. What only a model judges is refused, dropped or kept.
  if config.unanchored_llm_judgment_policy == 'indeterminate' and count(unanchored) > 0 then
    refuse('unanchored_required_criterion_indeterminate', ['criteria', first(unanchored)],
      'is judged by a model without anything to hold on to')
  # 2. Something must be left.
  else if count(counted) == 0 then refuse('no_aggregation_eligible_criteria', ['criteria'], 'has none that counts')
  # 3. The weight of each, in their order.
  else [for one, nth in counted:
    (let weight = if from == 'from_criterion_weight' then one.weight
      else if from == 'from_priority' then at(config.priority_weight_map, one.priority)
      else 1;
    if not present(weight) and from == 'from_criterion_weight' then
      refuse('criterion_weight_missing_under_from_criterion_weight', ['criteria', one.place], 'has no weight of its own')
    else if not present(weight) then
      refuse('criterion_priority_weight_missing', ['criteria', one.place], 'has a priority that nobody gave a weight')
    else if not is_number(weight) or weight < 0 or at(stands_again, nth) then
      refuse('criterion_weight_invalid', ['criteria', one.place],
        'stands twice, or weighs what is no number from zero up')
    else weight)];
# 4. Together they must weigh something.
let lifted_raw = lifted(raw);
let whole = total(lifted_raw);
if not is_number(whole) or is_zero(whole) then
  refuse('criterion_weight_sum_zero', ['criteria'], 'weigh nothing together, or more than a number holds')
# 5. The part of each.
else by_name(column(counted, 'id'), [for weight in lifted_raw: weight / whole])",
        inputs: &[
            needs(
                "criteria",
                Shape::List(&item(part_of!(
                    Criterion,
                    &[
                        needs("criterion_id", Shape::Text, ""),
                        needs("scoring_basis", word!(ScoringBasis), ""),
                        may("weight", Shape::Number, ""),
                        may("priority", word!(CriterionPriority), ""),
                    ]
                ))),
                "the criteria",
            ),
            needs(
                "config",
                part_of!(
                    OutcomeComplianceScoringConfig,
                    &[
                        needs("unanchored_llm_judgment_policy", word!(UnanchoredPolicy), ""),
                        needs("default_weight_policy", word!(WeightPolicy), ""),
                        may(
                            "priority_weight_map",
                            Shape::Map(words_of!(CriterionPriority), &item(Shape::Number)),
                            "",
                        ),
                    ]
                ),
                "how they are weighed",
            ),
        ],
        value_kind: MetricValueKind::Distribution,
        unit: NumericUnit::Ratio,
        range: Some((0.0, 1.0)),
        // Rounded weights would not sum to one.
        rounding: FormulaSpecRoundingPolicy::NoRoundingStoreFullPrecision,
        gives: Some(Shape::Map(ANY, &item(Shape::Number))),
        vectors: &[
            vector(
                "one_and_three",
                r#"{"criteria":[{"criterion_id":"a","scoring_basis":"deterministic_check","weight":1},{"criterion_id":"b","scoring_basis":"human_label","weight":3}],"config":{"unanchored_llm_judgment_policy":"exclude","default_weight_policy":"from_criterion_weight"}}"#,
                r#"{"a":0.25,"b":0.75}"#,
            ),
            vector(
                "three_alike",
                r#"{"criteria":[{"criterion_id":"a","scoring_basis":"human_label"},{"criterion_id":"b","scoring_basis":"human_label"},{"criterion_id":"c","scoring_basis":"human_label"}],"config":{"unanchored_llm_judgment_policy":"exclude","default_weight_policy":"uniform"}}"#,
                r#"{"a":0.3333333333333333,"b":0.3333333333333333,"c":0.3333333333333333}"#,
            ),
            vector(
                "almost_nothing_each",
                r#"{"criteria":[{"criterion_id":"a","scoring_basis":"human_label","weight":5e-324},{"criterion_id":"b","scoring_basis":"human_label","weight":1.5e-323}],"config":{"unanchored_llm_judgment_policy":"exclude","default_weight_policy":"from_criterion_weight"}}"#,
                r#"{"a":0.25,"b":0.75}"#,
            ),
            refused(
                "nothing_to_weigh",
                r#"{"criteria":[],"config":{"unanchored_llm_judgment_policy":"exclude","default_weight_policy":"uniform"}}"#,
                &["no_aggregation_eligible_criteria"],
            ),
            vector("missing_config", r#"{"criteria":[]}"#, "\"the input config is missing\""),
        ],
        ..Spec::PLAIN
    },
    Spec {
        id: "template_match_score_v1",
        version: "1.6.0",
        purpose: "How well a template fits.",
        expression: "let parts = [for part in names(formula.component_weights):
  (let score = at(components, part);
  let weight = at(weights, part);
  if not is_number(score) or score < 0 or score > 1 then
    refuse('template_match_component_out_of_range', ['components', part], 'must be a number from 0 to 1')
  else if not is_number(weight) or weight < 0 then
    refuse('template_match_weight_invalid', ['weights', part],
      'must be a number from zero up')
  else {weight: weight, score: score})];
let lifted_weights = lifted(column(parts, 'weight'));
let whole = sum(lifted_weights);
let most = formula.soft_penalty_max_total;
let cap = formula.hard_veto_cap;
if not is_number(whole) or is_zero(whole) then
  refuse('template_match_total_weight_zero', ['weights'], 'weigh nothing together')
else if not is_number(soft_penalty_sum) or soft_penalty_sum < 0
  or not is_number(most) or most < 0 or most > 1 or soft_penalty_sum > most then
  refuse('template_match_soft_penalty_invalid', ['soft_penalty_sum'],
    'must be from 0 to soft_penalty_max_total, which is from 0 to 1')
else if not is_number(cap) or cap < 0 or cap > 1 then
  refuse('template_match_hard_veto_cap_invalid', ['formula', 'hard_veto_cap'], 'must be a number from 0 to 1')
else
  (let normalized = sum([for part, nth in parts: part.score * at(lifted_weights, nth)]) / whole;
  let penalized = clamp(normalized - soft_penalty_sum, 0, 1);
  if hard_veto_count > 0 then min(penalized, cap) else penalized)",
        inputs: &[
            needs("components", BY_COMPONENT, "a score for each part"),
            needs("weights", BY_COMPONENT, "a weight for each part"),
            needs("soft_penalty_sum", Shape::Number, "what is taken off"),
            many("hard_veto_count", "how many vetoes"),
            needs(
                "formula",
                part_of!(
                    TemplateMatchFormula,
                    &[
                        needs("component_weights", EVERY_COMPONENT, ""),
                        needs("hard_veto_cap", Shape::Number, ""),
                        needs("soft_penalty_max_total", Shape::Number, ""),
                    ]
                ),
                "which parts there are, and what a veto and penalties come to",
            ),
        ],
        gives: Some(Shape::Number),
        value_kind: MetricValueKind::CalibratedScore,
        unit: NumericUnit::Score01,
        range: Some((0.0, 1.0)),
        vectors: &[
            vector(
                "vetoed",
                r#"{"components":{"semantic_intent_match":0,"task_type_match":1,"input_contract_match":0,"output_contract_match":0,"capability_availability_match":0,"entity_context_match":0,"user_preference_match":0,"prior_assessment_score":0,"recency_or_staleness_score":0},"weights":{"semantic_intent_match":0,"task_type_match":2,"input_contract_match":0,"output_contract_match":0,"capability_availability_match":0,"entity_context_match":0,"user_preference_match":0,"prior_assessment_score":0,"recency_or_staleness_score":0},"soft_penalty_sum":0,"hard_veto_count":1,"formula":{"component_weights":{"semantic_intent_match":0,"task_type_match":2,"input_contract_match":0,"output_contract_match":0,"capability_availability_match":0,"entity_context_match":0,"user_preference_match":0,"prior_assessment_score":0,"recency_or_staleness_score":0},"hard_veto_cap":0.3,"soft_penalty_max_total":0.5}}"#,
                "0.3",
            ),
            vector(
                "weights_of_almost_nothing",
                r#"{"components":{"semantic_intent_match":0.2,"task_type_match":1,"input_contract_match":0,"output_contract_match":0,"capability_availability_match":0,"entity_context_match":0,"user_preference_match":0,"prior_assessment_score":0,"recency_or_staleness_score":0},"weights":{"semantic_intent_match":5e-324,"task_type_match":5e-324,"input_contract_match":0,"output_contract_match":0,"capability_availability_match":0,"entity_context_match":0,"user_preference_match":0,"prior_assessment_score":0,"recency_or_staleness_score":0},"soft_penalty_sum":0,"hard_veto_count":0,"formula":{"component_weights":{"semantic_intent_match":5e-324,"task_type_match":5e-324,"input_contract_match":0,"output_contract_match":0,"capability_availability_match":0,"entity_context_match":0,"user_preference_match":0,"prior_assessment_score":0,"recency_or_staleness_score":0},"hard_veto_cap":0.3,"soft_penalty_max_total":0.5}}"#,
                "0.6",
            ),
            refused(
                "no_score",
                r#"{"components":{"semantic_intent_match":0,"task_type_match":"NaN","input_contract_match":0,"output_contract_match":0,"capability_availability_match":0,"entity_context_match":0,"user_preference_match":0,"prior_assessment_score":0,"recency_or_staleness_score":0},"weights":{"semantic_intent_match":0,"task_type_match":2,"input_contract_match":0,"output_contract_match":0,"capability_availability_match":0,"entity_context_match":0,"user_preference_match":0,"prior_assessment_score":0,"recency_or_staleness_score":0},"soft_penalty_sum":0,"hard_veto_count":0,"formula":{"component_weights":{"semantic_intent_match":0,"task_type_match":2,"input_contract_match":0,"output_contract_match":0,"capability_availability_match":0,"entity_context_match":0,"user_preference_match":0,"prior_assessment_score":0,"recency_or_staleness_score":0},"hard_veto_cap":0.3,"soft_penalty_max_total":0.5}}"#,
                &["template_match_component_out_of_range"],
            ),
            refused(
                "a_component_is_missing",
                r#"{"components":{"task_type_match":1},"weights":{"semantic_intent_match":0,"task_type_match":2,"input_contract_match":0,"output_contract_match":0,"capability_availability_match":0,"entity_context_match":0,"user_preference_match":0,"prior_assessment_score":0,"recency_or_staleness_score":0},"soft_penalty_sum":0,"hard_veto_count":0,"formula":{"component_weights":{"semantic_intent_match":0,"task_type_match":2,"input_contract_match":0,"output_contract_match":0,"capability_availability_match":0,"entity_context_match":0,"user_preference_match":0,"prior_assessment_score":0,"recency_or_staleness_score":0},"hard_veto_cap":0.3,"soft_penalty_max_total":0.5}}"#,
                &["template_match_component_out_of_range"],
            ),
            vector(
                "a_formula_of_one_component",
                r#"{"components":{"task_type_match":1},"weights":{"task_type_match":2},"soft_penalty_sum":0,"hard_veto_count":0,"formula":{"component_weights":{"task_type_match":2},"hard_veto_cap":0.3,"soft_penalty_max_total":0.5}}"#,
                "\"the input formula/component_weights/semantic_intent_match is missing\"",
            ),
            vector(
                "nobody_counted_vetoes",
                r#"{"components":{"task_type_match":1},"weights":{"task_type_match":2},"soft_penalty_sum":0,"formula":{"component_weights":{"semantic_intent_match":0,"task_type_match":2,"input_contract_match":0,"output_contract_match":0,"capability_availability_match":0,"entity_context_match":0,"user_preference_match":0,"prior_assessment_score":0,"recency_or_staleness_score":0},"hard_veto_cap":0.3,"soft_penalty_max_total":0.5}}"#,
                "\"the input hard_veto_count is missing\"",
            ),
            vector(
                "missing_formula",
                r#"{"components":{},"weights":{},"soft_penalty_sum":0,"hard_veto_count":0}"#,
                "\"the input formula is missing\"",
            ),
        ],
        ..Spec::PLAIN
    },
    Spec {
        id: "concurrency_tie_break_v1",
        version: "1.2.0",
        purpose: "Which of several plans goes first.",
        expression: "column(sorted(profiles, ['required_for_overall_pass', 'high_stakes', 'outcome_priority', 'plan_risk_score',
  'estimated_lock_duration_ms', 'deterministic_final_key']), 'plan_id')",
        inputs: &[needs(
            "profiles",
            Shape::List(&item(part_of!(
                RevisionPlanConcurrencyProfile,
                &[
                    needs("plan_id", Shape::Text, ""),
                    flag("required_for_overall_pass"),
                    flag("high_stakes"),
                    needs("outcome_priority", Shape::Count, ""),
                    needs("plan_risk_score", Shape::Number, "").within(-COUNT_MAX, COUNT_MAX),
                    needs("estimated_lock_duration_ms", Shape::Number, "")
                        .within(0.0, COUNT_MAX)
                        .unit(NumericUnit::Milliseconds),
                    may("deterministic_final_key", Shape::Text, ""),
                ]
            ))),
            "the plans that contend",
        )],
        requires: &[
            requires("profiles", "distinct(column(profiles, 'plan_id'))"),
            requires_or(
                "profiles",
                "count(where(profiles, 'deterministic_final_key', nothing)) == 0",
                "concurrency_tie_breaker_missing_final_key",
            ),
            requires_or(
                "profiles",
                "distinct(column(profiles, 'deterministic_final_key'))",
                "concurrency_tie_breaker_missing_final_key",
            ),
        ],
        value_kind: MetricValueKind::Distribution,
        gives: Some(Shape::List(&item(Shape::Text))),
        vectors: &[
            vector(
                "the_safer_first",
                r#"{"profiles":[{"plan_id":"a","outcome_priority":1,"plan_risk_score":0.9,"estimated_lock_duration_ms":1,"deterministic_final_key":"a"},{"plan_id":"b","outcome_priority":1,"plan_risk_score":0.1,"estimated_lock_duration_ms":1,"deterministic_final_key":"b"}]}"#,
                r#"["b","a"]"#,
            ),
            vector("missing_profiles", "{}", "\"the input profiles is missing\""),
        ],
        ..Spec::PLAIN
    },
];
