//! Formulas: intervals and distributions.
//! Owns: their texts. Must not: compute.

use crate::formula::spec::{Spec, Vector, may, needs};
use crate::types::formula::{
    FiniteNumberPolicy, FormulaSpecRoundingPolicy, MetricValueKind, MissingInputPolicy, NumericUnit,
    ZeroDenominatorPolicy,
};

const fn vector(name: &'static str, inputs: &'static str, expected: &'static str) -> Vector {
    Vector { name, inputs, expected, codes: &[] }
}

/// An interval of a ratio.
const RATIO: Spec = Spec {
    id: "",
    version: "1.0.0",
    purpose: "",
    expression: "",
    inputs: &[
        needs("hits", "how often it came").within(0.0, 9e15),
        needs("trials", "how often it could").within(0.0, 9e15),
        needs("level", "0.8, 0.9, 0.95 or 0.99").within(0.0, 1.0).or("0.95"),
    ],
    value_kind: MetricValueKind::Distribution,
    unit: NumericUnit::Ratio,
    range: Some((0.0, 1.0)),
    finite: FiniteNumberPolicy::RejectNanInfinity,
    missing: MissingInputPolicy::ReturnIndeterminate,
    zero: None,
    rounding: FormulaSpecRoundingPolicy::RoundTo6DecimalPlaces,
    vectors: &[],
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
        ],
        ..RATIO
    },
    Spec {
        id: "beta_interval_v1",
        purpose: "How sure a ratio is, from a flat prior.",
        expression: "beta_interval(hits, trials, level)",
        vectors: &[
            vector("eight_of_ten", r#"{"hits":8,"trials":10,"level":0.95}"#, "[0.482244,0.939782]"),
            vector("missing_hits", r#"{"trials":10}"#, "null"),
        ],
        ..RATIO
    },
    Spec {
        id: "normal_interval_v1",
        purpose: "How sure a ratio is, by the normal law.",
        expression: "normal_interval(hits, trials, level)",
        vectors: &[
            vector("five_of_ten", r#"{"hits":5,"trials":10,"level":0.95}"#, "[0.190102,0.809898]"),
            vector("missing_hits", r#"{"trials":10}"#, "null"),
        ],
        ..RATIO
    },
    Spec {
        id: "bootstrap_mean_interval_v1",
        purpose: "How sure a mean is, by drawing anew with a seed.",
        expression: "bootstrap_mean(values, level, draws, seed)",
        inputs: &[
            needs("values", "what was measured"),
            needs("level", "0.8, 0.9, 0.95 or 0.99").within(0.0, 1.0).or("0.95"),
            needs("draws", "how often is drawn").within(1.0, 1_000_000.0).or("1000"),
            needs("seed", "where drawing begins").within(0.0, 9e15),
        ],
        unit: NumericUnit::Unitless,
        range: None,
        vectors: &[
            vector("one_value", r#"{"values":[3,3,3],"seed":7}"#, "[3,3]"),
            vector("missing_seed", r#"{"values":[1,2]}"#, "null"),
        ],
        ..RATIO
    },
    Spec {
        id: "latency_distribution_v1",
        purpose: "How long something takes: the mean and the quantiles.",
        expression: "{ expected: mean(values), p50: quantile(values, 0.5), p90: quantile(values, 0.9), p99: quantile(values, 0.99), sample_size: count(values) }",
        inputs: &[needs("values", "milliseconds"), may("window", "when they were measured")],
        unit: NumericUnit::Milliseconds,
        range: None,
        zero: Some(ZeroDenominatorPolicy::ReturnIndeterminateInsufficientData),
        vectors: &[
            vector(
                "ten_values",
                r#"{"values":[10,20,30,40,50,60,70,80,90,100]}"#,
                r#"{"expected":55,"p50":55,"p90":91,"p99":99.1,"sample_size":10}"#,
            ),
            vector("zero_values", r#"{"values":[]}"#, "null"),
            vector("missing_values", "{}", "null"),
        ],
        ..RATIO
    },
];
