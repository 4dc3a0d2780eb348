//! Statistics of predictions and what came of them.
//! Owns: means, quantiles, ranks, calibration. Must not: know a policy: what can't be told is `None`.

use alloc::vec;
use alloc::vec::Vec;

/// How predictions are put into bins: of one width, or of one size, where what is predicted alike stays together in the lower bin.
pub use crate::types::calibration::CalibrationMetricSpecBinningPolicyBinningMethod as Binning;

/// Counts are far below 2^53.
#[expect(clippy::cast_precision_loss, reason = "counts of items are far below 2^53")]
pub(super) fn real(count: usize) -> f64 {
    count as f64
}

/// The mean; `None` of nothing.
#[must_use]
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / real(values.len()))
}

/// The quantile, between two items in a straight line.
#[must_use]
pub fn quantile(values: &[f64], part: f64) -> Option<f64> {
    let last = values.len().checked_sub(1)?;
    if !(0.0..=1.0).contains(&part) {
        return None;
    }
    let place = part * real(last);
    let below = libm::floor(place);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it is at most the length of a list"
    )]
    let at = below as usize;
    let mut items = values.to_vec();
    let (_, low, above) = items.select_nth_unstable_by(at.min(last), f64::total_cmp);
    let high = above.iter().copied().min_by(f64::total_cmp).unwrap_or(*low);
    Some(*low + (high - *low) * (place - below))
}

/// Ranks from 1; those that are equal share the mean of theirs.
fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<(f64, usize)> = values.iter().copied().zip(0..).collect();
    order.sort_by(|(one, here), (other, there)| one.total_cmp(other).then(here.cmp(there)));
    let mut ranks = vec![0.0; values.len()];
    let mut from = 0;
    for group in order.chunk_by(|(one, _), (other, _)| one.total_cmp(other).is_eq()) {
        let shared = real(2 * from + group.len() + 1) / 2.0;
        for (_, at) in group {
            if let Some(rank) = ranks.get_mut(*at) {
                *rank = shared;
            }
        }
        from += group.len();
    }
    ranks
}

/// How often what came was predicted higher than what did not; `None` if all or nothing came.
#[must_use]
pub fn auc(predicted: &[f64], came: &[f64]) -> Option<f64> {
    let positive = came.iter().filter(|one| **one > 0.5).count();
    let negative = came.len() - positive;
    if positive == 0 || negative == 0 {
        return None;
    }
    let ranks = ranks(predicted);
    let sum: f64 = ranks.iter().zip(came).filter(|(_, came)| **came > 0.5).map(|(rank, _)| rank).sum();
    Some((sum - real(positive) * real(positive + 1) / 2.0) / (real(positive) * real(negative)))
}

/// The correlation of ranks; `None` where one side is all the same.
#[must_use]
pub fn spearman(one: &[f64], other: &[f64]) -> Option<f64> {
    let (one, other) = (ranks(one), ranks(other));
    let (middle, other_middle) = (mean(&one)?, mean(&other)?);
    let spread = |values: &[f64], middle: f64| {
        values.iter().map(|value| (value - middle) * (value - middle)).sum::<f64>()
    };
    let both: f64 = one.iter().zip(&other).map(|(one, other)| (one - middle) * (other - other_middle)).sum();
    let within = libm::sqrt(spread(&one, middle) * spread(&other, other_middle));
    (within > 0.0).then(|| (both / within).clamp(-1.0, 1.0))
}

/// The mean square of what was predicted less what came.
#[must_use]
pub fn brier(predicted: &[f64], came: &[f64]) -> Option<f64> {
    let squares = predicted.iter().zip(came).map(|(p, o)| (p - o) * (p - o));
    let count = predicted.len().min(came.len());
    (count > 0).then(|| squares.sum::<f64>() / real(count))
}

/// How far predictions are off, bin by bin, weighed by how many are in it.
#[must_use]
pub fn calibration_error(predicted: &[f64], came: &[f64], bins: usize, method: Binning) -> Option<f64> {
    let count = predicted.len().min(came.len());
    if count == 0 || bins == 0 {
        return None;
    }
    let mut sums = vec![(0_usize, 0.0, 0.0); bins];
    for (bin, (predicted, came)) in
        bins_of(predicted, bins, method).into_iter().zip(predicted.iter().zip(came))
    {
        if let Some((count, predictions, outcomes)) = sums.get_mut(bin) {
            *count += 1;
            *predictions += predicted;
            *outcomes += came;
        }
    }
    let off = sums
        .iter()
        .filter(|(count, ..)| *count > 0)
        .map(|(_, predictions, outcomes)| (predictions - outcomes).abs());
    Some(off.sum::<f64>() / real(count))
}

fn bins_of(predicted: &[f64], bins: usize, method: Binning) -> Vec<usize> {
    match method {
        Binning::EqualWidth => predicted
            .iter()
            .map(|one| {
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "kept between 0 and the bins"
                )]
                let bin = libm::floor(one * real(bins)).clamp(0.0, real(bins - 1)) as usize;
                bin
            })
            .collect(),
        Binning::EqualFrequency => {
            let mut order: Vec<(f64, usize)> = predicted.iter().copied().zip(0..).collect();
            order.sort_by(|(one, here), (other, there)| one.total_cmp(other).then(here.cmp(there)));
            let mut found = vec![0; predicted.len()];
            let mut from = 0;
            for group in order.chunk_by(|(one, _), (other, _)| one.total_cmp(other).is_eq()) {
                for (_, at) in group {
                    if let Some(bin) = found.get_mut(*at) {
                        *bin = from * bins / predicted.len().max(1);
                    }
                }
                from += group.len();
            }
            found
        }
    }
}

/// True and false positives, true and false negatives.
#[must_use]
pub fn confusion(predicted: &[f64], came: &[f64], threshold: f64) -> [usize; 4] {
    let mut counts = [0; 4];
    for (predicted, came) in predicted.iter().zip(came) {
        let at = match (*predicted >= threshold, *came > 0.5) {
            (true, true) => 0,
            (true, false) => 1,
            (false, false) => 2,
            (false, true) => 3,
        };
        counts[at] += 1;
    }
    counts
}

/// The harmonic mean of precision and recall of what [`confusion`] counts; `None` where one class is missing.
#[must_use]
pub fn f1([tp, fp, tn, missed]: [usize; 4]) -> Option<f64> {
    let has_both = tp + missed > 0 && fp + tn > 0;
    has_both.then(|| 2.0 * real(tp) / real(2 * tp + fp + missed))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const P: [f64; 4] = [0.1, 0.4, 0.35, 0.8];
    const O: [f64; 4] = [0.0, 0.0, 1.0, 1.0];

    fn near(found: Option<f64>, expected: f64) {
        assert!(found.is_some_and(|found| (found - expected).abs() < 1e-12), "{found:?} {expected}");
    }

    #[test]
    fn known_values() {
        near(auc(&P, &O), 0.75);
        near(brier(&P, &O), 0.158_125);
        near(calibration_error(&P, &O, 2, Binning::EqualWidth), 0.0875);
        near(calibration_error(&P, &O, 5, Binning::EqualWidth), 0.3375);
        near(auc(&[0.5; 4], &O), 0.5);
        near(spearman(&[1.0, 2.0, 3.0, 4.0], &[1.0, 3.0, 2.0, 4.0]), 0.8);
        assert_eq!(spearman(&[1.0, 1.0], &[1.0, 2.0]), None);
        assert_eq!(auc(&P, &[1.0; 4]), None);
        near(quantile(&[4.0, 1.0, 3.0, 2.0], 0.5), 2.5);
        assert_eq!(confusion(&P, &O, 0.4), [1, 1, 1, 1]);
    }

    fn pairs() -> impl Strategy<Value = (Vec<f64>, Vec<f64>)> {
        let one = (0_u32..=100, proptest::bool::ANY)
            .prop_map(|(p, o)| (f64::from(p) / 100.0, f64::from(u8::from(o))));
        proptest::collection::vec(one, 2..60).prop_map(|pairs| pairs.into_iter().unzip())
    }

    proptest! {
        #[test]
        fn the_laws_hold((p, o) in pairs(), bins in 1_usize..20) {
            let within = |value: Option<f64>| value.is_none_or(|value| (0.0..=1.0 + 1e-12).contains(&value));
            prop_assert!(within(brier(&p, &o)) && within(auc(&p, &o)));
            prop_assert!(within(calibration_error(&p, &o, bins, Binning::EqualWidth)));
            prop_assert!(within(calibration_error(&p, &o, bins, Binning::EqualFrequency)));
            let turned: Vec<f64> = p.iter().map(|p| 1.0 - p).collect();
            if let (Some(one), Some(other)) = (auc(&p, &o), auc(&turned, &o)) {
                prop_assert!((one + other - 1.0).abs() < 1e-9);
            }
            for same in [0.0, 1.0] {
                prop_assert_eq!(auc(&p, &std::vec![same; p.len()]), None);
            }
            let stretched: Vec<f64> = p.iter().map(|p| p * p * p + 7.0).collect();
            prop_assert_eq!(spearman(&p, &o).map(f64::to_bits), spearman(&stretched, &o).map(f64::to_bits));
        }
    }
}
