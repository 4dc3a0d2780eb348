//! Points in time, kept exactly as they were received (RFC 3339).
//! Owns: reading and comparing them. Must not: know what time it is.

use alloc::string::String;
use alloc::sync::Arc;
use core::fmt;
use serde::ser::{Serialize, Serializer};

/// A point in time and the text it arrived as, which copies share.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Timestamp {
    text: Arc<str>,
    instant: Instant,
}

/// A point in time, comparable whatever offset it was written with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant {
    /// Seconds since 1970-01-01T00:00:00Z.
    pub seconds: i64,
    /// Nanoseconds of the second; finer digits of a text are kept in the text only.
    pub nanos: u32,
}

impl Instant {
    /// How many milliseconds later another is; 0 if it is not later.
    #[must_use]
    pub fn millis_until(self, later: Instant) -> u64 {
        let nanos =
            |instant: Instant| i128::from(instant.seconds) * 1_000_000_000 + i128::from(instant.nanos);
        u64::try_from((nanos(later) - nanos(self)) / 1_000_000).unwrap_or(0)
    }

    /// The instant that an RFC 3339 text names, without keeping the text.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        read(text.as_bytes())
    }

    /// Whether a text can say it in UTC: an offset may carry a time out of the years 0000 to 9999.
    #[must_use]
    pub fn has_text(self) -> bool {
        (YEAR_0..YEAR_10000).contains(&self.seconds) && self.nanos < 1_000_000_000
    }
}

/// The first second of the year 0000, and that of the year 10000.
const YEAR_0: i64 = -62_167_219_200;
const YEAR_10000: i64 = 253_402_300_800;

/// A text that is no RFC 3339 timestamp with an offset, or an instant that none can say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an RFC 3339 time with an offset is needed, in the years 0000 to 9999, such as 2025-12-10T10:00:00Z")]
pub struct NotATimestamp;

/// A text longer than this is no timestamp; a thousand digits of a second say nothing.
const LENGTH_MAX: usize = 64;

impl Timestamp {
    /// The text as received.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// When that is.
    #[must_use]
    pub fn instant(&self) -> Instant {
        self.instant
    }
}

impl TryFrom<&str> for Timestamp {
    type Error = NotATimestamp;

    fn try_from(text: &str) -> Result<Self, NotATimestamp> {
        let instant = read(text.as_bytes()).ok_or(NotATimestamp)?;
        Ok(Timestamp { text: text.into(), instant })
    }
}

impl TryFrom<String> for Timestamp {
    type Error = NotATimestamp;

    fn try_from(text: String) -> Result<Self, NotATimestamp> {
        Timestamp::try_from(text.as_str())
    }
}

impl TryFrom<Instant> for Timestamp {
    type Error = NotATimestamp;

    /// Writes the instant in UTC, its fraction without trailing zeros. Refuses a year without four digits and
    /// nanoseconds that fill a second.
    fn try_from(instant: Instant) -> Result<Self, NotATimestamp> {
        if !instant.has_text() {
            return Err(NotATimestamp);
        }
        let (days, of_day) = (instant.seconds.div_euclid(86_400), instant.seconds.rem_euclid(86_400));
        let (year, month, day) = civil_from_days(days);
        let mut text = String::with_capacity("0000-00-00T00:00:00.000000000Z".len());
        // By hand: every row and every handoff has a time, and each `{:02}` of a format costs more than all of this.
        for (number, width, after) in [
            (year, 4, '-'),
            (month, 2, '-'),
            (day, 2, 'T'),
            (of_day / 3600, 2, ':'),
            (of_day / 60 % 60, 2, ':'),
            (of_day % 60, 2, '.'),
            (i64::from(instant.nanos), 9, 'Z'),
        ] {
            push_digits(&mut text, number, width);
            text.push(after);
        }
        text.pop();
        text.truncate(text.trim_end_matches('0').trim_end_matches('.').len());
        text.push('Z');
        Ok(Timestamp { text: text.into(), instant })
    }
}

/// So many decimal digits of a number, zeros first.
fn push_digits(text: &mut String, number: i64, width: u32) {
    for place in (0..width).rev() {
        let digit = number / 10_i64.pow(place) % 10;
        text.push(char::from(b'0' + u8::try_from(digit).unwrap_or(0)));
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Timestamp {
    fn schema_name() -> alloc::borrow::Cow<'static, str> {
        "Timestamp".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "format": "date-time" })
    }
}

fn read(text: &[u8]) -> Option<Instant> {
    if text.len() > LENGTH_MAX {
        return None;
    }
    let year = digits(text, 0, 4)?;
    let month = after(text, 4, b"-").and_then(|at| digits(text, at, 2))?;
    let day = after(text, 7, b"-").and_then(|at| digits(text, at, 2))?;
    let hour = after(text, 10, b"Tt").and_then(|at| digits(text, at, 2))?;
    let minute = after(text, 13, b":").and_then(|at| digits(text, at, 2))?;
    let second = after(text, 16, b":").and_then(|at| digits(text, at, 2))?;
    let (nanos, zone_at) = fraction(text, 19)?;
    let offset = offset_seconds(text.get(zone_at..)?)?;
    // Second 60 names an instant that no clock here can hold, so it is refused rather than moved.
    let in_range = (1..=12).contains(&month) && hour <= 23 && minute <= 59 && second <= 59;
    if !in_range || day < 1 || day > days_in_month(year, month) {
        return None;
    }
    let seconds = days_from_civil(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second - offset;
    Some(Instant { seconds, nanos })
}

fn digits(text: &[u8], at: usize, count: usize) -> Option<i64> {
    text.get(at..at + count)?
        .iter()
        .try_fold(0, |value, byte| byte.is_ascii_digit().then(|| value * 10 + i64::from(byte - b'0')))
}

fn after(text: &[u8], at: usize, one_of: &[u8]) -> Option<usize> {
    text.get(at).filter(|byte| one_of.contains(byte)).map(|_| at + 1)
}

fn fraction(text: &[u8], at: usize) -> Option<(u32, usize)> {
    let Some(start) = after(text, at, b".") else { return Some((0, at)) };
    let length = text.get(start..)?.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if length == 0 {
        return None;
    }
    let mut nanos = 0;
    for place in 0..9 {
        let digit = if place < length { text.get(start + place).map_or(0, |byte| byte - b'0') } else { 0 };
        nanos = nanos * 10 + u32::from(digit);
    }
    Some((nanos, start + length))
}

fn offset_seconds(zone: &[u8]) -> Option<i64> {
    match zone {
        [b'Z' | b'z'] => Some(0),
        [sign @ (b'+' | b'-'), _, _, b':', _, _] => {
            let (hours, minutes) = (digits(zone, 1, 2)?, digits(zone, 4, 2)?);
            if hours > 23 || minutes > 59 {
                return None;
            }
            let seconds = hours * 3600 + minutes * 60;
            Some(if *sign == b'-' { -seconds } else { seconds })
        }
        _ => None,
    }
}

fn days_in_month(year: i64, month: i64) -> i64 {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 => 28 + i64::from(leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days since 1970-01-01 in the proleptic Gregorian calendar; the year is counted from March.
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
#[path = "time_tests.rs"]
mod tests;
