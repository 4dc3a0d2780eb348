//! A finding: its states.
//! Owns: the table. Must not: decide.

use super::{Machine, Transition};

/// A finding.
pub const FINDING: Machine = Machine {
    name: "finding",
    about: "A finding",
    initial: &["proposed", "active"],
    terminal: &[
        "resolved",
        "superseded_by_revision",
        "superseded_by_source_change",
        "expired",
        "rejected_by_user",
        "dismissed",
        "unrecoverable",
    ],
    transitions: TRANSITIONS,
};

const fn way(from: &'static str, to: &'static str, by: &'static str, guard: &'static str) -> Transition {
    Transition { from, to, by, guard }
}

#[rustfmt::skip] // one to a line
const TRANSITIONS: &[Transition] = &[
    way("proposed", "active", "router_admitted", "router accepted it"),
    way("proposed", "dismissed", "dismissed_duplicate (or router_dismissed)", "negative exit (A-19)"),
    way("proposed", "rejected_by_user", "rejected_by_user", ""),
    way("active", "rejected_by_user", "rejected_by_user", ""),
    way("contested", "rejected_by_user", "rejected_by_user", ""),
    way("proposed", "superseded_by_revision", "target_version_changed", ""),
    way("active", "superseded_by_revision", "target_version_changed", ""),
    way("contested", "superseded_by_revision", "target_version_changed", ""),
    way("user_approved", "superseded_by_revision", "target_version_changed", ""),
    way("tool_verified", "superseded_by_revision", "target_version_changed", ""),
    way("human_verified", "superseded_by_revision", "target_version_changed", ""),
    way("proposed", "superseded_by_source_change", "source_changed", ""),
    way("active", "superseded_by_source_change", "source_changed", ""),
    way("contested", "superseded_by_source_change", "source_changed", ""),
    way("user_approved", "superseded_by_source_change", "source_changed", ""),
    way("tool_verified", "superseded_by_source_change", "source_changed", ""),
    way("human_verified", "superseded_by_source_change", "source_changed", ""),
    way("proposed", "expired", "expired_by_policy", "log time >= expires_at"),
    way("active", "contested", "user_contested", "command finding.contest"),
    way("active", "user_approved", "user_confirmed", "actor is the user; command finding.confirm"),
    way("active", "human_verified", "user_confirmed", "actor is a reviewer other than the requester, evidence_refs non-empty"),
    way("active", "tool_verified", "tool_verified", "evidence_refs names the tool receipt"),
    way("active", "resolved", "revision_resolved", "a later evaluation on a newer version does not reproduce the match key"),
    way("active", "expired", "expired_by_policy", "never for severity blocking"),
    way("contested", "expired", "expired_by_policy", "never for severity blocking"),
    way("active", "dismissed", "dismissed_duplicate", "superseded_by_finding_id set"),
    way("active", "unrecoverable", "marked_unrecoverable", "needs SufficiencyDetectionResult"),
    way("contested", "active", "user_confirmed", "contest withdrawn"),
    way("contested", "user_approved", "user_confirmed", ""),
    way("contested", "human_verified", "user_confirmed", "reviewer role"),
    way("contested", "tool_verified", "tool_verified", ""),
    way("contested", "dismissed", "dismissed_duplicate", ""),
    way("user_approved", "contested", "user_contested", ""),
    way("tool_verified", "contested", "user_contested", ""),
    way("human_verified", "contested", "user_contested", ""),
    way("user_approved", "resolved", "revision_resolved", ""),
    way("tool_verified", "resolved", "revision_resolved", ""),
    way("human_verified", "resolved", "revision_resolved", ""),
    way("user_approved", "unrecoverable", "marked_unrecoverable", ""),
    way("tool_verified", "unrecoverable", "marked_unrecoverable", ""),
    way("human_verified", "unrecoverable", "marked_unrecoverable", ""),
];
