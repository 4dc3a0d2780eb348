//! Formulas: what revisions brought, and what sub-agents are worth.
//! Owns: their texts. Must not: compute.

use crate::formula::spec::{
    Below, Interval, IntervalLevel, IntervalMethod, Sample, Shape, Spec, Vector, may, needs,
};
use crate::types::formula::{MetricValueKind, NumericUnit, ZeroDenominatorPolicy};

const fn vector(name: &'static str, inputs: &'static str, expected: &'static str) -> Vector {
    Vector { name, inputs, expected, codes: &[] }
}

/// A rate.
const RATE: Spec = Spec {
    value_kind: MetricValueKind::Ratio,
    unit: NumericUnit::Ratio,
    range: Some((0.0, 1.0)),
    zero: Some(ZeroDenominatorPolicy::ReturnIndeterminateInsufficientData),
    ..Spec::PLAIN
};

pub(super) const FORMULAS: &[Spec] = &[
    Spec {
        id: "regression_rate_v1",
        version: "1.1.0",
        purpose: "How many of the accepted revisions made something worse.",
        expression: "regression_introduced_count / accepted_count",
        interval: Some(Interval {
            required: false,
            level: IntervalLevel::P95,
            method: IntervalMethod::Wilson,
            ends: "wilson(regression_introduced_count, accepted_count, level)",
        }),
        inputs: &[
            needs("regression_introduced_count", Shape::Count, "revisions that made something worse").within(0.0, 9e15),
            needs("accepted_count", Shape::Count, "revisions that were accepted").within(0.0, 9e15),
        ],
        vectors: &[
            vector("two_of_eight", r#"{"regression_introduced_count":2,"accepted_count":8}"#, "0.25"),
            vector("zero_accepted", r#"{"regression_introduced_count":0,"accepted_count":0}"#, "null"),
            vector(
                "more_than_accepted",
                r#"{"regression_introduced_count":9,"accepted_count":8}"#,
                "\"the value 1.125 is not within its range\"",
            ),
            vector("missing_count", r#"{"accepted_count":8}"#, "\"the input regression_introduced_count is missing\""),
        ],
        ..RATE
    },
    Spec {
        id: "severity_weighted_penalty_rate_v1",
        purpose: "The same, with how bad each regression was.",
        expression: "(severity_weights.minor * severity_breakdown.minor
 + severity_weights.major * severity_breakdown.major
 + severity_weights.critical * severity_breakdown.critical) / accepted_count",
        inputs: &[
            needs("severity_breakdown", Shape::Record, "regressions that are minor, major, critical"),
            needs("severity_weights", Shape::Record, "what each weighs").or(r#"{"minor":1,"major":2,"critical":5}"#),
            needs("accepted_count", Shape::Count, "revisions that were accepted").within(0.0, 9e15),
        ],
        range: Some((0.0, 5.0)),
        vectors: &[
            vector(
                "three_of_ten",
                r#"{"severity_breakdown":{"minor":1,"major":1,"critical":1},"accepted_count":10}"#,
                "0.8",
            ),
            vector(
                "zero_accepted",
                r#"{"severity_breakdown":{"minor":0,"major":0,"critical":0},"accepted_count":0}"#,
                "null",
            ),
            vector("missing_breakdown", r#"{"accepted_count":8}"#, "\"the input severity_breakdown is missing\""),
        ],
        ..RATE
    },
    Spec {
        id: "sub_agent_reputation_score_v1",
        version: "1.1.0",
        purpose: "What a sub-agent was worth, from 0 to 1; nothing from too few invocations.",
        expression: "let hit = if invocations == 0 then nothing else hits / invocations;
let lift = if present(attribution_lift) then (clamp(attribution_lift, -1, 1) + 1) / 2 else nothing;
let regression = if present(penalty_rate) then 1 - min(1, penalty_rate / 5) else nothing;
let cost = if not present(mean_cost) then nothing
  else if mean_cost == 0 then 1 else min(1, cohort_median_cost / mean_cost);
let negatives = if false_negatives + true_positives == 0 then nothing
  else 1 - false_negatives / (false_negatives + true_positives);
let positives = if false_positives + true_negatives == 0 then nothing
  else 1 - false_positives / (false_positives + true_negatives);
let scores = [hit, lift, regression, cost, negatives, positives];
let w = [weights.hit_rate, weights.attribution_lift, weights.inverse_regression_penalty, weights.inverse_cost_penalty,
  weights.false_negative_penalty * false_negative_weight_multiplier, weights.false_positive_penalty];
let components = { hit_rate_score: hit, attribution_lift_score: lift, regression_penalty_score: regression,
  cost_penalty_score: cost, false_negative_penalty_score: negatives, false_positive_penalty_score: positives };
if quarantined then { current_score: nothing, score_status: 'quarantined_by_policy', component_scores: components }
else { current_score: weighted_mean(scores, w), score_status: 'computed', component_scores: components }",
        sample: Some(Sample {
            min: 10,
            least: Some("min_invocation_count"),
            size: "invocations",
            below: Below::Indeterminate(
                "{ current_score: nothing, component_scores: {},
  score_status: if quarantined then 'quarantined_by_policy' else 'insufficient_sample' }",
            ),
            window_required: false,
        }),
        interval: Some(Interval {
            required: false,
            level: IntervalLevel::P95,
            method: IntervalMethod::Wilson,
            ends: "let c = value.component_scores;
let none = nothing;
let share = weighted_mean(
  [1, if present(c.attribution_lift_score) then 0 else none, if present(c.regression_penalty_score) then 0 else none,
   if present(c.cost_penalty_score) then 0 else none, if present(c.false_negative_penalty_score) then 0 else none,
   if present(c.false_positive_penalty_score) then 0 else none],
  [weights.hit_rate, weights.attribution_lift, weights.inverse_regression_penalty, weights.inverse_cost_penalty,
   weights.false_negative_penalty * false_negative_weight_multiplier, weights.false_positive_penalty]);
let hits_between = if confidence_interval_method == 'bayesian_beta' then beta_interval(hits, invocations, level)
  else if confidence_interval_method == 'wilson' then wilson(hits, invocations, level) else nothing;
if not present(value.current_score) or not present(hits_between) then nothing
else [value.current_score - share * (c.hit_rate_score - least(hits_between)),
  value.current_score + share * (greatest(hits_between) - c.hit_rate_score)]",
        }),
        inputs: &[
            needs("invocations", Shape::Count, "how often it worked").within(0.0, 9e15),
            needs("hits", Shape::Count, "how often well").within(0.0, 9e15),
            may("attribution_lift", Shape::Number, "how much better with it, from -1 to 1"),
            may("penalty_rate", Shape::Number, "the severity weighted penalty rate"),
            may("mean_cost", Shape::Number, "what it costs on average"),
            needs("cohort_median_cost", Shape::Number, "what its like cost").or("0"),
            needs("true_positives", Shape::Count, "found, and there").or("0"),
            needs("false_positives", Shape::Count, "found, and not there").or("0"),
            needs("true_negatives", Shape::Count, "not found, and not there").or("0"),
            needs("false_negatives", Shape::Count, "not found, and there").or("0"),
            needs("quarantined", Shape::Truth, "whether a policy shut it out").or("false"),
            needs("weights", Shape::Record, "what each part weighs").or(
                r#"{"hit_rate":1,"attribution_lift":1,"inverse_regression_penalty":1,"inverse_cost_penalty":1,"false_negative_penalty":1,"false_positive_penalty":1}"#,
            ),
            needs("false_negative_weight_multiplier", Shape::Number, "how much worse it is not to find").within(0.0, 1e6).or("2"),
            needs("min_invocation_count", Shape::Count, "how many it takes").within(0.0, 9e15).or("10"),
            needs("confidence_interval_method", Shape::Text, "wilson or bayesian_beta; of bootstrap nothing is said").or("\"wilson\""),
        ],
        value_kind: MetricValueKind::CalibratedScore,
        unit: NumericUnit::Score01,
        vectors: &[
            vector(
                "hits_only",
                r#"{"invocations":20,"hits":15}"#,
                r#"{"current_score":0.75,"score_status":"computed","component_scores":{"hit_rate_score":0.75,"attribution_lift_score":null,"regression_penalty_score":null,"cost_penalty_score":null,"false_negative_penalty_score":null,"false_positive_penalty_score":null},"confidence_interval":[0.531299,0.888138],"confidence_interval_level":0.95}"#,
            ),
            vector(
                "hits_are_one_part_of_two",
                r#"{"invocations":20,"hits":15,"attribution_lift":0}"#,
                r#"{"current_score":0.625,"score_status":"computed","component_scores":{"hit_rate_score":0.75,"attribution_lift_score":0.5,"regression_penalty_score":null,"cost_penalty_score":null,"false_negative_penalty_score":null,"false_positive_penalty_score":null},"confidence_interval":[0.51565,0.694069],"confidence_interval_level":0.95}"#,
            ),
            vector(
                "shut_out",
                r#"{"invocations":4,"hits":4,"quarantined":true}"#,
                r#"{"current_score":null,"score_status":"quarantined_by_policy","component_scores":{}}"#,
            ),
            vector(
                "too_few",
                r#"{"invocations":4,"hits":4}"#,
                r#"{"current_score":null,"score_status":"insufficient_sample","component_scores":{}}"#,
            ),
            vector(
                "zero_weights",
                r#"{"invocations":20,"hits":15,"weights":{"hit_rate":0,"attribution_lift":0,"inverse_regression_penalty":0,"inverse_cost_penalty":0,"false_negative_penalty":0,"false_positive_penalty":0}}"#,
                "null",
            ),
            vector("missing_hits", r#"{"invocations":20}"#, "\"the input hits is missing\""),
        ],
        ..RATE
    },
    Spec {
        id: "cycle_efficiency_v1",
        version: "1.1.0",
        purpose: "How many cycles revisions took, and how many were for nothing.",
        expression: "let open = where(observations, 'terminal_class', 'still_open_right_censored');
let won = where(observations, 'terminal_class', 'succeeded');
let worn = where(observations, 'terminal_class', 'max_iterations_reached');
let all = count(observations);
let closed = all - count(open);
let cycles = sum(column(observations, 'cycle_count')) - sum(column(open, 'cycle_count'));
let won_cycles = sum(column(won, 'cycle_count'));
{
  avg_cycles_to_success: if count(won) == 0 then nothing else won_cycles / count(won),
  wasted_cycle_burn_rate: if cycles == 0 then nothing else (cycles - won_cycles) / cycles,
  right_censored_rate: count(open) / all,
  max_iterations_rate: if closed == 0 then 0 else count(worn) / closed
}",
        inputs: &[
            needs("observations", Shape::Records, "outcomes with cycle_count and terminal_class"),
            needs("window", Shape::Record, "when they were observed: start, end"),
        ],
        sample: Some(Sample {
            min: 10,
            least: None,
            size: "count(observations)",
            below: Below::LowConfidence,
            window_required: true,
        }),
        vectors: &[
            vector(
                "four_outcomes",
                r#"{"observations":[{"cycle_count":2,"terminal_class":"succeeded"},{"cycle_count":4,"terminal_class":"succeeded"},{"cycle_count":6,"terminal_class":"max_iterations_reached"},{"cycle_count":1,"terminal_class":"still_open_right_censored"}],"window":{"start":"2026-03-01T00:00:00Z","end":"2026-04-01T00:00:00Z"}}"#,
                r#"{"avg_cycles_to_success":3,"wasted_cycle_burn_rate":0.5,"right_censored_rate":0.25,"max_iterations_rate":0.333333,"low_confidence":true}"#,
            ),
            vector(
                "ten_outcomes",
                r#"{"observations":[{"cycle_count":2,"terminal_class":"succeeded"},{"cycle_count":2,"terminal_class":"succeeded"},{"cycle_count":2,"terminal_class":"succeeded"},{"cycle_count":2,"terminal_class":"succeeded"},{"cycle_count":2,"terminal_class":"succeeded"},{"cycle_count":2,"terminal_class":"succeeded"},{"cycle_count":2,"terminal_class":"succeeded"},{"cycle_count":2,"terminal_class":"succeeded"},{"cycle_count":4,"terminal_class":"max_iterations_reached"},{"cycle_count":1,"terminal_class":"still_open_right_censored"}],"window":{"start":"2026-03-01T00:00:00Z","end":"2026-04-01T00:00:00Z"}}"#,
                r#"{"avg_cycles_to_success":2,"wasted_cycle_burn_rate":0.2,"right_censored_rate":0.1,"max_iterations_rate":0.111111,"low_confidence":false}"#,
            ),
            vector("zero_outcomes", r#"{"observations":[],"window":{"start":"2026-03-01T00:00:00Z","end":"2026-04-01T00:00:00Z"}}"#, "null"),
            vector("missing_outcomes", "{}", "\"the input observations is missing\""),
        ],
        ..RATE
    },
];
