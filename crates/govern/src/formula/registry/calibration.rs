//! Formulas: how good predictions were.
//! Owns: their texts. Must not: compute.

use crate::formula::spec::{Spec, Vector, needs};
use crate::types::formula::{
    FiniteNumberPolicy, FormulaSpecRoundingPolicy, MetricValueKind, MissingInputPolicy, NumericUnit,
};

const fn vector(name: &'static str, inputs: &'static str, expected: &'static str) -> Vector {
    Vector { name, inputs, expected, codes: &[] }
}

const FOUR: &str = r#"{"predicted":[0.1,0.4,0.35,0.8],"observed":[0,0,1,1],"min_sample_size":4}"#;
const FEW: &str = r#"{"predicted":[0.1,0.4],"observed":[0,1],"min_sample_size":4}"#;
const INSUFFICIENT: &str = r#"{"metric_value":null,"indeterminate_reason":"insufficient_sample"}"#;
const NO_PREDICTIONS: &str = r#"{"observed":[0,1],"min_sample_size":1}"#;

/// A metric of predictions and what came.
const METRIC: Spec = Spec {
    id: "",
    version: "1.0.0",
    purpose: "",
    expression: "",
    inputs: &[
        needs("predicted", "what was predicted, from 0 to 1"),
        needs("observed", "what came, 0 or 1"),
        needs("min_sample_size", "how many it takes").within(1.0, 9e15),
    ],
    value_kind: MetricValueKind::CalibratedScore,
    unit: NumericUnit::Score01,
    range: Some((0.0, 1.0)),
    finite: FiniteNumberPolicy::RejectNanInfinity,
    missing: MissingInputPolicy::ReturnIndeterminate,
    zero: None,
    rounding: FormulaSpecRoundingPolicy::RoundTo6DecimalPlaces,
    vectors: &[],
};

pub(super) const FORMULAS: &[Spec] = &[
    Spec {
        id: "planner_confidence_brier_score",
        purpose: "How far a planner's confidence was from what came, squared; 0 is best.",
        expression: "if count(predicted) < min_sample_size
then { metric_value: nothing, indeterminate_reason: 'insufficient_sample' }
else { metric_value: brier(predicted, observed), indeterminate_reason: nothing }",
        vectors: &[
            vector("four", FOUR, r#"{"metric_value":0.158125,"indeterminate_reason":null}"#),
            vector("few", FEW, INSUFFICIENT),
            vector("missing_predictions", NO_PREDICTIONS, "null"),
        ],
        ..METRIC
    },
    Spec {
        id: "planner_confidence_expected_calibration_error",
        purpose: "How far a planner's confidence was from how often it came, bin by bin; 0 is best.",
        expression: "if count(predicted) < min_sample_size
then { metric_value: nothing, indeterminate_reason: 'insufficient_sample' }
else { metric_value: expected_calibration_error(predicted, observed, bin_count, binning_method), indeterminate_reason: nothing }",
        inputs: &[
            needs("predicted", "what was predicted, from 0 to 1"),
            needs("observed", "what came, 0 or 1"),
            needs("min_sample_size", "how many it takes").within(1.0, 9e15),
            needs("bin_count", "how many bins").within(1.0, 10_000.0).or("10"),
            needs("binning_method", "equal_width or equal_frequency").or("\"equal_width\""),
        ],
        vectors: &[
            vector(
                "two_bins",
                r#"{"predicted":[0.1,0.4,0.35,0.8],"observed":[0,0,1,1],"min_sample_size":4,"bin_count":2}"#,
                r#"{"metric_value":0.0875,"indeterminate_reason":null}"#,
            ),
            vector(
                "five_bins",
                r#"{"predicted":[0.1,0.4,0.35,0.8],"observed":[0,0,1,1],"min_sample_size":4,"bin_count":5}"#,
                r#"{"metric_value":0.3375,"indeterminate_reason":null}"#,
            ),
            vector("few", FEW, INSUFFICIENT),
            vector("missing_predictions", NO_PREDICTIONS, "null"),
        ],
        ..METRIC
    },
    Spec {
        id: "novelty_threshold_auc",
        purpose: "How often what was novel was scored higher than what was not; 0.5 is chance.",
        expression: "let value = auc(predicted, observed);
if count(predicted) < min_sample_size
then { metric_value: nothing, indeterminate_reason: 'insufficient_sample' }
else if not present(value)
then { metric_value: nothing, indeterminate_reason: 'all_one_class' }
else { metric_value: value, indeterminate_reason: nothing }",
        vectors: &[
            vector("four", FOUR, r#"{"metric_value":0.75,"indeterminate_reason":null}"#),
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
if count(predicted) < min_sample_size
then { metric_value: nothing, precision: nothing, recall: nothing, indeterminate_reason: 'insufficient_sample' }
else if positive == 0 or negative == 0
then { metric_value: nothing, precision: nothing, recall: nothing, indeterminate_reason: 'all_one_class' }
else {
  metric_value: 2 * counts.tp / (2 * counts.tp + counts.fp + counts.fn_),
  precision: if counts.tp + counts.fp == 0 then nothing else counts.tp / (counts.tp + counts.fp),
  recall: counts.tp / positive,
  indeterminate_reason: nothing
}",
        inputs: &[
            needs("predicted", "what was predicted, from 0 to 1"),
            needs("observed", "what came, 0 or 1"),
            needs("threshold", "from where on it counts as novel").within(0.0, 1.0),
            needs("min_sample_size", "how many it takes").within(1.0, 9e15),
        ],
        vectors: &[
            vector(
                "four",
                r#"{"predicted":[0.1,0.4,0.35,0.8],"observed":[0,0,1,1],"threshold":0.4,"min_sample_size":4}"#,
                r#"{"metric_value":0.5,"precision":0.5,"recall":0.5,"indeterminate_reason":null}"#,
            ),
            vector("missing_threshold", FOUR, "null"),
        ],
        ..METRIC
    },
    Spec {
        id: "confidence_convergence_spearman",
        purpose: "Whether confidence and progress rise together; from -1 to 1.",
        expression: "let value = spearman(predicted, observed);
if count(predicted) < min_sample_size
then { metric_value: nothing, indeterminate_reason: 'insufficient_sample' }
else if not present(value)
then { metric_value: nothing, indeterminate_reason: 'invalid_inputs' }
else { metric_value: value, indeterminate_reason: nothing }",
        value_kind: MetricValueKind::Correlation,
        unit: NumericUnit::Unitless,
        range: Some((-1.0, 1.0)),
        vectors: &[
            vector(
                "four",
                r#"{"predicted":[1,2,3,4],"observed":[1,3,2,4],"min_sample_size":2}"#,
                r#"{"metric_value":0.8,"indeterminate_reason":null}"#,
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
