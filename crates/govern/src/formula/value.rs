//! What formulas compute with.
//! Owns: the values, to and from JSON. Must not: compute.

use crate::member::number;
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_record::json::{Json, Number, Object};

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Nothing: an input that was left out, or a result that can't be told.
    Absent,
    /// True or false.
    Truth(bool),
    /// A number.
    Number(f64),
    /// A text, most often a word of a closed set.
    Text(String),
    /// A list.
    List(Vec<Value>),
    /// Values by name.
    Record(BTreeMap<String, Value>),
}

impl Value {
    /// What it is, for messages.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Value::Absent => "nothing",
            Value::Truth(_) => "a truth",
            Value::Number(_) => "a number",
            Value::Text(_) => "a text",
            Value::List(_) => "a list",
            Value::Record(_) => "a record",
        }
    }

    /// As JSON. `None` if a number in it is not finite.
    #[must_use]
    pub fn json(&self) -> Option<Json> {
        Some(match self {
            Value::Absent => Json::Null,
            Value::Truth(value) => Json::Bool(*value),
            Value::Number(value) => Json::Number(Number::try_from(*value).ok()?),
            Value::Text(text) => Json::from(text.as_str()),
            Value::List(items) => Json::Array(items.iter().map(Value::json).collect::<Option<_>>()?),
            Value::Record(members) => {
                let members =
                    members.iter().map(|(name, value)| value.json().map(|value| (name.as_str(), value)));
                Json::Object(members.collect::<Option<Vec<_>>>()?.into_iter().collect::<Object>())
            }
        })
    }

    /// The first number in it that is not finite.
    #[must_use]
    pub fn not_finite(&self) -> Option<f64> {
        match self {
            Value::Number(value) => (!value.is_finite()).then_some(*value),
            Value::List(items) => items.iter().find_map(Value::not_finite),
            Value::Record(members) => members.values().find_map(Value::not_finite),
            Value::Absent | Value::Truth(_) | Value::Text(_) => None,
        }
    }

    /// With every number in it changed.
    #[must_use]
    pub fn map(self, change: &impl Fn(f64) -> f64) -> Self {
        match self {
            Value::Number(value) => Value::Number(change(value)),
            Value::List(items) => Value::List(items.into_iter().map(|item| item.map(change)).collect()),
            Value::Record(members) => {
                Value::Record(members.into_iter().map(|(name, value)| (name, value.map(change))).collect())
            }
            Value::Absent | Value::Truth(_) | Value::Text(_) => self,
        }
    }
}

impl From<&Json> for Value {
    fn from(json: &Json) -> Self {
        match json {
            Json::Null => Value::Absent,
            Json::Bool(value) => Value::Truth(*value),
            Json::Number(value) => Value::Number(value.as_f64()),
            Json::String(text) => match number(json) {
                Some(value) => Value::Number(value),
                None => Value::Text(text.clone()),
            },
            Json::Array(items) => Value::List(items.iter().map(Value::from).collect()),
            Json::Object(members) => Value::Record(
                members.iter().map(|(name, value)| (name.to_string(), Value::from(value))).collect(),
            ),
        }
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Self {
        Value::Number(value)
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Value::Truth(value)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Value::Text(text.to_string())
    }
}

impl<const N: usize> From<[(&str, Value); N]> for Value {
    fn from(members: [(&str, Value); N]) -> Self {
        Value::Record(members.into_iter().map(|(name, value)| (name.to_string(), value)).collect())
    }
}
