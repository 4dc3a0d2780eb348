//! Places in a document, and other documents that differ from it in one of them.

use countersign_govern::formula::input::{Input, Shape};
use countersign_govern::formula::spec::Spec;
use countersign_record::json::{Json, Number, Object};

/// Names and numbers on the way to a value.
pub(super) type Path = Vec<String>;

/// A place that a formula's shapes know.
pub(super) struct Place {
    pub(super) path: Path,
    pub(super) shape: Shape,
    pub(super) range: Option<(f64, f64)>,
}

pub(super) fn number(value: f64) -> Json {
    Json::Number(Number::try_from(value).unwrap())
}

/// All places in a document but the whole.
pub(super) fn all(document: &Json) -> Vec<Path> {
    let mut found = Vec::new();
    walk(document, &mut Vec::new(), &mut found);
    found
}

fn walk(value: &Json, path: &mut Path, found: &mut Vec<Path>) {
    for (name, inside) in parts(value) {
        path.push(name);
        found.push(path.clone());
        walk(inside, path, found);
        path.pop();
    }
}

fn parts(value: &Json) -> Vec<(String, &Json)> {
    match value {
        Json::Object(members) => members.iter().map(|(name, value)| (name.to_owned(), value)).collect(),
        Json::Array(items) => items.iter().enumerate().map(|(at, item)| (at.to_string(), item)).collect(),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => Vec::new(),
    }
}

/// What stands at a place.
pub(super) fn at<'d>(document: &'d Json, path: &[String]) -> Option<&'d Json> {
    let Some((first, rest)) = path.split_first() else { return Some(document) };
    let (_, inside) = parts(document).into_iter().find(|(name, _)| name == first)?;
    at(inside, rest)
}

/// The document with something else at a place; nothing there takes it out.
fn changed(document: &Json, path: &[String], value: Option<&Json>) -> Option<Json> {
    let Some((first, rest)) = path.split_first() else { return value.cloned() };
    let inside = |name: &str, own: &Json| match name == first {
        true => changed(own, rest, value),
        false => Some(own.clone()),
    };
    Some(match document {
        Json::Object(members) => {
            let members = members.iter().filter_map(|(name, own)| Some((name, inside(name, own)?)));
            Json::Object(members.collect::<Object>())
        }
        Json::Array(items) => {
            let items = items.iter().enumerate();
            Json::Array(items.filter_map(|(at, own)| inside(&at.to_string(), own)).collect())
        }
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => document.clone(),
    })
}

/// The document with something else at a place.
pub(super) fn replaced(document: &Json, path: &[String], value: &Json) -> Json {
    changed(document, path, Some(value)).unwrap()
}

/// The document without what stands at a place.
pub(super) fn removed(document: &Json, path: &[String]) -> Option<Json> {
    changed(document, path, None)
}

/// The document with one member more, or with one item twice.
pub(super) fn with_member(document: &Json, path: &[String]) -> Option<Json> {
    let more = match at(document, path)? {
        Json::Object(members) => {
            let mut members = members.clone();
            members.insert("no_such_member", Json::Null);
            Json::Object(members)
        }
        Json::Array(items) => Json::Array(items.iter().chain(items.first()).cloned().collect()),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => return None,
    };
    Some(replaced(document, path, &more))
}

/// The places of a formula's inputs with what they must be.
pub(super) fn places(spec: &Spec, inputs: &Json) -> Vec<Place> {
    let mut found = Vec::new();
    for input in spec.inputs {
        if let Some(value) = inputs.get(input.name) {
            shaped(input, None, value, vec![input.name.to_owned()], &mut found);
        }
    }
    found
}

fn shaped(input: &Input, whole: Option<(f64, f64)>, value: &Json, path: Path, found: &mut Vec<Place>) {
    let range = input.range.map(|range| (range.low, range.high)).or(whole);
    let inside = |name: &str| path.iter().cloned().chain([name.to_owned()]).collect::<Path>();
    match input.shape {
        Shape::Record(record) => {
            for (name, value) in parts(value) {
                if let Some(member) = record.members.iter().find(|member| member.name == name) {
                    shaped(member, range, value, inside(&name), found);
                }
            }
        }
        Shape::Map(_, item) | Shape::List(item) => {
            for (name, value) in parts(value) {
                shaped(item, range, value, inside(&name), found);
            }
        }
        Shape::Numbers => {
            for (name, _) in parts(value) {
                found.push(Place { path: inside(&name), shape: Shape::Number, range });
            }
        }
        Shape::Number
        | Shape::Count
        | Shape::Among(_)
        | Shape::Truth
        | Shape::Text
        | Shape::Time
        | Shape::Version
        | Shape::Word(_) => {}
    }
    found.push(Place { path, shape: input.shape, range });
}
