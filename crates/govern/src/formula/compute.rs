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
    let found = value(expression, places);
    // What stops leaves what it was at.
    places.named.truncate(named);
    places.work.truncate(work);
    found
}

fn value<'v>(expression: &Expression, places: &mut Places<'v>) -> Result<Value<'v>, Stop> {
    match expression {
        Expression::Number(number) => Ok(Value::Number(*number)),
        Expression::Text(text) => Ok(Value::from(*text)),
        Expression::Truth(truth) => Ok(Value::Truth(*truth)),
        Expression::Nothing => Ok(Value::Absent),
        Expression::Place(place) => places.at(*place).cloned(),
        Expression::Call(function, arguments) => match arguments.as_slice() {
            [one] => function.call(&[value(one, places)?]),
            [one, other] => function.call(&[value(one, places)?, value(other, places)?]),
            [one, other, third] => {
                function.call(&[value(one, places)?, value(other, places)?, value(third, places)?])
            }
            more => {
                let from = push_all(more.iter(), places)?;
                let found = function.call(places.work.get(from..).unwrap_or_default());
                places.work.truncate(from);
                found
            }
        },
        Expression::List(items) => {
            let from = push_all(items.iter(), places)?;
            Ok(Value::List(places.work.drain(from..).collect()))
        }
        Expression::Each(each) => for_each(each, places),
        Expression::Record(members) => {
            let from = push_all(members.iter().map(|(_, member)| member), places)?;
            let names = members.iter().map(|(name, _)| *name);
            Ok(Value::Record(names.zip(places.work.drain(from..)).collect()))
        }
        Expression::Member(of, name) => {
            let found = match &**of {
                Expression::Place(place) => places.at(*place)?.member(name),
                other => value(other, places)?.member(name),
            };
            found.ok_or_else(|| Stop::Kind(format!("there is no {name} in what has no members")))
        }
        Expression::Minus(_)
        | Expression::Two(Operator::Plus | Operator::Minus | Operator::Times | Operator::Over, ..) => {
            real(expression, places).map(Value::Number)
        }
        Expression::Not(_) | Expression::Two(..) => holds(expression, places).map(Value::Truth),
        Expression::If(is, then, otherwise) => {
            value(if holds(is, places)? { then } else { otherwise }, places)
        }
        Expression::Let(named, rest) => {
            let named = value(named, places)?;
            places.named.push(named);
            let found = value(rest, places);
            places.named.pop();
            found
        }
    }
}

/// Computes expressions and puts their values behind all others that are computed on the way.
fn push_all<'e>(
    mut expressions: impl Iterator<Item = &'e Expression>,
    places: &mut Places<'_>,
) -> Result<usize, Stop> {
    let from = places.work.len();
    expressions.try_for_each(|expression| {
        let found = value(expression, places)?;
        places.push(found);
        Ok(())
    })?;
    Ok(from)
}

/// Computes something for each item of a list, in its order.
fn for_each<'v>(each: &Each, places: &mut Places<'v>) -> Result<Value<'v>, Stop> {
    let items = value(&each.of, places)?;
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
            let found = value(&each.gives, places)?;
            places.push(found);
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
    Ok(Value::List(places.work.drain(from..).collect()))
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
        | Expression::Let(..) => number(&value(expression, places)?),
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
            | Expression::Let(..) => truth(&value(expression, places)?),
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
        Operator::Equal => is_same(left, right, places),
        Operator::NotEqual => is_same(left, right, places).map(|is_same| !is_same),
        Operator::Plus | Operator::Minus | Operator::Times | Operator::Over => {
            truth(&value(expression, places)?)
        }
    }
}

/// Whether two expressions come to the same. Most often something that has a name is held to a word: that is looked at where it is.
fn is_same<'v>(left: &Expression, right: &Expression, places: &mut Places<'v>) -> Result<bool, Stop> {
    match (left, right) {
        (Expression::Place(place), Expression::Text(word)) => match places.at(*place)? {
            Value::Text(text) => Ok(text == word),
            Value::Absent
            | Value::Truth(_)
            | Value::Number(_)
            | Value::Numbers(_)
            | Value::List(_)
            | Value::Record(_)
            | Value::Given(_) => Ok(false),
        },
        (left, right) => Ok(value(left, places)? == value(right, places)?),
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
