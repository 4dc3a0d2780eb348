//! The receipt of a computation, and whether it is one.
//! Owns: what its hashes are over; computing them again. Must not: mint an id or take the time.

use super::evaluate::{Evaluated, evaluate};
use super::ready::Ready;
use super::refusal::NotEvaluated;
use crate::types::basic::{Instant, StorageRef, V10};
use crate::types::formula::FormulaEvaluationReceipt;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_record::canonical;
use countersign_record::digest::Digest;
use countersign_record::json::Object;

/// What a receipt tells besides the computation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Published {
    /// The receipt's id.
    pub receipt_id: String,
    /// Who computed.
    pub producer_ref: String,
    /// The records that the inputs were taken from.
    pub input_refs: Vec<StorageRef>,
    /// The record that has the value.
    pub output_ref: StorageRef,
    /// When.
    pub at: Instant,
    /// For which task and run.
    pub task_id: Option<String>,
    /// For which run.
    pub run_id: Option<String>,
}

/// SHA-256 of what the receipt says of the formula and of where its inputs are from.
fn manifest(formula: &Ready, inputs: &Object, input_refs: &[StorageRef]) -> Digest {
    canonical::hash_texts(|manifest| {
        manifest.text("expression_hash", &formula.hex);
        manifest.text("formula_id", formula.spec.id);
        manifest.text("formula_semantic_version", formula.spec.version);
        manifest.list("input_names", inputs.iter().map(|(name, _)| name));
        manifest.list("input_refs", input_refs.iter().map(StorageRef::as_str));
    })
}

/// The receipt of a computation. Its hashes are over canonical JSON, so anybody can compute them again.
///
/// # Errors
/// An input can't be written canonically.
pub fn publish(
    formula: &Ready,
    inputs: &Object,
    evaluated: &Evaluated,
    published: Published,
) -> Result<FormulaEvaluationReceipt, canonical::Inexact> {
    let spec = &formula.spec;
    let manifest = manifest(formula, inputs, &published.input_refs);
    Ok(FormulaEvaluationReceipt {
        receipt_id: published.receipt_id,
        formula_id: spec.id.to_string(),
        formula_semantic_version: spec.version.to_string(),
        producer_ref: published.producer_ref,
        task_id: published.task_id,
        run_id: published.run_id,
        input_refs: published.input_refs,
        input_manifest_hash: String::from(manifest),
        input_value_hash: String::from(canonical::hash_object(inputs)?),
        output_ref: published.output_ref,
        output_value_hash: String::from(canonical::hash(&evaluated.value)?),
        omitted_input_names: evaluated.omitted.iter().map(|name| String::from(&**name)).collect(),
        missing_input_policy_applied: evaluated.missing,
        zero_denominator_policy_applied: evaluated.zero,
        finite_number_check: evaluated.finite,
        validation_codes: evaluated.codes.iter().map(|code| format!("validation.{code}")).collect(),
        computed_at: published.at,
        schema_version: V10,
        correlation_policy: evaluated.correlation,
    })
}

/// Something in a receipt that is not what computing it again gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Differs {
    /// The formula or its version.
    Formula,
    /// The formula's text, the names of its inputs or the records they are from.
    Manifest,
    /// The inputs.
    Inputs,
    /// The value.
    Value,
    /// What was left out, which policies were applied, or which codes were found.
    Policies,
}

impl Differs {
    /// The member of the receipt that shows it.
    #[must_use]
    pub fn member(self) -> &'static str {
        match self {
            Differs::Formula => "formula_semantic_version",
            Differs::Manifest => "input_manifest_hash",
            Differs::Inputs => "input_value_hash",
            Differs::Value => "output_value_hash",
            Differs::Policies => "missing_input_policy_applied",
        }
    }
}

/// A receipt can't be looked at.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotVerified {
    /// There is no value of these inputs, so there can't be a receipt.
    #[error(transparent)]
    Value(#[from] NotEvaluated),
    /// An input can't be written canonically.
    #[error(transparent)]
    Input(#[from] canonical::Inexact),
}

/// Computes a formula again and says what its receipt does not say as it is; nothing if it is the receipt of this.
///
/// # Errors
/// There is no value of these inputs, or they can't be written.
pub fn verify(
    formula: &Ready,
    inputs: &Object,
    receipt: &FormulaEvaluationReceipt,
) -> Result<Vec<Differs>, NotVerified> {
    let evaluated = evaluate(formula, inputs)?;
    let published = Published {
        receipt_id: receipt.receipt_id.clone(),
        producer_ref: receipt.producer_ref.clone(),
        input_refs: receipt.input_refs.clone(),
        output_ref: receipt.output_ref.clone(),
        at: receipt.computed_at.clone(),
        task_id: receipt.task_id.clone(),
        run_id: receipt.run_id.clone(),
    };
    let again = publish(formula, inputs, &evaluated, published)?;
    let policies = |one: &FormulaEvaluationReceipt| {
        let applied = (one.missing_input_policy_applied, one.zero_denominator_policy_applied);
        let codes = (one.omitted_input_names.clone(), one.validation_codes.clone());
        (applied, codes, one.finite_number_check, one.correlation_policy)
    };
    let same = [
        (Differs::Formula, again.formula_id == receipt.formula_id),
        (Differs::Formula, again.formula_semantic_version == receipt.formula_semantic_version),
        (Differs::Manifest, again.input_manifest_hash == receipt.input_manifest_hash),
        (Differs::Inputs, again.input_value_hash == receipt.input_value_hash),
        (Differs::Value, again.output_value_hash == receipt.output_value_hash),
        (Differs::Policies, policies(&again) == policies(receipt)),
    ];
    let mut differs: Vec<Differs> =
        same.into_iter().filter(|(_, is_same)| !is_same).map(|(what, _)| what).collect();
    differs.dedup();
    Ok(differs)
}

#[cfg(test)]
#[path = "receipt_tests.rs"]
mod tests;
