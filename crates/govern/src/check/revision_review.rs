//! Validation codes: revision review.
//! Owns: the rules of this area. Must not: decide by names.

mod origin;

use super::events::moves::{self, illegal};
use super::{Area, Found, Rule, Severity, within};
use crate::fold::family::{GENERAL, REVIEW, REVIEWED};
use crate::member::Member;
use crate::reference::Reference;
use crate::world::{Record, World};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::vec::Vec;
use countersign_record::json::Json;
use origin::{Class, Steps};

/// What a reviewer decides inside a packet, where it must not stand.
const ACTIONS: [&str; 2] = ["current_action", "reviewer_decision"];

/// Whether a member says what a reviewer decided. A mere action deeper inside may be that of what is shown.
fn is_action(packet: Record<'_>, inside: &Json, name: &str) -> bool {
    let is_body = core::ptr::eq(inside, packet.json())
        || packet.at("body").is_some_and(|body| core::ptr::eq(inside, body));
    ACTIONS.contains(&name) || name == "action" && is_body
}

pub(super) const AREA: Area = Area { name: "revision_review", rules: RULES, kinds: &[] };

const RULES: &[Rule] = &[
    Rule {
        code: "revision_review_packet_contains_current_action",
        severity: Severity::Error,
        section: "G-02",
        fires: "A RevisionReviewPacket body carries a current reviewer action (action, current_action, reviewer_decision), or its projected state is not the fold of decision_receipt_refs.",
        legal: "decision_receipt_refs lists an accept receipt and the projection's state is accepted.",
        why: "What a reviewer was shown must stay as it was. A decision inside it can be changed later, and then nobody can say who decided what on which text.",
        fix: "Take the action out of the packet; record it as a RevisionReviewDecisionReceipt, and let the state be the fold of these receipts.",
        check: revision_review_packet_contains_current_action,
    },
    Rule {
        code: "review_decision_without_receipt",
        severity: Severity::Error,
        section: "G-02",
        fires: "The state of a RevisionReviewPacket leaves generated/review_pending (accepted, rejected, forked, changes_requested, restored_known_good) without a RevisionReviewDecisionReceipt of that packet_id and action, or a LifecycleTransitionReceipt moves it as its table does not allow.",
        legal: "superseded because a newer packet replaced it.",
        why: "A revision that counts as decided without a receipt has no one who decided it.",
        fix: "Record the RevisionReviewDecisionReceipt of the person who decided, or set the packet back to review_pending.",
        check: review_decision_without_receipt,
    },
    Rule {
        code: "meaning_bearing_revision_without_review_packet_or_policy_waiver",
        severity: Severity::Error,
        section: "G-02",
        fires: "A candidate artifact version produced by a step that is not said to be mechanical becomes the artifact head and there is neither a RevisionReviewPacket with an accept decision nor a no_user_review_required receipt that cites a policy decision (in policy_decision_refs or in its rationale) before it, of which the last decides. Which plan the step is of follows from the run, the artifact and what ran before the version.",
        legal: "A mechanical formatting revision, or a waiver receipt with its policy ref.",
        why: "A change of meaning became the work product and nobody looked at it, and no policy says that nobody has to.",
        fix: "Show it in a RevisionReviewPacket and record the decision, or record no_user_review_required with the policy decision that allows it.",
        check: meaning_bearing_revision_without_review_packet_or_policy_waiver,
    },
];

/// The state that an action of a reviewer leads to.
fn state_after(action: &str) -> Option<&'static str> {
    REVIEWED.iter().find(|(word, _)| *word == action).map(|(_, state)| *state)
}

/// The state of a packet, if it says that somebody decided.
fn decided_state(packet: Record<'_>) -> Option<&'static str> {
    REVIEWED.iter().map(|(_, state)| *state).find(|state| packet.is("state", state))
}

/// The decisions on each packet, in order.
fn decisions(world: &World) -> BTreeMap<&str, Vec<Record<'_>>> {
    let mut all: BTreeMap<&str, Vec<Record<'_>>> = BTreeMap::new();
    for receipt in world.of("RevisionReviewDecisionReceipt") {
        if let Some(packet) = receipt.json().id_at("packet_id") {
            all.entry(packet).or_default().push(receipt);
        }
    }
    all
}

/// The place of the first receipt that leads a packet to a state.
type Decided<'w> = BTreeMap<(&'w str, &'static str), u64>;

fn decided(world: &World) -> Decided<'_> {
    let mut all = BTreeMap::new();
    for receipt in world.of("RevisionReviewDecisionReceipt") {
        let json = receipt.json();
        if let Some(key) = json.id_at("packet_id").zip(json.text("action").and_then(state_after)) {
            all.entry(key).or_insert(receipt.seq());
        }
    }
    all
}

/// Whether a decided state of a packet has its receipt. Where the packet stood before in another version, it must come before
/// this one; a packet that stands once is told as it is at the end.
fn has_receipt(packet: Record<'_>, state: &'static str, decided: &Decided<'_>) -> bool {
    let first = packet.world.versions("RevisionReviewPacket", packet.id()).next();
    let is_first = first.is_none_or(|first| first.seq() == packet.seq());
    decided.get(&(packet.id(), state)).is_some_and(|seq| is_first || *seq < packet.seq())
}

fn revision_review_packet_contains_current_action(world: &World, found: &mut Found<'_>) {
    let decided = decided(world);
    for packet in world.of("RevisionReviewPacket") {
        for path in within::places(packet.json(), |inside, name, value| {
            *value != Json::Null && is_action(packet, inside, name)
        }) {
            found.add(packet, path, "what a reviewer decided stands inside what the reviewer was shown");
        }
        let state = decided_state(packet);
        // A decided state without its receipt is told by its own code; a packet that was replaced may have been anything.
        let is_alone = state.is_some_and(|state| !has_receipt(packet, state, &decided));
        if is_alone || packet.is_blank("state") || packet.is("state", "superseded") {
            continue;
        }
        let receipts = packet.references("decision_receipt_refs").into_iter();
        let folded = receipts
            .filter_map(|one| world.resolve(one))
            .filter_map(|one| one.json().text("action").and_then(state_after))
            .next_back();
        if folded != state {
            let (stated, folded) = (state.unwrap_or("undecided"), folded.unwrap_or("no decision"));
            let message = format!("the state is {stated}, and the decision receipts come to {folded}");
            found.add(packet, "state", message);
        }
    }
}

fn review_decision_without_receipt(world: &World, found: &mut Found<'_>) {
    let decided = decided(world);
    for packet in world.of("RevisionReviewPacket") {
        let state = decided_state(packet).filter(|state| !has_receipt(packet, state, &decided));
        if let Some(state) = state {
            found.add(packet, "state", format!("the packet is {state} and no receipt says who decided that"));
        }
    }
    for receipt in world.of(GENERAL) {
        let packet = receipt.json().reference("subject_ref").filter(|to| to.kind == REVIEW.snake);
        let state = REVIEWED.iter().map(|(_, state)| *state).find(|state| receipt.is(moves::TO, state));
        let undecided =
            packet.zip(state).filter(|(packet, state)| !decided.contains_key(&(packet.id, *state)));
        if let Some((_, state)) = undecided {
            let message = format!("the packet became {state} and no receipt says who decided that");
            found.add(receipt, moves::TO, message);
        }
    }
    for (receipt, message) in illegal(world, &[&REVIEW]) {
        found.add(receipt, moves::TO, message);
    }
}

fn meaning_bearing_revision_without_review_packet_or_policy_waiver(world: &World, found: &mut Found<'_>) {
    let mut heads = world
        .of("ArtifactVersionTransitionEvent")
        .filter(|one| one.is("to_state", "accepted_head"))
        .peekable();
    if heads.peek().is_none() {
        return;
    }
    let (decisions, packets, steps) = (decisions(world), packets(world), Steps::of(world));
    let mut first: BTreeMap<&str, u64> = BTreeMap::new();
    for version in world.of("ArtifactVersion") {
        if let Some(artifact) = version.json().text("artifact_stable_id") {
            first.entry(artifact).or_insert(version.seq());
        }
    }
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    for event in heads {
        let Some(version) = event.follow("artifact_version_ref") else { continue };
        // What has been the head before was looked at then.
        if !seen.insert(version.id()) || !bears_meaning(version, &steps, &first) {
            continue;
        }
        let packets = packets.get(version.id()).map(Vec::as_slice).unwrap_or_default();
        let receipts = packets.iter().filter_map(|packet| decisions.get(packet)).flatten();
        // What was accepted may have been taken back since.
        let decided = receipts.filter(|receipt| receipt.seq() < event.seq() && decides(**receipt));
        if !decided.max_by_key(|receipt| receipt.seq()).is_some_and(|receipt| lets_pass(*receipt)) {
            let message =
                "a change of meaning became the head, and nobody accepted it and no policy waived that";
            found.add(event, "artifact_version_ref", message);
        }
    }
}

/// Whether a version changes the meaning of an artifact: by what it says of itself, and by the plan that its step is of, whichever is
/// the stricter. Where nobody says, it may.
fn bears_meaning<'w>(version: Record<'w>, steps: &Steps<'w>, first: &BTreeMap<&str, u64>) -> bool {
    let step = version.json().text("produced_by_step_id");
    let own = version.text("safety_class").map(|class| class == "mechanical");
    let planned = match step.and_then(|step| steps.class(version, step)) {
        Some(Class::Mechanical) => Some(true),
        Some(Class::BearsMeaning) => Some(false),
        Some(Class::Untold) | None => None,
    };
    let mut said = [own, planned].into_iter().flatten().peekable();
    let is_mechanical = said.peek().is_some() && said.all(|is_mechanical| is_mechanical);
    let artifact = version.text("artifact_stable_id");
    let is_later = artifact.and_then(|one| first.get(one)).is_some_and(|first| *first < version.seq());
    !is_mechanical && (step.is_some() || is_later)
}

/// Whether a receipt decides on a candidate at all: one that says that nobody has to, without a policy, does not.
fn decides(receipt: Record<'_>) -> bool {
    let is_waiver = receipt.is("action", "no_user_review_required");
    receipt.text("action").and_then(state_after).is_some() && (!is_waiver || lets_pass(receipt))
}

/// Whether a decision lets a candidate become the head.
fn lets_pass(receipt: Record<'_>) -> bool {
    match receipt.text("action") {
        Some("accept") => true,
        Some("no_user_review_required") => {
            let rationale = receipt.text("rationale").unwrap_or_default();
            let words = rationale.split(|letter: char| letter.is_whitespace() || ",;()".contains(letter));
            let words = words.map(|word| word.trim_end_matches('.'));
            let cited = receipt.texts("policy_decision_refs").into_iter().chain(words);
            cited.filter_map(Reference::read).any(|policy| {
                let policy = receipt.world.resolve(policy).filter(|one| one.kind() == "PolicyEvaluation");
                policy.is_some_and(|policy| policy.is_one_of("decision", &["allow", "warn"]))
            })
        }
        Some(_) | None => false,
    }
}

/// The packets for review of each version.
fn packets(world: &World) -> BTreeMap<&str, Vec<&str>> {
    let mut all: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for packet in world.of("RevisionReviewPacket") {
        if let Some(version) = packet.json().reference("candidate_artifact_version_ref") {
            all.entry(version.id).or_default().push(packet.id());
        }
    }
    all
}

#[cfg(test)]
#[path = "revision_review_tests.rs"]
mod tests;
