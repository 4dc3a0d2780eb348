//! Reads JSON text (RFC 8259), refusing what a record can't be built on.
//! Owns: the grammar, the limits, the place of an error. Must not: guess, repair, or keep a second member of
//! one name.

use super::{Json, Number, Object};
use crate::code::Code;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

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

/// Reads one document under the limits of governed input.
///
/// # Errors
/// The first thing wrong with the text, and where.
pub fn parse(text: &[u8]) -> Result<Json, ParseError> {
    parse_with(text, Limits::GOVERNED)
}

/// Reads one document under limits of the caller's.
///
/// # Errors
/// The first thing wrong with the text, and where.
pub fn parse_with(text: &[u8], limits: Limits) -> Result<Json, ParseError> {
    if text.len() > limits.bytes_max {
        return Err(located(text, limits.bytes_max, Problem::TooLong { bytes_max: limits.bytes_max }));
    }
    if text.starts_with(&[0xEF, 0xBB, 0xBF]) {
        return Err(located(text, 0, Problem::ByteOrderMark));
    }
    let utf8 =
        core::str::from_utf8(text).map_err(|error| located(text, error.valid_up_to(), Problem::Utf8))?;
    let mut parser = Parser { text: utf8, bytes: text, at: 0, values: 0, limits };
    parser.document().map_err(|(offset, problem)| located(text, offset, problem))
}

fn located(text: &[u8], offset: usize, problem: Problem) -> ParseError {
    let before = text.get(..offset).unwrap_or(text);
    let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
    let start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    ParseError { problem, offset, line, column: before.len() - start + 1 }
}

/// A name in a message is cut here: the text may be hostile and long.
const NAME_SHOWN_MAX: usize = 64;

/// What writers put for a number that is none, in any case and with any sign.
const NOT_FINITE: [&str; 3] = ["nan", "inf", "infinity"];
/// The letters of the longest.
const NOT_FINITE_MAX: usize = 8;

type Parsed<T> = Result<T, (usize, Problem)>;

struct Parser<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    values: usize,
    limits: Limits,
}

impl Parser<'_> {
    fn document(&mut self) -> Parsed<Json> {
        self.skip_white_space();
        if self.at == self.bytes.len() {
            return self.fail(Problem::Empty);
        }
        let value = self.value(0)?;
        self.skip_white_space();
        if self.at < self.bytes.len() {
            return self.fail(Problem::Trailing);
        }
        Ok(value)
    }

    fn value(&mut self, depth: usize) -> Parsed<Json> {
        self.values += 1;
        if self.values > self.limits.values_max {
            return self.fail(Problem::TooManyValues { values_max: self.limits.values_max });
        }
        match self.peek() {
            Some(b'{') => self.object(depth + 1).map(Json::Object),
            Some(b'[') => self.array(depth + 1).map(Json::Array),
            Some(b'"') => self.string().map(Json::String),
            Some(b'-' | b'0'..=b'9') => self.number().map(Json::Number),
            Some(b't') => self.word("true", Json::Bool(true)),
            Some(b'f') => self.word("false", Json::Bool(false)),
            Some(b'n') => self.word("null", Json::Null),
            Some(_) => self.no_value(self.at),
            None => self.fail(Problem::Truncated),
        }
    }

    /// What stands at `start` is no value. Other writers' words for what JSON can't say get their own answer.
    fn no_value<T>(&self, start: usize) -> Parsed<T> {
        let rest = self.bytes.get(start..).unwrap_or_default();
        let unsigned = rest.strip_prefix(b"-").or(rest.strip_prefix(b"+")).unwrap_or(rest);
        let is_letter = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        // One letter beyond the longest word is enough to tell that it is another.
        let length = unsigned.iter().take(NOT_FINITE_MAX + 1).take_while(|byte| is_letter(byte)).count();
        let word = unsigned.get(..length).unwrap_or_default();
        if NOT_FINITE.iter().any(|known| known.as_bytes().eq_ignore_ascii_case(word)) {
            return Err((start, Problem::NotFinite));
        }
        self.expected("a value should stand here")
    }

    fn object(&mut self, depth: usize) -> Parsed<Object> {
        let open = self.at;
        self.enter(depth)?;
        let mut members = Vec::new();
        if self.took_after_space(b'}') {
            return Ok(Object::new());
        }
        loop {
            self.skip_white_space();
            match self.peek() {
                Some(b'"') => {}
                Some(_) => return self.expected("a member's name in double quotes should stand here"),
                None => return self.fail(Problem::Truncated),
            }
            let name = self.string()?;
            if !self.took_after_space(b':') {
                return self.expected_or_end("a colon should stand after a member's name");
            }
            self.skip_white_space();
            members.push((name, self.value(depth)?));
            if self.took_after_space(b',') {
                continue;
            }
            if self.took_after_space(b'}') {
                return match Object::from_members(members) {
                    Some(object) => Ok(object),
                    None => self.second_name(open, depth),
                };
            }
            return self.expected_or_end("a comma or a closing brace should stand here");
        }
    }

    /// Reads the object at `open` again, up to the first name that it holds twice: keeping every name's place
    /// would cost all the objects that hold each once.
    fn second_name<T>(&mut self, open: usize, depth: usize) -> Parsed<T> {
        (self.at, self.values) = (open + 1, 0);
        let mut names = BTreeSet::new();
        loop {
            self.skip_white_space();
            let start = self.at;
            let name = self.string()?;
            if names.contains(&name) {
                return Err((start, Problem::DuplicateName { name: shown(&name) }));
            }
            names.insert(name);
            self.took_after_space(b':');
            self.skip_white_space();
            self.value(depth)?;
            if !self.took_after_space(b',') {
                return self.expected("a comma or a closing brace should stand here");
            }
        }
    }

    fn array(&mut self, depth: usize) -> Parsed<Vec<Json>> {
        self.enter(depth)?;
        let mut items = Vec::new();
        if self.took_after_space(b']') {
            return Ok(items);
        }
        loop {
            self.skip_white_space();
            items.push(self.value(depth)?);
            if self.took_after_space(b',') {
                continue;
            }
            if self.took_after_space(b']') {
                return Ok(items);
            }
            return self.expected_or_end("a comma or a closing bracket should stand here");
        }
    }

    fn enter(&mut self, depth: usize) -> Parsed<()> {
        if depth > self.limits.depth_max {
            return self.fail(Problem::TooDeep { depth_max: self.limits.depth_max });
        }
        self.at += 1;
        Ok(())
    }

    fn number(&mut self) -> Parsed<Number> {
        let start = self.at;
        self.took(b'-');
        match self.peek() {
            Some(b'0') => self.at += 1,
            Some(b'1'..=b'9') => self.skip_digits(),
            Some(byte) if byte.is_ascii_alphabetic() => return self.no_value(start),
            _ => return self.expected_or_end("a digit should stand here"),
        }
        if self.took(b'.') {
            self.some_digits()?;
        }
        if self.took(b'e') || self.took(b'E') {
            if !self.took(b'+') {
                self.took(b'-');
            }
            self.some_digits()?;
        }
        if self.at - start > self.limits.number_max {
            return Err((start, Problem::NumberTooLong { number_max: self.limits.number_max }));
        }
        Ok(Number::from_literal(&self.text[start..self.at]))
    }

    fn some_digits(&mut self) -> Parsed<()> {
        let start = self.at;
        self.skip_digits();
        if self.at == start { self.expected_or_end("a digit should stand here") } else { Ok(()) }
    }

    fn skip_digits(&mut self) {
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
    }

    fn string(&mut self) -> Parsed<String> {
        self.at += 1;
        let start = self.at;
        self.skip_plain();
        if self.took(b'"') {
            return Ok(String::from(&self.text[start..self.at - 1]));
        }
        let mut text = String::from(&self.text[start..self.at]);
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(text);
                }
                Some(b'\\') => text.push(self.escape()?),
                Some(_) => return self.expected("a control character in a string must be escaped"),
                None => return self.fail(Problem::Truncated),
            }
            let run = self.at;
            self.skip_plain();
            text.push_str(&self.text[run..self.at]);
        }
    }

    /// Moves to the next quote, backslash or control character.
    fn skip_plain(&mut self) {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        self.at += crate::canonical::plain_length(rest);
    }

    fn escape(&mut self) -> Parsed<char> {
        let start = self.at;
        self.at += 2;
        match self.bytes.get(start + 1) {
            Some(b'"') => Ok('"'),
            Some(b'\\') => Ok('\\'),
            Some(b'/') => Ok('/'),
            Some(b'b') => Ok('\u{8}'),
            Some(b'f') => Ok('\u{c}'),
            Some(b'n') => Ok('\n'),
            Some(b'r') => Ok('\r'),
            Some(b't') => Ok('\t'),
            Some(b'u') => self.unicode_escape(start),
            Some(_) => Err((start, Problem::Syntax { expected: "this escape is not one of JSON's" })),
            None => Err((start, Problem::Truncated)),
        }
    }

    fn unicode_escape(&mut self, start: usize) -> Parsed<char> {
        let first = self.four_hex()?;
        let scalar = match first {
            0xD800..=0xDBFF => {
                if !(self.took(b'\\') && self.took(b'u')) {
                    return Err((start, Problem::LoneSurrogate));
                }
                let second = self.four_hex()?;
                if !(0xDC00..=0xDFFF).contains(&second) {
                    return Err((start, Problem::LoneSurrogate));
                }
                0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00)
            }
            _ => first,
        };
        char::from_u32(scalar).ok_or((start, Problem::LoneSurrogate))
    }

    fn four_hex(&mut self) -> Parsed<u32> {
        let digits = self.bytes.get(self.at..self.at + 4).ok_or((self.at, Problem::Truncated))?;
        let mut value = 0;
        for digit in digits {
            let digit = char::from(*digit).to_digit(16);
            let not_hex = Problem::Syntax { expected: "four hexadecimal digits should stand after \\u" };
            value = value * 16 + digit.ok_or((self.at, not_hex))?;
        }
        self.at += 4;
        Ok(value)
    }

    fn word(&mut self, word: &'static str, value: Json) -> Parsed<Json> {
        if !self.text[self.at..].starts_with(word) {
            return self.no_value(self.at);
        }
        self.at += word.len();
        Ok(value)
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn took(&mut self, byte: u8) -> bool {
        let there = self.peek() == Some(byte);
        self.at += usize::from(there);
        there
    }

    fn took_after_space(&mut self, byte: u8) -> bool {
        self.skip_white_space();
        self.took(byte)
    }

    fn skip_white_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn fail<T>(&self, problem: Problem) -> Parsed<T> {
        Err((self.at, problem))
    }

    fn expected<T>(&self, expected: &'static str) -> Parsed<T> {
        self.fail(Problem::Syntax { expected })
    }

    fn expected_or_end<T>(&self, expected: &'static str) -> Parsed<T> {
        if self.at == self.bytes.len() { self.fail(Problem::Truncated) } else { self.expected(expected) }
    }
}

fn shown(name: &str) -> String {
    name.chars().take(NAME_SHOWN_MAX).collect()
}
