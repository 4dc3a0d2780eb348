//! Intervals: how sure a ratio or a mean is.
//! Owns: Wilson, the normal law, a flat prior, drawing anew. Must not: take chance from anywhere but a seed.

use super::statistics::quantile;
use crate::derive::draw::Draw;
use alloc::vec::Vec;

/// Draws at most.
const DRAWS_MAX: u64 = 1_000_000;

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
    deviations(level)?;
    let (a, b, tail) = (1.0 + hits, 1.0 + trials - hits, (1.0 - level) / 2.0);
    Some((beta_quantile(a, b, tail), beta_quantile(a, b, 1.0 - tail)))
}

/// Halving finds it to the last bit that counts, always in as many steps.
fn beta_quantile(a: f64, b: f64, part: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..200 {
        let middle = (low + high) / 2.0;
        if beta_up_to(a, b, middle) < part { low = middle } else { high = middle }
    }
    (low + high) / 2.0
}

/// The regularised incomplete beta function, by its continued fraction.
fn beta_up_to(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return if x <= 0.0 { 0.0 } else { 1.0 };
    }
    let front = libm::exp(
        libm::lgamma(a + b) - libm::lgamma(a) - libm::lgamma(b) + a * libm::log(x) + b * libm::log1p(-x),
    );
    if x < (a + 1.0) / (a + b + 2.0) {
        front * fraction(a, b, x) / a
    } else {
        1.0 - front * fraction(b, a, 1.0 - x) / b
    }
}

/// After Lentz.
fn fraction(a: f64, b: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let away = |value: f64| if value.abs() < TINY { TINY } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / away(1.0 - (a + b) * x / (a + 1.0));
    let mut found = d;
    for step in 1..10_000_u32 {
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

/// Numbers that are looked at in all draws together, at most: what is drawn anew is drawn less often where it is long.
const LOOKS_MAX: u64 = 20_000_000;

/// The middle of means that are drawn anew, with a seed: the same one gives the same ends everywhere.
#[must_use]
pub fn bootstrap_mean(values: &[f64], level: f64, draws: u64, seed: u64) -> Option<(f64, f64)> {
    bootstrap(values, level, draws, seed, super::statistics::mean)
}

/// The middle of what is said of items that are drawn anew, with a seed. Draws of which nothing can be said do not count;
/// `None` if these are half of them or more.
pub fn bootstrap<T: Copy>(
    items: &[T],
    level: f64,
    draws: u64,
    seed: u64,
    say: impl Fn(&[T]) -> Option<f64>,
) -> Option<(f64, f64)> {
    deviations(level)?;
    if items.is_empty() || draws == 0 || draws > DRAWS_MAX {
        return None;
    }
    let draws = draws.min(LOOKS_MAX.div_ceil(items.len() as u64));
    let mut chance = Draw::new(seed);
    let mut said = Vec::new();
    let mut drawn = Vec::with_capacity(items.len());
    for _ in 0..draws {
        drawn.clear();
        drawn.extend(items.iter().filter_map(|_| items.get(chance.place(items.len())).copied()));
        said.extend(say(&drawn));
    }
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
        }
    }
}
