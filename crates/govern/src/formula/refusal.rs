//! Why there is no value.
//! Owns: the reasons, the code and the place of each. Must not: decide.

use super::compute::{Refused, Stop};
use alloc::format;
use alloc::string::{String, ToString};
use countersign_record::code::Code;
use countersign_record::fields::Trouble;

/// There is no value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotEvaluated {
    /// An input is missing, and the formula can't do without.
    #[error("the input {name} is missing")]
    Missing {
        /// Which one.
        name: &'static str,
    },
    /// Something in the inputs is not what it must be, or does not go with the rest.
    #[error("the input {} {}", .0.path.trim_start_matches('/'), .0.message)]
    Input(Wrong),
    /// Something is divided by zero, and the formula has no value for that.
    #[error("something is divided by zero")]
    ZeroDenominator,
    /// What came out is not what the formula says that it gives: its inputs can't belong together.
    #[error("the value{} {}", .0.path, .0.message)]
    Output(Wrong),
    /// The text of the formula can't be computed with values of these kinds.
    #[error("{0}")]
    Kind(String),
}

/// What is wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// Where, as a JSON pointer.
    pub path: String,
    /// How.
    pub how: How,
    /// What is wrong, in a sentence without the place.
    pub message: String,
    /// The code behind `validation.`, where the contract has one.
    pub code: Option<&'static str>,
}

/// How something is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// It is not there.
    Missing,
    /// Nobody asked for it.
    Unknown,
    /// It is of another kind.
    Kind,
    /// It is of the kind, and none that may be.
    Value,
    /// It is a number with more digits than a receipt could repeat.
    Inexact,
    /// It does not go with the rest.
    Together,
}

impl Wrong {
    pub(super) fn new(how: How, message: impl Into<String>) -> Self {
        Wrong { path: String::new(), how, message: message.into(), code: None }
    }

    /// The same, inside of something.
    pub(super) fn inside(mut self, name: &str) -> Self {
        // As RFC 6901 writes names.
        let name = name.replace('~', "~0").replace('/', "~1");
        self.path.insert_str(0, &format!("/{name}"));
        self
    }

    pub(super) fn coded(self, code: Option<&'static str>) -> Self {
        Wrong { code, ..self }
    }
}

impl NotEvaluated {
    /// The code behind `validation.`, where there is one.
    #[must_use]
    pub fn code(&self) -> Option<&'static str> {
        match self {
            NotEvaluated::Input(wrong) | NotEvaluated::Output(wrong) => wrong.code,
            NotEvaluated::Missing { .. } | NotEvaluated::ZeroDenominator | NotEvaluated::Kind(_) => None,
        }
    }

    /// What is wrong with the document of the inputs: a stable code, and the place.
    #[must_use]
    pub fn trouble(&self) -> Trouble {
        let (code, path, message) = match self {
            NotEvaluated::Missing { name } => (Code::FieldMissing, format!("/{name}"), "is missing".into()),
            NotEvaluated::Input(wrong) => {
                let code = match wrong.how {
                    How::Missing => Code::FieldMissing,
                    How::Unknown => Code::FieldUnknown,
                    How::Kind => Code::FieldWrongType,
                    How::Value => Code::FieldInvalid,
                    How::Inexact => Code::NumberInexact,
                    How::Together => Code::FieldConflict,
                };
                (code, wrong.path.clone(), wrong.message.clone())
            }
            NotEvaluated::ZeroDenominator | NotEvaluated::Output(_) | NotEvaluated::Kind(_) => {
                (Code::FieldConflict, String::new(), self.to_string())
            }
        };
        Trouble { code, path, message }
    }
}

/// A stop, as what it means for the inputs.
pub(super) fn stopped(stop: Stop) -> NotEvaluated {
    match stop {
        Stop::ZeroDenominator => NotEvaluated::ZeroDenominator,
        Stop::Kind(message) => NotEvaluated::Kind(message),
        Stop::Input(refused) => {
            let Refused { code, inside, message } = *refused;
            let wrong = Wrong::new(How::Together, message).coded(code);
            NotEvaluated::Input(inside.iter().rev().fold(wrong, |wrong, name| wrong.inside(name)))
        }
    }
}
