//! Formulas: how good predictions were.
//! Owns: their texts. Must not: compute.

use super::LEVEL;
use crate::formula::input::{COUNT_MAX, record, word};
use crate::formula::spec::{
    Below, Input, Interval, IntervalLevel, IntervalMethod, Requirement, Sample, Shape, Spec, may, needs,
    requires, vector,
};
use crate::types::calibration::{
    CalibrationMetricResultIndeterminateReason as Reason,
    CalibrationMetricSpecBinningPolicyBinningMethod as Binning,
};
use crate::types::formula::{MetricValueKind, MissingInputPolicy, NumericUnit};

const PREDICTED: Input =
    needs("predicted", Shape::Numbers, "what was predicted, from 0 to 1").within(0.0, 1.0);
const OBSERVED: Input =
    needs("observed", Shape::List(&needs("", Shape::Among(&[0.0, 1.0]), "")), "what came, 0 or 1");

/// How many predictions it takes; the metric's own record may say otherwise.
const LEAST: Input =
    needs("min_sample_size", Shape::Count, "how many it takes").within(1.0, COUNT_MAX).or("30");

/// How often is drawn for the interval, and where drawing begins.
const DRAWS: Input =
    may("draws", Shape::Count, "how often is drawn for the interval; without it none is told")
        .within(1.0, 1e6);
const SEED: Input =
    needs("seed", Shape::Count, "where drawing begins for the interval").within(0.0, COUNT_MAX).or("0");

/// A prediction and what came of it stand at the same place, and drawing comes to an end.
const TOGETHER: &[Requirement] = &[
    requires("observed", "count(predicted) == count(observed)"),
    requires("draws", "not present(draws) or draws * count(predicted) <= 20000000"),
];

/// The same where each draw goes through all bins.
const TOGETHER_IN_BINS: &[Requirement] = &[
    requires("observed", "count(predicted) == count(observed)"),
    requires("draws", "not present(draws) or draws * count(predicted) <= 20000000"),
    requires("draws", "not present(draws) or draws * bin_count <= 20000000"),
];

/// A number, or why there is none.
const VALUE: Input = may("metric_value", Shape::Number, "");
const REASON: Input = may("indeterminate_reason", word!(Reason), "");
const ENDS: Input = may("confidence_interval", Shape::Numbers, "");
const ENDS_LEVEL: Input = may("confidence_interval_level", Shape::Number, "");

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

const DRAWN: &str =
    r#"{"predicted":[0.1,0.4,0.35,0.8],"observed":[0,0,1,1],"min_sample_size":4,"draws":1000}"#;
const UNEQUAL: &str = r#"{"predicted":[0.1,0.4,0.35],"observed":[0,1],"min_sample_size":1}"#;
const UNEQUAL_IS: &str = "\"the input observed must be so that count(predicted) == count(observed)\"";
const FOUR: &str = r#"{"predicted":[0.1,0.4,0.35,0.8],"observed":[0,0,1,1],"min_sample_size":4}"#;
const FEW: &str = r#"{"predicted":[0.1,0.4],"observed":[0,1],"min_sample_size":4}"#;
const INSUFFICIENT: &str = r#"{"metric_value":null,"indeterminate_reason":"insufficient_sample"}"#;
const NO_PREDICTIONS: &str = r#"{"observed":[0,1],"min_sample_size":1}"#;

/// A metric of predictions and what came.
const METRIC: Spec = Spec {
    version: "1.2.0",
    inputs: &[PREDICTED, OBSERVED, LEAST, LEVEL, DRAWS, SEED],
    requires: TOGETHER,
    gives: Some(record(&[VALUE, REASON, ENDS, ENDS_LEVEL])),
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
            "if not present(draws) then nothing else bootstrap_brier(predicted, observed, level, draws, seed)",
        )),
        vectors: &[
            vector("four", FOUR, r#"{"metric_value":0.158125,"indeterminate_reason":null}"#),
            vector(
                "drawn",
                DRAWN,
                r#"{"metric_value":0.158125,"indeterminate_reason":null,"confidence_interval":[0.025,0.326875],"confidence_interval_level":0.95}"#,
            ),
            vector("unequal", UNEQUAL, UNEQUAL_IS),
            vector("few", FEW, INSUFFICIENT),
            vector("missing_predictions", NO_PREDICTIONS, "null"),
        ],
        ..METRIC
    },
    Spec {
        id: "planner_confidence_expected_calibration_error",
        version: "1.3.0",
        requires: TOGETHER_IN_BINS,
        purpose: "How far a planner's confidence was from how often it came, bin by bin; 0 is best.",
        expression: "{ metric_value: expected_calibration_error(predicted, observed, bin_count, binning_method), indeterminate_reason: nothing }",
        interval: Some(drawn(
            "if not present(draws) then nothing
else bootstrap_calibration_error(predicted, observed, level, draws, seed, bin_count, binning_method)",
        )),
        inputs: &[
            PREDICTED,
            OBSERVED,
            LEAST,
            LEVEL,
            DRAWS,
            SEED,
            needs("bin_count", Shape::Count, "how many bins").within(1.0, 10_000.0).or("10"),
            needs("binning_method", word!(Binning), "bins of one width or of one size").or("\"equal_width\""),
        ],
        vectors: &[
            vector(
                "two_bins",
                r#"{"predicted":[0.1,0.4,0.35,0.8],"observed":[0,0,1,1],"min_sample_size":4,"bin_count":2}"#,
                r#"{"metric_value":0.0875,"indeterminate_reason":null}"#,
            ),
            vector(
                "drawn",
                r#"{"predicted":[0.1,0.4,0.35,0.8],"observed":[0,0,1,1],"min_sample_size":4,"bin_count":2,"draws":1000}"#,
                r#"{"metric_value":0.0875,"indeterminate_reason":null,"confidence_interval":[0.0125,0.4625],"confidence_interval_level":0.95}"#,
            ),
            vector("unequal", UNEQUAL, UNEQUAL_IS),
            vector(
                "five_bins",
                r#"{"predicted":[0.1,0.4,0.35,0.8],"observed":[0,0,1,1],"min_sample_size":4,"bin_count":5}"#,
                r#"{"metric_value":0.3375,"indeterminate_reason":null}"#,
            ),
            vector(
                "more_bins_than_can_be_drawn",
                r#"{"predicted":[0.1,0.4],"observed":[0,1],"min_sample_size":1,"bin_count":10000,"draws":1000000}"#,
                "\"the input draws must be so that not present(draws) or draws * bin_count <= 20000000\"",
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
            "if not present(draws) or not present(value.metric_value) then nothing
else bootstrap_auc(predicted, observed, level, draws, seed)",
        )),
        vectors: &[
            vector("four", FOUR, r#"{"metric_value":0.75,"indeterminate_reason":null}"#),
            vector(
                "drawn",
                DRAWN,
                r#"{"metric_value":0.75,"indeterminate_reason":null,"confidence_interval":[0,1],"confidence_interval_level":0.95}"#,
            ),
            vector("unequal", UNEQUAL, UNEQUAL_IS),
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
            "if not present(draws) or not present(value.metric_value) then nothing
else bootstrap_f1(predicted, observed, level, draws, seed, threshold)",
        )),
        inputs: &[
            PREDICTED,
            OBSERVED,
            needs("threshold", Shape::Number, "from where on it counts as novel").within(0.0, 1.0),
            LEAST,
            LEVEL,
            DRAWS,
            SEED,
        ],
        gives: Some(record(&[
            VALUE,
            may("precision", Shape::Number, ""),
            may("recall", Shape::Number, ""),
            REASON,
            ENDS,
            ENDS_LEVEL,
        ])),
        vectors: &[
            vector(
                "four",
                r#"{"predicted":[0.1,0.4,0.35,0.8],"observed":[0,0,1,1],"threshold":0.4,"min_sample_size":4}"#,
                r#"{"metric_value":0.5,"precision":0.5,"recall":0.5,"indeterminate_reason":null}"#,
            ),
            vector(
                "drawn",
                r#"{"predicted":[0.1,0.4,0.35,0.8],"observed":[0,0,1,1],"threshold":0.4,"min_sample_size":4,"draws":1000}"#,
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
            "if not present(draws) or not present(value.metric_value) then nothing
else bootstrap_spearman(predicted, observed, level, draws, seed)",
        )),
        inputs: &[
            needs("predicted", Shape::Numbers, "how sure one was").within(-COUNT_MAX, COUNT_MAX),
            needs("observed", Shape::Numbers, "how far it came").within(-COUNT_MAX, COUNT_MAX),
            LEAST,
            LEVEL,
            DRAWS,
            SEED,
        ],
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
                "drawn",
                r#"{"predicted":[1,2,3,4],"observed":[1,3,2,4],"min_sample_size":2,"draws":1000}"#,
                r#"{"metric_value":0.8,"indeterminate_reason":null,"confidence_interval":[-1,1],"confidence_interval_level":0.95}"#,
            ),
            vector("unequal", UNEQUAL, UNEQUAL_IS),
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
