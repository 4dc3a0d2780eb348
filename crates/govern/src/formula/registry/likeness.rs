//! Formulas: how far apart two things are, which pattern is nearest, how new something is.
//! Owns: their texts. Must not: compute.

use crate::derive::novelty;
use crate::formula::input::{item, one_of, record, word};
use crate::formula::spec::{Shape, Spec, may, needs, refused, requires, requires_or, vector};
use crate::types::formula::{FormulaSpecRoundingPolicy, MetricValueKind, NumericUnit};
use crate::types::novelty::NoveltyMetricSpecDistanceMetric as Metric;

const UNDEFINED: &str = "novelty_metric_space_undefined";

/// Numbers of a vector. Beyond this their squares would not be numbers any more, and below it nobody measures.
const MAX: f64 = 1e9;

pub(super) const FORMULAS: &[Spec] = &[
    Spec {
        id: "pattern_distance_v1",
        version: "1.2.0",
        purpose: "How far apart two things are, from 0 to 1.",
        expression: "let one = or_else(vector, []);
let other = or_else(other_vector, []);
# Divided by the greatest number, so that no square vanishes. Two points by one number, of a direction the length is nothing.
let is_direction = distance_metric == 'cosine_distance';
let a = scaled(one, if is_direction then one else both(one, other));
let b = scaled(other, if is_direction then other else both(one, other));
let sizes = root(dot(a, a)) + root(dot(b, b));
let common = count(in_order(or_else(features, []), or_else(other_features, [])));
let all = count(or_else(features, [])) + count(or_else(other_features, [])) - common;
let shares = column(or_else(parts, []), 'share');
if is_direction then clamp((1 - dot(a, b) / (root(dot(a, a)) * root(dot(b, b)))) / 2, 0, 1)
else if distance_metric == 'euclidean_normalized' then
  (if is_zero(sizes) then 0 else clamp(root(gap(a, b)) / sizes, 0, 1))
else if distance_metric == 'jaccard' then (if all == 0 then 0 else 1 - common / all)
else clamp(dot(shares, column(or_else(parts, []), 'distance')), 0, 1)",
        inputs: &[
            needs("distance_metric", word!(Metric), "how it is measured"),
            may("vector", Shape::Numbers, "one, by numbers").within(-MAX, MAX),
            may("other_vector", Shape::Numbers, "the other one").within(-MAX, MAX),
            may("features", Shape::List(&item(Shape::Text)), "one, by what it has"),
            may("other_features", Shape::List(&item(Shape::Text)), "the other one"),
            may(
                "parts",
                Shape::List(&item(record(&[
                    needs("share", Shape::Number, "").within(0.0, 1.0),
                    needs("distance", Shape::Number, "").within(0.0, 1.0),
                ]))),
                "distances of several kinds, and what each counts for",
            ),
        ],
        requires: &[
            requires_or(
                "vector",
                "distance_metric == 'jaccard' or distance_metric == 'hybrid' or present(vector) and present(other_vector)",
                UNDEFINED,
            ),
            requires_or(
                "other_vector",
                "count(or_else(vector, [])) == count(or_else(other_vector, []))",
                UNDEFINED,
            ),
            requires_or(
                "vector",
                "distance_metric != 'cosine_distance' or count([for one in vector if one != 0: one]) > 0 and count([for one in other_vector if one != 0: one]) > 0",
                UNDEFINED,
            ),
            requires_or(
                "features",
                "distance_metric != 'jaccard' or present(features) and present(other_features)",
                UNDEFINED,
            ),
            requires("features", "distinct(or_else(features, []))"),
            requires("other_features", "distinct(or_else(other_features, []))"),
            requires_or(
                "parts",
                "distance_metric != 'hybrid' or present(parts)",
                UNDEFINED,
            ),
            requires_or(
                "parts",
                "distance_metric != 'hybrid' or sum(column(parts, 'share')) > 0.999999999 and sum(column(parts, 'share')) < 1.000000001",
                UNDEFINED,
            ),
        ],
        value_kind: MetricValueKind::CalibratedScore,
        unit: NumericUnit::Score01,
        range: Some((0.0, 1.0)),
        gives: Some(Shape::Number),
        vectors: &[
            vector(
                "at_right_angles",
                r#"{"distance_metric":"cosine_distance","vector":[1,0],"other_vector":[0,3]}"#,
                "0.5",
            ),
            vector(
                "two_points",
                r#"{"distance_metric":"euclidean_normalized","vector":[3,0],"other_vector":[0,4]}"#,
                "0.714286",
            ),
            vector(
                "two_points_that_are_almost_nowhere",
                r#"{"distance_metric":"euclidean_normalized","vector":[1e-200],"other_vector":[-1e-200]}"#,
                "1",
            ),
            vector(
                "both_are_nowhere",
                r#"{"distance_metric":"euclidean_normalized","vector":[0],"other_vector":[0]}"#,
                "0",
            ),
            vector(
                "half_of_what_either_has",
                r#"{"distance_metric":"jaccard","features":["a","b","c"],"other_features":["b","c","d"]}"#,
                "0.5",
            ),
            vector(
                "neither_has_anything",
                r#"{"distance_metric":"jaccard","features":[],"other_features":[]}"#,
                "0",
            ),
            vector(
                "of_two_kinds",
                r#"{"distance_metric":"hybrid","parts":[{"share":0.25,"distance":1},{"share":0.75,"distance":0.2}]}"#,
                "0.4",
            ),
            refused(
                "no_direction",
                r#"{"distance_metric":"cosine_distance","vector":[0,0],"other_vector":[0,3]}"#,
                &[UNDEFINED],
            ),
            refused(
                "not_in_one_space",
                r#"{"distance_metric":"euclidean_normalized","vector":[1],"other_vector":[0,3]}"#,
                &[UNDEFINED],
            ),
            refused(
                "less_than_the_whole",
                r#"{"distance_metric":"hybrid","parts":[{"share":0.5,"distance":0.5}]}"#,
                &[UNDEFINED],
            ),
            vector("missing_metric", r#"{"vector":[1],"other_vector":[1]}"#, "\"the input distance_metric is missing\""),
        ],
        ..Spec::PLAIN
    },
    Spec {
        id: "nearest_pattern_v1",
        purpose: "Which pattern is nearest: by its distance, and of equal ones by its id.",
        expression: "let nearest = first(sorted(patterns, ['distance', 'pattern_id']));
{neighbor_state: if present(nearest) then 'nearest_pattern_found' else 'no_pattern_found',
 closest_pattern_id: nearest.pattern_id, closest_pattern_distance: nearest.distance}",
        inputs: &[needs(
            "patterns",
            Shape::List(&item(record(&[
                needs("pattern_id", Shape::Text, ""),
                needs("distance", Shape::Number, "").within(0.0, 1.0),
            ]))),
            "the patterns that are known, and how far each is",
        )],
        requires: &[requires("patterns", "distinct(column(patterns, 'pattern_id'))")],
        range: Some((0.0, 1.0)),
        gives: Some(record(&[
            needs("neighbor_state", one_of(&["nearest_pattern_found", "no_pattern_found"]), ""),
            may("closest_pattern_id", Shape::Text, ""),
            may("closest_pattern_distance", Shape::Number, ""),
        ])),
        vectors: &[
            vector(
                "two_are_as_near",
                r#"{"patterns":[{"pattern_id":"b","distance":0.2},{"pattern_id":"a","distance":0.2},{"pattern_id":"c","distance":0.9}]}"#,
                r#"{"neighbor_state":"nearest_pattern_found","closest_pattern_id":"a","closest_pattern_distance":0.2}"#,
            ),
            vector(
                "none_is_known",
                r#"{"patterns":[]}"#,
                r#"{"neighbor_state":"no_pattern_found","closest_pattern_id":null,"closest_pattern_distance":null}"#,
            ),
            vector("missing_patterns", "{}", "\"the input patterns is missing\""),
        ],
        ..Spec::PLAIN
    },
    Spec {
        id: "novelty_v1",
        version: "1.3.0",
        purpose: "How new something is, by its distance from the nearest pattern.",
        expression: "let score = if present(closest_pattern_distance) then closest_pattern_distance
  else if no_pattern_fallback == 'novelty_one' then 1
  else if no_pattern_fallback == 'use_domain_baseline' then domain_baseline
  else nothing;
let is_new = not present(score) or score >= threshold;
{novelty_score: score,
 similarity_score: if present(closest_pattern_distance) then 1 - closest_pattern_distance else nothing,
 forces_fresh_reasoning: is_new, triggers_task_agent: is_new}",
        inputs: &[
            may("closest_pattern_distance", Shape::Number, "from 0 to 1, if there is a pattern")
                .within(0.0, 1.0),
            needs("no_pattern_fallback", word!(novelty::Fallback), "what is said where there is none"),
            may("domain_baseline", Shape::Number, "what is usual in the domain").within(0.0, 1.0),
            needs("threshold", Shape::Number, "from where on it is new").within(0.0, 1.0),
        ],
        requires: &[requires(
            "domain_baseline",
            "present(closest_pattern_distance) or present(domain_baseline) or no_pattern_fallback != 'use_domain_baseline'",
        )],
        range: Some((0.0, 1.0)),
        gives: Some(record(&[
            may("novelty_score", Shape::Number, ""),
            may("similarity_score", Shape::Number, ""),
            needs("forces_fresh_reasoning", Shape::Truth, ""),
            needs("triggers_task_agent", Shape::Truth, ""),
        ])),
        vectors: &[
            vector(
                "no_pattern",
                r#"{"no_pattern_fallback":"indeterminate","threshold":0.5}"#,
                r#"{"novelty_score":null,"similarity_score":null,"forces_fresh_reasoning":true,"triggers_task_agent":true}"#,
            ),
            vector(
                "missing_threshold",
                r#"{"no_pattern_fallback":"novelty_one"}"#,
                "\"the input threshold is missing\"",
            ),
        ],
        // What is compared with the threshold is what is published.
        rounding: FormulaSpecRoundingPolicy::NoRoundingStoreFullPrecision,
        ..Spec::PLAIN
    },
];
