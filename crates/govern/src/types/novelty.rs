//! Novelty: the types of the contract.
//! Owns: their members and words. Must not: judge.

use super::basic::{StorageRef, UnitRange, V10, V11};
use super::wire::{OrNull, Reading, Wire, record, words};
use alloc::string::String;
use alloc::vec::Vec;
use countersign_record::json::{Json, Number, Object};

words! {
    /// Distance metric of NoveltyMetricSpec.
    NoveltyMetricSpecDistanceMetric {
        CosineDistance = "cosine_distance", EuclideanNormalized = "euclidean_normalized",
        Jaccard = "jaccard", Hybrid = "hybrid",
    }
}

record! {
    /// The metric space.
    NoveltyMetricSpec: policy {
        metric_id: String,
        feature_vector_definition_ref: StorageRef,
        embedding_model_ref: Option<String>,
        distance_metric: NoveltyMetricSpecDistanceMetric,
        distance_range: UnitRange,
        no_pattern_fallback: NoPatternFallback,
        calibration_dataset_ref: StorageRef,
        threshold_default: Number,
        metric_semantics_version: String,
        schema_version: V10,
    }
}

record! {
    /// Common fields.
    NoveltyAssessmentBase: value {
        input_signature_hash: String,
        metric_spec_ref: String,
        metric_semantics_version: String,
        schema_version: V11,
    }
}

words! {
    /// The only neighbor state of NoveltyAssessmentWithNeighbor.
    NoveltyAssessmentWithNeighborNeighborState {
        NearestPatternFound = "nearest_pattern_found",
    }
}

record! {
    /// Nearest pattern found.
    NoveltyAssessmentWithNeighbor: event {
        input_signature_hash: String,
        metric_spec_ref: String,
        metric_semantics_version: String,
        schema_version: V11,
        neighbor_state: NoveltyAssessmentWithNeighborNeighborState,
        closest_pattern_id: String,
        closest_pattern_distance: Number,
        similarity_score: Number,
        novelty_score: Number,
        forces_fresh_reasoning: bool,
        triggers_task_agent: bool,
        feature_vector: Option<Vec<Number>>,
    }
}

words! {
    /// The only neighbor state of NoveltyAssessmentNoNeighbor.
    NoveltyAssessmentNoNeighborNeighborState {
        NoPatternFound = "no_pattern_found",
    }
}

words! {
    /// The only indeterminate reason of NoveltyAssessmentNoNeighbor.
    NoveltyAssessmentNoNeighborIndeterminateReason {
        NoPatternAndPolicyIndeterminate = "no_pattern_and_policy_indeterminate",
    }
}

record! {
    /// No pattern.
    NoveltyAssessmentNoNeighbor: event {
        input_signature_hash: String,
        metric_spec_ref: String,
        metric_semantics_version: String,
        schema_version: V11,
        neighbor_state: NoveltyAssessmentNoNeighborNeighborState,
        no_pattern_fallback_applied: NoPatternFallback,
        novelty_score: OrNull<Number>,
        forces_fresh_reasoning: bool,
        triggers_task_agent: bool,
        indeterminate_reason: Option<NoveltyAssessmentNoNeighborIndeterminateReason>,
        feature_vector: Option<Vec<Number>>,
    }
}

/// How new something is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoveltyAssessment {
    /// A pattern is near.
    Near(NoveltyAssessmentWithNeighbor),
    /// There is none.
    Alone(NoveltyAssessmentNoNeighbor),
}

impl Wire for NoveltyAssessment {
    fn read(value: &Json, reading: &mut Reading) -> Option<Self> {
        match value.get("neighbor_state").and_then(Json::as_str) {
            Some("nearest_pattern_found") => Wire::read(value, reading).map(NoveltyAssessment::Near),
            Some("no_pattern_found") => Wire::read(value, reading).map(NoveltyAssessment::Alone),
            Some(_) | None => {
                reading.wrong("must have a neighbor_state: nearest_pattern_found or no_pattern_found")
            }
        }
    }

    fn fits(value: &Json) -> bool {
        match value.get("neighbor_state").and_then(Json::as_str) {
            Some("nearest_pattern_found") => NoveltyAssessmentWithNeighbor::fits(value),
            Some("no_pattern_found") => NoveltyAssessmentNoNeighbor::fits(value),
            Some(_) | None => false,
        }
    }

    fn write(&self) -> Option<Json> {
        match self {
            NoveltyAssessment::Near(near) => near.write(),
            NoveltyAssessment::Alone(alone) => alone.write(),
        }
    }

    fn schema() -> Json {
        let both =
            [NoveltyAssessmentWithNeighbor::schema_inside(), NoveltyAssessmentNoNeighbor::schema_inside()];
        Object::from([("title", Json::from("NoveltyAssessment")), ("oneOf", Json::Array(both.into()))]).into()
    }
}

words! {
    /// What is said where no pattern is near.
    NoPatternFallback {
        NoveltyOne = "novelty_one", Indeterminate = "indeterminate",
        UseDomainBaseline = "use_domain_baseline",
    }
}
