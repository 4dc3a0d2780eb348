//! Progress and snapshots: the types of the contract.
//! Owns: their members and words. Must not: judge.

use super::basic::{Instant, SourceRecordRef, SourceSetRef, StorageRef, V10, V11};
use super::finding::FindingMatchKey;
use super::wire::record;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

record! {
    /// Is this the same failure as last time.
    ProgressSignalRecord: event {
        signal_id: String,
        outcome_id: String,
        run_id: String,
        current_finding_match_key: FindingMatchKey,
        previous_finding_match_key: Option<FindingMatchKey>,
        same_reason_as_previous: bool,
        strategy_switch_recommended: bool,
        created_at: Instant,
        schema_version: V10,
    }
}

record! {
    /// Workspace-native hashes of one workspace.
    SourceWorkspaceSnapshotHashSet: value {
        source_workspace_ref: String,
        source_workspace_head_hash: String,
        source_record_hashes: BTreeMap<SourceRecordRef, String>,
        source_set_hashes: Option<BTreeMap<SourceSetRef, String>>,
        research_need_queue_hash: Option<String>,
        verification_record_hashes: Option<BTreeMap<String, String>>,
        freshness_record_hashes: Option<BTreeMap<String, String>>,
        run_guidance_hashes: Option<BTreeMap<String, String>>,
        schema_version: V10,
    }
}

record! {
    /// Frozen inputs of an evaluation.
    EvaluationSnapshot: event {
        snapshot_id: String,
        artifact_state_refs: Vec<StorageRef>,
        source_workspace_state_ref: Option<StorageRef>,
        source_workspace_snapshot_hashes: Vec<SourceWorkspaceSnapshotHashSet>,
        policy_snapshot_ref: StorageRef,
        capability_snapshot_ref: StorageRef,
        created_at: Instant,
        schema_version: V11,
    }
}
