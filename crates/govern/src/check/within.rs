//! Members of a record, however deep they stand.
//! Owns: finding them and telling where. Must not: know what they mean.
//!
//! Records are as deep as the reader of JSON lets them be.

use crate::path::{Path, Step};
use alloc::vec::Vec;
use countersign_record::json::Json;

/// Where a value has members that are looked for: by the object that they stand in, their name and what they say. Nothing is looked
/// for inside one that is found.
pub(super) fn places(value: &Json, is_it: impl Fn(&Json, &str, &Json) -> bool) -> Vec<Path> {
    members(value, is_it).into_iter().map(|(place, _)| place).collect()
}

fn members(value: &Json, is_it: impl Fn(&Json, &str, &Json) -> bool) -> Vec<(Path, &Json)> {
    let (mut steps, mut found) = (Vec::new(), Vec::new());
    walk(value, &is_it, &|_| true, &mut steps, &mut found);
    found
}

/// Members that hold whatever somebody puts there, under names that mean what they like.
const OPEN: [&str; 3] = ["payload", "domain_payload", "domain_specific_payload"];

/// Whether a member is open.
pub(super) fn is_open(name: &str) -> bool {
    OPEN.contains(&name)
}

/// Members that the contract may know, with where they stand: none inside a member that is open.
pub(super) fn declared(value: &Json, is_it: impl Fn(&str, &Json) -> bool) -> Vec<(Path, &Json)> {
    let (mut steps, mut found) = (Vec::new(), Vec::new());
    walk(value, &|_, name, member| is_it(name, member), &|name| !is_open(name), &mut steps, &mut found);
    found
}

fn walk<'j>(
    value: &'j Json,
    is_it: &impl Fn(&Json, &str, &Json) -> bool,
    enters: &impl Fn(&str) -> bool,
    steps: &mut Vec<Step<'j>>,
    found: &mut Vec<(Path, &'j Json)>,
) {
    match value {
        Json::Object(members) => {
            for (name, member) in members.iter() {
                steps.push(Step::Name(name));
                if is_it(value, name, member) {
                    found.push((Path::along(steps), member));
                } else if enters(name) {
                    walk(member, is_it, enters, steps, found);
                }
                steps.pop();
            }
        }
        Json::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                steps.push(Step::Item(at));
                walk(item, is_it, enters, steps, found);
                steps.pop();
            }
        }
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {}
    }
}

/// Where a value has a member of a name that says something.
pub(super) fn named(value: &Json, name: &str) -> Vec<Path> {
    places(value, |_, own, member| own == name && *member != Json::Null)
}

#[cfg(test)]
mod tests {
    use super::*;
    use countersign_record::json;
    use std::string::String;

    #[test]
    fn members_are_found_at_any_depth() {
        let value = json::parse(br#"{"a":1,"b":[{"a":{"a":2}},[{"c":{"a":null,"a/b":{"a":3}}}]]}"#).unwrap();
        let found: Vec<String> = named(&value, "a").into_iter().map(String::from).collect();
        assert_eq!(found, ["/a", "/b/0/a", "/b/1/0/c/a~1b/a"]);
        assert_eq!(named(&value, "d"), []);
    }
}
