//! Values of formulas, with their receipts.
//! Owns: computing them as the engine does, and the formulas that only these logs have. Must not: make up a value.

use super::builder::{Builder, Run};
use countersign_govern::formula::spec::{Input, Shape, Spec};
use countersign_govern::formula::{Published, evaluate, publish, registry};
use countersign_govern::types::basic::{Instant, StorageRef};
use countersign_govern::types::wire::Wire;
use countersign_record::json::{self, Json};
use serde::Serialize;

/// A value, and the reference to the receipt of it.
#[derive(Clone, Debug)]
pub struct Derived {
    /// What was published.
    pub value: Json,
    /// The receipt.
    pub receipt_ref: String,
}

/// What a value is derived from, and for what.
pub struct From<'f> {
    /// The inputs by name.
    pub inputs: serde_json::Value,
    /// The records they were taken from.
    pub input_refs: &'f [String],
    /// The record that has the value.
    pub output_ref: String,
}

/// A registered formula.
#[must_use]
pub fn registered(id: &str) -> Spec {
    *registry::find(id).expect("a registered formula")
}

/// An input that must be there.
pub(super) const fn input(name: &'static str, shape: Shape, about: &'static str) -> Input {
    Input { name, shape, about, is_required: true, range: None, unit: None, default: None }
}

/// A formula of a status, to which inputs and vectors are added.
pub(super) const fn status(id: &'static str, purpose: &'static str, expression: &'static str) -> Spec {
    Spec { id, purpose, expression, ..Spec::PLAIN }
}

impl Builder {
    /// Registers a formula, once.
    pub fn register(&mut self, spec: &Spec) {
        if self.is_first(spec.id) {
            let record = spec.record().expect("a formula").write().expect("a record");
            self.share("FormulaSpec", record);
        }
    }

    /// Computes a formula and appends the receipt of what `shown` makes of its value.
    pub fn derive(
        &mut self,
        run: &Run,
        spec: &Spec,
        from: From<'_>,
        shown: impl FnOnce(&Json) -> Json,
    ) -> Derived {
        self.register(spec);
        let ready = spec.read().expect("a formula");
        let inputs = json::value_of(&from.inputs).expect("inputs");
        let inputs = inputs.as_object().expect("inputs by name").clone();
        let mut evaluated = evaluate(&ready, &inputs).unwrap_or_else(|error| panic!("{}: {error}", spec.id));
        evaluated.value = shown(&evaluated.value);
        let receipt_id = self.id("formula-receipt");
        let reference = |text: &str| StorageRef::try_from(text).expect("a reference");
        let published = Published {
            receipt_id: receipt_id.clone(),
            producer_ref: "engine".to_owned(),
            input_refs: from.input_refs.iter().map(|text| reference(text)).collect(),
            output_ref: reference(&from.output_ref),
            at: Instant::try_from(self.now().as_str()).expect("a time"),
            task_id: Some(run.task_id.clone()),
            run_id: Some(run.run_id.clone()),
        };
        let receipt = publish(&ready, &inputs, &evaluated, published).expect("a receipt");
        self.add("FormulaEvaluationReceipt", receipt.write().expect("a record"));
        Derived { value: evaluated.value, receipt_ref: format!("formula_evaluation_receipt:{receipt_id}") }
    }
}

/// A member of a value that has members.
pub fn member(name: &'static str) -> impl FnOnce(&Json) -> Json {
    move |value| value.get(name).cloned().unwrap_or(Json::Null)
}

/// The value of a member as `serde_json` has it, for `json!`.
#[must_use]
pub fn plain(value: &Json) -> serde_json::Value {
    let text = json::to_text(value).expect("a value");
    serde_json::from_str(&text).expect("a value")
}

/// `Json` of anything.
#[must_use]
pub fn json_of(value: &impl Serialize) -> Json {
    json::value_of(value).expect("a value")
}
