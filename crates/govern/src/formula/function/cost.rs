//! Adding costs, as a function of formulas.
//! Owns: how cost vectors become values and back, in whole micro-units. Must not: add; `derive::cost` does.

use super::derived::{Members, members, word};
use super::whole_number;
use crate::derive::cost::{
    Basis, Cases, Confidence, Correlation, Dimension, Distribution, Drawing, Micros, Policy, Timing, Vector,
    total,
};
use crate::derive::is_finite_and_not_negative;
use crate::formula::compute::{Stop, coded, list, number, text};
use crate::formula::value::Value;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// A unit in micro-units.
const UNIT: f64 = 1_000_000.0;
/// Up to here every micro-unit is a number of its own.
const MICROS_MAX: f64 = 9_007_199_254_740_992.0;

/// `cost_sum(vectors, correlation_policy, timing, samples, draws, seed)`
pub(super) fn cost_sum(of: &[Value]) -> Result<Value, Stop> {
    let [vectors, policy, timing, samples, draws, seed] = of else { return Ok(Value::Absent) };
    let parts: Vec<Vector> = list(vectors)?.iter().map(vector).collect::<Result<_, _>>()?;
    let timing = match text(timing)? {
        "sequential" => Timing::Sequential,
        "parallel" => Timing::Parallel,
        other => return Err(Stop::Kind(format!("work is sequential or parallel, and not {other}"))),
    };
    let declared = match policy {
        Value::Absent => None,
        given => Some(word(given, "correlation_policy", Correlation::find)?),
    };
    let samples: Vec<Cases> = match samples {
        Value::Absent => Vec::new(),
        given => list(given)?.iter().map(cases).collect::<Result<_, _>>()?,
    };
    let drawing =
        Drawing { seed: whole_number(seed)?, draws: u32::try_from(whole_number(draws)?).unwrap_or(u32::MAX) };
    let policy = match declared {
        None => Policy::Undeclared,
        Some(Correlation::AssumePerfectCorrelationUpperBound) => Policy::Comonotone,
        Some(Correlation::AssumeIndependentMonteCarlo) => Policy::Independent(&samples, drawing),
        Some(Correlation::EmpiricalJointDistribution) => Policy::Joint(&samples),
    };
    let mut sum = total(&parts, policy, timing).map_err(|error| Stop::Kind(error.to_string()))?;
    sum.assumptions.extend(assumed(policy));
    Ok(written(&sum, declared))
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

fn micros(value: f64) -> Result<Micros, Stop> {
    if !is_finite_and_not_negative(value) {
        return coded("cost_vector_negative_component", "an amount is negative or not finite");
    }
    let micros = libm::round(value * UNIT);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it is whole, not negative, at most 2^53"
    )]
    match micros <= MICROS_MAX {
        true => Ok(micros as Micros),
        false => Err(Stop::Kind(format!("{value} is more than can be counted"))),
    }
}

fn vector(value: &Value) -> Result<Vector, Stop> {
    let given = members(value)?;
    let mut components = BTreeMap::new();
    for (name, amount) in members(given.get("components"))?.0 {
        let dimension = dimension(name)?;
        components.insert(dimension, distribution(name, &members(amount)?)?);
    }
    Ok(Vector {
        components,
        basis: given.word("basis", Basis::find)?,
        confidence: given.word("estimator_confidence", Confidence::find)?,
        sample_size: match given.get("sample_size") {
            Value::Absent => None,
            size => Some(whole_number(size)?),
        },
        assumptions: given
            .list("assumptions")?
            .iter()
            .map(|one| text(one).map(ToString::to_string))
            .collect::<Result<_, _>>()?,
    })
}

fn dimension(name: &str) -> Result<Dimension, Stop> {
    Dimension::find(name).ok_or_else(|| Stop::Kind(format!("there is no dimension {name}")))
}

fn distribution(name: &str, amount: &Members<'_>) -> Result<Distribution, Stop> {
    if amount.maybe_text("unit").is_some_and(|unit| unit != name) {
        return coded("cost_vector_unit_mismatch", format!("{name} is in another unit"));
    }
    let maybe = |of: &str| match amount.get(of) {
        Value::Absent => Ok(None),
        value => micros(number(value)?).map(Some),
    };
    Ok(Distribution {
        expected: micros(amount.number("expected")?)?,
        p50: maybe("p50")?,
        p90: maybe("p90")?,
        p99: maybe("p99")?,
        hard_cap: maybe("hard_cap")?,
    })
}

/// Cases by dimension.
fn cases(value: &Value) -> Result<Cases, Stop> {
    let mut all = Cases::new();
    for (name, seen) in members(value)?.0 {
        let seen = list(seen)?.iter().map(|one| micros(number(one)?)).collect::<Result<_, _>>()?;
        all.insert(dimension(name)?, seen);
    }
    Ok(all)
}

/// A cost as a record; what is not there is left out.
fn written(sum: &Vector, declared: Option<Correlation>) -> Value {
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
        (dimension.as_str().to_string(), record(all))
    };
    #[expect(clippy::cast_precision_loss, reason = "counts of cases are far below 2^53")]
    let sample_size = sum.sample_size.map(|size| Value::Number(size as f64));
    record([
        ("components", Some(Value::Record(sum.components.iter().map(amount).collect()))),
        ("basis", Some(sum.basis.as_str().into())),
        ("estimator_confidence", Some(sum.confidence.as_str().into())),
        ("sample_size", sample_size),
        ("assumptions", Some(Value::List(sum.assumptions.iter().map(|one| one.as_str().into()).collect()))),
        ("correlation_policy", declared.map(|policy| policy.as_str().into())),
    ])
}

fn record<const N: usize>(all: [(&str, Option<Value>); N]) -> Value {
    Value::Record(all.into_iter().filter_map(|(name, value)| Some((name.to_string(), value?))).collect())
}
