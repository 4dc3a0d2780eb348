//! Values of registered formulas, with their receipts.
//! Owns: reading each formula once, computing, writing the receipt. Must not: publish a value without one.

use super::{Desk, Error};
use alloc::string::ToString;
use alloc::vec::Vec;
use countersign_govern::formula::spec::Ready;
use countersign_govern::formula::{Published, evaluate, publish, registry};
use countersign_govern::types::basic::StorageRef;
use countersign_record::json::{Json, Object};

/// A value, and the receipt of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Derived {
    /// The whole value of the formula.
    pub value: Json,
    /// The receipt of what is shown of it.
    pub receipt: StorageRef,
}

/// What a value is derived from, and for what.
pub struct From {
    /// The formula.
    pub formula: &'static str,
    /// The inputs by name.
    pub inputs: Object,
    /// The records they were taken from.
    pub input_refs: Vec<StorageRef>,
    /// The record that has the value.
    pub output_ref: StorageRef,
}

/// Who computes.
const ENGINE: &str = "engine";

fn ready(formula: &str) -> Result<&'static Ready, Error> {
    // Every registered formula is read in the tests of the registry.
    registry::ready(formula).ok().flatten().ok_or_else(|| Error::Missing(formula.to_string()))
}

impl Desk {
    /// Computes a formula and writes the receipt of what `shown` makes of its value.
    ///
    /// # Errors
    /// It has no value of these inputs.
    pub fn derive(&mut self, from: From, shown: impl FnOnce(&Json) -> Json) -> Result<Derived, Error> {
        let From { formula, inputs, input_refs, output_ref } = from;
        let ready = ready(formula)?;
        let mut evaluated =
            evaluate(ready, &inputs).map_err(|why| Error::NoValue { formula: formula.to_string(), why })?;
        let value = evaluated.value.clone();
        evaluated.value = shown(&value);
        let published = Published {
            receipt_id: self.id("value"),
            producer_ref: ENGINE.to_string(),
            input_refs,
            output_ref,
            at: self.now(),
            task_id: Some(self.task().id.clone()),
            run_id: Some(self.run().to_string()),
        };
        let receipt = publish(ready, &inputs, &evaluated, published)?;
        Ok(Derived { value, receipt: self.put(&receipt)? })
    }

    /// What a formula gives, without a receipt: to see whether there is something to show.
    ///
    /// # Errors
    /// It has no value of these inputs.
    pub fn value(&self, from: &From) -> Result<Json, Error> {
        let formula = from.formula;
        let ready = ready(formula)?;
        let evaluated = evaluate(ready, &from.inputs);
        evaluated.map(|one| one.value).map_err(|why| Error::NoValue { formula: formula.to_string(), why })
    }

    /// As `derive`, where the whole value is shown.
    ///
    /// # Errors
    /// As `derive`.
    pub fn derive_whole(&mut self, from: From) -> Result<Derived, Error> {
        self.derive(from, Clone::clone)
    }

    /// As `derive`, where one member of the value is shown.
    ///
    /// # Errors
    /// As `derive`.
    pub fn derive_member(&mut self, from: From, name: &str) -> Result<Derived, Error> {
        self.derive(from, |value| value.get(name).cloned().unwrap_or(Json::Null))
    }
}
