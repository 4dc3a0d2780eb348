//! Hard calls and cancelling: types that the contract needs and does not declare.
//! Owns: their members and words. Must not: judge.

use crate::types::basic::{HardRevisionCallKind, HumanDecisionOption, Instant, StorageRef, V10};
use crate::types::hard_call::TaskCancelProtocolCandidateDisposition;
use crate::types::wire::{record, words};
use alloc::string::String;
use alloc::vec::Vec;
use countersign_record::json::Json;

words! {
    /// Why a question still waits.
    PendingCause { TimedOut = "timed_out", Deferred = "deferred" }
}

record! {
    /// An answer that may be used again.
    HardCallResolution: receipt {
        hard_call_kind: HardRevisionCallKind,
        prompt_text: String,
        options: Vec<HumanDecisionOption>,
        normalized_prompt_hash: String,
        normalized_options_hash: String,
        selected_option_id: String,
        expires_at: Option<Instant>,
        schema_version: Option<V10>,
    }
}

record! {
    /// A question waited too long, or was put off.
    HardCallPendingEvent: event {
        event_id: String,
        hard_call_id: String,
        cause: PendingCause,
        action: String,
        created_at: Instant,
        schema_version: Option<V10>,
    }
}

record! {
    /// What cancelling stopped, and what it could not.
    TaskCancelReceipt: receipt {
        receipt_id: String,
        cancel_request_id: String,
        stopped_refs: Vec<StorageRef>,
        executed_side_effects: Vec<Json>,
        cancelled_intent_refs: Vec<StorageRef>,
        candidate_disposition: TaskCancelProtocolCandidateDisposition,
        created_at: Instant,
        schema_version: Option<V10>,
    }
}

record! {
    /// A module began, ended or was skipped.
    ModuleActivationEvent: event {
        activation_id: String,
        module_id: String,
        run_id: String,
        state: String,
        created_at: Instant,
        schema_version: Option<V10>,
    }
}

record! {
    /// The graph of a task was changed.
    TaskGraphMutationEvent: event {
        event_id: String,
        actor_ref: StorageRef,
        created_at: Instant,
        schema_version: Option<V10>,
    }
}
