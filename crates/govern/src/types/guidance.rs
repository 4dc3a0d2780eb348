//! Guidance: the types of the contract.
//! Owns: their members and words. Must not: judge.

use super::basic::{Instant, StorageRef, TaintClass, V10};
use super::wire::{record, words};
use alloc::string::String;

words! {
    /// See 5.6.
    RunGuidanceLifecycleState {
        Proposed = "proposed", Active = "active", Contested = "contested", Superseded = "superseded",
        Expired = "expired", Rejected = "rejected",
    }
}

record! {
    /// Guidance from a feedback bundle.
    RunGuidanceCreationEvent: event {
        event_id: String,
        guidance_id: String,
        source_feedback_bundle_ref: StorageRef,
        guidance_text: String,
        scope_ref: StorageRef,
        created_at: Instant,
        schema_version: V10,
        taint_class: Option<TaintClass>,
    }
}

record! {
    /// Current state and cross-run flags.
    RunGuidanceItemCurrent: projection {
        guidance_id: String,
        canonical_event_ref: StorageRef,
        lifecycle_state: RunGuidanceLifecycleState,
        cross_run_eligible: bool,
        selected_by_doc24_context_policy: bool,
        superseded_by_guidance_id: Option<String>,
        updated_at: Instant,
        schema_version: V10,
    }
}

record! {
    /// One transition.
    RunGuidanceLifecycleReceipt: receipt {
        receipt_id: String,
        guidance_id: String,
        from_state: RunGuidanceLifecycleState,
        to_state: RunGuidanceLifecycleState,
        actor_ref: String,
        reason: String,
        created_at: Instant,
        schema_version: V10,
    }
}
