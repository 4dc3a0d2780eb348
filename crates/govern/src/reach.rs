//! Which references of a log name nothing.
//! Owns: what counts as a record that must be there. Must not: judge what a record says; `check` does.
//!
//! A bundle may be a part of a log, so this is asked for apart from the rules.

use crate::kind::{self, Class};
use crate::reference::{Reference, snake};
use crate::types;
use crate::world::{Record, World};
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// A reference that names no record of the log.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unresolved {
    /// The place of the row that has it.
    pub row: u64,
    /// Where in the record, as a JSON pointer.
    pub path: String,
    /// The reference.
    pub reference: String,
}

/// Other words for a kind in references.
const ALIASES: [(&str, &str); 2] = [("src", "source_record"), ("srcset", "source_set")];

/// The references of a log to records of the contract that it does not have, in order. A kind that the contract does not know
/// (a person, a module, a file) stands for something outside of the log.
#[must_use]
pub fn unresolved(world: &World) -> Vec<Unresolved> {
    let known: BTreeMap<String, ()> =
        kind::all().filter(|kind| kind.class != Class::Value).map(|kind| (snake(kind.name), ())).collect();
    let mut found = Vec::new();
    for record in world.all() {
        let mentions = types::find(record.kind()).map(|one| one.references(record.json()));
        for mention in mentions.unwrap_or_default() {
            let named = Reference::read(&mention.text).map(plain);
            if named.is_some_and(|named| known.contains_key(named.kind) && !is_there(record, named)) {
                found.push(Unresolved {
                    row: record.seq(),
                    path: mention.path,
                    reference: mention.text.to_string(),
                });
            }
        }
    }
    found
}

fn plain(reference: Reference<'_>) -> Reference<'_> {
    let kind =
        ALIASES.iter().find(|(alias, _)| *alias == reference.kind).map_or(reference.kind, |(_, kind)| kind);
    Reference { kind, ..reference }
}

fn is_there(record: Record<'_>, named: Reference<'_>) -> bool {
    record.world.resolve(named).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::Draft;
    use countersign_record::json;

    #[test]
    fn what_is_not_there_is_told() {
        let row = |kind: &str, record: &str| Draft {
            kind: kind.to_string(),
            id: None,
            at: None,
            record: json::parse(record.as_bytes()).unwrap(),
        };
        let edge = r#"{"output_ref":"source_record:s2","input_refs":["src:s1","source_record:s3","user:u1"],"created_at":"2026-01-01T00:00:00Z"}"#;
        let world = World::new(
            alloc::vec![
                row("SourceRecord", r#"{"source_id":"s1"}"#),
                row("SourceRecord", r#"{"source_id":"s2"}"#),
                row("DerivationEdge", edge),
            ],
            None,
        );
        let expected =
            Unresolved { row: 3, path: "/input_refs/1".into(), reference: "source_record:s3".into() };
        assert_eq!(unresolved(&world), [expected]);
    }
}
