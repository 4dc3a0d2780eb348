//! Whether every type that is named exists.
//! Owns: which names are known. Must not: look at ids.

use super::names::PARTS;
use super::{ENTRY, Found};
use crate::kind::{self, GIVEN_UP, Number};
use crate::member::Member;
use crate::path::{Path, Step};
use crate::reference::{Reference, snake};
use crate::table::commands;
use crate::types;
use crate::world::{Mark, Record, World, in_force, is_reference};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use countersign_record::json::Json;

pub(super) fn phantom_type_reference(world: &World, found: &mut Found<'_>) {
    let names = Names::of(world);
    for record in named(world, &names) {
        if !names.is_row(record.kind(), record.seq()) {
            found.add(record, "", format!("{} is no type that is known", record.kind()));
        }
        if let Some(path) = phantom(record, &names) {
            found.add(record, path, "names a type that was given up or never was");
        }
    }
    for declaration in world.of("TypeDeclaration") {
        let name = declaration.text("type_name").filter(|name| !names.is_type(name, declaration.seq()));
        if let Some(name) = name {
            found.add(declaration, "type_name", format!("{name} is no type that is known"));
        }
    }
    for entry in world.of(ENTRY) {
        let name = entry.text("replacement_type_name").filter(|name| !names.is_type(name, entry.seq()));
        if let Some(name) = name {
            found.add(entry, "replacement_type_name", format!("{name} is no type that is known"));
        }
    }
}

/// The rows that may name a type that is not there. Only where types were given up besides those of the contract, it may be any.
fn named<'w>(world: &'w World, names: &Names<'w>) -> Vec<Record<'w>> {
    if names.has_retired {
        return world.all().collect();
    }
    let marked = [Mark::Type, Mark::GivenUp].into_iter().flat_map(|mark| world.marked(mark));
    marked.chain(world.strange()).collect()
}

/// The names of a world: what is built in, and its own registry.
struct Names<'w> {
    /// The entries of each name, in order.
    entries: BTreeMap<&'w str, Vec<Record<'w>>>,
    /// The names of entries, and those that the contract gave up, as references have them.
    snakes: BTreeMap<String, Vec<&'w str>>,
    /// Whether an entry gives up a name.
    has_retired: bool,
}

impl<'w> Names<'w> {
    fn of(world: &'w World) -> Self {
        let mut entries: BTreeMap<&str, Vec<Record<'_>>> = BTreeMap::new();
        let mut has_retired = false;
        for entry in world.of(ENTRY) {
            let Some(name) = entry.json().text("type_name") else { continue };
            entries.entry(name).or_default().push(entry);
            has_retired |= entry.is("status", "retired");
        }
        let mut snakes: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for name in entries.keys().copied().chain(GIVEN_UP.iter().map(|(name, _)| *name)) {
            snakes.entry(snake(name)).or_default().push(name);
        }
        Names { entries, snakes, has_retired }
    }

    fn entries(&self, name: &str) -> &[Record<'w>] {
        self.entries.get(name).map(Vec::as_slice).unwrap_or_default()
    }

    /// Whether a name was given up before a place: what was written before that stays as it is. One that was given up by an entry may
    /// come back by one.
    fn is_retired(&self, name: &str, before: u64) -> bool {
        let entries = self.entries(name);
        let count = entries.partition_point(|entry| entry.seq() < before);
        let last = count.checked_sub(1).and_then(|last| entries.get(last));
        GIVEN_UP.iter().any(|(given_up, _)| *given_up == name)
            || last.is_some_and(|entry| entry.is("status", "retired"))
    }

    /// Whether a name was given up before a place, and nothing replaces it: one that says what took its place may still be read.
    fn is_gone(&self, name: &str, before: u64) -> bool {
        let replacement = || in_force(self.entries(name), before)?.json().text("replacement_type_name");
        let is_there = |one: &str| !self.is_retired(one, before) && is_known(one, &self.entries);
        self.is_retired(name, before) && !replacement().is_some_and(is_there)
    }

    fn is_gone_snake(&self, kind: &str, before: u64) -> bool {
        self.snakes.get(kind).is_some_and(|names| names.iter().any(|name| self.is_gone(name, before)))
    }

    /// Whether a name may stand as the kind of a row.
    fn is_row(&self, name: &str, at: u64) -> bool {
        (kind::find(name).is_some() || self.entries.contains_key(name)) && !self.is_gone(name, at)
    }

    /// Whether a name is one of a type.
    fn is_type(&self, name: &str, at: u64) -> bool {
        is_known(name, &self.entries) && !self.is_gone(name, at)
    }

    /// Whether a text names a type as records do: by its name, or as references have it.
    fn is_named(&self, text: &str, at: u64) -> bool {
        let known = || Number::of_snake(text).is_some_and(|known| !self.is_gone(known.kind.name, at));
        let is_own = |name: &&str| self.entries.contains_key(name) && !self.is_gone(name, at);
        let own = || self.snakes.get(text).is_some_and(|names| names.iter().any(is_own));
        self.is_type(text, at) || known() || own()
    }

    /// Whether a schema exists, where it is called as types are: what is called otherwise is of no type.
    fn is_schema(&self, text: &str, at: u64) -> bool {
        let is_name = text.starts_with(|first: char| first.is_ascii_uppercase())
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let is_of_command = || commands::all().any(|one| one.request == text || one.response == text);
        let is_known = self.is_type(text, at) || types::find(text).is_some() || is_of_command();
        !is_name || is_known && !self.is_gone(text, at)
    }
}

fn is_known(name: &str, entries: &BTreeMap<&str, Vec<Record<'_>>>) -> bool {
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
    // Asked for each member of each row: the last letter tells of nearly all that they hold something else.
    match member.bytes().next_back() {
        Some(b'f' | b's') if is_reference(member) => Holds::Reference,
        Some(b'd') => match member {
            "record_kind" | "producer_event_kind" | "triggered_by_receipt_kind" => Holds::Type,
            "schema_id" => Holds::Schema,
            _other => Holds::Text,
        },
        Some(_) | None => Holds::Text,
    }
}

/// Where the first name of a type that was given up or that nobody knows stands.
fn phantom(record: Record<'_>, names: &Names<'_>) -> Option<Path> {
    let mut steps = Vec::new();
    let at = record.seq();
    holds_phantom(record.json(), Holds::Text, names, at, &mut steps).then(|| {
        steps.reverse();
        Path::along(&steps)
    })
}

/// Whether there is such a name; the way to the first one, from inside out.
fn holds_phantom<'j>(
    value: &'j Json,
    held: Holds,
    names: &Names<'_>,
    at: u64,
    steps: &mut Vec<Step<'j>>,
) -> bool {
    match value {
        Json::Object(members) => {
            let found = members.iter().find(|(name, value)| match value {
                Json::Null | Json::Bool(_) | Json::Number(_) => false,
                Json::String(_) if holds(name) == Holds::Text => false,
                Json::String(_) | Json::Array(_) | Json::Object(_) => {
                    holds_phantom(value, holds(name), names, at, steps)
                }
            });
            steps.extend(found.map(|(name, _)| Step::Name(name)));
            found.is_some()
        }
        Json::Array(items) => {
            let found = items.iter().position(|item| holds_phantom(item, held, names, at, steps));
            steps.extend(found.map(Step::Item));
            found.is_some()
        }
        Json::String(text) => match held {
            Holds::Text => false,
            Holds::Reference => Reference::read(text).is_some_and(|one| names.is_gone_snake(one.kind, at)),
            Holds::Type => !names.is_named(text, at),
            Holds::Schema => !names.is_schema(text, at),
        },
        Json::Null | Json::Bool(_) | Json::Number(_) => false,
    }
}
