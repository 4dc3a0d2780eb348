//! Whether every type that is named exists.
//! Owns: which names are known. Must not: look at ids.

use super::names::{PARTS, RETIRED};
use super::{ENTRY, Found};
use crate::kind;
use crate::member::Member;
use crate::reference::{Reference, snake};
use crate::table::commands;
use crate::types;
use crate::world::{Record, World};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use core::cell::OnceCell;
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
        if let Some(path) = phantom(record.json(), Holds::Text, &names, &retired) {
            found.add(record, &path, "names a type that was given up or never was");
        }
    }
    for declaration in world.of("TypeDeclaration") {
        if let Some(name) = declaration.text("type_name").filter(|name| !names.is_type(name)) {
            found.add(declaration, "type_name", format!("{name} is no type that is known"));
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
    /// The names that are none of those, as references have them; made when one is looked for.
    snakes: OnceCell<BTreeSet<String>>,
}

impl<'w> Names<'w> {
    fn of(world: &'w World) -> Self {
        let mut entries = BTreeMap::new();
        for entry in world.of(ENTRY) {
            entries.extend(entry.json().text("type_name").map(|name| (name, entry)));
        }
        let mut names = Names { entries, retired: BTreeSet::new(), snakes: OnceCell::new() };
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

    /// Whether a text names a type as records do: by its name, or as references have it.
    fn is_named(&self, text: &str) -> bool {
        let snakes = || {
            let own = self.entries.keys().filter(|name| !self.retired.contains(*name)).copied();
            kind::all().map(|kind| kind.name).chain(own).map(snake).collect()
        };
        self.is_type(text) || self.snakes.get_or_init(snakes).contains(text)
    }

    /// Whether a schema exists, where it is called as types are: what is called otherwise is of no type.
    fn is_schema(&self, text: &str) -> bool {
        let is_name = text.starts_with(|first: char| first.is_ascii_uppercase())
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let is_of_command = || commands::all().any(|one| one.request == text || one.response == text);
        let is_known = self.is_type(text) || types::find(text).is_some() || is_of_command();
        !is_name || is_known && !self.retired.contains(text)
    }
}

fn is_known(name: &str, entries: &BTreeMap<&str, Record<'_>>) -> bool {
    kind::find(name).is_some() || PARTS.contains(&name) || entries.contains_key(name)
}

/// What a member holds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Holds {
    /// Something else: a text for people may say anything.
    Text,
    /// A reference to a record.
    Reference,
    /// The name of a type.
    Type,
    /// The name of a schema.
    Schema,
}

fn holds(member: &str) -> Holds {
    match member {
        "record_kind" | "producer_event_kind" | "triggered_by_receipt_kind" => Holds::Type,
        "schema_id" => Holds::Schema,
        reference if reference.ends_with("_ref") || reference.ends_with("_refs") => Holds::Reference,
        _other => Holds::Text,
    }
}

/// Where the first name of a type that was given up or that nobody knows stands.
fn phantom(value: &Json, held: Holds, names: &Names<'_>, retired: &BTreeSet<String>) -> Option<String> {
    let within = |name: &str, rest: String| {
        if rest.is_empty() { name.to_string() } else { format!("{name}.{rest}") }
    };
    match value {
        Json::Object(members) => members.iter().find_map(|(name, value)| {
            phantom(value, holds(name), names, retired).map(|rest| within(name, rest))
        }),
        Json::Array(items) => items.iter().enumerate().find_map(|(at, item)| {
            phantom(item, held, names, retired).map(|rest| within(&at.to_string(), rest))
        }),
        Json::String(text) => {
            let is_phantom = match held {
                Holds::Text => false,
                Holds::Reference => Reference::read(text).is_some_and(|one| retired.contains(one.kind)),
                Holds::Type => !names.is_named(text),
                Holds::Schema => !names.is_schema(text),
            };
            is_phantom.then(String::new)
        }
        Json::Null | Json::Bool(_) | Json::Number(_) => None,
    }
}
