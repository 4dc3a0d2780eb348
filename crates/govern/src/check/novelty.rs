//! Validation codes: novelty.
//! Owns: the rules of this area. Must not: decide by names.

use super::formulas::id_of;
use super::{Area, Found, Rule, Severity};
use crate::derive::is_score;
use crate::derive::novelty::cosine;
use crate::kind::{Class, Kind};
use crate::member::{Member, number};
use crate::world::{Record, Settings, World};
use alloc::format;
use alloc::vec::Vec;

pub(super) const AREA: Area = Area { name: "novelty", rules: RULES, kinds: KINDS };

/// The union of the two, by its name: a row may be of either.
const KINDS: &[Kind] = &[Kind::new("NoveltyAssessment", Class::Event, None)];

const RULES: &[Rule] = &[
    Rule {
        code: "novelty_no_neighbor_has_distance",
        severity: Severity::Error,
        section: "C-08",
        fires: "A NoveltyAssessment with neighbor_state no_pattern_found has closest_pattern_id, closest_pattern_distance or similarity_score.",
        legal: "no_pattern_found with novelty_score 1 under fallback novelty_one, or null under indeterminate.",
        why: "The record says that nothing like it is known, and also how like it is: one of the two is made up.",
        fix: "Leave out closest_pattern_id, closest_pattern_distance and similarity_score, or say nearest_pattern_found.",
        check: novelty_no_neighbor_has_distance,
    },
    Rule {
        code: "novelty_neighbor_missing_distance",
        severity: Severity::Error,
        section: "C-08",
        fires: "A NoveltyAssessment with neighbor_state nearest_pattern_found lacks closest_pattern_id, closest_pattern_distance, similarity_score or novelty_score (or one is non-finite or outside [0, 1]).",
        legal: "closest_pattern_distance = 0 for an exact repeat.",
        why: "That something like it is known decides whether it is thought through again; without the distance nobody can check that.",
        fix: "Record the pattern, and distance, similarity and novelty from 0 to 1; or say no_pattern_found.",
        check: novelty_neighbor_missing_distance,
    },
    Rule {
        code: "novelty_metric_space_undefined",
        severity: Severity::Error,
        section: "C-08",
        fires: "metric_spec_ref resolves to no NoveltyMetricSpec with the same metric_semantics_version, the spec has no feature_vector_definition_ref, uses cosine_distance/hybrid without embedding_model_ref, or the feature_vector that an assessment carries has no direction under cosine_distance.",
        legal: "jaccard without embedding_model_ref.",
        why: "A distance in a space that nobody defined can't be repeated, and a threshold on it is arbitrary.",
        fix: "Register the NoveltyMetricSpec in the version that the assessment names, with its feature vector and, for cosine_distance and hybrid, its embedding model.",
        check: novelty_metric_space_undefined,
    },
];

/// All assessments.
fn assessments(world: &World) -> impl Iterator<Item = Record<'_>> {
    let kinds = ["NoveltyAssessment", "NoveltyAssessmentWithNeighbor", "NoveltyAssessmentNoNeighbor"];
    kinds.into_iter().flat_map(|kind| world.of(kind))
}

fn novelty_no_neighbor_has_distance(world: &World, found: &mut Found<'_>) {
    for record in assessments(world).filter(|record| record.is("neighbor_state", "no_pattern_found")) {
        for member in ["closest_pattern_id", "closest_pattern_distance", "similarity_score"] {
            if record.at(member).is_some() {
                found.add(record, member, "no pattern was found, and this is about one");
            }
        }
    }
}

fn novelty_neighbor_missing_distance(world: &World, found: &mut Found<'_>) {
    for record in assessments(world).filter(|record| record.is("neighbor_state", "nearest_pattern_found")) {
        if record.is_blank("closest_pattern_id") {
            found.add(record, "closest_pattern_id", "it does not say which pattern was found");
        }
        for member in ["closest_pattern_distance", "similarity_score", "novelty_score"] {
            if !record.number(member).is_some_and(is_score) {
                found.add(record, member, "a pattern was found, and this is no number from 0 to 1");
            }
        }
    }
}

fn novelty_metric_space_undefined(world: &World, found: &mut Found<'_>) {
    let specs = Settings::of(world, "NoveltyMetricSpec", |spec| {
        Some((spec.id(), spec.json().text("metric_semantics_version")))
    });
    for spec in world.of("NoveltyMetricSpec") {
        let needs_model = spec.is_one_of("distance_metric", &["cosine_distance", "hybrid"]);
        if spec.is_blank("feature_vector_definition_ref") {
            found.add(spec, "feature_vector_definition_ref", "it does not say what is measured");
        } else if needs_model && spec.is_blank("embedding_model_ref") {
            found.add(spec, "embedding_model_ref", "its distance needs a model of embeddings");
        }
    }
    for record in assessments(world) {
        let Some(name) = record.text("metric_spec_ref") else { continue };
        let version = record.text("metric_semantics_version");
        let spec = specs.at(&(id_of(name, "novelty_metric_spec"), version), record.seq());
        match spec {
            None => {
                let message = format!("no metric {name} of that version is registered");
                found.add(record, "metric_spec_ref", message);
            }
            Some(spec) if spec.is("distance_metric", "cosine_distance") && has_no_direction(record) => {
                found.add(
                    record,
                    "feature_vector",
                    "it has no direction, and the distance is that of directions",
                );
            }
            Some(_) => {}
        }
    }
}

/// Whether an assessment carries a vector that nothing can be compared with.
fn has_no_direction(record: Record<'_>) -> bool {
    let vector: Vec<f64> = record.list("feature_vector").iter().filter_map(number).collect();
    !vector.is_empty() && cosine(&vector, &vector).is_err()
}

#[cfg(test)]
#[path = "novelty_tests.rs"]
mod tests;
