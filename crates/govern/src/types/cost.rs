//! Costs: the types of the contract.
//! Owns: their members and words. Must not: judge.

use super::basic::{DateRange, EstimatorConfidence, Instant, StorageRef, V10, V11};
use super::wire::{record, words};
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use countersign_record::json::Number;

words! {
    /// 11 dimensions.
    CostDimension {
        Usd = "usd", InputTokens = "input_tokens", OutputTokens = "output_tokens",
        CachedInputTokens = "cached_input_tokens", CacheWriteTokens = "cache_write_tokens",
        LocalComputeSeconds = "local_compute_seconds", WallClockMs = "wall_clock_ms",
        ExternalApiCalls = "external_api_calls", ExternalApiUsd = "external_api_usd",
        StorageBytes = "storage_bytes", HumanReviewMinutes = "human_review_minutes",
    }
}

record! {
    /// Expected and quantiles of one dimension.
    CostDistribution: value {
        expected: Number,
        p50: Option<Number>,
        p90: Option<Number>,
        p99: Option<Number>,
        hard_cap: Option<Number>,
        unit: CostDimension,
    }
}

words! {
    /// Basis of CostVector.
    CostVectorBasis {
        Historical = "historical", ModelPriced = "model_priced", ProviderQuote = "provider_quote",
        Heuristic = "heuristic", MeasuredActual = "measured_actual",
    }
}

record! {
    /// Multidimensional cost.
    CostVector: event {
        cost_vector_id: String,
        components: BTreeMap<CostDimension, CostDistribution>,
        basis: CostVectorBasis,
        estimator_confidence: EstimatorConfidence,
        sample_size: Option<u64>,
        measurement_window: Option<DateRange>,
        assumptions: Vec<String>,
        formula_eval_receipt_ref: Option<StorageRef>,
        schema_version: V10,
        correlation_policy: Option<CostCorrelationPolicy>,
    }
}

words! {
    /// Cost class of TaskCostRecord.
    TaskCostRecordCostClass {
        LogicalLlmWork = "logical_llm_work", InfrastructureRetry = "infrastructure_retry",
        SourceResearch = "source_research", Doc24PacketAssembly = "doc24_packet_assembly",
        ExternalTool = "external_tool", LocalCompute = "local_compute", HumanReview = "human_review",
    }
}

record! {
    /// Planned and actual cost of a piece of work.
    TaskCostRecord: event {
        cost_record_id: String,
        task_id: String,
        run_id: Option<String>,
        module_id: Option<String>,
        activation_seq: Option<u64>,
        planned_cost_vector_ref: Option<StorageRef>,
        actual_cost_vector_ref: Option<StorageRef>,
        cost_class: TaskCostRecordCostClass,
        created_at: Instant,
        schema_version: V10,
    }
}

words! {
    /// How quantiles were combined.
    CostCorrelationPolicy {
        AssumeIndependentMonteCarlo = "assume_independent_monte_carlo",
        AssumePerfectCorrelationUpperBound = "assume_perfect_correlation_upper_bound",
        EmpiricalJointDistribution = "empirical_joint_distribution",
    }
}

record! {
    /// Pre-run forecast.
    TaskRunCostForecast: event {
        forecast_id: String,
        task_id: String,
        planned_run_id: Option<String>,
        planned_cost_vector_ref: StorageRef,
        optional_helper_cost_vector_refs: Vec<StorageRef>,
        non_degradable_mode_cost_vector_refs: Vec<StorageRef>,
        skipped_if_budget_constrained: Vec<String>,
        forecast_confidence: EstimatorConfidence,
        created_at: Instant,
        schema_version: V10,
    }
}

record! {
    /// Forecast versus actual, what was skipped or degraded.
    BudgetNarrative: read_model {
        budget_narrative_id: String,
        task_id: String,
        run_id: String,
        planned_forecast_ref: Option<StorageRef>,
        actual_cost_record_refs: Vec<StorageRef>,
        forecast_vs_actual_summary: String,
        summary: String,
        skipped_optional_helpers: Vec<String>,
        preserved_non_degradable_modes: Vec<String>,
        degraded_modes_used: Vec<String>,
        quality_impact_summary: String,
        formula_eval_receipt_refs: Vec<StorageRef>,
        created_at: Instant,
        schema_version: V11,
    }
}
