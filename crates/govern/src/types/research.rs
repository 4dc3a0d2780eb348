//! Research needs: the types of the contract.
//! Owns: their members and words. Must not: judge.

use super::basic::{Instant, ResearchTarget, StorageRef, V10, V11};
use super::wire::{record, words};
use alloc::string::String;
use alloc::vec::Vec;

words! {
    /// Run, task, workspace.
    ResearchNeedScope {
        Run = "run", Task = "task", Workspace = "workspace",
    }
}

words! {
    /// See 5.5.
    ResearchNeedStatus {
        Open = "open", Leased = "leased", Answered = "answered", HumanNeeded = "human_needed",
        Unresolved = "unresolved", Cancelled = "cancelled",
    }
}

record! {
    /// A question to be answered from sources.
    ResearchNeed: projection {
        need_id: String,
        need_scope: ResearchNeedScope,
        task_id: String,
        run_id: Option<String>,
        workspace_id: String,
        target_refs: Vec<ResearchTarget>,
        question: String,
        status: ResearchNeedStatus,
        answer_ref: Option<StorageRef>,
        human_needed_reason: Option<String>,
        unresolved_reason: Option<String>,
        created_at: Instant,
        updated_at: Instant,
        schema_version: V11,
    }
}

words! {
    /// On expiry of ResearchNeedLease.
    ResearchNeedLeaseOnExpiry {
        ReleaseForReclaim = "release_for_reclaim", Escalate = "escalate", MarkAbandoned = "mark_abandoned",
    }
}

record! {
    /// Exclusive, expiring claim on a need.
    ResearchNeedLease: event {
        need_id: String,
        leased_by_module_id: String,
        lease_token: String,
        acquired_at: Instant,
        expires_at: Instant,
        on_expiry: ResearchNeedLeaseOnExpiry,
        satisfied_by_result_ref: Option<StorageRef>,
        schema_version: V10,
    }
}
