//! Validation codes: read models.
//! Owns: the rules of this area. Must not: decide by names.

mod payload;
pub(super) mod place;
pub(super) mod stale;
#[cfg(test)]
#[path = "read_models_tests.rs"]
mod tests;

use super::{Area, Found, Rule, Severity};
use crate::kind::{Class, Kind};
use crate::member::Member;
use crate::world::{Record, World, hash};
use alloc::collections::BTreeMap;
use countersign_record::json::Json;
use payload::read_model_asserts_unbacked_truth;
use stale::lifecycle_event_without_read_model_invalidation;

pub(super) const AREA: Area = Area { name: "read_models", rules: RULES, kinds: KINDS };

/// The inputs of a read model that is no reliance packet, with the hash of everything else in the manifest.
const KINDS: &[Kind] = &[Kind::new("ReadModelInputManifest", Class::Event, Some("manifest_id"))];

const RULES: &[Rule] = &[
    Rule {
        code: "read_model_without_input_manifest",
        severity: Severity::Error,
        section: "3.2",
        fires: "A DerivedReadModelRecord has an empty or unresolvable input_manifest_ref, or one that names something else than a manifest (or the manifest it resolves to has an input hash that does not recompute).",
        legal: "A read model whose manifest resolves but legitimately lists zero inputs of some category (e.g. FindingsInbox of a run with no findings).",
        why: "What is shown can only be checked if one can see what it was made from. Without its inputs, or with inputs that were exchanged, it is an assertion.",
        fix: "Derive the read model from a manifest that is stored, and recompute the manifest's hash when it is written.",
        check: read_model_without_input_manifest,
    },
    Rule {
        code: "lifecycle_event_without_read_model_invalidation",
        severity: Severity::Error,
        section: "3.2; N-03",
        fires: "An event that changes what is shown (a source workspace, artifact version, finding state, policy decision, hard-call resolution, evidence package, chain resolution, or what else a spec names) is appended at seq s and either no ReadModelInvalidationSpec exists for its producer_event_kind, or some DerivedReadModelRecord in the spec's kinds and scope with valid_from_event_seq < s keeps valid_until_event_seq/invalidated_by_event_ref unset, or says that it is valid until later than s (or ended by an event that does not invalidate it).",
        legal: "The same event kind occurs in another run/matter than the read model when invalidation_scope is same_run/same_matter, so that read model stays valid.",
        why: "A page that still counts as valid after its inputs changed is signed as if it were current.",
        fix: "Close the header at the event (`valid_until_event_seq`, `invalidated_by_event_ref`) and derive it again; give every kind of transition a spec.",
        check: lifecycle_event_without_read_model_invalidation,
    },
    Rule {
        code: "read_model_asserts_unbacked_truth",
        severity: Severity::Error,
        section: "3.2",
        fires: "A payload rendered under a DerivedReadModelRecord states a status, score, verdict, count or ref that is not reproduced when derivation_policy_ref is re-run over input_manifest_ref, or cites a ref that is absent from that manifest.",
        legal: "A read model that renders free summary text plus refs, all of which are in the manifest and all of whose statuses recompute to the same value.",
        why: "Read models must not create truth. A status or reference that does not follow from the inputs looks exactly like one that does.",
        fix: "Derive it again from the manifest, or add the missing input to the manifest and derive anew.",
        check: read_model_asserts_unbacked_truth,
    },
];

/// The types that list the inputs of something.
const MANIFESTS: [&str; 2] = ["ReadModelInputManifest", "RelianceInputManifest"];

/// The manifest of a header.
fn manifest(header: Record<'_>) -> Option<Record<'_>> {
    header.follow("input_manifest_ref").filter(|manifest| MANIFESTS.contains(&manifest.kind()))
}

fn read_model_without_input_manifest(world: &World, found: &mut Found<'_>) {
    let mut intact: BTreeMap<u64, bool> = BTreeMap::new();
    for header in world.of("DerivedReadModelRecord") {
        let path = "input_manifest_ref";
        let Some(manifest) = manifest(header) else {
            found.add(header, path, "names no manifest of its inputs");
            continue;
        };
        if !*intact.entry(manifest.seq()).or_insert_with(|| is_intact(manifest)) {
            found.add(header, path, "names a manifest that does not have the hash it states");
        }
    }
}

/// Whether a manifest has the hash that it states, over everything but that hash.
fn is_intact(manifest: Record<'_>) -> bool {
    let (Some(stated), Json::Object(members)) = (manifest.text("input_manifest_hash"), manifest.json())
    else {
        return true;
    };
    let mut rest = members.clone();
    rest.remove("input_manifest_hash");
    hash(&Json::Object(rest)).is_none_or(|own| own.hex() == stated.as_bytes())
}
