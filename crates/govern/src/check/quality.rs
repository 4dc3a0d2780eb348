//! Validation codes: quality.
//! Owns: the rules of this area. Must not: decide by names.

mod identity;
mod weighing;

use super::{Area, Found, Rule, Severity};
use crate::derive::is_score;
use crate::derive::quality::{Missing, Standing, status};
use crate::derive::weights::Error;
use crate::kind::{Class, Kind};
use crate::member::Member;
use crate::world::{Record, World, hash};
use alloc::format;
use countersign_record::digest::Digest;
use countersign_record::json::Json;

pub(super) const AREA: Area = Area { name: "quality", rules: RULES, kinds: KINDS };

/// `CriterionSemanticReviewReceipt {receipt_id, criterion_id, from_text_hash, to_text_hash, conclusion: wording_only |
/// meaning_changed, reviewer_ref, created_at}`: somebody read both texts.
const KINDS: &[Kind] = &[Kind::new("CriterionSemanticReviewReceipt", Class::Receipt, Some("receipt_id"))];

const RULES: &[Rule] = &[
    Rule {
        code: "unanchored_required_criterion_indeterminate",
        severity: Severity::Error,
        section: "C-01/C-09",
        fires: "normalizeCriterionWeights is called with at least one Criterion whose scoring_basis is unanchored_llm_judgment while OutcomeComplianceScoringConfig.unanchored_llm_judgment_policy = indeterminate.",
        legal: "The same criteria under policy exclude (they are dropped) or include_with_audit_flag (they are kept).",
        why: "A model's bare opinion would count towards the score although the configuration says that then there is no score.",
        fix: "Anchor the criterion in a rubric, a check, a source or a person's label, or choose the policy exclude or include_with_audit_flag.",
        check: unanchored_required_criterion_indeterminate,
    },
    Rule {
        code: "criterion_weight_invalid",
        severity: Severity::Error,
        section: "C-01/C-09",
        fires: "The raw weight chosen for an eligible criterion (criterion.weight, priority_weight_map value) is NaN, infinite or negative, or criterion_refs lists a criterion twice.",
        legal: "A raw weight of exactly 0 as long as the sum is positive.",
        why: "One weight that is negative or no number turns the whole score into nonsense, or lets good marks lower it.",
        fix: "Give the criterion a finite weight of 0 or more, and list each criterion once.",
        check: criterion_weight_invalid,
    },
    Rule {
        code: "criterion_priority_weight_missing",
        severity: Severity::Error,
        section: "C-01/C-09",
        fires: "default_weight_policy is from_priority and priority_weight_map has no entry for the criterion's priority (a missing priority counts as should_have).",
        legal: "A criterion without priority when the map has should_have.",
        why: "A criterion of that priority would silently count for nothing.",
        fix: "Add the priority to priority_weight_map, or give the criterion one that is there.",
        check: criterion_priority_weight_missing,
    },
    Rule {
        code: "criterion_weight_sum_zero",
        severity: Severity::Error,
        section: "C-01/C-09",
        fires: "The sum of the raw weights of the eligible criteria is not finite or is <= 0.",
        legal: "One positive weight among zeros.",
        why: "Where nothing counts there is no score; dividing by it gives no number.",
        fix: "Give at least one criterion a positive weight, and none that is near the largest number.",
        check: criterion_weight_sum_zero,
    },
    Rule {
        code: "no_aggregation_eligible_criteria",
        severity: Severity::Error,
        section: "C-01/C-09",
        fires: "No criterion is left after aggregationEligibleCriteria (criterion_refs is empty, or every criterion unanchored under policy exclude).",
        legal: "One anchored criterion remains after exclusion and gets weight 1.",
        why: "A score over no criteria at all would be about nothing.",
        fix: "Add a criterion that is anchored, or anchor one of those there are.",
        check: no_aggregation_eligible_criteria,
    },
    Rule {
        code: "criterion_weight_missing_under_from_criterion_weight",
        severity: Severity::Error,
        section: "C-01/C-09",
        fires: "default_weight_policy is from_criterion_weight and an eligible criterion has no weight.",
        legal: "An excluded (unanchored) criterion without weight, or any criterion without weight under the uniform policy.",
        why: "Somebody would have to guess how much the criterion counts, and the guess would decide the score.",
        fix: "Say the weight of the criterion, or weigh by priority or uniformly.",
        check: criterion_weight_missing_under_from_criterion_weight,
    },
    Rule {
        code: "quality_index_pass_status_drift",
        severity: Severity::Error,
        section: "C-01",
        fires: "QualityIndex.derived_pass_status differs from the rule: required_gate_failures non-empty -> failed_required_gate; else missing dimensions (omitted_input_names of its receipt) under policy indeterminate -> indeterminate; else aggregate_score >= pass_threshold -> passed; else failed_threshold.",
        legal: "aggregate_score == pass_threshold with status passed.",
        why: "Passed stands there although the numbers beside it say otherwise, or the other way round.",
        fix: "Derive the status again from gate failures, missing dimensions, score and threshold.",
        check: quality_index_pass_status_drift,
    },
    Rule {
        code: "quality_index_without_formula_receipt",
        severity: Severity::Error,
        section: "C-01",
        fires: "QualityIndex.formula_eval_receipt_ref is empty or does not resolve to a FormulaEvaluationReceipt whose output_value_hash is the hash of the index, with or without that reference.",
        legal: "An index with status indeterminate that still has its receipt.",
        why: "Nobody can tell out of which scores and weights the index came.",
        fix: "Compute the index again and point formula_eval_receipt_ref at the receipt, whose output_value_hash is the hash of the index.",
        check: quality_index_without_formula_receipt,
    },
    Rule {
        code: "quality_index_score_out_of_range",
        severity: Severity::Error,
        section: "C-01",
        fires: "QualityIndex.aggregate_score or pass_threshold is non-finite or outside [0, 1].",
        legal: "Exactly 0 or exactly 1.",
        why: "A score above 1 or below 0 beats every threshold or none; something before it went wrong.",
        fix: "Find where the number comes from, and score and threshold from 0 to 1.",
        check: quality_index_score_out_of_range,
    },
    Rule {
        code: "criterion_semantics_hash_legacy_name",
        severity: Severity::Warning,
        section: "C-10",
        fires: "A criterion record carries criterion_semantics_hash (the old name of the lexical hash) instead of criterion_text_hash.",
        legal: "criterion_text_hash beside criterion_semantics_version.",
        why: "The old name says meaning where only letters are hashed, so that a change of wording is taken for one of meaning.",
        fix: "Call it criterion_text_hash, and say the meaning in criterion_semantics_version.",
        check: criterion_semantics_hash_legacy_name,
    },
    Rule {
        code: "criterion_semantics_version_unbumped_on_meaning_change",
        severity: Severity::Error,
        section: "C-10",
        fires: "Two successive CriterionIdentityFields of one criterion_id have different criterion_text_hash and equal criterion_semantics_version, and semantic_review_receipt_ref names no CriterionSemanticReviewReceipt of that criterion with conclusion wording_only.",
        legal: "A typo fix with a review receipt that says no meaning change.",
        why: "Scores before and after are compared as if they measured the same thing.",
        fix: "Have the change reviewed: give it a new criterion_semantics_version, or a receipt that only the wording changed.",
        check: criterion_semantics_version_unbumped_on_meaning_change,
    },
    Rule {
        code: "semantic_version_bumped_without_review_receipt",
        severity: Severity::Error,
        section: "C-10",
        fires: "criterion_semantics_version changes between two successive records of one criterion_id and semantic_review_receipt_ref is absent or unresolvable.",
        legal: "The first version of a criterion.",
        why: "Somebody changed what is asked for, and nobody looked at it.",
        fix: "Have the change of meaning reviewed and point semantic_review_receipt_ref at the receipt.",
        check: semantic_version_bumped_without_review_receipt,
    },
];

fn unanchored_required_criterion_indeterminate(world: &World, found: &mut Found<'_>) {
    weighing::find(world, found, Error::UnanchoredIndeterminate);
}

fn criterion_weight_invalid(world: &World, found: &mut Found<'_>) {
    weighing::find(world, found, Error::WeightInvalid);
}

fn criterion_priority_weight_missing(world: &World, found: &mut Found<'_>) {
    weighing::find(world, found, Error::PriorityWeightMissing);
}

fn criterion_weight_sum_zero(world: &World, found: &mut Found<'_>) {
    weighing::find(world, found, Error::SumZero);
}

fn no_aggregation_eligible_criteria(world: &World, found: &mut Found<'_>) {
    weighing::find(world, found, Error::NoneEligible);
}

fn criterion_weight_missing_under_from_criterion_weight(world: &World, found: &mut Found<'_>) {
    weighing::find(world, found, Error::WeightMissing);
}

/// The receipt of an index.
fn receipt_of(index: Record<'_>) -> Option<Record<'_>> {
    index.follow("formula_eval_receipt_ref").filter(|receipt| receipt.kind() == "FormulaEvaluationReceipt")
}

fn quality_index_pass_status_drift(world: &World, found: &mut Found<'_>) {
    for index in world.of("QualityIndex") {
        let numbers = index.number("aggregate_score").zip(index.number("pass_threshold"));
        let policy = index.text("missing_dimension_policy").and_then(Missing::find);
        let (Some((score, threshold)), Some(policy), Some(stated)) =
            (numbers, policy, index.text("derived_pass_status"))
        else {
            continue;
        };
        let gate_failure_count = index.list("required_gate_failures").len();
        // Without a receipt it is not known whether something is missing: either way may be right.
        let missing = receipt_of(index).map(|receipt| receipt.list("omitted_input_names").len());
        let ways = missing.map_or([0, 1], |count| [count, count]);
        let derived = ways.map(|missing_count| {
            status(&Standing { score, threshold, gate_failure_count, missing_count, policy })
        });
        if let [Ok(one), Ok(other)] = derived
            && ![one.as_str(), other.as_str()].contains(&stated)
        {
            found.add(index, "derived_pass_status", format!("it is {} by its own numbers", one.as_str()));
        }
    }
}

fn quality_index_without_formula_receipt(world: &World, found: &mut Found<'_>) {
    for index in world.of("QualityIndex") {
        let stated =
            receipt_of(index).and_then(|receipt| Digest::try_from(receipt.text("output_value_hash")?).ok());
        match stated {
            None => {
                found.add(index, "formula_eval_receipt_ref", "no receipt shows how the index was computed")
            }
            Some(stated) if index.hash() != Some(stated) && without_reference(index) != Some(stated) => {
                found.add(index, "formula_eval_receipt_ref", "the receipt is about another index");
            }
            Some(_) => {}
        }
    }
}

/// The hash of an index as it was when its receipt was written, which the index can name only afterwards.
fn without_reference(index: Record<'_>) -> Option<Digest> {
    let mut members = index.json().as_object()?.clone();
    members.remove("formula_eval_receipt_ref");
    hash(&Json::from(members))
}

fn quality_index_score_out_of_range(world: &World, found: &mut Found<'_>) {
    for index in world.of("QualityIndex") {
        for member in ["aggregate_score", "pass_threshold"] {
            if index.number(member).is_some_and(|value| !is_score(value)) {
                found.add(index, member, "it is no number from 0 to 1");
            }
        }
    }
}

fn criterion_semantics_hash_legacy_name(world: &World, found: &mut Found<'_>) {
    identity::legacy_name(world, found);
}

fn criterion_semantics_version_unbumped_on_meaning_change(world: &World, found: &mut Found<'_>) {
    identity::unbumped(world, found);
}

fn semantic_version_bumped_without_review_receipt(world: &World, found: &mut Found<'_>) {
    identity::unreviewed(world, found);
}

#[cfg(test)]
#[path = "quality_tests.rs"]
mod tests;
