//! Assistance: the types of the contract.
//! Owns: their members and words. Must not: judge.

use super::basic::{Instant, SchemaRef, StorageRef, V10};
use super::wire::{record, words};
use alloc::string::String;

words! {
    /// Target of ModuleAssistanceRequest.
    ModuleAssistanceRequestTarget {
        Module = "module", Subagent = "subagent", TaskAgent = "task_agent", User = "user",
        ForumRoom = "forum_room",
    }
}

words! {
    /// Request kind of ModuleAssistanceRequest.
    ModuleAssistanceRequestRequestKind {
        Clarification = "clarification", SubstantiveReview = "substantive_review",
        ProcessGap = "process_gap", SourceHelp = "source_help", FormatHelp = "format_help",
        PolicyHelp = "policy_help",
    }
}

words! {
    /// Response policy of ModuleAssistanceRequest.
    ModuleAssistanceRequestResponsePolicy {
        RequiredBeforeContinue = "required_before_continue",
        OptionalUntilTimeout = "optional_until_timeout", AdvisoryOnly = "advisory_only",
    }
}

record! {
    /// Part of ModuleAssistanceRequest.
    ModuleAssistanceRequestLease: value {
        holder_ref: String,
        lease_version: String,
        acquired_at: Instant,
        expires_at: Instant,
    }
}

words! {
    /// On timeout of ModuleAssistanceRequest.
    ModuleAssistanceRequestOnTimeout {
        ResumeWithWarning = "resume_with_warning", Abort = "abort", EscalateHuman = "escalate_human",
        AskTaskAgentThenPause = "ask_task_agent_then_pause",
    }
}

record! {
    /// Ask another party, with lease, timeout and answer schema.
    ModuleAssistanceRequest: request {
        request_id: String,
        task_id: String,
        run_id: String,
        requester_ref: String,
        target: ModuleAssistanceRequestTarget,
        target_endpoint_ref: StorageRef,
        answer_schema_ref: SchemaRef,
        request_kind: ModuleAssistanceRequestRequestKind,
        response_policy: ModuleAssistanceRequestResponsePolicy,
        lease: ModuleAssistanceRequestLease,
        timeout_ms: u64,
        on_timeout: ModuleAssistanceRequestOnTimeout,
        created_at: Instant,
        schema_version: V10,
        subject_ref: Option<StorageRef>,
    }
}
