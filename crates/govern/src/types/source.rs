//! Sources: the types of the contract.
//! Owns: their members and words. Must not: judge.

use super::basic::{
    DataClass, False, Instant, PolicyEvaluationRef, SourceKind, SourceTier, StorageRef, TaintClass, V10, V11,
};
use super::claim::DomainPayloadRegistryRef;
use super::taint::SourceTrustBasis;
use super::wire::{record, words};
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use countersign_record::json::Json;

words! {
    /// Jurisdictional authority.
    CoreAuthorityLevel {
        Binding = "binding", Persuasive = "persuasive", Advisory = "advisory", Unknown = "unknown",
    }
}

words! {
    /// Later treatment.
    LegalTreatmentStatus {
        Current = "current", NegativeTreatment = "negative_treatment", Overruled = "overruled",
        Limited = "limited", Distinguished = "distinguished", Adverse = "adverse", Unknown = "unknown",
    }
}

words! {
    /// Scope kind of ApplicabilityScope.
    ApplicabilityScopeScopeKind {
        LegalJurisdiction = "legal_jurisdiction", RegulatoryDomain = "regulatory_domain",
        BusinessUnit = "business_unit", TechnicalPlatform = "technical_platform",
        TimePeriod = "time_period", Geography = "geography", Audience = "audience", Matter = "matter",
        Custom = "custom",
    }
}

record! {
    /// Where a source applies.
    ApplicabilityScope: value {
        scope_kind: ApplicabilityScopeScopeKind,
        scope_value: String,
        authority_level: Option<CoreAuthorityLevel>,
        domain_specific_payload: Option<BTreeMap<String, Json>>,
        schema_version: V11,
    }
}

record! {
    /// Legal domain payload.
    LegalSourcePayload: value {
        court: Option<String>,
        jurisdiction: Option<String>,
        date: Option<String>,
        source_authority_level: Option<CoreAuthorityLevel>,
        treatment_status: Option<LegalTreatmentStatus>,
        holdings: Option<Vec<String>>,
        useful_propositions: Option<Vec<String>>,
        pincite_refs: Option<Vec<StorageRef>>,
        schema_version: V11,
    }
}

words! {
    /// What a tier materialises as.
    SourceMaterializationKind {
        ToolReceiptOnly = "tool_receipt_only", SourceRecord = "source_record",
        WorkspaceBundle = "workspace_bundle",
    }
}

record! {
    /// A source in the workspace (tiers 1-3).
    SourceRecord: projection {
        source_id: String,
        tier: SourceTier,
        source_kind: SourceKind,
        workspace_id: Option<String>,
        task_id: Option<String>,
        trust_basis: Option<SourceTrustBasis>,
        taint_class: Option<TaintClass>,
        data_class: Option<DataClass>,
        matter_id: Option<String>,
        privileged: Option<bool>,
        verification_state: Option<VerificationState>,
        fresh_until: Option<Instant>,
        legal_payload: Option<LegalSourcePayload>,
        applicability_scopes: Option<Vec<ApplicabilityScope>>,
        domain_payload: Option<Json>,
        domain_payload_registry_ref: Option<DomainPayloadRegistryRef>,
        updated_at: Option<Instant>,
        policy_decision_refs: Option<Vec<PolicyEvaluationRef>>,
    }
}

record! {
    /// Tier-0 lookup, may never support a claim.
    EphemeralSourceLookupReceipt: receipt {
        receipt_id: String,
        query_id: Option<String>,
        tool_receipt_ref: StorageRef,
        source_title_or_label: Option<String>,
        lookup_purpose: String,
        may_support_downstream_claims: False,
        created_at: Instant,
        schema_version: V10,
    }
}

record! {
    /// Tier change.
    SourceTierTransitionReceipt: receipt {
        receipt_id: String,
        source_id: String,
        from_tier: SourceTier,
        to_tier: SourceTier,
        transition_reason: String,
        actor_ref: String,
        cleared_by_access_tier: Option<String>,
        created_at: Instant,
        schema_version: V10,
    }
}

words! {
    /// Whether a source was verified.
    VerificationState {
        Verified = "verified", Unverified = "unverified",
    }
}
