//! Criteria and metrics: types that the contract needs and does not declare.
//! Owns: their members and words. Must not: judge.

use crate::types::basic::{DateRange, Instant, StorageRef, V10};
use crate::types::formula::NumericUnit;
use crate::types::template::{TemplateMatchComponents, TemplateMatchWeights};
use crate::types::wire::{record, words};
use alloc::string::String;
use countersign_record::json::{Json, Number};

words! {
    /// What a review of words found.
    SemanticConclusion { WordingOnly = "wording_only", MeaningChanged = "meaning_changed" }
}

record! {
    /// Whether a change of words changed the meaning.
    CriterionSemanticReviewReceipt: receipt {
        receipt_id: String,
        criterion_id: String,
        from_text_hash: String,
        to_text_hash: String,
        conclusion: SemanticConclusion,
        reviewer_ref: StorageRef,
        created_at: Instant,
        schema_version: Option<V10>,
    }
}

record! {
    /// An observation does not count any more.
    MetricObservationInvalidationEvent: event {
        event_id: String,
        observation_ref: StorageRef,
        reason: String,
        created_at: Instant,
        schema_version: Option<V10>,
    }
}

record! {
    /// A value that was observed.
    MetricValue: value {
        value_id: String,
        value: Json,
        unit: NumericUnit,
        schema_version: Option<V10>,
    }
}

record! {
    /// How well a template fits.
    TemplateMatchEvaluation: event {
        evaluation_id: String,
        formula_ref: StorageRef,
        components: TemplateMatchComponents,
        weights: TemplateMatchWeights,
        soft_penalty_sum: Number,
        hard_veto_count: u64,
        overall_score: Number,
        created_at: Instant,
        schema_version: Option<V10>,
    }
}

record! {
    /// The quantiles of how long something takes; of few samples only some.
    LatencyQuantiles: value {
        p50: Option<Number>,
        p90: Option<Number>,
        p99: Option<Number>,
        sample_size: u64,
        low_confidence: Option<bool>,
    }
}

record! {
    /// How long something takes (C-05).
    LatencyDistribution: event {
        latency_id: String,
        subject_ref: StorageRef,
        distribution_ms: LatencyQuantiles,
        sample_size: u64,
        measurement_window: DateRange,
        formula_eval_receipt_ref: StorageRef,
        schema_version: Option<V10>,
    }
}
