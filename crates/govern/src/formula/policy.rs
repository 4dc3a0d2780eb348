//! How many cases a formula takes, and how sure its value is.
//! Owns: what becomes of too few cases; the interval beside or in a value; rounding. Must not: know a formula.

use super::compute::{Places, Stop, compute, number, numbers};
use super::function::whole_number;
use super::ready::{LEVEL, Ready};
use super::spec::Below;
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
pub(super) fn sampled(formula: &Ready, places: &mut Places<'_>) -> Result<Option<Sampled>, Stop> {
    let (Some(sample), Some(size)) = (formula.spec.sample, &formula.size) else { return Ok(None) };
    let size = whole_number(&compute(size, places)?)?;
    let said = sample.least.and_then(|name| at(formula, &places.named, name));
    let least = said.map_or(Ok(sample.min), whole_number)?;
    Ok(Some(Sampled { size, least }))
}

/// The value of an input.
fn at<'p, 'v>(formula: &Ready, places: &'p [Value<'v>], name: &str) -> Option<&'p Value<'v>> {
    places.get(formula.names.iter().position(|own| *own == name)?)
}

/// What is said instead of a value of too few cases.
pub(super) fn instead<'v>(
    formula: &Ready,
    sampled: Option<Sampled>,
    places: &mut Places<'v>,
) -> Result<Option<Value<'v>>, Stop> {
    match (&formula.below, sampled) {
        (Some(below), Some(sampled)) if !sampled.is_enough() => compute(below, places).map(Some),
        (Some(_) | None, Some(_) | None) => Ok(None),
    }
}

/// A record with more members behind its own.
fn with<'v>(members: &[(&'v str, Value<'v>)], more: &[(&'v str, Value<'v>)]) -> Value<'v> {
    Value::Record(members.iter().chain(more).cloned().collect())
}

/// A value of too few cases that stands says so of itself.
pub(super) fn with_confidence<'v>(formula: &Ready, sampled: Option<Sampled>, value: Value<'v>) -> Value<'v> {
    let says = formula.spec.sample.is_some_and(|sample| sample.below == Below::LowConfidence);
    match (value, sampled) {
        (Value::Record(members), Some(sampled)) if says => {
            with(&members, &[("low_confidence", (!sampled.is_enough()).into())])
        }
        (value, Some(_) | None) => value,
    }
}

/// A value with how sure it is: in it where it has members, beside it where it has none. Nothing where that is required and can't
/// be told.
pub(super) fn with_interval<'v>(
    formula: &Ready,
    value: Value<'v>,
    places: &mut Places<'v>,
) -> Result<(Value<'v>, Option<Bounds>), Stop> {
    let (Some(interval), Some(ends)) = (formula.spec.interval, &formula.ends) else {
        return Ok((value, None));
    };
    if value == Value::Absent {
        return Ok((value, None));
    }
    let level = match at(formula, &places.named, LEVEL) {
        Some(level) => number(level)?,
        None => {
            places.named.push(interval.level.number().into());
            interval.level.number()
        }
    };
    places.named.push(value);
    let found = compute(ends, places);
    let value = places.named.pop().unwrap_or(Value::Absent);
    let bounds = match found {
        Ok(Value::Absent) | Err(Stop::ZeroDenominator) => None,
        Ok(found) => match &*numbers(&found)? {
            [low, high] => Some(Bounds { low: *low, high: *high, level }),
            _other => return Err(Stop::Kind("an interval has two ends".to_string())),
        },
        Err(stop @ (Stop::Input(_) | Stop::Kind(_))) => return Err(stop),
    };
    Ok(match (value, bounds) {
        (_, None) if interval.required => (Value::Absent, None),
        (Value::Record(members), Some(bounds)) => {
            let ends = Value::Numbers([bounds.low, bounds.high].into());
            let more = [("confidence_interval", ends), ("confidence_interval_level", bounds.level.into())];
            (with(&members, &more), Some(bounds))
        }
        (value, bounds) => (value, bounds),
    })
}
