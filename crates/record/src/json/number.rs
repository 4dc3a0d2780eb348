//! A JSON number that keeps its digits.
//! Owns: the literal, and whether its canonical print says exactly the same number. Must not: round.

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use core::fmt;
use serde::ser::{Serialize, Serializer};

/// Integers up to this many digits are doubles without question: 10^15 < 2^53.
const PLAIN_INTEGER_DIGITS_MAX: usize = 15;

/// The name under which a number that needs its own digits passes through serde (see `canonical::emit`).
pub(crate) const LITERAL_TOKEN: &str = "$countersign::Number";

/// A number. Two numbers are equal when they were written alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Number(Repr);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Repr {
    /// At most 15 digits, written as canonical JSON writes it. Nearly every number there is.
    Plain(i64),
    Written(Box<Written>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Written {
    literal: Box<str>,
    canonical: Print,
    /// The bits of the nearest double: numbers are asked for more often than they are read.
    double: u64,
}

/// RFC 8785's print of a literal.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Print {
    /// The literal itself.
    Literal,
    /// Another text for the same decimal number.
    Text(Box<str>),
    /// It would be another number.
    Inexact,
}

impl Number {
    /// Takes a literal that already follows the JSON grammar.
    pub(crate) fn from_literal(literal: &str) -> Self {
        if let Some(value) = plain_integer(literal) {
            return Number(Repr::Plain(value));
        }
        // What is beyond every double is read as an infinite one.
        let double: f64 = literal.parse().unwrap_or(f64::INFINITY);
        let canonical = match canonical_f64(double).map(FloatPrint::into_string) {
            Some(print) if print == literal => Print::Literal,
            Some(print) if same_decimal(literal, &print) => Print::Text(print.into_boxed_str()),
            Some(_) | None => Print::Inexact,
        };
        Number(Repr::Written(Box::new(Written {
            literal: literal.into(),
            canonical,
            double: double.to_bits(),
        })))
    }

    /// The number that a finite double is, as RFC 8785 prints it. There is one zero.
    pub(crate) fn from_finite(double: f64) -> Self {
        let double = double + 0.0;
        let mut buffer = ryu_js::Buffer::new();
        let print = buffer.format_finite(double);
        Number(match plain_integer(print) {
            Some(value) => Repr::Plain(value),
            None => Repr::Written(Box::new(Written {
                literal: print.into(),
                canonical: Print::Literal,
                double: double.to_bits(),
            })),
        })
    }

    /// The number as it arrived.
    #[must_use]
    pub fn literal(&self) -> String {
        match &self.0 {
            Repr::Plain(value) => value.to_string(),
            Repr::Written(written) => written.literal.to_string(),
        }
    }

    /// Gives RFC 8785's print to `put`; `false` if that print would be another number.
    pub(crate) fn canonical(&self, put: impl FnOnce(&str)) -> bool {
        match &self.0 {
            Repr::Plain(value) => put(itoa::Buffer::new().format(*value)),
            Repr::Written(written) => match &written.canonical {
                Print::Literal => put(&written.literal),
                Print::Text(print) => put(print),
                Print::Inexact => return false,
            },
        }
        true
    }

    /// Gives the digits as they arrived to `put`.
    pub(crate) fn written(&self, put: impl FnOnce(&str)) {
        match &self.0 {
            Repr::Plain(value) => put(itoa::Buffer::new().format(*value)),
            Repr::Written(written) => put(&written.literal),
        }
    }

    /// Whether canonical JSON can say this number without changing it.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        match &self.0 {
            Repr::Plain(_) => true,
            Repr::Written(written) => written.canonical != Print::Inexact,
        }
    }

    /// The value as an integer; `1.0` and `1e2` are integers, as JSON Schema has it.
    #[must_use]
    pub fn as_i64(&self) -> Option<i64> {
        match &self.0 {
            Repr::Plain(value) => Some(*value),
            Repr::Written(written) => {
                let decimal = Decimal::read(&written.literal);
                decimal.integer()
            }
        }
    }

    /// The value as an integer that is not negative.
    #[must_use]
    pub fn as_u64(&self) -> Option<u64> {
        self.as_i64().and_then(|value| u64::try_from(value).ok())
    }

    /// The nearest double; infinite where the literal is beyond every double.
    #[must_use]
    pub fn as_f64(&self) -> f64 {
        match &self.0 {
            #[expect(clippy::cast_precision_loss, reason = "at most 15 digits: exact")]
            Repr::Plain(value) => *value as f64,
            Repr::Written(written) => f64::from_bits(written.double),
        }
    }
}

impl From<u32> for Number {
    fn from(value: u32) -> Self {
        Number(Repr::Plain(i64::from(value)))
    }
}

impl TryFrom<u64> for Number {
    type Error = Beyond;

    /// Refuses what canonical JSON would merge with a neighbour.
    fn try_from(value: u64) -> Result<Self, Beyond> {
        if value > INTEGER_MAX {
            Err(Beyond { value })
        } else {
            Ok(Number::from_literal(itoa::Buffer::new().format(value)))
        }
    }
}

/// A double that JSON has no word for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a number must be finite")]
pub struct NotFinite;

impl TryFrom<f64> for Number {
    type Error = NotFinite;

    /// The shortest literal that is read as this double again.
    fn try_from(value: f64) -> Result<Self, NotFinite> {
        match value.is_finite() {
            true => Ok(Number::from_finite(value)),
            false => Err(NotFinite),
        }
    }
}

/// The greatest integer that our own types write as a JSON number; larger ones are strings.
pub(crate) const INTEGER_MAX: u64 = 1 << 53;

/// An integer that no double can hold apart from its neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{value} is beyond 2^53")]
pub struct Beyond {
    /// The integer.
    pub value: u64,
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Repr::Plain(value) => value.fmt(f),
            Repr::Written(written) => written.literal.fmt(f),
        }
    }
}

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Repr::Plain(value) => serializer.serialize_i64(*value),
            Repr::Written(written) => serializer.serialize_newtype_struct(LITERAL_TOKEN, &*written.literal),
        }
    }
}

fn plain_integer(literal: &str) -> Option<i64> {
    let digits = literal.strip_prefix('-').unwrap_or(literal);
    if digits.len() > PLAIN_INTEGER_DIGITS_MAX
        || !digits.bytes().all(|b| b.is_ascii_digit())
        || literal == "-0"
    {
        return None;
    }
    literal.parse().ok()
}

/// The canonical print of a finite double: RFC 8785 §3.2.2.3, that of ECMAScript.
pub(crate) fn canonical_f64(value: f64) -> Option<FloatPrint> {
    value.is_finite().then(|| FloatPrint { buffer: ryu_js::Buffer::new(), value })
}

/// A double on its way to being printed.
pub(crate) struct FloatPrint {
    buffer: ryu_js::Buffer,
    value: f64,
}

impl FloatPrint {
    /// The digits.
    pub(crate) fn text(&mut self) -> &str {
        self.buffer.format_finite(self.value)
    }

    fn into_string(mut self) -> String {
        self.text().into()
    }
}

fn same_decimal(left: &str, right: &str) -> bool {
    Decimal::read(left) == Decimal::read(right)
}

/// A decimal number without a fixed form: `±0.d1d2d3… × 10^exponent`, `d1` and the last digit not zero.
#[derive(PartialEq, Eq)]
struct Decimal {
    negative: bool,
    digits: String,
    exponent: i64,
}

impl Decimal {
    fn read(literal: &str) -> Self {
        let (negative, unsigned) = match literal.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, literal),
        };
        let (mantissa, power) = match unsigned.find(['e', 'E']) {
            Some(at) => (&unsigned[..at], saturating_power(&unsigned[at + 1..])),
            None => (unsigned, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let mut digits: String = whole.chars().chain(fraction.chars()).collect();
        let leading = digits.len() - digits.trim_start_matches('0').len();
        digits.drain(..leading);
        digits.truncate(digits.trim_end_matches('0').len());
        if digits.is_empty() {
            return Decimal { negative: false, digits, exponent: 0 };
        }
        let point =
            i64::try_from(whole.len()).unwrap_or(i64::MAX) - i64::try_from(leading).unwrap_or(i64::MAX);
        Decimal { negative, digits, exponent: point.saturating_add(power) }
    }

    fn integer(&self) -> Option<i64> {
        let length = i64::try_from(self.digits.len()).ok()?;
        if self.digits.is_empty() {
            return Some(0);
        }
        if self.exponent < length || self.exponent > 19 {
            return None;
        }
        let mut text = String::from(if self.negative { "-" } else { "" });
        text.push_str(&self.digits);
        for _ in length..self.exponent {
            text.push('0');
        }
        text.parse().ok()
    }
}

/// The power of ten after the `e`; one beyond all reason stands at the limit, where it is equal to no print.
fn saturating_power(text: &str) -> i64 {
    let limit = if text.starts_with('-') { i64::MIN / 2 } else { i64::MAX / 2 };
    text.strip_prefix('+').unwrap_or(text).parse().unwrap_or(limit)
}
