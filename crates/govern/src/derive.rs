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

/// The sum, the same in whatever order the numbers come: floats do not add associatively.
#[must_use]
pub fn sum(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut values: alloc::vec::Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    values.into_iter().sum()
}
