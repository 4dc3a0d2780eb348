//! Functions of records, and the one that refuses.
//! Owns: looking up by name or place, putting together, refusing. Must not: know what the members are.

use super::{Found, whole_number};
use crate::formula::compute::{Refused, Stop, list, text};
use crate::formula::value::Value;
use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_record::json::Json;

fn kind<T>(value: &Value<'_>, wanted: &str) -> Result<T, Stop> {
    Err(Stop::Kind(format!("{} is no {wanted}", value.kind())))
}

pub(super) fn at<'v>(of: &[Value<'v>]) -> Found<'v> {
    let [whole, key] = of else { return Ok(Value::Absent) };
    if let Value::Text(name) = key {
        return whole.member(name).map_or_else(|| kind(whole, "record"), Ok);
    }
    let place = usize::try_from(whole_number(key)?).unwrap_or(usize::MAX);
    match whole {
        Value::List(items) => Ok(items.get(place).cloned().unwrap_or(Value::Absent)),
        Value::Numbers(items) => Ok(items.get(place).copied().map_or(Value::Absent, Value::Number)),
        Value::Given(Json::Array(items)) => Ok(items.get(place).map_or(Value::Absent, Value::from)),
        Value::Absent => Ok(Value::Absent),
        Value::Truth(_) | Value::Number(_) | Value::Text(_) | Value::Record(_) | Value::Given(_) => {
            kind(whole, "list")
        }
    }
}

pub(super) fn names<'v>(of: &[Value<'v>]) -> Found<'v> {
    let [record] = of else { return Ok(Value::Absent) };
    match record {
        Value::Record(members) => Ok(Value::List(members.iter().map(|(name, _)| (*name).into()).collect())),
        Value::Given(Json::Object(members)) => {
            Ok(Value::List(members.iter().map(|(name, _)| name.into()).collect()))
        }
        Value::Absent
        | Value::Truth(_)
        | Value::Number(_)
        | Value::Text(_)
        | Value::Numbers(_)
        | Value::List(_)
        | Value::Given(_) => kind(record, "record"),
    }
}

pub(super) fn by_name<'v>(of: &[Value<'v>]) -> Found<'v> {
    let [names, values] = of else { return Ok(Value::Absent) };
    let (names, values) = (list(names)?, list(values)?);
    if names.len() != values.len() {
        return Err(Stop::Kind(format!("{} names are not {}", values.len(), names.len())));
    }
    let member = |(name, value): (&Value<'v>, &Value<'v>)| Ok((named(name)?, value.clone()));
    Ok(Value::Record(names.iter().zip(values.iter()).map(member).collect::<Result<_, Stop>>()?))
}

/// A text that may be the name of a member: one that is made on the way lives too short.
pub(super) fn named<'v>(name: &Value<'v>) -> Result<&'v str, Stop> {
    match name {
        Value::Text(Cow::Borrowed(name)) => Ok(name),
        Value::Text(Cow::Owned(_))
        | Value::Absent
        | Value::Truth(_)
        | Value::Number(_)
        | Value::Numbers(_)
        | Value::List(_)
        | Value::Record(_)
        | Value::Given(_) => kind(name, "name of the inputs or the text"),
    }
}

pub(super) fn beside<'v>(of: &[Value<'v>]) -> Found<'v> {
    let [one, other] = of else { return Ok(Value::Absent) };
    let (one, other) = (entries(one)?, entries(other)?);
    match other.iter().find(|(name, _)| one.iter().any(|(own, _)| own == name)) {
        Some((name, _)) => Err(Stop::Kind(format!("{name} is in both records"))),
        None => Ok(Value::Record(one.iter().chain(other.iter()).cloned().collect())),
    }
}

/// The members of a record, by their names.
fn entries<'a, 'v>(record: &'a Value<'v>) -> Result<Cow<'a, [(&'v str, Value<'v>)]>, Stop> {
    match record {
        Value::Record(members) => Ok(Cow::Borrowed(members)),
        Value::Given(Json::Object(members)) => {
            Ok(members.iter().map(|(name, value)| (name, value.into())).collect())
        }
        Value::Absent
        | Value::Truth(_)
        | Value::Number(_)
        | Value::Text(_)
        | Value::Numbers(_)
        | Value::List(_)
        | Value::Given(_) => kind(record, "record"),
    }
}

pub(super) fn filled<'v>(of: &[Value<'v>]) -> Found<'v> {
    let [record] = of else { return Ok(Value::Absent) };
    let members = entries(record)?;
    let is_there = |(_, value): &(&'v str, Value<'v>)| *value != Value::Absent;
    if matches!(record, Value::Record(_)) && members.iter().all(is_there) {
        return Ok(record.clone());
    }
    Ok(Value::Record(members.iter().filter(|member| is_there(member)).cloned().collect()))
}

pub(super) fn phrase<'v>(of: &[Value<'v>]) -> Found<'v> {
    let [parts] = of else { return Ok(Value::Absent) };
    Ok(list(parts)?.iter().map(step).collect::<Result<String, Stop>>()?.into())
}

/// Always refuses; what it is called with says why.
pub(super) fn refuse<'v>(of: &[Value<'v>]) -> Found<'v> {
    let [code, path, message] = of else { return Ok(Value::Absent) };
    let code = match code {
        Value::Absent => None,
        code => Some(registered(text(code)?)?),
    };
    let inside = list(path)?.iter().map(step).collect::<Result<Vec<String>, Stop>>()?;
    Err(Stop::Input(Box::new(Refused { code, inside, message: text(message)?.to_string() })))
}

fn registered(code: &str) -> Result<&'static str, Stop> {
    let rule = crate::check::rules().find(|(_, rule)| rule.code == code);
    rule.map(|(_, rule)| rule.code).ok_or_else(|| Stop::Kind(format!("there is no code {code}")))
}

/// A text, or a number that counts: a name or a place of a path.
fn step(value: &Value<'_>) -> Result<String, Stop> {
    if let Value::Text(name) = value { Ok(name.to_string()) } else { Ok(whole_number(value)?.to_string()) }
}
