//! Claims and evidence: the types of the contract.
//! Owns: their members and words. Must not: judge.

use super::basic::{
    ClaimRef, DataClass, Instant, SchemaRef, SourceRecordRef, StorageRef, TaintClass, V10, V11,
};
use super::wire::{record, words};
use alloc::string::String;
use alloc::vec::Vec;

words! {
    /// Direct, indirect, contextual, contradicts.
    EvidenceAnchorSupportStrength {
        Direct = "direct", Indirect = "indirect", Contextual = "contextual", Contradicts = "contradicts",
    }
}

words! {
    /// Anchor kind of SourceEvidenceAnchor.
    SourceEvidenceAnchorAnchorKind {
        Page = "page", Quote = "quote", Section = "section", Timestamp = "timestamp", Row = "row",
        UrlFragment = "url_fragment", Paragraph = "paragraph", LineRange = "line_range",
    }
}

record! {
    /// A place in a source that bears on claims.
    SourceEvidenceAnchor: event {
        anchor_id: String,
        source_record_ref: SourceRecordRef,
        anchor_kind: SourceEvidenceAnchorAnchorKind,
        anchor_locator: String,
        supports_claim_refs: Vec<ClaimRef>,
        support_strength: EvidenceAnchorSupportStrength,
        extracted_text_ref: Option<StorageRef>,
        created_at: Instant,
        schema_version: V10,
    }
}

record! {
    /// Registered schema of a domain payload.
    DomainPayloadRegistryRef: value {
        domain_payload_kind: String,
        domain_payload_schema_ref: SchemaRef,
        domain_payload_version: String,
    }
}

words! {
    /// Derived status.
    ClaimSupportStatus {
        Supported = "supported", PartiallySupported = "partially_supported", Unsupported = "unsupported",
        Contradicted = "contradicted", NotChecked = "not_checked",
        IndeterminateStaleOrUnverified = "indeterminate_stale_or_unverified",
    }
}

record! {
    /// Part of ClaimSupportDerivationPolicy.
    ClaimSupportDerivationPolicyRequiredForSupported: value {
        min_direct_supporting_anchors: u64,
        require_verified_source: bool,
        allow_stale_source: bool,
        allow_contradicting_anchor: bool,
    }
}

words! {
    /// Partial support rule of ClaimSupportDerivationPolicy.
    ClaimSupportDerivationPolicyPartialSupportRule {
        AnyIndirectOrContextualAnchor = "any_indirect_or_contextual_anchor",
        DirectAnchorUnverified = "direct_anchor_unverified", DomainSpecific = "domain_specific",
    }
}

words! {
    /// Contradiction rule of ClaimSupportDerivationPolicy.
    ClaimSupportDerivationPolicyContradictionRule {
        AnyDirectContradictionControls = "any_direct_contradiction_controls",
        WeightedByAuthority = "weighted_by_authority", HumanReviewRequired = "human_review_required",
    }
}

record! {
    /// What counts as support.
    ClaimSupportDerivationPolicy: policy {
        policy_id: String,
        required_for_supported: ClaimSupportDerivationPolicyRequiredForSupported,
        partial_support_rule: ClaimSupportDerivationPolicyPartialSupportRule,
        contradiction_rule: ClaimSupportDerivationPolicyContradictionRule,
        formula_ref: String,
        schema_version: V10,
    }
}

words! {
    /// Decisive reason of ClaimSupportDerivationReceipt.
    ClaimSupportDerivationReceiptDecisiveReason {
        DirectVerifiedSupport = "direct_verified_support",
        PartialIndirectSupport = "partial_indirect_support", NoSupportingAnchor = "no_supporting_anchor",
        DirectContradiction = "direct_contradiction",
        StaleOrUnverifiedSource = "stale_or_unverified_source", NotChecked = "not_checked",
    }
}

record! {
    /// Why a claim has its status.
    ClaimSupportDerivationReceipt: receipt {
        receipt_id: String,
        claim_ref: ClaimRef,
        policy_ref: String,
        supporting_anchor_refs: Vec<StorageRef>,
        contradicting_anchor_refs: Vec<StorageRef>,
        source_verification_refs: Vec<StorageRef>,
        source_freshness_refs: Vec<StorageRef>,
        applicability_scope_refs: Vec<StorageRef>,
        derived_support_status: ClaimSupportStatus,
        decisive_reason: ClaimSupportDerivationReceiptDecisiveReason,
        formula_eval_receipt_ref: StorageRef,
        created_at: Instant,
        schema_version: V10,
    }
}

record! {
    /// A claim in the package.
    EvidencePackageClaimEntry: value {
        claim_ref: ClaimRef,
        supporting_anchor_refs: Vec<StorageRef>,
        contradicting_anchor_refs: Vec<StorageRef>,
        support_status: ClaimSupportStatus,
        support_derivation_receipt_ref: StorageRef,
    }
}

record! {
    /// Evidence binder of the final artifacts.
    EvidencePackage: read_model {
        evidence_package_id: String,
        task_id: String,
        run_id: String,
        final_artifact_refs: Vec<StorageRef>,
        source_workspace_snapshot_ref: StorageRef,
        source_record_refs: Vec<SourceRecordRef>,
        evidence_anchor_refs: Vec<StorageRef>,
        claim_support_map: Vec<EvidencePackageClaimEntry>,
        unresolved_research_need_refs: Vec<String>,
        stale_or_unverified_source_refs: Vec<SourceRecordRef>,
        data_class: DataClass,
        matter_id: Option<String>,
        taint_class: TaintClass,
        privileged: bool,
        created_at: Instant,
        schema_version: V11,
    }
}
