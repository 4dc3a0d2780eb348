//! JSON text and its canonical form.
//! Owns: the laws of `record::json` and `record::canonical`, with serde_json and a canonicaliser as oracles. Must
//! not: know a contract.

use crate::laws;
use countersign_record::canonical;
use countersign_record::digest::Digest;
use countersign_record::json::{self, Json, Limits, Number, ParseError, Problem};
use serde_json::Value;

/// What is read is what was written, nothing else is read, and an error has its place.
pub(crate) fn json(input: &[u8]) {
    let ours = json::parse(input);
    let theirs = serde_json::from_slice::<Value>(input);
    match &ours {
        Ok(value) => {
            survives(value);
            has_one_canonical_form(value);
            keeps_limits(input, value);
        }
        Err(error) => has_a_place(input, error),
    }
    match (&ours, &theirs) {
        (Ok(ours), Ok(theirs)) => assert!(is_same(ours, theirs), "serde_json reads {theirs}"),
        (Err(error), Ok(_)) => {
            let stricter =
                matches!(error.problem, Problem::DuplicateName { .. } | Problem::NumberTooLong { .. });
            assert!(stricter, "serde_json takes what we refuse: {error}");
        }
        (Ok(value), Err(error)) => {
            let words = error.to_string();
            let is_deep = words.contains("recursion limit exceeded")
                && laws::depth(value) == Limits::GOVERNED.depth_max;
            assert!(
                is_deep || words.contains("number out of range"),
                "serde_json refuses what we take: {error}"
            );
        }
        (Err(_), Err(_)) => {}
    }
}

fn survives(value: &Json) {
    let text = json::to_text(value).expect("a value that was read can be written");
    assert_eq!(json::parse(text.as_bytes()).as_ref(), Ok(value), "the print reads back as another value");
    in_order(value);
}

fn in_order(value: &Json) {
    match value {
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {}
        Json::Array(items) => items.iter().for_each(in_order),
        Json::Object(object) => {
            let names: Vec<Vec<u16>> = object.iter().map(|(name, _)| name.encode_utf16().collect()).collect();
            assert!(names.is_sorted_by(|left, right| left < right), "names out of order or doubled");
            for (name, member) in object.iter() {
                assert_eq!(object.get(name), Some(member), "{name:?} is not found");
                in_order(member);
            }
        }
    }
}

fn has_one_canonical_form(value: &Json) {
    let mut exact = true;
    laws::numbers(value, &mut |number| exact &= number.is_exact());
    assert_eq!(canonical::to_bytes_of(value).ok(), canonical::to_bytes(value).ok(), "the two writers differ");
    match canonical::to_bytes(value) {
        Ok(bytes) => {
            assert!(exact, "an inexact number has a canonical form");
            let again = json::parse(&bytes).expect("canonical JSON is JSON");
            assert_eq!(canonical::to_bytes(&again).as_ref(), Ok(&bytes), "canonical form is no fixed point");
            let hashes = [
                canonical::hash(value).ok(),
                canonical::hash_of(value).ok(),
                Some(canonical::hash_as_written(value)),
            ];
            assert_eq!(hashes, [Some(Digest::of(&bytes)); 3]);
        }
        Err(inexact) => {
            assert!(!exact, "{inexact}");
            assert!(canonical::hash(value).is_err() && canonical::hash_of(value).is_err());
        }
    }
}

/// Limits at the document's own size hold it; any tighter one refuses it.
fn keeps_limits(input: &[u8], value: &Json) {
    let depth_max = laws::depth(value);
    let mut number_max = 0;
    laws::numbers(value, &mut |number| number_max = number_max.max(number.literal().len()));
    let fitting = Limits { bytes_max: input.len(), depth_max, number_max, ..Limits::GOVERNED };
    assert_eq!(json::parse_with(input, fitting).as_ref(), Ok(value));
    let check = |limits: Limits, expected: Problem| {
        let found = json::parse_with(input, limits).map_err(|error| error.problem);
        assert_eq!(found, Err(expected), "{limits:?}");
    };
    check(Limits { bytes_max: input.len() - 1, ..fitting }, Problem::TooLong { bytes_max: input.len() - 1 });
    if depth_max > 0 {
        check(Limits { depth_max: depth_max - 1, ..fitting }, Problem::TooDeep { depth_max: depth_max - 1 });
    }
    if number_max > 0 {
        check(
            Limits { number_max: number_max - 1, ..fitting },
            Problem::NumberTooLong { number_max: number_max - 1 },
        );
    }
}

fn has_a_place(input: &[u8], error: &ParseError) {
    assert!(error.offset <= input.len(), "{error} in a text of {}", input.len());
    let before = &input[..error.offset];
    let lines: Vec<&[u8]> = before.split(|byte| *byte == b'\n').collect();
    let column = lines.last().map_or(0, |line| line.len()) + 1;
    assert_eq!((error.line, error.column), (lines.len(), column), "{error}");
    assert!(!error.to_string().is_empty() && !error.problem.code().as_str().is_empty());
}

fn is_same(ours: &Json, theirs: &Value) -> bool {
    match (ours, theirs) {
        (Json::Null, Value::Null) => true,
        (Json::Bool(left), Value::Bool(right)) => left == right,
        (Json::String(left), Value::String(right)) => left == right,
        (Json::Number(left), Value::Number(right)) => is_same_number(left, right),
        (Json::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| is_same(left, right))
        }
        (Json::Object(left), Value::Object(right)) => {
            let same = |name: &str, member| right.get(name).is_some_and(|other| is_same(member, other));
            left.len() == right.len() && left.iter().all(|(name, member)| same(name, member))
        }
        _ => false,
    }
}

fn is_same_number(ours: &Number, theirs: &serde_json::Number) -> bool {
    let is_same_integer = theirs.as_i64().is_none_or(|value| ours.as_i64() == Some(value));
    let bits = theirs.as_f64().map(f64::to_bits);
    is_same_integer && bits.is_some_and(|bits| bits == ours.as_f64().to_bits())
}

/// The bytes are those of the oracle, and a number is inexact exactly where its print is another decimal.
pub(crate) fn canonical(input: &[u8]) {
    let Ok(value) = json::parse(input) else { return };
    has_one_canonical_form(&value);
    laws::numbers(&value, &mut |number| {
        let literal = number.literal();
        let is_exact = literal.parse::<f64>().is_ok_and(|double| {
            // Not std's print: where two shortest decimals are as near, it takes another one than ECMAScript.
            let print = serde_json_canonicalizer::to_vec(&double).unwrap_or_default();
            double.is_finite() && Decimal::read(&String::from_utf8_lossy(&print)) == Decimal::read(&literal)
        });
        assert_eq!(number.is_exact(), is_exact, "{literal}");
        assert_eq!(number.as_i64(), Decimal::read(&literal).as_integer(), "{literal}");
    });
    let (Ok(ours), Ok(theirs)) = (canonical::to_bytes(&value), serde_json::from_slice::<Value>(input)) else {
        return;
    };
    let theirs = serde_json_canonicalizer::to_vec(&theirs).expect("the oracle writes what it read");
    assert_eq!(String::from_utf8_lossy(&ours), String::from_utf8_lossy(&theirs));
}

/// A decimal as its digits without zeros at either end and the power of ten of the last one.
#[derive(Debug, PartialEq, Eq)]
struct Decimal {
    negative: bool,
    digits: Vec<u8>,
    power: i128,
}

impl Decimal {
    fn read(literal: &str) -> Self {
        let (mantissa, power) = literal.split_once(['e', 'E']).unwrap_or((literal, "0"));
        // A literal is at most 1000 characters, so a power that does not fit is as far off as any.
        let beyond = if power.starts_with('-') { i128::MIN / 4 } else { i128::MAX / 4 };
        let mut power: i128 = power.parse().unwrap_or(beyond);
        let mut digits = Vec::new();
        let mut is_fraction = false;
        for byte in mantissa.bytes() {
            match byte {
                b'.' => is_fraction = true,
                b'0'..=b'9' => {
                    power -= i128::from(is_fraction);
                    digits.push(byte);
                }
                _ => {}
            }
        }
        while digits.last() == Some(&b'0') {
            digits.pop();
            power += 1;
        }
        let leading = digits.iter().take_while(|digit| **digit == b'0').count();
        digits.drain(..leading);
        if digits.is_empty() {
            return Decimal { negative: false, digits, power: 0 };
        }
        Decimal { negative: mantissa.starts_with('-'), digits, power }
    }

    fn as_integer(&self) -> Option<i64> {
        let zeros =
            usize::try_from(self.power).ok().filter(|zeros| *zeros <= 19 && self.digits.len() <= 19)?;
        let sign = if self.negative { "-" } else { "" };
        let digits = if self.digits.is_empty() { b"0" } else { self.digits.as_slice() };
        format!("{sign}{}{}", String::from_utf8_lossy(digits), "0".repeat(zeros)).parse().ok()
    }
}
