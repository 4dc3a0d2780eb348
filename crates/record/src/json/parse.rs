//! Reads JSON text (RFC 8259), refusing what a record can't be built on.
//! Owns: the grammar, the limits, the place of an error. Must not: guess, repair, or keep a second member of
//! one name.

use super::name::{Begun, Name, Names};
use super::problem::{Limits, ParseError, Problem};
use super::{Json, Number, Object};
use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;
use core::mem::take;

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
    read(text, limits, None)
}

/// Reads one document of many under the limits of governed input: names are held once for all of them.
///
/// # Errors
/// The first thing wrong with the text, and where.
pub fn parse_again(text: &[u8], names: &mut Names) -> Result<Json, ParseError> {
    read(text, Limits::GOVERNED, Some(names))
}

fn read(text: &[u8], limits: Limits, mut names: Option<&mut Names>) -> Result<Json, ParseError> {
    if text.len() > limits.bytes_max {
        return Err(located(text, limits.bytes_max, Problem::TooLong { bytes_max: limits.bytes_max }));
    }
    if text.starts_with(&[0xEF, 0xBB, 0xBF]) {
        return Err(located(text, 0, Problem::ByteOrderMark));
    }
    let utf8 =
        core::str::from_utf8(text).map_err(|error| located(text, error.valid_up_to(), Problem::Utf8))?;
    let room = |names: &mut Names| (take(&mut names.loose), take(&mut names.items));
    let (loose, items) = names.as_deref_mut().map(room).unwrap_or_default();
    let mut parser = Parser { text: utf8, bytes: text, at: 0, values: 0, limits, names, loose, items };
    let read = parser.document();
    let Parser { names, mut loose, mut items, .. } = parser;
    if let Some(names) = names {
        loose.clear();
        items.clear();
        (names.loose, names.items) = (loose, items);
    }
    read.map_err(|(offset, problem)| located(text, offset, problem))
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
    names: Option<&'a mut Names>,
    /// Values of what is not read to its end: each list is made when it is known how long it is. The names beside them are those of
    /// objects whose shapes are not held.
    loose: Vec<Name>,
    items: Vec<Json>,
}

/// The names of an object so far.
#[derive(Clone, Copy)]
enum So {
    /// Those of a shape that may be held.
    Held(Begun),
    /// In the list of the reader.
    Loose,
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
        let (open, first, first_name) = (self.at, self.items.len(), self.loose.len());
        self.enter(depth)?;
        if self.took_after_space(b'}') {
            return Ok(Object::new());
        }
        let mut so = if self.names.is_some() { So::Held(Begun::NOT) } else { So::Loose };
        loop {
            self.skip_white_space();
            match self.peek() {
                Some(b'"') => {}
                Some(_) => return self.expected("a member's name in double quotes should stand here"),
                None => return self.fail(Problem::Truncated),
            }
            so = self.name(so)?;
            if !self.took_after_space(b':') {
                return self.expected_or_end("a colon should stand after a member's name");
            }
            self.skip_white_space();
            let value = self.value(depth)?;
            self.items.push(value);
            if self.took_after_space(b',') {
                continue;
            }
            if self.took_after_space(b'}') {
                return match self.object_of(so, first, first_name) {
                    Some(object) => Ok(object),
                    None => self.second_name(open, depth),
                };
            }
            return self.expected_or_end("a comma or a closing brace should stand here");
        }
    }

    /// The object of the names and values from some on; nothing where a name stands twice.
    fn object_of(&mut self, so: So, first: usize, first_name: usize) -> Option<Object> {
        let values = self.items.drain(first..);
        match (so, self.names.as_mut()) {
            (So::Held(begun), Some(names)) => Some(Object::of_shape(names.shape(begun), values.collect())),
            (So::Held(_) | So::Loose, _) => {
                Object::from_members(self.loose.drain(first_name..).zip(values).collect())
            }
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
        let first = self.items.len();
        self.enter(depth)?;
        if self.took_after_space(b']') {
            return Ok(Vec::new());
        }
        loop {
            self.skip_white_space();
            let item = self.value(depth)?;
            self.items.push(item);
            if self.took_after_space(b',') {
                continue;
            }
            if self.took_after_space(b']') {
                return Ok(self.items.drain(first..).collect());
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

    /// Reads the next name of an object.
    fn name(&mut self, so: So) -> Parsed<So> {
        self.at += 1;
        let start = self.at;
        self.skip_plain();
        let written = if self.took(b'"') { None } else { Some(self.escaped(start)?) };
        let text = written.as_deref().unwrap_or_else(|| &self.text[start..self.at - 1]);
        let Some(names) = self.names.as_mut() else {
            self.loose.push(Name::from(text));
            return Ok(So::Loose);
        };
        if let So::Held(begun) = so {
            if let Some(next) = names.step(begun, text) {
                return Ok(So::Held(next));
            }
            self.loose.extend(names.names(begun));
        }
        self.loose.push(names.name(text));
        Ok(So::Loose)
    }

    fn string(&mut self) -> Parsed<String> {
        self.at += 1;
        let start = self.at;
        self.skip_plain();
        if self.took(b'"') {
            return Ok(String::from(&self.text[start..self.at - 1]));
        }
        self.escaped(start)
    }

    /// A string of which plain letters were seen so far.
    fn escaped(&mut self, start: usize) -> Parsed<String> {
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
