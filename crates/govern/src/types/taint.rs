//! Taint: the types of the contract.
//! Owns: their members and words. Must not: judge.

use super::basic::{Instant, SourceKind, StorageRef, TaintClass, True, V10};
use super::wire::{record, words};
use alloc::string::String;
use alloc::vec::Vec;

words! {
    /// Why a source is trusted.
    SourceTrustBasis {
        UserSupplied = "user_supplied", InternalLibrary = "internal_library", OfficialApi = "official_api",
        VerifiedAuthorityDatabase = "verified_authority_database", WebUnverified = "web_unverified",
        ConnectorAuthenticated = "connector_authenticated",
        ManualOverridePolicy = "manual_override_policy", Unknown = "unknown",
    }
}

record! {
    /// Default taint of a source kind.
    SourceKindTaintDefault: policy {
        source_kind: SourceKind,
        default_taint_class: TaintClass,
        required_trust_basis: Option<Vec<SourceTrustBasis>>,
        allow_override: bool,
        schema_version: V10,
    }
}

words! {
    /// Method of SanitizationNode.
    SanitizationNodeMethod {
        HumanReview = "human_review", StructuralStrip = "structural_strip", PolicyFilter = "policy_filter",
    }
}

record! {
    /// A permitted taint downgrade.
    SanitizationNode: event {
        node_id: String,
        input_taint: TaintClass,
        output_taint: TaintClass,
        method: SanitizationNodeMethod,
        evidence_ref: StorageRef,
        created_at: Instant,
        schema_version: V10,
        input_ref: Option<StorageRef>,
        output_ref: Option<StorageRef>,
    }
}

words! {
    /// The only workspace taint rule of TaintAggregationPolicy.
    TaintAggregationPolicyWorkspaceTaintRule {
        MaxTaint = "max_taint",
    }
}

words! {
    /// The only matter scope rule of TaintAggregationPolicy.
    TaintAggregationPolicyMatterScopeRule {
        MaxScopeWithinMatterOnly = "max_scope_within_matter_only",
    }
}

record! {
    /// Max taint, any privileged, within the matter.
    TaintAggregationPolicy: policy {
        policy_id: String,
        workspace_taint_rule: TaintAggregationPolicyWorkspaceTaintRule,
        any_privileged_record_marks_workspace_privileged: True,
        matter_scope_rule: TaintAggregationPolicyMatterScopeRule,
        schema_version: V10,
    }
}
