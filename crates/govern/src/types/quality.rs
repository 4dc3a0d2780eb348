//! Quality and criteria: the types of the contract.
//! Owns: their members and words. Must not: judge.

use super::basic::{
    DateRange, Instant, IntervalLevel, RegressionSeverity, StorageRef, SubAgentRef, UnitRange, V10, V11,
};
use super::formula::ZeroDenominatorPolicy;
use super::wire::{OrNull, record, words};
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use countersign_record::json::Number;

words! {
    /// Aggregation method of QualityIndex.
    QualityIndexAggregationMethod {
        AllRequiredThenWeightedMean = "all_required_then_weighted_mean", WeightedMean = "weighted_mean",
        MinRequiredScore = "min_required_score", AllOrNothing = "all_or_nothing",
    }
}

words! {
    /// Missing dimension policy of QualityIndex.
    QualityIndexMissingDimensionPolicy {
        FailRequired = "fail_required", ExcludeOptionalWithPenalty = "exclude_optional_with_penalty",
        Indeterminate = "indeterminate",
    }
}

words! {
    /// Derived pass status of QualityIndex.
    QualityIndexDerivedPassStatus {
        Passed = "passed", FailedThreshold = "failed_threshold",
        FailedRequiredGate = "failed_required_gate", Indeterminate = "indeterminate",
    }
}

record! {
    /// Aggregate score and derived pass status.
    QualityIndex: read_model {
        aggregate_score: Number,
        pass_threshold: Number,
        required_gate_failures: Vec<String>,
        aggregation_method: QualityIndexAggregationMethod,
        missing_dimension_policy: QualityIndexMissingDimensionPolicy,
        derived_pass_status: QualityIndexDerivedPassStatus,
        formula_eval_receipt_ref: StorageRef,
        metric_semantics_version: String,
        schema_version: V11,
    }
}

words! {
    /// How an outcome’s revision cycles ended.
    OutcomeCycleTerminalClass {
        Succeeded = "succeeded", FailedUnrecoverable = "failed_unrecoverable",
        MaxIterationsReached = "max_iterations_reached", BlockedByPolicy = "blocked_by_policy",
        NeedsHumanJudgment = "needs_human_judgment", NeedsInformation = "needs_information",
        CancelledByUser = "cancelled_by_user", StillOpenRightCensored = "still_open_right_censored",
    }
}

record! {
    /// Cycles of one outcome, possibly right-censored.
    RevisionCycleOutcomeObservation: event {
        observation_id: String,
        outcome_id: String,
        run_id: String,
        cycle_count: u64,
        terminal_class: OutcomeCycleTerminalClass,
        terminal_state_ref: Option<StorageRef>,
        right_censored_at: Option<Instant>,
        observation_window: DateRange,
        cost_vector_ref: Option<StorageRef>,
        formula_eval_receipt_ref: Option<StorageRef>,
        schema_version: V10,
    }
}

record! {
    /// Efficiency over a window.
    RevisionCycleEfficiencyRollup: read_model {
        rollup_id: String,
        measurement_window: DateRange,
        avg_cycles_to_success: Option<Number>,
        wasted_cycle_burn_rate: Option<Number>,
        right_censored_rate: Number,
        max_iterations_rate: Number,
        included_observation_refs: Vec<StorageRef>,
        formula_eval_receipt_ref: StorageRef,
        schema_version: V10,
    }
}

record! {
    /// Regressions weighted 1/2/5.
    SeverityWeightedRegressionRate: read_model {
        accepted_count: u64,
        regression_introduced_count: u64,
        severity_breakdown: BTreeMap<RegressionSeverity, Number>,
        severity_weights: BTreeMap<RegressionSeverity, Number>,
        unweighted_regression_rate: OrNull<Number>,
        severity_weighted_penalty_rate: OrNull<Number>,
        zero_denominator_policy: ZeroDenominatorPolicy,
        formula_eval_receipt_ref: StorageRef,
        schema_version: V10,
    }
}

words! {
    /// The only formula id of SubAgentReputationFormulaConfig.
    SubAgentReputationFormulaConfigFormulaId {
        SubAgentReputationScoreV1 = "sub_agent_reputation_score_v1",
    }
}

record! {
    /// Part of SubAgentReputationFormulaConfig.
    SubAgentReputationFormulaConfigWeights: value {
        hit_rate: Number,
        attribution_lift: Number,
        inverse_regression_penalty: Number,
        inverse_cost_penalty: Number,
        false_negative_penalty: Number,
        false_positive_penalty: Number,
    }
}

words! {
    /// Confidence interval method of SubAgentReputationFormulaConfig.
    SubAgentReputationFormulaConfigConfidenceIntervalMethod {
        Wilson = "wilson", BayesianBeta = "bayesian_beta", Bootstrap = "bootstrap",
    }
}

record! {
    /// Weights, multiplier, minimum sample.
    SubAgentReputationFormulaConfig: policy {
        formula_id: SubAgentReputationFormulaConfigFormulaId,
        weights: SubAgentReputationFormulaConfigWeights,
        false_negative_weight_multiplier: Number,
        min_invocation_count: u64,
        confidence_interval_method: SubAgentReputationFormulaConfigConfidenceIntervalMethod,
        output_range: UnitRange,
        schema_version: V10,
    }
}

words! {
    /// Score status of SubAgentReputationScore.
    SubAgentReputationScoreScoreStatus {
        Computed = "computed", InsufficientSample = "insufficient_sample",
        QuarantinedByPolicy = "quarantined_by_policy",
    }
}

record! {
    /// Part of SubAgentReputationScore.
    SubAgentReputationScoreComponentScores: value {
        hit_rate_score: Option<Number>,
        attribution_lift_score: Option<Number>,
        regression_penalty_score: Option<Number>,
        cost_penalty_score: Option<Number>,
        false_negative_penalty_score: Option<Number>,
        false_positive_penalty_score: Option<Number>,
    }
}

record! {
    /// Score or the reason there is none.
    SubAgentReputationScore: read_model {
        sub_agent_ref: SubAgentRef,
        current_score: OrNull<Number>,
        score_status: SubAgentReputationScoreScoreStatus,
        component_scores: SubAgentReputationScoreComponentScores,
        formula_config_ref: StorageRef,
        formula_eval_receipt_ref: StorageRef,
        sample_size: u64,
        confidence_interval: Option<(Number, Number)>,
        confidence_interval_level: Option<IntervalLevel>,
        schema_version: V10,
    }
}

record! {
    /// Lexical hash versus reviewed meaning version.
    CriterionIdentityFields: event {
        criterion_id: String,
        criterion_text_hash: String,
        criterion_semantics_version: String,
        semantic_review_receipt_ref: Option<StorageRef>,
        schema_version: V10,
    }
}
