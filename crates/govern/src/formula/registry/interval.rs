//! Formulas: intervals and distributions.
//! Owns: their texts. Must not: compute.

use super::{LEVEL, WINDOW};
use crate::formula::input::{COUNT_MAX, record};
use crate::formula::spec::{
    Below, Input, Interval, IntervalLevel, IntervalMethod, Sample, Shape, Spec, may, needs, requires, vector,
};
use crate::types::formula::{MetricValueKind, MissingInputPolicy, NumericUnit};

/// One case is enough; of none nothing is said.
const ONE: Sample = Sample {
    min: 1,
    least: None,
    size: "trials",
    below: Below::Indeterminate("nothing"),
    window_required: false,
};

/// The interval is the value.
const fn found(method: IntervalMethod) -> Interval {
    Interval { required: true, level: IntervalLevel::P95, method, ends: "value" }
}

const HITS: Input = needs("hits", Shape::Count, "how often it came").within(0.0, COUNT_MAX);

/// An interval of a ratio.
const RATIO: Spec = Spec {
    version: "1.2.0",
    inputs: &[HITS, needs("trials", Shape::Count, "how often it could").within(0.0, COUNT_MAX), LEVEL],
    requires: &[requires("hits", "hits <= trials")],
    value_kind: MetricValueKind::Distribution,
    unit: NumericUnit::Ratio,
    range: Some((0.0, 1.0)),
    gives: Some(Shape::Numbers),
    missing: MissingInputPolicy::ReturnIndeterminate,
    sample: Some(ONE),
    interval: Some(found(IntervalMethod::Wilson)),
    ..Spec::PLAIN
};

pub(super) const FORMULAS: &[Spec] = &[
    Spec {
        id: "wilson_interval_v1",
        purpose: "How sure a ratio is, after Wilson.",
        expression: "wilson(hits, trials, level)",
        vectors: &[
            vector("eight_of_ten", r#"{"hits":8,"trials":10,"level":0.95}"#, "[0.490162,0.943318]"),
            vector("default_level", r#"{"hits":8,"trials":10}"#, "[0.490162,0.943318]"),
            vector("nothing_tried", r#"{"hits":0,"trials":0}"#, "null"),
            vector("missing_trials", r#"{"hits":8}"#, "null"),
            vector(
                "more_hits_than_trials",
                r#"{"hits":5,"trials":3}"#,
                "\"the input hits must be so that hits <= trials\"",
            ),
            vector(
                "another_level",
                r#"{"hits":8,"trials":10,"level":0.5}"#,
                "\"the input level must be 0.8 | 0.9 | 0.95 | 0.99\"",
            ),
        ],
        ..RATIO
    },
    Spec {
        id: "beta_interval_v1",
        purpose: "How sure a ratio is, from a flat prior.",
        expression: "beta_interval(hits, trials, level)",
        // Of more trials the sums that it is found by would not end in good time.
        inputs: &[HITS, needs("trials", Shape::Count, "how often it could").within(0.0, 1e8), LEVEL],
        interval: Some(found(IntervalMethod::BayesianBeta)),
        vectors: &[
            vector("eight_of_ten", r#"{"hits":8,"trials":10,"level":0.95}"#, "[0.482244,0.939782]"),
            vector("nothing_tried", r#"{"hits":0,"trials":0}"#, "null"),
            vector("missing_hits", r#"{"trials":10}"#, "null"),
        ],
        ..RATIO
    },
    Spec {
        id: "normal_interval_v1",
        purpose: "How sure a ratio is, by the normal law.",
        expression: "normal_interval(hits, trials, level)",
        interval: Some(found(IntervalMethod::NormalApproximation)),
        vectors: &[
            vector("five_of_ten", r#"{"hits":5,"trials":10,"level":0.95}"#, "[0.190102,0.809898]"),
            vector("nothing_tried", r#"{"hits":0,"trials":0}"#, "null"),
            vector("missing_hits", r#"{"trials":10}"#, "null"),
        ],
        ..RATIO
    },
    Spec {
        id: "bootstrap_mean_interval_v1",
        purpose: "How sure a mean is, by drawing anew with a seed.",
        expression: "bootstrap_mean(values, level, draws, seed)",
        sample: Some(Sample { size: "count(values)", ..ONE }),
        interval: Some(found(IntervalMethod::Bootstrap)),
        inputs: &[
            needs("values", Shape::Numbers, "what was measured").within(-COUNT_MAX, COUNT_MAX),
            LEVEL,
            needs("draws", Shape::Count, "how often is drawn").within(1.0, 1_000_000.0).or("1000"),
            needs("seed", Shape::Count, "where drawing begins").within(0.0, COUNT_MAX),
        ],
        requires: &[requires("draws", "draws * count(values) <= 20000000")],
        unit: NumericUnit::Unitless,
        range: Some((-COUNT_MAX, COUNT_MAX)),
        vectors: &[
            vector("one_value", r#"{"values":[3,3,3],"seed":7}"#, "[3,3]"),
            vector("no_value", r#"{"values":[],"seed":7}"#, "null"),
            vector("missing_seed", r#"{"values":[1,2]}"#, "null"),
            vector(
                "no_number_that_can_be_added",
                r#"{"values":[1e308,1e308],"seed":7}"#,
                "\"the input values/0 must be from -9000000000000000 to 9000000000000000\"",
            ),
        ],
        ..RATIO
    },
    Spec {
        id: "latency_distribution_v1",
        version: "1.3.0",
        purpose: "How long something takes, by the quantiles: a mean would hide the few that wait long.",
        expression: "{ p50: quantile(values, 0.5), p90: quantile(values, 0.9), p99: quantile(values, 0.99), sample_size: count(values) }",
        inputs: &[
            needs("values", Shape::Numbers, "how long each took")
                .within(0.0, COUNT_MAX)
                .unit(NumericUnit::Milliseconds),
            WINDOW,
        ],
        requires: &[requires(
            "window",
            "earlier(window.start, window.end) or not earlier(window.end, window.start) and count(values) <= 1",
        )],
        unit: NumericUnit::Milliseconds,
        range: Some((0.0, COUNT_MAX)),
        gives: Some(record(&[
            may("p50", Shape::Number, ""),
            may("p90", Shape::Number, ""),
            may("p99", Shape::Number, ""),
            needs("sample_size", Shape::Count, ""),
            needs("low_confidence", Shape::Truth, ""),
        ])),
        sample: Some(Sample {
            min: 100,
            least: None,
            size: "count(values)",
            below: Below::LowConfidence,
            window_required: true,
        }),
        interval: None,
        vectors: &[
            vector(
                "ten_values",
                r#"{"values":[10,20,30,40,50,60,70,80,90,100],"window":{"start":"2026-03-02T08:00:00Z","end":"2026-03-02T12:00:00Z"}}"#,
                r#"{"p50":55,"p90":91,"p99":99.1,"sample_size":10,"low_confidence":true}"#,
            ),
            vector(
                "a_hundred_values",
                r#"{"values":[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,900],"window":{"start":"2026-03-02T08:00:00Z","end":"2026-03-02T12:00:00Z"}}"#,
                r#"{"p50":1,"p90":1,"p99":9.99,"sample_size":100,"low_confidence":false}"#,
            ),
            vector(
                "no_values",
                r#"{"values":[],"window":{"start":"2026-03-02T08:00:00Z","end":"2026-03-02T12:00:00Z"}}"#,
                r#"{"p50":null,"p90":null,"p99":null,"sample_size":0,"low_confidence":true}"#,
            ),
            vector("missing_window", r#"{"values":[10]}"#, "null"),
            vector(
                "a_window_of_no_time",
                r#"{"values":[10],"window":{"start":"2026-03-02T08:00:00Z","end":"2026-03-02T08:00:00Z"}}"#,
                r#"{"p50":10,"p90":10,"p99":10,"sample_size":1,"low_confidence":true}"#,
            ),
            vector(
                "two_values_in_no_time",
                r#"{"values":[10,20],"window":{"start":"2026-03-02T08:00:00Z","end":"2026-03-02T08:00:00Z"}}"#,
                "\"the input window must be so that earlier(window.start, window.end) or not earlier(window.end, window.start) and count(values) <= 1\"",
            ),
            vector(
                "less_than_no_time",
                r#"{"values":[-5],"window":{"start":"2026-03-02T08:00:00Z","end":"2026-03-02T12:00:00Z"}}"#,
                "\"the input values/0 must be from 0 to 9000000000000000\"",
            ),
        ],
        ..RATIO
    },
];
