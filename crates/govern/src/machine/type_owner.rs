//! Who owns a type: its states.
//! Owns: the table. Must not: decide.

use super::{Machine, Transition};

/// Who owns a type.
pub const TYPE_OWNER: Machine = Machine {
    name: "type_owner",
    about: "Who owns a type",
    initial: &["pending_absorption", "canonical", "imported"],
    terminal: &["retired"],
    transitions: TRANSITIONS,
};

const fn way(from: &'static str, to: &'static str, by: &'static str, guard: &'static str) -> Transition {
    Transition { from, to, by, guard }
}

#[rustfmt::skip] // one to a line
const TRANSITIONS: &[Transition] = &[
    way("pending_absorption", "canonical", "owner document absorbs it", ""),
    way("pending_absorption", "imported", "another owner named", ""),
    way("pending_absorption", "retired", "dropped", "replacement_type_name or no users"),
    way("canonical", "deprecated", "replacement named", ""),
    way("imported", "deprecated", "owner deprecates", ""),
    way("deprecated", "retired", "no importer left", ""),
];
