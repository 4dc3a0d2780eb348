//! Ways in which the codes of novelty fire, besides those of the fixtures.

use super::AREA;
use crate::check::trial::{has_in_bundle, row};
use std::{format, string::String};

fn spec(version: &str, more: &str) -> String {
    row(
        "NoveltyMetricSpec",
        "",
        "",
        &format!(
            r#""metric_id":"n","feature_vector_definition_ref":"x:y","embedding_model_ref":"e","distance_metric":"cosine_distance","metric_semantics_version":"{version}"{more}"#
        ),
    )
}

fn assessed(kind: &str, more: &str) -> String {
    row(kind, "a", "", &format!(r#""metric_spec_ref":"n","metric_semantics_version":"1"{more}"#))
}

#[test]
fn neighbours_and_distances_go_together() {
    let (has, misses) = (["novelty_no_neighbor_has_distance"], ["novelty_neighbor_missing_distance"]);
    for member in
        [r#""closest_pattern_id":"p""#, r#""closest_pattern_distance":0"#, r#""similarity_score":1"#]
    {
        let of = |kind: &str| {
            [spec("1", ""), assessed(kind, &format!(r#","neighbor_state":"no_pattern_found",{member}"#))]
        };
        has_in_bundle(&AREA, &of("NoveltyAssessmentNoNeighbor"), &has);
        has_in_bundle(&AREA, &of("NoveltyAssessment"), &has);
    }
    let of = |pattern: &str, distance: &str, similarity: &str, novelty: &str| {
        let more = format!(
            r#","neighbor_state":"nearest_pattern_found","closest_pattern_id":{pattern},"closest_pattern_distance":{distance},"similarity_score":{similarity},"novelty_score":{novelty}"#
        );
        [spec("1", ""), assessed("NoveltyAssessmentWithNeighbor", &more)]
    };
    has_in_bundle(&AREA, &of(r#""p""#, "0", "1", "0"), &[]);
    has_in_bundle(&AREA, &of(r#""""#, "0", "1", "0"), &misses);
    has_in_bundle(&AREA, &of(r#""p""#, r#""NaN""#, "1", "0"), &misses);
    has_in_bundle(&AREA, &of(r#""p""#, "0.5", "1.5", "0"), &misses);
    has_in_bundle(&AREA, &of(r#""p""#, "0.5", "0.5", "null"), &misses);
}

#[test]
fn spaces_are_defined() {
    let code = ["novelty_metric_space_undefined"];
    let plain = assessed("NoveltyAssessment", "");
    has_in_bundle(&AREA, core::slice::from_ref(&plain), &code);
    has_in_bundle(&AREA, &[spec("2", ""), plain.clone()], &code);
    has_in_bundle(&AREA, &[spec("1", ""), spec("2", ""), plain], &[]);
    let bare = |metric: &str, defined: &str| {
        row("NoveltyMetricSpec", "", "", &format!(r#""metric_id":"n","distance_metric":"{metric}"{defined}"#))
    };
    let defined = r#","feature_vector_definition_ref":"x:y""#;
    has_in_bundle(&AREA, &[bare("jaccard", defined)], &[]);
    has_in_bundle(&AREA, &[bare("jaccard", "")], &code);
    has_in_bundle(&AREA, &[bare("hybrid", defined)], &code);
    has_in_bundle(
        &AREA,
        &[spec("1", ""), assessed("NoveltyAssessment", r#","feature_vector":[0,0]"#)],
        &code,
    );
    has_in_bundle(&AREA, &[spec("1", ""), assessed("NoveltyAssessment", r#","feature_vector":[0,1]"#)], &[]);
}
