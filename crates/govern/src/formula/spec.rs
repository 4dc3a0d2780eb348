//! What is registered of a formula.
//! Owns: its text, inputs, output, policies, test vectors; the record of it. Must not: compute.

use super::compute::Stop;
use super::evaluate::{NotEvaluated, evaluate};
use super::function;
use super::parse::{self, Expression, NotAFormula};
use crate::types::basic::V10;
use crate::types::basic::{OwnerDoc, SchemaRef, StorageRef};
use crate::types::formula::{
    FiniteNumberPolicy, FormulaInputSpec, FormulaOutputSpec, FormulaSpec, FormulaSpecExpressionLanguage,
    FormulaSpecRoundingPolicy, FormulaTestVector, MetricValueKind, MissingInputPolicy, NumericUnit,
    ZeroDenominatorPolicy,
};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_record::digest::Digest;
use countersign_record::json::{Json, Number};

/// An input.
#[derive(Clone, Copy, Debug)]
pub struct Input {
    /// Its name.
    pub name: &'static str,
    /// Its type, in words.
    pub about: &'static str,
    /// Whether there is no value without it.
    pub is_required: bool,
    /// Where a number must be.
    pub range: Option<(f64, f64)>,
    /// What it is where it is missing, as JSON, if the policy is to take that.
    pub default: Option<&'static str>,
}

/// An input that must be there.
pub(super) const fn needs(name: &'static str, about: &'static str) -> Input {
    Input { name, about, is_required: true, range: None, default: None }
}

/// An input that may be missing.
pub(super) const fn may(name: &'static str, about: &'static str) -> Input {
    Input { name, about, is_required: false, range: None, default: None }
}

impl Input {
    /// With the range of its numbers.
    pub(super) const fn within(self, low: f64, high: f64) -> Self {
        Input { range: Some((low, high)), ..self }
    }

    /// With what it is where it is missing.
    pub(super) const fn or(self, default: &'static str) -> Self {
        Input { default: Some(default), is_required: false, ..self }
    }
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
    /// What it gives.
    pub value_kind: MetricValueKind,
    /// In which unit.
    pub unit: NumericUnit,
    /// Where the value must be.
    pub range: Option<(f64, f64)>,
    /// What becomes of numbers that are not finite.
    pub finite: FiniteNumberPolicy,
    /// What becomes of a missing input.
    pub missing: MissingInputPolicy,
    /// What dividing by zero gives.
    pub zero: Option<ZeroDenominatorPolicy>,
    /// How the value is rounded before it is hashed.
    pub rounding: FormulaSpecRoundingPolicy,
    /// Examples.
    pub vectors: &'static [Vector],
}

impl Spec {
    /// SHA-256 of the formula's text: what a packet must carry to compute it again.
    #[must_use]
    pub fn hash(&self) -> Digest {
        Digest::of(self.expression.as_bytes())
    }

    /// The formula, ready to be computed.
    ///
    /// # Errors
    /// The text is none, or calls a function that is not there.
    pub fn read(&self) -> Result<Ready, NotAFormula> {
        let expression = parse::parse(self.expression)?;
        known(&expression)?;
        Ok(Ready { spec: *self, expression, hash: self.hash() })
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
                schema_id: format!("{}/{}", self.id, input.name),
                semantic_version: self.version.to_string(),
            },
            required: input.is_required,
            allowed_units: None,
            allowed_range: input.range.and_then(range),
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
            expression_ref: reference(format!("expression:{}#{}", self.id, hex(self.expression)))?,
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
            sample_policy: None,
            confidence_interval_policy: None,
            test_vectors: self.vectors.iter().filter_map(vector).collect(),
            schema_version: V10,
            deprecated_at: None,
        })
    }
}

/// Which of a formula's policies a vector shows.
fn shown(ready: &Ready, vector: &Vector) -> (Option<MissingInputPolicy>, Option<ZeroDenominatorPolicy>) {
    let inputs = countersign_record::json::parse(vector.inputs.as_bytes()).ok();
    match inputs.as_ref().and_then(Json::as_object).map(|inputs| evaluate(ready, inputs)) {
        Some(Ok(evaluated)) => (evaluated.missing, evaluated.zero),
        Some(Err(NotEvaluated::Missing { .. })) => (Some(ready.spec.missing), None),
        Some(Err(NotEvaluated::Stopped(Stop::ZeroDenominator))) => (None, ready.spec.zero),
        Some(Err(NotEvaluated::Range { .. } | NotEvaluated::Unknown { .. } | NotEvaluated::Stopped(_)))
        | None => (None, None),
    }
}

fn hex(text: &str) -> String {
    String::from(Digest::of(text.as_bytes()))
}

/// Refuses a call of a function that is not there: a registered formula must not fail for that when it is needed.
fn known(expression: &Expression) -> Result<(), NotAFormula> {
    let all = |many: &[Expression]| many.iter().try_for_each(known);
    match expression {
        Expression::Number(_)
        | Expression::Text(_)
        | Expression::Truth(_)
        | Expression::Nothing
        | Expression::Name(_) => Ok(()),
        Expression::Call(name, arguments) => match function::is_known(name, arguments.len()) {
            true => all(arguments),
            false => Err(NotAFormula {
                line: 1,
                message: format!("there is no function {name} that takes {} values", arguments.len()),
            }),
        },
        Expression::List(items) => all(items),
        Expression::Record(members) => members.iter().try_for_each(|(_, member)| known(member)),
        Expression::Member(of, _) | Expression::Not(of) | Expression::Minus(of) => known(of),
        Expression::Two(_, left, right) | Expression::Let(_, left, right) => {
            known(left).and_then(|()| known(right))
        }
        Expression::If(is, then, otherwise) => {
            known(is).and_then(|()| known(then)).and_then(|()| known(otherwise))
        }
    }
}

/// A formula that was read.
#[derive(Clone, Debug)]
pub struct Ready {
    /// What is registered of it.
    pub spec: Spec,
    pub(super) expression: Expression,
    /// SHA-256 of its text.
    pub hash: Digest,
}

/// Names of the inputs.
impl Ready {
    /// What it takes, by name.
    #[must_use]
    pub fn names(&self) -> Vec<&'static str> {
        self.spec.inputs.iter().map(|input| input.name).collect()
    }
}
