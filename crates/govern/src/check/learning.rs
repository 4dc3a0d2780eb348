//! Validation codes: learning.
//! Owns: the rules of this area. Must not: decide by names.

use super::{Area, Found, Rule, Severity, within};
use crate::kind::{Class, Kind};
use crate::member::Member;
use crate::path::Path;
use crate::world::{Mark, Record, World};
use alloc::format;
use countersign_record::json::Json;

pub(super) const AREA: Area = Area { name: "learning", rules: RULES, kinds: KINDS };

/// What is learned from a run, and a type as a document declares it.
const KINDS: &[Kind] = &[Kind::new("LearningSignal", Class::Event, Some("signal_id"))];

const RULES: &[Rule] = &[
    Rule {
        code: "learning_mode_value_drift",
        severity: Severity::Error,
        section: "A-11",
        fires: "A learning_mode field, however deep it stands, or a LearningMode declaration holds a value outside {production, signal_generation, calibration}, e.g. cross_calibration.",
        legal: "learning_mode = calibration on a calibration run.",
        why: "What may be learned from a run hangs on its mode. A mode that the contract does not know would be read differently by each part, and client work could end up as training.",
        fix: "Use production, signal_generation or calibration.",
        check: learning_mode_value_drift,
    },
    Rule {
        code: "learning_mode_redeclared_outside_owner",
        severity: Severity::Error,
        section: "A-11",
        fires: "A document other than the LearningMode canonical_owner_doc declares LearningMode itself instead of importing it (even with the same members).",
        legal: "A document imports LearningMode and is listed in imported_by_docs.",
        why: "Two declarations of one type drift apart, and then two documents mean different things by one word.",
        fix: "Import LearningMode from the document that owns it, and list the importer in imported_by_docs.",
        check: learning_mode_redeclared_outside_owner,
    },
];

/// The modes there are.
const MODES: [&str; 3] = ["production", "signal_generation", "calibration"];
/// The type they make up, and the document that owns it where no registry says another.
const TYPE: &str = "LearningMode";
const OWNER: &str = "DOC23_OER";

fn declarations(world: &World) -> impl Iterator<Item = Record<'_>> {
    world.of("TypeDeclaration").filter(|declaration| declaration.is("type_name", TYPE))
}

fn learning_mode_value_drift(world: &World, found: &mut Found<'_>) {
    let is_mode = |value: &Json| value.as_str().is_some_and(|word| MODES.contains(&word));
    for record in world.marked(Mark::Learning) {
        let is_other =
            |name: &str, value: &Json| name == "learning_mode" && *value != Json::Null && !is_mode(value);
        for path in within::places(record.json(), |_, name, value| is_other(name, value)) {
            found.add(record, path, "is no learning mode");
        }
    }
    for declaration in declarations(world) {
        let values = declaration.list("values").iter().enumerate();
        for (at, _) in values.filter(|(_, value)| !is_mode(value)) {
            found.add(declaration, Path::from("values").item(at), "is no learning mode");
        }
    }
}

fn learning_mode_redeclared_outside_owner(world: &World, found: &mut Found<'_>) {
    let mut entries = world.versions("TypeOwnerRegistryEntry", TYPE);
    let entry = entries.rfind(|entry| entry.is("status", "canonical"));
    let owner = entry.and_then(|entry| entry.json().text("canonical_owner_doc")).unwrap_or(OWNER);
    for declaration in declarations(world).filter(|one| !one.is("declared_as", "imported")) {
        if declaration.text("declared_in_doc").is_some_and(|document| document != owner) {
            found.add(declaration, "declared_in_doc", format!("LearningMode belongs to {owner}"));
        }
    }
}

#[cfg(test)]
#[path = "learning_tests.rs"]
mod tests;
