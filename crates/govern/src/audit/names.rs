//! Names by which parts of a log know each other, eight bytes each.
//! Owns: which members name something. Must not: keep a text. Two names may rarely have the same bytes: then parts are looked at
//! together that need not be.

use crate::reference::Reference;
use crate::world::Draft;
use alloc::vec::Vec;
use countersign_record::json::Json;

/// FNV-1a of an id, whatever it is the id of: rules join records by ids without their kinds too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Name(u64);

impl Name {
    fn of(id: &str) -> Self {
        Name(id.bytes().fold(0xCBF2_9CE4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3)
        }))
    }

    /// The stream itself: its parts belong together. No id begins with a control character by chance.
    pub(super) fn of_stream(stream: &str) -> Self {
        let Name(hash) = Name::of(stream);
        Name(!hash)
    }
}

/// The names of a part.
#[derive(Default)]
pub(super) struct Names {
    /// What its rows are called.
    pub(super) owned: Vec<Name>,
    /// What they mention by an id: parts that mention the same belong together, whether or not a row is called so.
    pub(super) shared: Vec<Name>,
    /// What they refer to.
    pub(super) wanted: Vec<Name>,
}

impl Names {
    /// Adds those of a row at its place.
    pub(super) fn add(&mut self, seq: u64, draft: &Draft) {
        self.owned.push(Name::of(&draft.name(seq)));
        self.within(&draft.record, "");
    }

    pub(super) fn sort(&mut self) {
        for names in [&mut self.owned, &mut self.shared, &mut self.wanted] {
            names.sort_unstable();
            names.dedup();
        }
    }

    fn within(&mut self, value: &Json, member: &str) {
        match value {
            Json::Object(members) => {
                for (name, value) in members.iter() {
                    self.text(name, "");
                    self.within(value, name);
                }
            }
            Json::Array(items) => items.iter().for_each(|item| self.within(item, member)),
            Json::String(text) => self.text(text, member),
            Json::Null | Json::Bool(_) | Json::Number(_) => {}
        }
    }

    fn text(&mut self, text: &str, member: &str) {
        if let Some(reference) = Reference::read(text) {
            // A claim is named within its artifact.
            let parts = reference.id.split('/').filter(|part| *part != reference.id);
            self.wanted.extend(parts.map(Name::of));
            self.wanted.push(Name::of(reference.id));
        } else if is_id(member) {
            let of_many = EVERYWHERE.iter().any(|end| member.ends_with(end));
            if of_many { &mut self.wanted } else { &mut self.shared }.push(Name::of(text));
        }
    }
}

fn is_id(member: &str) -> bool {
    ["_id", "_ids", "_key", "_token"].iter().any(|end| member.ends_with(end))
}

/// Ids of what all runs have alike: that two of them mention it says nothing, but a row that is called so counts.
const EVERYWHERE: [&str; 12] = [
    "matter_id",
    "module_id",
    "formula_id",
    "capability_id",
    "command_id",
    "policy_id",
    "schema_id",
    "surface_id",
    "port_id",
    "option_id",
    "selected_option_id",
    "sub_agent_id",
];
