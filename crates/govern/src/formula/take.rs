//! Values as a formula's shapes have them.
//! Owns: whether a value is of a shape, and what is said where it is not. Must not: know a formula.

use super::input::{Input, Members, Range, Shape, Words, shown_number};
use super::refusal::{How, Wrong};
use super::value::Value;
use crate::member;
use alloc::borrow::Cow;
use alloc::format;
use alloc::rc::Rc;
use alloc::string::{String, ToString};
use countersign_record::json::{Json, Object};
use countersign_record::time::Instant;

type Checked = Result<(), Wrong>;

/// Whole numbers up to here are numbers of their own.
const WHOLE_MAX: f64 = 9_007_199_254_740_992.0;

/// Whether a number counts something.
pub(super) fn is_count(number: f64) -> bool {
    (0.0..=WHOLE_MAX).contains(&number) && libm::floor(number).total_cmp(&number).is_eq()
}

/// The value of an input, if it is what it must be.
pub(super) fn take<'v>(input: &Input, json: &'v Json) -> Result<Value<'v>, Wrong> {
    match input.shape {
        Shape::Number | Shape::Count | Shape::Among(_) => number(input, input.range, json).map(Value::Number),
        Shape::Numbers => numbers(input, input, json),
        Shape::List(item @ Input { shape: Shape::Number | Shape::Count | Shape::Among(_), .. }) => {
            numbers(input, item, json)
        }
        Shape::Text | Shape::Time | Shape::Version | Shape::Word(_) => {
            check(input, input.range, json)?;
            Ok(Value::Text(Cow::Borrowed(json.as_str().unwrap_or_default())))
        }
        Shape::Truth | Shape::Record(_) | Shape::Map(..) | Shape::List(_) => {
            check(input, input.range, json)?;
            Ok(Value::from(json))
        }
    }
}

/// A list of numbers, each of which is what an item must be.
fn numbers<'v>(input: &Input, item: &Input, json: &Json) -> Result<Value<'v>, Wrong> {
    let items = list(input, json)?.iter().enumerate();
    let range = item.range.or(input.range);
    let one =
        |(at, one): (usize, &Json)| number(item, range, one).map_err(|wrong| wrong.inside(&at.to_string()));
    items.map(one).collect::<Result<Rc<[f64]>, _>>().map(Value::Numbers)
}

/// Whether a value is what it must be. Numbers that have no range of their own must be in that of the whole.
pub(super) fn check(input: &Input, whole: Option<Range>, json: &Json) -> Checked {
    let range = input.range.or(whole);
    match input.shape {
        Shape::Number | Shape::Count | Shape::Among(_) => number(input, range, json).map(|_| ()),
        Shape::Numbers => each(input, json, |item| number(input, range, item).map(|_| ())),
        Shape::Truth => match json {
            Json::Bool(_) => Ok(()),
            Json::Null | Json::Number(_) | Json::String(_) | Json::Array(_) | Json::Object(_) => {
                Err(must_be(input))
            }
        },
        Shape::Text => text(input, json).map(|_| ()),
        Shape::Time => is(input, json, |text| Instant::read(text).is_some()),
        Shape::Version => is(input, json, is_version),
        Shape::Word(words) => is(input, json, |word| words.words.contains(&word)),
        Shape::Record(members) => record(input, members, range, json),
        Shape::Map(keys, item) => map(input, keys, item, range, json),
        Shape::List(item) => each(input, json, |one| check(item, range, one)),
    }
}

fn must_be(input: &Input) -> Wrong {
    must_be_of(input.shape, input)
}

fn must_be_of(shape: Shape, input: &Input) -> Wrong {
    let code = input.range.and_then(|range| range.code);
    let wanted = match shape {
        Shape::Word(words) => Cow::Owned(words.words.join(" | ")),
        Shape::Among(_) => shape.text(),
        Shape::Number
        | Shape::Numbers
        | Shape::Count
        | Shape::Truth
        | Shape::Text
        | Shape::Time
        | Shape::Version
        | Shape::Record(_)
        | Shape::Map(..)
        | Shape::List(_) => shape.name(),
    };
    Wrong::new(How::Kind, format!("must be {wanted}")).coded(code)
}

/// A number that stands alone or in a list of numbers.
fn number(input: &Input, range: Option<Range>, json: &Json) -> Result<f64, Wrong> {
    let one = if let Shape::Numbers = input.shape { Shape::Number } else { input.shape };
    let found = member::number(json).ok_or_else(|| must_be_of(one, input))?;
    let fits = match input.shape {
        Shape::Count => is_count(found),
        Shape::Among(numbers) => numbers.iter().any(|one| one.total_cmp(&found).is_eq()),
        Shape::Number
        | Shape::Numbers
        | Shape::Truth
        | Shape::Text
        | Shape::Time
        | Shape::Version
        | Shape::Word(_)
        | Shape::Record(_)
        | Shape::Map(..)
        | Shape::List(_) => true,
    };
    if !fits {
        return Err(Wrong { how: How::Value, ..must_be(input) });
    }
    match range {
        Some(range) if !(range.low..=range.high).contains(&found) => Err(Wrong::new(
            How::Value,
            format!("must be from {} to {}", shown_number(range.low), shown_number(range.high)),
        )
        .coded(range.code_of(found))),
        Some(_) | None => match json {
            Json::Number(number) if !number.is_exact() => Err(inexact()),
            Json::Null
            | Json::Bool(_)
            | Json::Number(_)
            | Json::String(_)
            | Json::Array(_)
            | Json::Object(_) => Ok(found),
        },
    }
}

fn text<'j>(input: &Input, json: &'j Json) -> Result<&'j str, Wrong> {
    let text = json.as_str().ok_or_else(|| must_be(input))?;
    match text.trim().is_empty() {
        true => Err(Wrong { how: How::Value, message: "says nothing".to_string(), ..must_be(input) }),
        false => Ok(text),
    }
}

fn is(input: &Input, json: &Json, fits: impl Fn(&str) -> bool) -> Checked {
    match fits(text(input, json)?) {
        true => Ok(()),
        false => Err(Wrong { how: How::Value, ..must_be(input) }),
    }
}

/// Numbers with dots between, as many as one likes; what stands behind a dash or a plus is not looked at.
fn is_version(text: &str) -> bool {
    let text = text.strip_prefix('v').unwrap_or(text);
    let release = text.split(['-', '+']).next().unwrap_or_default();
    release.split('.').all(|part| part.parse::<u64>().is_ok() && !part.starts_with('+'))
}

fn list<'j>(input: &Input, json: &'j Json) -> Result<&'j [Json], Wrong> {
    json.as_array().ok_or_else(|| must_be(input))
}

fn object<'j>(input: &Input, json: &'j Json) -> Result<&'j Object, Wrong> {
    json.as_object().ok_or_else(|| must_be(input))
}

fn each(input: &Input, json: &Json, fits: impl Fn(&Json) -> Checked) -> Checked {
    for (at, item) in list(input, json)?.iter().enumerate() {
        fits(item).map_err(|wrong| wrong.inside(&at.to_string()))?;
    }
    Ok(())
}

fn record(input: &Input, shape: Members, range: Option<Range>, json: &Json) -> Checked {
    let object = object(input, json)?;
    let mut known = 0;
    for member in shape.members {
        let found = object.get(member.name);
        known += usize::from(found.is_some());
        match found {
            None | Some(Json::Null) if !member.is_required => {}
            None | Some(Json::Null) => return Err(Wrong::new(How::Missing, "is missing").inside(member.name)),
            Some(value) => check(member, range, value).map_err(|wrong| wrong.inside(member.name))?,
        }
    }
    // Nearly always there is nothing else.
    if known == object.len() {
        return Ok(());
    }
    for (name, value) in object.iter() {
        match shape.members.iter().any(|member| member.name == name) {
            true => {}
            false if shape.also.contains(&name) => exact(value).map_err(|wrong| wrong.inside(name))?,
            false => return Err(unknown(name)),
        }
    }
    Ok(())
}

/// What is not looked at is hashed all the same, so its numbers must be numbers.
fn exact(json: &Json) -> Checked {
    match json {
        Json::Number(number) if !number.is_exact() => Err(inexact()),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => Ok(()),
        Json::Array(items) => {
            let mut items = items.iter().enumerate();
            items.try_for_each(|(at, item)| exact(item).map_err(|wrong| wrong.inside(&at.to_string())))
        }
        Json::Object(members) => {
            members.iter().try_for_each(|(name, one)| exact(one).map_err(|wrong| wrong.inside(name)))
        }
    }
}

fn inexact() -> Wrong {
    Wrong::new(How::Inexact, "has more digits than a number can hold")
}

fn map(input: &Input, keys: Words, item: &Input, range: Option<Range>, json: &Json) -> Checked {
    for (name, value) in object(input, json)?.iter() {
        let is_known =
            if keys.words.is_empty() { !name.trim().is_empty() } else { keys.words.contains(&name) };
        if !is_known {
            return Err(unknown(name));
        }
        check(item, range, value).map_err(|wrong| wrong.inside(name))?;
    }
    Ok(())
}

/// A name that nobody knows, told as far as it can be read.
pub(super) fn unknown(name: &str) -> Wrong {
    const SHOWN_MAX: usize = 64;
    let shown: String = name.chars().take(SHOWN_MAX).collect();
    Wrong::new(How::Unknown, "is not known here").inside(&shown)
}

#[cfg(test)]
#[path = "take_tests.rs"]
mod tests;
