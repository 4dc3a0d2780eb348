//! Functions of amounts, in whole millionths: so adding does not hang on the order.
//! Owns: adding, drawing, the case that so many do not exceed. Must not: know what is added up, or under which policy.

use super::derived::members;
use super::record::named;
use super::{Found, whole_number};
use crate::derive::cost::{self, Drawing, Join, Micros};
use crate::formula::compute::{Refused, Stop, items, list, number, numbers, text};
use crate::formula::input::{COUNT_MAX, shown_number};
use crate::formula::value::Value;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// A unit in millionths.
const UNIT: f64 = 1_000_000.0;
const MICROS: Micros = 1_000_000;
/// The inputs that hold amounts.
const VECTORS: &str = "vectors";
const SAMPLES: &str = "samples";
/// Less than this part of a millionth is no amount.
const NOISE: f64 = 1e-3;

/// An amount in whole millionths: up, so that many small ones do not add up to nothing; but not because of how a number is kept.
///
/// What is whole and what is behind the point are counted apart: of a large number a product with a million is off by many millionths.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "neither is negative, and both are far below 2^63"
)]
pub(super) fn micros(amount: f64, input: &str) -> Result<Micros, Stop> {
    if !(0.0..=COUNT_MAX).contains(&amount) {
        return Err(refused(input, format!("{} can't be counted", shown_number(amount))));
    }
    let whole = amount as u64 as f64;
    let rest = amount - whole;
    let nearest = (rest * UNIT + 0.5) as u64;
    // What is written with six decimals is that, to whatever number it is rounded.
    let is_written = (whole + nearest as f64 / UNIT).total_cmp(&amount).is_eq();
    let rest = if is_written { nearest } else { libm::ceil(rest * UNIT - NOISE) as u64 };
    Ok(Micros::from(whole as u64) * MICROS + Micros::from(rest))
}

/// The other way round: what was counted of an amount is that amount.
#[expect(clippy::cast_precision_loss, reason = "what is above 2^53 is rounded as every number is")]
pub(super) fn units(micros: Micros) -> f64 {
    // Nearly all are small, and dividing a small number is far quicker.
    let (whole, rest) = match u64::try_from(micros) {
        Ok(micros) => ((micros / 1_000_000) as f64, (micros % 1_000_000) as f64),
        Err(_) => ((micros / MICROS) as f64, (micros % MICROS) as f64),
    };
    whole + rest / UNIT
}

/// What an input comes to can't be counted.
fn refused(input: &str, message: String) -> Stop {
    Stop::Input(Box::new(Refused { code: None, inside: Vec::from([input.to_string()]), message }))
}

fn join(how: &Value<'_>) -> Result<Join, Stop> {
    match text(how)? {
        "sum" => Ok(Join::Sum),
        "longest" => Ok(Join::Longest),
        other => Err(Stop::Kind(format!("{other} is neither sum nor longest"))),
    }
}

/// `added(parts, names, how)`
pub(super) fn added<'v>(of: &[Value<'v>]) -> Found<'v> {
    let [parts, names, how] = of else { return Ok(Value::Absent) };
    let (parts, names, how) = (list(parts)?, list(names)?, join(how)?);
    let sum = |name: &Value<'v>| {
        let name = named(name)?;
        Ok(added_one(&parts, name, how)?.map(|sum| (name, units(sum).into())))
    };
    let sums = names.iter().filter_map(|name| sum(name).transpose());
    Ok(Value::Record(sums.collect::<Result<_, Stop>>()?))
}

/// The sum of one member; nothing where a part has none.
fn added_one(parts: &[Value<'_>], name: &str, how: Join) -> Result<Option<Micros>, Stop> {
    let mut sum = None;
    for part in parts {
        let amount = match part.member(name) {
            Some(Value::Absent) | None => return Ok(None),
            Some(amount) => micros(number(&amount)?, VECTORS)?,
        };
        sum = Some(match sum {
            None => amount,
            Some(before) => how.both(before, amount).map_err(|error| refused(VECTORS, error.to_string()))?,
        });
    }
    Ok(sum)
}

/// Cases of each part in whole millionths.
fn cases(parts: &Value<'_>) -> Result<Vec<Vec<Micros>>, Stop> {
    let part = |cases: &Value<'_>| -> Result<Vec<Micros>, Stop> {
        numbers(cases)?.iter().map(|case| micros(*case, SAMPLES)).collect()
    };
    list(parts)?.iter().map(part).collect()
}

fn amounts<'v>(sums: Result<Vec<Micros>, cost::Error>) -> Found<'v> {
    let sums = sums.map_err(|error| refused(SAMPLES, error.to_string()))?;
    Ok(Value::Numbers(sums.into_iter().map(units).collect()))
}

/// `added_cases(parts, how)`
pub(super) fn added_cases<'v>(of: &[Value<'v>]) -> Found<'v> {
    let [parts, how] = of else { return Ok(Value::Absent) };
    let cases = cases(parts)?;
    amounts(cost::joined(&cases.iter().map(Vec::as_slice).collect::<Vec<_>>(), join(how)?))
}

/// `drawn_sums(parts, how, draws, seed)`
pub(super) fn drawn_sums<'v>(of: &[Value<'v>]) -> Found<'v> {
    let [parts, how, draws, seed] = of else { return Ok(Value::Absent) };
    let cases = cases(parts)?;
    let draws = u32::try_from(whole_number(draws)?).unwrap_or(u32::MAX);
    let drawing = Drawing { seed: whole_number(seed)?, draws };
    amounts(cost::draw(&cases.iter().map(Vec::as_slice).collect::<Vec<_>>(), drawing, join(how)?))
}

/// `reached(cases, of_100)`
pub(super) fn reached<'v>(of: &[Value<'v>]) -> Found<'v> {
    let [cases, of_100] = of else { return Ok(Value::Absent) };
    let of_100 = usize::try_from(whole_number(of_100)?).unwrap_or(usize::MAX);
    let mut cases = numbers(cases)?.to_vec();
    let rank = cases.len().checked_mul(of_100).map(|so_many| so_many.div_ceil(100));
    let place = rank.and_then(|rank| rank.checked_sub(1)).filter(|place| *place < cases.len());
    Ok(super::optional(place.map(|place| *cases.select_nth_unstable_by(place, f64::total_cmp).1)))
}

/// `quantiles_in_order(vectors)`
pub(super) fn quantiles_in_order<'v>(of: &[Value<'v>]) -> Found<'v> {
    let [vectors] = of else { return Ok(Value::Absent) };
    for one in items(vectors)? {
        for (_, amount) in members(members(one)?.get("components"))?.0.iter() {
            let amount = members(amount)?;
            let at = |name: &str| amount.maybe_number(name);
            let [p50, p90, p99, cap, expected] = ["p50", "p90", "p99", "hard_cap", "expected"].map(at);
            let is_in_order = [p50, p90, p99, cap].into_iter().flatten().is_sorted();
            if !is_in_order || expected.zip(cap).is_some_and(|(expected, cap)| expected > cap) {
                return Ok(false.into());
            }
        }
    }
    Ok(true.into())
}
