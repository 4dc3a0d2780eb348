//! What a type says of a place in a record: which words may stand there, and whether it may be left out.
//! Owns: reading the schemas. Must not: know a fault.

use super::fault::Step;
use countersign_govern::types;
use countersign_record::json::Json;

/// The words that may stand at a place of a type.
pub(super) fn words(kind: &str, path: &[Step]) -> Vec<String> {
    let Some(found) = types::find(kind) else { return Vec::new() };
    let mut words = Vec::new();
    listed(&(found.schema)(), path, &mut words);
    words
}

fn listed(schema: &Json, path: &[Step], words: &mut Vec<String>) {
    if let Some(name) = schema.get("$ref").and_then(Json::as_str).and_then(|name| name.strip_suffix(".json"))
    {
        if let Some(found) = types::find(name) {
            listed(&(found.schema)(), path, words);
        }
        return;
    }
    for any in ["oneOf", "anyOf"] {
        for one in schema.get(any).and_then(Json::as_array).unwrap_or_default() {
            listed(one, path, words);
        }
    }
    match path.split_first() {
        None => {
            let all = schema.get("enum").and_then(Json::as_array).unwrap_or_default();
            words.extend(all.iter().filter_map(Json::as_str).map(str::to_owned));
        }
        Some((Step::Member(name), rest)) => {
            let inside = schema.get("properties").and_then(|all| all.get(name));
            let inside = inside.or_else(|| schema.get("additionalProperties"));
            inside.into_iter().for_each(|inside| listed(inside, rest, words));
        }
        Some((Step::Item(_), rest)) => {
            schema.get("items").into_iter().for_each(|inside| listed(inside, rest, words));
        }
    }
}

/// Whether a member must be there by its type; what a type does not describe must not.
pub(super) fn is_required(kind: &str, path: &[Step]) -> bool {
    let Some((Step::Member(name), inside)) = path.split_last() else { return false };
    types::find(kind).is_some_and(|found| requires(&(found.schema)(), inside, name))
}

fn requires(schema: &Json, path: &[Step], name: &str) -> bool {
    if let Some(named) = schema.get("$ref").and_then(Json::as_str).and_then(|one| one.strip_suffix(".json")) {
        return types::find(named).is_some_and(|found| requires(&(found.schema)(), path, name));
    }
    let mut ways = ["oneOf", "anyOf"]
        .into_iter()
        .flat_map(|any| schema.get(any).and_then(Json::as_array).unwrap_or_default());
    // Of several forms one that can do without is enough.
    if let Some(first) = ways.next() {
        return requires(first, path, name) && ways.all(|one| requires(one, path, name));
    }
    match path.split_first() {
        None => {
            let all = schema.get("required").and_then(Json::as_array).unwrap_or_default();
            all.iter().any(|one| one.as_str() == Some(name))
        }
        Some((Step::Member(own), rest)) => {
            let inside = schema.get("properties").and_then(|all| all.get(own));
            let inside = inside.or_else(|| schema.get("additionalProperties"));
            inside.is_some_and(|inside| requires(inside, rest, name))
        }
        Some((Step::Item(_), rest)) => schema.get("items").is_some_and(|inside| requires(inside, rest, name)),
    }
}
