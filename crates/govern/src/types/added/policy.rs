//! Policies and capabilities as they were: types that the contract needs and does not declare.
//! Owns: their members and words. Must not: judge.

use crate::types::basic::{Instant, StorageRef, V10};
use crate::types::wire::{record, words};
use alloc::string::String;
use alloc::vec::Vec;

words! {
    /// What a policy says.
    PolicyDecision { Allow = "allow", Deny = "deny", Warn = "warn", RequireHuman = "require_human" }
}

record! {
    /// What a policy decided.
    PolicyEvaluation: event {
        policy_evaluation_id: String,
        policy_id: String,
        policy_version: String,
        decision: PolicyDecision,
        user_alterable: bool,
        decided_at: Instant,
        superseded_by: Option<StorageRef>,
        schema_version: Option<V10>,
    }
}

record! {
    /// The policies as they were.
    PolicySnapshot: event {
        snapshot_id: String,
        policy_refs: Vec<StorageRef>,
        created_at: Instant,
        schema_version: Option<V10>,
    }
}

record! {
    /// A capability as it was.
    CapabilityState: value {
        capability_id: String,
        version: String,
        healthy: bool,
    }
}

record! {
    /// The capabilities as they were.
    CapabilitySnapshot: event {
        snapshot_id: String,
        capabilities: Vec<CapabilityState>,
        created_at: Instant,
        schema_version: Option<V10>,
    }
}

record! {
    /// A person said yes to something.
    UserConfirmation: event {
        confirmation_id: String,
        user_ref: StorageRef,
        subject_ref: StorageRef,
        created_at: Instant,
        schema_version: Option<V10>,
    }
}

record! {
    /// Whether a policy was still the latest when it was used (B-12).
    PolicyFreshnessRecord: event {
        record_id: String,
        policy_ref: StorageRef,
        checked_at: Instant,
        fresh_until: Option<Instant>,
        is_fresh: bool,
        schema_version: Option<V10>,
    }
}
