//! The arguments of a call, and what a tool says of them.
//! Owns: reading them within their bounds, the shape of a definition. Must not: know a tool.

use countersign_record::code::Code;
use countersign_record::id::ToolName;
use countersign_record::json::{self, Json, Object};
use countersign_record::tool::{Definition, Effect, Needs};
use countersign_runtime::ports::tool::NotDone;
use std::ops::RangeInclusive;

/// Why a tool can't be offered: what it says of itself is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the definition of {0} is wrong")]
pub(crate) struct Undefined(pub(crate) &'static str);

/// What is said of a tool; the schema as it is written.
pub struct Saying {
    pub(crate) name: &'static str,
    pub(crate) description: &'static str,
    pub(crate) parameters: &'static str,
    pub(crate) effect: Effect,
    pub(crate) needs: Needs,
}

impl Saying {
    pub(crate) fn definition(self) -> Result<Definition, Undefined> {
        Ok(Definition {
            name: ToolName::try_from(self.name).map_err(|_| Undefined(self.name))?,
            description: self.description.to_owned(),
            parameters: json::parse(self.parameters.as_bytes()).map_err(|_| Undefined(self.name))?,
            effect: self.effect,
            needs: self.needs,
        })
    }
}

/// The need for a capability.
pub(crate) fn capability(name: &str) -> Needs {
    Needs::Capability(name.to_owned())
}

/// A text that must be there.
pub(crate) fn text<'a>(args: &'a Object, name: &str) -> Result<&'a str, NotDone> {
    match args.get(name) {
        Some(Json::String(text)) => Ok(text),
        Some(_) | None => Err(wrong(name, "a text is needed")),
    }
}

/// A text, or what stands for it.
pub(crate) fn text_or<'a>(args: &'a Object, name: &str, default: &'a str) -> Result<&'a str, NotDone> {
    match args.get(name) {
        None => Ok(default),
        Some(_) => text(args, name),
    }
}

/// A number within bounds, or what stands for it.
pub(crate) fn number_or(
    args: &Object,
    name: &str,
    default: u64,
    within: RangeInclusive<u64>,
) -> Result<u64, NotDone> {
    match args.get(name) {
        None => Ok(default),
        Some(Json::Number(number)) => match number.as_u64() {
            Some(number) if within.contains(&number) => Ok(number),
            Some(_) | None => {
                Err(wrong(name, &format!("a number from {} to {} is needed", within.start(), within.end())))
            }
        },
        Some(_) => Err(wrong(name, "a number is needed")),
    }
}

/// Yes or no; without an answer, no.
pub(crate) fn is_set(args: &Object, name: &str) -> Result<bool, NotDone> {
    match args.get(name) {
        None => Ok(false),
        Some(Json::Bool(value)) => Ok(*value),
        Some(_) => Err(wrong(name, "true or false is needed")),
    }
}

/// A count, for an output: what no number can say exactly is said as a text.
pub(crate) fn count(count: u64) -> Json {
    json::Number::try_from(count).map_or_else(|_| Json::from(count.to_string()), Json::Number)
}

fn wrong(name: &str, why: &str) -> NotDone {
    NotDone::new(Code::ToolArguments, format!("{name}: {why}"))
}
