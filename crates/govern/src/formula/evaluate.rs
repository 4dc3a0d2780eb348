//! Computing a formula, with its receipt.
//! Owns: the policies for what is missing, zero or not finite; rounding; the receipt. Must not: mint an id or take the time.

use super::compute::{Scope, Stop, compute};
use super::spec::{Input, Ready};
use super::value::Value;
use crate::types::basic::{Instant, StorageRef, V10};
use crate::types::formula::{
    FiniteNumberPolicy, FormulaEvaluationReceipt, FormulaEvaluationReceiptFiniteNumberCheck as Check,
    FormulaSpecRoundingPolicy, MissingInputPolicy, ZeroDenominatorPolicy,
};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_record::canonical::{self, Score};
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
            | NotEvaluated::Unknown { .. }
            | NotEvaluated::Stopped(Stop::ZeroDenominator | Stop::Kind(_)) => None,
        }
    }
}

/// What a receipt tells besides the computation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Published {
    /// The receipt's id.
    pub receipt_id: String,
    /// Who computed.
    pub producer_ref: String,
    /// The records that the inputs were taken from.
    pub input_refs: Vec<StorageRef>,
    /// The record that has the value.
    pub output_ref: StorageRef,
    /// When.
    pub at: Instant,
    /// For which task and run.
    pub task_id: Option<String>,
    /// For which run.
    pub run_id: Option<String>,
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
    };
    let mut values = Vec::with_capacity(spec.inputs.len());
    for input in spec.inputs {
        match given(input, inputs, spec.missing, &mut evaluated)? {
            Some(value) => values.push((input.name, value)),
            None => return Ok(evaluated),
        }
    }
    let value = match compute(&formula.expression, &mut Scope::new(values)) {
        Ok(value) => value,
        Err(Stop::ZeroDenominator) => {
            let policy = spec.zero.unwrap_or(ZeroDenominatorPolicy::FailValidation);
            evaluated.zero = Some(policy);
            match policy {
                ZeroDenominatorPolicy::ReturnIndeterminateInsufficientData => Value::Absent,
                ZeroDenominatorPolicy::ReturnZero => Value::Number(0.0),
                ZeroDenominatorPolicy::ReturnOne => Value::Number(1.0),
                ZeroDenominatorPolicy::FailValidation => return Err(Stop::ZeroDenominator.into()),
            }
        }
        Err(stop @ (Stop::Code { .. } | Stop::Kind(_))) => return Err(stop.into()),
    };
    finish(spec.finite, spec.rounding, value, &mut evaluated);
    Ok(evaluated)
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
    let rounded = match rounding {
        FormulaSpecRoundingPolicy::RoundTo6DecimalPlaces => {
            value.map(&|number| Score::try_from(number).map_or(number, Score::value))
        }
        FormulaSpecRoundingPolicy::NoRoundingStoreFullPrecision
        | FormulaSpecRoundingPolicy::RoundDisplayOnly => value,
    };
    evaluated.value = rounded.json().unwrap_or(Json::Null);
}

/// The receipt of a computation. Its hashes are over canonical JSON, so anybody can compute them again.
///
/// # Errors
/// An input can't be written canonically.
pub fn publish(
    formula: &Ready,
    inputs: &Object,
    evaluated: &Evaluated,
    published: Published,
) -> Result<FormulaEvaluationReceipt, canonical::Unwritable> {
    let spec = &formula.spec;
    let manifest = Object::from([
        ("formula_id", Json::from(spec.id)),
        ("formula_semantic_version", spec.version.into()),
        ("expression_hash", Json::from(String::from(formula.hash))),
        ("input_names", Json::Array(inputs.iter().map(|(name, _)| name.into()).collect())),
        ("input_refs", Json::Array(published.input_refs.iter().map(|one| one.as_str().into()).collect())),
    ]);
    Ok(FormulaEvaluationReceipt {
        receipt_id: published.receipt_id,
        formula_id: spec.id.to_string(),
        formula_semantic_version: spec.version.to_string(),
        producer_ref: published.producer_ref,
        task_id: published.task_id,
        run_id: published.run_id,
        input_refs: published.input_refs,
        input_manifest_hash: String::from(canonical::hash_of(&manifest)?),
        input_value_hash: String::from(canonical::hash_of(inputs)?),
        output_ref: published.output_ref,
        output_value_hash: String::from(canonical::hash_of(&evaluated.value)?),
        omitted_input_names: evaluated.omitted.iter().map(ToString::to_string).collect(),
        missing_input_policy_applied: evaluated.missing,
        zero_denominator_policy_applied: evaluated.zero,
        finite_number_check: evaluated.finite,
        validation_codes: evaluated.codes.iter().map(|code| format!("validation.{code}")).collect(),
        computed_at: published.at,
        schema_version: V10,
        correlation_policy: None,
    })
}
