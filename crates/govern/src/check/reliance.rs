//! Validation codes: reliance.
//! Owns: the rules of this area. Must not: decide by names.

mod against;
mod derivation;
mod rows;
mod span;
mod stale;

use super::{Area, Found, Rule, Severity};
use crate::member::{Member, is_blank};
use crate::world::{self, Record, World};
use alloc::collections::BTreeMap;
use countersign_record::json::Json;
use derivation::reliance_status_not_derivable;
pub use derivation::standing_against;
use rows::By;
use stale::reliance_packet_stale_snapshot;

pub(super) const AREA: Area = Area { name: "reliance", rules: RULES, kinds: &[] };

const RULES: &[Rule] = &[
    Rule {
        code: "reliance_packet_without_input_manifest",
        severity: Severity::Error,
        section: "8.2",
        fires: "A TaskReliancePacket has no input_manifest, an empty final_artifact_refs, or an input_manifest_hash that does not recompute over the manifest.",
        legal: "A manifest with no revision_review_packet_refs because no revision took place.",
        why: "Without the frozen list of what it rests on nobody can check a packet again, or see that something was left out.",
        fix: "Freeze the inputs in input_manifest, name the final artifacts, and take input_manifest_hash over the manifest without that member.",
        check: reliance_packet_without_input_manifest,
    },
    Rule {
        code: "reliance_status_not_derivable",
        severity: Severity::Error,
        section: "8.2",
        fires: "Re-running derivation_policy_ref over input_manifest gives another RelianceStatus or set of limitations than reliance_derivation, an input that the manifest names is not there, a decisive_input_refs entry is not in the manifest, no derivation backs it, or the FormulaEvaluationReceipt that it names is of another value.",
        legal: "rely_with_limitations with exactly the recomputed limitations.",
        why: "A status that does not follow from its inputs is an assertion. Whoever signs would answer for something that nobody derived.",
        fix: "Derive the status and the limitations again from the manifest, and cite only inputs that are in it.",
        check: reliance_status_not_derivable,
    },
    Rule {
        code: "reliance_packet_stale_snapshot",
        severity: Severity::Error,
        section: "8.2",
        fires: "A TaskReliancePacket in ready_for_review, user_reviewed or issued cites an artifact version, workspace snapshot, chain resolution, evidence package, policy decision or hard-call resolution that has been replaced at a seq > created_from_event_seq, and no RelianceInvalidationEvent for it follows.",
        legal: "The packet was invalidated or superseded after the change, or the change concerns a ref outside the manifest.",
        why: "The packet speaks about something that is no longer so; somebody could issue it for a text that nobody checked.",
        fix: "Record a RelianceInvalidationEvent for the packet and derive a new one from what holds now.",
        check: reliance_packet_stale_snapshot,
    },
    Rule {
        code: "work_product_certification_without_reliance_packet",
        severity: Severity::Error,
        section: "8.2 (G-12)",
        fires: "A WorkProductCertification has a task_reliance_packet_ref that does not resolve, or is issued while that packet is not issued/user_reviewed or is invalidated.",
        legal: "A draft certification of a packet that is still ready_for_review.",
        why: "A certification renders a packet. Without a packet that stands, a signature covers nothing.",
        fix: "Point it to its packet, and issue it only while that packet is reviewed or issued; take it back when the packet is invalidated.",
        check: work_product_certification_without_reliance_packet,
    },
];

fn reliance_packet_without_input_manifest(world: &World, found: &mut Found<'_>) {
    for packet in world.of("TaskReliancePacket") {
        let Some(manifest) = packet.at("input_manifest").filter(|manifest| !is_blank(manifest)) else {
            found.add(packet, "input_manifest", "the packet does not say what it rests on");
            continue;
        };
        if manifest.is_blank("final_artifact_refs") {
            found.add(packet, "input_manifest.final_artifact_refs", "the manifest names no final artifact");
        }
        if !hash_holds(manifest) {
            let message = "the hash is not that of the manifest without this member";
            found.add(packet, "input_manifest.input_manifest_hash", message);
        }
    }
}

/// Whether a manifest carries the hash of what it says besides.
fn hash_holds(manifest: &Json) -> bool {
    let Json::Object(members) = manifest else { return false };
    let mut rest = members.clone();
    rest.remove("input_manifest_hash");
    let own = world::hash(&Json::Object(rest)).map(|own| own.hex());
    let stated = manifest.text("input_manifest_hash").map(str::as_bytes);
    own.is_some_and(|own| stated == Some(own.as_slice()))
}

/// The place of the first invalidation of each packet.
fn invalidations(world: &World) -> BTreeMap<&str, u64> {
    let mut first = BTreeMap::new();
    for event in world.of("RelianceInvalidationEvent") {
        if let Some(packet) = event.json().id_at("packet_id") {
            first.entry(packet).or_insert(event.seq());
        }
    }
    first
}

fn work_product_certification_without_reliance_packet(world: &World, found: &mut Found<'_>) {
    let (invalidated, packets) = (invalidations(world), By::id(world, "TaskReliancePacket"));
    for certification in world.of("WorkProductCertification") {
        let packet = certification
            .reference("task_reliance_packet_ref")
            .filter(|packet| packet.kind == "task_reliance_packet")
            .and_then(|packet| world.find("TaskReliancePacket", packet.id));
        let Some(packet) = packet else {
            found.add(certification, "task_reliance_packet_ref", "there is no such packet");
            continue;
        };
        if certification.is("lifecycle_state", "issued") {
            let fell = invalidated.get(packet.id()).copied();
            if let Some(message) = why_not_issued(certification, packet, &packets, fell) {
                found.add(certification, "lifecycle_state", message);
            }
        }
    }
}

/// Why a certification can't stand as issued: on what its packet was then, and, if it is the last version, what it is now.
fn why_not_issued<'w>(
    certification: Record<'w>,
    packet: Record<'w>,
    packets: &By<'w, &'w str>,
    fell: Option<u64>,
) -> Option<&'static str> {
    let (world, seq) = (certification.world, certification.seq());
    let then = packets.until(&packet.id(), seq).last();
    if !then.is_some_and(|packet| packet.is_one_of("lifecycle_state", &["user_reviewed", "issued"])) {
        return Some("it was issued while its packet was neither reviewed nor issued");
    }
    let last = world.find("WorkProductCertification", certification.id());
    let is_last = last.is_some_and(|last| last.seq() == seq);
    let is_fallen = fell.is_some_and(|fell| is_last || fell <= seq)
        || (is_last && packet.is("lifecycle_state", "invalidated"));
    is_fallen.then_some("its packet was invalidated and it stands as issued")
}

#[cfg(test)]
#[path = "reliance_tests.rs"]
mod tests;
