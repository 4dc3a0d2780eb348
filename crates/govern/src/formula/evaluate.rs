//! Computing a formula.
//! Owns: the policies for what is missing, zero or not finite; rounding. Must not: mint an id or take the time.

use super::compute::{Scope, Stop, compute};
use super::policy::{self, Bounds, Sampled};
use super::spec::{Input, Ready, Shape};
use super::value::Value;
use crate::types::cost::CostCorrelationPolicy;
use crate::types::formula::{
    FiniteNumberPolicy, FormulaEvaluationReceiptFiniteNumberCheck as Check, FormulaSpecRoundingPolicy,
    MissingInputPolicy, ZeroDenominatorPolicy,
};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_record::json::{Json, Object};

/// What a formula gave.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluated {
    /// The value, rounded as the formula says; `null` where it can't be told.
    pub value: Json,
    /// Inputs that were missing.
    pub omitted: Vec<&'static str>,
    /// What was done about that.
    pub missing: Option<MissingInputPolicy>,
    /// What was done about a division by zero.
    pub zero: Option<ZeroDenominatorPolicy>,
    /// What was found about numbers that are not finite.
    pub finite: Check,
    /// Codes, behind `validation.`.
    pub codes: Vec<&'static str>,
    /// How many cases there were, if the formula counts them.
    pub sample: Option<Sampled>,
    /// How sure the value is, where that can be told.
    pub interval: Option<Bounds>,
    /// How quantiles were put together.
    pub correlation: Option<CostCorrelationPolicy>,
}

/// There is no value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotEvaluated {
    /// An input is missing, and the formula can't do without.
    #[error("the input {name} is missing")]
    Missing {
        /// Which one.
        name: &'static str,
    },
    /// An input is not where it must be.
    #[error("the input {name} is not within its range")]
    Range {
        /// Which one.
        name: &'static str,
    },
    /// An input is not what it must be.
    #[error("the input {name} must be a {}", shape.as_str())]
    Shape {
        /// Which one.
        name: &'static str,
        /// What it must be.
        shape: Shape,
    },
    /// The value is not where the formula says that it must be: its inputs can't belong together.
    #[error("the value {value} is not within its range")]
    Output {
        /// The value.
        value: String,
    },
    /// An input that the formula does not have.
    #[error("the formula has no input {name}")]
    Unknown {
        /// Which one.
        name: String,
    },
    /// It stopped.
    #[error(transparent)]
    Stopped(#[from] Stop),
}

impl NotEvaluated {
    /// The code behind `validation.`, where there is one.
    #[must_use]
    pub fn code(&self) -> Option<&'static str> {
        match self {
            NotEvaluated::Stopped(Stop::Code { code, .. }) => Some(code),
            NotEvaluated::Missing { .. }
            | NotEvaluated::Range { .. }
            | NotEvaluated::Shape { .. }
            | NotEvaluated::Output { .. }
            | NotEvaluated::Unknown { .. }
            | NotEvaluated::Stopped(Stop::ZeroDenominator | Stop::Kind(_)) => None,
        }
    }
}

/// Computes a formula.
///
/// # Errors
/// An input is missing or wrong, or a function refuses it by a code.
pub fn evaluate(formula: &Ready, inputs: &Object) -> Result<Evaluated, NotEvaluated> {
    let spec = &formula.spec;
    if let Some((name, _)) =
        inputs.iter().find(|(name, _)| !spec.inputs.iter().any(|input| input.name == *name))
    {
        return Err(NotEvaluated::Unknown { name: name.to_string() });
    }
    let mut evaluated = Evaluated {
        value: Json::Null,
        omitted: Vec::new(),
        missing: None,
        zero: None,
        finite: Check::Passed,
        codes: Vec::new(),
        sample: None,
        interval: None,
        correlation: None,
    };
    let mut values = Vec::with_capacity(spec.inputs.len());
    for input in spec.inputs {
        match given(input, inputs, spec.missing, &mut evaluated)? {
            Some(value) => values.push((input.name, value)),
            None => return Ok(evaluated),
        }
    }
    let correlation = spec.correlation.and_then(|name| inputs.get(name)).and_then(Json::as_str);
    evaluated.correlation = correlation.and_then(CostCorrelationPolicy::find);
    let mut scope = Scope::new(values);
    evaluated.sample = policy::sampled(formula, &mut scope)?;
    let value = match policy::instead(formula, evaluated.sample, &mut scope)? {
        Some(instead) => instead,
        None => {
            let value = valued(formula, &mut scope, &mut evaluated)?;
            let (value, bounds) = policy::with_interval(formula, value, &mut scope)?;
            evaluated.interval = bounds.map(|bounds| bounds.rounded(spec.rounding));
            policy::with_confidence(formula, evaluated.sample, value)
        }
    };
    if let (Value::Number(number), Some((low, high))) = (&value, spec.range)
        && number.is_finite()
        && !(low..=high).contains(number)
    {
        return Err(NotEvaluated::Output { value: number.to_string() });
    }
    finish(spec.finite, spec.rounding, value, &mut evaluated);
    Ok(evaluated)
}

/// What the formula says, and what its policy says where it divides by zero.
fn valued<'s>(
    formula: &'s Ready,
    scope: &mut Scope<'s>,
    evaluated: &mut Evaluated,
) -> Result<Value, NotEvaluated> {
    match compute(&formula.expression, scope) {
        Ok(value) => Ok(value),
        Err(Stop::ZeroDenominator) => {
            let policy = formula.spec.zero.unwrap_or(ZeroDenominatorPolicy::FailValidation);
            evaluated.zero = Some(policy);
            match policy {
                ZeroDenominatorPolicy::ReturnIndeterminateInsufficientData => Ok(Value::Absent),
                ZeroDenominatorPolicy::ReturnZero => Ok(Value::Number(0.0)),
                ZeroDenominatorPolicy::ReturnOne => Ok(Value::Number(1.0)),
                ZeroDenominatorPolicy::FailValidation => Err(Stop::ZeroDenominator.into()),
            }
        }
        Err(stop @ (Stop::Code { .. } | Stop::Kind(_))) => Err(stop.into()),
    }
}

/// The value of an input; `None` if the whole can't be told without it.
fn given(
    input: &Input,
    inputs: &Object,
    policy: MissingInputPolicy,
    evaluated: &mut Evaluated,
) -> Result<Option<Value>, NotEvaluated> {
    let found = inputs.get(input.name).filter(|value| **value != Json::Null);
    let Some(found) = found else {
        evaluated.omitted.push(input.name);
        if let Some(default) =
            input.default.and_then(|text| countersign_record::json::parse(text.as_bytes()).ok())
        {
            evaluated.missing = Some(MissingInputPolicy::DefaultValueWithAudit);
            return Ok(Some(Value::from(&default)));
        }
        if !input.is_required {
            evaluated.missing = evaluated.missing.or(Some(MissingInputPolicy::ExcludeWithRecordedOmission));
            return Ok(Some(Value::Absent));
        }
        evaluated.missing = Some(policy);
        return match policy {
            MissingInputPolicy::ReturnIndeterminate => Ok(None),
            MissingInputPolicy::ExcludeWithRecordedOmission => Ok(Some(Value::Absent)),
            MissingInputPolicy::FailValidation
            | MissingInputPolicy::DefaultValueWithAudit
            | MissingInputPolicy::BlockComputation => Err(NotEvaluated::Missing { name: input.name }),
        };
    };
    let value = Value::from(found);
    if !input.shape.holds(&value) {
        return Err(NotEvaluated::Shape { name: input.name, shape: input.shape });
    }
    if let (Value::Number(number), Some((low, high))) = (&value, input.range)
        && !(low..=high).contains(number)
    {
        return Err(NotEvaluated::Range { name: input.name });
    }
    Ok(Some(value))
}

/// What is not finite, and rounding.
fn finish(
    finite: FiniteNumberPolicy,
    rounding: FormulaSpecRoundingPolicy,
    value: Value,
    evaluated: &mut Evaluated,
) {
    if let Some(number) = value.not_finite() {
        (evaluated.value, evaluated.finite) = match finite {
            FiniteNumberPolicy::CoerceToIndeterminate => (Json::Null, Check::CoercedToIndeterminate),
            FiniteNumberPolicy::RejectNanInfinity | FiniteNumberPolicy::AllowOnlyInTestFixture => {
                evaluated.codes.push("formula_output_nan_or_infinity");
                (Json::Null, if number.is_nan() { Check::FailedNan } else { Check::FailedInfinity })
            }
        };
        return;
    }
    evaluated.value = value.map(&|number| policy::rounded(rounding, number)).json().unwrap_or(Json::Null);
}
