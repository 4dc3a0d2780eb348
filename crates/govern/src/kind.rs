//! Which records there are.
//! Owns: the types by name, what class each is of, which field names one. Must not: know their rules.

mod added;
mod number;
mod seed;

pub use number::Number;

use crate::check::AREAS;

/// What a record is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Something happened; it is never changed.
    Event,
    /// Something was done; it is never changed.
    Receipt,
    /// Something is asked for or planned; it is never changed.
    Request,
    /// How something stands, folded from events and receipts; it is never written.
    Projection,
    /// A policy, a configuration or a row of a registry, in versions.
    Policy,
    /// What is shown, derived from the rest.
    ReadModel,
    /// A part of other records.
    Value,
}

impl Class {
    /// Whether a record of it stays as it was written.
    #[must_use]
    pub fn is_immutable(self) -> bool {
        match self {
            Class::Event | Class::Receipt | Class::Request => true,
            Class::Projection | Class::Policy | Class::ReadModel | Class::Value => false,
        }
    }
}

/// A type of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    /// Its name in the contract.
    pub name: &'static str,
    /// What it is for.
    pub class: Class,
    /// The field that names one, if it has one.
    pub id: Option<&'static str>,
}

impl Kind {
    /// A type.
    #[must_use]
    pub const fn new(name: &'static str, class: Class, id: Option<&'static str>) -> Self {
        Kind { name, class, id }
    }
}

/// Names of types that were given up, also in snake case; what took their place is called otherwise.
pub const GIVEN_UP: &[(&str, &str)] = &[
    ("EvaluationFinding", "evaluation_finding"),
    ("CostEstimate", "cost_estimate"),
    ("KnownGoodState", "known_good_state"),
    ("StepKind", "step_kind"),
    ("EvaluationAffirmation", "evaluation_affirmation"),
];

/// All types: those of the contract, those that it needs and does not declare, those of the areas.
pub fn all() -> impl Iterator<Item = &'static Kind> {
    seed::SEED.iter().chain(added::ADDED).chain(AREAS.iter().flat_map(|area| area.kinds))
}

/// The type of a name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Kind> {
    Number::of(name).map(|number| number.kind)
}
