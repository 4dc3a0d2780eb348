//! The language of formulas: computing it.
//! Owns: what expressions mean. Must not: know a formula.

use super::function;
use super::parse::{Expression, Operator};
use super::value::Value;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// Why there is no value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Stop {
    /// Something is divided by zero: the formula's policy says what that gives.
    #[error("something is divided by zero")]
    ZeroDenominator,
    /// A function says that its input is not right, by a validation code.
    #[error("validation.{code}: {message}")]
    Code {
        /// The code behind `validation.`.
        code: &'static str,
        /// What is wrong.
        message: String,
    },
    /// Values are not of the kind that they must be.
    #[error("{0}")]
    Kind(String),
}

/// A stop by a code.
pub(super) fn coded<T>(code: &'static str, message: impl Into<String>) -> Result<T, Stop> {
    Err(Stop::Code { code, message: message.into() })
}

/// Names and their values, the nearest last.
pub(super) struct Scope<'s> {
    names: Vec<(&'s str, Value)>,
}

impl<'s> Scope<'s> {
    pub(super) fn new(inputs: Vec<(&'s str, Value)>) -> Self {
        Scope { names: inputs }
    }

    /// With a name that inputs of the same name come before.
    pub(super) fn behind(&mut self, name: &'s str, value: Value) {
        self.names.insert(0, (name, value));
    }

    /// With a name that comes before all others.
    pub(super) fn before(&mut self, name: &'s str, value: Value) {
        self.names.push((name, value));
    }

    pub(super) fn get(&self, name: &str) -> Option<&Value> {
        self.names.iter().rev().find(|(one, _)| *one == name).map(|(_, value)| value)
    }
}

/// Computes an expression. It always ends: there are no loops in the language.
pub(super) fn compute<'s>(expression: &'s Expression, scope: &mut Scope<'s>) -> Result<Value, Stop> {
    Ok(match expression {
        Expression::Number(number) => Value::Number(*number),
        Expression::Text(text) => Value::Text(text.clone()),
        Expression::Truth(truth) => Value::Truth(*truth),
        Expression::Nothing => Value::Absent,
        Expression::Name(name) => match scope.get(name) {
            Some(value) => value.clone(),
            None => return Err(Stop::Kind(format!("there is no {name}"))),
        },
        Expression::Call(name, arguments) => {
            let mut values = Vec::with_capacity(arguments.len());
            for argument in arguments {
                values.push(compute(argument, scope)?);
            }
            function::call(name, values)?
        }
        Expression::List(items) => {
            let mut values = Vec::with_capacity(items.len());
            for item in items {
                values.push(compute(item, scope)?);
            }
            Value::List(values)
        }
        Expression::Record(members) => {
            let mut values = alloc::collections::BTreeMap::new();
            for (name, member) in members {
                values.insert(name.clone(), compute(member, scope)?);
            }
            Value::Record(values)
        }
        Expression::Member(of, name) => match compute(of, scope)? {
            Value::Record(mut members) => members.remove(name).unwrap_or(Value::Absent),
            Value::Absent => Value::Absent,
            other => return Err(Stop::Kind(format!("{} has no {name}", other.kind()))),
        },
        Expression::Not(of) => Value::Truth(!truth(&compute(of, scope)?)?),
        Expression::Minus(of) => Value::Number(-number(&compute(of, scope)?)?),
        Expression::Two(operator, left, right) => two(*operator, left, right, scope)?,
        Expression::If(is, then, otherwise) => match truth(&compute(is, scope)?)? {
            true => compute(then, scope)?,
            false => compute(otherwise, scope)?,
        },
        Expression::Let(name, value, rest) => {
            let value = compute(value, scope)?;
            scope.names.push((name, value));
            let found = compute(rest, scope);
            scope.names.pop();
            found?
        }
    })
}

fn two<'s>(
    operator: Operator,
    left: &'s Expression,
    right: &'s Expression,
    scope: &mut Scope<'s>,
) -> Result<Value, Stop> {
    let left = compute(left, scope)?;
    // What stands right is not looked at where the left decides.
    match operator {
        Operator::Or if truth(&left)? => return Ok(Value::Truth(true)),
        Operator::And if !truth(&left)? => return Ok(Value::Truth(false)),
        Operator::Or
        | Operator::And
        | Operator::Less
        | Operator::LessOrEqual
        | Operator::Greater
        | Operator::GreaterOrEqual
        | Operator::Equal
        | Operator::NotEqual
        | Operator::Plus
        | Operator::Minus
        | Operator::Times
        | Operator::Over => {}
    }
    let right = compute(right, scope)?;
    let numbers = || Ok::<_, Stop>((number(&left)?, number(&right)?));
    Ok(match operator {
        Operator::Or | Operator::And => Value::Truth(truth(&right)?),
        Operator::Equal => Value::Truth(left == right),
        Operator::NotEqual => Value::Truth(left != right),
        Operator::Less => numbers().map(|(left, right)| Value::Truth(left < right))?,
        Operator::LessOrEqual => numbers().map(|(left, right)| Value::Truth(left <= right))?,
        Operator::Greater => numbers().map(|(left, right)| Value::Truth(left > right))?,
        Operator::GreaterOrEqual => numbers().map(|(left, right)| Value::Truth(left >= right))?,
        Operator::Plus => numbers().map(|(left, right)| Value::Number(left + right))?,
        Operator::Minus => numbers().map(|(left, right)| Value::Number(left - right))?,
        Operator::Times => numbers().map(|(left, right)| Value::Number(left * right))?,
        Operator::Over => match numbers()? {
            (_, right) if is_zero(right) => return Err(Stop::ZeroDenominator),
            (left, right) => Value::Number(left / right),
        },
    })
}

/// Whether a number is zero, of whatever sign.
pub(super) fn is_zero(number: f64) -> bool {
    number.abs() < f64::MIN_POSITIVE
}

pub(super) fn truth(value: &Value) -> Result<bool, Stop> {
    match value {
        Value::Truth(truth) => Ok(*truth),
        Value::Absent | Value::Number(_) | Value::Text(_) | Value::List(_) | Value::Record(_) => {
            Err(Stop::Kind(format!("{} is neither true nor false", value.kind())))
        }
    }
}

pub(super) fn number(value: &Value) -> Result<f64, Stop> {
    match value {
        Value::Number(number) => Ok(*number),
        Value::Absent | Value::Truth(_) | Value::Text(_) | Value::List(_) | Value::Record(_) => {
            Err(Stop::Kind(format!("{} is no number", value.kind())))
        }
    }
}

pub(super) fn text(value: &Value) -> Result<&str, Stop> {
    match value {
        Value::Text(text) => Ok(text),
        Value::Absent | Value::Truth(_) | Value::Number(_) | Value::List(_) | Value::Record(_) => {
            Err(Stop::Kind(format!("{} is no text", value.kind())))
        }
    }
}

pub(super) fn list(value: &Value) -> Result<&[Value], Stop> {
    match value {
        Value::List(items) => Ok(items),
        Value::Absent | Value::Truth(_) | Value::Number(_) | Value::Text(_) | Value::Record(_) => {
            Err(Stop::Kind(format!("{} is no list", value.kind())))
        }
    }
}

/// A list of numbers; what is absent is left out.
pub(super) fn numbers(value: &Value) -> Result<Vec<f64>, Stop> {
    list(value)?.iter().filter(|item| **item != Value::Absent).map(number).collect()
}
