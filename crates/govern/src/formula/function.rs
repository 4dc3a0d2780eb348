//! The functions that formulas may call: deterministic, without a clock or chance.
//! Owns: their names, and how values go in and out. Must not: compute what another module has.

mod cost;
#[cfg(test)]
mod derivations;
mod derived;
pub mod interval;
mod list;
mod predicted;
mod record;
pub mod statistics;

use super::compute::{Stop, is_zero, number, numbers, text};
use super::take;
use super::value::Value;
use alloc::format;
use alloc::string::String;

type Found<'v> = Result<Value<'v>, Stop>;
type Body = for<'a, 'v> fn(&'a [Value<'v>]) -> Found<'v>;

/// A function.
#[derive(Debug)]
pub struct Function {
    /// Its name.
    pub name: &'static str,
    /// Which one it is of those that had this name: a function that gives something else for the same values is another one,
    /// and gets the next version. It stands in the text of every formula that calls it.
    pub version: u32,
    /// How many values it takes.
    pub takes: usize,
    /// What it gives, in words.
    pub about: &'static str,
    body: Body,
}

const fn function(name: &'static str, takes: usize, about: &'static str, body: Body) -> Function {
    Function { name, version: 1, takes, about, body }
}

/// One of those that came after the first of this name.
const fn again(version: u32, function: Function) -> Function {
    Function { version, ..function }
}

impl Function {
    /// What it gives for these values, which must be as many as it takes.
    pub(super) fn call<'v>(&self, values: &[Value<'v>]) -> Found<'v> {
        (self.body)(values)
    }
}

/// All functions.
#[rustfmt::skip] // one to a line
pub static FUNCTIONS: &[Function] = &[
    function("count", 1, "how many items a list has, absent ones left out", list::count),
    function("sum", 1, "the sum of a list", |of| Ok(numbers(&of[0])?.iter().sum::<f64>().into())),
    function("least", 1, "the least of a list, nothing of an empty one", |of| Ok(optional(numbers(&of[0])?.iter().copied().min_by(f64::total_cmp)))),
    function("greatest", 1, "the greatest of a list, nothing of an empty one", |of| Ok(optional(numbers(&of[0])?.iter().copied().max_by(f64::total_cmp)))),
    function("quantile", 2, "the quantile of a list, between two items in a straight line", |of| Ok(optional(statistics::quantile(&numbers(&of[0])?, number(&of[1])?)))),
    function("min", 2, "the lesser of two", |of| Ok(number(&of[0])?.min(number(&of[1])?).into())),
    function("clamp", 3, "a number kept between two others", |of| Ok(number(&of[0])?.max(number(&of[1])?).min(number(&of[2])?).into())),
    function("column", 2, "one member of each item", |of| list::column(&of[0], text(&of[1])?)),
    function("where", 3, "the items whose member is this value", |of| list::only(&of[0], text(&of[1])?, &of[2])),
    function("distinct", 1, "whether no value of a list is there twice, absent ones left out", list::distinct),
    function("mark_first", 1, "1 in the place of the first item of a list, 0 in those of the others that are there", list::mark_first),
    function("first", 1, "the first item of a list, nothing of an empty one", list::first),
    function("both", 2, "the items of two lists", list::both),
    function("in_order", 2, "those of an order that are in a list, each once: a list, the order", list::in_order),
    function("mapped", 3, "what a table has for each word of a list: a list, the table, what stands for a word that is not in it", list::mapped),
    function("sorted", 2, "items by some members: true before false or nothing, less before more, texts by their bytes", list::sorted),
    function("present", 1, "whether there is a value", |of| Ok((of[0] != Value::Absent).into())),
    function("or_else", 2, "a value, or another one where it is absent", |of| Ok(of[usize::from(of[0] == Value::Absent)].clone())),
    function("earlier", 2, "whether a time is before another one", |of| list::earlier(text(&of[0])?, text(&of[1])?)),
    function("told", 1, "the items of a list that are there, absent ones left out", list::told),
    function("last", 2, "the last items of a list: a list, how many", |of| list::split(of).map(|(_, last)| last)),
    function("before_last", 2, "what stands before the last items of a list: a list, how many", |of| list::split(of).map(|(before, _)| before)),
    function("dot", 2, "the sum of the products of two lists of numbers that are as long", |of| list::paired(of, |one, other| one * other)),
    function("gap", 2, "the sum of the squares of how two lists of numbers differ that are as long", |of| list::paired(of, |one, other| (one - other) * (one - other))),
    function("scaled", 2, "a list of numbers, divided by the greatest of another list whatever its sign; as it is where that has none but zero", list::scaled),
    function("lifted", 1, "weights from zero up, all made greater by the same power of two where they are so small that what is taken of them would be lost", list::lifted),
    function("root", 1, "the square root of a number that is not negative", list::root),
    function("has", 2, "whether a value is in a list: a list, the value", list::has),
    function("again", 1, "for each text of a list whether it stands there before", list::again),
    function("joined", 1, "the items of several lists, one list behind the other; a list that is absent is left out", list::joined),
    function("unique", 1, "the texts of a list, each once, by their bytes", list::unique),
    again(2, function("total", 1, "the sum of a list, the same in whatever order its items come and as near as one of two", |of| Ok(crate::derive::sum(numbers(&of[0])?.iter().copied()).into()))),
    function("is_zero", 1, "whether a number is zero, or so near that nothing can be divided by it", |of| Ok(is_zero(number(&of[0])?).into())),
    function("is_number", 1, "whether a value is a number that is finite", |of| Ok(number(&of[0]).is_ok_and(f64::is_finite).into())),
    function("at", 2, "a member of a record by its name, or an item of a list by its place from 0; nothing where there is none", record::at),
    function("names", 1, "the names of the members of a record", record::names),
    function("by_name", 2, "a record: names, the value of each", record::by_name),
    function("beside", 2, "the members of two records that have none in common, one behind the other", record::beside),
    function("filled", 1, "a record without its members that are absent", record::filled),
    function("phrase", 1, "texts and counts, one behind the other", record::phrase),
    function("refuse", 3, "nothing: the inputs are refused. The code if the contract has one, what is refused by names and places from outside in, why", record::refuse),
    function("weighted_mean", 2, "of scores by weights; where a score is absent its weight is left out too", list::weighted_mean),
    function("wilson", 3, "the interval of a ratio after Wilson: hits, trials, level", |of| ratio(of, interval::wilson)),
    function("beta_interval", 3, "the interval of a ratio from a flat prior: hits, trials, level", |of| ratio(of, interval::beta)),
    function("normal_interval", 3, "the interval of a ratio by the normal law: hits, trials, level", |of| ratio(of, interval::normal)),
    function("bootstrap_ratio", 3, "the interval of a ratio by drawing anew without end, which is the binomial law: hits, trials, level", |of| ratio(of, interval::bootstrap_ratio)),
    function("bootstrap_mean", 4, "the interval of a mean by drawing anew: values, level, draws, seed", predicted::bootstrap_mean),
    function("brier", 2, "the mean square of what was predicted less what came", |of| predicted::both(of, statistics::brier)),
    function("expected_calibration_error", 4, "predicted, came, bins, equal_width or equal_frequency", predicted::calibration_error),
    function("auc", 2, "how often what came was predicted higher than what did not", |of| predicted::both(of, statistics::auc)),
    function("spearman", 2, "the correlation of ranks", |of| predicted::both(of, statistics::spearman)),
    function("confusion", 3, "predicted, came, threshold: tp, fp, tn, fn", predicted::confusion),
    function("bootstrap_brier", 5, "the interval of brier by drawing anew: predicted, came, level, draws, seed", |of| predicted::drawn(of, statistics::brier)),
    function("bootstrap_auc", 5, "the interval of auc by drawing anew: predicted, came, level, draws, seed", |of| predicted::drawn(of, statistics::auc)),
    function("bootstrap_spearman", 5, "the interval of spearman by drawing anew: predicted, came, level, draws, seed", |of| predicted::drawn(of, statistics::spearman)),
    function("bootstrap_f1", 6, "the interval of F1 by drawing anew: predicted, came, level, draws, seed, threshold", predicted::drawn_f1),
    function("bootstrap_calibration_error", 7, "the interval of expected_calibration_error by drawing anew: predicted, came, level, draws, seed, bins, binning", predicted::drawn_calibration_error),
    function("capability_standings", 2, "missing, unhealthy or healthy for each capability that is needed, by those that are there", derived::capability_standings),
    again(3, function("added", 3, "a record of the sums of some members of several records, of those that all have, in whole millionths, rounded up: the records, the members, sum or longest", cost::added)),
    again(2, function("added_cases", 2, "the sums of cases that were seen together, in whole millionths: cases of each part, sum or longest", cost::added_cases)),
    again(2, function("drawn_sums", 4, "sums of one case of each part that is drawn, in whole millionths: cases of each part, sum or longest, draws, seed", cost::drawn_sums)),
    function("reached", 2, "the least of a list that so many of a hundred do not exceed, nothing of an empty one: a list, how many", cost::reached),
    function("quantiles_in_order", 1, "whether no quantile of a cost is above a higher one or above its cap", cost::quantiles_in_order),
];

/// The function of a name that takes so many values.
pub(super) fn find(name: &str, takes: usize) -> Option<&'static Function> {
    FUNCTIONS.iter().find(|one| one.name == name && one.takes == takes)
}

/// A function as formulas say which ones they call: by its name and version.
pub(super) fn versioned(name: &str) -> Option<String> {
    FUNCTIONS.iter().find(|one| one.name == name).map(|one| format!("{name}@{}", one.version))
}

fn optional<'v>(value: Option<f64>) -> Value<'v> {
    value.map_or(Value::Absent, Value::Number)
}

#[expect(clippy::cast_precision_loss, reason = "counts of items are far below 2^53")]
pub(super) fn whole<'v>(count: usize) -> Value<'v> {
    Value::Number(count as f64)
}

/// The two ends of an interval; nothing where it can't be told.
fn pair<'v>(ends: Option<(f64, f64)>) -> Value<'v> {
    ends.map_or(Value::Absent, |(low, high)| Value::Numbers([low, high].into()))
}

fn ratio<'v>(of: &[Value<'_>], interval: fn(f64, f64, f64) -> Option<(f64, f64)>) -> Found<'v> {
    let [hits, trials, level] = of else { return Ok(Value::Absent) };
    Ok(pair(interval(number(hits)?, number(trials)?, number(level)?)))
}

/// A number that counts.
pub(super) fn whole_number(value: &Value<'_>) -> Result<u64, Stop> {
    let number = number(value)?;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it is whole, not negative, at most 2^53"
    )]
    match take::is_count(number) {
        true => Ok(number as u64),
        false => Err(Stop::Kind(format!("{number} does not count anything"))),
    }
}

#[cfg(test)]
#[path = "function_tests.rs"]
mod tests;
