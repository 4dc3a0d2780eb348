//! Which of several revision plans goes first where they want the same thing.
//! Owns: the order. Must not: see when a plan came.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use core::cmp::Ordering;

/// What is known of a plan that contends with others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Profile<'a> {
    /// Which plan.
    pub plan_id: &'a str,
    /// Nothing passes without it.
    pub required_for_overall_pass: bool,
    /// Much is at stake.
    pub high_stakes: bool,
    /// The lower goes first.
    pub outcome_priority: f64,
    /// The lower goes first.
    pub plan_risk_score: f64,
    /// The shorter goes first.
    pub estimated_lock_duration_ms: f64,
    /// Decides where all else is equal; no two plans have the same.
    pub deterministic_final_key: &'a str,
}

/// Why plans have no order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A number is none.
    #[error("a priority, risk or duration is not finite")]
    NotFinite,
    /// There is nothing to decide by at the end.
    #[error("a plan has no final key")]
    NoFinalKey,
    /// Two are the same to the end.
    #[error("two plans have the same final key")]
    SameFinalKey,
}

impl Profile<'_> {
    /// What comes before the risk: plans that are equal in it go by their risk.
    #[must_use]
    pub fn class(&self) -> (bool, bool, u64) {
        (!self.required_for_overall_pass, !self.high_stakes, ascending(self.outcome_priority))
    }

    /// The order, total also where a number is not finite.
    #[must_use]
    pub fn compare(&self, other: &Profile<'_>) -> Ordering {
        self.key().cmp(&other.key())
    }

    fn key(&self) -> ((bool, bool, u64), u64, u64, &str) {
        let (risk, duration) = (self.plan_risk_score, self.estimated_lock_duration_ms);
        (self.class(), ascending(risk), ascending(duration), self.deterministic_final_key)
    }

    fn is_finite(&self) -> bool {
        [self.outcome_priority, self.plan_risk_score, self.estimated_lock_duration_ms]
            .iter()
            .all(|number| number.is_finite())
    }
}

/// The plans in the order in which they go.
///
/// # Errors
/// They have no order that is the same every time.
pub fn order<'a>(profiles: &[Profile<'a>]) -> Result<Vec<&'a str>, Error> {
    if !profiles.iter().all(Profile::is_finite) {
        return Err(Error::NotFinite);
    }
    let keys = || profiles.iter().map(|profile| profile.deterministic_final_key);
    if keys().any(|key| key.trim().is_empty()) {
        return Err(Error::NoFinalKey);
    }
    let mut seen = BTreeSet::new();
    if !keys().all(|key| seen.insert(key)) {
        return Err(Error::SameFinalKey);
    }
    let mut sorted = profiles.to_vec();
    sorted.sort_by(Profile::compare);
    Ok(sorted.into_iter().map(|profile| profile.plan_id).collect())
}

/// A number as one that sorts as it does; both zeros are one.
#[must_use]
pub fn ascending(number: f64) -> u64 {
    let bits = (number + 0.0).to_bits();
    if bits >> 63 == 0 { bits | (1 << 63) } else { !bits }
}

#[cfg(test)]
#[path = "tie_break_tests.rs"]
mod tests;
