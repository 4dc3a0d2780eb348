//! Forums: the types of the contract.
//! Owns: their members and words. Must not: judge.

use super::basic::V10;
use super::wire::{record, words};
use alloc::string::String;

words! {
    /// On no consensus of ForumDeliberationPolicy.
    ForumDeliberationPolicyOnNoConsensus {
        ForumDeadlockHardCall = "forum_deadlock_hard_call",
        PreferSafestPolicyAllowedProposal = "prefer_safest_policy_allowed_proposal",
        PauseAndRequestUser = "pause_and_request_user",
    }
}

record! {
    /// Tick limit, threshold (integer percent 1..100), exit without consensus.
    ForumDeliberationPolicy: policy {
        room_id: String,
        max_deliberation_ticks: u64,
        consensus_threshold_pct: u64,
        on_no_consensus: ForumDeliberationPolicyOnNoConsensus,
        schema_version: V10,
    }
}
