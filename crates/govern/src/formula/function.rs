//! The functions that formulas may call: deterministic, without a clock or chance.
//! Owns: their names, and how values go in and out. Must not: compute what another module has.

mod cost;
mod derived;
pub mod interval;
pub mod statistics;

use super::compute::{Stop, coded, list, number, numbers, text};
use super::value::Value;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::ToString;
use alloc::vec::Vec;
use statistics::Binning;

type Body = fn(&[Value]) -> Result<Value, Stop>;

/// A function.
pub struct Function {
    /// Its name.
    pub name: &'static str,
    /// How many values it takes.
    pub takes: usize,
    /// What it gives, in words.
    pub about: &'static str,
    body: Body,
}

const fn function(name: &'static str, takes: usize, about: &'static str, body: Body) -> Function {
    Function { name, takes, about, body }
}

/// All functions.
#[rustfmt::skip] // one to a line
pub static FUNCTIONS: &[Function] = &[
    function("count", 1, "how many items a list has, absent ones left out", |of| Ok(whole(numbers_or_items(&of[0])?))),
    function("sum", 1, "the sum of a list", |of| Ok(numbers(&of[0])?.iter().sum::<f64>().into())),
    function("mean", 1, "the mean of a list; an empty one divides by zero", |of| statistics::mean(&numbers(&of[0])?).ok_or(Stop::ZeroDenominator).map(Value::from)),
    function("least", 1, "the least of a list, nothing of an empty one", |of| Ok(optional(numbers(&of[0])?.into_iter().min_by(f64::total_cmp)))),
    function("greatest", 1, "the greatest of a list, nothing of an empty one", |of| Ok(optional(numbers(&of[0])?.into_iter().max_by(f64::total_cmp)))),
    function("quantile", 2, "the quantile of a list, between two items in a straight line", |of| Ok(optional(statistics::quantile(&numbers(&of[0])?, number(&of[1])?)))),
    function("min", 2, "the lesser of two", |of| Ok(number(&of[0])?.min(number(&of[1])?).into())),
    function("max", 2, "the greater of two", |of| Ok(number(&of[0])?.max(number(&of[1])?).into())),
    function("clamp", 3, "a number kept between two others", |of| Ok(number(&of[0])?.max(number(&of[1])?).min(number(&of[2])?).into())),
    function("column", 2, "one member of each item", |of| column(&of[0], text(&of[1])?)),
    function("where", 3, "the items whose member is this value", |of| only(&of[0], text(&of[1])?, &of[2])),
    function("present", 1, "whether there is a value", |of| Ok((of[0] != Value::Absent).into())),
    function("or_else", 2, "a value, or another one where it is absent", |of| Ok(of[usize::from(of[0] == Value::Absent)].clone())),
    function("weighted_mean", 2, "of scores by weights; where a score is absent its weight is left out too", weighted_mean),
    function("wilson", 3, "the interval of a ratio after Wilson: hits, trials, level", |of| pair(interval::wilson(number(&of[0])?, number(&of[1])?, number(&of[2])?))),
    function("beta_interval", 3, "the interval of a ratio from a flat prior: hits, trials, level", |of| pair(interval::beta(number(&of[0])?, number(&of[1])?, number(&of[2])?))),
    function("normal_interval", 3, "the interval of a ratio by the normal law: hits, trials, level", |of| pair(interval::normal(number(&of[0])?, number(&of[1])?, number(&of[2])?))),
    function("bootstrap_mean", 4, "the interval of a mean by drawing anew: values, level, draws, seed", bootstrap_mean),
    function("brier", 2, "the mean square of what was predicted less what came", |of| both(of, |p, o| Ok(optional(statistics::brier(p, o))))),
    function("expected_calibration_error", 4, "predicted, came, bins, equal_width or equal_frequency", calibration_error),
    function("auc", 2, "how often what came was predicted higher than what did not", |of| both(of, |p, o| Ok(optional(statistics::auc(p, o))))),
    function("spearman", 2, "the correlation of ranks", |of| both(of, |p, o| Ok(optional(statistics::spearman(p, o))))),
    function("criterion_weights", 2, "what each criterion counts for: criteria, config", derived::criterion_weights),
    function("template_score", 5, "components, weights, soft penalties, hard vetoes, formula", derived::template_score),
    function("quality_index", 4, "dimensions, method, what a missing one means, threshold", derived::quality_index),
    function("claim_support", 2, "policy, anchors", derived::claim_supported),
    function("taint_join", 1, "the least trusted of a list", derived::taint_join),
    function("novelty", 4, "distance, fallback, baseline, threshold", derived::novelty_of),
    function("tie_break", 1, "plans in the order in which they go", derived::tie_broken),
    function("reliance", 5, "limitations, failed chains, live blockers, contradicted claims, open hard calls", derived::reliance_of),
    function("sufficiency", 2, "triggers, what is known besides", derived::sufficiency_of),
    function("pattern_c", 4, "results, who is missing, whether time is up, policy", derived::pattern_c),
    function("health", 5, "states of outcomes, live blockers, open hard calls, priorities of attention, limitations", derived::health_of),
    function("coverage", 2, "capabilities that are needed, those that are there", derived::coverage_of),
    function("cost_sum", 6, "cost vectors, correlation policy, timing, cases of each, draws, seed", cost::cost_sum),
    function("bootstrap_pairs", 4, "the interval of brier, auc, spearman, f1 or expected_calibration_error by drawing anew: which, predicted, came, settings", bootstrap_pairs),
    function("confusion", 3, "predicted, came, threshold: tp, fp, tn, fn", confusion),
];

/// Calls a function.
pub(super) fn call(name: &str, values: Vec<Value>) -> Result<Value, Stop> {
    let found = FUNCTIONS.iter().find(|one| one.name == name);
    let found = found.ok_or_else(|| Stop::Kind(format!("there is no function {name}")))?;
    if values.len() != found.takes {
        return Err(Stop::Kind(format!("{name} takes {} values, not {}", found.takes, values.len())));
    }
    (found.body)(&values)
}

/// Whether there is a function of this name that takes so many values.
pub(super) fn is_known(name: &str, takes: usize) -> bool {
    FUNCTIONS.iter().any(|one| one.name == name && one.takes == takes)
}

fn optional(value: Option<f64>) -> Value {
    value.map_or(Value::Absent, Value::Number)
}

#[expect(clippy::cast_precision_loss, reason = "counts of items are far below 2^53")]
fn whole(count: usize) -> Value {
    Value::Number(count as f64)
}

fn numbers_or_items(value: &Value) -> Result<usize, Stop> {
    Ok(list(value)?.iter().filter(|item| **item != Value::Absent).count())
}

fn pair(ends: Option<(f64, f64)>) -> Result<Value, Stop> {
    Ok(ends.map_or(Value::Absent, |(low, high)| Value::List([low, high].map(Value::from).into())))
}

fn both(of: &[Value], compute: fn(&[f64], &[f64]) -> Result<Value, Stop>) -> Result<Value, Stop> {
    let [one, other, ..] = of else { return Ok(Value::Absent) };
    let (one, other) = (numbers(one)?, numbers(other)?);
    if one.len() != other.len() {
        return Err(Stop::Kind("two lists that belong together are not of one length".to_string()));
    }
    compute(&one, &other)
}

fn column(items: &Value, name: &str) -> Result<Value, Stop> {
    let member = |item: &Value| match item {
        Value::Record(members) => members.get(name).cloned().unwrap_or(Value::Absent),
        Value::Absent | Value::Truth(_) | Value::Number(_) | Value::Text(_) | Value::List(_) => Value::Absent,
    };
    Ok(Value::List(list(items)?.iter().map(member).collect()))
}

fn only(items: &Value, name: &str, wanted: &Value) -> Result<Value, Stop> {
    let is = |item: &&Value| match item {
        Value::Record(members) => members.get(name) == Some(wanted),
        Value::Absent | Value::Truth(_) | Value::Number(_) | Value::Text(_) | Value::List(_) => false,
    };
    Ok(Value::List(list(items)?.iter().filter(is).cloned().collect()))
}

fn weighted_mean(of: &[Value]) -> Result<Value, Stop> {
    let [scores, weights] = of else { return Ok(Value::Absent) };
    let (mut total, mut sum) = (0.0, 0.0);
    for (score, weight) in list(scores)?.iter().zip(list(weights)?) {
        if *score != Value::Absent {
            sum += number(score)? * number(weight)?;
            total += number(weight)?;
        }
    }
    if super::compute::is_zero(total) { Err(Stop::ZeroDenominator) } else { Ok((sum / total).into()) }
}

fn bootstrap_mean(of: &[Value]) -> Result<Value, Stop> {
    let [values, level, draws, seed] = of else { return Ok(Value::Absent) };
    let (draws, seed) = (whole_number(draws)?, whole_number(seed)?);
    pair(interval::bootstrap_mean(&numbers(values)?, number(level)?, draws, seed))
}

/// A number that two lists which belong together give.
type Drawn<'f> = &'f dyn Fn(&[f64], &[f64]) -> Option<f64>;

fn bootstrap_pairs(of: &[Value]) -> Result<Value, Stop> {
    let [what, predicted, came, settings] = of else { return Ok(Value::Absent) };
    let (predicted, came) = (numbers(predicted)?, numbers(came)?);
    if predicted.len() != came.len() {
        return Err(Stop::Kind("two lists that belong together are not of one length".to_string()));
    }
    let settings = derived::members(settings)?;
    let (draws, seed) = (whole_number(settings.get("draws"))?, whole_number(settings.get("seed"))?);
    let pairs: Vec<(f64, f64)> = predicted.into_iter().zip(came).collect();
    let level = settings.number("level")?;
    let drawn = |say: Drawn<'_>| {
        pair(interval::bootstrap(&pairs, level, draws, seed, |drawn| {
            let (predicted, came): (Vec<f64>, Vec<f64>) = drawn.iter().copied().unzip();
            say(&predicted, &came)
        }))
    };
    match text(what)? {
        "brier" => drawn(&statistics::brier),
        "auc" => drawn(&statistics::auc),
        "spearman" => drawn(&statistics::spearman),
        "f1" => {
            let threshold = settings.number("threshold")?;
            drawn(&|predicted, came| statistics::f1(statistics::confusion(predicted, came, threshold)))
        }
        "expected_calibration_error" => {
            let bins = bins(settings.get("bin_count"))?;
            let method = binning(settings.get("binning_method"))?;
            drawn(&|predicted, came| statistics::calibration_error(predicted, came, bins, method))
        }
        other => Err(Stop::Kind(format!("nothing is known to be drawn of {other}"))),
    }
}

/// A number that counts.
pub(super) fn whole_number(value: &Value) -> Result<u64, Stop> {
    let number = number(value)?;
    let is_whole = (0.0..=9e15).contains(&number) && libm::floor(number).total_cmp(&number).is_eq();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it is whole, not negative, below 2^53"
    )]
    if is_whole { Ok(number as u64) } else { Err(Stop::Kind(format!("{number} does not count anything"))) }
}

fn bins(count: &Value) -> Result<usize, Stop> {
    let bins = usize::try_from(whole_number(count)?).unwrap_or(usize::MAX);
    match (1..=10_000).contains(&bins) {
        true => Ok(bins),
        false => Err(Stop::Kind("there must be 1 to 10,000 bins".to_string())),
    }
}

fn binning(method: &Value) -> Result<Binning, Stop> {
    let method = text(method)?;
    Binning::find(method).ok_or_else(|| Stop::Kind(format!("there is no binning {method}")))
}

fn calibration_error(of: &[Value]) -> Result<Value, Stop> {
    let [predicted, came, bins, method] = of else { return Ok(Value::Absent) };
    let method = binning(method)?;
    let bins = self::bins(bins)?;
    let (predicted, came) = (numbers(predicted)?, numbers(came)?);
    if predicted.len() != came.len() {
        return Err(Stop::Kind("two lists that belong together are not of one length".to_string()));
    }
    Ok(optional(statistics::calibration_error(&predicted, &came, bins, method)))
}

fn confusion(of: &[Value]) -> Result<Value, Stop> {
    let [predicted, came, threshold] = of else { return Ok(Value::Absent) };
    let (predicted, came) = (numbers(predicted)?, numbers(came)?);
    if predicted.len() != came.len() {
        return coded(
            "calibration_metric_without_sample_policy",
            "two lists that belong together are not of one length",
        );
    }
    let counts = statistics::confusion(&predicted, &came, number(threshold)?);
    let names = ["tp", "fp", "tn", "fn_"];
    let members: BTreeMap<_, _> =
        names.iter().zip(counts).map(|(name, count)| ((*name).to_string(), whole(count))).collect();
    Ok(Value::Record(members))
}
