//! Artifacts: types that the contract needs and does not declare.
//! Owns: their members and words. Must not: judge.

use crate::types::basic::{ArtifactVersionState, Instant, StorageRef, V10};
use crate::types::sufficiency::CandidateRepairProcedureSafetyClass;
use crate::types::wire::record;
use alloc::string::String;

record! {
    /// A version of an artifact.
    ArtifactVersion: event {
        artifact_version_id: String,
        artifact_stable_id: String,
        task_id: String,
        run_id: String,
        content_hash: String,
        produced_by_step_id: Option<String>,
        safety_class: Option<CandidateRepairProcedureSafetyClass>,
        created_at: Instant,
        schema_version: Option<V10>,
    }
}

record! {
    /// A version of an artifact moved on (B-09).
    ArtifactVersionTransitionEvent: event {
        event_id: String,
        artifact_version_ref: StorageRef,
        from_state: Option<ArtifactVersionState>,
        to_state: ArtifactVersionState,
        run_id: String,
        created_at: Instant,
        schema_version: Option<V10>,
    }
}
