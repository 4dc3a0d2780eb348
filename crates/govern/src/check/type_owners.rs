//! Validation codes: type owners.
//! Owns: the rules of this area. Must not: decide by names.

mod gate;
mod names;
mod phantom;
mod standing;

use super::{Area, Found, Rule, Severity};
use crate::kind::{Class, Kind};
use crate::member::Member;
use crate::world::{Record, World};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::vec::Vec;
use gate::build_ready_gate_failed;
use phantom::phantom_type_reference;

/// - `TypeDeclaration {declaration_id, type_name, declared_in_doc, declared_as: canonical|imported, schema_hash?, created_at}`: a
///   document declares or re-exports a type.
/// - `BuildReadyClaim {claim_id, gate_ref, target_doc_family, claimed_by_ref, created_at}`: somebody says that it is ready.
/// - `CrossDocInsertObligation {obligation_id, source_doc, target_doc, state: open|absorbed|stubbed, created_at}`: another document
///   has to take something in.
/// - `ValidationSuiteRun {suite_run_id, suite_ref, passed, created_at}`: a suite that a gate requires was run.
const KINDS: &[Kind] = &[
    Kind::new("BuildReadyClaim", Class::Event, Some("claim_id")),
    Kind::new("CrossDocInsertObligation", Class::Projection, Some("obligation_id")),
    Kind::new("ValidationSuiteRun", Class::Receipt, Some("suite_run_id")),
];

const ENTRY: &str = "TypeOwnerRegistryEntry";
const DECLARATION: &str = "TypeDeclaration";

pub(super) const AREA: Area = Area { name: "type_owners", rules: RULES, kinds: KINDS };

const RULES: &[Rule] = &[
    Rule {
        code: "type_owner_drift",
        severity: Severity::Error,
        section: "A-09/A-15/A-22 (A-14)",
        fires: "A type_name is canonical in two TypeOwnerRegistryEntries, is declared by a document other than canonical_owner_doc without status imported (declared_as canonical is never that, also of a document that is listed as an importer), or an importer's structural schema hash differs from the owner's.",
        legal: "A document in imported_by_docs re-exports the owner's type with an identical schema hash.",
        why: "Two owners of a type will let it mean two things, and records that look alike can't be compared.",
        fix: "Leave one canonical owner; let the others import the type as it is.",
        check: type_owner_drift,
    },
    Rule {
        code: "pending_owner_without_degraded_behavior",
        severity: Severity::Error,
        section: "A-09/A-15/A-22",
        fires: "A TypeOwnerRegistryEntry has status pending_absorption and no pending_consumer_behavior.",
        legal: "status pending_absorption with pending_consumer_behavior = persist_only.",
        why: "While nobody owns a type yet, its consumers must know what not to do with it, else each guesses.",
        fix: "Set pending_consumer_behavior, for example persist_only.",
        check: pending_owner_without_degraded_behavior,
    },
    Rule {
        code: "build_ready_gate_failed",
        severity: Severity::Error,
        section: "A-09/A-15/A-22",
        fires: "A BuildReadyClaim is made for DOC23_ADDENDA_B while any BuildReadyGate condition evaluates false: type-owner registry not clean, a pending_absorption row neither closed nor degraded, a command registry entry missing, a cross-doc insert neither absorbed nor stubbed, or a required_validation_suite_refs run absent or failing.",
        legal: "The gate evaluates false but no build-ready claim is made (the package is still a draft).",
        why: "Others build on the claim that the contract is complete; if a condition of the gate does not hold, they build on a gap.",
        fix: "Meet the condition that is named, or take the claim back until it holds.",
        check: build_ready_gate_failed,
    },
    Rule {
        code: "phantom_type_reference",
        severity: Severity::Error,
        section: "A-09/A-15/A-22",
        fires: "The kind of a row, a record_kind, producer_event_kind or triggered_by_receipt_kind, a declared type_name, or a schema_id that is called as types are, is no type that is known or registered; or one of them, a reference (_ref, _refs) or a TypeOwnerRegistryEntry's replacement names a type that is retired without a replacement that resolves (e.g. EvaluationAffirmation); a replacement must also be known or registered.",
        legal: "A reference to a deprecated type whose replacement_type_name resolves; a row that was written before its type was retired.",
        why: "A reference to a type that does not exist leads nowhere: what it was to prove can't be looked up.",
        fix: "Use the type that replaced it, or register the type with its owner.",
        check: phantom_type_reference,
    },
];

/// What documents say of a type.
#[derive(Default)]
struct Owners<'w> {
    /// The last entry of each document that owns it or did.
    own: BTreeMap<&'w str, Record<'w>>,
    /// The entries that import it.
    imports: Vec<Record<'w>>,
    /// The document that owns it: that of the first canonical entry.
    owner: Option<&'w str>,
    /// The documents that an entry says import it.
    listed: BTreeSet<&'w str>,
}

fn owners(world: &World) -> BTreeMap<&str, Owners<'_>> {
    let mut all: BTreeMap<&str, Owners<'_>> = BTreeMap::new();
    for entry in world.of(ENTRY) {
        let json = entry.json();
        let Some((name, owner)) = json.text("type_name").zip(json.text("canonical_owner_doc")) else {
            continue;
        };
        let owners = all.entry(name).or_default();
        if json.is("status", "imported") {
            owners.imports.push(entry);
        } else {
            owners.own.insert(owner, entry);
        }
    }
    for owners in all.values_mut() {
        let canonical = owners.own.iter().filter(|(_, entry)| entry.is("status", "canonical"));
        owners.owner = canonical.min_by_key(|(_, entry)| entry.seq()).map(|(owner, _)| *owner);
        let entries = owners.own.values().chain(&owners.imports);
        owners.listed = entries.flat_map(|entry| entry.json().texts("imported_by_docs")).collect();
    }
    all
}

/// Which documents each entry lists as those that import its type.
struct Listed<'w>(BTreeSet<(u64, &'w str)>);

impl<'w> Listed<'w> {
    fn of(world: &'w World) -> Self {
        let by = |entry: Record<'w>| {
            entry.json().texts("imported_by_docs").into_iter().map(move |document| (entry.seq(), document))
        };
        Listed(world.of(ENTRY).flat_map(by).collect())
    }

    /// Whether the registry listed the document of a declaration as it stood then: what was imported stays so where the registry
    /// says less later.
    fn held(&self, declaration: Record<'w>, name: &str, document: &'w str) -> bool {
        let entry = declaration.world.policy(ENTRY, name, declaration.seq());
        entry.is_some_and(|entry| self.0.contains(&(entry.seq(), document)))
    }
}

/// The last declaration of each type by each document, if it says that the document owns the type.
struct Claims<'w>(BTreeMap<(&'w str, &'w str), Option<u64>>);

impl<'w> Claims<'w> {
    fn of(world: &'w World) -> Self {
        let mut last = BTreeMap::new();
        for declaration in world.of(DECLARATION) {
            let json = declaration.json();
            if let Some(of) = json.text("type_name").zip(json.text("declared_in_doc")) {
                last.insert(of, is_claim(declaration).then_some(declaration.seq()));
            }
        }
        Claims(last)
    }

    /// Whether a declaration is one: the document does not say later that it imports the type.
    fn has(&self, declaration: Record<'_>, name: &'w str, document: &'w str) -> bool {
        self.0.get(&(name, document)).copied().flatten() == Some(declaration.seq())
    }
}

/// Whether a declaration says that its document owns the type, whatever the registry lists.
fn is_claim(declaration: Record<'_>) -> bool {
    declaration.is("declared_as", "canonical")
}

/// What can be wrong with the owners of a type.
const TWICE: &str = "the type has another canonical owner already";
const STRAY: &str = "the type is imported from a document that does not own it";
const NOT_IMPORTED: &str = "another document owns the type, and it is not imported";
const ANOTHER: &str = "what is imported is not what its owner declares";

/// Something that drifts: the row, where in it, and what is wrong.
type Drift<'w> = (Record<'w>, &'static str, &'static str);

/// Everything that drifts.
fn drifts(world: &World) -> Vec<Drift<'_>> {
    let all = owners(world);
    let mut found = Vec::new();
    for owners in all.values() {
        let Some(owner) = owners.owner else { continue };
        let others =
            owners.own.iter().filter(|(doc, entry)| **doc != owner && entry.is("status", "canonical"));
        found.extend(others.map(|(_, entry)| (*entry, "canonical_owner_doc", TWICE)));
        let strays = owners.imports.iter().filter(|entry| !entry.is("canonical_owner_doc", owner));
        found.extend(strays.map(|entry| (*entry, "canonical_owner_doc", STRAY)));
    }
    found.extend(declared(world, &all));
    found
}

/// Declarations by others than the owner that are no imports, or not of what the owner declares.
fn declared<'w>(world: &'w World, all: &BTreeMap<&'w str, Owners<'w>>) -> Vec<Drift<'w>> {
    let mut found = Vec::new();
    let mut hashes: BTreeMap<&str, &str> = BTreeMap::new();
    for declaration in world.of(DECLARATION) {
        let json = declaration.json();
        let Some((name, doc)) = json.text("type_name").zip(json.text("declared_in_doc")) else { continue };
        let owner = all.get(name).and_then(|owners| owners.owner);
        if let Some(hash) = json.text("schema_hash").filter(|_| owner == Some(doc)) {
            hashes.insert(name, hash);
        }
    }
    let listed = Listed::of(world);
    let claims = Claims::of(world);
    for declaration in world.of(DECLARATION) {
        let json = declaration.json();
        let Some((name, doc)) = json.text("type_name").zip(json.text("declared_in_doc")) else { continue };
        let Some((owners, owner)) = all.get(name).and_then(|owners| Some((owners, owners.owner?))) else {
            continue;
        };
        if owner == doc {
            continue;
        }
        let is_listed = owners.listed.contains(doc) || listed.held(declaration, name, doc);
        let hash = json.text("schema_hash").zip(hashes.get(name));
        if claims.has(declaration, name, doc) || !json.is("declared_as", "imported") && !is_listed {
            found.push((declaration, "declared_in_doc", NOT_IMPORTED));
        } else if hash.is_some_and(|(own, owners)| own != *owners) {
            found.push((declaration, "schema_hash", ANOTHER));
        }
    }
    found
}

fn type_owner_drift(world: &World, found: &mut Found<'_>) {
    for (record, path, message) in drifts(world) {
        found.add(record, path, message);
    }
}

/// Whether a type waits for an owner and nothing says what its consumers do meanwhile.
fn is_undegraded(entry: Record<'_>) -> bool {
    entry.is("status", "pending_absorption") && entry.is_blank("pending_consumer_behavior")
}

fn pending_owner_without_degraded_behavior(world: &World, found: &mut Found<'_>) {
    for entry in world.of(ENTRY).filter(|entry| is_undegraded(*entry)) {
        let name = entry.text("type_name").unwrap_or("the type");
        let message = format!("{name} waits for its owner, and nothing says what is done with it meanwhile");
        found.add(entry, "pending_consumer_behavior", message);
    }
}

#[cfg(test)]
#[path = "type_owners_tests.rs"]
mod tests;
