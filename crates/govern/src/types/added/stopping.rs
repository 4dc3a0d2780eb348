//! Hard calls and cancelling: types that the contract needs and does not declare.
//! Owns: their members and words. Must not: judge.

use crate::member::Member;
use crate::types::basic::{HardRevisionCallKind, HumanDecisionOption, Instant, StorageRef, V10};
use crate::types::hard_call::{
    HardCallPendingPolicyOnDefer, HardCallPendingPolicyOnTimeout, TaskCancelProtocolCandidateDisposition,
};
use crate::types::wire::{Wire, record, saying, texts, words};
use alloc::string::String;
use alloc::vec::Vec;
use countersign_record::json::{Json, Object};

words! {
    /// Why a question still waits.
    PendingCause { TimedOut = "timed_out", Deferred = "deferred" }
}

words! {
    /// What follows where a question waits: as its policy says for a time that is over, or for one that was put off.
    PendingAction {
        Escalate = "escalate", Abort = "abort", ContinueWithWarning = "continue_with_warning",
        PauseScope = "pause_scope", AbortScope = "abort_scope",
    }
}

impl From<HardCallPendingPolicyOnTimeout> for PendingAction {
    fn from(action: HardCallPendingPolicyOnTimeout) -> Self {
        match action {
            HardCallPendingPolicyOnTimeout::Escalate => PendingAction::Escalate,
            HardCallPendingPolicyOnTimeout::Abort => PendingAction::Abort,
            HardCallPendingPolicyOnTimeout::ContinueWithWarning => PendingAction::ContinueWithWarning,
        }
    }
}

impl From<HardCallPendingPolicyOnDefer> for PendingAction {
    fn from(action: HardCallPendingPolicyOnDefer) -> Self {
        match action {
            HardCallPendingPolicyOnDefer::ContinueWithWarning => PendingAction::ContinueWithWarning,
            HardCallPendingPolicyOnDefer::PauseScope => PendingAction::PauseScope,
            HardCallPendingPolicyOnDefer::AbortScope => PendingAction::AbortScope,
        }
    }
}

words! {
    /// How a module's work stands.
    ActivationState {
        Started = "started", Running = "running", Completed = "completed", Failed = "failed",
        Cancelled = "cancelled", Skipped = "skipped",
    }
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
        action: PendingAction,
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
    holds |receipt| receipt.list("executed_side_effects").iter().all(is_executed),
    "must name each executed side effect by ref, with its disposition"
    schema |schema| saying(schema, "executed_side_effects", "items", executed())
}

/// What may be said of an effect that was executed: that it is left, or what was made to mend it.
const DISPOSITIONS: [&str; 3] = ["left", "corrective_artifact", "corrective_artifact_ref"];

/// Whether an effect is named, with what becomes of it. Whether that is enough has a code.
fn is_executed(effect: &Json) -> bool {
    let is_reference = |member: &str| effect.text(member).is_some_and(|to| StorageRef::try_from(to).is_ok());
    is_reference("ref")
        && effect.text("disposition").is_some()
        && (effect.is_blank("corrective_artifact_ref") || is_reference("corrective_artifact_ref"))
}

/// The schema of that. A corrective artifact may stand in the place of the word for it.
fn executed() -> Json {
    let reference = StorageRef::schema_inside;
    let word = Object::from([("enum", texts(&DISPOSITIONS))]);
    let disposition = Object::from([("anyOf", Json::Array(Vec::from([word.into(), reference()])))]);
    let members = Object::from([
        ("ref", reference()),
        ("disposition", disposition.into()),
        ("corrective_artifact_ref", reference()),
    ]);
    Object::from([
        ("type", Json::from("object")),
        ("required", texts(&["ref", "disposition"])),
        ("properties", members.into()),
        ("additionalProperties", false.into()),
    ])
    .into()
}

record! {
    /// A module began, ended or was skipped.
    ModuleActivationEvent: event {
        activation_id: String,
        module_id: String,
        run_id: String,
        state: ActivationState,
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
