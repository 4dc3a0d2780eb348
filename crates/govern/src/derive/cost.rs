//! What work costs, in several dimensions at once, and how costs add up.
//! Owns: addition in whole micro-units, what becomes of quantiles, caps, basis and confidence. Must not: price anything.
//!
//! Amounts are whole millionths, so that adding is associative: a sum does not hang on the order of its parts. `usd` does not
//! hold what `external_api_usd` does.

use super::draw::Draw;
use crate::table::order::lower;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;

pub use crate::types::basic::EstimatorConfidence as Confidence;
pub use crate::types::cost::{
    CostCorrelationPolicy as Correlation, CostDimension as Dimension, CostVectorBasis as Basis,
};

/// A millionth of a unit. Bytes and tokens come in billions: a sum of amounts that can be counted at all must fit.
pub type Micros = u128;

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

/// Why there is no sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// An amount is more than can be counted.
    #[error("a cost is more than can be counted")]
    TooMuch,
    /// The policy takes cases of each part, and they are not there.
    #[error("the correlation policy takes cases of each part")]
    NoCases,
    /// Cases that should have been seen together are not as many in each part.
    #[error("cases that were seen together must be as many in each part")]
    NotTogether,
}

/// Two costs as one. What stands in one of them only stays as it is.
///
/// # Errors
/// It is more than can be counted.
pub fn add(one: &Vector, other: &Vector, quantiles: Quantiles, timing: Timing) -> Result<Vector, Error> {
    let mut sum = one.clone();
    sum.add(other, quantiles, timing)?;
    Ok(sum)
}

impl Vector {
    fn add(&mut self, other: &Vector, quantiles: Quantiles, timing: Timing) -> Result<(), Error> {
        for (dimension, more) in &other.components {
            match self.components.get_mut(dimension) {
                Some(here) => *here = join(here, more, quantiles, Join::of(*dimension, timing))?,
                None => {
                    self.components.insert(*dimension, *more);
                }
            }
        }
        self.sample_size = match (self.sample_size, other.sample_size) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (Some(only), None) | (None, Some(only)) => Some(only),
            (None, None) => None,
        };
        self.basis = lower(self.basis, other.basis);
        self.confidence = lower(self.confidence, other.confidence);
        self.assumptions.extend(other.assumptions.iter().cloned());
        Ok(())
    }
}

/// How amounts of a dimension become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Join {
    /// They add.
    Sum,
    /// Who waits for several things at once waits for the longest.
    Longest,
}

impl Join {
    /// That of a dimension.
    #[must_use]
    pub fn of(dimension: Dimension, timing: Timing) -> Self {
        match (dimension == Dimension::WallClockMs, timing) {
            (true, Timing::Parallel) => Join::Longest,
            (true, Timing::Sequential) | (false, Timing::Sequential | Timing::Parallel) => Join::Sum,
        }
    }

    /// Two amounts as one.
    ///
    /// # Errors
    /// It is more than can be counted.
    pub fn both(self, one: Micros, other: Micros) -> Result<Micros, Error> {
        match self {
            Join::Sum => one.checked_add(other).ok_or(Error::TooMuch),
            Join::Longest => Ok(one.max(other)),
        }
    }
}

fn join(
    one: &Distribution,
    other: &Distribution,
    quantiles: Quantiles,
    join: Join,
) -> Result<Distribution, Error> {
    let both = |one: Option<Micros>, other: Option<Micros>| match (one, other) {
        (Some(one), Some(other)) => join.both(one, other).map(Some),
        (Some(_), None) | (None, Some(_) | None) => Ok(None),
    };
    let quantile = |one, other| match quantiles {
        Quantiles::Dropped => Ok(None),
        Quantiles::Comonotone => both(one, other),
    };
    Ok(Distribution {
        expected: join.both(one.expected, other.expected)?,
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
    let mut sums = sums.to_vec();
    // The least case that so many of a hundred do not exceed.
    let mut at = |of_100: usize| {
        let rank = sums.len().checked_mul(of_100).map(|cases| cases.div_ceil(100))?;
        let place = rank.checked_sub(1).filter(|place| *place < sums.len())?;
        Some(*sums.select_nth_unstable(place).1)
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
pub fn draw(parts: &[&[Micros]], drawing: Drawing, how: Join) -> Result<Vec<Micros>, Error> {
    if parts.iter().any(|cases| cases.is_empty()) {
        return Ok(Vec::new());
    }
    let mut chance = Draw::new(drawing.seed);
    let draws = drawing.draws.min(DRAWS_MAX);
    let mut sums = Vec::with_capacity(draws as usize);
    for _ in 0..draws {
        let drawn =
            parts.iter().map(|cases| cases.get(chance.place(cases.len())).copied().unwrap_or_default());
        sums.push(together(drawn, how)?);
    }
    Ok(sums)
}

/// How often is drawn, and where drawing begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drawing {
    /// The seed.
    pub seed: u64,
    /// How often.
    pub draws: u32,
}

/// Cases of a part, by dimension. Those of the same place in several parts were seen together.
pub type Cases = BTreeMap<Dimension, Vec<Micros>>;

/// How quantiles of a sum are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy<'a> {
    /// Nobody says: there are none.
    Undeclared,
    /// `assume_perfect_correlation_upper_bound`.
    Comonotone,
    /// `assume_independent_monte_carlo`: drawn out of the cases of each part.
    Independent(&'a [Cases], Drawing),
    /// `empirical_joint_distribution`: out of what was seen together.
    Joint(&'a [Cases]),
}

/// Several costs as one. A quantile of a dimension that several parts have is there only under a policy, and under the two that
/// take cases only where each of these parts has some.
///
/// # Errors
/// It is more than can be counted, or there are no cases to go by, or they were not seen together.
pub fn total(parts: &[Vector], policy: Policy<'_>, timing: Timing) -> Result<Vector, Error> {
    let quantiles = match policy {
        Policy::Comonotone => Quantiles::Comonotone,
        Policy::Undeclared | Policy::Independent(..) | Policy::Joint(_) => Quantiles::Dropped,
    };
    let mut sum = Vector::nothing();
    for part in parts {
        sum.add(part, quantiles, timing)?;
    }
    let (cases, drawing) = match policy {
        Policy::Undeclared | Policy::Comonotone => return Ok(sum),
        Policy::Independent(cases, drawing) => (cases, Some(drawing)),
        Policy::Joint(cases) => (cases, None),
    };
    if cases.len() != parts.len() {
        return Err(Error::NoCases);
    }
    for (dimension, distribution) in &mut sum.components {
        let having = parts.iter().zip(cases).filter(|(part, _)| part.components.contains_key(dimension));
        let seen: Vec<&[Micros]> =
            having.map(|(_, cases)| cases.get(dimension).map(Vec::as_slice).unwrap_or_default()).collect();
        if seen.len() < 2 {
            continue;
        }
        let how = Join::of(*dimension, timing);
        let sums = match drawing {
            Some(drawing) => draw(&seen, drawing, how)?,
            None => joined(&seen, how)?,
        };
        *distribution = with_quantiles_of(distribution, &sums);
    }
    Ok(sum)
}

/// Sums of what was seen together.
///
/// # Errors
/// A sum is more than can be counted, or the parts do not have as many cases.
pub fn joined(parts: &[&[Micros]], how: Join) -> Result<Vec<Micros>, Error> {
    let count = parts.first().map_or(0, |cases| cases.len());
    if parts.iter().any(|cases| cases.len() != count) {
        return Err(Error::NotTogether);
    }
    let row = |at: usize| together(parts.iter().map(|cases| cases.get(at).copied().unwrap_or_default()), how);
    (0..count).map(row).collect()
}

fn together(mut amounts: impl Iterator<Item = Micros>, how: Join) -> Result<Micros, Error> {
    amounts.try_fold(0, |sum, amount| how.both(sum, amount))
}

#[cfg(test)]
#[path = "cost_tests.rs"]
mod tests;
