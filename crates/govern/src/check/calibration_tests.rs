//! Ways in which the codes of calibration fire, besides those of the fixtures.

use crate::check::formulas::tests::{codes, row};
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

fn check(rows: &[String], expected: &[&str]) {
    assert_eq!(codes("calibration", rows), expected, "{rows:#?}");
}

#[test]
fn correlations_are_no_shares() {
    let code = ["correlation_metric_declared_as_ratio"];
    let formula = |output: &str, more: &str| {
        row("FormulaSpec", "", "", &format!(r#""formula_id":"f1","output":{{{output}}}{more}"#))
    };
    let right = r#""value_kind":"correlation","unit":"unitless","range":[-1,1]"#;
    check(&[formula(right, "")], &[]);
    check(&[formula(right, r#","numerator":"x""#)], &code);
    for output in [
        r#""value_kind":"correlation","unit":"percent""#,
        r#""value_kind":"correlation","unit":"score_0_1""#,
        r#""value_kind":"correlation","range":[0,1]"#,
        r#""value_kind":"correlation","denominator_ref":"x:y""#,
    ] {
        check(&[formula(output, "")], &code);
    }
    let ratio = formula(r#""value_kind":"ratio","unit":"ratio","range":[0,1]"#, "");
    check(core::slice::from_ref(&ratio), &[]);
    check(&[spec("novelty_threshold_auc", ""), ratio.clone()], &[]);
    check(&[spec("confidence_convergence_spearman", ""), ratio], &code);
    check(&[spec("confidence_convergence_spearman", r#","unit":"ratio""#)], &code);
}

#[test]
fn samples_are_large_enough() {
    let code = ["calibration_metric_without_sample_policy"];
    let auc = "novelty_threshold_auc";
    for policy in ["{}", r#"{"min_sample_size":0}"#, r#"{"min_sample_size":"NaN"}"#] {
        check(
            &[row(
                "CalibrationMetricSpec",
                "",
                "",
                &format!(r#""metric_id":"{auc}","sample_policy":{policy}"#),
            )],
            &code,
        );
    }
    check(&[spec(auc, ""), result(auc, r#","metric_value":0.5"#)], &[]);
    let few = |value: &str| {
        row(
            "CalibrationMetricResult",
            "",
            "",
            &format!(r#""metric_spec_ref":"{auc}","sample_size":9,"metric_value":{value}"#),
        )
    };
    check(&[spec(auc, ""), few("0.5")], &code);
    check(&[spec(auc, ""), few("null")], &[]);
    check(&[few("0.5")], &[]);
}

#[test]
fn two_classes_are_seen() {
    let code = ["calibration_metric_all_one_class"];
    let of = |metric: &str, counts: &str| {
        [spec(metric, ""), result(metric, &format!(r#","metric_value":0.5,{counts}"#))]
    };
    check(&of("novelty_threshold_precision_recall", r#""positive_count":0,"negative_count":20"#), &code);
    check(&of("novelty_threshold_auc", r#""positive_count":1,"negative_count":19"#), &[]);
    check(&of("planner_confidence_brier_score", r#""positive_count":0,"negative_count":20"#), &[]);
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
    check(&of("still_open_right_censored", ""), &code);
    check(&of("still_open_right_censored", r#","censoring_policy":{"right_censored_allowed":true}"#), &[]);
    check(&of("succeeded", ""), &[]);
}
