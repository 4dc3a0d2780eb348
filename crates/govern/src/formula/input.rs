//! What a formula takes.
//! Owns: the shapes of inputs, their ranges and defaults. Must not: compute.

use super::function;
use super::value::Value;
use crate::types::formula::NumericUnit;

/// What an input is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A number.
    Number,
    /// A whole number that is not negative.
    Count,
    /// True or false.
    Truth,
    /// A text, most often a word of a closed set.
    Text,
    /// Values by name.
    Record,
    /// A list of numbers, of which some may be missing.
    Numbers,
    /// A list of texts.
    Texts,
    /// A list of values by name.
    Records,
}

impl Shape {
    /// Its name in the registry.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Shape::Number => "number",
            Shape::Count => "count",
            Shape::Truth => "truth",
            Shape::Text => "text",
            Shape::Record => "record",
            Shape::Numbers => "list_of_numbers",
            Shape::Texts => "list_of_texts",
            Shape::Records => "list_of_records",
        }
    }

    /// Whether a value is one.
    #[must_use]
    pub fn holds(self, value: &Value) -> bool {
        match (self, value) {
            (Shape::Number, Value::Number(_))
            | (Shape::Truth, Value::Truth(_))
            | (Shape::Text, Value::Text(_))
            | (Shape::Record, Value::Record(_)) => true,
            (Shape::Count, Value::Number(_)) => function::whole_number(value).is_ok(),
            (Shape::Numbers, Value::List(items)) => {
                items.iter().all(|item| matches!(item, Value::Number(_) | Value::Absent))
            }
            (Shape::Texts, Value::List(items)) => items.iter().all(|item| matches!(item, Value::Text(_))),
            (Shape::Records, Value::List(items)) => items.iter().all(|item| matches!(item, Value::Record(_))),
            (
                Shape::Number
                | Shape::Count
                | Shape::Truth
                | Shape::Text
                | Shape::Record
                | Shape::Numbers
                | Shape::Texts
                | Shape::Records,
                Value::Absent
                | Value::Truth(_)
                | Value::Number(_)
                | Value::Text(_)
                | Value::List(_)
                | Value::Record(_),
            ) => false,
        }
    }
}

/// An input.
#[derive(Clone, Copy, Debug)]
pub struct Input {
    /// Its name.
    pub name: &'static str,
    /// What it is.
    pub shape: Shape,
    /// What it means.
    pub about: &'static str,
    /// Whether there is no value without it.
    pub is_required: bool,
    /// Where a number must be.
    pub range: Option<(f64, f64)>,
    /// In which unit it must be.
    pub unit: Option<NumericUnit>,
    /// What it is where it is missing, as JSON, if the policy is to take that.
    pub default: Option<&'static str>,
}

/// An input that must be there.
pub(super) const fn needs(name: &'static str, shape: Shape, about: &'static str) -> Input {
    Input { name, shape, about, is_required: true, range: None, unit: None, default: None }
}

/// An input that may be missing.
pub(super) const fn may(name: &'static str, shape: Shape, about: &'static str) -> Input {
    Input { is_required: false, ..needs(name, shape, about) }
}

impl Input {
    /// With the range of its numbers.
    pub(super) const fn within(self, low: f64, high: f64) -> Self {
        Input { range: Some((low, high)), ..self }
    }

    /// With the unit of its numbers.
    pub(super) const fn unit(self, unit: NumericUnit) -> Self {
        Input { unit: Some(unit), ..self }
    }

    /// With what it is where it is missing.
    pub(super) const fn or(self, default: &'static str) -> Self {
        Input { default: Some(default), is_required: false, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use countersign_record::json;
    use std::vec::Vec;

    #[test]
    fn a_shape_holds_what_is_of_it() {
        let values = [
            ("1.5", "number"),
            ("2", "number count"),
            ("-1", "number"),
            ("true", "truth"),
            ("\"a\"", "text"),
            ("{}", "record"),
            ("[]", "list_of_numbers list_of_texts list_of_records"),
            ("[1,null]", "list_of_numbers"),
            ("[\"a\"]", "list_of_texts"),
            ("[{}]", "list_of_records"),
            ("[1,\"a\"]", ""),
            ("null", ""),
        ];
        let shapes = [
            Shape::Number,
            Shape::Count,
            Shape::Truth,
            Shape::Text,
            Shape::Record,
            Shape::Numbers,
            Shape::Texts,
            Shape::Records,
        ];
        for (text, expected) in values {
            let value = Value::from(&json::parse(text.as_bytes()).unwrap());
            let held: Vec<&str> =
                shapes.iter().filter(|shape| shape.holds(&value)).map(|shape| shape.as_str()).collect();
            assert_eq!(held.join(" "), expected, "{text}");
        }
    }
}
