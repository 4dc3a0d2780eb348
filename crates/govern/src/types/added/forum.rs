//! Forums and assistance: types that the contract needs and does not declare.
//! Owns: their members and words. Must not: judge.

use crate::types::assistance::{ModuleAssistanceRequestOnTimeout, ModuleAssistanceRequestTarget};
use crate::types::basic::{Instant, SchemaRef, StorageRef, V10};
use crate::types::wire::{record, words};
use alloc::string::String;

words! {
    /// What a room is for.
    RoomPurpose { Decision = "decision", Information = "information" }
}

record! {
    /// A room was opened.
    ForumRoomRecord: event {
        room_id: String,
        run_id: String,
        purpose: RoomPurpose,
        created_at: Instant,
        schema_version: Option<V10>,
    }
}

record! {
    /// Where a deliberation stands.
    ForumTick: event {
        room_id: String,
        tick: u64,
        agreement_pct: u64,
        created_at: Instant,
        schema_version: Option<V10>,
    }
}

record! {
    /// A proposal was chosen.
    ForumProposalSelection: event {
        selection_id: String,
        room_id: String,
        proposal_ref: StorageRef,
        selected_by_ref: StorageRef,
        created_at: Instant,
        schema_version: Option<V10>,
    }
}

record! {
    /// A deliberation waits for a person.
    ForumPauseEvent: event {
        event_id: String,
        room_id: String,
        created_at: Instant,
        schema_version: Option<V10>,
    }
}

record! {
    /// A moderator failed.
    ModeratorFailureEvent: event {
        event_id: String,
        request_id: Option<String>,
        room_id: String,
        created_at: Instant,
        schema_version: Option<V10>,
    }
}

record! {
    /// Where somebody can be asked.
    AssistanceEndpoint: policy {
        endpoint_id: String,
        target: ModuleAssistanceRequestTarget,
        owner_ref: StorageRef,
        schema_version: Option<V10>,
    }
}

words! {
    /// Whether an answer is of the form that was asked for.
    SchemaCheck { Passed = "passed", Failed = "failed", NotChecked = "not_checked" }
}

record! {
    /// An answer to somebody who asked.
    ModuleAssistanceAnswer: event {
        answer_id: String,
        request_id: String,
        answer_schema_ref: SchemaRef,
        schema_check: SchemaCheck,
        accepted: bool,
        created_at: Instant,
        schema_version: Option<V10>,
    }
}

record! {
    /// What was done where nobody answered.
    AssistanceFallbackEvent: event {
        event_id: String,
        request_id: Option<String>,
        room_id: Option<String>,
        action: ModuleAssistanceRequestOnTimeout,
        created_at: Instant,
        schema_version: Option<V10>,
    }
}
