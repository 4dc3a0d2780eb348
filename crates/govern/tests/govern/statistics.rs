//! The statistics say what SciPy and scikit-learn say, on random cases with many equal values: our functions to the ninth decimal,
//! values of registered formulas to their sixth, and what is drawn anew as near as chance lets it be.

use countersign_govern::formula::function::{interval, statistics};
use countersign_govern::formula::{evaluate, registry};
use countersign_govern::member;
use countersign_record::json::{self, Json};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

const CASES: &str = "300";
const SEED: &str = "7";

fn numbers(value: &Json) -> Vec<f64> {
    value.as_array().unwrap().iter().map(number).collect()
}

fn number(value: &Json) -> f64 {
    member::number(value).unwrap()
}

/// What a function of ours says: nothing, one number or two.
fn ours(name: &str, inputs: &[Json]) -> Option<Vec<f64>> {
    let two = |ends: Option<(f64, f64)>| ends.map(|(low, high)| vec![low, high]);
    let ratio = |of: fn(f64, f64, f64) -> Option<(f64, f64)>| {
        two(of(number(&inputs[0]), number(&inputs[1]), number(&inputs[2])))
    };
    let whole = |at: usize| match &inputs[at] {
        Json::Number(number) => number.as_u64().unwrap(),
        other => panic!("{other:?} is no number"),
    };
    let drawing = |at: usize| (whole(at), whole(at + 1));
    match name {
        "quantile" => statistics::quantile(&numbers(&inputs[0]), number(&inputs[1])).map(|one| vec![one]),
        "wilson" => ratio(interval::wilson),
        "beta_interval" => ratio(interval::beta),
        "normal_interval" => ratio(interval::normal),
        "bootstrap_ratio" => ratio(interval::bootstrap_ratio),
        "bootstrap_mean" => {
            let (draws, seed) = drawing(2);
            two(interval::bootstrap_mean(&numbers(&inputs[0]), number(&inputs[1]), draws, seed))
        }
        "bootstrap_brier" => {
            let pairs: Vec<(f64, f64)> = numbers(&inputs[0]).into_iter().zip(numbers(&inputs[1])).collect();
            let (draws, seed) = drawing(3);
            two(interval::bootstrap_pairs(&pairs, number(&inputs[2]), draws, seed, statistics::brier))
        }
        other => panic!("{other}"),
    }
}

fn is_near(one: &Json, other: &Json, near: f64) -> bool {
    match (one, other) {
        (Json::Number(one), Json::Number(other)) => (one.as_f64() - other.as_f64()).abs() < near,
        (one, other) => one == other,
    }
}

/// What is said of a case, if it is not near enough.
fn apart(name: &str, case: &Json) -> Option<String> {
    let (inputs, expected) = (case.get("inputs").unwrap(), case.get("expected").unwrap());
    let near = number(case.get("near").unwrap());
    match inputs {
        Json::Array(inputs) => {
            let found = ours(name, inputs);
            let expected = match expected {
                Json::Null => None,
                list @ Json::Array(_) => Some(numbers(list)),
                one => Some(vec![number(one)]),
            };
            let is_near = match (&found, &expected) {
                (Some(found), Some(expected)) => {
                    found.len() == expected.len()
                        && found.iter().zip(expected).all(|(one, other)| (one - other).abs() < near)
                }
                (None, None) => true,
                (Some(_), None) | (None, Some(_)) => false,
            };
            (!is_near).then(|| format!("{found:?}"))
        }
        inputs => {
            let ready = registry::ready(name).unwrap().unwrap_or_else(|| panic!("{name}"));
            let value = evaluate(ready, inputs.as_object().unwrap()).unwrap().value;
            let mut members = expected.as_object().unwrap().iter();
            let is_near = members
                .all(|(member, expected)| is_near(value.get(member).unwrap_or(&Json::Null), expected, near));
            (!is_near).then(|| json::to_text(&value).unwrap())
        }
    }
}

#[test]
fn scipy_and_scikit_learn_say_the_same() {
    let python = std::env::var("COUNTERSIGN_SCIPY_PYTHON")
        .expect("COUNTERSIGN_SCIPY_PYTHON names a Python with scikit-learn");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/govern/statistics.py");
    let output = Command::new(python).arg(script).args([SEED, CASES]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for line in String::from_utf8(output.stdout).unwrap().lines() {
        let case = json::parse(line.as_bytes()).unwrap();
        let name = case.get("name").and_then(Json::as_str).unwrap();
        if let Some(found) = apart(name, &case) {
            panic!("{line}\nwe say {found}");
        }
        *counts.entry(name.to_owned()).or_default() += 1;
    }
    let expected = [
        ("beta_interval", 315),
        ("bootstrap_brier", 15),
        ("bootstrap_mean", 15),
        ("bootstrap_ratio", 300),
        ("confidence_convergence_spearman", 300),
        ("latency_distribution_v1", 300),
        ("normal_interval", 300),
        ("novelty_threshold_auc", 300),
        ("novelty_threshold_precision_recall", 300),
        ("planner_confidence_brier_score", 300),
        ("planner_confidence_expected_calibration_error", 600),
        ("quantile", 300),
        ("wilson", 300),
    ];
    let expected: BTreeMap<String, usize> =
        expected.into_iter().map(|(name, count)| (name.to_owned(), count)).collect();
    assert_eq!(counts, expected);
}
