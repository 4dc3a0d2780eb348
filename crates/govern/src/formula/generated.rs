//! Values for tests, drawn from what a formula says that it takes.
//! Owns: one value of a shape, from a seed. Must not: ship.

use super::input::{ANY, Input, Members, Shape, Words};
use crate::derive::draw::Draw;
use countersign_record::json::{Json, Number, Object};
use std::string::String;
use std::vec::Vec;

const TEXTS: [&str; 5] = ["a", "b", "c", "d", "e"];
const TIMES: [&str; 4] =
    ["2026-03-01T00:00:00Z", "2026-03-02T08:30:00Z", "2026-03-02T09:30:00+01:00", "2027-01-01T00:00:00Z"];
const VERSIONS: [&str; 6] = ["1", "1.0", "1.9", "1.10", "v2.0.1", "2.0.1-rc1"];
/// Items of a list.
const ITEMS_MAX: usize = 6;

fn one_of<'t>(draw: &mut Draw, of: &[&'t str]) -> &'t str {
    of[draw.place(of.len())]
}

fn number(value: f64) -> Json {
    Json::Number(Number::try_from(value).unwrap())
}

/// A value that a formula takes here, or one that is just so; for what may be missing sometimes nothing.
pub(super) fn value(draw: &mut Draw, input: &Input) -> Json {
    if !input.is_required && input.default.is_none() && draw.place(4) == 0 {
        return Json::Null;
    }
    let (low, high) = input.range.map_or((0.0, 3.0), |range| (range.low.max(-3.0), range.high.min(3.0)));
    let twentieth = |draw: &mut Draw| low + (high - low) * draw.place(21) as f64 / 20.0;
    match input.shape {
        Shape::Number => number(twentieth(draw)),
        Shape::Count => number(low.max(0.0).ceil() + draw.place(8) as f64),
        Shape::Among(numbers) => number(numbers[draw.place(numbers.len())]),
        Shape::Truth => Json::Bool(draw.place(2) == 0),
        Shape::Text => one_of(draw, &TEXTS).into(),
        Shape::Time => one_of(draw, &TIMES).into(),
        Shape::Version => one_of(draw, &VERSIONS).into(),
        Shape::Word(words) => one_of(draw, words.words).into(),
        Shape::Record(members) => record(draw, members).into(),
        Shape::Map(keys, item) => map(draw, keys, item).into(),
        Shape::Numbers => {
            Json::Array((0..draw.place(ITEMS_MAX + 6)).map(|_| number(twentieth(draw))).collect())
        }
        Shape::List(item) => Json::Array((0..draw.place(ITEMS_MAX)).map(|_| value(draw, item)).collect()),
    }
}

fn record(draw: &mut Draw, of: Members) -> Object {
    let members: Vec<(&str, Json)> =
        of.members.iter().map(|member| (member.name, value(draw, member))).collect();
    members.into_iter().filter(|(_, value)| *value != Json::Null).collect()
}

/// Every word is a key, or nearly so.
fn map(draw: &mut Draw, keys: Words, item: &Input) -> Object {
    let keys = if keys.words.is_empty() { TEXTS.as_slice() } else { keys.words };
    let mut all = Object::new();
    for key in keys {
        if draw.place(20) > 0 {
            all.insert(String::from(*key), value(draw, item));
        }
    }
    all
}

/// What a formula takes, by name.
pub(super) fn inputs(draw: &mut Draw, of: &[Input]) -> Object {
    let all: Vec<(&str, Json)> = of.iter().map(|input| (input.name, value(draw, input))).collect();
    all.into_iter().filter(|(_, value)| *value != Json::Null).collect()
}

#[test]
fn what_is_drawn_is_taken() {
    assert!(ANY.words.is_empty());
    let mut draw = Draw::new(1);
    for spec in super::registry::all() {
        for input in spec.inputs {
            for _ in 0..20 {
                let drawn = value(&mut draw, input);
                let taken = drawn == Json::Null || super::take::take(input, &drawn).is_ok();
                assert!(taken, "{} {}: {drawn:?}", spec.id, input.name);
            }
        }
    }
}
