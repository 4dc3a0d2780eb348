//! `countersign formula` and `derive`: a value with its receipt, or exit 2 with a code and the place of what is wrong.

use crate::binary::Work;
use serde_json::{Value, json};

#[test]
fn a_value_has_a_receipt() {
    let work = Work::new();
    let answer = work.feed(&["formula", "eval", "wilson_interval_v1", "-"], r#"{"hits":8,"trials":10}"#);
    let answer = answer.good().json();
    assert_eq!(answer["value"], json!([0.490162, 0.943318]));
    assert_eq!(answer["confidence_interval_level"], json!(0.95));
    let receipt = &answer["receipt"];
    assert_eq!(receipt["formula_id"], "wilson_interval_v1");
    assert_eq!(receipt["finite_number_check"], "passed");
    assert_eq!(receipt["omitted_input_names"], json!(["level"]));
    assert_eq!(receipt["missing_input_policy_applied"], "default_value_with_audit");
    let same = work.feed(&["derive", "wilson", "-"], r#"{"trials":10,"hits":8}"#).good().json();
    assert_eq!(same["receipt"]["output_value_hash"], receipt["output_value_hash"]);
    assert_eq!(same["receipt"]["input_value_hash"], receipt["input_value_hash"]);
    let shown = work.run(&["formula", "show", "wilson_interval_v1"]).good();
    assert!(shown.text().contains("requires of hits: hits <= trials"), "{}", shown.text());
}

/// What is derived, the inputs, and what is said of them: the code, the place, the contract's own code.
#[test]
fn what_cannot_be_is_refused_with_a_code_and_a_place() {
    let latency = |values: &str, window: &str| format!(r#"{{"values":{values},"window":{window}}}"#);
    let window = r#"{"start":"2026-03-02T08:00:00Z","end":"2026-03-02T12:00:00Z"}"#;
    let cost = |amount: &str| {
        format!(
            r#"{{"vectors":[{{"components":{{"usd":{amount}}},"basis":"heuristic","estimator_confidence":"experimental"}}]}}"#
        )
    };
    let cases = [
        ("wilson", r#"{"hits":11,"trials":10}"#.into(), "field.conflict", "/hits", Value::Null),
        ("wilson", r#"{"hits":8,"trials":10,"level":0.5}"#.into(), "field.invalid", "/level", Value::Null),
        ("wilson", r#"{"hits":-1,"trials":10}"#.into(), "field.invalid", "/hits", Value::Null),
        ("wilson", r#"{"hits":"NaN","trials":10}"#.into(), "field.invalid", "/hits", Value::Null),
        ("wilson", r#"{"hits":"8","trials":10}"#.into(), "field.wrong_type", "/hits", Value::Null),
        ("wilson", r#"{"hits":8,"trials":10,"more":1}"#.into(), "field.unknown", "/more", Value::Null),
        ("regression", r#"{"accepted_count":3}"#.into(), "field.missing", "/regression_introduced_count", Value::Null),
        ("bootstrap", r#"{"values":[1e308,1e308],"seed":7}"#.into(), "field.invalid", "/values/0", Value::Null),
        ("bootstrap", r#"{"values":[0.1234567890123456789],"seed":7}"#.into(), "number.inexact", "/values/0", Value::Null),
        ("latency", latency("[-1]", window), "field.invalid", "/values/0", Value::Null),
        ("latency", latency("[1]", "{}"), "field.missing", "/window/start", Value::Null),
        ("cost", cost(r#"{"expected":1,"p50":3,"p90":2}"#), "field.conflict", "/vectors", Value::Null),
        (
            "cost",
            cost(r#"{"expected":-1}"#),
            "field.invalid",
            "/vectors/0/components/usd/expected",
            json!("validation.cost_vector_negative_component"),
        ),
        (
            "weights",
            r#"{"criteria":[],"config":{"unanchored_llm_judgment_policy":"exclude","default_weight_policy":"uniform"}}"#.into(),
            "field.conflict",
            "/criteria",
            json!("validation.no_aggregation_eligible_criteria"),
        ),
    ];
    let work = Work::new();
    for (kind, inputs, code, path, validation) in cases {
        let inputs: String = inputs;
        let refusal =
            work.feed(&["derive", kind, "-"], inputs.as_str()).refused_silently(2, "formula.refused");
        let first = &refusal.details["errors"][0];
        let found = (&first["code"], &first["path"], &refusal.details["validation_code"]);
        assert_eq!(found, (&json!(code), &json!(path), &validation), "{kind} {inputs}: {}", refusal.message);
    }
    work.feed(&["formula", "eval", "wilson_interval_v1", "-"], "[]").refused_silently(2, "formula.refused");
    work.feed(&["formula", "eval", "no_such_formula", "-"], "{}").refused_silently(2, "formula.unknown");
}
