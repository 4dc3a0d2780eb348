//! JSON text for people and peers.
//! Owns: the print in declared order. Must not: be hashed.

use super::{Json, parse};
use crate::canonical::{BYTES_LIKELY, Form, Pen, Unwritable, emit};
use alloc::string::String;
use alloc::vec::Vec;
use serde::Serialize;

/// One line of JSON: members as the type declares them, numbers with the digits they came with.
///
/// # Errors
/// Where the value holds something that JSON can't say.
pub fn to_text<T: Serialize + ?Sized>(value: &T) -> Result<String, Unwritable> {
    let mut bytes = Vec::with_capacity(BYTES_LIKELY);
    emit(value, &mut Pen { sink: &mut bytes, form: Form::Written })?;
    String::from_utf8(bytes).map_err(|_| serde::ser::Error::custom("a string was not UTF-8"))
}

/// What a value is written as, as a value.
///
/// # Errors
/// Where it holds something that JSON can't say.
pub fn value_of<T: Serialize + ?Sized>(value: &T) -> Result<Json, Unwritable> {
    parse(to_text(value)?.as_bytes()).map_err(serde::ser::Error::custom)
}

/// The same text over many lines, two spaces for each level. What stands in a string stays as it is.
#[must_use]
pub fn indented(text: &str) -> String {
    let mut shown = String::with_capacity(text.len() * 2);
    let (mut depth, mut in_string, mut is_escaped) = (0_usize, false, false);
    let mut letters = text.chars().filter(|letter| *letter != '\n').peekable();
    let line = |shown: &mut String, depth: usize| {
        shown.push('\n');
        (0..depth).for_each(|_| shown.push_str("  "));
    };
    while let Some(letter) = letters.next() {
        match letter {
            _ if in_string => {
                shown.push(letter);
                in_string = is_escaped || letter != '"';
                is_escaped = !is_escaped && letter == '\\';
            }
            '"' => {
                shown.push(letter);
                in_string = true;
            }
            '{' | '[' if letters.peek().is_some_and(|next| ['}', ']'].contains(next)) => {
                shown.push(letter);
                shown.extend(letters.next());
            }
            '{' | '[' => {
                shown.push(letter);
                depth += 1;
                line(&mut shown, depth);
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                line(&mut shown, depth);
                shown.push(letter);
            }
            ',' => {
                shown.push(letter);
                line(&mut shown, depth);
            }
            ':' => shown.push_str(": "),
            _ => shown.push(letter),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::parse;
    use proptest::prelude::*;

    #[test]
    fn a_text_over_many_lines() {
        let text = r#"{"a":[1,{"b":"x: [,{\"\\"}],"c":{},"d":[]}"#;
        let expected = "{\n  \"a\": [\n    1,\n    {\n      \"b\": \"x: [,{\\\"\\\\\"\n    }\n  ],\n  \"c\": {},\n  \"d\": []\n}";
        assert_eq!(indented(text), expected);
    }

    proptest! {
        #[test]
        fn it_says_the_same(keys in proptest::collection::vec(".{0,6}", 0..4), word in ".{0,12}") {
            let mut object = crate::json::Object::new();
            for key in &keys {
                object.insert(key.as_str(), word.as_str());
            }
            let text = to_text(&object).unwrap();
            prop_assert_eq!(parse(indented(&text).as_bytes()).unwrap(), parse(text.as_bytes()).unwrap());
        }
    }
}
