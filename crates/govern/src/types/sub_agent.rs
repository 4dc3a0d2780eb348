//! Sub-agents: the types of the contract.
//! Owns: their members and words. Must not: judge.

use super::basic::{StorageRef, V10};
use super::wire::{record, words};
use alloc::string::String;
use alloc::vec::Vec;
use countersign_record::json::Number;

words! {
    /// Where sub-agents may work.
    AllowedCoordinationPoint {
        SourceResearch = "source_research", Evaluation = "evaluation",
        RevisionPlanning = "revision_planning", FormatReview = "format_review",
        PlanVerifier = "plan_verifier",
    }
}

words! {
    /// On no sub agent of SubAgentFallbackPolicy.
    SubAgentFallbackPolicyOnNoSubAgent {
        UsePrimaryModule = "use_primary_module", SkipWithWarning = "skip_with_warning",
        HardCall = "hard_call", DegradeQualityWithNote = "degrade_quality_with_note",
    }
}

record! {
    /// Without sub-agent at a point.
    SubAgentFallbackPolicy: policy {
        coordination_point: AllowedCoordinationPoint,
        on_no_sub_agent: SubAgentFallbackPolicyOnNoSubAgent,
        schema_version: V10,
    }
}

record! {
    /// Points, contracts, fallbacks.
    SubAgentCoordinationProfile: policy {
        profile_id: String,
        allowed_coordination_points: Vec<AllowedCoordinationPoint>,
        output_contract_refs: Vec<StorageRef>,
        fallback_policies: Vec<SubAgentFallbackPolicy>,
        schema_version: V10,
    }
}

words! {
    /// On unavailable of PlanVerifierRequirementPolicy.
    PlanVerifierRequirementPolicyOnUnavailable {
        HardCall = "hard_call", Pause = "pause", DegradeWithUserNotice = "degrade_with_user_notice",
    }
}

record! {
    /// When a plan must be verified.
    PlanVerifierRequirementPolicy: policy {
        policy_id: String,
        required_when_plan_risk_score_gte: Number,
        required_for_external_side_effects: bool,
        required_for_privileged_meaning_bearing_revisions: bool,
        on_unavailable: PlanVerifierRequirementPolicyOnUnavailable,
        schema_version: V10,
    }
}
