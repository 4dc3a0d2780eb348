//! Formulas: what a criterion is met by, and whether a finding may block.
//! Owns: their texts. Must not: compute.

use crate::formula::input::COUNT_MAX;
use crate::formula::spec::{Shape, Spec, needs, requires, vector};
use crate::types::formula::{MetricValueKind, NumericUnit, ZeroDenominatorPolicy};

pub(super) const FORMULAS: &[Spec] = &[
    Spec {
        id: "met_share_v1",
        purpose: "How much of what is asked for is there.",
        expression: "met / wanted",
        inputs: &[
            needs("met", Shape::Count, "what is there of it").within(0.0, COUNT_MAX),
            needs("wanted", Shape::Count, "what is asked for").within(0.0, COUNT_MAX),
        ],
        requires: &[requires("met", "met <= wanted")],
        value_kind: MetricValueKind::Ratio,
        unit: NumericUnit::Ratio,
        range: Some((0.0, 1.0)),
        gives: Some(Shape::Number),
        zero: Some(ZeroDenominatorPolicy::ReturnIndeterminateInsufficientData),
        vectors: &[
            vector("two_of_three", r#"{"met":2,"wanted":3}"#, "0.666667"),
            vector("nothing_wanted", r#"{"met":0,"wanted":0}"#, "null"),
            vector(
                "more_than_wanted",
                r#"{"met":4,"wanted":3}"#,
                "\"the input met must be so that met <= wanted\"",
            ),
            vector("missing_met", r#"{"wanted":3}"#, "\"the input met is missing\""),
        ],
        ..Spec::PLAIN
    },
    Spec {
        id: "blocking_authority_v1",
        purpose: "Whether a finding may block: something that can be checked backs it, or somebody lets an opinion block.",
        expression: "checkable_basis_count > 0 or is_permitted",
        inputs: &[
            needs("checkable_basis_count", Shape::Count, "bases that can be checked").within(0.0, COUNT_MAX),
            needs("is_permitted", Shape::Truth, "whether an opinion may block"),
        ],
        value_kind: MetricValueKind::BooleanDerived,
        gives: Some(Shape::Truth),
        vectors: &[
            vector("a_check", r#"{"checkable_basis_count":1,"is_permitted":false}"#, "true"),
            vector("an_opinion", r#"{"checkable_basis_count":0,"is_permitted":false}"#, "false"),
            vector(
                "missing_basis",
                r#"{"is_permitted":true}"#,
                "\"the input checkable_basis_count is missing\"",
            ),
        ],
        ..Spec::PLAIN
    },
];
