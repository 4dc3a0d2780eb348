//! Context packets: the types of the contract.
//! Owns: their members and words. Must not: judge.

use super::basic::{Instant, StorageRef, V10};
use super::wire::{record, words};
use alloc::string::String;
use alloc::vec::Vec;

words! {
    /// Who the packet is for.
    TaskContextAudience {
        Module = "module", SubAgent = "sub_agent", TaskAgent = "task_agent", User = "user",
        ForumRoom = "forum_room",
    }
}

words! {
    /// Staleness policy of TaskRunContextPacketRequest.
    TaskRunContextPacketRequestStalenessPolicy {
        FreshOnly = "fresh_only", AllowStaleWithWarning = "allow_stale_with_warning",
        BestEffort = "best_effort",
    }
}

record! {
    /// What is asked for.
    TaskRunContextPacketRequest: request {
        request_id: String,
        task_id: String,
        run_id: String,
        audience: TaskContextAudience,
        requested_max_tokens: u64,
        required_item_refs: Vec<StorageRef>,
        optional_item_refs: Vec<StorageRef>,
        staleness_policy: TaskRunContextPacketRequestStalenessPolicy,
        created_at: Instant,
        schema_version: V10,
    }
}

words! {
    /// Omission reason of OmittedPacketItem.
    OmittedPacketItemOmissionReason {
        TokenBudget = "token_budget", Permission = "permission", Stale = "stale", Policy = "policy",
        NotRelevant = "not_relevant", Unavailable = "unavailable",
    }
}

record! {
    /// What was left out and why.
    OmittedPacketItem: value {
        item_ref: StorageRef,
        omission_reason: OmittedPacketItemOmissionReason,
        required: bool,
    }
}

record! {
    /// What was assembled and until when it is valid.
    TaskRunContextPacketAssemblyReceipt: receipt {
        receipt_id: String,
        request_id: String,
        packet_ref: StorageRef,
        packet_content_hash: String,
        actual_token_count: u64,
        omitted_items: Vec<OmittedPacketItem>,
        valid_until_event_seq: Option<u64>,
        invalidated_by_event_kinds: Vec<String>,
        created_at: Instant,
        schema_version: V10,
        packet_status: Option<PacketStatus>,
        warnings: Option<Vec<StorageRef>>,
    }
}

record! {
    /// Token sum of an activation.
    PerActivationContextBudget: receipt {
        activation_id: String,
        max_total_tokens: u64,
        packet_token_count: u64,
        board_digest_token_count: u64,
        feedback_bundle_token_count: u64,
        total_token_count: u64,
        schema_version: V10,
    }
}

words! {
    /// What became of a packet.
    PacketStatus {
        Complete = "complete", CompleteWithWarnings = "complete_with_warnings", Blocked = "blocked",
    }
}
