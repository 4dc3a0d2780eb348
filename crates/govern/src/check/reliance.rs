//! Validation codes: reliance.
//! Owns: the rules of this area. Must not: decide by names.

mod against;
mod derivation;
mod rows;
mod span;
mod stale;

use super::stood::Stood;
use super::{Area, Found, Rule, Severity};
use crate::fold::family::{CERTIFICATION, PACKET};
use crate::member::{Member, is_blank};
use crate::world::{self, Record, World};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
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
    if world.of("WorkProductCertification").next().is_none() {
        return;
    }
    let issues = Issues::of(world);
    for certification in world.of("WorkProductCertification") {
        let packet = certification
            .reference("task_reliance_packet_ref")
            .filter(|packet| packet.kind == "task_reliance_packet")
            .and_then(|packet| world.find("TaskReliancePacket", packet.id));
        let Some(packet) = packet else {
            found.add(certification, "task_reliance_packet_ref", "there is no such packet");
            continue;
        };
        for (issue, path) in issues.of_version(certification) {
            if let Some(message) = issues.why_not(certification, issue, packet) {
                found.add(issue, path, message);
            }
        }
    }
}

/// Certifications that were issued, and how their packets stood.
struct Issues<'w> {
    invalidated: BTreeMap<&'w str, u64>,
    packets: By<'w, &'w str>,
    certifications: By<'w, &'w str>,
    of_packets: Stood<'w>,
    certified: Stood<'w>,
}

impl<'w> Issues<'w> {
    fn of(world: &'w World) -> Self {
        Issues {
            invalidated: invalidations(world),
            packets: By::id(world, "TaskReliancePacket"),
            certifications: By::id(world, "WorkProductCertification"),
            of_packets: Stood::of(world, &PACKET),
            certified: Stood::of(world, &CERTIFICATION),
        }
    }

    /// Where a version of a certification is issued: it says so before any receipt does, or a receipt from there on to the next version.
    fn of_version(&self, certification: Record<'w>) -> Vec<(Record<'w>, &'static str)> {
        let seq = certification.seq();
        let is_again = self.certified.was(certification) == Some(ISSUED);
        let own = certification.is("lifecycle_state", ISSUED) && !is_again;
        let own = own.then_some((certification, "lifecycle_state"));
        let next =
            self.certifications.after(&certification.id(), seq).first().map_or(u64::MAX, |one| one.seq());
        let led = self.certified.led(certification, ISSUED).filter(|receipt| receipt.seq() < next);
        own.into_iter().chain(led.map(|receipt| (receipt, "to_state"))).collect()
    }

    fn is_last(&self, certification: Record<'w>) -> bool {
        let last = certification.world.find("WorkProductCertification", certification.id());
        last.is_some_and(|last| last.seq() == certification.seq())
    }

    /// Why a certification can't be issued by a row: by what its packet was then, and, if it still stands so, by what it is now.
    fn why_not(
        &self,
        certification: Record<'w>,
        issue: Record<'w>,
        packet: Record<'w>,
    ) -> Option<&'static str> {
        let seq = issue.seq();
        let then = self.packets.until(&packet.id(), seq).last();
        let then = then.and_then(|packet| self.of_packets.told_at(*packet, seq));
        if !then.is_some_and(|state| ["user_reviewed", ISSUED].contains(&state)) {
            return Some("it was issued while its packet was neither reviewed nor issued");
        }
        let stands = self.is_last(certification) && self.certified.told(certification) == Some(ISSUED);
        let fell = self.invalidated.get(packet.id()).copied();
        let is_fallen = fell.is_some_and(|fell| stands || fell <= seq)
            || (stands && self.of_packets.told(packet) == Some("invalidated"));
        is_fallen.then_some("its packet was invalidated and it stands as issued")
    }
}

const ISSUED: &str = "issued";

#[cfg(test)]
#[path = "reliance_tests.rs"]
mod tests;
