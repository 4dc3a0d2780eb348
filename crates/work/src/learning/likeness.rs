//! What a task is like: the nearest of the tasks that were done before, and how well that one fits.
//! Owns: the features of a task, their distance. Must not: look up other tasks; the caller brings them.

use crate::cost::{UNIT, number};
use crate::desk::{Desk, Error, From, reference};
use crate::task::{Task, decimal};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_govern::record;
use countersign_govern::types::added::criterion::TemplateMatchEvaluation;
use countersign_govern::types::added::policy::CapabilitySnapshot;
use countersign_govern::types::basic::{StorageRef, UnitRange, V10, V11};
use countersign_govern::types::novelty::{
    NoPatternFallback, NoveltyAssessmentNoNeighbor, NoveltyAssessmentNoNeighborIndeterminateReason,
    NoveltyAssessmentNoNeighborNeighborState, NoveltyAssessmentWithNeighbor,
    NoveltyAssessmentWithNeighborNeighborState, NoveltyMetricSpec, NoveltyMetricSpecDistanceMetric,
};
use countersign_govern::types::template::{
    TemplateMatchComponent as Part, TemplateMatchComponents, TemplateMatchFormula,
    TemplateMatchFormulaFormulaId, TemplateMatchWeights,
};
use countersign_govern::types::wire::{OrNull, Wire};
use countersign_record::canonical;
use countersign_record::json::{Json, Number, Object};

/// The metric of novelty.
const METRIC: &str = "task-features";
/// From where on a task is new.
const THRESHOLD: &str = "0.5";
/// What a veto leaves at most, and what penalties take at most.
const VETO_CAP: &str = "0.25";
const PENALTY_MAX: &str = "0.5";

/// What a task is like, as words that can be compared: each begins with what it is of.
pub type Features = BTreeSet<String>;

/// A task that was done before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// What it is called.
    pub id: String,
    /// What it was like.
    pub features: Features,
}

record! {
    /// The nearest of the tasks that were done before: how far it is, and how much of each part of the two is not in both, in
    /// millionths. What that other task says stands nowhere in it.
    Nearest: value { pattern: String, distance: u64, goal: u64, artifact: u64, source: u64, section: u64 }
}

/// What a task is like: its kinds of sources and work products, how it is scored, what its sections are about.
#[must_use]
pub fn features(task: &Task) -> Features {
    let sources = task.sources.iter().map(|one| format!("source:{}", one.kind.as_str()));
    let artifacts = task.artifacts.iter().map(|one| format!("artifact:{}", one.kind.as_str()));
    let sections = task.artifacts.iter().flat_map(|one| one.sections());
    let sections = sections.map(|one| format!("section:{}", one.heading.to_lowercase()));
    let criteria = task.outcomes.iter().flat_map(|one| &one.criteria);
    let criteria = criteria.map(|one| format!("basis:{}", one.basis.as_str()));
    let words = task.goal.split(|letter: char| !letter.is_alphanumeric()).filter(|word| word.len() > 3);
    let words = words.map(|word| format!("goal:{}", word.to_lowercase()));
    sources.chain(artifacts).chain(sections).chain(criteria).chain(words).collect()
}

/// Those features that are of one thing.
fn of<'f>(features: &'f Features, prefix: &str) -> BTreeSet<&'f str> {
    features.iter().map(String::as_str).filter(|one| one.starts_with(prefix)).collect()
}

/// How much of two sets is not in both, in millionths; nothing if both are empty.
fn apart<T: Ord>(one: &BTreeSet<T>, other: &BTreeSet<T>) -> u64 {
    let (both, any) = (one.intersection(other).count() as u64, one.union(other).count() as u64);
    (any - both).saturating_mul(UNIT).saturating_add(any / 2).checked_div(any).unwrap_or_default()
}

/// The nearest of some tasks; of two that are as near the one that comes first by its id.
#[must_use]
pub fn nearest(task: &Task, patterns: &[Pattern]) -> Option<Nearest> {
    let own = features(task);
    let all = patterns.iter().map(|one| (one, apart(&own, &one.features)));
    let near = all.min_by(|(one, near), (other, far)| near.cmp(far).then_with(|| one.id.cmp(&other.id)));
    let (pattern, distance) = near?;
    let part = |prefix: &str| apart(&of(&own, prefix), &of(&pattern.features, prefix));
    Some(Nearest {
        pattern: pattern.id.clone(),
        distance,
        goal: part("goal:"),
        artifact: part("artifact:"),
        source: part("source:"),
        section: part("section:"),
    })
}

fn spec(desk: &mut Desk) -> Result<(), Error> {
    desk.put(&NoveltyMetricSpec {
        metric_id: METRIC.to_string(),
        feature_vector_definition_ref: reference("FeatureDefinition", METRIC)?,
        embedding_model_ref: None,
        distance_metric: NoveltyMetricSpecDistanceMetric::Jaccard,
        distance_range: UnitRange,
        no_pattern_fallback: NoPatternFallback::Indeterminate,
        calibration_dataset_ref: reference("Dataset", "none")?,
        threshold_default: decimal(THRESHOLD),
        metric_semantics_version: "1.0.0".to_string(),
        schema_version: V10,
    })?;
    Ok(())
}

/// What the formula says of a task, with a receipt for each of the two things that follow from it.
fn derived(desk: &mut Desk, inputs: &Object, output: &StorageRef) -> Result<Json, Error> {
    let mut value = Json::Null;
    for member in ["forces_fresh_reasoning", "triggers_task_agent"] {
        let (inputs, output_ref) = (inputs.clone(), output.clone());
        let from = From { formula: "novelty_v1", inputs, input_refs: Vec::new(), output_ref };
        value = desk.derive_member(from, member)?.value;
    }
    Ok(value)
}

/// How new the task is.
pub(super) fn novelty(desk: &mut Desk, near: Option<&Nearest>) -> Result<(), Error> {
    spec(desk)?;
    let own = features(desk.task());
    let signature = Json::Array(own.iter().map(|one| one.as_str().into()).collect());
    let input_signature_hash = canonical::hash_as_written(&signature).to_string();
    let metric_spec_ref = format!("novelty_metric_spec:{METRIC}");
    let mut inputs = Object::from([
        ("no_pattern_fallback", Json::from(NoPatternFallback::Indeterminate.as_str())),
        ("threshold", Json::Number(decimal(THRESHOLD))),
    ]);
    let kind = match near {
        Some(near) => {
            inputs.insert("closest_pattern_distance", Json::Number(number(near.distance)));
            "NoveltyAssessmentWithNeighbor"
        }
        None => "NoveltyAssessmentNoNeighbor",
    };
    let id = desk.id("novelty");
    let output_ref = reference(kind, &id)?;
    let value = derived(desk, &inputs, &output_ref)?;
    let flag = |name: &str| value.get(name) == Some(&Json::Bool(true));
    let (forces, triggers) = (flag("forces_fresh_reasoning"), flag("triggers_task_agent"));
    let score = |name: &str| match value.get(name) {
        Some(Json::Number(number)) => Some(number.clone()),
        Some(Json::Null | Json::Bool(_) | Json::String(_) | Json::Array(_) | Json::Object(_)) | None => None,
    };
    let metric_semantics_version = "1.0.0".to_string();
    match near {
        Some(near) => desk.put_named(
            &id,
            &NoveltyAssessmentWithNeighbor {
                input_signature_hash,
                metric_spec_ref,
                metric_semantics_version,
                schema_version: V11,
                neighbor_state: NoveltyAssessmentWithNeighborNeighborState::NearestPatternFound,
                closest_pattern_id: near.pattern.clone(),
                closest_pattern_distance: number(near.distance),
                similarity_score: score("similarity_score").unwrap_or_else(|| number(UNIT - near.distance)),
                novelty_score: score("novelty_score").unwrap_or_else(|| number(near.distance)),
                forces_fresh_reasoning: forces,
                triggers_task_agent: triggers,
                feature_vector: None,
            },
        )?,
        None => desk.put_named(
            &id,
            &NoveltyAssessmentNoNeighbor {
                input_signature_hash,
                metric_spec_ref,
                metric_semantics_version,
                schema_version: V11,
                neighbor_state: NoveltyAssessmentNoNeighborNeighborState::NoPatternFound,
                no_pattern_fallback_applied: NoPatternFallback::Indeterminate,
                novelty_score: OrNull(score("novelty_score")),
                forces_fresh_reasoning: forces,
                triggers_task_agent: triggers,
                indeterminate_reason: Some(
                    NoveltyAssessmentNoNeighborIndeterminateReason::NoPatternAndPolicyIndeterminate,
                ),
                feature_vector: None,
            },
        )?,
    };
    Ok(())
}

/// What of a template's fit can be told from a task, and what it weighs. The other parts are not known here and weigh nothing.
fn weight(part: Part) -> u32 {
    match part {
        Part::SemanticIntentMatch
        | Part::TaskTypeMatch
        | Part::InputContractMatch
        | Part::OutputContractMatch
        | Part::CapabilityAvailabilityMatch => 1,
        Part::EntityContextMatch
        | Part::UserPreferenceMatch
        | Part::PriorAssessmentScore
        | Part::RecencyOrStalenessScore => 0,
    }
}

/// How well the nearest task fits as a template; nothing, if there is none.
pub(super) fn template(desk: &mut Desk, near: Option<&Nearest>) -> Result<(), Error> {
    let Some(near) = near else { return Ok(()) };
    let like = |apart: u64| number(UNIT.saturating_sub(apart));
    let has_all = desk
        .all::<CapabilitySnapshot>()
        .next_back()
        .is_some_and(|one| one.capabilities.iter().all(|one| one.healthy));
    let score = |part: Part| match part {
        Part::SemanticIntentMatch => like(near.goal),
        Part::TaskTypeMatch => like(near.artifact),
        Part::InputContractMatch => like(near.source),
        Part::OutputContractMatch => like(near.section),
        Part::CapabilityAvailabilityMatch => Number::from(u32::from(has_all)),
        Part::EntityContextMatch
        | Part::UserPreferenceMatch
        | Part::PriorAssessmentScore
        | Part::RecencyOrStalenessScore => Number::from(0_u32),
    };
    let components: TemplateMatchComponents = Part::ALL.iter().map(|part| (*part, score(*part))).collect();
    let weights: TemplateMatchWeights =
        Part::ALL.iter().map(|part| (*part, Number::from(weight(*part)))).collect();
    let formula = TemplateMatchFormula {
        formula_id: TemplateMatchFormulaFormulaId::TemplateMatchScoreV1,
        component_weights: weights.clone(),
        hard_veto_cap: decimal(VETO_CAP),
        soft_penalty_max_total: decimal(PENALTY_MAX),
        schema_version: V10,
    };
    let formula_ref = desk.put(&formula)?;
    let evaluation_id = desk.id("fit");
    evaluated(desk, &evaluation_id, (components, weights), &formula, formula_ref)
}

fn evaluated(
    desk: &mut Desk,
    evaluation_id: &str,
    (components, weights): (TemplateMatchComponents, TemplateMatchWeights),
    formula: &TemplateMatchFormula,
    formula_ref: StorageRef,
) -> Result<(), Error> {
    let zero = Number::from(0_u32);
    let json = |map: &BTreeMap<Part, Number>| map.write().unwrap_or(Json::Null);
    let inputs = Object::from([
        ("components", json(&components)),
        ("weights", json(&weights)),
        ("soft_penalty_sum", Json::Number(zero.clone())),
        ("hard_veto_count", Json::Number(zero.clone())),
        ("formula", formula.write().unwrap_or(Json::Null)),
    ]);
    let from = From {
        formula: "template_match_score_v1",
        inputs,
        input_refs: Vec::from([formula_ref.clone()]),
        output_ref: reference("TemplateMatchEvaluation", evaluation_id)?,
    };
    let overall = match desk.derive_whole(from)?.value {
        Json::Number(number) => number,
        Json::Null | Json::Bool(_) | Json::String(_) | Json::Array(_) | Json::Object(_) => zero.clone(),
    };
    desk.put(&TemplateMatchEvaluation {
        evaluation_id: evaluation_id.to_string(),
        formula_ref,
        components,
        weights,
        soft_penalty_sum: zero,
        hard_veto_count: 0,
        overall_score: overall,
        created_at: desk.now(),
        schema_version: Some(V10),
    })?;
    Ok(())
}
