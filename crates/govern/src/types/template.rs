//! Template matches: the types of the contract.
//! Owns: their members and words. Must not: judge.

use super::basic::V10;
use super::wire::{record, saying, texts, words};
use crate::member::Member;
use alloc::collections::BTreeMap;
use countersign_record::json::Number;

words! {
    /// Nine components.
    TemplateMatchComponent {
        SemanticIntentMatch = "semantic_intent_match", TaskTypeMatch = "task_type_match",
        InputContractMatch = "input_contract_match", OutputContractMatch = "output_contract_match",
        CapabilityAvailabilityMatch = "capability_availability_match",
        EntityContextMatch = "entity_context_match", UserPreferenceMatch = "user_preference_match",
        PriorAssessmentScore = "prior_assessment_score",
        RecencyOrStalenessScore = "recency_or_staleness_score",
    }
}

words! {
    /// The only formula id of TemplateMatchFormula.
    TemplateMatchFormulaFormulaId {
        TemplateMatchScoreV1 = "template_match_score_v1",
    }
}

record! {
    /// Weights, veto cap, penalty maximum.
    TemplateMatchFormula: policy {
        formula_id: TemplateMatchFormulaFormulaId,
        component_weights: TemplateMatchWeights,
        hard_veto_cap: Number,
        soft_penalty_max_total: Number,
        schema_version: V10,
    }
    holds |formula| {
        let has = |word: &&str| formula.at("component_weights").is_none_or(|weights| weights.get(word).is_some());
        TemplateMatchComponent::WORDS.iter().all(has)
    }, "must weigh every component"
    schema |schema| saying(schema, "component_weights", "required", texts(TemplateMatchComponent::WORDS))
}

/// Scores by component.
pub type TemplateMatchComponents = BTreeMap<TemplateMatchComponent, Number>;
/// Weights by component.
pub type TemplateMatchWeights = BTreeMap<TemplateMatchComponent, Number>;
