//! What each criterion counts for: weights that sum to one.
//! Owns: which criteria count, the order of the checks, which is part of the contract. Must not: score anything.

use super::{is_finite_and_not_negative, sum};
use alloc::collections::BTreeMap;

pub use crate::types::basic::{UnanchoredPolicy as Unanchored, WeightPolicy as Origin};

/// How criteria are weighed.
#[derive(Clone, Debug, PartialEq)]
pub struct Config<'a> {
    /// What is done with criteria that only a model judges.
    pub unanchored: Unanchored,
    /// Where weights come from.
    pub origin: Origin,
    /// The weight of each priority.
    pub priority_weights: BTreeMap<&'a str, f64>,
}

/// A criterion, as far as its weight goes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Criterion<'a> {
    /// What it is called.
    pub id: &'a str,
    /// Whether only a model judges it, without anything to hold on to.
    pub is_unanchored: bool,
    /// Its own weight.
    pub weight: Option<f64>,
    /// Its priority; `should_have` where it says none.
    pub priority: Option<&'a str>,
}

/// Why there are no weights. Each is a validation code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub enum Error {
    /// A criterion is unanchored, and then there is no score.
    #[error("validation.unanchored_required_criterion_indeterminate")]
    UnanchoredIndeterminate,
    /// No criterion counts.
    #[error("validation.no_aggregation_eligible_criteria")]
    NoneEligible,
    /// A criterion has no weight of its own.
    #[error("validation.criterion_weight_missing_under_from_criterion_weight")]
    WeightMissing,
    /// A priority has no weight.
    #[error("validation.criterion_priority_weight_missing")]
    PriorityWeightMissing,
    /// A weight is not finite or negative, or a criterion stands twice.
    #[error("validation.criterion_weight_invalid")]
    WeightInvalid,
    /// The weights sum to nothing, or to more than a number holds.
    #[error("validation.criterion_weight_sum_zero")]
    SumZero,
}

/// A priority that is not said.
pub const PRIORITY_DEFAULT: &str = "should_have";

/// The weight of a criterion before all are made to sum to one.
///
/// # Errors
/// It has none, or one that can't be.
pub fn raw(criterion: &Criterion<'_>, config: &Config<'_>) -> Result<f64, Error> {
    let weight = match config.origin {
        Origin::FromCriterionWeight => criterion.weight.ok_or(Error::WeightMissing)?,
        Origin::FromPriority => {
            let priority = criterion.priority.unwrap_or(PRIORITY_DEFAULT);
            *config.priority_weights.get(priority).ok_or(Error::PriorityWeightMissing)?
        }
        Origin::Uniform => 1.0,
    };
    if is_finite_and_not_negative(weight) { Ok(weight) } else { Err(Error::WeightInvalid) }
}

/// Whether a criterion counts, where unanchored ones are let through at all.
#[must_use]
pub fn is_eligible(criterion: &Criterion<'_>, config: &Config<'_>) -> bool {
    match config.unanchored {
        Unanchored::Exclude => !criterion.is_unanchored,
        Unanchored::Indeterminate | Unanchored::IncludeWithAuditFlag => true,
    }
}

/// The weights of the criteria that count, by criterion; they sum to one.
///
/// # Errors
/// The first check that fails: an unanchored criterion, none left, each weight in the order of the criteria, the sum. A
/// criterion that stands twice is an invalid weight: one of the two would be lost and the rest would not sum to one.
pub fn normalize<'a>(
    criteria: &[Criterion<'a>],
    config: &Config<'_>,
) -> Result<BTreeMap<&'a str, f64>, Error> {
    if config.unanchored == Unanchored::Indeterminate && criteria.iter().any(|one| one.is_unanchored) {
        return Err(Error::UnanchoredIndeterminate);
    }
    let mut weights = BTreeMap::new();
    for criterion in criteria.iter().filter(|one| is_eligible(one, config)) {
        let weight = raw(criterion, config)?;
        if weights.insert(criterion.id, weight).is_some() {
            return Err(Error::WeightInvalid);
        }
    }
    if weights.is_empty() {
        return Err(Error::NoneEligible);
    }
    let total = sum(weights.values().copied());
    if !total.is_finite() || total <= 0.0 {
        return Err(Error::SumZero);
    }
    Ok(weights.into_iter().map(|(id, weight)| (id, weight / total)).collect())
}

#[cfg(test)]
#[path = "weights_tests.rs"]
mod tests;
