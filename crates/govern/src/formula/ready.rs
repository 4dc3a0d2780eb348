//! A formula that was read: its texts with names as places, its defaults as values.
//! Owns: reading all texts of a formula, once. Must not: compute.

use super::input::{Coded, Input, Range, item};
use super::parse::{self, Expression, NotAFormula};
use super::spec::{Below, Requirement, Spec};
use super::take::take;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use countersign_record::digest::Digest;
use countersign_record::json::{self, Json};

/// A formula that was read.
#[derive(Clone, Debug)]
pub struct Ready {
    /// What is registered of it.
    pub spec: Spec,
    pub(super) inputs: Vec<(&'static Input, Option<Json>)>,
    pub(super) names: Vec<&'static str>,
    pub(super) requires: Vec<(Expression, Requirement)>,
    pub(super) omits: Option<Expression>,
    pub(super) expression: Expression,
    pub(super) size: Option<Expression>,
    pub(super) below: Option<Expression>,
    pub(super) ends: Option<Expression>,
    /// What its value is.
    pub(super) gives: Option<(Input, Option<Range>)>,
    /// SHA-256 of its text.
    pub hash: Digest,
    /// The same as it is written.
    pub(super) hex: String,
}

/// What is found beside the inputs where an interval is computed: its level, if no input says it, and the value.
pub(super) const LEVEL: &str = "level";
const VALUE: &str = "value";

impl Ready {
    pub(super) fn of(spec: Spec) -> Result<Self, NotAFormula> {
        let names: Vec<&'static str> = spec.inputs.iter().map(|input| input.name).collect();
        let read = |text| parse::parse(text, &names);
        let below = spec.sample.and_then(|sample| match sample.below {
            Below::Indeterminate(instead) => Some(instead),
            Below::LowConfidence => None,
        });
        let mut beside = names.clone();
        if !beside.contains(&LEVEL) {
            beside.push(LEVEL);
        }
        beside.push(VALUE);
        let ends = spec.interval.map(|interval| parse::parse(interval.ends, &beside)).transpose()?;
        let requirement = |one: &Requirement| Ok((read(one.holds)?, *one));
        let whole = spec.range.map(|(low, high)| Range { low, high, code: None, coded: Coded::Outside });
        Ok(Ready {
            spec,
            inputs: spec.inputs.iter().map(with_default).collect::<Result<_, _>>()?,
            requires: spec.requires.iter().map(requirement).collect::<Result<_, _>>()?,
            omits: spec.omits.map(read).transpose()?,
            expression: read(spec.expression)?,
            size: spec.sample.map(|sample| read(sample.size)).transpose()?,
            below: below.map(read).transpose()?,
            ends,
            gives: spec.gives.map(|shape| (item(shape), whole)),
            hash: spec.hash(),
            hex: String::from(spec.hash()),
            names,
        })
    }
}

fn with_default(input: &'static Input) -> Result<(&'static Input, Option<Json>), NotAFormula> {
    let broken = || NotAFormula { line: 1, message: format!("the default of {} is none", input.name) };
    let read = |text: &str| {
        let default = json::parse(text.as_bytes()).ok().filter(|default| take(input, default).is_ok());
        default.ok_or_else(broken)
    };
    Ok((input, input.default.map(read).transpose()?))
}
