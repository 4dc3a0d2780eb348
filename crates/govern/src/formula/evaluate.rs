//! Computing a formula.
//! Owns: the order of the steps; the policies for what is missing, zero or not finite; rounding. Must not: mint an id or take the
//! time.

use super::compute::{self, Places, Stop, compute, list, text};
use super::input::Input;
use super::policy::{self, Bounds, Sampled};
use super::ready::Ready;
use super::refusal::{How, NotEvaluated, Wrong, stopped};
use super::take::{check, take, unknown};
use super::value::Value;
use crate::types::cost::CostCorrelationPolicy;
use crate::types::formula::{
    FiniteNumberPolicy, FormulaEvaluationReceiptFiniteNumberCheck as Check, MissingInputPolicy,
    ZeroDenominatorPolicy,
};
use alloc::borrow::Cow;
use alloc::format;
use alloc::string::ToString;
use alloc::vec::Vec;
use countersign_record::json::{Json, Object};

/// What a formula gave.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluated {
    /// The value, rounded as the formula says; `null` where it can't be told.
    pub value: Json,
    /// Inputs that were missing, and what the formula left out.
    pub omitted: Vec<Cow<'static, str>>,
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

/// Room for what a formula names and computes on the way, made at once.
const NAMED_LIKELY: usize = 24;

/// Computes a formula.
///
/// # Errors
/// An input is missing or wrong, inputs do not go together, or a function refuses one by a code.
pub fn evaluate(formula: &Ready, inputs: &Object) -> Result<Evaluated, NotEvaluated> {
    let spec = &formula.spec;
    if let Some((name, _)) = inputs.iter().find(|(name, _)| !formula.names.contains(name)) {
        return Err(NotEvaluated::Input(unknown(name)));
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
    let mut places = Places::with_room(formula.inputs.len() + NAMED_LIKELY, NAMED_LIKELY);
    let mut is_open = false;
    for (input, default) in &formula.inputs {
        match inputs.get(input.name).filter(|value| **value != Json::Null) {
            Some(given) => {
                let taken = take(input, given);
                places.named.push(taken.map_err(|wrong| NotEvaluated::Input(wrong.inside(input.name)))?);
            }
            None => {
                is_open |= left_out(input, spec.missing, &mut evaluated)?;
                places.named.push(default.as_ref().map_or(Value::Absent, Value::from));
            }
        }
    }
    if is_open {
        return Ok(evaluated);
    }
    let correlation = spec.correlation.and_then(|name| inputs.get(name)).and_then(Json::as_str);
    evaluated.correlation = correlation.and_then(CostCorrelationPolicy::find);
    computed(formula, &mut places, evaluated)
}

/// What becomes of inputs that are what they must be, each for itself.
fn computed<'v>(
    formula: &Ready,
    places: &mut Places<'v>,
    mut evaluated: Evaluated,
) -> Result<Evaluated, NotEvaluated> {
    for (holds, requirement) in &formula.requires {
        if !compute::holds(holds, places).map_err(stopped)? {
            let wrong = Wrong::new(How::Together, format!("must be so that {}", requirement.holds));
            return Err(NotEvaluated::Input(wrong.coded(requirement.code).inside(requirement.at)));
        }
    }
    if let Some(omits) = &formula.omits {
        omitted(&compute(omits, places).map_err(stopped)?, &mut evaluated).map_err(stopped)?;
    }
    evaluated.sample = policy::sampled(formula, places).map_err(stopped)?;
    let value = match policy::instead(formula, evaluated.sample, places).map_err(stopped)? {
        Some(instead) => instead,
        None => {
            let value = valued(formula, places, &mut evaluated)?;
            let (value, bounds) = policy::with_interval(formula, value, places).map_err(stopped)?;
            evaluated.interval = bounds.map(|bounds| bounds.rounded(formula.spec.rounding));
            policy::with_confidence(formula, evaluated.sample, value)
        }
    };
    finish(formula, &value, &mut evaluated)?;
    Ok(evaluated)
}

/// Names of what is left out, each once.
fn omitted(names: &Value<'_>, evaluated: &mut Evaluated) -> Result<(), Stop> {
    for name in list(names)?.iter().filter(|name| **name != Value::Absent) {
        let name = text(name)?;
        if !evaluated.omitted.iter().any(|one| one == name) {
            evaluated.omitted.push(Cow::Owned(name.to_string()));
        }
    }
    Ok(())
}

/// What the formula says, and what its policy says where it divides by zero.
fn valued<'v>(
    formula: &Ready,
    places: &mut Places<'v>,
    evaluated: &mut Evaluated,
) -> Result<Value<'v>, NotEvaluated> {
    match compute(&formula.expression, places) {
        Ok(value) => Ok(value),
        Err(Stop::ZeroDenominator) => {
            let policy = formula.spec.zero.unwrap_or(ZeroDenominatorPolicy::FailValidation);
            evaluated.zero = Some(policy);
            match policy {
                ZeroDenominatorPolicy::ReturnIndeterminateInsufficientData => Ok(Value::Absent),
                ZeroDenominatorPolicy::ReturnZero => Ok(Value::Number(0.0)),
                ZeroDenominatorPolicy::ReturnOne => Ok(Value::Number(1.0)),
                ZeroDenominatorPolicy::FailValidation => Err(NotEvaluated::ZeroDenominator),
            }
        }
        Err(stop @ (Stop::Input(_) | Stop::Kind(_))) => Err(stopped(stop)),
    }
}

/// An input is missing: whether the whole can't be told without it.
fn left_out(
    input: &Input,
    policy: MissingInputPolicy,
    evaluated: &mut Evaluated,
) -> Result<bool, NotEvaluated> {
    evaluated.omitted.push(Cow::Borrowed(input.name));
    // Of what was done about several, what weighs most is told.
    let applied = match (input.default, input.is_required) {
        (Some(_), _) => MissingInputPolicy::DefaultValueWithAudit,
        (None, false) => MissingInputPolicy::ExcludeWithRecordedOmission,
        (None, true) => policy,
    };
    let outweighs = |before: MissingInputPolicy| weight(applied) > weight(before);
    if evaluated.missing.is_none_or(outweighs) {
        evaluated.missing = Some(applied);
    }
    if !input.is_required {
        return Ok(false);
    }
    match policy {
        MissingInputPolicy::ReturnIndeterminate => Ok(true),
        MissingInputPolicy::ExcludeWithRecordedOmission => Ok(false),
        MissingInputPolicy::FailValidation
        | MissingInputPolicy::DefaultValueWithAudit
        | MissingInputPolicy::BlockComputation => Err(NotEvaluated::Missing { name: input.name }),
    }
}

/// How much it weighs what was done about a missing input.
fn weight(policy: MissingInputPolicy) -> u8 {
    match policy {
        MissingInputPolicy::ExcludeWithRecordedOmission => 0,
        MissingInputPolicy::DefaultValueWithAudit => 1,
        MissingInputPolicy::ReturnIndeterminate
        | MissingInputPolicy::FailValidation
        | MissingInputPolicy::BlockComputation => 2,
    }
}

/// What is not finite, and rounding; nothing is published that is not what the formula says that it gives.
fn finish(formula: &Ready, value: &Value<'_>, evaluated: &mut Evaluated) -> Result<(), NotEvaluated> {
    let spec = &formula.spec;
    if let Some(number) = value.not_finite() {
        evaluated.finite = match spec.finite {
            FiniteNumberPolicy::CoerceToIndeterminate => Check::CoercedToIndeterminate,
            FiniteNumberPolicy::RejectNanInfinity | FiniteNumberPolicy::AllowOnlyInTestFixture => {
                evaluated.codes.push("formula_output_nan_or_infinity");
                if number.is_nan() { Check::FailedNan } else { Check::FailedInfinity }
            }
        };
        return Ok(());
    }
    let value = value.json(&|number| policy::rounded(spec.rounding, number)).unwrap_or(Json::Null);
    if let (Some((gives, range)), false) = (&formula.gives, value == Json::Null) {
        check(gives, *range, &value).map_err(NotEvaluated::Output)?;
    }
    evaluated.value = value;
    Ok(())
}
