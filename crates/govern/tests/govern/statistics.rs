//! The statistics say what SciPy and scikit-learn say, on random cases with many equal values.

use countersign_govern::formula::function::{interval, statistics};
use countersign_record::json::{self, Json};
use std::path::Path;
use std::process::Command;

const CASES: &str = "400";
const SEED: &str = "7";

fn numbers(value: &Json) -> Vec<f64> {
    value.as_array().unwrap().iter().map(number).collect()
}

fn number(value: &Json) -> f64 {
    countersign_govern::member::number(value).unwrap()
}

/// What we say: nothing, one number or several.
fn ours(name: &str, inputs: &[Json]) -> Option<Vec<f64>> {
    let both = |of: fn(&[f64], &[f64]) -> Option<f64>| {
        of(&numbers(&inputs[0]), &numbers(&inputs[1])).map(|one| vec![one])
    };
    let ratio = |of: fn(f64, f64, f64) -> Option<(f64, f64)>| {
        of(number(&inputs[0]), number(&inputs[1]), number(&inputs[2])).map(|(low, high)| vec![low, high])
    };
    match name {
        "brier" => both(statistics::brier),
        "auc" => both(statistics::auc),
        "spearman" => both(statistics::spearman),
        "quantile" => statistics::quantile(&numbers(&inputs[0]), number(&inputs[1])).map(|one| vec![one]),
        "confusion" => {
            let counts =
                statistics::confusion(&numbers(&inputs[0]), &numbers(&inputs[1]), number(&inputs[2]));
            Some(counts.iter().map(|count| *count as f64).collect())
        }
        "wilson" => ratio(interval::wilson),
        "beta_interval" => ratio(interval::beta),
        other => panic!("{other}"),
    }
}

#[test]
fn scipy_and_scikit_learn_say_the_same() {
    let python = std::env::var("COUNTERSIGN_SCIPY_PYTHON")
        .expect("COUNTERSIGN_SCIPY_PYTHON names a Python with scikit-learn");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/govern/statistics.py");
    let output = Command::new(python).arg(script).args([SEED, CASES]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut count = 0;
    for line in String::from_utf8(output.stdout).unwrap().lines() {
        let case = json::parse(line.as_bytes()).unwrap();
        let name = case.get("name").and_then(Json::as_str).unwrap();
        let found = ours(name, case.get("inputs").and_then(Json::as_array).unwrap());
        let expected = match case.get("expected").unwrap() {
            Json::Null => None,
            list @ Json::Array(_) => Some(numbers(list)),
            one => Some(vec![number(one)]),
        };
        let is_near = match (&found, &expected) {
            (Some(found), Some(expected)) => {
                found.iter().zip(expected).all(|(one, other)| (one - other).abs() < 1e-9)
            }
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        };
        assert!(is_near, "{line}\nwe say {found:?}");
        count += 1;
    }
    assert_eq!(count, 400 * 7);
}
