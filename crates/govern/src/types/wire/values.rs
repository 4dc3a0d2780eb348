//! Values that records hold: texts, numbers, lists, maps, what may be missing.
//! Owns: how each is read and written. Must not: know records.

use super::{Reading, Wire, of_type};
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use countersign_record::json::{Json, Number, Object};

impl Wire for String {
    fn read(value: &Json, reading: &mut Reading) -> Option<Self> {
        value.as_str().map(ToString::to_string).or_else(|| reading.wrong("must be a text"))
    }

    fn fits(value: &Json) -> bool {
        matches!(value, Json::String(_))
    }

    fn write(&self) -> Option<Json> {
        Some(self.as_str().into())
    }

    fn schema() -> Json {
        of_type("string")
    }
}

impl Wire for bool {
    fn read(value: &Json, reading: &mut Reading) -> Option<Self> {
        match value {
            Json::Bool(value) => Some(*value),
            Json::Null | Json::Number(_) | Json::String(_) | Json::Array(_) | Json::Object(_) => {
                reading.wrong("must be true or false")
            }
        }
    }

    fn write(&self) -> Option<Json> {
        Some((*self).into())
    }

    fn schema() -> Json {
        of_type("boolean")
    }
}

impl Wire for u64 {
    fn read(value: &Json, reading: &mut Reading) -> Option<Self> {
        let whole = match value {
            Json::Number(number) => number.as_u64(),
            Json::String(text) => text.parse().ok(),
            Json::Null | Json::Bool(_) | Json::Array(_) | Json::Object(_) => None,
        };
        whole.or_else(|| {
            reading.wrong(match is_too_large(value) {
                true => "is too large for a whole number: it must be below 2^63",
                false => "must be a whole number that is not negative",
            })
        })
    }

    fn write(&self) -> Option<Json> {
        // Beyond 2^53 a number is a text, or it would not be read back as itself everywhere.
        Some(Number::try_from(*self).map_or_else(|_| Json::from(self.to_string()), Json::Number))
    }

    fn schema() -> Json {
        Object::from([("type", Json::from("integer")), ("minimum", Json::Number(Number::from(0_u32)))]).into()
    }
}

/// Whether a value is a whole number that is not negative, and more than one that is counted.
fn is_too_large(value: &Json) -> bool {
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match value {
        Json::Number(number) => is_digits(&number.to_string()) || number.as_f64() >= LARGE,
        Json::String(text) => is_digits(text),
        Json::Null | Json::Bool(_) | Json::Array(_) | Json::Object(_) => false,
    }
}

/// 2^63: what is written with an exponent or a point, and from there on, is whole as far as doubles go.
const LARGE: f64 = 9_223_372_036_854_775_808.0;

impl Wire for Number {
    fn read(value: &Json, reading: &mut Reading) -> Option<Self> {
        match value {
            Json::Number(number) => Some(number.clone()),
            Json::Null | Json::Bool(_) | Json::String(_) | Json::Array(_) | Json::Object(_) => {
                reading.wrong("must be a number")
            }
        }
    }

    fn fits(value: &Json) -> bool {
        matches!(value, Json::Number(_))
    }

    fn write(&self) -> Option<Json> {
        Some(Json::Number(self.clone()))
    }

    fn schema() -> Json {
        of_type("number")
    }
}

/// Anything at all.
impl Wire for Json {
    fn read(value: &Json, _: &mut Reading) -> Option<Self> {
        Some(value.clone())
    }

    fn fits(_: &Json) -> bool {
        true
    }

    fn write(&self) -> Option<Json> {
        Some(self.clone())
    }

    fn schema() -> Json {
        Object::new().into()
    }
}

impl<T: Wire> Wire for Option<T> {
    fn read(value: &Json, reading: &mut Reading) -> Option<Self> {
        T::read(value, reading).map(Some)
    }

    fn fits(value: &Json) -> bool {
        T::fits(value)
    }

    fn write(&self) -> Option<Json> {
        self.as_ref().and_then(T::write)
    }

    fn schema() -> Json {
        T::schema_inside()
    }

    fn missing() -> Option<Self> {
        Some(None)
    }
}

/// A value that may be `null`, and must be there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrNull<T>(pub Option<T>);

impl<T: Wire> Wire for OrNull<T> {
    fn read(value: &Json, reading: &mut Reading) -> Option<Self> {
        match value {
            Json::Null => Some(OrNull(None)),
            Json::Bool(_) | Json::Number(_) | Json::String(_) | Json::Array(_) | Json::Object(_) => {
                T::read(value, reading).map(|value| OrNull(Some(value)))
            }
        }
    }

    fn fits(value: &Json) -> bool {
        matches!(value, Json::Null) || T::fits(value)
    }

    fn write(&self) -> Option<Json> {
        Some(self.0.as_ref().and_then(T::write).unwrap_or(Json::Null))
    }

    fn schema() -> Json {
        Object::from([("anyOf", Json::Array(vec![T::schema_inside(), of_type("null")]))]).into()
    }
}

impl<T: Wire> Wire for Vec<T> {
    fn read(value: &Json, reading: &mut Reading) -> Option<Self> {
        let Some(items) = value.as_array() else { return reading.wrong("must be a list") };
        let mut all = Vec::with_capacity(items.len());
        for (at, item) in items.iter().enumerate() {
            all.push(reading.inside(at.to_string(), |reading| T::read(item, reading)));
        }
        all.into_iter().collect()
    }

    fn fits(value: &Json) -> bool {
        value.as_array().is_some_and(|items| items.iter().all(T::fits))
    }

    fn write(&self) -> Option<Json> {
        Some(Json::Array(self.iter().filter_map(T::write).collect()))
    }

    fn schema() -> Json {
        Object::from([("type", Json::from("array")), ("items", T::schema_inside())]).into()
    }
}

/// Two numbers: from, to.
impl<T: Wire> Wire for (T, T) {
    fn read(value: &Json, reading: &mut Reading) -> Option<Self> {
        match value.as_array() {
            Some([one, other]) => Some((T::read(one, reading)?, T::read(other, reading)?)),
            Some(_) | None => reading.wrong("must be a list of two"),
        }
    }

    fn fits(value: &Json) -> bool {
        value.as_array().is_some_and(|items| items.len() == 2 && items.iter().all(T::fits))
    }

    fn write(&self) -> Option<Json> {
        Some(Json::Array([self.0.write(), self.1.write()].into_iter().flatten().collect()))
    }

    fn schema() -> Json {
        let two = || Json::Number(Number::from(2_u32));
        let items = ("items", T::schema_inside());
        Object::from([("type", Json::from("array")), items, ("minItems", two()), ("maxItems", two())]).into()
    }
}

impl<K: Wire + Ord, T: Wire> Wire for BTreeMap<K, T> {
    fn read(value: &Json, reading: &mut Reading) -> Option<Self> {
        let Some(object) = value.as_object() else { return reading.wrong("must be an object") };
        let mut all = Vec::with_capacity(object.len());
        for (name, value) in object.iter() {
            let read =
                |reading: &mut Reading| Some((K::read(&name.into(), reading)?, T::read(value, reading)?));
            all.push(reading.inside(name, read));
        }
        all.into_iter().collect()
    }

    fn fits(value: &Json) -> bool {
        let is_of_type = |(name, value): (&str, &Json)| K::fits(&name.into()) && T::fits(value);
        value.as_object().is_some_and(|object| object.iter().all(is_of_type))
    }

    fn write(&self) -> Option<Json> {
        let mut object = Object::new();
        for (key, value) in self {
            if let (Some(Json::String(key)), Some(value)) = (key.write(), value.write()) {
                object.insert(key, value);
            }
        }
        Some(object.into())
    }

    fn schema() -> Json {
        let (names, values) =
            (("propertyNames", K::schema_inside()), ("additionalProperties", T::schema_inside()));
        Object::from([("type", Json::from("object")), names, values]).into()
    }
}

impl<T: Wire> Wire for Box<T> {
    fn read(value: &Json, reading: &mut Reading) -> Option<Self> {
        T::read(value, reading).map(Box::new)
    }

    fn fits(value: &Json) -> bool {
        T::fits(value)
    }

    fn write(&self) -> Option<Json> {
        (**self).write()
    }

    fn schema() -> Json {
        T::schema_inside()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::format;

    /// What is said of a whole number.
    fn told(text: &str) -> String {
        let value = countersign_record::json::parse(text.as_bytes()).unwrap();
        let mut reading = Reading::default();
        match u64::read(&value, &mut reading) {
            Some(number) => format!("{number}"),
            None => reading.troubles().remove(0).message,
        }
    }

    #[test]
    fn a_number_that_is_too_large_is_told_so() {
        let (large, none) = (
            "is too large for a whole number: it must be below 2^63",
            "must be a whole number that is not negative",
        );
        for (text, expected) in [
            ("0", "0"),
            ("9223372036854775807", "9223372036854775807"),
            ("\"9223372036854775808\"", "9223372036854775808"),
            ("9223372036854775808", large),
            ("1e300", large),
            ("\"99999999999999999999\"", large),
            ("-1", none),
            ("-9223372036854775809", none),
            ("1.5", none),
            ("\"many\"", none),
            ("true", none),
        ] {
            assert_eq!(told(text), expected, "{text}");
        }
    }
}
