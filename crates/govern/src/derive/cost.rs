//! What work costs, in several dimensions at once, and how costs add up.
//! Owns: addition in whole micro-units, what becomes of quantiles, caps, basis and confidence. Must not: price anything.
//!
//! Amounts are whole millionths, so that adding is associative: a sum does not hang on the order of its parts. `usd` does not
//! hold what `external_api_usd` does.

use crate::table::order::lower;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;

pub use crate::types::basic::EstimatorConfidence as Confidence;
pub use crate::types::cost::{
    CostCorrelationPolicy as Correlation, CostDimension as Dimension, CostVectorBasis as Basis,
};

/// A millionth of a unit.
pub type Micros = u64;

/// What one dimension may come to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Distribution {
    /// On average.
    pub expected: Micros,
    /// In one case of two it is no more.
    pub p50: Option<Micros>,
    /// In nine of ten.
    pub p90: Option<Micros>,
    /// In ninety-nine of a hundred.
    pub p99: Option<Micros>,
    /// It can't be more.
    pub hard_cap: Option<Micros>,
}

/// A cost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vector {
    /// By dimension.
    pub components: BTreeMap<Dimension, Distribution>,
    /// Where the numbers come from.
    pub basis: Basis,
    /// How sure they are.
    pub confidence: Confidence,
    /// How many cases they rest on; a sum has the least that one of its parts says.
    pub sample_size: Option<u64>,
    /// What was assumed.
    pub assumptions: BTreeSet<String>,
}

impl Vector {
    /// What costs nothing: adding it changes nothing.
    #[must_use]
    pub fn nothing() -> Self {
        let (basis, confidence) = (Basis::MeasuredActual, Confidence::Calibrated);
        Vector {
            components: BTreeMap::new(),
            basis,
            confidence,
            sample_size: None,
            assumptions: BTreeSet::new(),
        }
    }
}

/// What becomes of quantiles when costs are added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantiles {
    /// No policy is declared: they are left out, since quantiles of parts do not add up to those of the whole.
    Dropped,
    /// `assume_perfect_correlation_upper_bound`: all parts are dear at once, and they add. It is no upper bound, whatever it
    /// is called: two costs that are 0 in 92 of 100 cases and else 100 have a p90 of 0 each and of 100 together.
    Comonotone,
}

/// Whether one waits for the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timing {
    /// One after the other: waiting adds.
    Sequential,
    /// At once: waiting is that of the longer one.
    Parallel,
}

/// An amount is more than can be counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a cost is more than can be counted")]
pub struct TooMuch;

/// Two costs as one. What stands in one of them only stays as it is.
///
/// # Errors
/// It is more than can be counted.
pub fn add(one: &Vector, other: &Vector, quantiles: Quantiles, timing: Timing) -> Result<Vector, TooMuch> {
    let mut components = one.components.clone();
    for (dimension, more) in &other.components {
        let joined = match components.get(dimension) {
            Some(here) => join(here, more, quantiles, join_of(*dimension, timing))?,
            None => *more,
        };
        components.insert(*dimension, joined);
    }
    let sample_size = match (one.sample_size, other.sample_size) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (Some(only), None) | (None, Some(only)) => Some(only),
        (None, None) => None,
    };
    let (basis, confidence) = (lower(one.basis, other.basis), lower(one.confidence, other.confidence));
    let assumptions = one.assumptions.union(&other.assumptions).cloned().collect();
    Ok(Vector { components, basis, confidence, sample_size, assumptions })
}

type Join = fn(Micros, Micros) -> Option<Micros>;

fn join_of(dimension: Dimension, timing: Timing) -> Join {
    match (dimension == Dimension::WallClockMs, timing) {
        (true, Timing::Parallel) => |one, other| Some(one.max(other)),
        (true, Timing::Sequential) | (false, Timing::Sequential | Timing::Parallel) => Micros::checked_add,
    }
}

fn join(
    one: &Distribution,
    other: &Distribution,
    quantiles: Quantiles,
    join: Join,
) -> Result<Distribution, TooMuch> {
    let both = |one: Option<Micros>, other: Option<Micros>| match (one, other) {
        (Some(one), Some(other)) => join(one, other).map(Some).ok_or(TooMuch),
        (Some(_), None) | (None, Some(_) | None) => Ok(None),
    };
    let quantile = |one, other| match quantiles {
        Quantiles::Dropped => Ok(None),
        Quantiles::Comonotone => both(one, other),
    };
    Ok(Distribution {
        expected: join(one.expected, other.expected).ok_or(TooMuch)?,
        p50: quantile(one.p50, other.p50)?,
        p90: quantile(one.p90, other.p90)?,
        p99: quantile(one.p99, other.p99)?,
        hard_cap: both(one.hard_cap, other.hard_cap)?,
    })
}

/// Quantiles of a sum out of cases of it: for `empirical_joint_distribution` these are sums that were seen together, for
/// `assume_independent_monte_carlo` those of [`draw`].
#[must_use]
pub fn with_quantiles_of(distribution: &Distribution, sums: &[Micros]) -> Distribution {
    let mut sorted = sums.to_vec();
    sorted.sort_unstable();
    // The least case that so many of a hundred do not exceed.
    let at = |of_100: usize| {
        let rank = sorted.len().checked_mul(of_100).map(|cases| cases.div_ceil(100))?;
        rank.checked_sub(1).and_then(|place| sorted.get(place)).copied()
    };
    Distribution { p50: at(50), p90: at(90), p99: at(99), ..*distribution }
}

/// Draws at most so many sums.
pub const DRAWS_MAX: u32 = 100_000;

/// Sums of parts that have nothing to do with each other: for each draw one case of each part, by a seed that the receipt must
/// say. Empty if a part has no cases.
///
/// # Errors
/// A sum is more than can be counted.
pub fn draw(parts: &[&[Micros]], seed: u64, draws: u32) -> Result<Vec<Micros>, TooMuch> {
    let mut state = seed;
    let mut sums = Vec::new();
    if parts.iter().any(|cases| cases.is_empty()) {
        return Ok(sums);
    }
    for _ in 0..draws.min(DRAWS_MAX) {
        let mut total: Micros = 0;
        for cases in parts {
            let place = usize::try_from(next(&mut state) % cases.len().max(1) as u64).unwrap_or_default();
            total = total.checked_add(cases.get(place).copied().unwrap_or_default()).ok_or(TooMuch)?;
        }
        sums.push(total);
    }
    Ok(sums)
}

/// The next number of `SplitMix64`.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mixed = (*state ^ (*state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
#[path = "cost_tests.rs"]
mod tests;
