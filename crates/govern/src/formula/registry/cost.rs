//! Formulas: what work costs.
//! Owns: their texts. Must not: compute.

use crate::formula::input::{COUNT_MAX, item, one_of, part_of, record, word, words_of};
use crate::formula::spec::{Input, Shape, Spec, Vector, may, needs, refused, requires, vector};
use crate::types::basic::EstimatorConfidence;
use crate::types::cost::{
    CostCorrelationPolicy, CostDimension, CostDistribution, CostVector, CostVectorBasis,
};
use crate::types::formula::{MetricValueKind, NumericUnit};

/// An amount: what is less than nothing has a code.
const fn amount(name: &'static str, most: f64) -> Input {
    may(name, Shape::Number, "").within_or_below(0.0, most, NEGATIVE)
}

const NEGATIVE: &str = "cost_vector_negative_component";

/// What a cost may come to in one dimension, up to so much.
macro_rules! distribution {
    ($most:expr) => {
        &[
            Input { is_required: true, ..amount("expected", $most) },
            amount("p50", $most),
            amount("p90", $most),
            amount("p99", $most),
            amount("hard_cap", $most),
            may("unit", word!(CostDimension), "the dimension itself"),
        ]
    };
}

/// What is added can be counted; a sum may be more.
const DISTRIBUTION: &[Input] = distribution!(COUNT_MAX);
const SUMS: &[Input] = distribution!(f64::MAX);

/// By dimension.
const COMPONENTS: Input = needs(
    "components",
    Shape::Map(words_of!(CostDimension), &item(part_of!(CostDistribution, DISTRIBUTION))),
    "what it may come to in each dimension",
);
const SUM: Input = Input {
    shape: Shape::Map(words_of!(CostDimension), &item(part_of!(CostDistribution, SUMS))),
    ..COMPONENTS
};
const BASIS: Input = needs("basis", word!(CostVectorBasis), "where the numbers come from");
const CONFIDENCE: Input = needs("estimator_confidence", word!(EstimatorConfidence), "how sure they are");
const SIZE: Input = may("sample_size", Shape::Count, "how many cases they rest on");
const ASSUMPTIONS: Input = may("assumptions", Shape::List(&item(Shape::Text)), "what was assumed");

pub(super) const FORMULAS: &[Spec] = &[Spec {
    id: "cost_vector_sum_v1",
    version: "1.6.0",
    purpose: "Several costs as one. A quantile of a sum is there only under a correlation policy.",
    expression: "let is_drawn = correlation_policy == 'assume_independent_monte_carlo';
let is_seen = correlation_policy == 'empirical_joint_distribution';
let all = column(vectors, 'components');
let dimensions = unique(joined([for one in all: names(one)]));
let numbers = ['expected', 'hard_cap', 'p50', 'p90', 'p99'];
let components = [for dimension in dimensions:
  (let amounts = column(all, dimension);
  let strange = [for amount, place in amounts if or_else(amount.unit, dimension) != dimension:
    refuse('cost_vector_unit_mismatch', ['vectors', place, 'components', dimension], 'is in another unit')];
  let parts = told(amounts);
  # Who waits for several things at once waits for the longest; all else adds.
  let how = if dimension == 'wall_clock_ms' and timing == 'parallel' then 'longest' else 'sum';
  # What only one part has stays as it is. Quantiles add only where all parts are dear at once.
  if correlation_policy == 'assume_perfect_correlation_upper_bound' or count(parts) == 1 then
    beside(added(parts, numbers, how), {unit: dimension})
  # Else they are those of cases: of sums that are drawn, or of what was seen together.
  else
    (let known = added(parts, ['expected', 'hard_cap'], how);
    let cases = if not is_drawn and not is_seen then []
      else [for amount, place in amounts if present(amount): or_else(at(at(samples, place), dimension), [])];
    let many = [for one in cases: count(one)];
    let sums = if count(cases) == 0 then []
      else if is_drawn then drawn_sums(cases, how, draws, seed)
      else if least(many) == greatest(many) then added_cases(cases, how)
      else refuse(nothing, ['samples'], 'must have as many cases of each part that were seen together');
    filled({expected: known.expected, hard_cap: known.hard_cap,
     p50: reached(sums, 50), p90: reached(sums, 90), p99: reached(sums, 99), unit: dimension})))];
let assumed = if is_drawn then [phrase(['quantiles: ', draws, ' draws of independent parts with the seed ', seed])]
  else if is_seen then ['quantiles: parts as they were seen together']
  else if present(correlation_policy) then ['quantiles: all parts are dear at once; this is no upper bound']
  else [];
filled({components: by_name(dimensions, components),
 basis: first(in_order(column(vectors, 'basis'),
  ['heuristic', 'model_priced', 'historical', 'provider_quote', 'measured_actual'])),
 estimator_confidence: first(in_order(column(vectors, 'estimator_confidence'),
  ['experimental', 'uncalibrated', 'calibrated'])),
 sample_size: least(column(vectors, 'sample_size')),
 assumptions: unique(both(joined(column(vectors, 'assumptions')), assumed)),
 correlation_policy: correlation_policy})",
    inputs: &[
        needs(
            "vectors",
            Shape::List(&item(part_of!(CostVector, &[COMPONENTS, BASIS, CONFIDENCE, SIZE, ASSUMPTIONS]))),
            "the costs",
        ),
        may(
            "correlation_policy",
            word!(CostCorrelationPolicy),
            "how quantiles are put together; without it there are none of a sum",
        ),
        needs(
            "timing",
            one_of(&["sequential", "parallel"]),
            "who waits for several things at once waits for the longest",
        )
        .or("\"sequential\""),
        may(
            "samples",
            Shape::List(&item(Shape::Map(
                words_of!(CostDimension),
                &item(Shape::Numbers).within_or_below(0.0, COUNT_MAX, NEGATIVE),
            ))),
            "cases of each cost by dimension; those of the same place were seen together",
        ),
        needs("draws", Shape::Count, "how often is drawn where parts are independent")
            .within(1.0, 100_000.0)
            .or("10000"),
        needs("seed", Shape::Count, "where drawing begins").within(0.0, COUNT_MAX).or("0"),
    ],
    requires: &[
        requires("vectors", "count(vectors) > 0"),
        requires("vectors", "quantiles_in_order(vectors)"),
        requires("samples", "not present(samples) or count(samples) == count(vectors)"),
        requires(
            "samples",
            "present(samples) or not present(correlation_policy) or correlation_policy == 'assume_perfect_correlation_upper_bound'",
        ),
        // Each draw looks at every part in every dimension, and drawing comes to an end.
        requires(
            "draws",
            "correlation_policy != 'assume_independent_monte_carlo' or draws * sum([for one in samples: count(names(one))]) <= 20000000",
        ),
    ],
    value_kind: MetricValueKind::CostVector,
    unit: NumericUnit::Custom,
    gives: Some(record(&[
        SUM,
        BASIS,
        CONFIDENCE,
        SIZE,
        ASSUMPTIONS,
        may("correlation_policy", word!(CostCorrelationPolicy), ""),
    ])),
    correlation: Some("correlation_policy"),
    vectors: VECTORS,
    ..Spec::PLAIN
}];

#[rustfmt::skip] // one to a line
const VECTORS: &[Vector] = &[
    vector(
        "no_policy_no_quantile",
        r#"{"vectors":[{"components":{"usd":{"expected":0.1,"p90":0.3,"hard_cap":1,"unit":"usd"}},"basis":"measured_actual","estimator_confidence":"calibrated","sample_size":40,"assumptions":["b"]},{"components":{"usd":{"expected":0.2,"p90":0.4,"unit":"usd"},"output_tokens":{"expected":500,"p90":900,"unit":"output_tokens"}},"basis":"heuristic","estimator_confidence":"experimental","assumptions":["a"]}]}"#,
        r#"{"components":{"usd":{"expected":0.3,"unit":"usd"},"output_tokens":{"expected":500,"p90":900,"unit":"output_tokens"}},"basis":"heuristic","estimator_confidence":"experimental","sample_size":40,"assumptions":["a","b"]}"#,
    ),
    vector(
        "all_dear_at_once",
        r#"{"vectors":[{"components":{"usd":{"expected":1,"p50":1,"p90":2,"p99":3,"hard_cap":5,"unit":"usd"}},"basis":"historical","estimator_confidence":"calibrated","assumptions":[]},{"components":{"usd":{"expected":1,"p50":1,"p90":4,"hard_cap":5,"unit":"usd"}},"basis":"provider_quote","estimator_confidence":"uncalibrated","assumptions":[]}],"correlation_policy":"assume_perfect_correlation_upper_bound"}"#,
        r#"{"components":{"usd":{"expected":2,"p50":2,"p90":6,"hard_cap":10,"unit":"usd"}},"basis":"historical","estimator_confidence":"uncalibrated","assumptions":["quantiles: all parts are dear at once; this is no upper bound"],"correlation_policy":"assume_perfect_correlation_upper_bound"}"#,
    ),
    vector(
        "seen_together",
        r#"{"vectors":[{"components":{"usd":{"expected":2,"unit":"usd"}},"basis":"historical","estimator_confidence":"calibrated","assumptions":[]},{"components":{"usd":{"expected":2,"unit":"usd"}},"basis":"historical","estimator_confidence":"calibrated","assumptions":[]}],"correlation_policy":"empirical_joint_distribution","samples":[{"usd":[1,2,3]},{"usd":[3,2,1]}]}"#,
        r#"{"components":{"usd":{"expected":4,"p50":4,"p90":4,"p99":4,"unit":"usd"}},"basis":"historical","estimator_confidence":"calibrated","assumptions":["quantiles: parts as they were seen together"],"correlation_policy":"empirical_joint_distribution"}"#,
    ),
    vector(
        "independent_parts",
        r#"{"vectors":[{"components":{"usd":{"expected":8,"unit":"usd"}},"basis":"historical","estimator_confidence":"calibrated","assumptions":[]},{"components":{"usd":{"expected":8,"unit":"usd"}},"basis":"historical","estimator_confidence":"calibrated","assumptions":[]}],"correlation_policy":"assume_independent_monte_carlo","samples":[{"usd":[0,0,0,0,0,0,0,0,0,0,0,100]},{"usd":[0,0,0,0,0,0,0,0,0,0,0,100]}],"draws":2000,"seed":7}"#,
        r#"{"components":{"usd":{"expected":16,"p50":0,"p90":100,"p99":100,"unit":"usd"}},"basis":"historical","estimator_confidence":"calibrated","assumptions":["quantiles: 2000 draws of independent parts with the seed 7"],"correlation_policy":"assume_independent_monte_carlo"}"#,
    ),
    vector(
        "at_once",
        r#"{"vectors":[{"components":{"wall_clock_ms":{"expected":300,"unit":"wall_clock_ms"}},"basis":"measured_actual","estimator_confidence":"calibrated","assumptions":[]},{"components":{"wall_clock_ms":{"expected":200,"unit":"wall_clock_ms"}},"basis":"measured_actual","estimator_confidence":"calibrated","assumptions":[]}],"timing":"parallel"}"#,
        r#"{"components":{"wall_clock_ms":{"expected":300,"unit":"wall_clock_ms"}},"basis":"measured_actual","estimator_confidence":"calibrated","assumptions":[]}"#,
    ),
    refused(
        "another_unit",
        r#"{"vectors":[{"components":{"usd":{"expected":1,"unit":"output_tokens"}},"basis":"heuristic","estimator_confidence":"experimental"}]}"#,
        &["cost_vector_unit_mismatch"],
    ),
    refused(
        "less_than_nothing",
        r#"{"vectors":[{"components":{"usd":{"expected":-1,"unit":"usd"}},"basis":"heuristic","estimator_confidence":"experimental"}]}"#,
        &["cost_vector_negative_component"],
    ),
    vector(
        "no_cases_to_draw_from",
        r#"{"vectors":[{"components":{"usd":{"expected":1}},"basis":"heuristic","estimator_confidence":"experimental"}],"correlation_policy":"assume_independent_monte_carlo"}"#,
        "\"the input samples must be so that present(samples) or not present(correlation_policy) or correlation_policy == 'assume_perfect_correlation_upper_bound'\"",
    ),
    vector(
        "quantiles_out_of_order",
        r#"{"vectors":[{"components":{"usd":{"expected":1,"p50":3,"p90":2}},"basis":"heuristic","estimator_confidence":"experimental"}]}"#,
        "\"the input vectors must be so that quantiles_in_order(vectors)\"",
    ),
    vector(
        "a_long_prompt_and_a_great_file",
        r#"{"vectors":[{"components":{"storage_bytes":{"expected":10737418240.5,"hard_cap":1e15},"input_tokens":{"expected":10000000001}},"basis":"heuristic","estimator_confidence":"experimental","assumptions":[]},{"components":{"storage_bytes":{"expected":1099511627777,"hard_cap":2e12},"input_tokens":{"expected":20000000002}},"basis":"heuristic","estimator_confidence":"experimental","assumptions":[]}]}"#,
        r#"{"components":{"storage_bytes":{"expected":1110249046017.5,"hard_cap":1002000000000000,"unit":"storage_bytes"},"input_tokens":{"expected":30000000003,"unit":"input_tokens"}},"basis":"heuristic","estimator_confidence":"experimental","assumptions":[]}"#,
    ),
    vector(
        "more_than_can_be_counted",
        r#"{"vectors":[{"components":{"usd":{"expected":1,"hard_cap":1e16}},"basis":"heuristic","estimator_confidence":"experimental"}]}"#,
        "\"the input vectors/0/components/usd/hard_cap must be from 0 to 9000000000000000\"",
    ),
    vector("missing_vectors", "{}", "\"the input vectors is missing\""),
];
