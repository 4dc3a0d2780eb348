//! Cascades of revalidations: the types of the contract.
//! Owns: their members and words. Must not: judge.

use super::basic::{Instant, StorageRef, V10};
use super::wire::{record, words};
use alloc::string::String;
use alloc::vec::Vec;

words! {
    /// On cycle detected of OutcomeDependencyGraphPolicy.
    OutcomeDependencyGraphPolicyOnCycleDetected {
        RejectGraph = "reject_graph", HardCall = "hard_call",
        PreferDeclaredPriority = "prefer_declared_priority",
    }
}

record! {
    /// Cycles, upstream failure.
    OutcomeDependencyGraphPolicy: policy {
        policy_id: String,
        reject_declared_cycles: bool,
        on_cycle_detected: OutcomeDependencyGraphPolicyOnCycleDetected,
        terminal_upstream_failure_cascades_immediately: bool,
        pending_dependency_state_entry_rechecks_upstream_failure: bool,
        schema_version: V10,
    }
}

words! {
    /// Status of RevalidationCascadeRun.
    RevalidationCascadeRunStatus {
        Running = "running", Quiescent = "quiescent", CycleDetected = "cycle_detected",
        MaxDepthExceeded = "max_depth_exceeded", Aborted = "aborted",
    }
}

words! {
    /// How a cascade ended: one that runs has no receipt of its end.
    RevalidationCascadeReceiptStatus {
        Quiescent = "quiescent", CycleDetected = "cycle_detected", MaxDepthExceeded = "max_depth_exceeded",
        Aborted = "aborted",
    }
}

impl RevalidationCascadeRunStatus {
    /// As an end; nothing while it runs.
    #[must_use]
    pub fn ended(self) -> Option<RevalidationCascadeReceiptStatus> {
        match self {
            RevalidationCascadeRunStatus::Running => None,
            RevalidationCascadeRunStatus::Quiescent => Some(RevalidationCascadeReceiptStatus::Quiescent),
            RevalidationCascadeRunStatus::CycleDetected => {
                Some(RevalidationCascadeReceiptStatus::CycleDetected)
            }
            RevalidationCascadeRunStatus::MaxDepthExceeded => {
                Some(RevalidationCascadeReceiptStatus::MaxDepthExceeded)
            }
            RevalidationCascadeRunStatus::Aborted => Some(RevalidationCascadeReceiptStatus::Aborted),
        }
    }
}

words! {
    /// Terminal reason of RevalidationCascadeRun.
    RevalidationCascadeRunTerminalReason {
        AllDependentsRevalidated = "all_dependents_revalidated", CycleDetected = "cycle_detected",
        MaxDepthExceeded = "max_depth_exceeded", UpstreamFailureCascade = "upstream_failure_cascade",
        Cancelled = "cancelled",
    }
}

record! {
    /// One cascade.
    RevalidationCascadeRun: projection {
        cascade_run_id: String,
        originating_receipt_ref: StorageRef,
        task_id: String,
        run_id: String,
        origin_outcome_id: String,
        visited_outcome_ids: Vec<String>,
        active_outcome_ids: Vec<String>,
        depth: u64,
        max_depth: u64,
        status: RevalidationCascadeRunStatus,
        terminal_reason: Option<RevalidationCascadeRunTerminalReason>,
        created_at: Instant,
        completed_at: Option<Instant>,
        schema_version: V10,
    }
}

record! {
    /// End of a cascade (status is never running).
    RevalidationCascadeReceipt: receipt {
        receipt_id: String,
        cascade_run_id: String,
        status: RevalidationCascadeReceiptStatus,
        affected_outcome_ids: Vec<String>,
        created_at: Instant,
        schema_version: V10,
    }
}
