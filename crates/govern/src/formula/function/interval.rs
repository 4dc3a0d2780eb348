//! Intervals: how sure a ratio or a mean is.
//! Owns: Wilson, the normal law, a flat prior, drawing anew. Must not: take chance from anywhere but a seed.

use super::statistics::{quantile, real};
use crate::derive::draw::Draw;
use alloc::vec::Vec;

/// How many standard deviations hold a level; only the levels of the contract.
fn deviations(level: f64) -> Option<f64> {
    const LEVELS: [(f64, f64); 4] = [
        (0.8, 1.281_551_565_544_600_4),
        (0.9, 1.644_853_626_951_472_2),
        (0.95, 1.959_963_984_540_054),
        (0.99, 2.575_829_303_548_900_4),
    ];
    LEVELS.iter().find(|(one, _)| (one - level).abs() < 1e-9).map(|(_, z)| *z)
}

/// Hits and trials that can be.
fn ratio(hits: f64, trials: f64) -> Option<f64> {
    (trials > 0.0 && (0.0..=trials).contains(&hits)).then(|| hits / trials)
}

/// After Wilson.
#[must_use]
pub fn wilson(hits: f64, trials: f64, level: f64) -> Option<(f64, f64)> {
    let (p, z) = (ratio(hits, trials)?, deviations(level)?);
    let shrink = 1.0 + z * z / trials;
    let centre = (p + z * z / (2.0 * trials)) / shrink;
    let half = z / shrink * libm::sqrt(p * (1.0 - p) / trials + z * z / (4.0 * trials * trials));
    Some(((centre - half).max(0.0), (centre + half).min(1.0)))
}

/// By the normal law, kept between 0 and 1.
#[must_use]
pub fn normal(hits: f64, trials: f64, level: f64) -> Option<(f64, f64)> {
    let (p, z) = (ratio(hits, trials)?, deviations(level)?);
    let half = z * libm::sqrt(p * (1.0 - p) / trials);
    Some(((p - half).max(0.0), (p + half).min(1.0)))
}

/// From a flat prior: the middle of Beta(1 + hits, 1 + misses).
#[must_use]
pub fn beta(hits: f64, trials: f64, level: f64) -> Option<(f64, f64)> {
    ratio(hits, trials)?;
    let (z, tail) = (deviations(level)?, (1.0 - level) / 2.0);
    let law = Beta::new(1.0 + hits, 1.0 + trials - hits);
    Some((law.quantile(tail, -z), law.quantile(1.0 - tail, z)))
}

/// By drawing as many trials anew, without end: hits that are drawn so follow the binomial law, and its quantiles are the ends.
#[must_use]
pub fn bootstrap_ratio(hits: f64, trials: f64, level: f64) -> Option<(f64, f64)> {
    let p = ratio(hits, trials)?;
    deviations(level)?;
    let tail = (1.0 - level) / 2.0;
    let end = |part: f64| {
        // The least count that so many do not exceed.
        let (mut low, mut high) = (0.0, trials);
        while low < high {
            let middle = libm::floor((low + high) / 2.0);
            let up_to = Beta::new(trials - middle, middle + 1.0).up_to(1.0 - p);
            if up_to < part { low = middle + 1.0 } else { high = middle }
        }
        low / trials
    };
    Some((end(tail), end(1.0 - tail)))
}

/// A beta law.
struct Beta {
    a: f64,
    b: f64,
    /// The logarithm of what its density is divided by, negated.
    front: f64,
}

impl Beta {
    fn new(a: f64, b: f64) -> Self {
        Beta { a, b, front: libm::lgamma(a + b) - libm::lgamma(a) - libm::lgamma(b) }
    }

    /// Where so much of it lies below. Newton's steps from so many deviations off the middle, and halving where one leads astray.
    fn quantile(&self, part: f64, deviations: f64) -> f64 {
        let Beta { a, b, front } = *self;
        let mean = a / (a + b);
        let spread = libm::sqrt(mean * (1.0 - mean) / (a + b + 1.0));
        let (mut low, mut high) = (0.0, 1.0);
        let mut x = mean + deviations * spread;
        for _ in 0..STEPS_MAX {
            if x <= low || x >= high {
                x = (low + high) / 2.0;
            }
            let off = self.up_to(x) - part;
            if off < 0.0 {
                low = x
            } else {
                high = x
            }
            let density = libm::exp(front + (a - 1.0) * libm::log(x) + (b - 1.0) * libm::log1p(-x));
            let step = off / density;
            if step.abs() < NEAR || high - low < NEAR {
                break;
            }
            // What is no number leads astray too.
            x = if step.is_finite() { x - step } else { low };
        }
        x
    }

    /// How much of it lies up to here: the regularised incomplete beta function, by its continued fraction.
    fn up_to(&self, x: f64) -> f64 {
        let Beta { a, b, front } = *self;
        if x <= 0.0 || x >= 1.0 {
            return if x <= 0.0 { 0.0 } else { 1.0 };
        }
        let front = libm::exp(front + a * libm::log(x) + b * libm::log1p(-x));
        if x < (a + 1.0) / (a + b + 2.0) {
            front * fraction(a, b, x) / a
        } else {
            1.0 - front * fraction(b, a, 1.0 - x) / b
        }
    }
}

/// Two ends that are as near to each other are one.
const NEAR: f64 = 1e-15;
/// Steps towards a quantile, at most.
const STEPS_MAX: usize = 200;
/// Steps of a continued fraction, at most: about as many as the root of the trials.
const DEPTH_MAX: u32 = 100_000;

/// After Lentz.
fn fraction(a: f64, b: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let away = |value: f64| if value.abs() < TINY { TINY } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / away(1.0 - (a + b) * x / (a + 1.0));
    let mut found = d;
    for step in 1..DEPTH_MAX {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        d = 1.0 / away(1.0 + even * d);
        c = away(1.0 + even / c);
        found *= d * c;
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = 1.0 / away(1.0 + odd * d);
        c = away(1.0 + odd / c);
        let change = d * c;
        found *= change;
        if (change - 1.0).abs() < 1e-16 {
            break;
        }
    }
    found
}

/// Numbers that are looked at in all draws together, at most.
const LOOKS_MAX: u64 = 20_000_000;

/// The middle of means that are drawn anew, with a seed: the same one gives the same ends everywhere.
#[must_use]
pub fn bootstrap_mean(values: &[f64], level: f64, draws: u64, seed: u64) -> Option<(f64, f64)> {
    let mut chance = Draw::new(seed);
    let count = values.len();
    bootstrap(count, level, draws, || {
        let sum: f64 = (0..count).filter_map(|_| values.get(chance.place(count))).sum();
        Some(sum / real(count))
    })
}

/// The middle of what is said of pairs that are drawn anew, with a seed.
pub fn bootstrap_pairs(
    pairs: &[(f64, f64)],
    level: f64,
    draws: u64,
    seed: u64,
    say: impl Fn(&[f64], &[f64]) -> Option<f64>,
) -> Option<(f64, f64)> {
    let mut chance = Draw::new(seed);
    let count = pairs.len();
    let (mut left, mut right) = (Vec::with_capacity(count), Vec::with_capacity(count));
    bootstrap(count, level, draws, || {
        left.clear();
        right.clear();
        for (one, other) in (0..count).filter_map(|_| pairs.get(chance.place(count))) {
            left.push(*one);
            right.push(*other);
        }
        say(&left, &right)
    })
}

/// The middle of what is said of so many items in each draw. Draws of which nothing can be said do not count; `None` if these are
/// half of them or more, and where there is nothing to draw or too much.
fn bootstrap(
    count: usize,
    level: f64,
    draws: u64,
    mut say: impl FnMut() -> Option<f64>,
) -> Option<(f64, f64)> {
    deviations(level)?;
    let looks = (count as u64).checked_mul(draws)?;
    if !(1..=LOOKS_MAX).contains(&looks) {
        return None;
    }
    let said: Vec<f64> = (0..draws).filter_map(|_| say()).collect();
    let tail = (1.0 - level) / 2.0;
    let is_enough = 2 * said.len() as u64 > draws;
    is_enough.then_some(()).and_then(|()| Some((quantile(&said, tail)?, quantile(&said, 1.0 - tail)?)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn known_values() {
        let near = |found: Option<(f64, f64)>, low: f64, high: f64| {
            let (one, other) = found.unwrap();
            assert!((one - low).abs() < 1e-9 && (other - high).abs() < 1e-9, "{one} {other}");
        };
        near(wilson(8.0, 10.0, 0.95), 0.490_162_471_5, 0.943_317_848_5);
        // As SciPy gives them: beta.ppf([0.025, 0.975], 9, 3).
        near(beta(8.0, 10.0, 0.95), 0.482_244_147_6, 0.939_782_265_8);
        near(beta(0.0, 1e8, 0.95), 0.000_000_000_3, 0.000_000_036_9);
        near(bootstrap_ratio(8.0, 10.0, 0.95), 0.5, 1.0);
        near(bootstrap_ratio(0.0, 10.0, 0.95), 0.0, 0.0);
        near(bootstrap_ratio(10.0, 10.0, 0.95), 1.0, 1.0);
        assert_eq!(wilson(0.0, 0.0, 0.95), None);
        assert_eq!(wilson(1.0, 2.0, 0.5), None);
        assert_eq!(
            bootstrap_mean(&[1.0, 2.0, 4.0], 0.9, 500, 7),
            bootstrap_mean(&[1.0, 2.0, 4.0], 0.9, 500, 7)
        );
    }

    proptest! {
        #[test]
        fn intervals_hold_their_ratio(hits in 0_u32..200, more in 0_u32..200) {
            let (hits, trials) = (f64::from(hits), f64::from(hits + more));
            for found in [wilson(hits, trials, 0.95), normal(hits, trials, 0.95)].into_iter().flatten() {
                prop_assert!(found.0 <= hits / trials + 1e-12 && hits / trials <= found.1 + 1e-12);
            }
            if let Some((low, high)) = beta(hits, trials, 0.9) {
                prop_assert!((0.0..=1.0).contains(&low) && low < high && high <= 1.0);
            }
            if let Some((low, high)) = bootstrap_ratio(hits, trials, 0.9) {
                prop_assert!(0.0 <= low && low <= hits / trials && hits / trials <= high && high <= 1.0);
            }
        }
    }
}
