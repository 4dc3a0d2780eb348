//! What a document may ask for, and what can be wrong with a text.
//! Owns: the limits, the words of each problem. Must not: read.

use crate::code::Code;
use alloc::format;
use alloc::string::String;

/// How much one document may ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of text.
    pub bytes_max: usize,
    /// Arrays and objects inside each other.
    pub depth_max: usize,
    /// Characters of one number.
    pub number_max: usize,
    /// Values of any kind: a value takes far more room in memory than the two bytes it may take in a text.
    pub values_max: usize,
}

impl Limits {
    /// What every governed document must fit in.
    pub const GOVERNED: Limits =
        Limits { bytes_max: 16 * 1024 * 1024, depth_max: 128, number_max: 1_000, values_max: 1_000_000 };
}

/// What is wrong with a text, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column} (byte {offset}): {problem}")]
pub struct ParseError {
    /// What is wrong.
    pub problem: Problem,
    /// Byte offset from 0.
    pub offset: usize,
    /// Line from 1.
    pub line: usize,
    /// Byte in the line, from 1.
    pub column: usize,
}

/// What can be wrong with a text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// Nothing but white space.
    #[error("there is no JSON value")]
    Empty,
    /// A byte order mark.
    #[error("the text begins with a byte order mark")]
    ByteOrderMark,
    /// Not UTF-8.
    #[error("the text is not UTF-8")]
    Utf8,
    /// More bytes than the limit.
    #[error("the text is longer than {bytes_max} bytes")]
    TooLong {
        /// The limit.
        bytes_max: usize,
    },
    /// Deeper than the limit.
    #[error("arrays and objects are nested deeper than {depth_max}")]
    TooDeep {
        /// The limit.
        depth_max: usize,
    },
    /// A number of more characters than the limit.
    #[error("a number has more than {number_max} characters")]
    NumberTooLong {
        /// The limit.
        number_max: usize,
    },
    /// More values than the limit.
    #[error("the text holds more than {values_max} values")]
    TooManyValues {
        /// The limit.
        values_max: usize,
    },
    /// One object names a member twice.
    #[error("the name {name:?} stands twice in one object")]
    DuplicateName {
        /// The name, cut to a length that fits a message.
        name: String,
    },
    /// Half of a surrogate pair.
    #[error("an escape is half of a surrogate pair")]
    LoneSurrogate,
    /// `NaN`, `Infinity` or a relative, however it is spelt.
    #[error("NaN and infinities are not JSON")]
    NotFinite,
    /// Something after the value.
    #[error("there is more text after the value")]
    Trailing,
    /// The text ends inside a value.
    #[error("the text ends inside a value")]
    Truncated,
    /// Any other violation of the grammar.
    #[error("{expected}")]
    Syntax {
        /// What should stand here.
        expected: &'static str,
    },
}

impl Problem {
    /// The stable code.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            Problem::Empty => Code::JsonEmpty,
            Problem::ByteOrderMark => Code::JsonByteOrderMark,
            Problem::Utf8 => Code::JsonNotUtf8,
            Problem::TooLong { .. } => Code::JsonTooLong,
            Problem::TooDeep { .. } => Code::JsonTooDeep,
            Problem::NumberTooLong { .. } => Code::JsonNumberTooLong,
            Problem::TooManyValues { .. } => Code::JsonTooManyValues,
            Problem::DuplicateName { .. } => Code::JsonDuplicateName,
            Problem::LoneSurrogate => Code::JsonLoneSurrogate,
            Problem::NotFinite => Code::JsonNotFinite,
            Problem::Trailing => Code::JsonTrailing,
            Problem::Truncated => Code::JsonTruncated,
            Problem::Syntax { .. } => Code::JsonSyntax,
        }
    }
}

impl ParseError {
    /// What is wrong and where, without a word of the text: for a text whose words may not be told.
    #[must_use]
    pub fn without_text(&self) -> String {
        let ParseError { problem, offset, line, column } = self;
        let place = format!("line {line}, column {column} (byte {offset})");
        match problem {
            Problem::DuplicateName { .. } => format!("{place}: a name stands twice in one object"),
            Problem::Empty
            | Problem::ByteOrderMark
            | Problem::Utf8
            | Problem::TooLong { .. }
            | Problem::TooDeep { .. }
            | Problem::NumberTooLong { .. }
            | Problem::TooManyValues { .. }
            | Problem::LoneSurrogate
            | Problem::NotFinite
            | Problem::Trailing
            | Problem::Truncated
            | Problem::Syntax { .. } => format!("{place}: {problem}"),
        }
    }
}
