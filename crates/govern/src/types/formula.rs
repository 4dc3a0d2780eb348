//! Formulas and metrics: the types of the contract.
//! Owns: their members and words. Must not: judge.

use super::basic::{DataClass, DateRange, Instant, IntervalLevel, OwnerDoc, SchemaRef, StorageRef, V10};
use super::cost::CostCorrelationPolicy;
use super::wire::{record, words};
use alloc::string::String;
use alloc::vec::Vec;
use countersign_record::json::Number;

words! {
    /// Finite number check of FormulaEvaluationReceipt.
    FormulaEvaluationReceiptFiniteNumberCheck {
        Passed = "passed", FailedNan = "failed_nan", FailedInfinity = "failed_infinity",
        CoercedToIndeterminate = "coerced_to_indeterminate",
    }
}

record! {
    /// Proof of one computation: formula version, input hashes, output hash, policies applied, finite check.
    FormulaEvaluationReceipt: receipt {
        receipt_id: String,
        formula_id: String,
        formula_semantic_version: String,
        producer_ref: String,
        task_id: Option<String>,
        run_id: Option<String>,
        input_refs: Vec<StorageRef>,
        input_manifest_hash: String,
        input_value_hash: String,
        output_ref: StorageRef,
        output_value_hash: String,
        omitted_input_names: Vec<String>,
        missing_input_policy_applied: Option<MissingInputPolicy>,
        zero_denominator_policy_applied: Option<ZeroDenominatorPolicy>,
        finite_number_check: FormulaEvaluationReceiptFiniteNumberCheck,
        validation_codes: Vec<String>,
        computed_at: Instant,
        schema_version: V10,
        correlation_policy: Option<CostCorrelationPolicy>,
    }
}

words! {
    /// Unit of a formula input/output.
    NumericUnit {
        Unitless = "unitless", Ratio = "ratio", Probability = "probability", Score01 = "score_0_1",
        Count = "count", Tokens = "tokens", Usd = "usd", Milliseconds = "milliseconds",
        Seconds = "seconds", Percent = "percent", Custom = "custom",
    }
}

words! {
    /// Kind of the value.
    MetricValueKind {
        Count = "count", Ratio = "ratio", Mean = "mean", Median = "median", Quantile = "quantile",
        CalibratedScore = "calibrated_score", Correlation = "correlation", Distribution = "distribution",
        CostVector = "cost_vector", BooleanDerived = "boolean_derived", EnumDerived = "enum_derived",
    }
}

words! {
    /// What happens when an input is missing.
    MissingInputPolicy {
        FailValidation = "fail_validation", ReturnIndeterminate = "return_indeterminate",
        ExcludeWithRecordedOmission = "exclude_with_recorded_omission",
        DefaultValueWithAudit = "default_value_with_audit", BlockComputation = "block_computation",
    }
}

words! {
    /// What happens on x/0.
    ZeroDenominatorPolicy {
        ReturnIndeterminateInsufficientData = "return_indeterminate_insufficient_data",
        ReturnZero = "return_zero", ReturnOne = "return_one", FailValidation = "fail_validation",
    }
}

words! {
    /// What happens on NaN/Infinity.
    FiniteNumberPolicy {
        RejectNanInfinity = "reject_nan_infinity", CoerceToIndeterminate = "coerce_to_indeterminate",
        AllowOnlyInTestFixture = "allow_only_in_test_fixture",
    }
}

record! {
    /// One declared input.
    FormulaInputSpec: policy {
        name: String,
        type_ref: SchemaRef,
        required: bool,
        allowed_units: Option<Vec<NumericUnit>>,
        allowed_range: Option<(Number, Number)>,
        missing_input_policy_override: Option<MissingInputPolicy>,
    }
}

record! {
    /// Declared output.
    FormulaOutputSpec: policy {
        value_kind: MetricValueKind,
        unit: NumericUnit,
        range: Option<(Number, Number)>,
        higher_is_better: Option<bool>,
        finite_number_policy: FiniteNumberPolicy,
    }
}

record! {
    /// Executable example of a formula.
    FormulaTestVector: policy {
        test_vector_id: String,
        input_ref: StorageRef,
        expected_output_ref: StorageRef,
        expected_validation_codes: Vec<String>,
        schema_version: V10,
        missing_input_policy_applied: Option<MissingInputPolicy>,
        zero_denominator_policy_applied: Option<ZeroDenominatorPolicy>,
    }
}

words! {
    /// Expression language of FormulaSpec.
    FormulaSpecExpressionLanguage {
        DeterministicTypescript = "deterministic_typescript", SqlReadModel = "sql_read_model",
        DeclarativeMetricDsl = "declarative_metric_dsl", HumanReviewRequired = "human_review_required",
    }
}

words! {
    /// Rounding policy of FormulaSpec.
    FormulaSpecRoundingPolicy {
        NoRoundingStoreFullPrecision = "no_rounding_store_full_precision",
        RoundDisplayOnly = "round_display_only", RoundTo6DecimalPlaces = "round_to_6_decimal_places",
    }
}

words! {
    /// Insufficient sample result of FormulaSpecSamplePolicy.
    FormulaSpecSamplePolicyInsufficientSampleResult {
        Indeterminate = "indeterminate", EmitWithLowConfidence = "emit_with_low_confidence",
    }
}

record! {
    /// Part of FormulaSpec.
    FormulaSpecSamplePolicy: value {
        min_sample_size: u64,
        insufficient_sample_result: FormulaSpecSamplePolicyInsufficientSampleResult,
        window_required: bool,
    }
}

words! {
    /// Method of FormulaSpecConfidenceIntervalPolicy.
    FormulaSpecConfidenceIntervalPolicyMethod {
        Wilson = "wilson", Bootstrap = "bootstrap", NormalApproximation = "normal_approximation",
        BayesianBeta = "bayesian_beta", NotApplicable = "not_applicable",
    }
}

record! {
    /// Part of FormulaSpec.
    FormulaSpecConfidenceIntervalPolicy: value {
        required: bool,
        interval_level: IntervalLevel,
        method: FormulaSpecConfidenceIntervalPolicyMethod,
    }
}

record! {
    /// Registry row of a formula.
    FormulaSpec: policy {
        formula_id: String,
        owner_doc: OwnerDoc,
        semantic_version: String,
        purpose: String,
        expression_ref: StorageRef,
        expression_language: FormulaSpecExpressionLanguage,
        inputs: Vec<FormulaInputSpec>,
        output: FormulaOutputSpec,
        missing_input_policy: MissingInputPolicy,
        zero_denominator_policy: Option<ZeroDenominatorPolicy>,
        rounding_policy: FormulaSpecRoundingPolicy,
        sample_policy: Option<FormulaSpecSamplePolicy>,
        confidence_interval_policy: Option<FormulaSpecConfidenceIntervalPolicy>,
        test_vectors: Vec<FormulaTestVector>,
        schema_version: V10,
        deprecated_at: Option<Instant>,
    }
}

record! {
    /// One observed metric value with its receipt.
    MetricObservation: event {
        observation_id: String,
        metric_id: String,
        formula_eval_receipt_ref: StorageRef,
        subject_ref: StorageRef,
        observed_at: Instant,
        value_ref: StorageRef,
        data_class: DataClass,
        matter_id: Option<String>,
        schema_version: V10,
    }
}

words! {
    /// Exclusion reason of MetricRollupExcludedObservationRef.
    MetricRollupExcludedObservationRefExclusionReason {
        OutsideWindow = "outside_window", WrongSubjectScope = "wrong_subject_scope",
        RightCensored = "right_censored", PolicyFiltered = "policy_filtered", Duplicate = "duplicate",
        Invalidated = "invalidated",
    }
}

record! {
    /// Part of MetricRollup.
    MetricRollupExcludedObservationRef: value {
        observation_ref: StorageRef,
        exclusion_reason: MetricRollupExcludedObservationRefExclusionReason,
    }
}

record! {
    /// Aggregate over observations in a window, with the exclusions named.
    MetricRollup: read_model {
        rollup_id: String,
        metric_id: String,
        subject_scope_ref: StorageRef,
        measurement_window: DateRange,
        included_observation_refs: Vec<StorageRef>,
        excluded_observation_refs: Vec<MetricRollupExcludedObservationRef>,
        formula_eval_receipt_ref: StorageRef,
        sample_size: u64,
        value_ref: StorageRef,
        confidence_interval: Option<(Number, Number)>,
        confidence_interval_level: Option<IntervalLevel>,
        created_at: Instant,
        schema_version: V10,
    }
}
