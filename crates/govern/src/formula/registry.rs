//! The registered formulas.
//! Owns: all of them, by id. Must not: compute.

mod calibration;
mod cost;
mod derivation;
mod interval;
mod likeness;
mod looks;
mod revision;
mod scoring;
mod sufficiency;
mod trust;

use super::input::{COUNT_MAX, Input, may, needs, part_of};
use super::parse::NotAFormula;
use super::spec::{Ready, Shape, Spec};
use crate::types::basic::DateRange;
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use once_cell::race::OnceBox;

/// Words of a set, any number of them.
macro_rules! words {
    ($type:ty) => {
        $crate::formula::spec::Shape::List(&$crate::formula::input::item($crate::formula::input::word!(
            $type
        )))
    };
}
use words;

/// Something that is so or not; not where nobody says.
const fn flag(name: &'static str) -> Input {
    may(name, Shape::Truth, "")
}

/// How many there are of something. It must be said: that nobody counted does not mean that there is none.
const fn many(name: &'static str, about: &'static str) -> Input {
    needs(name, Shape::Count, about).within(0.0, COUNT_MAX)
}

/// How sure an interval is: one of the levels of the contract.
const LEVEL: Input =
    needs("level", Shape::Among(&[0.8, 0.9, 0.95, 0.99]), "how sure the interval is").or("0.95");

/// From when until when, without the end.
const WINDOW: Input = needs(
    "window",
    part_of!(DateRange, &[needs("start", Shape::Time, "from when"), needs("end", Shape::Time, "until when")]),
    "when it was measured",
);

/// All formulas, by part.
pub fn all() -> impl Iterator<Item = &'static Spec> {
    let parts = [
        derivation::FORMULAS,
        sufficiency::FORMULAS,
        trust::FORMULAS,
        scoring::FORMULAS,
        likeness::FORMULAS,
        looks::FORMULAS,
        revision::FORMULAS,
        calibration::FORMULAS,
        interval::FORMULAS,
        cost::FORMULAS,
    ];
    parts.into_iter().flatten()
}

/// What is registered of a formula.
#[must_use]
pub fn find(id: &str) -> Option<&'static Spec> {
    all().find(|spec| spec.id == id)
}

/// A registered formula, ready to be computed: its text is read once in a run of the program.
///
/// # Errors
/// Its text is no formula.
pub fn ready(id: &str) -> Result<Option<&'static Ready>, NotAFormula> {
    static READY: OnceBox<BTreeMap<&'static str, Ready>> = OnceBox::new();
    let read = || all().map(|spec| spec.read().map(|ready| (spec.id, ready))).collect();
    let ready = READY.get_or_try_init(|| Result::<BTreeMap<_, _>, _>::map(read(), Box::new))?;
    Ok(ready.get(id))
}

#[cfg(test)]
#[path = "registry_tests.rs"]
mod tests;
