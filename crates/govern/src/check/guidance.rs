//! Validation codes: guidance.
//! Owns: the rules of this area. Must not: decide by names.

use super::course::{Course, Thing, at_places, by_row, stands};
use super::events::lifecycle::untold;
use super::events::moves::{self, illegal};
use super::stood::Stood;
use super::{Area, Found, Rule, Severity};
use crate::fold::family::GUIDANCE;
use crate::member::Member;
use crate::path::Path;
use crate::reference::Reference;
use crate::world::{Record, World};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::vec::Vec;

pub(super) const AREA: Area = Area { name: "guidance", rules: RULES, kinds: &[] };

const RULES: &[Rule] = &[
    Rule {
        code: "run_guidance_consumed_while_contested",
        severity: Severity::Error,
        section: "D-13",
        fires: "A RunGuidance item is included in a context packet or activation at a seq where its lifecycle_state is contested (or rejected/expired/superseded).",
        legal: "Guidance contested only after the consumption, or active again after the contest was settled.",
        why: "Guidance that somebody disputes or that was withdrawn steers the work as if it held. What was built on it carries the dispute without saying so.",
        fix: "Leave the item out of the packet until the contest is settled, and assemble packets again that hold it.",
        check: run_guidance_consumed_while_contested,
    },
    Rule {
        code: "run_guidance_cross_run_injected_without_doc24_selection",
        severity: Severity::Error,
        section: "D-13",
        fires: "Guidance created in run A is injected into run B while cross_run_eligible or selected_by_doc24_context_policy is false.",
        legal: "Guidance used in the run whose feedback bundle created it.",
        why: "What one run taught may not fit another client's work, or may not be shown there. Only the context policy may carry it across.",
        fix: "Use it in its own run, or have it marked cross_run_eligible and selected by the context policy first.",
        check: run_guidance_cross_run_injected_without_doc24_selection,
    },
    Rule {
        code: "run_guidance_lifecycle_transition_without_receipt",
        severity: Severity::Error,
        section: "D-13",
        fires: "RunGuidanceItemCurrent.lifecycle_state changes, or is not proposed at first behind its RunGuidanceCreationEvent, and no RunGuidanceLifecycleReceipt with the same guidance_id, from_state and to_state exists, or a RunGuidanceLifecycleReceipt tells of a move that the transition table does not have.",
        legal: "The initial proposed state of a RunGuidanceCreationEvent.",
        why: "Without a receipt nobody can say who made guidance count, or who put it aside, and why.",
        fix: "Write a RunGuidanceLifecycleReceipt with the same states, along a way that the lifecycle has, before the item changes.",
        check: run_guidance_lifecycle_transition_without_receipt,
    },
];

/// The lives of guidance, as far as the log tells them.
struct Lives<'w> {
    world: &'w World,
    states: Stood<'w>,
}

impl<'w> Lives<'w> {
    fn of(world: &'w World) -> Self {
        Lives { world, states: Stood::of(world, &GUIDANCE) }
    }

    /// The guidance that a packet holds: the place among its items, the id.
    fn items(&self, packet: Record<'w>) -> Vec<(usize, &'w str)> {
        let refs = packet.json().list("items").iter().map(|item| item.reference("item_ref"));
        let of_item = |reference: Reference<'w>| match reference.kind {
            "run_guidance_item_current" | "run_guidance" => Some(reference.id),
            "run_guidance_creation_event" => self.world.resolve(reference)?.json().text("guidance_id"),
            _kind => None,
        };
        let items = refs.enumerate();
        items.filter_map(|(at, reference)| Some((at, reference.and_then(of_item)?))).collect()
    }

    /// The run whose feedback an item comes from.
    fn origins(&self) -> BTreeMap<&'w str, &'w str> {
        let mut runs = BTreeMap::new();
        for event in self.world.of("RunGuidanceCreationEvent") {
            let bundle = event.follow("source_feedback_bundle_ref");
            let run = bundle.and_then(|bundle| bundle.json().text("run_id"));
            if let (Some(item), Some(run)) = (event.json().text("guidance_id"), run) {
                runs.entry(item).or_insert(run);
            }
        }
        runs
    }

    /// The run that each item is bound to, from place to place: none while it may cross from run to run. What is told of it only
    /// later held before, for want of anything else.
    fn bound(&self) -> BTreeMap<&'w str, Course<&'w str>> {
        let mut bound: BTreeMap<&str, Course<&str>> =
            self.origins().into_iter().map(|(item, run)| (item, Vec::from([(0, Some(run))]))).collect();
        for current in self.world.of("RunGuidanceItemCurrent") {
            let flags = ["cross_run_eligible", "selected_by_doc24_context_policy"];
            let may_cross = flags.iter().all(|flag| current.flag(flag) == Some(true));
            let course = current.json().text("guidance_id").and_then(|item| bound.get_mut(item));
            let Some((course, (_, Some(run)))) =
                course.and_then(|course| course.first().copied().map(|first| (course, first)))
            else {
                continue;
            };
            course.push((current.seq(), (!may_cross).then_some(run)));
        }
        for course in bound.values_mut() {
            if let Some((_, first)) = course.get(1).copied() {
                course.remove(0);
                course.insert(0, (0, first));
            }
        }
        bound
    }

    /// The state of each item from place to place, where it must not be used.
    fn suspensions(&self) -> BTreeMap<&'w str, Course<&'w str>> {
        let suspended = |state: &'static str| SUSPENDED.contains(&state).then_some(state);
        let course = |states: &Course<&'static str>| -> Course<&'w str> {
            states
                .iter()
                .map(|(from, state)| (*from, state.and_then(suspended).map(|one| one as &'w str)))
                .collect()
        };
        self.states.all().map(|((_, item), states)| (*item, course(states))).collect()
    }
}

/// The states in which guidance must not be used.
const SUSPENDED: [&str; 4] = ["contested", "rejected", "expired", "superseded"];

/// What stands against the guidance of a packet, each item once: its course by its id.
type Against<'a, 'w> = &'a BTreeMap<&'w str, Course<&'w str>>;

/// Tells each use of guidance that something stands against: the row, the path there, and the words that do, of which there is at
/// least one. A packet that is used again and again is gone through once.
fn uses<'w>(lives: &Lives<'w>, against: Against<'_, 'w>, mut tell: impl FnMut(Record<'w>, Path, &[&'w str])) {
    let consumed = lives.world.of("ContextPacketConsumption").filter_map(|used| {
        let packet = used.follow("packet_ref").filter(|packet| packet.kind() == PACKET)?;
        Some((packet, used))
    });
    for packet in lives.world.of(PACKET) {
        for (at, item) in lives.items(packet) {
            if let Some(word) = against.get(item).and_then(|course| stands(course, packet.seq())) {
                tell(packet, Path::from("items").item(at).then("item_ref"), &[word]);
            }
        }
    }
    for (packet, used) in by_row(consumed) {
        let items: BTreeSet<&str> = lives.items(packet).into_iter().map(|(_, item)| item).collect();
        let courses: Vec<Thing<'_, &str>> =
            items.iter().filter_map(|item| against.get(item)).map(|course| (0, course.as_slice())).collect();
        let places: Vec<u64> = used.iter().map(|one| one.seq()).collect();
        at_places(&courses, &places, |asked, words| {
            // Of two that differ one is not what somebody looks for.
            let words: Vec<&str> = words.keys().take(2).copied().collect();
            if let Some(used) = used.get(asked).filter(|_| !words.is_empty()) {
                tell(*used, Path::from("packet_ref"), &words);
            }
        });
    }
}

const PACKET: &str = "TaskRunContextPacket";

fn run_guidance_consumed_while_contested(world: &World, found: &mut Found<'_>) {
    let lives = Lives::of(world);
    uses(&lives, &lives.suspensions(), |user, path, states| {
        if let Some(state) = states.first() {
            found.add(user, path, format!("uses guidance that is {state}"));
        }
    });
}

fn run_guidance_cross_run_injected_without_doc24_selection(world: &World, found: &mut Found<'_>) {
    let lives = Lives::of(world);
    uses(&lives, &lives.bound(), |user, path, origins| {
        if user.text("run_id").is_some_and(|run| origins.iter().any(|origin| *origin != run)) {
            found.add(user, path, "uses guidance of another run that was not selected for it");
        }
    });
}

fn run_guidance_lifecycle_transition_without_receipt(world: &World, found: &mut Found<'_>) {
    for untold in untold(world, &GUIDANCE) {
        found.add(untold.record, GUIDANCE.member, untold.message("RunGuidanceLifecycleReceipt"));
    }
    for (receipt, message) in illegal(world, &[&GUIDANCE]) {
        found.add(receipt, moves::TO, message);
    }
}

#[cfg(test)]
#[path = "guidance_tests.rs"]
mod tests;
