//! Ways in which the codes of cost fire, besides those of the fixtures.

use super::AREA;
use crate::check::trial::{has_in_bundle, row};
use std::{format, string::String};

fn vector(id: &str, components: &str) -> String {
    row("CostVector", "", "", &format!(r#""cost_vector_id":"{id}","components":{{{components}}}"#))
}

fn sum(components: &str, more: &str, of_receipt: &str) -> [String; 2] {
    let receipt = format!(r#""receipt_id":"r","input_refs":["cost_vector:a","cost_vector:b"]{of_receipt}"#);
    let sum = format!(
        r#""cost_vector_id":"s","components":{{{components}}},"formula_eval_receipt_ref":"formula_evaluation_receipt:r"{more}"#
    );
    [row("FormulaEvaluationReceipt", "", "", &receipt), row("CostVector", "", "", &sum)]
}

#[test]
fn sums_are_of_their_parts() {
    let code = ["cost_vector_unit_mismatch"];
    let parts = [
        vector("a", r#""usd":{"expected":1,"unit":"usd"}"#),
        vector("b", r#""input_tokens":{"expected":9}"#),
    ];
    let union = sum(r#""usd":{"expected":1},"input_tokens":{"expected":9}"#, "", "");
    has_in_bundle(&AREA, &[&parts[..], &union].concat(), &[]);
    let other = sum(r#""usd":{"expected":1},"storage_bytes":{"expected":9}"#, "", "");
    has_in_bundle(&AREA, &[&parts[..], &other].concat(), &code);
    has_in_bundle(&AREA, &[&parts[..1], &other].concat(), &[]);
}

#[test]
fn quantiles_need_a_policy() {
    let code = ["cost_quantile_sum_without_correlation_policy"];
    let parts = [
        vector("a", r#""usd":{"expected":1,"p99":2},"input_tokens":{"expected":1,"p50":1}"#),
        vector("b", r#""usd":{"expected":1,"p99":2}"#),
    ];
    let check =
        |rows: [String; 2], expected: &[&str]| has_in_bundle(&AREA, &[&parts[..], &rows].concat(), expected);
    let added = r#""usd":{"expected":2,"p99":4}"#;
    check(sum(added, "", ""), &code);
    check(sum(added, r#","correlation_policy":"assume_perfect_correlation_upper_bound""#, ""), &[]);
    check(sum(added, "", r#","correlation_policy":"empirical_joint_distribution""#), &[]);
    check(sum(added, r#","correlation_policy":"somehow""#, ""), &code);
    check(sum(r#""usd":{"expected":2,"hard_cap":9}"#, "", ""), &[]);
    // A sum may be known only by the receipt that names it.
    let [receipt, unnamed] = sum(added, "", r#","output_ref":"cost_vector:s""#);
    let unnamed = unnamed.replace(r#","formula_eval_receipt_ref":"formula_evaluation_receipt:r""#, "");
    check([receipt.clone(), unnamed.clone()], &code);
    check([receipt.replace("cost_vector:s", "cost_vector:t"), unnamed], &[]);
    // What one part has alone stays as it was.
    check(sum(r#""usd":{"expected":2},"input_tokens":{"expected":1,"p50":1}"#, "", ""), &[]);
}

#[test]
fn one_number_is_no_cost() {
    let code = ["scalar_cost_estimate_legacy_field_present"];
    let plan = |record: &str| row("RevisionPlan", "", "", record);
    has_in_bundle(&AREA, &[plan(r#""steps":[{"payload":{"estimated_cost":3}}]"#)], &code);
    has_in_bundle(&AREA, &[plan(r#""cost_estimate":{"amount":3}"#)], &code);
    has_in_bundle(&AREA, &[plan(r#""CostEstimate":3"#)], &code);
    has_in_bundle(&AREA, &[plan(r#""estimated_cost":"cost_vector:c""#)], &[]);
    has_in_bundle(
        &AREA,
        &[plan(
            r#""estimated_cost":null,"estimated_lock_duration_ms":5,"estimated_cost_vector_ref":"cost_vector:c""#,
        )],
        &[],
    );
}

#[test]
fn amounts_are_amounts() {
    let code = ["cost_vector_negative_component"];
    for amount in ["-1", r#""NaN""#, r#""Infinity""#] {
        for name in ["expected", "p50", "p90", "p99", "hard_cap"] {
            has_in_bundle(&AREA, &[vector("a", &format!(r#""usd":{{"{name}":{amount}}}"#))], &code);
        }
    }
    has_in_bundle(&AREA, &[row("CostDistribution", "d", "", r#""expected":-1,"unit":"usd""#)], &code);
    has_in_bundle(&AREA, &[vector("a", r#""usd":{"expected":0},"other":7"#)], &[]);
}
