//! Adding costs, as a function of formulas.
//! Owns: how cost vectors become values and back, in whole micro-units. Must not: add; `derive::cost` does.

use super::derived::{Members, chosen, members};
use super::{Found, whole_number};
use crate::derive::cost::{
    Basis, Cases, Confidence, Correlation, Dimension, Distribution, Drawing, Micros, Policy, Timing, Vector,
    total,
};
use crate::derive::is_finite_and_not_negative;
use crate::formula::compute::{Stop, items, refused};
use crate::formula::input::shown_number;
use crate::formula::value::Value;
use crate::member;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_record::json::Json;

/// A unit in micro-units.
const UNIT: f64 = 1_000_000.0;
/// Up to here every micro-unit is a number of its own.
const MICROS_MAX: f64 = 9_007_199_254_740_992.0;
/// The vectors, and the cases, among what is taken.
const VECTORS: usize = 0;
const SAMPLES: usize = 3;

/// `cost_sum(vectors, correlation_policy, timing, samples, draws, seed)`
pub(super) fn cost_sum<'v>(of: &[Value<'v>]) -> Found<'v> {
    let [vectors, policy, timing, samples, draws, seed] = of else { return Ok(Value::Absent) };
    let parts: Vec<Vector> = items(vectors)?.iter().map(vector).collect::<Result<_, _>>()?;
    let timing = chosen(timing, |word| match word {
        "sequential" => Some(Timing::Sequential),
        "parallel" => Some(Timing::Parallel),
        _other => None,
    })?;
    let declared = match policy {
        Value::Absent => None,
        given => Some(chosen(given, Correlation::find)?),
    };
    let samples: Vec<Cases> = match samples {
        Value::Absent => Vec::new(),
        given => items(given)?.iter().map(cases).collect::<Result<_, _>>()?,
    };
    let drawing =
        Drawing { seed: whole_number(seed)?, draws: u32::try_from(whole_number(draws)?).unwrap_or(u32::MAX) };
    let policy = match declared {
        None => Policy::Undeclared,
        Some(Correlation::AssumePerfectCorrelationUpperBound) => Policy::Comonotone,
        Some(Correlation::AssumeIndependentMonteCarlo) => Policy::Independent(&samples, drawing),
        Some(Correlation::EmpiricalJointDistribution) => Policy::Joint(&samples),
    };
    let mut sum = match total(&parts, policy, timing) {
        Ok(sum) => sum,
        Err(error) => return refused(None, SAMPLES, error.to_string()),
    };
    sum.assumptions.extend(assumed(policy));
    Ok(written(sum, declared))
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

/// What a policy assumes, in words: the name of one of them says what is not so.
fn assumed(policy: Policy<'_>) -> Option<String> {
    match policy {
        Policy::Undeclared => None,
        Policy::Comonotone => {
            Some("quantiles: all parts are dear at once; this is no upper bound".to_string())
        }
        Policy::Independent(_, Drawing { seed, draws }) => {
            Some(format!("quantiles: {draws} draws of independent parts with the seed {seed}"))
        }
        Policy::Joint(_) => Some("quantiles: parts as they were seen together".to_string()),
    }
}

/// Less than this part of a millionth is no cost.
const NOISE: f64 = 1e-3;

fn micros(json: &Json, argument: usize) -> Result<Micros, Stop> {
    let value = member::number(json).unwrap_or(f64::NAN);
    if !is_finite_and_not_negative(value) {
        let message = "an amount is negative or not finite";
        return refused(Some("cost_vector_negative_component"), argument, message);
    }
    // Up, so that many small costs do not add up to nothing; but not because of how a number is kept.
    let micros = libm::ceil(value * UNIT - NOISE);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it is whole, not negative, at most 2^53"
    )]
    match micros <= MICROS_MAX {
        true => Ok(micros as Micros),
        false => refused(None, argument, format!("{} is more than can be counted", shown_number(value))),
    }
}

fn vector(json: &Json) -> Result<Vector, Stop> {
    let given = members(json)?;
    let mut components = BTreeMap::new();
    for (name, amount) in members(given.get("components"))?.0.iter() {
        components.insert(dimension(name)?, distribution(name, &members(amount)?)?);
    }
    let assumptions = given.list("assumptions")?.iter();
    Ok(Vector {
        components,
        basis: given.word("basis", Basis::find)?,
        confidence: given.word("estimator_confidence", Confidence::find)?,
        sample_size: given.count("sample_size")?,
        assumptions: assumptions.filter_map(Json::as_str).map(ToString::to_string).collect(),
    })
}

fn dimension(name: &str) -> Result<Dimension, Stop> {
    Dimension::find(name).ok_or_else(|| Stop::Kind(format!("there is no dimension {name}")))
}

fn distribution(name: &str, amount: &Members<'_>) -> Result<Distribution, Stop> {
    if amount.maybe_text("unit").is_some_and(|unit| unit != name) {
        return refused(Some("cost_vector_unit_mismatch"), VECTORS, format!("has {name} in another unit"));
    }
    let maybe = |of: &str| match amount.get(of) {
        Json::Null => Ok(None),
        value => micros(value, VECTORS).map(Some),
    };
    Ok(Distribution {
        expected: micros(amount.get("expected"), VECTORS)?,
        p50: maybe("p50")?,
        p90: maybe("p90")?,
        p99: maybe("p99")?,
        hard_cap: maybe("hard_cap")?,
    })
}

/// Cases by dimension.
fn cases(json: &Json) -> Result<Cases, Stop> {
    let mut all = Cases::new();
    for (name, seen) in members(json)?.0.iter() {
        let seen = seen.as_array().unwrap_or_default().iter();
        all.insert(dimension(name)?, seen.map(|one| micros(one, SAMPLES)).collect::<Result<_, _>>()?);
    }
    Ok(all)
}

/// A cost as a record; what is not there is left out.
fn written<'v>(sum: Vector, declared: Option<Correlation>) -> Value<'v> {
    #[expect(clippy::cast_precision_loss, reason = "what is above 2^53 is rounded as every number is")]
    let units = |micros: Micros| Value::Number(micros as f64 / UNIT);
    let amount = |(dimension, one): (&Dimension, &Distribution)| {
        let all = [
            ("expected", Some(units(one.expected))),
            ("p50", one.p50.map(units)),
            ("p90", one.p90.map(units)),
            ("p99", one.p99.map(units)),
            ("hard_cap", one.hard_cap.map(units)),
            ("unit", Some(dimension.as_str().into())),
        ];
        (dimension.as_str(), record(all))
    };
    #[expect(clippy::cast_precision_loss, reason = "counts of cases are far below 2^53")]
    let sample_size = sum.sample_size.map(|size| Value::Number(size as f64));
    record([
        ("components", Some(Value::Record(sum.components.iter().map(amount).collect()))),
        ("basis", Some(sum.basis.as_str().into())),
        ("estimator_confidence", Some(sum.confidence.as_str().into())),
        ("sample_size", sample_size),
        ("assumptions", Some(Value::List(sum.assumptions.into_iter().map(Value::from).collect()))),
        ("correlation_policy", declared.map(|policy| policy.as_str().into())),
    ])
}

fn record<'v, const N: usize>(all: [(&'v str, Option<Value<'v>>); N]) -> Value<'v> {
    Value::Record(all.into_iter().filter_map(|(name, value)| Some((name, value?))).collect())
}
