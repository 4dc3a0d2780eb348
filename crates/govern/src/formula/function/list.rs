//! Functions of lists and times.
//! Owns: counting, picking, comparing. Must not: know what the items are.

use super::{Found, whole, whole_number};
use crate::derive::tie_break::ascending;
use crate::formula::compute::{Stop, is_zero, list, number, numbers, text};
use crate::formula::value::Value;
use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use countersign_record::json::Json;
use countersign_record::time::Instant;

pub(super) fn count<'v>(of: &[Value<'v>]) -> Found<'v> {
    let [value] = of else { return Ok(Value::Absent) };
    // What was given is counted where it is.
    if let Value::Given(Json::Array(items)) = value {
        return Ok(whole(items.iter().filter(|item| **item != Json::Null).count()));
    }
    if let Value::Numbers(numbers) = value {
        return Ok(whole(numbers.len()));
    }
    Ok(whole(list(value)?.iter().filter(|item| **item != Value::Absent).count()))
}

pub(super) fn column<'v>(items: &Value<'v>, name: &str) -> Found<'v> {
    if let Value::Given(Json::Array(items)) = items {
        let member = |item: &'v Json| item.get(name).map_or(Value::Absent, Value::from);
        return Ok(Value::List(items.iter().map(member).collect()));
    }
    let member = |item: &Value<'v>| item.member(name).unwrap_or(Value::Absent);
    Ok(Value::List(list(items)?.iter().map(member).collect()))
}

pub(super) fn only<'v>(items: &Value<'v>, name: &str, wanted: &Value<'v>) -> Found<'v> {
    let is = |item: &&Value<'v>| item.member(name).as_ref() == Some(wanted);
    Ok(Value::List(list(items)?.iter().filter(is).cloned().collect()))
}

pub(super) fn mark_first<'v>(of: &[Value<'v>]) -> Found<'v> {
    let [values] = of else { return Ok(Value::Absent) };
    let mark = |(at, value): (usize, &Value<'v>)| match (*value == Value::Absent, at) {
        (true, _) => Value::Absent,
        (false, 0) => Value::Number(1.0),
        (false, _) => Value::Number(0.0),
    };
    Ok(Value::List(list(values)?.iter().enumerate().map(mark).collect()))
}

pub(super) fn distinct<'v>(of: &[Value<'v>]) -> Found<'v> {
    let [values] = of else { return Ok(Value::Absent) };
    let values = list(values)?;
    let mut texts = alloc::collections::BTreeSet::new();
    let mut is_new = |value: &Value<'v>| match value {
        Value::Text(text) => Ok(texts.insert(text.clone())),
        Value::Absent => Ok(true),
        Value::Truth(_)
        | Value::Number(_)
        | Value::Numbers(_)
        | Value::List(_)
        | Value::Record(_)
        | Value::Given(_) => Err(Stop::Kind(alloc::format!("{} is no name", value.kind()))),
    };
    let mut all = true;
    for value in values.iter() {
        all &= is_new(value)?;
    }
    Ok(all.into())
}

pub(super) fn again<'v>(of: &[Value<'v>]) -> Found<'v> {
    let [values] = of else { return Ok(Value::Absent) };
    let values = list(values)?;
    let mut stood = alloc::collections::BTreeSet::new();
    let marks = values.iter().map(|value| Ok(Value::Truth(!stood.insert(text(value)?))));
    Ok(Value::List(marks.collect::<Result<_, Stop>>()?))
}

pub(super) fn joined<'v>(of: &[Value<'v>]) -> Found<'v> {
    let [lists] = of else { return Ok(Value::Absent) };
    let mut all = Vec::new();
    for one in list(lists)?.iter().filter(|one| **one != Value::Absent) {
        all.extend_from_slice(&list(one)?);
    }
    Ok(Value::List(all.into()))
}

pub(super) fn unique<'v>(of: &[Value<'v>]) -> Found<'v> {
    let [values] = of else { return Ok(Value::Absent) };
    let values = list(values)?;
    let mut all = values.iter().map(|value| Ok((text(value)?, value))).collect::<Result<Vec<_>, Stop>>()?;
    all.sort_unstable_by_key(|(text, _)| *text);
    all.dedup_by_key(|(text, _)| *text);
    Ok(Value::List(all.into_iter().map(|(_, value)| value.clone()).collect()))
}

pub(super) fn has<'v>(of: &[Value<'v>]) -> Found<'v> {
    let [values, wanted] = of else { return Ok(Value::Absent) };
    Ok(list(values)?.contains(wanted).into())
}

pub(super) fn earlier<'v>(one: &str, other: &str) -> Found<'v> {
    let read = |text| Instant::read(text).ok_or_else(|| Stop::Kind(alloc::format!("{text} is no time")));
    Ok((read(one)? < read(other)?).into())
}

pub(super) fn weighted_mean<'v>(of: &[Value<'v>]) -> Found<'v> {
    let [scores, weights] = of else { return Ok(Value::Absent) };
    let (mut total, mut sum) = (0.0, 0.0);
    for (score, weight) in list(scores)?.iter().zip(list(weights)?.iter()) {
        if *score != Value::Absent {
            sum += number(score)? * number(weight)?;
            total += number(weight)?;
        }
    }
    if is_zero(total) { Err(Stop::ZeroDenominator) } else { Ok((sum / total).into()) }
}

pub(super) fn first<'v>(of: &[Value<'v>]) -> Found<'v> {
    let [values] = of else { return Ok(Value::Absent) };
    Ok(list(values)?.first().cloned().unwrap_or(Value::Absent))
}

pub(super) fn told<'v>(of: &[Value<'v>]) -> Found<'v> {
    let [values] = of else { return Ok(Value::Absent) };
    let is_there = |value: &&Value<'v>| **value != Value::Absent;
    Ok(Value::List(list(values)?.iter().filter(is_there).cloned().collect()))
}

/// What stands before the last items of a list, and these; of a shorter list all are the last.
pub(super) fn split<'v>(of: &[Value<'v>]) -> Result<(Value<'v>, Value<'v>), Stop> {
    let [values, many] = of else { return Ok((Value::Absent, Value::Absent)) };
    let values = list(values)?;
    let many = usize::try_from(whole_number(many)?).unwrap_or(usize::MAX);
    let (before, last) = values.split_at(values.len().saturating_sub(many));
    Ok((Value::List(before.into()), Value::List(last.into())))
}

/// The sum of what each two numbers of two lists come to.
pub(super) fn paired<'v>(of: &[Value<'v>], both: fn(f64, f64) -> f64) -> Found<'v> {
    let [one, other] = of else { return Ok(Value::Absent) };
    let (one, other) = (numbers(one)?, numbers(other)?);
    match one.len() == other.len() {
        true => Ok(one.iter().zip(&*other).map(|(one, other)| both(*one, *other)).sum::<f64>().into()),
        false => Err(Stop::Kind(alloc::format!("{} numbers are not {}", one.len(), other.len()))),
    }
}

pub(super) fn scaled<'v>(of: &[Value<'v>]) -> Found<'v> {
    let [values, others] = of else { return Ok(Value::Absent) };
    let greatest = numbers(others)?.iter().fold(0.0_f64, |greatest, other| greatest.max(other.abs()));
    let values = numbers(values)?;
    // Dividing by the number itself, not by what is one over it: that of the least numbers is none.
    let scaled = |value: &f64| if greatest > 0.0 { value / greatest } else { *value };
    Ok(Value::Numbers(values.iter().map(scaled).collect()))
}

pub(super) fn lifted<'v>(of: &[Value<'v>]) -> Found<'v> {
    let [weights] = of else { return Ok(Value::Absent) };
    let weights = numbers(weights)?;
    let lift = crate::derive::lift(weights.iter().copied());
    if lift > 1.0 {
        Ok(Value::Numbers(weights.iter().map(|weight| weight * lift).collect()))
    } else {
        Ok(Value::Numbers(weights))
    }
}

pub(super) fn root<'v>(of: &[Value<'v>]) -> Found<'v> {
    let [value] = of else { return Ok(Value::Absent) };
    let value = number(value)?;
    if value < 0.0 {
        return Err(Stop::Kind("below zero there is no root".into()));
    }
    Ok(libm::sqrt(value).into())
}

pub(super) fn both<'v>(of: &[Value<'v>]) -> Found<'v> {
    let [one, other] = of else { return Ok(Value::Absent) };
    Ok(Value::List(list(one)?.iter().chain(list(other)?.iter()).cloned().collect()))
}

pub(super) fn in_order<'v>(of: &[Value<'v>]) -> Found<'v> {
    let [values, order] = of else { return Ok(Value::Absent) };
    let values = list(values)?;
    // Among a few a word is found sooner one by one.
    let known: Option<BTreeSet<_>> = (values.len() > FEW).then(|| values.iter().filter_map(word).collect());
    let is_there = |one: &&Value<'v>| match known.as_ref().zip(word(one)) {
        Some((known, word)) => known.contains(&word),
        None => values.contains(one),
    };
    Ok(Value::List(list(order)?.iter().filter(is_there).cloned().collect()))
}

/// Items that are looked through one by one.
const FEW: usize = 16;

/// A value that is a text.
fn word<'a>(value: &'a Value<'_>) -> Option<&'a str> {
    if let Value::Text(text) = value { Some(text) } else { None }
}

pub(super) fn mapped<'v>(of: &[Value<'v>]) -> Found<'v> {
    let [values, table, otherwise] = of else { return Ok(Value::Absent) };
    let read = |value: &Value<'v>| match value {
        Value::Text(word) => {
            table.member(word).filter(|found| *found != Value::Absent).unwrap_or_else(|| otherwise.clone())
        }
        Value::Absent
        | Value::Truth(_)
        | Value::Number(_)
        | Value::Numbers(_)
        | Value::List(_)
        | Value::Record(_)
        | Value::Given(_) => otherwise.clone(),
    };
    Ok(Value::List(list(values)?.iter().map(read).collect()))
}

/// Where a value stands in an order: true, then false or nothing, then numbers, then texts by their bytes, then the rest.
fn place<'a>(value: &'a Value<'_>) -> (u8, u64, &'a str) {
    match value {
        Value::Truth(true) => (0, 0, ""),
        Value::Truth(false) | Value::Absent => (1, 0, ""),
        Value::Number(number) => (2, ascending(*number), ""),
        Value::Text(text) => (3, 0, &**text),
        Value::Numbers(_) | Value::List(_) | Value::Record(_) | Value::Given(_) => (4, 0, ""),
    }
}

pub(super) fn sorted<'v>(of: &[Value<'v>]) -> Found<'v> {
    let [items, names] = of else { return Ok(Value::Absent) };
    let names = list(names)?;
    let names = names.iter().map(text).collect::<Result<Vec<&str>, Stop>>()?;
    let keys = |item: &Value<'v>| -> Vec<Value<'v>> {
        names.iter().map(|name| item.member(name).unwrap_or(Value::Absent)).collect()
    };
    let mut all: Vec<(Vec<Value<'v>>, Value<'v>)> =
        list(items)?.iter().map(|item| (keys(item), item.clone())).collect();
    all.sort_by(|(one, _), (other, _)| one.iter().map(place).cmp(other.iter().map(place)));
    Ok(Value::List(all.into_iter().map(|(_, item)| item).collect()))
}
