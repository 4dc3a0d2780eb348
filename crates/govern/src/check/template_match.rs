//! Validation codes: template match.
//! Owns: the rules of this area. Must not: decide by names.

use super::formulas::id_of;
use super::{Area, Found, Rule, Severity};
use crate::derive::is_score;
use crate::derive::template::{ByComponent, Error, Formula, Match, check_formula, overall_score};
use crate::kind::{Class, Kind};
use crate::member::{Member, number};
use crate::reference::Reference;
use crate::world::{Record, World};
use alloc::collections::BTreeMap;
use alloc::string::ToString;
use alloc::vec::Vec;
use countersign_record::json::Json;

pub(super) const AREA: Area = Area { name: "template_match", rules: RULES, kinds: KINDS };

/// `TemplateMatchEvaluation {evaluation_id, formula_ref, components, weights, soft_penalty_sum, hard_veto_count,
/// overall_score}`: what the function was given and what it returned.
const KINDS: &[Kind] = &[Kind::new("TemplateMatchEvaluation", Class::Event, Some("evaluation_id"))];

const RULES: &[Rule] = &[
    Rule {
        code: "template_match_component_out_of_range",
        severity: Severity::Error,
        section: "C-09",
        fires: "computeTemplateOverallScore gets a component that is missing, NaN, infinite, below 0 or above 1 for a key of formula.component_weights.",
        legal: "A component of exactly 0 or 1, or a component key that the formula does not list.",
        why: "One part that is off the scale decides which template is taken, whatever the others say.",
        fix: "Score every component of the formula from 0 to 1; where nothing is known, say 0.",
        check: template_match_component_out_of_range,
    },
    Rule {
        code: "template_match_weight_invalid",
        severity: Severity::Error,
        section: "C-09",
        fires: "A weight for a key of formula.component_weights is missing, NaN, infinite or negative, or there is one for a key that the formula does not have.",
        legal: "A weight of exactly 0 while another is positive.",
        why: "A negative or missing weight turns a good fit into a bad one.",
        fix: "Give every component of the formula, and no other, a finite weight of 0 or more.",
        check: template_match_weight_invalid,
    },
    Rule {
        code: "template_match_total_weight_zero",
        severity: Severity::Error,
        section: "C-09",
        fires: "The sum of the weights is not finite or is <= 0.",
        legal: "One positive weight.",
        why: "Where nothing counts there is no score; dividing by it gives no number.",
        fix: "Give at least one component a positive weight.",
        check: template_match_total_weight_zero,
    },
    Rule {
        code: "template_match_soft_penalty_invalid",
        severity: Severity::Error,
        section: "C-09",
        fires: "softPenaltySum is missing, NaN, infinite, negative or above formula.soft_penalty_max_total, or that maximum is no number from 0 to 1.",
        legal: "softPenaltySum == soft_penalty_max_total.",
        why: "A negative penalty is a bonus that nobody allowed, and one above the maximum sinks every template alike.",
        fix: "Keep the sum of penalties from 0 to soft_penalty_max_total, and that from 0 to 1.",
        check: template_match_soft_penalty_invalid,
    },
    Rule {
        code: "template_match_hard_veto_cap_invalid",
        severity: Severity::Error,
        section: "C-09",
        fires: "formula.hard_veto_cap is NaN, infinite, below 0 or above 1 (checked even when hardVetoCount is 0).",
        legal: "hard_veto_cap = 0.",
        why: "A cap that is no score lets a template through that was vetoed.",
        fix: "Set hard_veto_cap from 0 to 1.",
        check: template_match_hard_veto_cap_invalid,
    },
    Rule {
        code: "template_match_output_nan",
        severity: Severity::Error,
        section: "C-09",
        fires: "A stored or returned template match score is NaN, infinite or outside [0, 1] (a post-condition that the checked function cannot violate).",
        legal: "A score of exactly 0 after penalties.",
        why: "A score that is no number from 0 to 1 compares with nothing; the template that is taken is taken by accident.",
        fix: "Compute the score again with the checked function.",
        check: template_match_output_nan,
    },
];

fn template_match_component_out_of_range(world: &World, found: &mut Found<'_>) {
    find(world, found, Error::ComponentOutOfRange);
}

fn template_match_weight_invalid(world: &World, found: &mut Found<'_>) {
    find(world, found, Error::WeightInvalid);
}

fn template_match_total_weight_zero(world: &World, found: &mut Found<'_>) {
    find(world, found, Error::TotalWeightZero);
}

fn template_match_soft_penalty_invalid(world: &World, found: &mut Found<'_>) {
    find(world, found, Error::SoftPenaltyInvalid);
}

fn template_match_hard_veto_cap_invalid(world: &World, found: &mut Found<'_>) {
    find(world, found, Error::HardVetoCapInvalid);
}

fn template_match_output_nan(world: &World, found: &mut Found<'_>) {
    for record in world.of("TemplateMatchEvaluation") {
        if record.number("overall_score").is_some_and(|score| !is_score(score)) {
            found.add(record, "overall_score", "it is no number from 0 to 1");
        }
    }
}

/// Finds the formulas and evaluations that fail one check.
fn find(world: &World, found: &mut Found<'_>, wanted: Error) {
    let mut versions: BTreeMap<&str, Vec<Record<'_>>> = BTreeMap::new();
    for row in world.of("TemplateMatchFormula") {
        versions.entry(row.id()).or_default().push(row);
        let error = formula(row).and_then(|formula| check_formula(&formula).err());
        if error == Some(wanted) {
            found.add(row, formula_path(wanted), wanted.to_string());
        }
    }
    for row in world.of("TemplateMatchEvaluation") {
        let Some(name) = row.json().text("formula_ref") else { continue };
        let named =
            versions.get(id_of(name, "template_match_formula")).map(Vec::as_slice).unwrap_or_default();
        let Some(formula) = formula_row(row, name, named).and_then(formula) else { continue };
        let Some(evaluated) = evaluated(row, &formula) else { continue };
        if overall_score(&evaluated, &formula).err() == Some(wanted) {
            found.add(row, evaluation_path(wanted), wanted.to_string());
        }
    }
}

/// The formula of an evaluation: the version that it names, else the last one before it, else the first.
fn formula_row<'w>(row: Record<'w>, name: &'w str, versions: &[Record<'w>]) -> Option<Record<'w>> {
    match Reference::read(name).filter(|named| named.version.is_some() || named.hash.is_some()) {
        Some(pinned) => row.world.resolve(pinned).filter(|formula| formula.kind() == "TemplateMatchFormula"),
        None => {
            let later = versions.partition_point(|formula| formula.seq() < row.seq());
            versions.get(later.saturating_sub(1)).copied()
        }
    }
}

fn formula(row: Record<'_>) -> Option<Formula<'_>> {
    Some(Formula {
        component_weights: numbers(row.json(), "component_weights")?,
        hard_veto_cap: row.number("hard_veto_cap").unwrap_or(f64::NAN),
        soft_penalty_max_total: row.number("soft_penalty_max_total").unwrap_or(f64::NAN),
    })
}

/// What was evaluated. Weights that are not given are those of the formula; a count of vetoes that is none is taken for one,
/// so that it lifts nothing.
fn evaluated<'w>(row: Record<'w>, formula: &Formula<'w>) -> Option<Match<'w>> {
    Some(Match {
        components: numbers(row.json(), "components")?,
        weights: numbers(row.json(), "weights").unwrap_or_else(|| formula.component_weights.clone()),
        soft_penalty_sum: row.number("soft_penalty_sum").unwrap_or(f64::NAN),
        hard_veto_count: row.count("hard_veto_count").unwrap_or(1),
    })
}

/// The members of an object as numbers; what is no number is not a number here either.
fn numbers<'w>(json: &'w Json, path: &str) -> Option<ByComponent<'w>> {
    let members = json.members(path)?;
    Some(members.iter().map(|(name, value)| (name, number(value).unwrap_or(f64::NAN))).collect())
}

fn formula_path(error: Error) -> &'static str {
    match error {
        Error::ComponentOutOfRange | Error::WeightInvalid | Error::TotalWeightZero => "component_weights",
        Error::SoftPenaltyInvalid => "soft_penalty_max_total",
        Error::HardVetoCapInvalid => "hard_veto_cap",
    }
}

fn evaluation_path(error: Error) -> &'static str {
    match error {
        Error::ComponentOutOfRange => "components",
        Error::WeightInvalid | Error::TotalWeightZero => "weights",
        Error::SoftPenaltyInvalid => "soft_penalty_sum",
        Error::HardVetoCapInvalid => "formula_ref",
    }
}

#[cfg(test)]
#[path = "template_match_tests.rs"]
mod tests;
