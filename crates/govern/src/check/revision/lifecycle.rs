//! How a plan is carried out: which transitions there may be, and which receipt each takes.
//! Owns: three rules that never fire together. Must not: know the table; it stands with the machines.

use super::super::Found;
use crate::machine::REVISION;
use crate::member::Member;
use crate::world::{Record, World};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// What is wrong with a transition: one thing at most.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Flaw {
    /// There is no such way, or not from here.
    Illegal,
    /// Nothing recorded stands behind it.
    NoReceipt,
    /// What stands behind it may not end a plan so.
    WrongEnd,
}

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
        let (Some(plan), Some(to)) = (says.text("plan_id"), says.text("to_state")) else { continue };
        let state = states.insert(plan, to).or(REVISION.initial.first().copied());
        if let (Some(state), Some(from)) = (state, says.text("from_state")) {
            told.extend(flaw(event, state, from, to).map(|(flaw, path, why)| (event, flaw, path, why)));
        }
    }
    told
}

fn flaw(event: Record<'_>, state: &str, from: &str, to: &str) -> Option<(Flaw, &'static str, String)> {
    if from != state {
        let message = format!("the plan is in {state}, not in {from}");
        return Some((Flaw::Illegal, "from_state", message));
    }
    if !REVISION.allows(from, to) {
        return Some((Flaw::Illegal, "to_state", format!("there is no way from {from} to {to}")));
    }
    let kind = event.json().text("triggered_by_receipt_kind");
    let receipt = event.follow("receipt_ref").filter(|receipt| receipt.seq() < event.seq());
    let Some((kind, receipt)) = kind.zip(receipt).filter(|(kind, receipt)| receipt.kind() == *kind) else {
        let message = format!("no earlier {} stands behind {from} -> {to}", kind.unwrap_or("receipt"));
        return Some((Flaw::NoReceipt, "receipt_ref", message));
    };
    let is_listed = REVISION.ways(from, to).any(|way| way.by == kind);
    if !REVISION.is_terminal(to) {
        let message = format!("{from} -> {to} is not made by a {kind}");
        return (!is_listed).then_some((Flaw::Illegal, "triggered_by_receipt_kind", message));
    }
    let message = format!("this {kind} may not end a plan as {to}");
    (!is_listed || !may_end(receipt, from, to)).then_some((Flaw::WrongEnd, "receipt_ref", message))
}

/// Whether what a receipt says may end a plan so. What it does not say is not held against it.
fn may_end(receipt: Record<'_>, from: &str, to: &str) -> bool {
    let (member, words): (&str, &[&str]) = match (receipt.kind(), to) {
        ("RevalidationCascadeReceipt", "terminal_satisfied") => ("status", &["quiescent"]),
        ("RevalidationCascadeReceipt", "terminal_blocked") => ("status", &["cycle_detected"]),
        ("RevalidationCascadeReceipt", "terminal_failed") => {
            ("status", &["cycle_detected", "max_depth_exceeded", "aborted"])
        }
        // A revalidation that found a regression is a failure where nothing is left to try.
        ("RevisionOperationReceipt", "terminal_failed") if from == "regression_detected" => {
            ("operation_kind", &["plan_rejected", "step_failed", "revalidation_done"])
        }
        ("RevisionOperationReceipt", "terminal_failed") => {
            ("operation_kind", &["plan_rejected", "step_failed"])
        }
        ("SourceWorkspaceOperationReceipt", "terminal_blocked") => ("status", &["rejected_by_policy"]),
        _other => return true,
    };
    receipt.json().at(member).is_none() || receipt.json().is_one_of(member, words)
}
