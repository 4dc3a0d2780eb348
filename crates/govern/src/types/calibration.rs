//! Calibration: the types of the contract.
//! Owns: their members and words. Must not: judge.

use super::basic::{Duration, Instant, StorageRef, V10};
use super::wire::{OrNull, record, words};
use alloc::string::String;
use countersign_record::json::Number;

words! {
    /// Metric id of CalibrationMetricSpec.
    CalibrationMetricSpecMetricId {
        PlannerConfidenceBrierScore = "planner_confidence_brier_score",
        PlannerConfidenceExpectedCalibrationError = "planner_confidence_expected_calibration_error",
        NoveltyThresholdPrecisionRecall = "novelty_threshold_precision_recall",
        NoveltyThresholdAuc = "novelty_threshold_auc",
        ConfidenceConvergenceSpearman = "confidence_convergence_spearman",
    }
}

words! {
    /// Observed outcome encoding of CalibrationMetricSpec.
    CalibrationMetricSpecObservedOutcomeEncoding {
        BinarySuccess = "binary_success", TimeToEvent = "time_to_event", Ordinal = "ordinal",
        ContinuousDelta = "continuous_delta",
    }
}

words! {
    /// The only insufficient sample result of CalibrationMetricSpecSamplePolicy.
    CalibrationMetricSpecSamplePolicyInsufficientSampleResult {
        Indeterminate = "indeterminate",
    }
}

record! {
    /// Part of CalibrationMetricSpec.
    CalibrationMetricSpecSamplePolicy: value {
        min_sample_size: u64,
        insufficient_sample_result: CalibrationMetricSpecSamplePolicyInsufficientSampleResult,
    }
}

words! {
    /// Binning method of CalibrationMetricSpecBinningPolicy.
    CalibrationMetricSpecBinningPolicyBinningMethod {
        EqualWidth = "equal_width", EqualFrequency = "equal_frequency",
    }
}

record! {
    /// Part of CalibrationMetricSpec.
    CalibrationMetricSpecBinningPolicy: value {
        bin_count: u64,
        binning_method: CalibrationMetricSpecBinningPolicyBinningMethod,
    }
}

words! {
    /// Right censored handling of CalibrationMetricSpecCensoringPolicy.
    CalibrationMetricSpecCensoringPolicyRightCensoredHandling {
        Exclude = "exclude", SurvivalModel = "survival_model",
        CountAsNonConvergedAfterWindow = "count_as_non_converged_after_window",
    }
}

record! {
    /// Part of CalibrationMetricSpec.
    CalibrationMetricSpecCensoringPolicy: value {
        right_censored_allowed: bool,
        right_censored_handling: CalibrationMetricSpecCensoringPolicyRightCensoredHandling,
        observation_window: Duration,
    }
}

record! {
    /// A calibration metric.
    CalibrationMetricSpec: policy {
        metric_id: CalibrationMetricSpecMetricId,
        predicted_value_field: String,
        observed_outcome_field: String,
        observed_outcome_encoding: CalibrationMetricSpecObservedOutcomeEncoding,
        sample_policy: CalibrationMetricSpecSamplePolicy,
        binning_policy: Option<CalibrationMetricSpecBinningPolicy>,
        censoring_policy: Option<CalibrationMetricSpecCensoringPolicy>,
        formula_ref: String,
        schema_version: V10,
    }
}

words! {
    /// Indeterminate reason of CalibrationMetricResult.
    CalibrationMetricResultIndeterminateReason {
        InsufficientSample = "insufficient_sample", InvalidInputs = "invalid_inputs",
        AllOneClass = "all_one_class",
    }
}

record! {
    /// Its value or why there is none.
    CalibrationMetricResult: read_model {
        result_id: String,
        metric_spec_ref: String,
        metric_value: OrNull<Number>,
        indeterminate_reason: Option<CalibrationMetricResultIndeterminateReason>,
        sample_size: u64,
        positive_count: Option<u64>,
        negative_count: Option<u64>,
        confidence_interval: Option<(Number, Number)>,
        formula_eval_receipt_ref: StorageRef,
        created_at: Instant,
        schema_version: V10,
    }
}
