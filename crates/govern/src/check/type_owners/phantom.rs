//! Whether every type that is named exists.
//! Owns: which names are known. Must not: look at ids.

use super::names::{PARTS, RETIRED};
use super::{ENTRY, Found};
use crate::kind;
use crate::member::Member;
use crate::reference::{Reference, snake};
use crate::world::{Record, World};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use countersign_record::json::Json;

pub(super) fn phantom_type_reference(world: &World, found: &mut Found<'_>) {
    let names = Names::of(world);
    let retired: BTreeSet<String> = names.retired.iter().map(|name| snake(name)).collect();
    let mut judged: BTreeMap<&str, bool> = BTreeMap::new();
    for record in world.all() {
        let is_known = *judged.entry(record.kind()).or_insert_with(|| names.is_row(record.kind()));
        if !is_known {
            found.add(record, "", format!("{} is no type that is known", record.kind()));
        }
        if let Some(path) = phantom(record.json(), false, &retired) {
            found.add(record, &path, "the reference names a type that was given up");
        }
    }
    for entry in world.of(ENTRY) {
        if let Some(name) = entry.text("replacement_type_name").filter(|name| !names.is_type(name)) {
            found.add(entry, "replacement_type_name", format!("{name} is no type that is known"));
        }
    }
}

/// The names of a world: what is built in, and its own registry.
struct Names<'w> {
    /// The last entry of each name.
    entries: BTreeMap<&'w str, Record<'w>>,
    /// Names that were given up and that nothing replaces.
    retired: BTreeSet<&'w str>,
}

impl<'w> Names<'w> {
    fn of(world: &'w World) -> Self {
        let mut entries = BTreeMap::new();
        for entry in world.of(ENTRY) {
            entries.extend(entry.json().text("type_name").map(|name| (name, entry)));
        }
        let mut names = Names { entries, retired: BTreeSet::new() };
        let own =
            names.entries.iter().filter(|(_, entry)| entry.is("status", "retired")).map(|(name, _)| *name);
        let gone: BTreeSet<&str> = RETIRED.into_iter().chain(own).collect();
        names.retired = gone.clone();
        // A name that says what took its place may still be read.
        names.retired.retain(|name| {
            let replacement =
                names.entries.get(name).and_then(|entry| entry.json().text("replacement_type_name"));
            !replacement.is_some_and(|one| !gone.contains(one) && is_known(one, &names.entries))
        });
        names
    }

    /// Whether a name may stand as the kind of a row.
    fn is_row(&self, name: &str) -> bool {
        (kind::find(name).is_some() || self.entries.contains_key(name)) && !self.retired.contains(name)
    }

    /// Whether a name is one of a type.
    fn is_type(&self, name: &str) -> bool {
        is_known(name, &self.entries) && !self.retired.contains(name)
    }
}

fn is_known(name: &str, entries: &BTreeMap<&str, Record<'_>>) -> bool {
    kind::find(name).is_some() || PARTS.contains(&name) || entries.contains_key(name)
}

/// Where the first reference to a type that was given up stands. Only members that hold references are looked at: a text for
/// people may say anything.
fn phantom(value: &Json, is_reference: bool, retired: &BTreeSet<String>) -> Option<String> {
    let within = |name: &str, rest: String| {
        if rest.is_empty() { name.to_string() } else { format!("{name}.{rest}") }
    };
    match value {
        Json::Object(members) => members.iter().find_map(|(name, value)| {
            let is_reference = name.ends_with("_ref") || name.ends_with("_refs");
            phantom(value, is_reference, retired).map(|rest| within(name, rest))
        }),
        Json::Array(items) => items.iter().enumerate().find_map(|(at, item)| {
            phantom(item, is_reference, retired).map(|rest| within(&at.to_string(), rest))
        }),
        Json::String(text) if is_reference => {
            let reference = Reference::read(text).filter(|one| retired.contains(one.kind));
            reference.map(|_| String::new())
        }
        Json::String(_) | Json::Null | Json::Bool(_) | Json::Number(_) => None,
    }
}
