//! The registered formulas.
//! Owns: all of them, by id. Must not: compute.

mod calibration;
mod derivation;
mod interval;
mod revision;

use super::parse::NotAFormula;
use super::spec::{Ready, Spec};
use alloc::collections::BTreeMap;

/// All formulas, by part.
pub fn all() -> impl Iterator<Item = &'static Spec> {
    [derivation::FORMULAS, revision::FORMULAS, calibration::FORMULAS, interval::FORMULAS]
        .into_iter()
        .flatten()
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
mod tests {
    use super::super::{evaluate, spec::Spec};
    use countersign_record::json::{self, Json};
    use std::collections::BTreeSet;
    use std::{format, vec::Vec};

    /// What a vector gives: the value and the codes, or the code by which it was refused.
    fn found(spec: &Spec, inputs: &Json) -> (Json, Vec<&'static str>) {
        let ready = spec.read().unwrap_or_else(|error| panic!("{}: {error}", spec.id));
        match evaluate(&ready, inputs.as_object().unwrap()) {
            Ok(evaluated) => (evaluated.value, evaluated.codes),
            Err(refused) => (Json::from(format!("{refused}")), refused.code().into_iter().collect()),
        }
    }

    fn is_near(one: &Json, other: &Json) -> bool {
        match (one, other) {
            (Json::Number(one), Json::Number(other)) => (one.as_f64() - other.as_f64()).abs() < 1e-9,
            (Json::Array(one), Json::Array(other)) => {
                one.len() == other.len() && one.iter().zip(other).all(|(one, other)| is_near(one, other))
            }
            (Json::Object(one), Json::Object(other)) => {
                one.len() == other.len()
                    && one
                        .iter()
                        .all(|(name, value)| other.get(name).is_some_and(|other| is_near(value, other)))
            }
            (one, other) => one == other,
        }
    }

    #[test]
    fn every_vector_holds() {
        for spec in super::all() {
            for vector in spec.vectors {
                let read = |text: &str| {
                    json::parse(text.as_bytes()).unwrap_or_else(|_| panic!("{} {text}", spec.id))
                };
                let (value, codes) = found(spec, &read(vector.inputs));
                let is_refused = !codes.is_empty();
                assert!(
                    is_refused || is_near(&value, &read(vector.expected)),
                    "{} {}: {value:?}",
                    spec.id,
                    vector.name
                );
                assert_eq!(codes, vector.codes, "{} {}", spec.id, vector.name);
            }
        }
    }

    #[test]
    fn every_formula_is_complete() {
        let mut ids = BTreeSet::new();
        for spec in super::all() {
            assert!(ids.insert(spec.id), "{} is there twice", spec.id);
            assert!(!spec.vectors.is_empty() && !spec.purpose.is_empty(), "{}", spec.id);
            let record = spec.record().unwrap_or_else(|| panic!("{}", spec.id));
            let shows_missing = record
                .test_vectors
                .iter()
                .any(|vector| vector.missing_input_policy_applied == Some(spec.missing));
            assert!(shows_missing, "{} has no vector for a missing input", spec.id);
            let shows_zero =
                record.test_vectors.iter().any(|vector| vector.zero_denominator_policy_applied == spec.zero);
            assert!(shows_zero, "{} has no vector for a zero", spec.id);
        }
    }
}
