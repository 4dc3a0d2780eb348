//! What holds or is made of something is no less tainted, secret or privileged than that.
//! Owns: what holds what. Must not: know what may lower a taint, beyond that it was sanitized.

use super::{Found, What};
use crate::derive::taint::{DataClass, Taint};
use crate::member::Member;
use crate::reference::Reference;
use crate::world::{Record, World};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::vec::Vec;

/// A type, and the member that names what its records hold.
const HOLDS: [(&str, &str); 5] = [
    ("SourceWorkspaceOperation", "payload_ref"),
    ("SourceWorkspaceCurrentState", "record_refs"),
    ("EvidencePackage", "source_record_refs"),
    ("DerivationEdge", "input_refs"),
    ("RunBoardAuditEvent", "payload_ref"),
];

/// The versions of everything, by kind and id, as they are needed.
struct Versions<'w>(BTreeMap<(&'w str, &'w str), Vec<Record<'w>>>);

impl<'w> Versions<'w> {
    fn of(world: &'w World) -> Self {
        let mut all: BTreeMap<(&str, &str), Vec<Record<'w>>> = BTreeMap::new();
        for record in world.all().filter(|one| class(*one).is_some()) {
            all.entry((record.kind(), record.id())).or_default().push(record);
        }
        Versions(all)
    }

    /// What a reference names, as it was at a place; what it came to be where it was not there yet.
    fn at(&self, world: &'w World, to: Reference<'_>, seq: u64) -> Option<Record<'w>> {
        let last = world.resolve(super::names::plain(to))?;
        let all = self.0.get(&(last.kind(), last.id()))?;
        let before = all.partition_point(|one| one.seq() < seq);
        all.get(before.saturating_sub(1)).copied()
    }
}

pub(super) fn find(world: &World, found: &mut Found) {
    let versions = Versions::of(world);
    for (kind, member) in HOLDS {
        for record in world.of(kind) {
            let json = record.json();
            // What a derivation makes is told by the record that it names.
            let whole = match json.reference("output_ref") {
                Some(output) => versions.at(world, output, record.seq()),
                None => Some(record),
            };
            let Some(whole) = whole.filter(|_| json.is_blank("sanitization_ref")) else { continue };
            let mut parts = json.references(member);
            parts.extend(json.reference(member));
            for part in parts {
                if let Some(part) = versions.at(world, part, record.seq()) {
                    compare(whole, part, kind != "DerivationEdge", found);
                }
            }
        }
    }
    others(world, &versions, found);
}

fn class(record: Record<'_>) -> Option<DataClass> {
    let own = record.text("data_class").or_else(|| record.text("governance.data_class"));
    own.and_then(DataClass::find)
}

fn taint(record: Record<'_>) -> Option<Taint> {
    let own = record.text("taint_class").or_else(|| record.text("governance.taint_class"));
    own.and_then(Taint::find)
}

/// A bundle is about findings, and what an operation takes in is what it says that it takes in.
fn others(world: &World, versions: &Versions<'_>, found: &mut Found) {
    let mut findings: BTreeMap<&str, Vec<Record<'_>>> = BTreeMap::new();
    for finding in world.of("EvaluationFindingEvent") {
        if let Some(result) = finding.json().text("result_id") {
            findings.entry(result).or_default().push(finding);
        }
    }
    for bundle in world.of("EvaluationFeedbackBundle") {
        let own = bundle.json().text("result_id").and_then(|result| findings.get(result));
        for finding in own.into_iter().flatten().filter(|one| one.seq() < bundle.seq()) {
            compare(bundle, *finding, true, found);
        }
    }
    for operation in
        world.of("SourceWorkspaceOperation").filter(|one| one.is("operation_kind", "add_source_record"))
    {
        let source = operation.json().reference("payload_ref").and_then(|one| versions.at(world, one, 0));
        if let Some(source) = source {
            compare(source, operation, true, found);
        }
    }
}

fn compare(whole: Record<'_>, part: Record<'_>, with_taint: bool, found: &mut Found) {
    let mut less = |member: &'static str, is_less: bool| {
        if is_less {
            let message = format!("is less than that of row {}, which it holds", part.seq());
            found.add(whole, member, What::Holding, message);
        }
    };
    less("data_class", class(whole).zip(class(part)).is_some_and(|(whole, part)| whole < part));
    // The taint of what is derived has a rule of its own, which knows what may lower it.
    let is_less = taint(whole).zip(taint(part)).is_some_and(|(whole, part)| whole < part);
    less("taint_class", with_taint && is_less);
    let is_privileged =
        |record: Record<'_>| record.flag("privileged").or_else(|| record.flag("governance.privileged"));
    less("privileged", is_privileged(whole) == Some(false) && is_privileged(part) == Some(true));
}
