//! What moves was made once, and what a decision makes of something is what becomes of it.
//! Owns: births and decisions. Must not: know where something stands; `fold` does.

use super::{Found, What};
use crate::member::Member;
use crate::world::World;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

pub(super) fn find(world: &World, found: &mut Found) {
    births(world, found);
    decisions(world, found);
}

/// What is written again as it moves, and keeps the time at which it was first made.
const BORN_ONCE: [&str; 6] = [
    "AttentionLedgerItem",
    "EvaluationContractReview",
    "LibraryPromotionCandidate",
    "ResearchNeed",
    "RevalidationCascadeRun",
    "RunBoardVisiblePost",
];

/// What moves was made once.
fn births(world: &World, found: &mut Found) {
    for kind in BORN_ONCE {
        let mut first: BTreeMap<&str, Option<&str>> = BTreeMap::new();
        for record in world.of(kind) {
            let own = record.json().text("created_at");
            if *first.entry(record.id()).or_insert(own) != own {
                found.add(record, "created_at", What::Repeat, "is not when it was first made");
            }
        }
    }
}

/// What a reviewer's decision makes of a candidate is what becomes of it next.
fn decisions(world: &World, found: &mut Found) {
    let mut next: BTreeMap<&str, Vec<(u64, &str)>> = BTreeMap::new();
    for event in world.of("ArtifactVersionTransitionEvent") {
        let version = event.json().reference("artifact_version_ref").map(|one| one.id);
        if let (Some(version), Some(to)) = (version, event.json().text("to_state")) {
            next.entry(version).or_default().push((event.seq(), to));
        }
    }
    for decision in world.of("RevisionReviewDecisionReceipt") {
        let packet = decision.json().text("packet_id").and_then(|id| world.find("RevisionReviewPacket", id));
        let candidate = packet.and_then(|one| one.json().reference("candidate_artifact_version_ref"));
        let all = candidate.and_then(|one| next.get(one.id)).map(Vec::as_slice).unwrap_or_default();
        let led = all.get(all.partition_point(|(seq, _)| *seq < decision.seq())).map(|(_, to)| *to);
        // Where nothing became of it yet, nothing is denied.
        let stated = decision.json().text("resulting_candidate_state");
        if stated.zip(led).is_some_and(|(stated, led)| stated != led) {
            let message = "is not what became of the candidate";
            found.add(decision, "resulting_candidate_state", What::Repeat, message);
        }
    }
}
