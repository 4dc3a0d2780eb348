//! Validation codes: calibration.
//! Owns: the rules of this area. Must not: decide by names.

use super::formulas::{Specs, id_of};
use super::{Area, Found, Rule, Severity};
use crate::derive::is_score;
use crate::member::{Member, number};
use crate::path::Path;
use crate::world::{Record, World};
use alloc::collections::BTreeSet;
use alloc::format;
use countersign_record::json::Json;

pub(super) const AREA: Area = Area { name: "calibration", rules: RULES, kinds: &[] };

const RULES: &[Rule] = &[
    Rule {
        code: "correlation_metric_declared_as_ratio",
        severity: Severity::Error,
        section: "C-01; Calibration",
        fires: "A FormulaSpec or CalibrationMetricSpec that computes a correlation (confidence_convergence_spearman, or value_kind correlation) declares value_kind ratio, unit ratio/percent/probability/score_0_1, a range inside [0,1], or a numerator/denominator.",
        legal: "value_kind correlation, unit unitless, range [-1, 1].",
        why: "A correlation goes below zero and has no numerator; read as a share, no relation at all looks like a half.",
        fix: "Declare value_kind correlation, unit unitless and the range from -1 to 1.",
        check: correlation_metric_declared_as_ratio,
    },
    Rule {
        code: "calibration_metric_without_sample_policy",
        severity: Severity::Error,
        section: "Calibration",
        fires: "A CalibrationMetricSpec has no sample_policy or min_sample_size < 1, or a CalibrationMetricResult with no sample_size or one < min_sample_size has a non-null metric_value.",
        legal: "sample_size below the minimum with metric_value null and indeterminate_reason insufficient_sample.",
        why: "A calibration over three cases says nothing about the next one, but its number looks as good as one over a thousand.",
        fix: "Set a min_sample_size of at least 1, and leave metric_value null with insufficient_sample below it.",
        check: calibration_metric_without_sample_policy,
    },
    Rule {
        code: "calibration_metric_all_one_class",
        severity: Severity::Error,
        section: "Calibration",
        fires: "A CalibrationMetricResult for a discrimination metric (novelty_threshold_auc, novelty_threshold_precision_recall) has positive_count = 0 or negative_count = 0 and a non-null metric_value.",
        legal: "The same counts with metric_value null and indeterminate_reason all_one_class, or a Brier score over one class.",
        why: "How well two classes are told apart can't be measured where only one was seen; the number would be made up.",
        fix: "Leave metric_value null with indeterminate_reason all_one_class, and wait for cases of the other class.",
        check: calibration_metric_all_one_class,
    },
    Rule {
        code: "calibration_metric_without_censoring_policy",
        severity: Severity::Error,
        section: "Calibration",
        fires: "A CalibrationMetricSpec with observed_outcome_encoding time_to_event (or with a result whose receipt has still_open_right_censored observations among its inputs) has no censoring_policy.",
        legal: "observed_outcome_encoding binary_success over closed observations without a censoring_policy.",
        why: "Cases that are still open count as successes or failures by accident, and that tilts the result.",
        fix: "Declare a censoring_policy: how open cases are handled, and after which window.",
        check: calibration_metric_without_censoring_policy,
    },
];

/// The one calibration metric of the contract that is a correlation.
const CORRELATION: &str = "confidence_convergence_spearman";
/// Those that tell two classes apart.
const DISCRIMINATION: [&str; 2] = ["novelty_threshold_auc", "novelty_threshold_precision_recall"];
/// Units of shares.
const SHARES: [&str; 4] = ["ratio", "percent", "probability", "score_0_1"];

fn correlation_metric_declared_as_ratio(world: &World, found: &mut Found<'_>) {
    let specs = world.of("CalibrationMetricSpec").filter(|spec| spec.is("metric_id", CORRELATION));
    // The contract has a formula of the same name.
    let mut formulas: BTreeSet<&str> = BTreeSet::from([CORRELATION]);
    for spec in specs {
        formulas.extend(spec.json().text("formula_ref").map(|text| id_of(text, "formula_spec")));
        share_of(spec.json()).into_iter().for_each(|path| tell(spec, path.into(), found));
    }
    for spec in Specs::of(world).versions().flatten() {
        if spec.is("output.value_kind", "correlation") || formulas.contains(spec.id()) {
            let inside = spec.json().at("output").and_then(share_of);
            let inside = inside.map(|path| Path::from("output").then(path));
            let path = inside.or_else(|| share_of(spec.json()).map(Path::from));
            path.into_iter().for_each(|path| tell(*spec, path, found));
        }
    }
}

fn tell(spec: Record<'_>, path: Path, found: &mut Found<'_>) {
    found.add(spec, path, "a correlation is declared as a share of something");
}

/// Where something is declared to be a share.
fn share_of(declared: &Json) -> Option<&'static str> {
    let parts = ["numerator", "denominator", "numerator_ref", "denominator_ref"];
    let is_inside =
        |range: &[Json]| !range.is_empty() && range.iter().all(|end| number(end).is_some_and(is_score));
    if declared.is("value_kind", "ratio") {
        Some("value_kind")
    } else if declared.is_one_of("unit", &SHARES) {
        Some("unit")
    } else if is_inside(declared.list("range")) {
        Some("range")
    } else {
        parts.into_iter().find(|part| declared.at(part).is_some())
    }
}

/// The metric that a result is of.
fn spec_of(result: Record<'_>) -> Option<Record<'_>> {
    let id = id_of(result.json().text("metric_spec_ref")?, "calibration_metric_spec");
    result.world.policy("CalibrationMetricSpec", id, result.seq())
}

fn calibration_metric_without_sample_policy(world: &World, found: &mut Found<'_>) {
    for spec in world.of("CalibrationMetricSpec") {
        if !spec.number("sample_policy.min_sample_size").is_some_and(|least| least >= 1.0) {
            found.add(spec, "sample_policy", "it does not say how many cases are needed");
        }
    }
    for result in world.of("CalibrationMetricResult").filter(|result| result.at("metric_value").is_some()) {
        if result.number("sample_size").is_none() {
            found.add(result, "sample_size", "there is a value, and nobody says over how many cases");
        }
        let least = spec_of(result).and_then(|spec| spec.number("sample_policy.min_sample_size"));
        if let (Some(least), Some(cases)) = (least, result.number("sample_size"))
            && cases < least
        {
            found.add(result, "metric_value", format!("a value over {cases} cases where {least} are needed"));
        }
    }
}

fn calibration_metric_all_one_class(world: &World, found: &mut Found<'_>) {
    for result in world.of("CalibrationMetricResult").filter(|result| result.at("metric_value").is_some()) {
        let is_discrimination =
            spec_of(result).is_some_and(|spec| spec.is_one_of("metric_id", &DISCRIMINATION));
        let is_empty = |class: &str| result.count(class) == Some(0);
        if is_discrimination && (is_empty("positive_count") || is_empty("negative_count")) {
            found.add(result, "metric_value", "only one class was seen");
        }
    }
}

fn calibration_metric_without_censoring_policy(world: &World, found: &mut Found<'_>) {
    let without = |spec: &Record<'_>| spec.is_blank("censoring_policy");
    for spec in world.of("CalibrationMetricSpec").filter(without) {
        if spec.is("observed_outcome_encoding", "time_to_event") {
            found.add(
                spec,
                "censoring_policy",
                "it measures how long things take and does not say what of open ones",
            );
        }
    }
    for result in world.of("CalibrationMetricResult") {
        let Some(spec) = spec_of(result).filter(without) else { continue };
        let Some(receipt) = result.follow("formula_eval_receipt_ref") else { continue };
        let inputs = receipt.json().references("input_refs").into_iter();
        let mut open = inputs.filter_map(|input| world.resolve(input));
        if open.any(|input| input.is("terminal_class", "still_open_right_censored")) {
            found.add(spec, "censoring_policy", "a result of it has open cases among its inputs");
        }
    }
}

#[cfg(test)]
#[path = "calibration_tests.rs"]
mod tests;
