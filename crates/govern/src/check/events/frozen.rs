//! Records that never change once they are written.
//! Owns: which they are, which members move with time. Must not: judge projections.

use super::super::{Found, within};
use crate::kind::{self, Class, Kind};
use crate::member::Member;
use crate::path::Path;
use crate::world::{Mark, Record, World};
use alloc::collections::BTreeMap;
use alloc::format;
use countersign_record::json::Json;

/// Members that say how something stands now.
const LIVE: [&str; 5] = ["current_state", "current_severity", "lifecycle_state", "updated_at", "resolved_at"];
/// How members begin that are filled in later.
const LATER: [&str; 2] = ["superseded_by_", "invalidated_by_"];
/// What looks like such a member and is settled when the record is written.
const SETTLED: [(&str, &str); 1] = [("TaskRunContextPacketAssemblyReceipt", "invalidated_by_event_kinds")];
/// Members of a frozen record that are a projection by contract: its body stays, these are folded from receipts.
const FOLDED: [(&str, &str); 2] =
    [("RevisionReviewPacket", "state"), ("RevisionReviewPacket", "decision_receipt_refs")];

/// Types whose records are written again by contract: one says itself which version it is, the others what is held or done by now.
const MOVING: [&str; 4] =
    ["CriterionIdentityFields", "SideEffectLedgerEntry", "InPlaceMutationLock", "ResearchNeedLease"];

/// Whether records of a type say nothing of how something stands now.
fn is_frozen(kind: &Kind) -> bool {
    let is_written_once = match kind.class {
        Class::Event | Class::Receipt => true,
        Class::Request | Class::Projection | Class::Policy | Class::ReadModel | Class::Value => false,
    };
    let is_listed =
        matches!(kind.name, "RelianceInputManifest" | "KnownGoodCheckpoint" | "RevisionReviewPacket");
    let is_named = ["Event", "Receipt", "Snapshot"].iter().any(|end| kind.name.ends_with(end));
    is_written_once && (is_listed || is_named)
}

pub(super) fn mutable_state_inside_immutable_snapshot(world: &World, found: &mut Found<'_>) {
    for kind in kind::all().filter(|kind| is_frozen(kind)) {
        for record in world.of(kind.name).filter(|record| record.has(Mark::Live)) {
            live_members(record, record.json(), kind.name, &Path::whole(), found);
        }
    }
    for kind in kind::all().filter(|kind| kind.class.is_immutable() && !MOVING.contains(&kind.name)) {
        // A rewritten finding has a code of its own.
        for versions in world.rewritten(kind.name).filter(|_| kind.name != "EvaluationFindingEvent") {
            let [before, later @ ..] = versions.as_slice() else { continue };
            for record in later.iter().filter(|record| !is_same(*before, **record)) {
                let message = format!("is not what row {} says, and may never change", before.seq());
                found.add(*record, "", message);
            }
        }
    }
    for packet in world.of("TaskReliancePacket") {
        if let Some(manifest) = packet.at("input_manifest") {
            live_members(packet, manifest, "RelianceInputManifest", &"input_manifest".into(), found);
        }
    }
}

fn live_members(record: Record<'_>, value: &Json, kind: &str, place: &Path, found: &mut Found<'_>) {
    let is_live = |name: &str, member: &Json| {
        let is_told = LIVE.contains(&name) || LATER.iter().any(|start| name.starts_with(start));
        is_told && *member != Json::Null && !SETTLED.contains(&(kind, name))
    };
    for path in within::places(value, |_, name, member| is_live(name, member)) {
        let message = "says how something stands now or what came later, in a record that never changes";
        found.add(record, place.clone().join(path), message);
    }
}

fn is_same(before: Record<'_>, after: Record<'_>) -> bool {
    before.seq() == after.seq() || before.json() == after.json() || body(before) == body(after)
}

/// What of a record never changes.
fn body(record: Record<'_>) -> BTreeMap<&str, &Json> {
    let members = record.json().as_object().into_iter().flat_map(|object| object.iter());
    members.filter(|(name, _)| !FOLDED.contains(&(record.kind(), *name))).collect()
}
