//! Forums: the types of the contract.
//! Owns: their members and words. Must not: judge.

use super::basic::V10;
use super::wire::{record, words};
use crate::member::Member;
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
    holds |policy| {
        let share = policy.count("consensus_threshold_pct");
        policy.count("max_deliberation_ticks").is_none_or(|ticks| ticks > 0)
            && share.is_none_or(|share| (1..=100).contains(&share))
    }, "must have a tick or more, and a share from 1 to 100 percent"
}
