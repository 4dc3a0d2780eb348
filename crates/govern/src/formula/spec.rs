//! What is registered of a formula.
//! Owns: its texts, inputs, output, policies, test vectors; the record of it. Must not: compute.

use super::evaluate::evaluate;
use super::function;
use super::parse::{self, NotAFormula};
use super::refusal::NotEvaluated;
use crate::types::basic::{OwnerDoc, SchemaRef, StorageRef, V10};
use crate::types::formula::{
    FiniteNumberPolicy, FormulaInputSpec, FormulaOutputSpec, FormulaSpec,
    FormulaSpecConfidenceIntervalPolicy, FormulaSpecExpressionLanguage, FormulaSpecRoundingPolicy,
    FormulaSpecSamplePolicy, FormulaSpecSamplePolicyInsufficientSampleResult, FormulaTestVector,
    MetricValueKind, MissingInputPolicy, NumericUnit, ZeroDenominatorPolicy,
};
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_record::digest::Digest;
use countersign_record::json::{Json, Number};

use super::input::shown_number;
pub use super::input::{Input, Shape};
pub(super) use super::input::{may, needs};
pub use super::ready::Ready;
pub use crate::types::basic::IntervalLevel;
pub use crate::types::formula::FormulaSpecConfidenceIntervalPolicyMethod as IntervalMethod;

/// Something that inputs must be together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Requirement {
    /// A text of the language that must be true.
    pub holds: &'static str,
    /// The input that is refused where it is not.
    pub at: &'static str,
    /// The code behind `validation.`, where the contract has one.
    pub code: Option<&'static str>,
}

/// Inputs must be so together, or one of them is refused.
pub(super) const fn requires(at: &'static str, holds: &'static str) -> Requirement {
    Requirement { holds, at, code: None }
}

/// The same, where the contract has a code for it.
pub(super) const fn requires_or(at: &'static str, holds: &'static str, code: &'static str) -> Requirement {
    Requirement { holds, at, code: Some(code) }
}

/// What becomes of too few cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Below {
    /// This is said instead, a text of the language.
    Indeterminate(&'static str),
    /// The value stands, and says of itself that it is not sure: `low_confidence`.
    LowConfidence,
}

/// How many cases it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// So many, where no input says otherwise.
    pub min: u64,
    /// The input that says otherwise.
    pub least: Option<&'static str>,
    /// How many there are, a text of the language.
    pub size: &'static str,
    /// What becomes of fewer.
    pub below: Below,
    /// Whether it must be said when they were seen, in the input `window`.
    pub window_required: bool,
}

/// How sure a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    /// Whether there is no value without it.
    pub required: bool,
    /// How sure the interval is, where the input `level` does not say otherwise.
    pub level: IntervalLevel,
    /// How it is found.
    pub method: IntervalMethod,
    /// Its two ends, a text of the language that knows the inputs, `level`, and what was found as `value`.
    pub ends: &'static str,
}

/// An example that is computed in the tests and by `formula test`.
#[derive(Clone, Copy, Debug)]
pub struct Vector {
    /// What it shows.
    pub name: &'static str,
    /// The inputs, as JSON.
    pub inputs: &'static str,
    /// The value, as JSON.
    pub expected: &'static str,
    /// The codes, behind `validation.`.
    pub codes: &'static [&'static str],
}

/// An example without a code.
pub(super) const fn vector(name: &'static str, inputs: &'static str, expected: &'static str) -> Vector {
    Vector { name, inputs, expected, codes: &[] }
}

/// An example that is refused by a code.
pub(super) const fn refused(
    name: &'static str,
    inputs: &'static str,
    code: &'static [&'static str],
) -> Vector {
    Vector { name, inputs, expected: "null", codes: code }
}

/// A formula.
#[derive(Clone, Copy, Debug)]
pub struct Spec {
    /// Its id.
    pub id: &'static str,
    /// Its version.
    pub version: &'static str,
    /// What it is for.
    pub purpose: &'static str,
    /// Its text.
    pub expression: &'static str,
    /// What it takes.
    pub inputs: &'static [Input],
    /// What its inputs must be together.
    pub requires: &'static [Requirement],
    /// The names of what it leaves out, a text of the language that is a list: they stand in the receipt.
    pub omits: Option<&'static str>,
    /// What it gives.
    pub value_kind: MetricValueKind,
    /// In which unit.
    pub unit: NumericUnit,
    /// Where the value must be, or the numbers in it that have no range of their own.
    pub range: Option<(f64, f64)>,
    /// What the value is; nothing else is published.
    pub gives: Option<Shape>,
    /// What becomes of numbers that are not finite.
    pub finite: FiniteNumberPolicy,
    /// What becomes of a missing input.
    pub missing: MissingInputPolicy,
    /// What dividing by zero gives.
    pub zero: Option<ZeroDenominatorPolicy>,
    /// How the value is rounded before it is hashed.
    pub rounding: FormulaSpecRoundingPolicy,
    /// How many cases it takes.
    pub sample: Option<Sample>,
    /// How sure the value is.
    pub interval: Option<Interval>,
    /// The input that says how quantiles are put together, for the receipt.
    pub correlation: Option<&'static str>,
    /// Examples.
    pub vectors: &'static [Vector],
}

impl Spec {
    /// A formula of a status that says nothing yet: what is common to most of them.
    pub const PLAIN: Spec = Spec {
        id: "",
        version: "1.0.0",
        purpose: "",
        expression: "",
        inputs: &[],
        requires: &[],
        omits: None,
        value_kind: MetricValueKind::EnumDerived,
        unit: NumericUnit::Unitless,
        range: None,
        gives: None,
        finite: FiniteNumberPolicy::RejectNanInfinity,
        missing: MissingInputPolicy::FailValidation,
        zero: None,
        rounding: FormulaSpecRoundingPolicy::RoundTo6DecimalPlaces,
        sample: None,
        interval: None,
        correlation: None,
        vectors: &[],
    };

    /// The whole text: how the value is computed, of what, how many cases that takes, how sure it is, what it is, and which
    /// functions it calls, in which version.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::from(self.expression);
        for input in self.inputs {
            text.push_str(&format!("\ninput {}: {}", input.name, input.text()));
        }
        for Requirement { holds, at, code } in self.requires {
            let code = code.map(|code| format!(" ({code})")).unwrap_or_default();
            text.push_str(&format!("\nrequires of {at}{code}: {holds}"));
        }
        if let Some(omits) = self.omits {
            text.push_str(&format!("\nleaves out: {omits}"));
        }
        if let Some(sample) = self.sample {
            let least = sample.least.map_or_else(|| sample.min.to_string(), ToString::to_string);
            let below = match sample.below {
                Below::Indeterminate(instead) => instead,
                Below::LowConfidence => "low_confidence",
            };
            text.push_str(&format!("\nsample: {} < {least}: {below}", sample.size));
        }
        if let Some(interval) = self.interval {
            let (method, level) = (interval.method.as_str(), interval.level.number());
            text.push_str(&format!("\ninterval: {method} {level}: {}", interval.ends));
        }
        if let Some(gives) = self.gives {
            let range = self
                .range
                .map(|(low, high)| format!(" from {} to {}", shown_number(low), shown_number(high)))
                .unwrap_or_default();
            text.push_str(&format!("\ngives: {}{range}", gives.text()));
        }
        let called: BTreeSet<&str> = self.texts().flat_map(parse::called).collect();
        let called: Vec<String> = called.into_iter().filter_map(function::versioned).collect();
        if !called.is_empty() {
            text.push_str(&format!("\ncalls: {}", called.join(", ")));
        }
        text
    }

    /// All its texts of the language.
    fn texts(&self) -> impl Iterator<Item = &'static str> {
        let below = self.sample.and_then(|sample| match sample.below {
            Below::Indeterminate(instead) => Some(instead),
            Below::LowConfidence => None,
        });
        let single = [
            Some(self.expression),
            self.omits,
            self.sample.map(|sample| sample.size),
            below,
            self.interval.map(|interval| interval.ends),
        ];
        single.into_iter().flatten().chain(self.requires.iter().map(|one| one.holds))
    }

    /// SHA-256 of the formula's text: what a packet must carry to compute it again.
    #[must_use]
    pub fn hash(&self) -> Digest {
        Digest::of(self.text().as_bytes())
    }

    /// The formula, ready to be computed.
    ///
    /// # Errors
    /// One of its texts is none, or names what is not there.
    pub fn read(&self) -> Result<Ready, NotAFormula> {
        Ready::of(*self)
    }

    /// The record of it.
    #[must_use]
    pub fn record(&self) -> Option<FormulaSpec> {
        let reference = |text: String| StorageRef::try_from(text.as_str()).ok();
        let range =
            |(low, high): (f64, f64)| Some((Number::try_from(low).ok()?, Number::try_from(high).ok()?));
        let input = |input: &Input| FormulaInputSpec {
            name: input.name.to_string(),
            type_ref: SchemaRef {
                schema_id: input.shape.name().into_owned(),
                semantic_version: "1.0.0".to_string(),
            },
            required: input.is_required,
            allowed_units: input.unit.map(|unit| Vec::from([unit])),
            allowed_range: input.range.and_then(|one| range((one.low, one.high))),
            missing_input_policy_override: input.default.map(|_| MissingInputPolicy::DefaultValueWithAudit),
        };
        let ready = self.read().ok()?;
        let vector = |vector: &Vector| {
            let shown = shown(&ready, vector);
            let of = |part: &str, text: &str| {
                reference(format!("formula_vector:{}/{}/{part}#{}", self.id, vector.name, hex(text)))
            };
            Some(FormulaTestVector {
                test_vector_id: format!("{}/{}", self.id, vector.name),
                input_ref: of("input", vector.inputs)?,
                expected_output_ref: of("expected", vector.expected)?,
                expected_validation_codes: vector
                    .codes
                    .iter()
                    .map(|code| format!("validation.{code}"))
                    .collect(),
                schema_version: V10,
                missing_input_policy_applied: shown.0,
                zero_denominator_policy_applied: shown.1,
            })
        };
        Some(FormulaSpec {
            formula_id: self.id.to_string(),
            owner_doc: OwnerDoc::Doc23Common,
            semantic_version: self.version.to_string(),
            purpose: self.purpose.to_string(),
            expression_ref: reference(format!("expression:{}#{}", self.id, String::from(ready.hash)))?,
            expression_language: FormulaSpecExpressionLanguage::DeclarativeMetricDsl,
            inputs: self.inputs.iter().map(input).collect(),
            output: FormulaOutputSpec {
                value_kind: self.value_kind,
                unit: self.unit,
                range: self.range.and_then(range),
                higher_is_better: None,
                finite_number_policy: self.finite,
            },
            missing_input_policy: self.missing,
            zero_denominator_policy: self.zero,
            rounding_policy: self.rounding,
            sample_policy: self.sample.map(sample_policy),
            confidence_interval_policy: self.interval.map(interval_policy),
            test_vectors: self.vectors.iter().filter_map(vector).collect(),
            schema_version: V10,
            deprecated_at: None,
        })
    }
}

fn sample_policy(sample: Sample) -> FormulaSpecSamplePolicy {
    FormulaSpecSamplePolicy {
        min_sample_size: sample.min,
        insufficient_sample_result: match sample.below {
            Below::Indeterminate(_) => FormulaSpecSamplePolicyInsufficientSampleResult::Indeterminate,
            Below::LowConfidence => FormulaSpecSamplePolicyInsufficientSampleResult::EmitWithLowConfidence,
        },
        window_required: sample.window_required,
    }
}

fn interval_policy(interval: Interval) -> FormulaSpecConfidenceIntervalPolicy {
    FormulaSpecConfidenceIntervalPolicy {
        required: interval.required,
        interval_level: interval.level,
        method: interval.method,
    }
}

/// Which of a formula's policies a vector shows.
fn shown(ready: &Ready, vector: &Vector) -> (Option<MissingInputPolicy>, Option<ZeroDenominatorPolicy>) {
    let inputs = countersign_record::json::parse(vector.inputs.as_bytes()).ok();
    match inputs.as_ref().and_then(Json::as_object).map(|inputs| evaluate(ready, inputs)) {
        Some(Ok(evaluated)) => (evaluated.missing, evaluated.zero),
        Some(Err(NotEvaluated::Missing { .. })) => (Some(ready.spec.missing), None),
        Some(Err(NotEvaluated::ZeroDenominator)) => (None, ready.spec.zero),
        Some(Err(NotEvaluated::Input(_) | NotEvaluated::Output(_) | NotEvaluated::Kind(_))) | None => {
            (None, None)
        }
    }
}

fn hex(text: &str) -> String {
    String::from(Digest::of(text.as_bytes()))
}
