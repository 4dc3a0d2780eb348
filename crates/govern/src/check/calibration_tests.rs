//! Ways in which the codes of calibration fire, besides those of the fixtures.

use super::AREA;
use crate::check::trial::{has_in_bundle, row};
use std::{format, string::String};

fn spec(metric: &str, more: &str) -> String {
    row(
        "CalibrationMetricSpec",
        "",
        "",
        &format!(
            r#""metric_id":"{metric}","sample_policy":{{"min_sample_size":10}},"formula_ref":"f1"{more}"#
        ),
    )
}

fn result(metric: &str, more: &str) -> String {
    row(
        "CalibrationMetricResult",
        "",
        "",
        &format!(r#""result_id":"r","metric_spec_ref":"{metric}","sample_size":20{more}"#),
    )
}

#[test]
fn correlations_are_no_shares() {
    let code = ["correlation_metric_declared_as_ratio"];
    let formula = |output: &str, more: &str| {
        row("FormulaSpec", "", "", &format!(r#""formula_id":"f1","output":{{{output}}}{more}"#))
    };
    let right = r#""value_kind":"correlation","unit":"unitless","range":[-1,1]"#;
    has_in_bundle(&AREA, &[formula(right, "")], &[]);
    has_in_bundle(&AREA, &[formula(right, r#","numerator":"x""#)], &code);
    for output in [
        r#""value_kind":"correlation","unit":"percent""#,
        r#""value_kind":"correlation","unit":"score_0_1""#,
        r#""value_kind":"correlation","range":[0,1]"#,
        r#""value_kind":"correlation","denominator_ref":"x:y""#,
    ] {
        has_in_bundle(&AREA, &[formula(output, "")], &code);
    }
    let named = |output: &str| {
        row(
            "FormulaSpec",
            "",
            "",
            &format!(r#""formula_id":"confidence_convergence_spearman","output":{{{output}}}"#),
        )
    };
    has_in_bundle(&AREA, &[named(r#""value_kind":"ratio","unit":"ratio""#)], &code);
    has_in_bundle(&AREA, &[named(right)], &[]);
    let ratio = formula(r#""value_kind":"ratio","unit":"ratio","range":[0,1]"#, "");
    has_in_bundle(&AREA, core::slice::from_ref(&ratio), &[]);
    has_in_bundle(&AREA, &[spec("novelty_threshold_auc", ""), ratio.clone()], &[]);
    has_in_bundle(&AREA, &[spec("confidence_convergence_spearman", ""), ratio], &code);
    has_in_bundle(&AREA, &[spec("confidence_convergence_spearman", r#","unit":"ratio""#)], &code);
}

#[test]
fn samples_are_large_enough() {
    let code = ["calibration_metric_without_sample_policy"];
    let auc = "novelty_threshold_auc";
    for policy in ["{}", r#"{"min_sample_size":0}"#, r#"{"min_sample_size":"NaN"}"#] {
        has_in_bundle(
            &AREA,
            &[row(
                "CalibrationMetricSpec",
                "",
                "",
                &format!(r#""metric_id":"{auc}","sample_policy":{policy}"#),
            )],
            &code,
        );
    }
    has_in_bundle(&AREA, &[spec(auc, ""), result(auc, r#","metric_value":0.5"#)], &[]);
    let few = |value: &str| {
        row(
            "CalibrationMetricResult",
            "",
            "",
            &format!(r#""metric_spec_ref":"{auc}","sample_size":9,"metric_value":{value}"#),
        )
    };
    has_in_bundle(&AREA, &[spec(auc, ""), few("0.5")], &code);
    let uncounted = |value: &str| {
        row(
            "CalibrationMetricResult",
            "",
            "",
            &format!(r#""metric_spec_ref":"{auc}","metric_value":{value}"#),
        )
    };
    has_in_bundle(&AREA, &[spec(auc, ""), uncounted("0.5")], &code);
    has_in_bundle(&AREA, &[spec(auc, ""), uncounted("null")], &[]);
    has_in_bundle(&AREA, &[spec(auc, ""), few("null")], &[]);
    has_in_bundle(&AREA, &[few("0.5")], &[]);
}

#[test]
fn two_classes_are_seen() {
    let code = ["calibration_metric_all_one_class"];
    let of = |metric: &str, counts: &str| {
        [spec(metric, ""), result(metric, &format!(r#","metric_value":0.5,{counts}"#))]
    };
    has_in_bundle(
        &AREA,
        &of("novelty_threshold_precision_recall", r#""positive_count":0,"negative_count":20"#),
        &code,
    );
    has_in_bundle(&AREA, &of("novelty_threshold_auc", r#""positive_count":1,"negative_count":19"#), &[]);
    has_in_bundle(
        &AREA,
        &of("planner_confidence_brier_score", r#""positive_count":0,"negative_count":20"#),
        &[],
    );
}

#[test]
fn open_cases_are_handled() {
    let code = ["calibration_metric_without_censoring_policy"];
    let metric = "planner_confidence_brier_score";
    let of = |class: &str, policy: &str| {
        let observation = row(
            "RevisionCycleOutcomeObservation",
            "",
            "",
            &format!(r#""observation_id":"o","terminal_class":"{class}""#),
        );
        let receipt = row(
            "FormulaEvaluationReceipt",
            "",
            "",
            r#""receipt_id":"e","input_refs":["revision_cycle_outcome_observation:o"]"#,
        );
        [
            observation,
            receipt,
            spec(metric, policy),
            result(metric, r#","formula_eval_receipt_ref":"formula_evaluation_receipt:e""#),
        ]
    };
    has_in_bundle(&AREA, &of("still_open_right_censored", ""), &code);
    has_in_bundle(
        &AREA,
        &of("still_open_right_censored", r#","censoring_policy":{"right_censored_allowed":true}"#),
        &[],
    );
    has_in_bundle(&AREA, &of("succeeded", ""), &[]);
}
