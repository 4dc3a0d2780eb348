//! What functions do is pinned by version: who changes what one gives must give it the next version.

use super::*;
use crate::derive::draw::Draw;
use crate::formula::generated;
use crate::formula::input::{Input, Shape, Words, item, may, needs, one_of, record};
use crate::formula::registry;
use crate::types::basic::EstimatorConfidence;
use crate::types::cost::CostVectorBasis;
use countersign_record::digest::Digest;
use countersign_record::json::{self, Json, Number};
use std::collections::BTreeMap;
use std::vec::Vec;

/// Sets of values for each function.
const CASES: usize = 300;

const WORDS: Shape = one_of(&["a", "b", "c", "d"]);
const WORD_LIST: Input = item(Shape::List(&item(WORDS)));
const SUMMED: Input = item(Shape::List(&item(one_of(&["expected", "p50"]))));
const NAMES: Input = item(Shape::List(&item(one_of(&["x", "y", "z"]))));
const NAME: Input = item(one_of(&["x", "y", "z"]));
const RECORDS: Input = item(Shape::List(&item(record(&[
    may("x", Shape::Number, ""),
    may("y", WORDS, ""),
    may("z", Shape::Truth, ""),
]))));
const TABLE: Input =
    item(Shape::Map(Words { name: "", words: &["a", "b", "c"] }, &item(one_of(&["p", "q", "r"]))));
const NUMBERS: Input = item(Shape::Numbers);
const CAME: Input = item(Shape::List(&item(Shape::Among(&[0.0, 1.0]))));
const NUMBER: Input = item(Shape::Number);
const SCORES: Input = item(Shape::Numbers).within(0.0, 1.0);
const SCORE: Input = item(Shape::Number).within(0.0, 1.0);
const COUNT: Input = item(Shape::Count);
const LEVEL: Input = item(Shape::Among(&[0.8, 0.9, 0.95, 0.99]));
const DRAWS: Input = item(Shape::Count).within(1.0, 100.0);
const BINNING: Input = item(one_of(&["equal_width", "equal_frequency"]));
const TIME: Input = item(Shape::Time);
const AMOUNTS: Shape = record(&[
    needs("expected", Shape::Number, ""),
    may("p50", Shape::Number, ""),
    may("p90", Shape::Number, ""),
    may("p99", Shape::Number, ""),
    may("hard_cap", Shape::Number, ""),
]);
const COSTS: Input = item(Shape::List(&item(record(&[
    needs("components", Shape::Map(Words { name: "", words: &["usd", "wall_clock_ms"] }, &item(AMOUNTS)), ""),
    needs("basis", one_of(CostVectorBasis::WORDS), ""),
    needs("estimator_confidence", one_of(EstimatorConfidence::WORDS), ""),
    may("sample_size", Shape::Count, ""),
    may("assumptions", Shape::List(&item(Shape::Text)), ""),
]))));
const PARTS: Input = item(Shape::List(&item(AMOUNTS)));
const HOW: Input = item(one_of(&["sum", "longest"]));
const LISTS: Input = item(Shape::List(&NUMBERS));

/// What a function takes: as a formula that calls it says, or as it is.
fn takes(name: &str) -> Vec<Input> {
    let of = |id: &str| registry::find(id).unwrap().inputs.to_vec();
    match name {
        "count" | "distinct" | "mark_first" | "first" | "told" | "again" | "unique" | "phrase" => {
            [WORD_LIST].into()
        }
        "sum" | "least" | "greatest" | "total" | "lifted" => [NUMBERS].into(),
        "has" => [WORD_LIST, item(WORDS)].into(),
        "joined" => [LISTS].into(),
        "is_number" => [may("", Shape::Number, "")].into(),
        "at" => [TABLE, item(WORDS)].into(),
        "names" => [TABLE].into(),
        "filled" => [item(AMOUNTS)].into(),
        "by_name" => [WORD_LIST, NUMBERS].into(),
        "beside" => [item(AMOUNTS), TABLE].into(),
        "refuse" => [item(one_of(&["criterion_weight_invalid", "no_code"])), WORD_LIST, item(WORDS)].into(),
        "added" => [PARTS, SUMMED, HOW].into(),
        "added_cases" => [LISTS, HOW].into(),
        "drawn_sums" => [LISTS, HOW, DRAWS, COUNT].into(),
        "reached" => [NUMBERS, item(Shape::Count).within(50.0, 99.0)].into(),
        "quantile" => [NUMBERS, SCORE].into(),
        "min" => [NUMBER, NUMBER].into(),
        "clamp" => [NUMBER, NUMBER, NUMBER].into(),
        "column" => [RECORDS, NAME].into(),
        "where" => [RECORDS, NAME, item(WORDS)].into(),
        "both" | "in_order" => [WORD_LIST, WORD_LIST].into(),
        "last" | "before_last" => [WORD_LIST, COUNT].into(),
        "dot" | "gap" | "scaled" => [NUMBERS, NUMBERS].into(),
        "root" | "is_zero" => [NUMBER].into(),
        "mapped" => [WORD_LIST, TABLE, NUMBER].into(),
        "sorted" => [RECORDS, NAMES].into(),
        "present" => [may("", Shape::Number, "")].into(),
        "or_else" => [may("", Shape::Number, ""), NUMBER].into(),
        "earlier" => [TIME, TIME].into(),
        "weighted_mean" => [SCORES, NUMBERS].into(),
        "wilson" | "beta_interval" | "normal_interval" | "bootstrap_ratio" => [COUNT, COUNT, LEVEL].into(),
        "bootstrap_mean" => [NUMBERS, LEVEL, DRAWS, COUNT].into(),
        "brier" | "auc" | "spearman" => [SCORES, CAME].into(),
        "expected_calibration_error" => [SCORES, CAME, DRAWS, BINNING].into(),
        "confusion" => [SCORES, CAME, SCORE].into(),
        "bootstrap_brier" | "bootstrap_auc" | "bootstrap_spearman" => {
            [SCORES, CAME, LEVEL, DRAWS, COUNT].into()
        }
        "bootstrap_f1" => [SCORES, CAME, LEVEL, DRAWS, COUNT, SCORE].into(),
        "bootstrap_calibration_error" => [SCORES, CAME, LEVEL, DRAWS, COUNT, DRAWS, BINNING].into(),
        "capability_standings" => of("capability_coverage_v1"),
        "quantiles_in_order" => [COSTS].into(),
        other => panic!("nobody says what {other} takes"),
    }
}

/// Most sets of values belong together, so that more than refusals are seen.
fn fitted(name: &str, values: &mut [Json]) {
    match (name, values) {
        ("wilson" | "beta_interval" | "normal_interval" | "bootstrap_ratio", [hits, trials, _]) => {
            let number = |json: &Json| crate::member::number(json).unwrap_or_default();
            *trials = Json::Number(Number::try_from(number(hits) + number(trials)).unwrap());
        }
        ("dot" | "gap" | "by_name", [Json::Array(one), Json::Array(other)]) => {
            let length = one.len().min(other.len());
            one.truncate(length);
            other.truncate(length);
        }
        (_, [Json::Array(one), Json::Array(other), ..])
            if takes(name)[1].shape.name() == CAME.shape.name() =>
        {
            let length = one.len().min(other.len());
            one.truncate(length);
            other.truncate(length);
        }
        ("added_cases", [Json::Array(parts), _]) => {
            let least = parts.iter().map(|one| one.as_array().unwrap().len()).min();
            for part in parts {
                let Json::Array(cases) = part else { continue };
                cases.truncate(least.unwrap_or_default());
            }
        }
        (_, _) => {}
    }
}

/// What a function gives, as a text: numbers as they are told, refusals with their words.
fn given(function: &Function, values: &[Json]) -> String {
    let values: Vec<Value<'_>> = values.iter().map(Value::from).collect();
    let told = |number: f64| (number * 1e6).round() / 1e6;
    match function.call(&values) {
        Ok(found) => {
            found.json(&told).map_or_else(|| "not finite".into(), |found| json::to_text(&found).unwrap())
        }
        // Where in a value it is matters only where a function says so.
        Err(stop) => format!("{stop:?}").replace(" inside: [],", ""),
    }
}

fn hash(function: &Function) -> (String, usize) {
    let mut draw = Draw::new(u64::from(function.version));
    let inputs = takes(function.name);
    assert_eq!(inputs.len(), function.takes, "{}", function.name);
    let (mut all, mut refusals) = (String::new(), 0);
    for _ in 0..CASES {
        let mut values: Vec<Json> = inputs.iter().map(|input| generated::value(&mut draw, input)).collect();
        fitted(function.name, &mut values);
        let given = given(function, &values);
        refusals += usize::from(given.starts_with("Kind(") || given.starts_with("Input("));
        all.push_str(&given);
        all.push('\n');
    }
    let hash = String::from(Digest::of(all.as_bytes()));
    (hash[..16].into(), refusals)
}

/// What each function gives for three hundred sets of values, by name and version. A line is never changed: a function that gives
/// something else gets the next version, and a line of its own.
const PINNED: &str = "tests/govern/functions.txt";

#[test]
fn what_a_function_gives_is_pinned_by_its_version() {
    let pinned = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(PINNED);
    let pinned = std::fs::read_to_string(pinned).unwrap();
    let pinned: BTreeMap<&str, &str> = pinned.lines().filter_map(|line| line.split_once(' ')).collect();
    let (mut wrong, mut refusing) = (String::new(), Vec::new());
    for function in FUNCTIONS {
        let name = versioned(function.name).unwrap();
        let (hash, refusals) = hash(function);
        if refusals > CASES * 9 / 10 && function.name != "refuse" {
            refusing.push((name.clone(), refusals));
        }
        if pinned.get(name.as_str()) != Some(&hash.as_str()) {
            wrong.push_str(&format!("{name} {hash}\n"));
        }
    }
    assert!(wrong.is_empty(), "these give something else than their version did:\n{wrong}");
    assert!(refusing.is_empty(), "these refuse nearly everything, so little is pinned: {refusing:?}");
}

#[test]
fn every_function_has_a_name_of_its_own() {
    let names: std::collections::BTreeSet<&str> = FUNCTIONS.iter().map(|one| one.name).collect();
    assert_eq!(names.len(), FUNCTIONS.len());
}

/// The version is a part of what is hashed.
#[test]
fn a_text_says_what_it_calls() {
    let text = registry::find("quality_index_v1").unwrap().text();
    assert!(text.ends_with("\ncalls: at@1, clamp@1, column@1, count@1, distinct@1, is_zero@1, least@1, lifted@1, or_else@1, present@1, refuse@1, total@2, where@1"), "{text}");
}

/// Small and great amounts are counted as they are written, and what is less than a millionth is one.
#[test]
fn amounts_are_counted_as_they_are_written() {
    for (amount, expected) in [
        (0.0, 0),
        (-0.0, 0),
        (0.1, 100_000),
        (1.1, 1_100_000),
        (0.1 + 0.2, 300_000),
        (2e-9, 1),
        (2.000_000_1, 2_000_001),
        (12_345.678_901, 12_345_678_901),
        (10_737_418_240.0, 10_737_418_240_000_000),
        (1_099_511_627_777.0, 1_099_511_627_777_000_000),
        (9e15, 9_000_000_000_000_000_000_000),
    ] {
        assert_eq!(cost::micros(amount, "vectors"), Ok(expected), "{amount}");
    }
    for beyond in [-1.0, 9.1e15, f64::MAX, f64::NAN, f64::INFINITY] {
        assert!(cost::micros(beyond, "vectors").is_err(), "{beyond}");
    }
}

proptest::proptest! {
    /// What was counted of an amount is that amount, whole or with six decimals.
    #[test]
    fn counting_loses_nothing(whole in 0_u64..9_000_000_000_000_000, millionths in 0_u64..4_000_000_000_000_000) {
        for amount in [whole as f64, millionths as f64 / 1e6] {
            let counted = cost::micros(amount, "vectors").map(cost::units);
            proptest::prop_assert_eq!(counted.map(f64::to_bits), Ok(amount.to_bits()));
        }
        proptest::prop_assert_eq!(cost::micros(millionths as f64 / 1e6, "vectors"), Ok(u128::from(millionths)));
    }
}
