//! The one door for fractions into hashed data: six decimals, half to even.
//! Owns: the rounding. Must not: let a NaN or an infinity through.

use crate::json::Number;
use alloc::format;
use core::cmp::Ordering;
use serde::ser::{Serialize, Serializer};

/// A score: a finite number rounded to six decimals, half to even. There is no NaN and one zero, so scores have an
/// order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Score(f64);

impl Eq for Score {}

impl Ord for Score {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl PartialOrd for Score {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl From<Score> for Number {
    fn from(score: Score) -> Self {
        Number::from_finite(score.0)
    }
}

/// A number that is no score.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("{value} is no score: it must be finite")]
pub struct ScoreOutOfRange {
    /// The number.
    pub value: f64,
}

impl TryFrom<f64> for Score {
    type Error = ScoreOutOfRange;

    /// Rounds the exact value of the double. Multiplying by a million first would round twice: 0.0000025 is a
    /// little more than its print, and goes up.
    fn try_from(value: f64) -> Result<Self, ScoreOutOfRange> {
        if !value.is_finite() {
            return Err(ScoreOutOfRange { value });
        }
        let rounded = match rounded_quickly(value) {
            Some(rounded) => rounded,
            None => format!("{value:.6}").parse().map_err(|_| ScoreOutOfRange { value })?,
        };
        // `+ 0.0` turns -0.0 into 0.0: one zero, one hash.
        Ok(Score(rounded + 0.0))
    }
}

/// Rounds where multiplying can't mislead: the product is off by less than a ten-millionth, so unless it lies that
/// close to a half, its nearest integer is that of the exact value. A quotient of two integers is the double nearest to
/// the decimal, as reading the decimal would be.
fn rounded_quickly(value: f64) -> Option<f64> {
    const MILLION: f64 = 1e6;
    // Up to here every whole number is a double, and its own nearest decimal.
    const WHOLE_MAX: f64 = 9_007_199_254_740_992.0;
    #[expect(clippy::cast_possible_truncation, reason = "it is at most 2^53")]
    if value.abs() <= WHOLE_MAX && (value as i64 as f64).total_cmp(&value).is_eq() {
        return Some(value);
    }
    let millionths = value * MILLION;
    if !(0.0..1e8).contains(&millionths) {
        return None;
    }
    // Exact: the number is small and not negative.
    #[expect(clippy::cast_possible_truncation, reason = "it is below 10^8")]
    let floor = millionths as i64 as f64;
    let above = millionths - floor;
    let nearest = if above > 0.5 { floor + 1.0 } else { floor };
    ((above - 0.5).abs() > 1e-6).then_some(nearest / MILLION)
}

impl Score {
    /// A number of halves, which needs no rounding.
    #[must_use]
    pub fn of_halves(halves: u32) -> Self {
        Score(f64::from(halves) / 2.0)
    }

    /// The rounded number.
    #[must_use]
    pub fn value(self) -> f64 {
        self.0
    }
}

impl Serialize for Score {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.0)
    }
}
