//! Numbers of a pickle as JSON has them.
//! Owns: one literal for each, which is written back as the same opcode. Must not: round.

use countersign_record::json::{self, Json, Number};

/// An integer, by its digits.
pub(super) fn integer(value: i64) -> Number {
    match u32::try_from(value) {
        Ok(small) => Number::from(small),
        Err(_) => literal(&value.to_string()),
    }
}

/// A double by the digits that canonical JSON has for it, and a point where there would be none: it stays a double.
/// None for a NaN or an infinity, which JSON can't say.
pub(super) fn double(value: f64) -> Option<Number> {
    let canonical = json::to_text(&value).ok().filter(|_| value.is_finite())?;
    // Canonical JSON has one zero.
    let sign = if value == 0.0 && value.is_sign_negative() { "-" } else { "" };
    let point = if canonical.contains(['.', 'e']) { "" } else { ".0" };
    Some(literal(&format!("{sign}{canonical}{point}")))
}

/// The digits are our own print of a number, so they are always read.
fn literal(digits: &str) -> Number {
    match json::parse(digits.as_bytes()) {
        Ok(Json::Number(number)) => number,
        Ok(_) | Err(_) => Number::from(0_u32),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two prints of 17 digits mean it, and lie equally near.
    const TIE: f64 = -2.500_007_629_394_531_2;

    #[test]
    fn every_number_comes_back_as_itself() {
        for value in [0, 1, -1, i64::MAX, i64::MIN, 1 << 53, (1 << 53) + 1, i64::from(u32::MAX) + 1] {
            assert_eq!(integer(value).literal(), value.to_string());
        }
        for value in
            [0.0, -0.0, 1.0, 0.1, 1e21, -1e-7, f64::MAX, f64::MIN_POSITIVE, 5e-324, 1e16, 123e300, TIE]
        {
            let number = double(value).map(|number| (number.as_f64().to_bits(), number.is_exact()));
            assert_eq!(number, Some((value.to_bits(), true)), "{value}");
        }
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(double(value), None);
        }
    }
}
