//! Validation codes: guidance.
//! Owns: the rules of this area. Must not: decide by names.

use super::events::lifecycle::untold;
use super::{Area, Found, Rule, Severity};
use crate::fold::family::GUIDANCE;
use crate::member::Member;
use crate::path::Path;
use crate::reference::Reference;
use crate::world::{Record, World};
use alloc::collections::BTreeMap;
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
        fires: "RunGuidanceItemCurrent.lifecycle_state changes, or is not proposed at first behind its RunGuidanceCreationEvent, and no RunGuidanceLifecycleReceipt with the same guidance_id, from_state and to_state exists.",
        legal: "The initial proposed state of a RunGuidanceCreationEvent.",
        why: "Without a receipt nobody can say who made guidance count, or who put it aside, and why.",
        fix: "Write a RunGuidanceLifecycleReceipt with the same states, along a way that the lifecycle has, before the item changes.",
        check: run_guidance_lifecycle_transition_without_receipt,
    },
];

/// The lives of guidance, as far as the log tells them.
struct Lives<'w> {
    world: &'w World,
    /// The states of each item and where they begin, in order.
    states: BTreeMap<&'w str, Vec<(u64, &'w str)>>,
}

impl<'w> Lives<'w> {
    fn of(world: &'w World) -> Self {
        let mut states: BTreeMap<&str, Vec<(u64, &str)>> = BTreeMap::new();
        let told =
            [("RunGuidanceLifecycleReceipt", "to_state"), ("RunGuidanceItemCurrent", "lifecycle_state")];
        for (kind, path) in told {
            for record in world.of(kind) {
                let json = record.json();
                if let (Some(item), Some(state)) = (json.text("guidance_id"), json.text(path)) {
                    states.entry(item).or_default().push((record.seq(), state));
                }
            }
        }
        for life in states.values_mut() {
            life.sort_unstable();
        }
        Lives { world, states }
    }

    /// The state of an item at a place.
    fn state(&self, item: &str, at: u64) -> Option<&'w str> {
        let life = self.states.get(item)?;
        let behind = life.partition_point(|(from, _)| *from <= at);
        behind.checked_sub(1).and_then(|last| life.get(last)).map(|(_, state)| *state)
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

    /// From where on each item may cross from run to run, and from where on not, in order.
    fn crossings(&self) -> BTreeMap<&'w str, Vec<(u64, bool)>> {
        let mut crossings: BTreeMap<&str, Vec<(u64, bool)>> = BTreeMap::new();
        for current in self.world.of("RunGuidanceItemCurrent") {
            let flags = ["cross_run_eligible", "selected_by_doc24_context_policy"];
            let may_cross = flags.iter().all(|flag| current.flag(flag) == Some(true));
            if let Some(item) = current.json().text("guidance_id") {
                crossings.entry(item).or_default().push((current.seq(), may_cross));
            }
        }
        crossings
    }
}

/// Whether guidance may cross at a place. What is told of it only later held before, for want of anything else.
fn may_cross(crossings: &[(u64, bool)], at: u64) -> bool {
    let behind = crossings.partition_point(|(from, _)| *from <= at);
    crossings.get(behind.saturating_sub(1)).is_some_and(|(_, may_cross)| *may_cross)
}

/// The states in which guidance must not be used.
const SUSPENDED: [&str; 4] = ["contested", "rejected", "expired", "superseded"];

/// Packets and what uses them: the record, the path of the item there, the guidance.
fn uses<'w>(lives: &Lives<'w>) -> Vec<(Record<'w>, Path, &'w str)> {
    let mut uses = Vec::new();
    for packet in lives.world.of("TaskRunContextPacket") {
        let items = lives.items(packet).into_iter();
        uses.extend(items.map(|(at, item)| (packet, Path::from("items").item(at).then("item_ref"), item)));
    }
    for consumption in lives.world.of("ContextPacketConsumption") {
        let packet = consumption.follow("packet_ref");
        let packet = packet.filter(|packet| packet.kind() == "TaskRunContextPacket");
        let items = packet.map(|packet| lives.items(packet)).unwrap_or_default();
        uses.extend(items.into_iter().map(|(_, item)| (consumption, Path::from("packet_ref"), item)));
    }
    uses
}

fn run_guidance_consumed_while_contested(world: &World, found: &mut Found<'_>) {
    let lives = Lives::of(world);
    for (user, path, item) in uses(&lives) {
        if let Some(state) = lives.state(item, user.seq()).filter(|state| SUSPENDED.contains(state)) {
            found.add(user, path, format!("uses guidance that is {state}"));
        }
    }
}

fn run_guidance_cross_run_injected_without_doc24_selection(world: &World, found: &mut Found<'_>) {
    let lives = Lives::of(world);
    let (origins, crossings) = (lives.origins(), lives.crossings());
    for (user, path, item) in uses(&lives) {
        let (Some(origin), Some(run)) = (origins.get(item), user.text("run_id")) else { continue };
        let crossings = crossings.get(item).map(Vec::as_slice).unwrap_or_default();
        if *origin != run && !may_cross(crossings, user.seq()) {
            found.add(user, path, "uses guidance of another run that was not selected for it");
        }
    }
}

fn run_guidance_lifecycle_transition_without_receipt(world: &World, found: &mut Found<'_>) {
    for (current, from, to) in untold(world, &GUIDANCE) {
        found.add(current, "lifecycle_state", format!("no receipt takes it from {from} to {to}"));
    }
}

#[cfg(test)]
#[path = "guidance_tests.rs"]
mod tests;
