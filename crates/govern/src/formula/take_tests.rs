//! What is of a shape, and what is said of what is not.

use super::super::input::{item, may, needs, one_of, record};
use super::*;
use countersign_record::json;
use std::string::String;

const NUMBER: Input = item(Shape::Number);
const SCORE: Input = item(Shape::Number).within(0.0, 1.0);
const CODED: Input = item(Shape::Number).within_or(0.0, 1.0, "criterion_weight_invalid");
const COUNT: Input = item(Shape::Count);
const LEVEL: Input = item(Shape::Among(&[0.8, 0.9]));
const TRUTH: Input = item(Shape::Truth);
const TEXT: Input = item(Shape::Text);
const TIME: Input = item(Shape::Time);
const VERSION: Input = item(Shape::Version);
const WORD: Input = item(one_of(&["judge", "nobody"]));
const NUMBERS: Input = item(Shape::Numbers).within(0.0, 1.0);
const BITS: Input = item(Shape::List(&item(Shape::Among(&[0.0, 1.0]))));
const RECORD: Input = item(record(&[needs("a", Shape::Count, ""), may("b", Shape::Text, "")]));
const LIST: Input = item(Shape::List(&RECORD));
const MAP: Input = item(Shape::Map(Words { name: "", words: &["usd"] }, &SCORE));

/// What is said of a value: nothing if it is right, else how, where and what.
fn said(input: &Input, text: &str) -> String {
    let json = json::parse(text.as_bytes()).unwrap();
    let taken = take(input, &json).map(|_| ());
    assert_eq!(taken, check(input, None, &json), "{text}");
    let code = |wrong: &Wrong| wrong.code.map(|code| format!(" {code}")).unwrap_or_default();
    taken.map_or_else(
        |wrong| format!("{:?}{}: {}{}", wrong.how, wrong.path, wrong.message, code(&wrong)),
        |()| String::new(),
    )
}

#[test]
fn a_value_is_of_a_shape_or_it_is_said_why_not() {
    let cases = [
        (&NUMBER, "1.5", ""),
        (&NUMBER, "\"NaN\"", ""),
        (&NUMBER, "\"1\"", "Kind: must be number"),
        (&NUMBER, "null", "Kind: must be number"),
        (&SCORE, "1", ""),
        (&SCORE, "-0", ""),
        (&SCORE, "1.000001", "Value: must be from 0 to 1"),
        (&SCORE, "\"NaN\"", "Value: must be from 0 to 1"),
        (&SCORE, "1e999", "Value: must be from 0 to 1"),
        (&SCORE, "0.12345678901234567890", "Inexact: has more digits than a number can hold"),
        (&CODED, "-1", "Value: must be from 0 to 1 criterion_weight_invalid"),
        (&CODED, "true", "Kind: must be number criterion_weight_invalid"),
        (&COUNT, "0", ""),
        (&COUNT, "2e0", ""),
        (&COUNT, "1.5", "Value: must be count"),
        (&COUNT, "-1", "Value: must be count"),
        (&COUNT, "1e300", "Value: must be count"),
        (&COUNT, "\"Infinity\"", "Value: must be count"),
        (&LEVEL, "0.9", ""),
        (&LEVEL, "0.85", "Value: must be 0.8 | 0.9"),
        (&TRUTH, "false", ""),
        (&TRUTH, "0", "Kind: must be truth"),
        (&TEXT, "\"a\"", ""),
        (&TEXT, "\" \"", "Value: says nothing"),
        (&TEXT, "1", "Kind: must be text"),
        (&TIME, "\"2026-03-02T08:00:00Z\"", ""),
        (&TIME, "\"2026-13-02T08:00:00Z\"", "Value: must be time"),
        (&TIME, "\"yesterday\"", "Value: must be time"),
        (&VERSION, "\"v1.10.2-beta\"", ""),
        (&VERSION, "\"1..2\"", "Value: must be version"),
        (&VERSION, "\"latest\"", "Value: must be version"),
        (&WORD, "\"judge\"", ""),
        (&WORD, "\"Judge\"", "Value: must be judge | nobody"),
        (&NUMBERS, "[]", ""),
        (&NUMBERS, "[0,1]", ""),
        (&NUMBERS, "[0,null]", "Kind/1: must be number"),
        (&NUMBERS, "[0,2]", "Value/1: must be from 0 to 1"),
        (&NUMBERS, "{}", "Kind: must be list_of_number"),
        (&BITS, "[0,1]", ""),
        (&BITS, "[0,0.5]", "Value/1: must be 0 | 1"),
        (&RECORD, r#"{"a":1}"#, ""),
        (&RECORD, r#"{"a":1,"b":null}"#, ""),
        (&RECORD, r#"{"b":"x"}"#, "Missing/a: is missing"),
        (&RECORD, r#"{"a":null}"#, "Missing/a: is missing"),
        (&RECORD, r#"{"a":1,"B":"x"}"#, "Unknown/B: is not known here"),
        (&RECORD, "[]", "Kind: must be record"),
        (&LIST, r#"[{"a":1},{"a":"1"}]"#, "Kind/1/a: must be count"),
        (&MAP, r#"{"usd":0.5}"#, ""),
        (&MAP, r#"{"usd":5}"#, "Value/usd: must be from 0 to 1"),
        (&MAP, r#"{"u/~":5}"#, "Unknown/u~1~0: is not known here"),
    ];
    for (input, text, expected) in cases {
        assert_eq!(said(input, text), expected, "{text}");
    }
}
