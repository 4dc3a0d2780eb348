//! `countersign formula` and `derive`: the registered formulas.
//! Owns: how they are shown; the id and time of a receipt. Must not: compute.

use crate::cli::Global;
use crate::cli::govern::{Derivation, Derive, Formula};
use crate::failure::{Exit, Failure};
use crate::{input, output, place};
use clap::ValueEnum;
use countersign_govern::formula::registry;
use countersign_govern::formula::spec::{Below, Ready, Spec};
use countersign_govern::formula::{Evaluated, NotEvaluated, Published, evaluate, publish};
use countersign_govern::types::basic::{Instant, StorageRef};
use countersign_govern::types::wire::Wire;
use countersign_record::code::Code;
use countersign_record::json::{Json, Object};
use serde::Serialize;

#[derive(Serialize)]
struct Listed {
    formula_id: &'static str,
    semantic_version: &'static str,
    purpose: &'static str,
    /// What `derive` calls it.
    derive_kind: String,
}

#[derive(Serialize)]
struct Value {
    value: Json,
    #[serde(skip_serializing_if = "Option::is_none")]
    sample: Option<Sample>,
    #[serde(skip_serializing_if = "Option::is_none")]
    confidence_interval: Option<[f64; 2]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    confidence_interval_level: Option<f64>,
    receipt: Json,
}

/// How many cases a value rests on, where its formula counts them.
#[derive(Serialize)]
struct Sample {
    size: u64,
    min_sample_size: u64,
    is_sufficient: bool,
}

pub(super) fn run(global: &Global, command: &Formula) -> Result<Exit, Failure> {
    match command {
        Formula::List => list(global)?,
        Formula::Show { id } => show(global, find(id)?)?,
        Formula::Eval { id, inputs, output_ref } => {
            let inputs = input::document(inputs)?;
            output::json(&value(global, find(id)?, &inputs, output_ref)?)?;
        }
    }
    Ok(Exit::Success)
}

/// A derivation: the formula that it is.
pub(super) fn derive(global: &Global, derive: &Derive) -> Result<Exit, Failure> {
    let inputs = input::document(&derive.inputs)?;
    output::json(&value(global, find(derive.kind.formula())?, &inputs, &derive.output_ref)?)?;
    Ok(Exit::Success)
}

fn find(id: &str) -> Result<&'static Spec, Failure> {
    registry::find(id).ok_or_else(|| {
        let shown: String = id.chars().take(80).collect();
        Failure::new(Code::FormulaUnknown, format!("there is no formula {shown}"))
            .with("fix", "countersign formula list prints all of them")
    })
}

fn list(global: &Global) -> Result<(), Failure> {
    if global.json {
        let listed = registry::all().map(|spec| Listed {
            formula_id: spec.id,
            semantic_version: spec.version,
            purpose: spec.purpose,
            derive_kind: kind(spec),
        });
        return output::json(&listed.collect::<Vec<_>>());
    }
    for spec in registry::all() {
        output::line(&format!("{:<46} {:<19} {}", spec.id, kind(spec), spec.purpose))?;
    }
    output::line(
        "\nThe second word is the KIND of countersign derive; countersign formula show ID says what it takes.",
    )
}

/// What `derive` calls a formula.
fn kind(spec: &Spec) -> String {
    let is_own = |one: &&Derivation| one.formula() == spec.id;
    let kind = Derivation::value_variants().iter().find(is_own).and_then(Derivation::to_possible_value);
    kind.map(|kind| kind.get_name().to_owned()).unwrap_or_default()
}

/// The record of a formula, with its text and what its test vectors refer to.
fn show(global: &Global, spec: &Spec) -> Result<(), Failure> {
    if !global.json {
        output::line(&format!("{} {}\n{}\n", spec.id, spec.version, spec.purpose))?;
        output::line(&spec.text())?;
        output::line("\nInputs:")?;
        let width = spec.inputs.iter().map(|one| one.name.len()).max().unwrap_or_default();
        for one in spec.inputs {
            output::line(&format!("  {:<width$}  {}", one.name, one.about))?;
        }
        output::line(&format!("\nText: sha256 {}", String::from(spec.hash())))?;
        output::line(&format!("Missing inputs: {}", spec.missing.as_str()))?;
        if let Some(zero) = spec.zero {
            output::line(&format!("Dividing by zero: {}", zero.as_str()))?;
        }
        output::line(&format!("Not finite: {}; {}", spec.finite.as_str(), spec.rounding.as_str()))?;
        policies(spec)?;
        return output::line(&format!("Test vectors: {}", spec.vectors.len()));
    }
    let vectors = spec.vectors.iter().map(|vector| {
        Json::Object(Object::from([
            ("name", Json::from(vector.name)),
            ("inputs", vector.inputs.into()),
            ("expected", vector.expected.into()),
            ("codes", Json::Array(vector.codes.iter().map(|code| coded(code).into()).collect())),
        ]))
    });
    let shown = Object::from([
        ("spec", spec.record().and_then(|record| record.write()).unwrap_or(Json::Null)),
        ("expression", spec.text().into()),
        ("vectors", Json::Array(vectors.collect())),
    ]);
    output::json(&shown)
}

/// How many cases it takes, and how sure the value is.
fn policies(spec: &Spec) -> Result<(), Failure> {
    if let Some(sample) = spec.sample {
        let least = sample.least.map(|name| format!(", or what {name} says")).unwrap_or_default();
        let below = match sample.below {
            Below::Indeterminate(_) => "indeterminate",
            Below::LowConfidence => "emit_with_low_confidence",
        };
        let window = if sample.window_required { "; a window is required" } else { "" };
        output::line(&format!("Sample: at least {}{least}; below {below}{window}", sample.min))?;
    }
    if let Some(interval) = spec.interval {
        let need = if interval.required { "required" } else { "where it can be told" };
        let (method, level) = (interval.method.as_str(), interval.level.number());
        output::line(&format!("Interval: {method} at {level}, {need}"))?;
    }
    Ok(())
}

fn value(global: &Global, spec: &Spec, inputs: &Json, output_ref: &str) -> Result<Value, Failure> {
    let Some(inputs) = inputs.as_object() else {
        return Err(Failure::new(Code::FormulaRefused, "the inputs must be an object"));
    };
    let broken =
        |error: &dyn std::fmt::Display| Failure::new(Code::FormulaRefused, format!("{}: {error}", spec.id));
    let ready = spec.read().map_err(|error| broken(&error))?;
    let evaluated = evaluate(&ready, inputs).map_err(|error| refused(spec, &error))?;
    if let Some(code) = evaluated.codes.first() {
        return Err(broken(&"the value is no number that can be told").with("validation_code", coded(code)));
    }
    let receipt = receipt(global, &ready, inputs, &evaluated, output_ref)?;
    let sample = evaluated.sample.map(|sampled| Sample {
        size: sampled.size,
        min_sample_size: sampled.least,
        is_sufficient: sampled.is_enough(),
    });
    Ok(Value {
        value: evaluated.value,
        sample,
        confidence_interval: evaluated.interval.map(|bounds| [bounds.low, bounds.high]),
        confidence_interval_level: evaluated.interval.map(|bounds| bounds.level),
        receipt,
    })
}

/// What is wrong with the inputs: a code and the place, and the contract's own code where it has one.
fn refused(spec: &Spec, error: &NotEvaluated) -> Failure {
    let failure = Failure::troubles(Code::FormulaRefused, spec.id, &[error.trouble()]);
    match error.code() {
        Some(code) => failure.with("validation_code", coded(code)),
        None => failure,
    }
}

fn coded(code: &str) -> String {
    format!("validation.{code}")
}

fn receipt(
    global: &Global,
    ready: &Ready,
    inputs: &Object,
    evaluated: &Evaluated,
    output_ref: &str,
) -> Result<Json, Failure> {
    let clock = place::clock(global)?;
    let bad = |message: String| Failure::new(Code::UsageInvalid, message);
    let now = clock.now().map_err(|error| bad(error.to_string()))?;
    let at = Instant::try_from(now.as_str()).map_err(|error| bad(error.to_string()))?;
    let output_ref =
        StorageRef::try_from(output_ref).map_err(|error| bad(format!("--output-ref: {error}")))?;
    let published = Published {
        receipt_id: format!("fer_{}", clock.fresh("formula receipt")),
        producer_ref: format!("countersign:{}", env!("CARGO_PKG_VERSION")),
        input_refs: Vec::new(),
        output_ref,
        at,
        task_id: None,
        run_id: None,
    };
    let receipt = publish(ready, inputs, evaluated, published);
    let receipt = receipt.map_err(|error| Failure::new(Code::FormulaRefused, error.to_string()))?;
    Ok(receipt.write().unwrap_or(Json::Null))
}
