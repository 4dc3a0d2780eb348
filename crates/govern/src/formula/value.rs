//! What formulas compute with.
//! Owns: the values, to and from JSON. Must not: compute.

use crate::member::double;
use alloc::borrow::Cow;
use alloc::rc::Rc;
use alloc::string::String;
use countersign_record::json::{Json, Number, Object};

/// A value. What was given and is looked into by a function stays where it is.
#[derive(Clone, Debug, PartialEq)]
pub enum Value<'v> {
    /// Nothing: an input that was left out, or a result that can't be told.
    Absent,
    /// True or false.
    Truth(bool),
    /// A number.
    Number(f64),
    /// A text, most often a word of a closed set.
    Text(Cow<'v, str>),
    /// A list of numbers, none missing.
    Numbers(Rc<[f64]>),
    /// A list. It is handed on and never changed, so everybody holds the same one.
    List(Rc<[Value<'v>]>),
    /// Values by name, held as a list is.
    Record(Rc<[(&'v str, Value<'v>)]>),
    /// A list or a record of the inputs.
    Given(&'v Json),
}

impl<'v> Value<'v> {
    /// What it is, for messages.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Value::Absent => "nothing",
            Value::Truth(_) => "a truth",
            Value::Number(_) => "a number",
            Value::Text(_) => "a text",
            Value::List(_) | Value::Numbers(_) => "a list",
            Value::Record(_) => "a record",
            Value::Given(json) => json.kind(),
        }
    }

    /// A member of a record; absent if there is none.
    #[must_use]
    pub fn member(&self, name: &str) -> Option<Value<'v>> {
        match self {
            Value::Record(members) => {
                let found = members.iter().find(|(own, _)| *own == name);
                Some(found.map_or(Value::Absent, |(_, value)| value.clone()))
            }
            Value::Given(Json::Object(members)) => Some(members.get(name).map_or(Value::Absent, Value::from)),
            Value::Absent => Some(Value::Absent),
            Value::Truth(_)
            | Value::Number(_)
            | Value::Text(_)
            | Value::Numbers(_)
            | Value::List(_)
            | Value::Given(_) => None,
        }
    }

    /// As JSON, with every number in it changed. `None` if one is not finite.
    #[must_use]
    pub fn json(&self, change: &impl Fn(f64) -> f64) -> Option<Json> {
        let number = |value: f64| written(change(value)).map(Json::Number);
        Some(match self {
            Value::Absent => Json::Null,
            Value::Truth(value) => Json::Bool(*value),
            Value::Number(value) => number(*value)?,
            Value::Text(text) => Json::from(&**text),
            Value::Numbers(items) => {
                Json::Array(items.iter().map(|item| number(*item)).collect::<Option<_>>()?)
            }
            Value::List(items) => {
                Json::Array(items.iter().map(|item| item.json(change)).collect::<Option<_>>()?)
            }
            Value::Record(members) => {
                let members = members.iter().map(|(name, value)| Some((*name, value.json(change)?)));
                Json::Object(members.collect::<Option<Object>>()?)
            }
            Value::Given(json) => (*json).clone(),
        })
    }

    /// The first number in it that is not finite.
    #[must_use]
    pub fn not_finite(&self) -> Option<f64> {
        match self {
            Value::Number(value) => (!value.is_finite()).then_some(*value),
            Value::Numbers(items) => items.iter().copied().find(|item| !item.is_finite()),
            Value::List(items) => items.iter().find_map(Value::not_finite),
            Value::Record(members) => members.iter().find_map(|(_, value)| value.not_finite()),
            Value::Absent | Value::Truth(_) | Value::Text(_) | Value::Given(_) => None,
        }
    }
}

/// A number as it is written. What counts is most often a whole one, which nobody has to print to know how it reads.
fn written(value: f64) -> Option<Number> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "what it does not hold is seen"
    )]
    let whole = value as u32;
    match f64::from(whole).total_cmp(&value).is_eq() {
        true => Some(Number::from(whole)),
        false => Number::try_from(value).ok(),
    }
}

impl<'v> From<&'v Json> for Value<'v> {
    fn from(json: &'v Json) -> Self {
        match json {
            Json::Null => Value::Absent,
            Json::Bool(value) => Value::Truth(*value),
            Json::Number(value) => Value::Number(double(value)),
            Json::String(text) => Value::Text(Cow::Borrowed(text)),
            Json::Array(_) | Json::Object(_) => Value::Given(json),
        }
    }
}

impl From<f64> for Value<'_> {
    fn from(value: f64) -> Self {
        Value::Number(value)
    }
}

impl From<bool> for Value<'_> {
    fn from(value: bool) -> Self {
        Value::Truth(value)
    }
}

impl<'v> From<&'v str> for Value<'v> {
    fn from(text: &'v str) -> Self {
        Value::Text(Cow::Borrowed(text))
    }
}

impl From<String> for Value<'_> {
    fn from(text: String) -> Self {
        Value::Text(Cow::Owned(text))
    }
}

impl<'v, const N: usize> From<[(&'v str, Value<'v>); N]> for Value<'v> {
    fn from(members: [(&'v str, Value<'v>); N]) -> Self {
        Value::Record(members.into())
    }
}
