//! Evaluation results and chains: the types of the contract.
//! Owns: their members and words. Must not: judge.

use super::basic::{
    ArtifactScopeRef, EvaluatedTarget, EvaluationBasis, EvaluationRouteRecommendation, Instant, ProducerKind,
    StorageRef, V10,
};
use super::finding::FindingState;
use super::outcome::{EvaluationDecision, EvaluationVerdict};
use super::wire::{OrNull, record, words};
use alloc::string::String;
use alloc::vec::Vec;

record! {
    /// Emitted evaluation result.
    EvaluationResultEnvelope: event {
        result_id: String,
        producer_kind: ProducerKind,
        outcome_id: String,
        run_id: String,
        evaluated_target: EvaluatedTarget,
        evaluation_basis: EvaluationBasis,
        target_artifact_ref: OrNull<StorageRef>,
        target_artifact_version_ref: OrNull<StorageRef>,
        target_scope_ref: OrNull<ArtifactScopeRef>,
        target_evaluation_chain_id: Option<String>,
        evaluation_snapshot_ref: StorageRef,
        route_recommendation: EvaluationRouteRecommendation,
        schema_version: String,
        decision: Option<EvaluationDecision>,
    }
}

words! {
    /// Pattern_c / experiment / multi-producer.
    EvaluationChainKind {
        PatternCEvaluatorThenJudge = "pattern_c_evaluator_then_judge",
        ExperimentInternal = "experiment_internal", MultiProducer = "multi_producer",
    }
}

words! {
    /// Chain lifecycle.
    EvaluationChainStatus {
        Open = "open", Partial = "partial", Complete = "complete", TimedOut = "timed_out",
        Superseded = "superseded", Invalidated = "invalidated",
    }
}

words! {
    /// Role of EvaluationChainRegistryRecordParticipantRole.
    EvaluationChainRegistryRecordParticipantRoleRole {
        UpstreamEvaluator = "upstream_evaluator", DownstreamJudge = "downstream_judge",
        ParallelScorer = "parallel_scorer", Observer = "observer",
    }
}

record! {
    /// Part of EvaluationChainRegistryRecord.
    EvaluationChainRegistryRecordParticipantRole: value {
        producer_kind: ProducerKind,
        producer_module_id: String,
        role: EvaluationChainRegistryRecordParticipantRoleRole,
        required: bool,
    }
}

words! {
    /// Validation failures of EvaluationChainRegistryRecord.
    EvaluationChainRegistryRecordValidationFailures {
        ChainIdMissing = "chain_id_missing", ChainTargetMismatch = "chain_target_mismatch",
        ChainStaleSnapshot = "chain_stale_snapshot", ChainAmbiguous = "chain_ambiguous",
        ChainConsumerTimeout = "chain_consumer_timeout",
        MissingExpectedProducer = "missing_expected_producer",
    }
}

record! {
    /// Who is expected, who answered.
    EvaluationChainRegistryRecord: projection {
        chain_id: String,
        chain_kind: EvaluationChainKind,
        task_id: String,
        run_id: String,
        target_artifact_ref: OrNull<StorageRef>,
        target_artifact_version_ref: OrNull<StorageRef>,
        target_scope_ref: OrNull<ArtifactScopeRef>,
        evaluation_snapshot_ref: StorageRef,
        expected_producers: Vec<ProducerKind>,
        received_result_ids: Vec<String>,
        participant_roles: Vec<EvaluationChainRegistryRecordParticipantRole>,
        status: EvaluationChainStatus,
        timeout_at: Option<Instant>,
        created_at: Instant,
        completed_at: Option<Instant>,
        superseded_by_chain_id: Option<String>,
        validation_failures: Vec<EvaluationChainRegistryRecordValidationFailures>,
        schema_version: V10,
    }
}

words! {
    /// Route precedence of EvaluationChainResolutionPolicy.
    EvaluationChainResolutionPolicyRoutePrecedence {
        BlockingQualitativeFirst = "blocking_qualitative_first",
        JudgeQuantitativeFirst = "judge_quantitative_first", HumanIfDisagreement = "human_if_disagreement",
    }
}

words! {
    /// Disagreement route of EvaluationChainResolutionPolicy.
    EvaluationChainResolutionPolicyDisagreementRoute {
        HumanReview = "human_review", TaskAgentAssessment = "task_agent_assessment",
        BlockUntilResolved = "block_until_resolved", PreferBlocking = "prefer_blocking",
    }
}

record! {
    /// How conflicts are resolved.
    EvaluationChainResolutionPolicy: policy {
        policy_id: String,
        chain_kind: EvaluationChainKind,
        qualitative_blockers_survive_numeric_pass: bool,
        judge_can_override_evaluator: bool,
        override_allowed_only_for_finding_states: Vec<FindingState>,
        route_precedence: EvaluationChainResolutionPolicyRoutePrecedence,
        disagreement_route: EvaluationChainResolutionPolicyDisagreementRoute,
        schema_version: V10,
    }
}

words! {
    /// Resolved route of EvaluationChainResolutionReceipt.
    EvaluationChainResolutionReceiptResolvedRoute {
        PassPath = "pass_path", FailPath = "fail_path", HumanReviewPath = "human_review_path",
        RetryPath = "retry_path", BlockUntilResolved = "block_until_resolved",
    }
}

words! {
    /// Conflict type of EvaluationChainResolutionReceipt.
    EvaluationChainResolutionReceiptConflictType {
        None = "none", QualitativeFailQuantitativePass = "qualitative_fail_quantitative_pass",
        QualitativePassQuantitativeFail = "qualitative_pass_quantitative_fail",
        IndeterminateMismatch = "indeterminate_mismatch",
        MissingExpectedProducer = "missing_expected_producer", SnapshotMismatch = "snapshot_mismatch",
    }
}

record! {
    /// The resolved verdict and route, with the conflict type.
    EvaluationChainResolutionReceipt: receipt {
        receipt_id: String,
        chain_id: String,
        chain_kind: EvaluationChainKind,
        result_ids_considered: Vec<String>,
        resolved_verdict: EvaluationVerdict,
        resolved_route: EvaluationChainResolutionReceiptResolvedRoute,
        decisive_result_id: Option<String>,
        qualitative_blockers_preserved: bool,
        quantitative_pass_overridden_by_blocker: bool,
        conflict_type: Option<EvaluationChainResolutionReceiptConflictType>,
        policy_ref: String,
        explanation: String,
        created_at: Instant,
        schema_version: V10,
    }
}
