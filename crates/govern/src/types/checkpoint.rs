//! Checkpoints and forks: the types of the contract.
//! Owns: their members and words. Must not: judge.

use super::basic::{Instant, StorageRef, V10};
use super::wire::{record, words};
use alloc::string::String;
use alloc::vec::Vec;

record! {
    /// Restorable point.
    KnownGoodCheckpoint: event {
        checkpoint_id: String,
        task_id: String,
        run_id: String,
        label: String,
        artifact_head_refs: Vec<StorageRef>,
        artifact_version_refs: Vec<StorageRef>,
        source_workspace_snapshot_refs: Vec<StorageRef>,
        run_workspace_snapshot_ref: Option<StorageRef>,
        graph_topology_snapshot_ref: StorageRef,
        policy_snapshot_ref: StorageRef,
        capability_snapshot_ref: StorageRef,
        event_seq: u64,
        irreversible_side_effect_refs: Vec<StorageRef>,
        created_by_ref: String,
        created_at: Instant,
        schema_version: V10,
    }
}

words! {
    /// The only note of IrrevocableSideEffectAtFork.
    IrrevocableSideEffectAtForkNote {
        NotReversibleInFork = "not_reversible_in_fork",
    }
}

record! {
    /// An effect the fork cannot undo.
    IrrevocableSideEffectAtFork: value {
        side_effect_id: String,
        kind: String,
        executed_at: Instant,
        note: IrrevocableSideEffectAtForkNote,
        receipt_ref: StorageRef,
    }
}

record! {
    /// New run from a checkpoint.
    TaskRunFork: event {
        fork_id: String,
        parent_run_id: String,
        forked_from_checkpoint_ref: String,
        new_run_id: String,
        fork_reason: String,
        irrevocable_side_effects_at_fork: Vec<IrrevocableSideEffectAtFork>,
        created_at: Instant,
        schema_version: V10,
    }
}
