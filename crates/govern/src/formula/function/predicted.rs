//! Statistics of lists that belong together, as functions of formulas.
//! Owns: how values become lists and back. Must not: compute; `statistics` and `interval` do.

use super::statistics::{self, Binning};
use super::{Found, interval, optional, pair, whole, whole_number};
use crate::formula::compute::{Stop, number, numbers, text};
use crate::formula::value::Value;
use alloc::format;
use alloc::rc::Rc;
use alloc::string::ToString;
use alloc::vec::Vec;

type Lists = (Rc<[f64]>, Rc<[f64]>);

/// What was predicted and what came, item by item.
fn lists(predicted: &Value<'_>, came: &Value<'_>) -> Result<Lists, Stop> {
    let (predicted, came) = (numbers(predicted)?, numbers(came)?);
    match predicted.len() == came.len() {
        true => Ok((predicted, came)),
        false => Err(Stop::Kind("two lists that belong together are not of one length".to_string())),
    }
}

pub(super) fn both<'v>(of: &[Value<'v>], say: fn(&[f64], &[f64]) -> Option<f64>) -> Found<'v> {
    let [predicted, came] = of else { return Ok(Value::Absent) };
    let (predicted, came) = lists(predicted, came)?;
    Ok(optional(say(&predicted, &came)))
}

pub(super) fn bootstrap_mean<'v>(of: &[Value<'v>]) -> Found<'v> {
    let [values, level, draws, seed] = of else { return Ok(Value::Absent) };
    let (draws, seed) = (whole_number(draws)?, whole_number(seed)?);
    Ok(pair(interval::bootstrap_mean(&numbers(values)?, number(level)?, draws, seed)))
}

pub(super) fn drawn<'v>(of: &[Value<'v>], say: impl Fn(&[f64], &[f64]) -> Option<f64>) -> Found<'v> {
    let [predicted, came, level, draws, seed, ..] = of else { return Ok(Value::Absent) };
    let (predicted, came) = lists(predicted, came)?;
    let (level, draws, seed) = (number(level)?, whole_number(draws)?, whole_number(seed)?);
    let pairs: Vec<(f64, f64)> = predicted.iter().copied().zip(came.iter().copied()).collect();
    Ok(pair(interval::bootstrap_pairs(&pairs, level, draws, seed, say)))
}

pub(super) fn drawn_f1<'v>(of: &[Value<'v>]) -> Found<'v> {
    let [.., threshold] = of else { return Ok(Value::Absent) };
    let threshold = number(threshold)?;
    drawn(of, |predicted, came| statistics::f1(statistics::confusion(predicted, came, threshold)))
}

pub(super) fn drawn_calibration_error<'v>(of: &[Value<'v>]) -> Found<'v> {
    let [.., bins, method] = of else { return Ok(Value::Absent) };
    let (bins, method) = (self::bins(bins)?, binning(method)?);
    drawn(of, |predicted, came| statistics::calibration_error(predicted, came, bins, method))
}

fn bins(count: &Value<'_>) -> Result<usize, Stop> {
    usize::try_from(whole_number(count)?).map_err(|_| Stop::Kind("there are too many bins".to_string()))
}

fn binning(method: &Value<'_>) -> Result<Binning, Stop> {
    let method = text(method)?;
    Binning::find(method).ok_or_else(|| Stop::Kind(format!("there is no binning {method}")))
}

pub(super) fn calibration_error<'v>(of: &[Value<'v>]) -> Found<'v> {
    let [predicted, came, bins, method] = of else { return Ok(Value::Absent) };
    let (bins, method) = (self::bins(bins)?, binning(method)?);
    let (predicted, came) = lists(predicted, came)?;
    Ok(optional(statistics::calibration_error(&predicted, &came, bins, method)))
}

pub(super) fn confusion<'v>(of: &[Value<'v>]) -> Found<'v> {
    let [predicted, came, threshold] = of else { return Ok(Value::Absent) };
    let (predicted, came) = lists(predicted, came)?;
    let [tp, fp, tn, missed] = statistics::confusion(&predicted, &came, number(threshold)?);
    Ok(Value::from([("tp", whole(tp)), ("fp", whole(fp)), ("tn", whole(tn)), ("fn_", whole(missed))]))
}
