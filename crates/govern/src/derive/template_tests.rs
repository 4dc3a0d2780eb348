//! Scores of templates: from 0 to 1, better with better parts, worse with penalties, capped by a veto.

use super::*;
use proptest::prelude::*;
use std::vec::Vec;

const KEYS: [&str; 3] = ["input_contract_match", "semantic_intent_match", "task_type_match"];

fn by(values: [f64; 3]) -> ByComponent<'static> {
    KEYS.into_iter().zip(values).collect()
}

fn formula() -> Formula<'static> {
    Formula { component_weights: by([1.0, 2.0, 1.0]), hard_veto_cap: 0.25, soft_penalty_max_total: 0.5 }
}

fn found(components: [f64; 3]) -> Match<'static> {
    let weights = by([1.0, 2.0, 1.0]);
    Match { components: by(components), weights, soft_penalty_sum: 0.0, hard_veto_count: 0 }
}

fn check(found: &Match<'_>, formula: &Formula<'_>, expected: Result<f64, Error>) {
    assert_eq!(overall_score(found, formula), expected, "{found:?} {formula:?}");
}

#[test]
fn parts_are_weighed_penalised_and_capped() {
    let plain = found([1.0, 0.5, 1.0]);
    check(&plain, &formula(), Ok(0.75));
    check(&Match { soft_penalty_sum: 0.5, ..plain.clone() }, &formula(), Ok(0.25));
    check(&Match { soft_penalty_sum: 0.5, ..found([0.0, 0.5, 0.0]) }, &formula(), Ok(0.0));
    check(&Match { hard_veto_count: 1, ..plain.clone() }, &formula(), Ok(0.25));
    let closed = Formula { hard_veto_cap: 0.0, ..formula() };
    check(&Match { hard_veto_count: 3, ..plain.clone() }, &closed, Ok(0.0));
    let mut more = plain.clone();
    more.components.insert("another", 7.0);
    check(&more, &formula(), Ok(0.75));
    let one_key = Formula { component_weights: [("task_type_match", 9.0)].into(), ..formula() };
    check(&Match { weights: [("task_type_match", 9.0)].into(), ..plain }, &one_key, Ok(1.0));
}

#[test]
fn checks_come_in_the_order_of_the_contract() {
    let good = found([1.0, 0.5, 1.0]);
    let weights = |weights| Match { weights: by(weights), ..good.clone() };
    let bad_end = Formula { hard_veto_cap: f64::NAN, soft_penalty_max_total: -1.0, ..formula() };
    for component in [f64::NAN, f64::INFINITY, -0.1, 1.1] {
        check(&found([1.0, component, 1.0]), &bad_end, Err(Error::ComponentOutOfRange));
    }
    let missing = Match { components: [("task_type_match", 1.0)].into(), ..good.clone() };
    check(&missing, &formula(), Err(Error::ComponentOutOfRange));
    for weight in [f64::NAN, f64::INFINITY, -1.0] {
        check(&weights([1.0, weight, 1.0]), &bad_end, Err(Error::WeightInvalid));
    }
    let mut extra = good.clone();
    extra.weights.insert("another", 1.0);
    check(&extra, &formula(), Err(Error::WeightInvalid));
    let missing = Match { weights: [("task_type_match", 1.0)].into(), ..good.clone() };
    check(&missing, &formula(), Err(Error::WeightInvalid));
    check(&weights([0.0, 0.0, 0.0]), &bad_end, Err(Error::TotalWeightZero));
    check(&weights([f64::MAX, f64::MAX, 0.0]), &bad_end, Err(Error::TotalWeightZero));
    for soft_penalty_sum in [f64::NAN, f64::INFINITY, -0.1, 0.6] {
        check(&Match { soft_penalty_sum, ..good.clone() }, &formula(), Err(Error::SoftPenaltyInvalid));
    }
    for soft_penalty_max_total in [f64::NAN, f64::INFINITY, 1.1] {
        let formula = Formula { soft_penalty_max_total, ..formula() };
        check(&good, &formula, Err(Error::SoftPenaltyInvalid));
        assert_eq!(check_formula(&formula), Err(Error::SoftPenaltyInvalid));
    }
    for hard_veto_cap in [f64::NAN, f64::INFINITY, -0.1, 1.1] {
        let formula = Formula { hard_veto_cap, ..formula() };
        check(&good, &formula, Err(Error::HardVetoCapInvalid));
        assert_eq!(check_formula(&formula), Err(Error::HardVetoCapInvalid));
    }
    let negative = Formula { component_weights: by([1.0, -1.0, 1.0]), ..formula() };
    assert_eq!(check_formula(&negative), Err(Error::WeightInvalid));
    let nothing = Formula { component_weights: by([0.0; 3]), ..formula() };
    assert_eq!(check_formula(&nothing), Err(Error::TotalWeightZero));
    assert_eq!(check_formula(&formula()), Ok(()));
}

proptest! {
    #[test]
    fn a_score_keeps_its_laws(
        parts in proptest::array::uniform3(0.0..=1.0_f64),
        weights in proptest::array::uniform3(1e-9..1e9_f64),
        (penalty, cap, most) in (0.0..=1.0_f64, 0.0..=1.0_f64, 0.0..=1.0_f64),
        (raised, by_so_much, more) in (0usize..3, 0.0..=1.0_f64, 0.0..=1.0_f64),
        vetoes in 0u64..3,
    ) {
        let formula = Formula { component_weights: by(weights), hard_veto_cap: cap, soft_penalty_max_total: most };
        let of = |parts: [f64; 3], penalty: f64, hard_veto_count| {
            let one = Match { components: by(parts), weights: by(weights), soft_penalty_sum: penalty * most, hard_veto_count };
            overall_score(&one, &formula)
        };
        let score = of(parts, penalty, vetoes).unwrap();
        prop_assert!(is_score(score));
        prop_assert!(vetoes == 0 || score <= cap);
        let better: Vec<f64> = parts.iter().enumerate()
            .map(|(at, part)| if at == raised { (part + by_so_much).min(1.0) } else { *part }).collect();
        prop_assert!(of([better[0], better[1], better[2]], penalty, vetoes).unwrap() >= score);
        prop_assert!(of(parts, (penalty + more).min(1.0), vetoes).unwrap() <= score);
        prop_assert!(of(parts, penalty, vetoes + 1).unwrap() <= score);
    }
}

/// However small weights are, a score is what it is by great ones of the same shares.
#[test]
fn the_least_weights_count_as_great_ones_do() {
    let parts = [0.2, 0.9, 0.35];
    for shares in [[1.0, 2.0, 5.0], [0.0, 3.0, 1.0]] {
        let of = |unit: f64| {
            let weights = by(shares.map(|share| share * unit));
            let formula = Formula { component_weights: weights.clone(), ..formula() };
            overall_score(&Match { weights, ..found(parts) }, &formula).map(f64::to_bits)
        };
        for unit in [5e-324, 2_f64.powi(-1_060)] {
            assert_eq!(of(unit), of(1.0), "{shares:?} {unit:e}");
        }
    }
}
