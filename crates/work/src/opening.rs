//! How a run begins: the policies it goes by, what is asked for, the sources there are.
//! Owns: these rows. Must not: look at the work.

use crate::board;
use crate::desk::{Desk, Error, reference};
use crate::names::{Policy, REVISOR, references};
use crate::outside;
use crate::revise::verifier_threshold;
use crate::task::{Criterion as Asked, Outcome, Task};
use crate::workspace;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_govern::derive::text;
use countersign_govern::formula::registry;
use countersign_govern::formula::spec::Spec;
use countersign_govern::table::emission;
use countersign_govern::types::added::criterion::{CriterionSemanticReviewReceipt, SemanticConclusion};
use countersign_govern::types::added::outcome::OutcomeRecord;
use countersign_govern::types::added::policy::{
    CapabilitySnapshot, CapabilityState, PolicyDecision, PolicyEvaluation, PolicySnapshot,
};
use countersign_govern::types::basic::{
    Criterion, CriterionPriority, OutcomeComplianceScoringConfig, ScoringBasis, StorageRef, True,
    UnanchoredPolicy, V10,
};
use countersign_govern::types::cascade::{
    OutcomeDependencyGraphPolicy, OutcomeDependencyGraphPolicyOnCycleDetected as OnCycle,
};
use countersign_govern::types::chain::{
    EvaluationChainKind, EvaluationChainResolutionPolicy,
    EvaluationChainResolutionPolicyRoutePrecedence as Precedence,
};
use countersign_govern::types::claim::{
    ClaimSupportDerivationPolicy, ClaimSupportDerivationPolicyContradictionRule as ContradictionRule,
    ClaimSupportDerivationPolicyRequiredForSupported as Required,
};
use countersign_govern::types::feedback::{
    FeedbackBranch, FeedbackEmissionMatrixEntry, FeedbackRoutingResolutionPolicy, RoutingFirePolicy,
};
use countersign_govern::types::outcome::OutcomeEvaluationState;
use countersign_govern::types::quality::CriterionIdentityFields;
use countersign_govern::types::sub_agent::{
    AllowedCoordinationPoint as Point, PlanVerifierRequirementPolicy,
    PlanVerifierRequirementPolicyOnUnavailable as OnUnavailable, SubAgentCoordinationProfile,
    SubAgentFallbackPolicy, SubAgentFallbackPolicyOnNoSubAgent as OnNoSubAgent,
};
use countersign_govern::types::sufficiency::{
    SufficiencyDetectionPolicy, SufficiencyDetectionPolicyProcedureUniverseScope as Universe,
};
use countersign_govern::types::taint::{
    TaintAggregationPolicy, TaintAggregationPolicyMatterScopeRule as MatterRule,
    TaintAggregationPolicyWorkspaceTaintRule as TaintRule,
};
use countersign_record::json::Number;

/// What a run is opened with.
pub struct Given<'a> {
    /// The texts of the sources, in the order of the task.
    pub sources: &'a [Vec<u8>],
    /// What can be done here.
    pub capabilities: &'a [CapabilityState],
}

/// Milliseconds within which a second delivery of the same feedback counts as the same.
const DUPLICATE_MS: u64 = 60_000;
/// Weights by priority, where a task weighs so.
const PRIORITY_WEIGHTS: [(CriterionPriority, u32); 3] = [
    (CriterionPriority::MustHave, 3),
    (CriterionPriority::ShouldHave, 2),
    (CriterionPriority::NiceToHave, 1),
];

/// Writes what a run begins with.
///
/// # Errors
/// Something can't be written.
pub fn open(desk: &mut Desk, given: &Given<'_>) -> Result<(), Error> {
    policies(desk)?;
    let decided_at = desk.now();
    desk.put(&PolicyEvaluation {
        policy_evaluation_id: desk.own("leave"),
        policy_id: desk.task().id.clone(),
        policy_version: "1.0".to_string(),
        decision: PolicyDecision::Allow,
        user_alterable: false,
        decided_at,
        superseded_by: None,
        schema_version: Some(V10),
    })?;
    snapshots(desk, given.capabilities)?;
    for outcome in desk.task().outcomes.clone() {
        asked(desk, &outcome)?;
    }
    let payload = workspace::payload_ref();
    desk.open_named("DomainPayloadRegistryRef", &desk.own("document-file"), &payload)?;
    for (source, text) in desk.task().sources.clone().iter().zip(given.sources) {
        workspace::take_in(desk, source, text)?;
    }
    Ok(())
}

fn policies(desk: &mut Desk) -> Result<(), Error> {
    let said = desk.task().policies();
    desk.put(&EvaluationChainResolutionPolicy {
        policy_id: desk.policy(Policy::Chain),
        chain_kind: EvaluationChainKind::PatternCEvaluatorThenJudge,
        qualitative_blockers_survive_numeric_pass: true,
        judge_can_override_evaluator: false,
        override_allowed_only_for_finding_states: Vec::new(),
        route_precedence: Precedence::BlockingQualitativeFirst,
        disagreement_route: said.disagreement(),
        schema_version: V10,
    })?;
    let claims = said.claims();
    desk.put(&ClaimSupportDerivationPolicy {
        policy_id: desk.policy(Policy::ClaimSupport),
        required_for_supported: Required {
            min_direct_supporting_anchors: claims.direct_min(),
            require_verified_source: claims.requires_verified(),
            allow_stale_source: claims.allow_stale.unwrap_or(false),
            // What weighs places against each other supports a claim that some speak against.
            allow_contradicting_anchor: claims.allow_contradicting.unwrap_or(false)
                || claims.contradiction() == ContradictionRule::WeightedByAuthority,
        },
        partial_support_rule: claims.partial(),
        contradiction_rule: claims.contradiction(),
        formula_ref: "formula_spec:claim_support_v1".to_string(),
        schema_version: V10,
    })?;
    desk.put(&TaintAggregationPolicy {
        policy_id: desk.policy(Policy::Taint),
        workspace_taint_rule: TaintRule::MaxTaint,
        any_privileged_record_marks_workspace_privileged: True,
        matter_scope_rule: MatterRule::MaxScopeWithinMatterOnly,
        schema_version: V10,
    })?;
    revision(desk)?;
    desk.put(&OutcomeDependencyGraphPolicy {
        policy_id: desk.policy(Policy::Graph),
        reject_declared_cycles: true,
        on_cycle_detected: OnCycle::HardCall,
        terminal_upstream_failure_cascades_immediately: true,
        pending_dependency_state_entry_rechecks_upstream_failure: true,
        schema_version: V10,
    })?;
    routing(desk)?;
    board::policy(desk)?;
    outside::policies(desk)?;
    emissions(desk)
}

/// When trying on makes no sense, by which number, and when a plan must be looked at before it is carried out.
fn revision(desk: &mut Desk) -> Result<(), Error> {
    let sufficiency = desk.task().policies().sufficiency();
    desk.put(&SufficiencyDetectionPolicy {
        policy_id: desk.policy(Policy::Sufficiency),
        min_attempts_before_no_improvement: sufficiency.attempts_min(),
        no_improvement_window: sufficiency.window(),
        improvement_metric_ref: "formula_spec:quality_index_v1".to_string(),
        epsilon: sufficiency.epsilon(),
        max_total_attempts: sufficiency.attempts_max(),
        procedure_universe_scope: Universe::DeclaredApplicable,
        require_capability_snapshot: True,
        require_policy_snapshot: True,
        require_attempt_signature_hash: True,
        schema_version: V10,
    })?;
    // The policy names it, so it stands where the policy does.
    if let Some(metric) = registry::find("quality_index_v1").and_then(Spec::record) {
        desk.put(&metric)?;
    }
    desk.put(&PlanVerifierRequirementPolicy {
        policy_id: desk.policy(Policy::PlanVerifier),
        required_when_plan_risk_score_gte: verifier_threshold(),
        required_for_external_side_effects: true,
        required_for_privileged_meaning_bearing_revisions: true,
        on_unavailable: OnUnavailable::HardCall,
        schema_version: V10,
    })?;
    desk.put(&SubAgentCoordinationProfile {
        profile_id: desk.own("sub-agents"),
        allowed_coordination_points: Vec::from([Point::PlanVerifier]),
        output_contract_refs: Vec::new(),
        fallback_policies: Vec::from([SubAgentFallbackPolicy {
            coordination_point: Point::PlanVerifier,
            on_no_sub_agent: OnNoSubAgent::UsePrimaryModule,
            schema_version: V10,
        }]),
        schema_version: V10,
    })?;
    Ok(())
}

fn routing(desk: &mut Desk) -> Result<(), Error> {
    use FeedbackBranch::{
        OnBlockedByPolicy, OnNeedsHumanJudgment, OnNeedsMoreSources, OnNeedsRevision,
        OnNeedsSourceVerification, OnRepeatedFailure, OnSatisfied, OnUnrecoverable, OnUpstreamFailure,
    };
    let order = [
        OnBlockedByPolicy,
        OnUnrecoverable,
        OnRepeatedFailure,
        OnUpstreamFailure,
        OnNeedsHumanJudgment,
        OnNeedsMoreSources,
        OnNeedsSourceVerification,
        OnNeedsRevision,
        OnSatisfied,
    ];
    let handler = reference("Module", REVISOR)?;
    let handlers: BTreeMap<_, _> =
        order.iter().map(|branch| (*branch, Vec::from([handler.clone()]))).collect();
    desk.put(&FeedbackRoutingResolutionPolicy {
        policy_id: desk.policy(Policy::Routing),
        branch_order: order.into(),
        branch_handlers: handlers,
        fire_policy: RoutingFirePolicy::AllMatchingWithIdempotency,
        duplicate_suppression_window_ms: DUPLICATE_MS,
        schema_version: V10,
    })?;
    Ok(())
}

/// What a row of the emission matrix of this run is called.
pub(crate) fn emission_id(desk: &Desk, producer: &str, verdict: &str) -> String {
    desk.own(&format!("emits.{producer}.{verdict}"))
}

/// The matrix as it is built in, written down so that a packet carries it.
fn emissions(desk: &mut Desk) -> Result<(), Error> {
    for row in emission::matrix() {
        let id = emission_id(desk, row.producer.as_str(), row.verdict.as_str());
        desk.put_named(
            &id,
            &FeedbackEmissionMatrixEntry {
                producer_kind: row.producer,
                verdict: row.verdict,
                emits_envelope: row.emits_envelope,
                emits_feedback_bundle: row.bundle,
            },
        )?;
    }
    Ok(())
}

/// Where sources disagree, the one that a person gave more authority counts from now on.
///
/// # Errors
/// Something can't be written.
pub(crate) fn weigh_by_authority(desk: &mut Desk) -> Result<(), Error> {
    let id = desk.policy(Policy::ClaimSupport);
    let policy: ClaimSupportDerivationPolicy =
        desk.find("ClaimSupportDerivationPolicy", &id).ok_or(Error::Missing(id))?;
    let required = Required { allow_contradicting_anchor: true, ..policy.required_for_supported.clone() };
    desk.put(&ClaimSupportDerivationPolicy {
        required_for_supported: required,
        contradiction_rule: ContradictionRule::WeightedByAuthority,
        ..policy
    })?;
    frozen(desk)
}

/// The policies as they are now.
fn frozen(desk: &mut Desk) -> Result<(), Error> {
    use Policy::{Board, Chain, ClaimSupport, Graph, PlanVerifier, Routing, Sufficiency, Taint};
    let all = [Chain, ClaimSupport, Taint, Sufficiency, PlanVerifier, Graph, Routing, Board];
    let policy_refs = all.iter().map(|policy| desk.policy_ref(*policy)).collect::<Result<Vec<_>, _>>()?;
    let (snapshot_id, created_at) = (desk.id("policies"), desk.now());
    desk.put(&PolicySnapshot { snapshot_id, policy_refs, created_at, schema_version: Some(V10) })?;
    Ok(())
}

fn snapshots(desk: &mut Desk, capabilities: &[CapabilityState]) -> Result<(), Error> {
    frozen(desk)?;
    let (snapshot_id, created_at) = (desk.own("capabilities"), desk.now());
    let capabilities = capabilities.to_vec();
    desk.put(&CapabilitySnapshot { snapshot_id, capabilities, created_at, schema_version: Some(V10) })?;
    Ok(())
}

/// What is asked of an outcome.
fn asked(desk: &mut Desk, outcome: &Outcome) -> Result<(), Error> {
    let config_id = desk.own(&format!("{}.scoring", outcome.id));
    for criterion in &outcome.criteria {
        weighed(desk, outcome, criterion)?;
        worded(desk, criterion, FIRST, None)?;
    }
    let ids: Vec<String> = outcome.criteria.iter().map(|one| desk.own(&one.id)).collect();
    desk.put(&OutcomeComplianceScoringConfig {
        config_id: Some(config_id),
        unanchored_llm_judgment_policy: counted(outcome),
        default_weight_policy: outcome.weights(),
        priority_weight_map: PRIORITY_WEIGHTS
            .iter()
            .map(|(word, weight)| (*word, Number::from(*weight)))
            .collect(),
        positive_observation_required: true,
        criterion_refs: Some(references("Criterion", ids.iter().map(String::as_str))?),
        outcome_id: Some(desk.own(&outcome.id)),
        schema_version: Some(V10),
    })?;
    let record = OutcomeRecord {
        outcome_id: desk.own(&outcome.id),
        run_id: desk.run().to_string(),
        task_id: desk.task().id.clone(),
        depends_on_outcome_ids: outcome.depends_on().iter().map(|other| desk.own(other)).collect(),
        required: (!outcome.is_required()).then_some(false),
        state: OutcomeEvaluationState::Pending,
        schema_version: Some(V10),
    };
    desk.open("OutcomeRecord", &record)?;
    Ok(())
}

/// A person answers for what rests on nothing: it counts from now on.
///
/// # Errors
/// The outcome has no scoring, or it can't be written.
pub(crate) fn count_unanchored(desk: &mut Desk, outcome: &Outcome) -> Result<(), Error> {
    let id = desk.own(&format!("{}.scoring", outcome.id));
    let config: OutcomeComplianceScoringConfig =
        desk.find("OutcomeComplianceScoringConfig", &id).ok_or(Error::Missing(id))?;
    match outcome.unanchored() {
        UnanchoredPolicy::Indeterminate => {
            let unanchored_llm_judgment_policy = UnanchoredPolicy::IncludeWithAuditFlag;
            desk.put(&OutcomeComplianceScoringConfig { unanchored_llm_judgment_policy, ..config })?;
        }
        UnanchoredPolicy::Exclude | UnanchoredPolicy::IncludeWithAuditFlag => {}
    }
    Ok(())
}

/// What counts of judgments that rest on nothing. Where a person is to answer for them they are left out until then, unless nothing
/// else that counts would be left.
fn counted(outcome: &Outcome) -> UnanchoredPolicy {
    let counts = |one: &Asked| one.basis != ScoringBasis::UnanchoredLlmJudgment && outcome.counts(one);
    let has_others = outcome.criteria.iter().any(counts);
    match (outcome.unanchored(), has_others) {
        (UnanchoredPolicy::Indeterminate, true) => UnanchoredPolicy::Exclude,
        (UnanchoredPolicy::Indeterminate, false) => UnanchoredPolicy::IncludeWithAuditFlag,
        (said @ (UnanchoredPolicy::Exclude | UnanchoredPolicy::IncludeWithAuditFlag), _) => said,
    }
}

/// What a criterion counts for.
fn weighed(desk: &mut Desk, outcome: &Outcome, criterion: &Asked) -> Result<(), Error> {
    desk.put(&Criterion {
        criterion_id: desk.own(&criterion.id),
        scoring_basis: criterion.basis,
        weight: Some(criterion.weight()),
        priority: Some(criterion.priority()),
        required: criterion.is_required(),
        threshold: Some(criterion.threshold()),
        config_id: Some(desk.own(&format!("{}.scoring", outcome.id))),
        schema_version: Some(V10),
    })?;
    Ok(())
}

/// The version of what a criterion means, at first.
const FIRST: u64 = 1;

/// What a criterion asks for, so that a change of its words is seen.
fn worded(
    desk: &mut Desk,
    criterion: &Asked,
    version: u64,
    reviewed: Option<StorageRef>,
) -> Result<(), Error> {
    desk.put(&CriterionIdentityFields {
        criterion_id: desk.own(&criterion.id),
        criterion_text_hash: String::from(text::hash(&criterion.text)),
        criterion_semantics_version: version.to_string(),
        semantic_review_receipt_ref: reviewed,
        schema_version: V10,
    })?;
    Ok(())
}

/// A person changed what is asked: criteria count as they are now, and who changed their words says that they mean something else.
///
/// # Errors
/// Something can't be written.
pub(crate) fn amend(desk: &mut Desk, before: &Task, by: &StorageRef) -> Result<(), Error> {
    let now = desk.task().clone();
    for (outcome, was) in now.outcomes.iter().zip(&before.outcomes) {
        for (criterion, was) in outcome.criteria.iter().zip(&was.criteria) {
            if criterion != was {
                weighed(desk, outcome, criterion)?;
            }
            if criterion.text != was.text {
                reworded(desk, criterion, was, by)?;
            }
        }
    }
    Ok(())
}

fn reworded(desk: &mut Desk, criterion: &Asked, was: &Asked, by: &StorageRef) -> Result<(), Error> {
    let criterion_id = desk.own(&criterion.id);
    let identities = desk.all::<CriterionIdentityFields>();
    let versions = identities.filter(|one| one.criterion_id == criterion_id).count() as u64;
    let receipt = desk.put(&CriterionSemanticReviewReceipt {
        receipt_id: desk.id("reworded"),
        criterion_id,
        from_text_hash: String::from(text::hash(&was.text)),
        to_text_hash: String::from(text::hash(&criterion.text)),
        conclusion: SemanticConclusion::MeaningChanged,
        reviewer_ref: by.clone(),
        created_at: desk.now(),
        schema_version: Some(V10),
    })?;
    worded(desk, criterion, versions + 1, Some(receipt))
}
