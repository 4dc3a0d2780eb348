//! Validation codes: checkpoints.
//! Owns: the rules of this area. Must not: decide by names.

use super::{Area, Found, Rule, Severity};
use crate::decide::fork::Done;
use crate::member::Member;
use crate::world::{Record, World};
use alloc::collections::BTreeSet;
use alloc::format;

pub(super) const AREA: Area = Area { name: "checkpoints", rules: RULES, kinds: &[] };

const RULES: &[Rule] = &[
    Rule {
        code: "known_good_checkpoint_missing_policy_snapshot",
        severity: Severity::Error,
        section: "G-04",
        fires: "A KnownGoodCheckpoint has an empty or unresolvable policy_snapshot_ref.",
        legal: "A checkpoint without run_workspace_snapshot_ref, which is optional.",
        why: "What was good was good under the policies of that time. Without them a restore may bring back what is no longer allowed, unseen.",
        fix: "Capture the policies as a PolicySnapshot and name it in the checkpoint.",
        check: known_good_checkpoint_missing_policy_snapshot,
    },
    Rule {
        code: "known_good_checkpoint_missing_capability_snapshot",
        severity: Severity::Error,
        section: "G-04",
        fires: "A KnownGoodCheckpoint has an empty or unresolvable capability_snapshot_ref.",
        legal: "A checkpoint whose capability snapshot lists no capability (empty but present).",
        why: "Without the capabilities of that time nobody can tell whether the restored state can be produced again.",
        fix: "Capture the capabilities as a CapabilitySnapshot, even if there are none, and name it in the checkpoint.",
        check: known_good_checkpoint_missing_capability_snapshot,
    },
    Rule {
        code: "restore_checkpoint_ignores_irreversible_side_effects",
        severity: Severity::Error,
        section: "G-04 (G-17)",
        fires: "A restore or TaskRunFork from a KnownGoodCheckpoint (a RevisionReviewDecisionReceipt restore_known_good_state) leaves out an irreversible side effect of the parent run that the ledger shows as executed before it, from irrevocable_side_effects_at_fork.",
        legal: "A restore that lists every executed irreversible effect as not_reversible_in_fork.",
        why: "A mail that was sent stays sent. Whoever takes over the restored run must know what can't be taken back.",
        fix: "List every irreversible effect that the ledger shows as executed, as not_reversible_in_fork.",
        check: restore_checkpoint_ignores_irreversible_side_effects,
    },
];

fn known_good_checkpoint_missing_policy_snapshot(world: &World, found: &mut Found<'_>) {
    missing_snapshot(world, found, "policy_snapshot_ref", "PolicySnapshot");
}

fn known_good_checkpoint_missing_capability_snapshot(world: &World, found: &mut Found<'_>) {
    missing_snapshot(world, found, "capability_snapshot_ref", "CapabilitySnapshot");
}

fn missing_snapshot(world: &World, found: &mut Found<'_>, field: &'static str, kind: &str) {
    for checkpoint in world.of("KnownGoodCheckpoint") {
        if checkpoint.follow(field).is_none_or(|snapshot| snapshot.kind() != kind) {
            found.add(checkpoint, field, format!("the checkpoint names no {kind} that is there"));
        }
    }
}

fn restore_checkpoint_ignores_irreversible_side_effects(world: &World, found: &mut Found<'_>) {
    let mut done: Done<'_, ()> = Done::default();
    for effect in world.of("SideEffectLedgerEntry") {
        let is_done = effect.flag("irreversible") == Some(true) && effect.is("state", "executed");
        if let Some(run) = effect.json().text("run_id").filter(|_| is_done) {
            done.add(run, effect.id(), effect.seq(), ());
        }
    }
    for fork in world.of("TaskRunFork") {
        left_out(fork, fork.text("parent_run_id"), &done, found);
    }
    let restores = world.of("RevisionReviewDecisionReceipt");
    for restore in restores.filter(|one| one.is("action", "restore_known_good_state")) {
        let packet = restore.id_at("packet_id").and_then(|id| world.find("RevisionReviewPacket", id));
        left_out(restore, packet.and_then(|packet| packet.json().text("run_id")), &done, found);
    }
}

/// What was carried out in a run before it was forked or restored, can't be undone, and is not listed as such.
fn left_out(restore: Record<'_>, run: Option<&str>, done: &Done<'_, ()>, found: &mut Found<'_>) {
    const LIST: &str = "irrevocable_side_effects_at_fork";
    let listed: BTreeSet<&str> = restore
        .list(LIST)
        .iter()
        .filter(|one| one.is("note", "not_reversible_in_fork"))
        .filter_map(|one| one.id_at("side_effect_id"))
        .collect();
    let mut due = run.into_iter().flat_map(|run| done.before(run, restore.seq()));
    if let Some((id, ())) = due.find(|(id, ())| !listed.contains(id)) {
        let message = format!("{id} was carried out, can't be undone, and is not listed");
        found.add(restore, LIST, message);
    }
}

#[cfg(test)]
#[path = "checkpoints_tests.rs"]
mod tests;
