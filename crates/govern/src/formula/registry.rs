//! The registered formulas.
//! Owns: all of them, by id. Must not: compute.

mod calibration;
mod cost;
mod derivation;
mod interval;
mod revision;

use super::parse::NotAFormula;
use super::spec::{Ready, Spec};
use alloc::collections::BTreeMap;

/// All formulas, by part.
pub fn all() -> impl Iterator<Item = &'static Spec> {
    let parts =
        [derivation::FORMULAS, revision::FORMULAS, calibration::FORMULAS, interval::FORMULAS, cost::FORMULAS];
    parts.into_iter().flatten()
}

/// What is registered of a formula.
#[must_use]
pub fn find(id: &str) -> Option<&'static Spec> {
    all().find(|spec| spec.id == id)
}

/// All formulas, read once and ready to be computed.
///
/// # Errors
/// The text of one is no formula.
pub fn ready() -> Result<BTreeMap<&'static str, Ready>, NotAFormula> {
    all().map(|spec| spec.read().map(|ready| (spec.id, ready))).collect()
}

#[cfg(test)]
#[path = "registry_tests.rs"]
mod tests;
