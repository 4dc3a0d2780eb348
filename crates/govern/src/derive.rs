//! How scores and statuses are derived: pure functions of what is recorded.
//! Owns: the functions of the contract. Must not: read a world; a rule gathers what they need and compares.

pub mod cascade;
pub mod chain;
pub mod claim_support;
pub mod cost;
pub mod draw;
pub mod graph;
pub mod keys;
pub mod novelty;
pub mod quality;
pub mod reliance;
pub mod same_reason;
pub mod sufficiency;
pub mod taint;
pub mod template;
pub mod text;
pub mod tie_break;
pub mod weights;

/// Whether a number can be a score: finite, from 0 to 1.
#[must_use]
pub fn is_score(value: f64) -> bool {
    (0.0..=1.0).contains(&value)
}

/// Whether a number can be a weight or an amount: finite and not negative.
#[must_use]
pub fn is_finite_and_not_negative(value: f64) -> bool {
    value.is_finite() && value >= 0.0
}

/// The sum, the same in whatever order the numbers come: floats do not add associatively. What each addition loses is added in the end,
/// so that a sum of very many is as near as one of two.
#[must_use]
pub fn sum(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut values: alloc::vec::Vec<f64> = values.into_iter().collect();
    // Equal ones are the same number, so it does not matter which of them comes first.
    values.sort_unstable_by(f64::total_cmp);
    let (mut sum, mut lost) = (0.0_f64, 0.0);
    for value in values {
        let next = sum + value;
        lost += if sum.abs() >= value.abs() { (sum - next) + value } else { (value - next) + sum };
        sum = next;
    }
    // What is beyond all numbers, or none, lost nothing that could be told.
    if lost.is_finite() { sum + lost } else { sum }
}

/// Weights that are all less than 2^-600 lose what is taken of them: there are no numbers between them and their parts.
const LEAST: f64 = f64::from_bits((1023 - 600) << 52);
/// 2^600, by which the least number there is becomes one that loses nothing.
const LIFT: f64 = f64::from_bits((1023 + 600) << 52);

/// What weights are multiplied by so that nothing of them is lost, however small they are: a power of two, which leaves how they are to
/// each other as it is.
#[must_use]
pub fn lift(weights: impl IntoIterator<Item = f64>) -> f64 {
    if weights.into_iter().fold(0.0, f64::max) < LEAST { LIFT } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::{LEAST, LIFT, lift, sum};
    use proptest::prelude::*;
    use std::vec;
    use std::vec::Vec;

    #[test]
    fn nothing_is_lost_on_the_way() {
        let share = 1.0 / 60_000.0;
        for (values, expected) in [
            (vec![0.1; 10], 1.0),
            (vec![share; 60_000], 1.0),
            (vec![1e100, 1.0, -1e100], 1.0),
            (vec![f64::MAX, f64::MAX], f64::INFINITY),
            (vec![], 0.0),
        ] {
            assert_eq!(sum(values.iter().copied()).to_bits(), f64::to_bits(expected), "{:?}", values.first());
        }
        assert!(sum([f64::NAN, 1.0]).is_nan());
    }

    #[test]
    fn what_is_lifted_loses_nothing() {
        assert_eq!((LEAST * LIFT).to_bits(), 1.0_f64.to_bits());
        for least in [5e-324, 1e-310, f64::MIN_POSITIVE] {
            assert!((least * lift([0.0, least]) * 0.6).is_normal(), "{least}");
        }
        let lifts = [lift([]), lift([0.0]), lift([5e-324, LEAST]), lift([f64::MAX])];
        assert_eq!(lifts.map(f64::to_bits), [LIFT, LIFT, 1.0, 1.0].map(f64::to_bits));
    }

    proptest! {
        #[test]
        fn the_order_does_not_matter(eighths in proptest::collection::vec(-1_000_000_000_000_i64..1_000_000_000_000, 0..40)) {
            // Eighths have an exact sum, which is what must come out.
            let exact = eighths.iter().sum::<i64>() as f64 / 8.0;
            let mut values: Vec<f64> = eighths.iter().map(|eighth| *eighth as f64 / 8.0).collect();
            prop_assert_eq!(sum(values.iter().copied()).to_bits(), exact.to_bits());
            values.reverse();
            prop_assert_eq!(sum(values.iter().copied()).to_bits(), exact.to_bits());
        }
    }
}
