//! How many cases a formula takes, and how sure its value is.
//! Owns: what becomes of too few cases; the interval beside or in a value; rounding. Must not: know a formula.

use super::compute::{Scope, Stop, compute, list, number};
use super::function::whole_number;
use super::spec::{Below, Ready};
use super::value::Value;
use crate::types::formula::FormulaSpecRoundingPolicy;
use alloc::string::ToString;
use countersign_record::canonical::Score;

/// How many cases there were.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sampled {
    /// So many.
    pub size: u64,
    /// So many it takes.
    pub least: u64,
}

impl Sampled {
    /// Whether there were enough.
    #[must_use]
    pub fn is_enough(self) -> bool {
        self.size >= self.least
    }
}

/// How sure a value is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// From here.
    pub low: f64,
    /// To here.
    pub high: f64,
    /// How sure it is that it is between them.
    pub level: f64,
}

impl Bounds {
    /// With its ends rounded as the value is.
    pub(super) fn rounded(self, rounding: FormulaSpecRoundingPolicy) -> Self {
        Bounds { low: rounded(rounding, self.low), high: rounded(rounding, self.high), ..self }
    }
}

/// A number as it is hashed.
pub(super) fn rounded(rounding: FormulaSpecRoundingPolicy, number: f64) -> f64 {
    match rounding {
        FormulaSpecRoundingPolicy::RoundTo6DecimalPlaces => {
            Score::try_from(number).map_or(number, Score::value)
        }
        FormulaSpecRoundingPolicy::NoRoundingStoreFullPrecision
        | FormulaSpecRoundingPolicy::RoundDisplayOnly => number,
    }
}

/// How many cases there are, if the formula counts them.
pub(super) fn sampled<'s>(formula: &'s Ready, scope: &mut Scope<'s>) -> Result<Option<Sampled>, Stop> {
    let (Some(sample), Some(size)) = (formula.spec.sample, &formula.size) else { return Ok(None) };
    let size = whole_number(&compute(size, scope)?)?;
    let said = sample.least.and_then(|name| scope.get(name));
    let least = said.map_or(Ok(sample.min), whole_number)?;
    Ok(Some(Sampled { size, least }))
}

/// What is said instead of a value of too few cases.
pub(super) fn instead<'s>(
    formula: &'s Ready,
    sampled: Option<Sampled>,
    scope: &mut Scope<'s>,
) -> Result<Option<Value>, Stop> {
    match (&formula.below, sampled) {
        (Some(below), Some(sampled)) if !sampled.is_enough() => compute(below, scope).map(Some),
        (Some(_) | None, Some(_) | None) => Ok(None),
    }
}

/// A value of too few cases that stands says so of itself.
pub(super) fn with_confidence(formula: &Ready, sampled: Option<Sampled>, value: Value) -> Value {
    let says = formula.spec.sample.is_some_and(|sample| sample.below == Below::LowConfidence);
    match (value, sampled) {
        (Value::Record(mut members), Some(sampled)) if says => {
            members.insert("low_confidence".to_string(), (!sampled.is_enough()).into());
            Value::Record(members)
        }
        (value, Some(_) | None) => value,
    }
}

/// A value with how sure it is: in it where it has members, beside it where it has none. Nothing where that is required and can't
/// be told.
pub(super) fn with_interval<'s>(
    formula: &'s Ready,
    value: Value,
    scope: &mut Scope<'s>,
) -> Result<(Value, Option<Bounds>), Stop> {
    let (Some(interval), Some(ends)) = (formula.spec.interval, &formula.ends) else {
        return Ok((value, None));
    };
    if value == Value::Absent {
        return Ok((value, None));
    }
    scope.behind("level", interval.level.number().into());
    scope.before("value", value.clone());
    let bounds = match compute(ends, scope) {
        Ok(Value::Absent) | Err(Stop::ZeroDenominator) => None,
        Ok(found) => {
            let level =
                scope.get("level").map(number).transpose()?.unwrap_or_else(|| interval.level.number());
            match list(&found)? {
                [low, high] => Some(Bounds { low: number(low)?, high: number(high)?, level }),
                _other => return Err(Stop::Kind("an interval has two ends".to_string())),
            }
        }
        Err(stop @ (Stop::Code { .. } | Stop::Kind(_))) => return Err(stop),
    };
    let bounds = bounds.filter(|bounds| bounds.low.is_finite() && bounds.high.is_finite());
    Ok(match (value, bounds) {
        (_, None) if interval.required => (Value::Absent, None),
        (Value::Record(mut members), Some(bounds)) => {
            let ends = Value::List([bounds.low, bounds.high].map(Value::from).into());
            members.insert("confidence_interval".to_string(), ends);
            members.insert("confidence_interval_level".to_string(), bounds.level.into());
            (Value::Record(members), Some(bounds))
        }
        (value, bounds) => (value, bounds),
    })
}
