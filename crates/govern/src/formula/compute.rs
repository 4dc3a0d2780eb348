//! The language of formulas: computing it.
//! Owns: what expressions mean. Must not: know a formula.

use super::parse::{Expression, Operator};
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
    /// A function says that what it was given is not right.
    #[error("{}", .0.message)]
    Input(Box<Refused>),
    /// Values are not of the kind that they must be.
    #[error("{0}")]
    Kind(String),
}

/// What a function says of what it was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The code behind `validation.`, where the contract has one.
    pub code: Option<&'static str>,
    /// Which of the values that the function takes; seen from outside, which input.
    pub at: Option<usize>,
    /// Where in it, by names and places from outside in.
    pub inside: Vec<String>,
    /// What is wrong.
    pub message: String,
}

/// A function refuses one of the values that it takes.
pub(super) fn refused<T>(
    code: Option<&'static str>,
    argument: usize,
    message: impl Into<String>,
) -> Result<T, Stop> {
    refused_inside(code, argument, Vec::new(), message)
}

/// A function refuses something in one of the values that it takes.
pub(super) fn refused_inside<T>(
    code: Option<&'static str>,
    argument: usize,
    inside: Vec<String>,
    message: impl Into<String>,
) -> Result<T, Stop> {
    Err(Stop::Input(Box::new(Refused { code, at: Some(argument), inside, message: message.into() })))
}

/// Computes an expression over values at their places. It always ends: there are no loops in the language.
pub(super) fn compute<'v>(expression: &Expression, places: &mut Vec<Value<'v>>) -> Result<Value<'v>, Stop> {
    let from = places.len();
    let found = push(expression, places).map(|()| places.pop().unwrap_or(Value::Absent));
    places.truncate(from);
    found
}

/// Computes an expression and puts its value behind all others. What is computed on the way stands there for as long: what is named
/// has its place before, since nothing is named inside of another expression.
fn push<'v>(expression: &Expression, places: &mut Vec<Value<'v>>) -> Result<(), Stop> {
    match expression {
        Expression::Number(number) => places.push(Value::Number(*number)),
        Expression::Text(text) => places.push(Value::from(*text)),
        Expression::Truth(truth) => places.push(Value::Truth(*truth)),
        Expression::Nothing => places.push(Value::Absent),
        Expression::Place(place) => {
            at(places, *place)?;
            places.extend_from_within(*place..=*place);
        }
        Expression::Call(function, arguments) => {
            let from = push_all(arguments, places)?;
            let values = places.get(from..).unwrap_or_default();
            let found = function.call(values).map_err(|stop| placed(stop, arguments))?;
            places.truncate(from);
            places.push(found);
        }
        Expression::List(items) => {
            let from = push_all(items, places)?;
            let items = places.split_off(from);
            places.push(Value::List(items));
        }
        Expression::Record(members) => {
            let from = places.len();
            members.iter().try_for_each(|(_, member)| push(member, places))?;
            let names = members.iter().map(|(name, _)| *name);
            let members = names.zip(places.drain(from..)).collect();
            places.push(Value::Record(members));
        }
        Expression::Member(of, name) => {
            let found = match &**of {
                Expression::Place(place) => at(places, *place)?.member(name),
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
            let place = places.len();
            push(value, places)?;
            push(rest, places)?;
            // The value of the whole takes the place of what was named.
            places.swap_remove(place);
        }
    }
    Ok(())
}

fn push_all(expressions: &[Expression], places: &mut Vec<Value<'_>>) -> Result<usize, Stop> {
    let from = places.len();
    expressions.iter().try_for_each(|expression| push(expression, places))?;
    Ok(from)
}

fn at<'p, 'v>(places: &'p [Value<'v>], place: usize) -> Result<&'p Value<'v>, Stop> {
    places.get(place).ok_or_else(|| Stop::Kind(format!("nothing stands at {place}")))
}

/// A stop by what a function was given, with the place that this stood at.
fn placed(stop: Stop, arguments: &[Expression]) -> Stop {
    match stop {
        Stop::Input(mut refused) => {
            let argument = refused.at.and_then(|at| arguments.get(at));
            refused.at = if let Some(Expression::Place(place)) = argument { Some(*place) } else { None };
            Stop::Input(refused)
        }
        Stop::ZeroDenominator | Stop::Kind(_) => stop,
    }
}

/// Computes an expression that must be a number. What is computed on the way to it stays one.
fn real<'v>(expression: &Expression, places: &mut Vec<Value<'v>>) -> Result<f64, Stop> {
    match expression {
        Expression::Number(number) => Ok(*number),
        Expression::Place(place) => number(at(places, *place)?),
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
        | Expression::Record(_)
        | Expression::Member(..)
        | Expression::Not(_)
        | Expression::Two(..)
        | Expression::Let(..) => number(&compute(expression, places)?),
    }
}

/// Computes an expression that must be true or false. What stands right is not looked at where the left decides.
pub(super) fn holds<'v>(expression: &Expression, places: &mut Vec<Value<'v>>) -> Result<bool, Stop> {
    let Expression::Two(operator, left, right) = expression else {
        return match expression {
            Expression::Truth(truth) => Ok(*truth),
            Expression::Place(place) => truth(at(places, *place)?),
            Expression::Not(of) => Ok(!holds(of, places)?),
            Expression::Number(_)
            | Expression::Text(_)
            | Expression::Nothing
            | Expression::Call(..)
            | Expression::List(_)
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

/// Whether a number is zero, of whatever sign.
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
