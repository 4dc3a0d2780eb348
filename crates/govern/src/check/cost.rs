//! Validation codes: cost.
//! Owns: the rules of this area. Must not: decide by names.

use super::{Area, Found, Rule, Severity};
use crate::derive::is_finite_and_not_negative;
use crate::member::Member;
use crate::path::Path;
use crate::reference::Reference;
use crate::world::{Mark, Record, World};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::vec::Vec;
use countersign_record::json::Json;

pub(super) const AREA: Area = Area { name: "cost", rules: RULES, kinds: &[] };

const RULES: &[Rule] = &[
    Rule {
        code: "cost_vector_unit_mismatch",
        severity: Severity::Error,
        section: "C-07",
        fires: "A CostVector.components entry has unit different from its key, or a sum (a vector whose receipt has cost vectors as inputs) has a dimension that none of its parts has.",
        legal: "Adding two vectors with disjoint dimensions, which yields their union.",
        why: "Dollars were added to tokens, or stand where tokens should; a budget over them means nothing.",
        fix: "Give each component the unit of its key, and add only what is of one dimension.",
        check: cost_vector_unit_mismatch,
    },
    Rule {
        code: "cost_quantile_sum_without_correlation_policy",
        severity: Severity::Error,
        section: "C-07",
        fires: "A CostVector whose receipt has two or more cost vectors as inputs carries p50/p90/p99 in a dimension that two or more of them have, and neither the vector nor the receipt declares a correlation_policy.",
        legal: "The aggregate carries expected (and hard_cap) only.",
        why: "Quantiles of parts do not add up to those of the whole: the sum looks safe and is exceeded far more often than it says.",
        fix: "Leave the quantiles out of the sum, or declare the correlation_policy by which they were combined.",
        check: cost_quantile_sum_without_correlation_policy,
    },
    Rule {
        code: "scalar_cost_estimate_legacy_field_present",
        severity: Severity::Error,
        section: "C-07 (D-19)",
        fires: "A record carries the scalar CostEstimate/estimated_cost field instead of a cost vector ref.",
        legal: "estimated_lock_duration_ms (not a cost), or CostDistribution.expected inside a CostVector.",
        why: "One number hides what is spent: money, tokens, waiting and people's time can't be told apart or capped.",
        fix: "Write a CostVector and refer to it.",
        check: scalar_cost_estimate_legacy_field_present,
    },
    Rule {
        code: "cost_vector_negative_component",
        severity: Severity::Error,
        section: "C-07",
        fires: "Any of expected, p50, p90, p99 or hard_cap in a CostVector component is negative or non-finite.",
        legal: "A zero component.",
        why: "A negative cost makes room in a budget that is not there, and one that is not finite breaks every sum.",
        fix: "Write amounts that are finite and 0 or more; a refund is a record of its own.",
        check: cost_vector_negative_component,
    },
];

const QUANTILES: [&str; 3] = ["p50", "p90", "p99"];
const AMOUNTS: [&str; 5] = ["expected", "p50", "p90", "p99", "hard_cap"];
/// How quantiles may be combined.
const POLICIES: [&str; 3] = [
    "assume_independent_monte_carlo",
    "assume_perfect_correlation_upper_bound",
    "empirical_joint_distribution",
];

/// The parts of a cost, by dimension.
fn components(vector: Record<'_>) -> impl Iterator<Item = (&str, &Json)> {
    vector.json().members("components").into_iter().flat_map(|components| components.iter())
}

/// The costs that are sums, by the receipts that say so.
struct Sums<'w> {
    /// The receipt of each sum that names its output, by the id of that; the last one counts.
    by_output: BTreeMap<&'w str, Record<'w>>,
    /// The parts of each receipt that was looked at, by its place; `None` for one that is of no sum.
    parts: BTreeMap<u64, Option<Parts<'w>>>,
}

/// The parts of a sum.
struct Parts<'w> {
    receipt: Record<'w>,
    are_all_known: bool,
    /// How many of those that are known have each dimension.
    having: BTreeMap<&'w str, usize>,
}

impl<'w> Sums<'w> {
    fn of(world: &'w World) -> Self {
        let mut by_output = BTreeMap::new();
        for receipt in world.of("FormulaEvaluationReceipt") {
            let output = receipt.json().reference("output_ref").filter(|to| to.kind == VECTOR);
            by_output.extend(output.map(|to| (to.id, receipt)));
        }
        Sums { by_output, parts: BTreeMap::new() }
    }

    /// The parts of a cost, if it is a sum: by the receipt that it names, else by one that names it.
    fn parts(&mut self, vector: Record<'w>) -> Option<&Parts<'w>> {
        let named = vector.follow("formula_eval_receipt_ref");
        let receipt = named.or_else(|| self.by_output.get(vector.id()).copied())?;
        self.parts.entry(receipt.seq()).or_insert_with(|| Parts::of(receipt)).as_ref()
    }
}

impl<'w> Parts<'w> {
    fn of(receipt: Record<'w>) -> Option<Self> {
        let inputs = receipt.json().references("input_refs").into_iter();
        // A part counts once, however often it is named.
        let ids: BTreeSet<&str> = inputs.filter(|input| input.kind == VECTOR).map(|input| input.id).collect();
        let resolve =
            |id: &&'w str| receipt.world.resolve(Reference { kind: VECTOR, id, version: None, hash: None });
        let known: Vec<Record<'_>> = ids.iter().filter_map(resolve).collect();
        let mut having: BTreeMap<&str, usize> = BTreeMap::new();
        for (dimension, _) in known.iter().flat_map(|part| components(*part)) {
            *having.entry(dimension).or_default() += 1;
        }
        (ids.len() > 1).then_some(Parts { receipt, are_all_known: known.len() == ids.len(), having })
    }

    /// How many of them have a dimension.
    fn having(&self, dimension: &str) -> usize {
        self.having.get(dimension).copied().unwrap_or(0)
    }
}

const VECTOR: &str = "cost_vector";

fn cost_vector_unit_mismatch(world: &World, found: &mut Found<'_>) {
    let mut sums = Sums::of(world);
    for vector in world.of("CostVector") {
        let sum = sums.parts(vector).filter(|parts| parts.are_all_known);
        for (dimension, amount) in components(vector) {
            if let Some(unit) = amount.text("unit").filter(|unit| *unit != dimension) {
                let message = format!("{unit} stands under {dimension}");
                found.add(vector, Path::from("components").name(dimension).then("unit"), message);
            }
            if sum.is_some_and(|parts| parts.having(dimension) == 0) {
                let message = format!("no part of the sum has {dimension}");
                found.add(vector, Path::from("components").name(dimension), message);
            }
        }
    }
}

fn cost_quantile_sum_without_correlation_policy(world: &World, found: &mut Found<'_>) {
    let mut sums = Sums::of(world);
    for vector in world.of("CostVector") {
        let Some(parts) = sums.parts(vector) else { continue };
        let is_declared = |record: Record<'_>| record.is_one_of("correlation_policy", &POLICIES);
        if is_declared(vector) || is_declared(parts.receipt) {
            continue;
        }
        for (dimension, amount) in components(vector).filter(|(dimension, _)| parts.having(dimension) > 1) {
            if let Some(quantile) = QUANTILES.into_iter().find(|quantile| amount.at(quantile).is_some()) {
                let message = format!("a {quantile} of a sum, and nothing says how it was combined");
                found.add(vector, Path::from("components").name(dimension).then(quantile), message);
            }
        }
    }
}

fn scalar_cost_estimate_legacy_field_present(world: &World, found: &mut Found<'_>) {
    for record in world.marked(Mark::Cost) {
        let mut paths = Vec::new();
        scalar_costs(record.json(), &Path::whole(), &mut paths);
        for path in paths {
            found.add(record, path, "a cost as one number");
        }
    }
}

/// Where a value has a cost that is no reference to a vector. Objects nest no deeper than reading them lets them.
fn scalar_costs(value: &Json, at: &Path, paths: &mut Vec<Path>) {
    let below = |name: &str| at.clone().name(name);
    match value {
        Json::Object(members) => {
            for (name, member) in members.iter() {
                let is_cost = Mark::of(name) == Some(Mark::Cost);
                let is_vector = || {
                    let reference = member.as_str().and_then(Reference::read);
                    reference.is_some_and(|reference| reference.kind == VECTOR)
                };
                if is_cost && *member != Json::Null && !is_vector() {
                    paths.push(below(name));
                } else if matches!(member, Json::Object(_) | Json::Array(_)) {
                    scalar_costs(member, &below(name), paths);
                }
            }
        }
        Json::Array(items) => {
            let nested = |item: &&Json| matches!(item, Json::Object(_) | Json::Array(_));
            for (place, item) in items.iter().enumerate().filter(|(_, item)| nested(item)) {
                scalar_costs(item, &at.clone().item(place), paths);
            }
        }
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {}
    }
}

fn cost_vector_negative_component(world: &World, found: &mut Found<'_>) {
    let wrong = |amount: &Json| {
        let is_wrong =
            |name: &&str| amount.number(name).is_some_and(|value| !is_finite_and_not_negative(value));
        AMOUNTS.into_iter().find(is_wrong)
    };
    for vector in world.of("CostVector") {
        for (dimension, amount) in components(vector) {
            if let Some(name) = wrong(amount) {
                let message = "it is negative or not finite";
                found.add(vector, Path::from("components").name(dimension).then(name), message);
            }
        }
    }
    for amount in world.of("CostDistribution") {
        if let Some(name) = wrong(amount.json()) {
            found.add(amount, name, "it is negative or not finite");
        }
    }
}

#[cfg(test)]
#[path = "cost_tests.rs"]
mod tests;
