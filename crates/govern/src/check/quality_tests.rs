//! Ways in which the codes of quality fire, besides those of the fixtures.

use super::AREA;
use crate::check::trial::{has_in_bundle, hash_of, row};
use std::{format, string::String, vec::Vec};

fn criterion(id: &str, more: &str) -> String {
    row("Criterion", "", "", &format!(r#""criterion_id":"{id}"{more}"#))
}

fn config(id: &str, more: &str) -> String {
    row(
        "OutcomeComplianceScoringConfig",
        "",
        "",
        &format!(
            r#""config_id":"{id}","unanchored_llm_judgment_policy":"exclude","default_weight_policy":"from_criterion_weight"{more}"#
        ),
    )
}

#[test]
fn criteria_are_found_by_list_by_name_or_all() {
    let (missing, none) =
        ("criterion_weight_missing_under_from_criterion_weight", "no_aggregation_eligible_criteria");
    let (good, bad) = (criterion("a", r#","weight":1"#), criterion("b", ""));
    has_in_bundle(&AREA, &[config("x", "")], &[]);
    has_in_bundle(&AREA, &[good.clone(), bad.clone(), config("x", "")], &[missing]);
    has_in_bundle(
        &AREA,
        &[good.clone(), bad.clone(), config("x", r#","criterion_refs":["criterion:a"]"#)],
        &[],
    );
    has_in_bundle(&AREA, &[bad.clone(), config("x", r#","criterion_refs":[]"#)], &[none]);
    has_in_bundle(
        &AREA,
        &[bad.clone(), config("x", r#","criterion_refs":["criterion:b","criterion:lost"]"#)],
        &[],
    );
    let own = criterion("c", r#","weight":1,"config_id":"x""#);
    has_in_bundle(&AREA, &[own.clone(), bad.clone(), config("x", "")], &[]);
    has_in_bundle(&AREA, &[own, bad.clone(), config("x", ""), config("y", "")], &[missing]);
    // A later version counts, and the earlier one does not.
    has_in_bundle(&AREA, &[bad, criterion("b", r#","weight":1"#), config("x", "")], &[]);
}

#[test]
fn weights_are_weights() {
    let invalid = ["criterion_weight_invalid"];
    for weight in [r#""NaN""#, r#""Infinity""#, "-0.1", r#""much""#] {
        has_in_bundle(&AREA, &[criterion("a", &format!(r#","weight":{weight}"#)), config("x", "")], &invalid);
    }
    let twice = config("x", r#","criterion_refs":["criterion:a","criterion:a"]"#);
    has_in_bundle(&AREA, &[criterion("a", r#","weight":1"#), twice], &invalid);
    let by_priority = |map: &str| {
        row(
            "OutcomeComplianceScoringConfig",
            "",
            "",
            &format!(
                r#""config_id":"x","unanchored_llm_judgment_policy":"include_with_audit_flag","default_weight_policy":"from_priority","priority_weight_map":{map}"#
            ),
        )
    };
    has_in_bundle(&AREA, &[criterion("a", ""), by_priority(r#"{"should_have":-1}"#)], &invalid);
    has_in_bundle(
        &AREA,
        &[criterion("a", ""), by_priority(r#"{"should_have":null}"#)],
        &["criterion_priority_weight_missing"],
    );
    has_in_bundle(
        &AREA,
        &[criterion("a", ""), by_priority(r#"{"should_have":0}"#)],
        &["criterion_weight_sum_zero"],
    );
    has_in_bundle(&AREA, &[criterion("a", ""), by_priority(r#"{"should_have":2}"#)], &[]);
    let huge =
        [criterion("a", r#","weight":1.7e308"#), criterion("b", r#","weight":1.7e308"#), config("x", "")];
    has_in_bundle(&AREA, &huge, &["criterion_weight_sum_zero"]);
}

#[test]
fn the_order_of_rows_does_not_choose_the_code() {
    let mut rows = [
        criterion("a", ""),
        criterion("b", r#","weight":-1"#),
        criterion("c", r#","weight":1"#),
        config("x", ""),
    ];
    let code = ["criterion_weight_missing_under_from_criterion_weight"];
    for _ in 0..rows.len() {
        rows.rotate_left(1);
        has_in_bundle(&AREA, &rows, &code);
    }
    rows.reverse();
    has_in_bundle(&AREA, &rows, &code);
}

fn index(more: &str, omitted: Option<&str>) -> Vec<String> {
    let record = format!(r#""formula_eval_receipt_ref":"formula_evaluation_receipt:r"{more}"#);
    let receipt = |omitted: &str| {
        let hash = hash_of(&format!("{{{record}}}"));
        row(
            "FormulaEvaluationReceipt",
            "",
            "",
            &format!(r#""receipt_id":"r","output_value_hash":"{hash}","omitted_input_names":[{omitted}]"#),
        )
    };
    omitted.map(receipt).into_iter().chain([row("QualityIndex", "q", "", &record)]).collect()
}

#[test]
fn an_index_follows_its_numbers() {
    let drift = ["quality_index_pass_status_drift"];
    let of = |status: &str, policy: &str, gates: &str| {
        format!(
            r#","aggregate_score":0.8,"pass_threshold":0.7,"derived_pass_status":"{status}","missing_dimension_policy":"{policy}","required_gate_failures":[{gates}]"#
        )
    };
    has_in_bundle(&AREA, &index(&of("passed", "fail_required", ""), Some("")), &[]);
    has_in_bundle(&AREA, &index(&of("passed", "fail_required", r#""c""#), Some("")), &drift);
    has_in_bundle(&AREA, &index(&of("failed_required_gate", "indeterminate", r#""c""#), Some(r#""d""#)), &[]);
    has_in_bundle(&AREA, &index(&of("indeterminate", "indeterminate", ""), Some("")), &drift);
    has_in_bundle(&AREA, &index(&of("indeterminate", "indeterminate", ""), Some(r#""d""#)), &[]);
    has_in_bundle(&AREA, &index(&of("passed", "indeterminate", ""), Some(r#""d""#)), &drift);
    // A few units in the last place are no difference; what is less than the threshold by more is less.
    for (score, status, codes) in [
        ("0.7", "passed", &[][..]),
        ("0.6999999999999998", "passed", &[]),
        ("0.69999999999995", "passed", &drift),
        ("0.69999999999995", "failed_threshold", &[]),
    ] {
        let more = of(status, "fail_required", "").replace("0.8", score);
        has_in_bundle(&AREA, &index(&more, Some("")), codes);
    }
    let without = "quality_index_without_formula_receipt";
    has_in_bundle(&AREA, &index(&of("indeterminate", "indeterminate", ""), None), &[without]);
    has_in_bundle(&AREA, &index(&of("failed_threshold", "indeterminate", ""), None), &[drift[0], without]);
    has_in_bundle(
        &AREA,
        &index(
            r#","aggregate_score":"NaN","pass_threshold":0.7,"derived_pass_status":"passed","missing_dimension_policy":"fail_required""#,
            Some(""),
        ),
        &["quality_index_score_out_of_range"],
    );
    has_in_bundle(
        &AREA,
        &index(r#","aggregate_score":0,"pass_threshold":1.1"#, Some("")),
        &["quality_index_score_out_of_range"],
    );
}

#[test]
fn a_receipt_is_of_that_index() {
    let receipt = |value: &str| {
        row(
            "FormulaEvaluationReceipt",
            "",
            "",
            &format!(r#""receipt_id":"r","output_value_hash":"{}""#, hash_of(value)),
        )
    };
    let index = row(
        "QualityIndex",
        "q",
        "",
        r#""aggregate_score":0.5,"formula_eval_receipt_ref":"formula_evaluation_receipt:r""#,
    );
    has_in_bundle(&AREA, &[receipt(r#"{"aggregate_score":0.5}"#), index.clone()], &[]);
    has_in_bundle(
        &AREA,
        &[receipt(r#"{"aggregate_score":0.6}"#), index],
        &["quality_index_without_formula_receipt"],
    );
}

#[test]
fn meanings_are_reviewed() {
    let (unbumped, unreviewed) = (
        "criterion_semantics_version_unbumped_on_meaning_change",
        "semantic_version_bumped_without_review_receipt",
    );
    let of = |text: &str, version: &str, more: &str| {
        row(
            "CriterionIdentityFields",
            "",
            "",
            &format!(
                r#""criterion_id":"c","criterion_text_hash":"{text}","criterion_semantics_version":"{version}"{more}"#
            ),
        )
    };
    let review = |criterion: &str, text: &str| {
        row(
            "CriterionSemanticReviewReceipt",
            "",
            "",
            &format!(
                r#""receipt_id":"s","criterion_id":"{criterion}","to_text_hash":"{text}","conclusion":"wording_only""#
            ),
        )
    };
    let seen = r#","semantic_review_receipt_ref":"criterion_semantic_review_receipt:s""#;
    has_in_bundle(&AREA, &[of("a", "1", ""), of("a", "1", "")], &[]);
    has_in_bundle(&AREA, &[of("a", "1", ""), of("b", "1", "")], &[unbumped]);
    has_in_bundle(&AREA, &[of("a", "1", ""), review("c", "b"), of("b", "1", seen)], &[]);
    has_in_bundle(&AREA, &[of("a", "1", ""), review("d", "b"), of("b", "1", seen)], &[unbumped]);
    has_in_bundle(&AREA, &[of("a", "1", ""), review("c", "x"), of("b", "1", seen)], &[unbumped]);
    has_in_bundle(&AREA, &[of("a", "1", ""), of("b", "2", seen)], &[unreviewed]);
    has_in_bundle(&AREA, &[of("a", "2", "")], &[]);
    has_in_bundle(
        &AREA,
        &[criterion("a", r#","criterion_semantics_hash":"x""#)],
        &["criterion_semantics_hash_legacy_name"],
    );
}

/// Many versions of a configuration share its criteria; each is weighed by its own map.
#[test]
fn each_version_is_weighed_by_its_own_map() {
    let criteria = [
        criterion("a", r#","config_id":"x","priority":"must_have""#),
        criterion("b", r#","config_id":"x""#),
        criterion("c", r#","config_id":"x","scoring_basis":"unanchored_llm_judgment","priority":"rare""#),
    ];
    let by_priority = |policy: &str, map: &str| {
        row(
            "OutcomeComplianceScoringConfig",
            "",
            "",
            &format!(
                r#""config_id":"x","unanchored_llm_judgment_policy":"{policy}","default_weight_policy":"from_priority","priority_weight_map":{{{map}}}"#
            ),
        )
    };
    for (policy, map, expected) in [
        ("exclude", r#""must_have":2,"should_have":1"#, [].as_slice()),
        ("exclude", r#""must_have":2"#, &["criterion_priority_weight_missing"]),
        ("exclude", r#""must_have":2,"should_have":-1"#, &["criterion_weight_invalid"]),
        // What is missing comes first.
        ("exclude", r#""must_have":-2"#, &["criterion_priority_weight_missing"]),
        ("exclude", r#""must_have":0,"should_have":0"#, &["criterion_weight_sum_zero"]),
        ("exclude", r#""must_have":1e308,"should_have":1e308"#, &["criterion_weight_sum_zero"]),
        (
            "include_with_audit_flag",
            r#""must_have":2,"should_have":1"#,
            &["criterion_priority_weight_missing"],
        ),
        ("include_with_audit_flag", r#""must_have":0,"should_have":0,"rare":1"#, &[]),
        ("indeterminate", r#""must_have":2"#, &["unanchored_required_criterion_indeterminate"]),
    ] {
        let legal = by_priority("exclude", r#""must_have":2,"should_have":1"#);
        let rows = [&criteria[..], &[legal.clone(), by_priority(policy, map), legal]].concat();
        has_in_bundle(&AREA, &rows, expected);
    }
    let unanchored = [criteria[2].clone(), by_priority("exclude", r#""must_have":2"#)];
    has_in_bundle(&AREA, &unanchored, &["no_aggregation_eligible_criteria"]);
}
