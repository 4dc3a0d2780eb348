//! The language of formulas: computing it.
//! Owns: what expressions mean. Must not: know a formula.

use super::function::whole;
use super::parse::{Each, Expression, Operator};
use super::value::Value;
use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;
use countersign_record::json::Json;

/// Why there is no value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Stop {
    /// Something is divided by zero: the formula's policy says what that gives.
    #[error("something is divided by zero")]
    ZeroDenominator,
    /// The text refuses something in the inputs.
    #[error("{}", .0.message)]
    Input(Box<Refused>),
    /// Values are not of the kind that they must be.
    #[error("{0}")]
    Kind(String),
}

/// What a text says of the inputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The code behind `validation.`, where the contract has one.
    pub code: Option<&'static str>,
    /// Where in the inputs, by names and places from outside in.
    pub inside: Vec<String>,
    /// What is wrong.
    pub message: String,
}

/// The values that expressions name, and those that are computed on the way.
#[derive(Debug, Default)]
pub(super) struct Places<'v> {
    /// By place: the inputs, then what is named, in the order in which the text names it.
    pub(super) named: Vec<Value<'v>>,
    work: Vec<Value<'v>>,
}

impl<'v> Places<'v> {
    /// With room for so many values of each kind.
    pub(super) fn with_room(named: usize, work: usize) -> Self {
        Places { named: Vec::with_capacity(named), work: Vec::with_capacity(work) }
    }

    fn at(&self, place: usize) -> Result<&Value<'v>, Stop> {
        self.named.get(place).ok_or_else(|| Stop::Kind(format!("nothing stands at {place}")))
    }

    fn push(&mut self, value: Value<'v>) {
        self.work.push(value);
    }
}

/// Computes an expression over values at their places. It always ends: the language has no loop but the one over the items of a
/// list, and no list grows while it is walked.
pub(super) fn compute<'v>(expression: &Expression, places: &mut Places<'v>) -> Result<Value<'v>, Stop> {
    let (named, work) = (places.named.len(), places.work.len());
    let found = push(expression, places).map(|()| places.work.pop().unwrap_or(Value::Absent));
    places.named.truncate(named);
    places.work.truncate(work);
    found
}

/// Computes an expression and puts its value behind all others that are computed on the way.
fn push<'v>(expression: &Expression, places: &mut Places<'v>) -> Result<(), Stop> {
    match expression {
        Expression::Number(number) => places.push(Value::Number(*number)),
        Expression::Text(text) => places.push(Value::from(*text)),
        Expression::Truth(truth) => places.push(Value::Truth(*truth)),
        Expression::Nothing => places.push(Value::Absent),
        Expression::Place(place) => {
            let value = places.at(*place)?.clone();
            places.push(value);
        }
        Expression::Call(function, arguments) => {
            let from = push_all(arguments, places)?;
            let values = places.work.get(from..).unwrap_or_default();
            let found = function.call(values)?;
            places.work.truncate(from);
            places.push(found);
        }
        Expression::List(items) => {
            let from = push_all(items, places)?;
            let items = places.work.drain(from..).collect();
            places.push(Value::List(items));
        }
        Expression::Each(each) => push_each(each, places)?,
        Expression::Record(members) => {
            let from = places.work.len();
            members.iter().try_for_each(|(_, member)| push(member, places))?;
            let names = members.iter().map(|(name, _)| *name);
            let members = names.zip(places.work.drain(from..)).collect();
            places.push(Value::Record(members));
        }
        Expression::Member(of, name) => {
            let found = match &**of {
                Expression::Place(place) => places.at(*place)?.member(name),
                other => compute(other, places)?.member(name),
            };
            let none = || Stop::Kind(format!("there is no {name} in what has no members"));
            places.push(found.ok_or_else(none)?);
        }
        Expression::Minus(_)
        | Expression::Two(Operator::Plus | Operator::Minus | Operator::Times | Operator::Over, ..) => {
            let number = real(expression, places)?;
            places.push(Value::Number(number));
        }
        Expression::Not(_) | Expression::Two(..) => {
            let truth = holds(expression, places)?;
            places.push(Value::Truth(truth));
        }
        Expression::If(is, then, otherwise) => {
            push(if holds(is, places)? { then } else { otherwise }, places)?;
        }
        Expression::Let(value, rest) => {
            let value = compute(value, places)?;
            places.named.push(value);
            push(rest, places)?;
            places.named.pop();
        }
    }
    Ok(())
}

fn push_all(expressions: &[Expression], places: &mut Places<'_>) -> Result<usize, Stop> {
    let from = places.work.len();
    expressions.iter().try_for_each(|expression| push(expression, places))?;
    Ok(from)
}

/// Computes something for each item of a list, in its order.
fn push_each<'v>(each: &Each, places: &mut Places<'v>) -> Result<(), Stop> {
    let items = compute(&each.of, places)?;
    let (named, from) = (places.named.len(), places.work.len());
    let mut one = |at: usize, item: Value<'v>| -> Result<(), Stop> {
        places.named.push(item);
        if each.has_place {
            places.named.push(whole(at));
        }
        let counts = match &each.only {
            Some(only) => holds(only, places)?,
            None => true,
        };
        if counts {
            push(&each.gives, places)?;
        }
        places.named.truncate(named);
        Ok(())
    };
    match &items {
        Value::List(items) => {
            items.iter().enumerate().try_for_each(|(at, item)| one(at, item.clone()))?;
        }
        Value::Numbers(items) => {
            items.iter().enumerate().try_for_each(|(at, item)| one(at, Value::Number(*item)))?;
        }
        Value::Given(Json::Array(items)) => {
            items.iter().enumerate().try_for_each(|(at, item)| one(at, Value::from(item)))?;
        }
        Value::Absent
        | Value::Truth(_)
        | Value::Number(_)
        | Value::Text(_)
        | Value::Record(_)
        | Value::Given(_) => return is_no(&items, "list"),
    }
    let found = places.work.drain(from..).collect();
    places.push(Value::List(found));
    Ok(())
}

/// Computes an expression that must be a number. What is computed on the way to it stays one.
fn real<'v>(expression: &Expression, places: &mut Places<'v>) -> Result<f64, Stop> {
    match expression {
        Expression::Number(number) => Ok(*number),
        Expression::Place(place) => number(places.at(*place)?),
        Expression::Minus(of) => Ok(-real(of, places)?),
        Expression::If(is, then, otherwise) => {
            real(if holds(is, places)? { then } else { otherwise }, places)
        }
        Expression::Two(Operator::Plus, left, right) => Ok(real(left, places)? + real(right, places)?),
        Expression::Two(Operator::Minus, left, right) => Ok(real(left, places)? - real(right, places)?),
        Expression::Two(Operator::Times, left, right) => Ok(real(left, places)? * real(right, places)?),
        Expression::Two(Operator::Over, left, right) => match (real(left, places)?, real(right, places)?) {
            (_, right) if is_zero(right) => Err(Stop::ZeroDenominator),
            (left, right) => Ok(left / right),
        },
        Expression::Text(_)
        | Expression::Truth(_)
        | Expression::Nothing
        | Expression::Call(..)
        | Expression::List(_)
        | Expression::Each(_)
        | Expression::Record(_)
        | Expression::Member(..)
        | Expression::Not(_)
        | Expression::Two(..)
        | Expression::Let(..) => number(&compute(expression, places)?),
    }
}

/// Computes an expression that must be true or false. What stands right is not looked at where the left decides.
pub(super) fn holds<'v>(expression: &Expression, places: &mut Places<'v>) -> Result<bool, Stop> {
    let Expression::Two(operator, left, right) = expression else {
        return match expression {
            Expression::Truth(truth) => Ok(*truth),
            Expression::Place(place) => truth(places.at(*place)?),
            Expression::Not(of) => Ok(!holds(of, places)?),
            Expression::Number(_)
            | Expression::Text(_)
            | Expression::Nothing
            | Expression::Call(..)
            | Expression::List(_)
            | Expression::Each(_)
            | Expression::Record(_)
            | Expression::Member(..)
            | Expression::Minus(_)
            | Expression::Two(..)
            | Expression::If(..)
            | Expression::Let(..) => truth(&compute(expression, places)?),
        };
    };
    let mut both = || Ok::<_, Stop>((real(left, places)?, real(right, places)?));
    match operator {
        Operator::Less => both().map(|(left, right)| left < right),
        Operator::LessOrEqual => both().map(|(left, right)| left <= right),
        Operator::Greater => both().map(|(left, right)| left > right),
        Operator::GreaterOrEqual => both().map(|(left, right)| left >= right),
        Operator::Or => Ok(holds(left, places)? || holds(right, places)?),
        Operator::And => Ok(holds(left, places)? && holds(right, places)?),
        Operator::Equal => Ok(compute(left, places)? == compute(right, places)?),
        Operator::NotEqual => Ok(compute(left, places)? != compute(right, places)?),
        Operator::Plus | Operator::Minus | Operator::Times | Operator::Over => {
            truth(&compute(expression, places)?)
        }
    }
}

/// Whether a number is zero, of whatever sign, or so near that nothing can be divided by it.
pub(super) fn is_zero(number: f64) -> bool {
    number.abs() < f64::MIN_POSITIVE
}

fn is_no<T>(value: &Value<'_>, wanted: &str) -> Result<T, Stop> {
    Err(Stop::Kind(format!("{} is no {wanted}", value.kind())))
}

fn truth(value: &Value<'_>) -> Result<bool, Stop> {
    if let Value::Truth(truth) = value { Ok(*truth) } else { is_no(value, "truth") }
}

pub(super) fn number(value: &Value<'_>) -> Result<f64, Stop> {
    if let Value::Number(number) = value { Ok(*number) } else { is_no(value, "number") }
}

pub(super) fn text<'a>(value: &'a Value<'_>) -> Result<&'a str, Stop> {
    if let Value::Text(text) = value { Ok(text) } else { is_no(value, "text") }
}

/// The items of a list.
pub(super) fn list<'a, 'v>(value: &'a Value<'v>) -> Result<Cow<'a, [Value<'v>]>, Stop> {
    match value {
        Value::List(items) => Ok(Cow::Borrowed(items)),
        Value::Numbers(items) => Ok(items.iter().copied().map(Value::Number).collect()),
        Value::Given(Json::Array(items)) => Ok(items.iter().map(Value::from).collect()),
        Value::Absent
        | Value::Truth(_)
        | Value::Number(_)
        | Value::Text(_)
        | Value::Record(_)
        | Value::Given(_) => is_no(value, "list"),
    }
}

/// The items of a list that was given.
pub(super) fn items<'v>(value: &Value<'v>) -> Result<&'v [Json], Stop> {
    if let Value::Given(Json::Array(items)) = value { Ok(items) } else { is_no(value, "list of the inputs") }
}

/// A list of numbers; what is absent is left out.
pub(super) fn numbers(value: &Value<'_>) -> Result<Rc<[f64]>, Stop> {
    if let Value::Numbers(numbers) = value {
        return Ok(Rc::clone(numbers));
    }
    let items = list(value)?;
    items.iter().filter(|item| **item != Value::Absent).map(number).collect()
}

#[cfg(test)]
#[path = "compute_tests.rs"]
mod tests;
