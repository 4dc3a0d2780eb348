//! Ways in which the codes of template matches fire, besides those of the fixtures.

use super::AREA;
use crate::check::trial::{has_in_bundle, row};
use std::{format, string::String};

fn formula(weights: &str, cap: &str, most: &str) -> String {
    row(
        "TemplateMatchFormula",
        "",
        "",
        &format!(
            r#""formula_id":"f","component_weights":{weights},"hard_veto_cap":{cap},"soft_penalty_max_total":{most}"#
        ),
    )
}

fn evaluation(reference: &str, components: &str, more: &str) -> String {
    row(
        "TemplateMatchEvaluation",
        "",
        "",
        &format!(
            r#""evaluation_id":"e","formula_ref":"{reference}","components":{components},"hard_veto_count":0,"overall_score":0.5{more}"#
        ),
    )
}

#[test]
fn evaluations_are_checked_with_their_formula() {
    let (range, weight, penalty) = (
        ["template_match_component_out_of_range"],
        ["template_match_weight_invalid"],
        ["template_match_soft_penalty_invalid"],
    );
    let good = formula(r#"{"a":1,"b":1}"#, "0.5", "0.5");
    let of = |components: &str, more: &str| [good.clone(), evaluation("f", components, more)];
    let free = r#","soft_penalty_sum":0"#;
    has_in_bundle(&AREA, &of(r#"{"a":1,"b":0,"c":9}"#, free), &[]);
    has_in_bundle(&AREA, &of(r#"{"a":1}"#, free), &range);
    has_in_bundle(&AREA, &of(r#"{"a":1,"b":"NaN"}"#, free), &range);
    let parts = r#"{"a":1,"b":0}"#;
    has_in_bundle(&AREA, &of(parts, r#","soft_penalty_sum":0,"weights":{"a":1}"#), &weight);
    has_in_bundle(&AREA, &of(parts, r#","soft_penalty_sum":0,"weights":{"a":1,"b":1,"c":1}"#), &weight);
    has_in_bundle(&AREA, &of(parts, ""), &penalty);
    has_in_bundle(&AREA, &of(parts, r#","soft_penalty_sum":-0.1"#), &penalty);
    has_in_bundle(&AREA, &[evaluation("lost", parts, free)], &[]);
    has_in_bundle(
        &AREA,
        &[evaluation("lost", parts, r#","overall_score_was":1"#).replace("0.5", "1.5")],
        &["template_match_output_nan"],
    );
}

#[test]
fn formulas_are_checked_by_themselves() {
    has_in_bundle(&AREA, &[formula(r#"{"a":1,"b":0}"#, "0", "1")], &[]);
    has_in_bundle(&AREA, &[formula(r#"{"a":-1,"b":2}"#, "0", "1")], &["template_match_weight_invalid"]);
    has_in_bundle(&AREA, &[formula(r#"{"a":0}"#, "0", "1")], &["template_match_total_weight_zero"]);
    has_in_bundle(&AREA, &[formula(r#"{"a":1}"#, "0", r#""NaN""#)], &["template_match_soft_penalty_invalid"]);
    has_in_bundle(
        &AREA,
        &[formula(r#"{"a":1}"#, r#""Infinity""#, "1")],
        &["template_match_hard_veto_cap_invalid"],
    );
}

#[test]
fn an_evaluation_counts_by_the_formula_of_its_time() {
    let (strict, wide) = (formula(r#"{"a":1}"#, "0", "0.1"), formula(r#"{"a":1}"#, "0", "0.9"));
    let of = |reference: &str| evaluation(reference, r#"{"a":1}"#, r#","soft_penalty_sum":0.5"#);
    let code = ["template_match_soft_penalty_invalid"];
    has_in_bundle(&AREA, &[strict.clone(), of("f"), wide.clone()], &code);
    has_in_bundle(&AREA, &[strict.clone(), wide.clone(), of("template_match_formula:f")], &[]);
    has_in_bundle(&AREA, &[strict, wide, of("template_match_formula:f@1")], &code);
}
