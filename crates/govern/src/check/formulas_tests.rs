//! Ways in which the codes of formulas fire, besides those of the fixtures.

use super::AREA;
use crate::check::check;
use crate::check::trial::{bundle, has_in_bundle, hash_of, row};
use countersign_record::json::Json;
use std::{format, string::String, vec::Vec};

/// By the formula that is built in for what it is the receipt of, or by one of the rows.
fn receipt(minute: &str, output: &str, value: &str, more: &str) -> String {
    let (formula, version) = match output.split(':').next() {
        Some("sufficiency_detection_result") => ("sufficiency_route_v1", "1.0.0"),
        Some("evaluation_finding_event") => ("blocking_authority_v1", "1.0.0"),
        Some("task_health_card") => ("health_status_v1", "1.0.0"),
        Some("capability_coverage_assessment") => ("capability_coverage_v1", "1.0.0"),
        Some("sub_agent_reputation_score") => ("sub_agent_reputation_score_v1", "1.0.0"),
        Some(_) | None => ("f1", "1"),
    };
    receipt_by(formula, version, minute, output, value, more)
}

fn receipt_by(formula: &str, version: &str, minute: &str, output: &str, value: &str, more: &str) -> String {
    let value = hash_of(value);
    let record = format!(
        r#""receipt_id":"r1","formula_id":"{formula}","formula_semantic_version":"{version}","output_ref":"{output}","output_value_hash":"{value}"{more}"#
    );
    row("FormulaEvaluationReceipt", "", minute, &record)
}

fn spec(minute: &str, version: &str, more: &str) -> String {
    let record = format!(r#""formula_id":"f1","semantic_version":"{version}"{more}"#);
    row("FormulaSpec", "", minute, &record)
}

#[test]
fn a_metric_needs_a_formula_in_force() {
    let code = ["metric_without_formula_spec"];
    let calibration = |formula: &str| {
        row("CalibrationMetricSpec", "", "10", &format!(r#""metric_id":"m","formula_ref":"{formula}""#))
    };
    let rollup = row("MetricRollup", "", "10", r#""rollup_id":"ru","metric_id":"f1""#);
    has_in_bundle(&AREA, &[calibration("f1")], &code);
    has_in_bundle(&AREA, core::slice::from_ref(&rollup), &code);
    has_in_bundle(
        &AREA,
        &[spec("00", "1", ""), calibration("f1"), calibration("formula_spec:f1"), rollup.clone()],
        &[],
    );
    has_in_bundle(&AREA, &[spec("00", "1", ""), calibration("f2")], &code);
    has_in_bundle(&AREA, &[rollup, spec("10", "1", "")], &[]);
    has_in_bundle(&AREA, &[row("MetricRollup", "", "10", r#""metric_id":7"#)], &[]);
}

#[test]
fn a_value_needs_its_own_receipt() {
    let code = ["metric_value_without_formula_receipt"];
    let spec = spec("00", "1", "");
    let rollup = |value: &str, receipt: &str| {
        let record = format!(
            r#""rollup_id":"ru","metric_id":"f1","value_ref":"{value}","formula_eval_receipt_ref":"{receipt}""#
        );
        row("MetricRollup", "", "10", &record)
    };
    let receipts = "formula_evaluation_receipt:r1";
    let value = |value: &str| row("MetricValue", "", "10", &format!(r#""value_id":"v","value":{value}"#));
    let all = |output: &str, said: &str, stored: &str| {
        [spec.clone(), value(stored), receipt("10", output, said, ""), rollup("metric_value:v", receipts)]
    };
    has_in_bundle(&AREA, &all("metric_value:v", "0.5", "0.5"), &[]);
    has_in_bundle(&AREA, &all("metric_rollup:ru", "0.5", "0.5"), &[]);
    has_in_bundle(&AREA, &all("metric_value:v", "0.5", "0.6"), &code);
    has_in_bundle(&AREA, &all("metric_value:w", "0.5", "0.5"), &code);
    has_in_bundle(&AREA, &[spec.clone(), rollup("metric_value:v", "")], &code);
    let known = format!("metric_value:v#{}", hash_of("0.5"));
    has_in_bundle(
        &AREA,
        &[spec.clone(), receipt("10", "metric_value:v", "0.5", ""), rollup(&known, receipts)],
        &[],
    );
    has_in_bundle(
        &AREA,
        &[spec.clone(), receipt("10", "metric_value:v", "0.6", ""), rollup(&known, receipts)],
        &code,
    );
    has_in_bundle(
        &AREA,
        &[
            spec.clone(),
            row("TaskCostRecord", "", "10", r#""cost_record_id":"c""#),
            rollup("metric_value:v", "task_cost_record:c"),
        ],
        &code,
    );
    has_in_bundle(
        &AREA,
        &[row("TaskCostRecord", "", "10", r#""cost_record_id":"c","value_ref":"metric_value:v""#)],
        &[],
    );
}

#[test]
fn what_is_not_finite_is_found_however_it_is_told() {
    let code = ["formula_output_nan_or_infinity"];
    let value = |value: &str| row("MetricValue", "", "10", &format!(r#""value_id":"v","value":{value}"#));
    has_in_bundle(&AREA, &[receipt("10", "x:y", "1", r#","finite_number_check":"failed_infinity""#)], &code);
    has_in_bundle(&AREA, &[receipt("10", "x:y", r#""NaN""#, "")], &code);
    has_in_bundle(&AREA, &[value(r#""-Infinity""#), receipt("10", "metric_value:v", "1", "")], &code);
    has_in_bundle(
        &AREA,
        &[
            value("null"),
            receipt("10", "metric_value:v", "null", r#","finite_number_check":"coerced_to_indeterminate""#),
        ],
        &[],
    );
    has_in_bundle(
        &AREA,
        &[
            value("0.5"),
            receipt("10", "metric_value:v", "0.5", r#","finite_number_check":"coerced_to_indeterminate""#),
        ],
        &code,
    );
    let tested = r#","output":{"finite_number_policy":"allow_only_in_test_fixture"},"test_vectors":[{"input_ref":"i:1"}]"#;
    let run = |input: &str| {
        receipt(
            "10",
            "x:y",
            r#""NaN""#,
            &format!(r#","input_refs":["{input}"],"finite_number_check":"failed_nan""#),
        )
    };
    has_in_bundle(&AREA, &[spec("00", "1", tested), run("i:1")], &[]);
    has_in_bundle(&AREA, &[spec("00", "1", tested), run("formula_test_vector:t")], &[]);
    has_in_bundle(&AREA, &[spec("00", "1", tested), run("i:2")], &code);
    has_in_bundle(&AREA, &[spec("00", "1", ""), run("i:1")], &code);
}

#[test]
fn each_derived_value_has_a_receipt_of_its_own() {
    let (boolean, word) =
        ("derived_boolean_without_formula_receipt", "derived_enum_without_derivation_receipt");
    let result = row(
        "SufficiencyDetectionResult",
        "",
        "10",
        r#""detection_id":"d","no_sufficient_procedure":true,"hard_call_required":true,"terminal_route":"unrecoverable""#,
    );
    let of = |value: &str| receipt("10", "sufficiency_detection_result:d", value, "");
    let (yes, route) = (of("true"), of(r#""unrecoverable""#));
    has_in_bundle(&AREA, core::slice::from_ref(&result), &[boolean, word]);
    has_in_bundle(&AREA, &[result.clone(), yes.clone(), yes.clone(), route.clone()], &[]);
    has_in_bundle(&AREA, &[result.clone(), yes.clone(), route.clone()], &[boolean]);
    has_in_bundle(&AREA, &[result.clone(), yes.clone(), yes.clone(), of(r#""needs_information""#)], &[word]);
    has_in_bundle(&AREA, &[result, of("false"), yes, route], &[boolean]);
    let event = row(
        "EvaluationFindingEvent",
        "",
        "10",
        r#""finding_event_id":"e","blocking_authority":{"satisfied":false}"#,
    );
    has_in_bundle(&AREA, core::slice::from_ref(&event), &[boolean]);
    has_in_bundle(&AREA, &[event, receipt("10", "evaluation_finding_event:e", "false", "")], &[]);
    let card = |status: &str| {
        row("TaskHealthCard", "", "10", &format!(r#""task_id":"t","health_status":"{status}""#))
    };
    let cards = [card("healthy"), card("failed")];
    let of = |name: &str, value: &str| receipt("10", name, value, "");
    let told = [of("task_health_card:t", r#""healthy""#), of("task_health_card:t@2", r#""failed""#)];
    has_in_bundle(&AREA, &[&cards[..], &told].concat(), &[]);
    has_in_bundle(
        &AREA,
        &[&cards[..], &[told[0].clone(), of("task_health_card:t@1", r#""failed""#)]].concat(),
        &[word],
    );
    has_in_bundle(&AREA, &[row("HardCallPendingPolicy", "", "", r#""hard_call_id":"h","pauses":true"#)], &[]);
}

/// A value is proved by its own formula, in a version that there is.
#[test]
fn a_derived_value_is_that_of_its_formula() {
    let (word, drift) = ("derived_enum_without_derivation_receipt", "formula_version_drift");
    let chain =
        row("EvaluationChainResolutionReceipt", "", "10", r#""receipt_id":"c","resolved_verdict":"passed""#);
    let by = |formula: &str, version: &str| {
        receipt_by(formula, version, "10", "evaluation_chain_resolution_receipt:c", r#""passed""#, "")
    };
    for (formula, version, expected) in [
        ("pattern_c_resolution_v1", "1.0.0", &[] as &[&str]),
        ("pattern_c_resolution_v1", "0.0.1-made-up", &[drift]),
        ("pattern_c_resolution_v1", "1.99.0", &[drift]),
        ("planner_confidence_brier_score", "1.0.0", &[word]),
        ("planner_confidence_brier_score", "0.0.1-made-up", &[word, drift]),
        ("derived.field.v1", "1.0.0", &[word]),
    ] {
        has_in_bundle(&AREA, &[chain.clone(), by(formula, version)], expected);
    }
    // A registry may name another one.
    let registry = row(
        "DerivedFieldRegistry",
        "",
        "",
        r#""record_kind":"EvaluationChainResolutionReceipt","field":"resolved_verdict","formula_id":"own""#,
    );
    has_in_bundle(&AREA, &[registry.clone(), chain.clone(), by("own", "1")], &[]);
    has_in_bundle(&AREA, &[registry, chain, by("pattern_c_resolution_v1", "1.0.0")], &[word]);
}

#[test]
fn the_registry_adds_fields_and_names_formulas() {
    let boolean = ["derived_boolean_without_formula_receipt"];
    let registry = |formula: &str| {
        row(
            "DerivedFieldRegistry",
            "",
            "",
            &format!(r#""record_kind":"ForumTick","field":"is_over","formula_id":"{formula}""#),
        )
    };
    let tick = row("ForumTick", "t", "", r#""is_over":true"#);
    let told = receipt("10", "forum_tick:t", "true", "");
    has_in_bundle(&AREA, core::slice::from_ref(&tick), &[]);
    has_in_bundle(&AREA, &[registry("f1"), tick.clone()], &boolean);
    has_in_bundle(&AREA, &[registry("f1"), tick.clone(), told.clone()], &[]);
    has_in_bundle(&AREA, &[registry("f2"), tick, told], &boolean);
}

#[test]
fn a_reputation_follows_its_sample() {
    let word = ["derived_enum_without_derivation_receipt"];
    let score = |status: &str, cases: u32| {
        let config =
            row("SubAgentReputationFormulaConfig", "", "", r#""formula_id":"c","min_invocation_count":10"#);
        let record = format!(
            r#""formula_config_ref":"sub_agent_reputation_formula_config:c","score_status":"{status}","sample_size":{cases}"#
        );
        let told = receipt("10", "sub_agent_reputation_score:s", &format!("\"{status}\""), "");
        [config, row("SubAgentReputationScore", "s", "", &record), told]
    };
    has_in_bundle(&AREA, &score("computed", 10), &[]);
    has_in_bundle(&AREA, &score("computed", 9), &word);
    has_in_bundle(&AREA, &score("insufficient_sample", 9), &[]);
    has_in_bundle(&AREA, &score("insufficient_sample", 10), &word);
    has_in_bundle(&AREA, &score("quarantined_by_policy", 10), &[]);
}

#[test]
fn vectors_show_the_policies() {
    let code = ["formula_test_vector_missing"];
    let of = |language: &str, vectors: &str| {
        spec(
            "",
            "1",
            &format!(
                r#","expression_language":"{language}","missing_input_policy":"fail_validation","zero_denominator_policy":"return_zero","test_vectors":[{vectors}]"#
            ),
        )
    };
    let missing = r#"{"missing_input_policy_applied":"fail_validation"}"#;
    let zero = r#"{"zero_denominator_policy_applied":"return_zero"}"#;
    has_in_bundle(&AREA, &[of("sql_read_model", &format!("{missing},{zero}"))], &[]);
    has_in_bundle(&AREA, &[of("sql_read_model", missing)], &code);
    has_in_bundle(&AREA, &[of("sql_read_model", zero)], &code);
    has_in_bundle(
        &AREA,
        &[of("sql_read_model", r#"{"zero_denominator_policy_applied":"return_one"}"#)],
        &code,
    );
    has_in_bundle(&AREA, &[of("human_review_required", "")], &[]);
    let stored = row(
        "FormulaTestVector",
        "",
        "",
        r#""test_vector_id":"t","missing_input_policy_applied":"fail_validation","zero_denominator_policy_applied":"return_zero""#,
    );
    has_in_bundle(&AREA, &[stored, of("declarative_metric_dsl", r#""formula_test_vector:t""#)], &[]);
}

#[test]
fn versions_do_not_drift() {
    let code = ["formula_version_drift"];
    has_in_bundle(&AREA, &[spec("00", "1", ""), spec("20", "2", ""), receipt("10", "x:y", "1", "")], &[]);
    has_in_bundle(&AREA, &[spec("00", "1", ""), spec("05", "2", ""), receipt("10", "x:y", "1", "")], &code);
    has_in_bundle(&AREA, &[receipt("10", "x:y", "1", ""), spec("20", "2", "")], &[]);
    let expression = |letter: &str| format!(r#","expression_ref":"e:1#{}""#, letter.repeat(64));
    has_in_bundle(&AREA, &[spec("00", "1", &expression("a")), spec("10", "1", &expression("a"))], &[]);
    has_in_bundle(&AREA, &[spec("00", "1", &expression("a")), spec("10", "2", &expression("b"))], &[]);
    has_in_bundle(&AREA, &[spec("00", "1", &expression("a")), spec("10", "1", &expression("b"))], &code);
    let other = |id: &str, version: &str| {
        let record =
            format!(r#""receipt_id":"{id}","formula_id":"f9","formula_semantic_version":"{version}""#);
        let observed = format!(
            r#""observation_id":"{id}","formula_eval_receipt_ref":"formula_evaluation_receipt:{id}""#
        );
        [row("FormulaEvaluationReceipt", "", "", &record), row("MetricObservation", "", "", &observed)]
            .join(",")
    };
    let rollup = row(
        "MetricRollup",
        "",
        "",
        r#""rollup_id":"r","included_observation_refs":["metric_observation:a","metric_observation:b"]"#,
    );
    has_in_bundle(&AREA, &[other("a", "1"), other("b", "1"), rollup.clone()], &[]);
    has_in_bundle(&AREA, &[other("a", "1"), other("b", "2"), rollup], &code);
}

#[test]
fn rows_of_any_shape_are_survived() {
    for kind in crate::kind::all() {
        for record in [Json::Null, Json::from("x"), Json::from(true)] {
            let fields = [
                "output_ref",
                "components",
                "test_vectors",
                "criterion_refs",
                "metric_spec_ref",
                "measurement_window",
            ];
            let fields: Vec<String> = fields
                .iter()
                .map(|name| format!(r#""{name}":{}"#, countersign_record::json::to_text(&record).unwrap()))
                .collect();
            let found = check(&bundle(&[row(kind.name, "", "", &fields.join(","))]));
            assert!(found.iter().all(|one| one.row == 1), "{found:?}");
        }
    }
}

/// The code of a status that was not derived, with a receipt for each of its values.
fn derived(kind: &str, record: &str, values: &[&str], more: &[String], is_found: bool) {
    let mut rows = more.to_vec();
    rows.push(row(kind, "d1", "30", record));
    for value in values {
        rows.push(receipt("30", &format!("{}:d1", crate::reference::snake(kind)), value, ""));
    }
    let expected: &[&str] = if is_found { &["derived_enum_without_derivation_receipt"] } else { &[] };
    has_in_bundle(&AREA, &rows, expected);
}

#[test]
fn a_coverage_is_what_capabilities_give() {
    let snapshot = row(
        "CapabilitySnapshot",
        "",
        "10",
        r#""snapshot_id":"s1","capabilities":[{"capability_id":"a","version":"1.10","healthy":true},{"capability_id":"b","version":"1.0","healthy":false}]"#,
    );
    let by_snapshot = |needed: &str, state: &str, is_found: bool| {
        let record = format!(
            r#""assessment_id":"d1","capability_snapshot_ref":"capability_snapshot:s1","required_capabilities":[{needed}],"coverage_state":"{state}""#
        );
        let value = format!(r#""{state}""#);
        derived(
            "CapabilityCoverageAssessment",
            &record,
            &[&value],
            core::slice::from_ref(&snapshot),
            is_found,
        );
    };
    let (a, b, c) = (
        r#"{"capability_id":"a","min_version":"1.9"}"#,
        r#"{"capability_id":"b"}"#,
        r#"{"capability_id":"a","min_version":"2"}"#,
    );
    by_snapshot(a, "covered", false);
    by_snapshot(a, "partially_covered", true);
    by_snapshot(&format!("{a},{b}"), "covered_but_unhealthy", false);
    by_snapshot(&format!("{a},{b}"), "covered", true);
    by_snapshot(&format!("{a},{c}"), "partially_covered", false);
    by_snapshot(c, "not_covered", false);
    by_snapshot(c, "covered", true);

    let by_lists = |gaps: &str, state: &str, is_found: bool| {
        let record = format!(
            r#""assessment_id":"d1","capability_snapshot_ref":"capability_snapshot:gone","required_capabilities":[{a},{b}],"available_capabilities":[{{"capability_id":"a"}},{{"capability_id":"b"}}],"gaps":[{gaps}],"coverage_state":"{state}""#
        );
        let value = format!(r#""{state}""#);
        derived("CapabilityCoverageAssessment", &record, &[&value], &[], is_found);
    };
    let gap = |kind: &str| format!(r#"{{"required_capability_ref":{b},"gap_kind":"{kind}"}}"#);
    by_lists("", "covered", false);
    by_lists("", "not_covered", true);
    by_lists(&gap("unhealthy"), "covered_but_unhealthy", false);
    by_lists(&gap("version_incompatible"), "covered", true);
    // What the contract does not say is not held against anybody.
    by_lists(&gap("policy_blocked"), "partially_covered", false);
    by_lists(&gap("policy_blocked"), "covered", false);
}

#[test]
fn a_route_is_one_that_its_first_trigger_takes() {
    let of = |triggers: &str, more: &str, route: &str, is_found: bool| {
        let record = format!(
            r#""detection_id":"d1","no_sufficient_procedure":true,"triggered_by":[{triggers}],"terminal_route":"{route}"{more}"#
        );
        let value = format!(r#""{route}""#);
        derived("SufficiencyDetectionResult", &record, &["true", &value], &[], is_found);
    };
    let gap = r#""no_capability_covers_outcome""#;
    of(gap, "", "process_gap_out", false);
    of(gap, "", "unrecoverable", true);
    of(&format!(r#""policy_prohibits_required_step",{gap}"#), "", "process_gap_out", true);
    // Whether another verifier exists, the record does not say.
    of(r#""verification_unresolvable""#, "", "needs_verification", false);
    of(r#""verification_unresolvable""#, "", "needs_human_judgment", false);
    of(r#""verification_unresolvable""#, "", "needs_information", true);
    let exhausted = r#""all_policy_allowed_procedures_exhausted""#;
    let candidate = |why: &str| format!(r#","candidate_procedures":[{{"inapplicable_reason":"{why}"}}]"#);
    of(exhausted, "", "needs_human_judgment", false);
    of(exhausted, &candidate("policy_blocked"), "needs_human_judgment", true);
    of(exhausted, &candidate("policy_blocked"), "unrecoverable", false);
    of(exhausted, &candidate("unsafe_without_human"), "unrecoverable", true);
    of(r#""nobody_knows_this""#, "", "unrecoverable", false);
}

#[test]
fn a_card_is_no_healthier_than_its_inputs() {
    let of = |state: &str, limitation: &str, health: &str, is_found: bool| {
        let more = [
            row("OutcomeRecord", "", "10", &format!(r#""outcome_id":"o1","state":"{state}""#)),
            row(
                "TaskReliancePacket",
                "p1",
                "10",
                &format!(
                    r#""packet_id":"p1","reliance_derivation":{{"unresolved_limitations":[{limitation}]}}"#
                ),
            ),
            row(
                "ReadModelInputManifest",
                "",
                "11",
                r#""manifest_id":"m1","input_refs":["outcome_record:o1","task_reliance_packet:p1"]"#,
            ),
            row(
                "DerivedReadModelRecord",
                "",
                "12",
                r#""read_model_id":"h1","input_manifest_ref":"read_model_input_manifest:m1""#,
            ),
        ];
        let record =
            format!(r#""derived_read_model_ref":"derived_read_model_record:h1","health_status":"{health}""#);
        let value = format!(r#""{health}""#);
        derived("TaskHealthCard", &record, &[&value], &more, is_found);
    };
    of("satisfied", "", "healthy", false);
    of("unrecoverable", "", "healthy", true);
    of("unrecoverable", "", "blocked", true);
    of("unrecoverable", "", "failed", false);
    of("satisfied", r#""stale_source_present""#, "healthy", true);
    of("satisfied", r#""stale_source_present""#, "warning", false);
    // It may know of more.
    of("satisfied", "", "blocked", false);
}
