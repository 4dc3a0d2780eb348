//! Costs add up the same in whatever order, and no quantile comes out of nowhere.

use super::*;
use proptest::prelude::*;
use std::string::ToString;
use std::{vec, vec::Vec};

fn vector(components: &[(Dimension, Distribution)]) -> Vector {
    Vector { components: components.iter().copied().collect(), ..Vector::nothing() }
}

fn amount(expected: Micros, p90: Option<Micros>, hard_cap: Option<Micros>) -> Distribution {
    Distribution { expected, p90, hard_cap, ..Distribution::default() }
}

#[test]
fn dimensions_add_apart() {
    let one = vector(&[
        (Dimension::Usd, amount(3, Some(4), Some(9))),
        (Dimension::WallClockMs, amount(5, None, None)),
    ]);
    let other = vector(&[
        (Dimension::Usd, amount(2, Some(5), None)),
        (Dimension::OutputTokens, amount(1, Some(2), Some(3))),
    ]);
    let alone = amount(1, Some(2), Some(3));
    let expected = |usd| {
        vector(&[
            (Dimension::Usd, usd),
            (Dimension::WallClockMs, amount(5, None, None)),
            (Dimension::OutputTokens, alone),
        ])
    };
    let sum = |quantiles| add(&one, &other, quantiles, Timing::Sequential);
    assert_eq!(sum(Quantiles::Dropped), Ok(expected(amount(5, None, None))));
    assert_eq!(sum(Quantiles::Comonotone), Ok(expected(amount(5, Some(9), None))));
    let twice = |timing| add(&one, &one, Quantiles::Dropped, timing).unwrap().components;
    assert_eq!(twice(Timing::Sequential).get(&Dimension::WallClockMs), Some(&amount(10, None, None)));
    assert_eq!(twice(Timing::Parallel).get(&Dimension::WallClockMs), Some(&amount(5, None, None)));
    assert_eq!(twice(Timing::Parallel).get(&Dimension::Usd), Some(&amount(6, None, Some(18))));
    let most = vector(&[(Dimension::Usd, amount(Micros::MAX, None, None))]);
    assert_eq!(add(&most, &one, Quantiles::Dropped, Timing::Sequential), Err(Error::TooMuch));
}

#[test]
fn quantiles_do_not_add_up() {
    let cases: Vec<Micros> = (0..100).map(|at| if at < 92 { 0 } else { 100 }).collect();
    let alone = with_quantiles_of(&Distribution::default(), &cases);
    assert_eq!((alone.p50, alone.p90, alone.p99), (Some(0), Some(0), Some(100)));
    let sums = draw(&[&cases, &cases], Drawing { seed: 7, draws: 20_000 }, Join::Sum).unwrap();
    assert_eq!(with_quantiles_of(&Distribution::default(), &sums).p90, Some(100));
    assert_eq!(sums, draw(&[&cases, &cases], Drawing { seed: 7, draws: 20_000 }, Join::Sum).unwrap());
    assert_eq!(draw(&[&cases, &[]], Drawing { seed: 7, draws: 10 }, Join::Sum), Ok(vec![]));
    assert_eq!(draw(&[&[Micros::MAX], &[1]], Drawing { seed: 7, draws: 10 }, Join::Sum), Err(Error::TooMuch));
    assert_eq!(with_quantiles_of(&alone, &[]).p90, None);
}

fn any_distribution() -> impl Strategy<Value = Distribution> {
    let micros = || 0u128..1_000_000_000_000;
    let may = || proptest::option::of(0u128..1_000_000_000_000);
    (micros(), may(), may(), may(), may()).prop_map(|(expected, p50, p90, p99, hard_cap)| Distribution {
        expected,
        p50,
        p90,
        p99,
        hard_cap,
    })
}

fn any_vector() -> impl Strategy<Value = Vector> {
    use Basis::{Heuristic, Historical, MeasuredActual, ModelPriced, ProviderQuote};
    use Confidence::{Calibrated, Experimental, Uncalibrated};
    let basis =
        proptest::sample::select(vec![MeasuredActual, ProviderQuote, Historical, ModelPriced, Heuristic]);
    let confidence = proptest::sample::select(vec![Experimental, Uncalibrated, Calibrated]);
    let components =
        proptest::collection::vec(proptest::option::of(any_distribution()), Dimension::ALL.len());
    let assumptions = proptest::collection::btree_set(0u8..5, 0..4);
    (components, basis, confidence, proptest::option::of(0u64..100), assumptions).prop_map(
        |(components, basis, confidence, sample_size, assumptions)| Vector {
            components: Dimension::ALL
                .iter()
                .zip(components)
                .filter_map(|(of, one)| Some((*of, one?)))
                .collect(),
            basis,
            confidence,
            sample_size,
            assumptions: assumptions.iter().map(ToString::to_string).collect(),
        },
    )
}

proptest! {
    #[test]
    fn adding_keeps_its_laws(
        (a, b, c) in (any_vector(), any_vector(), any_vector()),
        quantiles in proptest::sample::select(vec![Quantiles::Dropped, Quantiles::Comonotone]),
        timing in proptest::sample::select(vec![Timing::Sequential, Timing::Parallel]),
    ) {
        let plus = |one: &Vector, other: &Vector| add(one, other, quantiles, timing).unwrap();
        prop_assert_eq!(plus(&a, &b), plus(&b, &a));
        prop_assert_eq!(plus(&plus(&a, &b), &c), plus(&a, &plus(&b, &c)));
        prop_assert_eq!(&plus(&a, &Vector::nothing()), &a);
        let sum = plus(&a, &b);
        for (dimension, one) in &sum.components {
            let parts = [&a, &b].into_iter().filter(|part| part.components.contains_key(dimension)).count();
            let has_quantile = [one.p50, one.p90, one.p99].iter().any(Option::is_some);
            prop_assert!(parts == 1 || quantiles == Quantiles::Comonotone || !has_quantile);
        }
    }
}
