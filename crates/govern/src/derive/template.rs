//! How well a template fits a task: one score out of its parts.
//! Owns: the formula and the order of its checks, which is part of the contract. Must not: say which template is taken.

use super::{is_finite_and_not_negative, is_score, lift};
use alloc::collections::BTreeMap;

/// Numbers by the component they are for.
pub type ByComponent<'a> = BTreeMap<&'a str, f64>;

/// How components are put together.
#[derive(Clone, Debug, PartialEq)]
pub struct Formula<'a> {
    /// What each component counts for. Its keys say which components there are.
    pub component_weights: ByComponent<'a>,
    /// What a score is at most once there is a veto.
    pub hard_veto_cap: f64,
    /// What penalties sum to at most.
    pub soft_penalty_max_total: f64,
}

/// What one template was found to be.
#[derive(Clone, Debug, PartialEq)]
pub struct Match<'a> {
    /// How well each component fits.
    pub components: ByComponent<'a>,
    /// What each component counts for: the keys of the formula, no more and no less.
    pub weights: ByComponent<'a>,
    /// What penalties sum to.
    pub soft_penalty_sum: f64,
    /// How many vetoes there are. A count can't be negative or no number, so that it can't lift a veto.
    pub hard_veto_count: u64,
}

/// Why there is no score. Each is a validation code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub enum Error {
    /// A component is missing or no score.
    #[error("validation.template_match_component_out_of_range")]
    ComponentOutOfRange,
    /// A weight is missing, not finite or negative, or it is for what the formula does not have.
    #[error("validation.template_match_weight_invalid")]
    WeightInvalid,
    /// The weights sum to nothing, or to more than a number holds.
    #[error("validation.template_match_total_weight_zero")]
    TotalWeightZero,
    /// The penalties are more than the formula lets them be, or no number; or what it lets them be is no score.
    #[error("validation.template_match_soft_penalty_invalid")]
    SoftPenaltyInvalid,
    /// What a veto leaves is no score.
    #[error("validation.template_match_hard_veto_cap_invalid")]
    HardVetoCapInvalid,
}

/// The score, from 0 to 1.
///
/// # Errors
/// The first check that fails: component and weight of each key, weights for other keys, their total, penalties, cap.
pub fn overall_score(found: &Match<'_>, formula: &Formula<'_>) -> Result<f64, Error> {
    let lift = lift(found.weights.values().copied());
    let (mut weighted, mut total) = (0.0, 0.0);
    for key in formula.component_weights.keys() {
        let score = found.components.get(key).copied().filter(|score| is_score(*score));
        let score = score.ok_or(Error::ComponentOutOfRange)?;
        let weight = found.weights.get(key).copied().filter(|weight| is_finite_and_not_negative(*weight));
        let weight = weight.ok_or(Error::WeightInvalid)?;
        weighted += score * (weight * lift);
        total += weight * lift;
    }
    if found.weights.len() > formula.component_weights.len() {
        return Err(Error::WeightInvalid);
    }
    check_total(total)?;
    if !is_finite_and_not_negative(found.soft_penalty_sum) {
        return Err(Error::SoftPenaltyInvalid);
    }
    check_limits(found.soft_penalty_sum, formula)?;
    let penalized = (weighted / total - found.soft_penalty_sum).clamp(0.0, 1.0);
    Ok(if found.hard_veto_count > 0 { penalized.min(formula.hard_veto_cap) } else { penalized })
}

/// Whether a formula can be used at all: with its own weights and no penalty.
///
/// # Errors
/// The first check that fails, in the same order.
pub fn check_formula(formula: &Formula<'_>) -> Result<(), Error> {
    if !formula.component_weights.values().all(|weight| is_finite_and_not_negative(*weight)) {
        return Err(Error::WeightInvalid);
    }
    check_total(formula.component_weights.values().sum())?;
    check_limits(0.0, formula)
}

fn check_total(total: f64) -> Result<(), Error> {
    if total.is_finite() && total > 0.0 { Ok(()) } else { Err(Error::TotalWeightZero) }
}

/// A maximum that is no number would let every penalty through: it is checked with the penalty.
fn check_limits(penalty: f64, formula: &Formula<'_>) -> Result<(), Error> {
    if !is_score(formula.soft_penalty_max_total) || penalty > formula.soft_penalty_max_total {
        return Err(Error::SoftPenaltyInvalid);
    }
    if is_score(formula.hard_veto_cap) { Ok(()) } else { Err(Error::HardVetoCapInvalid) }
}

#[cfg(test)]
#[path = "template_tests.rs"]
mod tests;
