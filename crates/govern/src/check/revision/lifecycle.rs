//! How a plan is carried out: which transitions there may be, and which receipt each takes.
//! Owns: three rules that never fire together. Must not: know what is wrong with a transition; the fold of plans does.

use super::super::Found;
use crate::fold::revision::{self, Flaw};
use crate::machine::REVISION;
use crate::member::Member;
use crate::world::{Record, World};
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

pub(super) fn revision_lifecycle_illegal_transition(world: &World, found: &mut Found<'_>) {
    tell(world, Flaw::Illegal, found);
}

pub(super) fn revision_lifecycle_missing_receipt(world: &World, found: &mut Found<'_>) {
    tell(world, Flaw::NoReceipt, found);
}

pub(super) fn terminal_state_without_terminal_receipt(world: &World, found: &mut Found<'_>) {
    tell(world, Flaw::WrongEnd, found);
}

fn tell(world: &World, wanted: Flaw, found: &mut Found<'_>) {
    for (event, flaw, path, message) in flaws(world) {
        if flaw == wanted {
            found.add(event, path, message);
        }
    }
}

type Told<'w> = (Record<'w>, Flaw, &'static str, String);

/// Follows each plan from state to state. After a wrong transition the plan is where that says, so that one fault is told once.
fn flaws(world: &World) -> Vec<Told<'_>> {
    let mut states: BTreeMap<&str, &str> = BTreeMap::new();
    let mut told = Vec::new();
    for event in world.of("RevisionLifecycleTransitionEvent") {
        let says = event.json();
        let (Some(plan), Some(to)) = (says.id_at("plan_id"), says.text("to_state")) else { continue };
        let state = states.insert(plan, to).or(REVISION.initial.first().copied());
        if let (Some(state), Some(from)) = (state, says.text("from_state")) {
            let receipt = event.follow("receipt_ref").filter(|receipt| receipt.seq() < event.seq());
            let receipt = receipt.map(|receipt| (receipt.kind(), receipt.json()));
            let by = says.text("triggered_by_receipt_kind");
            let flaw = revision::flaw(revision::Told { state, from, to, by, receipt });
            told.extend(flaw.map(|(flaw, path, why)| (event, flaw, path, why)));
        }
    }
    told
}
