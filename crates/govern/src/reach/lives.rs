//! What has receipts of its own: where it stands, and what its receipts made of something else.
//! Owns: which receipt leads where. Must not: know which moves are allowed; machines do.

use super::{Found, What};
use crate::fold::family;
use crate::machine::{self, Machine};
use crate::member::Member;
use crate::reference::snake;
use crate::world::World;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::vec::Vec;

pub(super) fn find(world: &World, found: &mut Found) {
    lives(world, found);
    births(world, found);
    decisions(world, found);
}

/// A type that is moved by receipts of its own and by general ones.
struct Life {
    kind: &'static str,
    /// The member that says where it stands.
    member: &'static str,
    receipt: &'static str,
    /// The member of a receipt that names what it moves.
    names: &'static str,
    /// The member of a receipt by which it moves it, and where each of its words leads.
    by: &'static str,
    words: &'static [(&'static str, &'static str)],
    /// Which states it has: a record may live two lives at once, by two members.
    machine: &'static Machine,
}

const LIVES: [Life; 4] = [
    Life {
        kind: "RevisionReviewPacket",
        member: "state",
        receipt: "RevisionReviewDecisionReceipt",
        names: "packet_id",
        by: "action",
        words: family::REVIEWED,
        machine: &machine::REVIEW_PACKET,
    },
    Life {
        kind: "LibraryPromotionCandidate",
        member: "status",
        receipt: "LibraryPromotionReceipt",
        names: "candidate_id",
        by: "status",
        words: family::PROMOTED,
        machine: &machine::LIBRARY,
    },
    general("EvaluationContractReview", "approval_status", &machine::CONTRACT_REVIEW),
    general("EvaluationContractReview", "lifecycle_state", &machine::RELIANCE),
];

/// A life that only general receipts move.
const fn general(kind: &'static str, member: &'static str, machine: &'static Machine) -> Life {
    Life { kind, member, receipt: "", names: "", by: "", words: &[], machine }
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
                found.add(record, "/created_at", What::Repeat, "is not when it was first made");
            }
        }
    }
}

/// What has receipts of its own, besides the general ones, stands where the last of them led.
fn lives(world: &World, found: &mut Found) {
    for Life { kind, member, receipt, names, by, words, machine } in &LIVES {
        let states: BTreeSet<&str> = machine.states().collect();
        let initial = machine.initial.first().copied().unwrap_or_default();
        let mut moved: BTreeMap<&str, Vec<(u64, &str)>> = BTreeMap::new();
        for one in world.of(receipt) {
            let said = one.json().text(by);
            let to = words.iter().find(|(word, _)| said == Some(word)).map(|(_, state)| *state);
            if let (Some(id), Some(to)) = (one.json().text(names), to) {
                moved.entry(id).or_default().push((one.seq(), to));
            }
        }
        for one in world.of("LifecycleTransitionReceipt") {
            let subject = one.json().reference("subject_ref").filter(|to| to.kind == snake(kind));
            let to = one.json().text("to_state").filter(|to| states.contains(to));
            if let (Some(subject), Some(to)) = (subject, to) {
                moved.entry(subject.id).or_default().push((one.seq(), to));
            }
        }
        moved.values_mut().for_each(|all| all.sort_unstable());
        for record in world.of(kind) {
            let all = moved.get(record.id()).map(Vec::as_slice).unwrap_or_default();
            let before = all.partition_point(|(seq, _)| *seq < record.seq());
            let stands = before.checked_sub(1).and_then(|at| all.get(at)).map_or(initial, |(_, to)| *to);
            if record.json().text(member).is_some_and(|own| own != stands) {
                let message = format!("the receipts leave it {stands}");
                found.add(record, &format!("/{member}"), What::Fold, message);
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
            found.add(decision, "/resulting_candidate_state", What::Repeat, message);
        }
    }
}
