//! Formulas: how good predictions were.
//! Owns: their texts. Must not: compute.

use crate::formula::spec::{
    Below, Input, Interval, IntervalLevel, IntervalMethod, Sample, Shape, Spec, Vector, needs,
};
use crate::types::formula::{MetricValueKind, MissingInputPolicy, NumericUnit};

const fn vector(name: &'static str, inputs: &'static str, expected: &'static str) -> Vector {
    Vector { name, inputs, expected, codes: &[] }
}

/// How many predictions it takes; the metric's own record may say otherwise.
const LEAST: Input = needs("min_sample_size", Shape::Count, "how many it takes").within(1.0, 9e15).or("30");

/// Where drawing begins for the interval.
const SEED: Input =
    needs("seed", Shape::Count, "where drawing begins for the interval").within(0.0, 9e15).or("0");

/// By the number of predictions.
const SAMPLE: Sample = Sample {
    min: 30,
    least: Some("min_sample_size"),
    size: "count(predicted)",
    below: Below::Indeterminate("{ metric_value: nothing, indeterminate_reason: 'insufficient_sample' }"),
    window_required: false,
};

/// By drawing predictions anew.
const fn drawn(ends: &'static str) -> Interval {
    Interval { required: false, level: IntervalLevel::P95, method: IntervalMethod::Bootstrap, ends }
}

const FOUR: &str = r#"{"predicted":[0.1,0.4,0.35,0.8],"observed":[0,0,1,1],"min_sample_size":4}"#;
const FEW: &str = r#"{"predicted":[0.1,0.4],"observed":[0,1],"min_sample_size":4}"#;
const INSUFFICIENT: &str = r#"{"metric_value":null,"indeterminate_reason":"insufficient_sample"}"#;
const NO_PREDICTIONS: &str = r#"{"observed":[0,1],"min_sample_size":1}"#;

/// A metric of predictions and what came.
const METRIC: Spec = Spec {
    version: "1.1.0",
    inputs: &[
        needs("predicted", Shape::Numbers, "what was predicted, from 0 to 1"),
        needs("observed", Shape::Numbers, "what came, 0 or 1"),
        LEAST,
        SEED,
    ],
    value_kind: MetricValueKind::CalibratedScore,
    unit: NumericUnit::Score01,
    range: Some((0.0, 1.0)),
    missing: MissingInputPolicy::ReturnIndeterminate,
    sample: Some(SAMPLE),
    ..Spec::PLAIN
};

pub(super) const FORMULAS: &[Spec] = &[
    Spec {
        id: "planner_confidence_brier_score",
        purpose: "How far a planner's confidence was from what came, squared; 0 is best.",
        expression: "{ metric_value: brier(predicted, observed), indeterminate_reason: nothing }",
        interval: Some(drawn(
            "bootstrap_pairs('brier', predicted, observed, { level: level, draws: 1000, seed: seed })",
        )),
        vectors: &[
            vector("four", FOUR, r#"{"metric_value":0.158125,"indeterminate_reason":null,"confidence_interval":[0.0175,0.319562],"confidence_interval_level":0.95}"#),
            vector("few", FEW, INSUFFICIENT),
            vector("missing_predictions", NO_PREDICTIONS, "null"),
        ],
        ..METRIC
    },
    Spec {
        id: "planner_confidence_expected_calibration_error",
        purpose: "How far a planner's confidence was from how often it came, bin by bin; 0 is best.",
        expression: "{ metric_value: expected_calibration_error(predicted, observed, bin_count, binning_method), indeterminate_reason: nothing }",
        interval: Some(drawn(
            "bootstrap_pairs('expected_calibration_error', predicted, observed,
  { level: level, draws: 1000, seed: seed, bin_count: bin_count, binning_method: binning_method })",
        )),
        inputs: &[
            needs("predicted", Shape::Numbers, "what was predicted, from 0 to 1"),
            needs("observed", Shape::Numbers, "what came, 0 or 1"),
            LEAST,
            SEED,
            needs("bin_count", Shape::Count, "how many bins").within(1.0, 10_000.0).or("10"),
            needs("binning_method", Shape::Text, "equal_width or equal_frequency").or("\"equal_width\""),
        ],
        vectors: &[
            vector(
                "two_bins",
                r#"{"predicted":[0.1,0.4,0.35,0.8],"observed":[0,0,1,1],"min_sample_size":4,"bin_count":2}"#,
                r#"{"metric_value":0.0875,"indeterminate_reason":null,"confidence_interval":[0.0125,0.4625],"confidence_interval_level":0.95}"#,
            ),
            vector(
                "five_bins",
                r#"{"predicted":[0.1,0.4,0.35,0.8],"observed":[0,0,1,1],"min_sample_size":4,"bin_count":5}"#,
                r#"{"metric_value":0.3375,"indeterminate_reason":null,"confidence_interval":[0.125,0.525312],"confidence_interval_level":0.95}"#,
            ),
            vector("few", FEW, INSUFFICIENT),
            vector("missing_predictions", NO_PREDICTIONS, "null"),
        ],
        ..METRIC
    },
    Spec {
        id: "novelty_threshold_auc",
        purpose: "How often what was novel was scored higher than what was not; 0.5 is chance.",
        expression: "let found = auc(predicted, observed);
if not present(found)
then { metric_value: nothing, indeterminate_reason: 'all_one_class' }
else { metric_value: found, indeterminate_reason: nothing }",
        interval: Some(drawn(
            "if not present(value.metric_value) then nothing
else bootstrap_pairs('auc', predicted, observed, { level: level, draws: 1000, seed: seed })",
        )),
        vectors: &[
            vector("four", FOUR, r#"{"metric_value":0.75,"indeterminate_reason":null,"confidence_interval":[0,1],"confidence_interval_level":0.95}"#),
            vector(
                "one_class",
                r#"{"predicted":[0.1,0.4],"observed":[1,1],"min_sample_size":2}"#,
                r#"{"metric_value":null,"indeterminate_reason":"all_one_class"}"#,
            ),
            vector("few", FEW, INSUFFICIENT),
            vector("missing_predictions", NO_PREDICTIONS, "null"),
        ],
        ..METRIC
    },
    Spec {
        id: "novelty_threshold_precision_recall",
        purpose: "How much of what was called novel was, and how much of what was novel was called so; the value is F1.",
        expression: "let counts = confusion(predicted, observed, threshold);
let positive = counts.tp + counts.fn_;
let negative = counts.fp + counts.tn;
if positive == 0 or negative == 0
then { metric_value: nothing, precision: nothing, recall: nothing, indeterminate_reason: 'all_one_class' }
else {
  metric_value: 2 * counts.tp / (2 * counts.tp + counts.fp + counts.fn_),
  precision: if counts.tp + counts.fp == 0 then nothing else counts.tp / (counts.tp + counts.fp),
  recall: counts.tp / positive,
  indeterminate_reason: nothing
}",
        sample: Some(Sample {
            below: Below::Indeterminate(
                "{ metric_value: nothing, precision: nothing, recall: nothing, indeterminate_reason: 'insufficient_sample' }",
            ),
            ..SAMPLE
        }),
        interval: Some(drawn(
            "if not present(value.metric_value) then nothing
else bootstrap_pairs('f1', predicted, observed, { level: level, draws: 1000, seed: seed, threshold: threshold })",
        )),
        inputs: &[
            needs("predicted", Shape::Numbers, "what was predicted, from 0 to 1"),
            needs("observed", Shape::Numbers, "what came, 0 or 1"),
            needs("threshold", Shape::Number, "from where on it counts as novel").within(0.0, 1.0),
            LEAST,
            SEED,
        ],
        vectors: &[
            vector(
                "four",
                r#"{"predicted":[0.1,0.4,0.35,0.8],"observed":[0,0,1,1],"threshold":0.4,"min_sample_size":4}"#,
                r#"{"metric_value":0.5,"precision":0.5,"recall":0.5,"indeterminate_reason":null,"confidence_interval":[0,1],"confidence_interval_level":0.95}"#,
            ),
            vector(
                "few",
                r#"{"predicted":[0.1,0.4],"observed":[0,1],"threshold":0.4}"#,
                r#"{"metric_value":null,"precision":null,"recall":null,"indeterminate_reason":"insufficient_sample"}"#,
            ),
            vector("missing_threshold", FOUR, "null"),
        ],
        ..METRIC
    },
    Spec {
        id: "confidence_convergence_spearman",
        purpose: "Whether confidence and progress rise together; from -1 to 1.",
        expression: "let found = spearman(predicted, observed);
if not present(found)
then { metric_value: nothing, indeterminate_reason: 'invalid_inputs' }
else { metric_value: found, indeterminate_reason: nothing }",
        interval: Some(drawn(
            "if not present(value.metric_value) then nothing
else bootstrap_pairs('spearman', predicted, observed, { level: level, draws: 1000, seed: seed })",
        )),
        value_kind: MetricValueKind::Correlation,
        unit: NumericUnit::Unitless,
        range: Some((-1.0, 1.0)),
        vectors: &[
            vector(
                "four",
                r#"{"predicted":[1,2,3,4],"observed":[1,3,2,4],"min_sample_size":2}"#,
                r#"{"metric_value":0.8,"indeterminate_reason":null,"confidence_interval":[-1,1],"confidence_interval_level":0.95}"#,
            ),
            vector(
                "constant",
                r#"{"predicted":[1,1],"observed":[1,3],"min_sample_size":2}"#,
                r#"{"metric_value":null,"indeterminate_reason":"invalid_inputs"}"#,
            ),
            vector("few", FEW, INSUFFICIENT),
            vector("missing_predictions", NO_PREDICTIONS, "null"),
        ],
        ..METRIC
    },
];
