//! Small texts with one checked door each: times, ids, digests, keys, words; and scores.
//! Owns: what each door lets through, said a second time. Must not: read a document.

use countersign_record::canonical::{Hasher, Score, Sink};
use countersign_record::code::Code;
use countersign_record::digest::Digest;
use countersign_record::envelope::Source;
use countersign_record::id::{
    EnvelopeId, FoldId, HoldId, IdemKey, MatterId, NotAnId, PrincipalId, RequestId, RowKind, SessionId,
    StreamId,
};
use countersign_record::json;
use countersign_record::row::{DataClass, Taint};
use countersign_record::sign::{PublicKey, Signature};
use countersign_record::state::{GoalStatus, InterruptKind, TerminalReason};
use countersign_record::time::{Instant, Timestamp};
use countersign_record::turn::Speaker;
use std::fmt::{Debug, Display};
use std::str::FromStr;

/// The first and the last second with a year of four digits.
const SECONDS: std::ops::RangeInclusive<i64> = -62_167_219_200..=253_402_300_799;

/// A text survives as it is and means the instant that slow arithmetic finds; an instant survives its text.
pub(crate) fn timestamp(input: &[u8]) {
    if let Some((seconds, rest)) = input.split_first_chunk()
        && let Some((nanos, _)) = rest.split_first_chunk()
    {
        instant_survives(Instant {
            seconds: i64::from_le_bytes(*seconds),
            nanos: u32::from_le_bytes(*nanos),
        });
        let seconds =
            i64::from_le_bytes(*seconds).rem_euclid(*SECONDS.end() - *SECONDS.start() + 1) + *SECONDS.start();
        instant_survives(Instant { seconds, nanos: u32::from_le_bytes(*nanos) % 1_000_000_000 });
    }
    let Ok(text) = std::str::from_utf8(input) else { return };
    let Ok(time) = Timestamp::try_from(text) else { return };
    assert!(text.len() <= 64 && text.bytes().all(|byte| b"0123456789-:.+TtZz".contains(&byte)), "{text:?}");
    assert_eq!((time.as_str(), time.to_string().as_str()), (text, text));
    assert_eq!(Timestamp::try_from(text.to_owned()).as_ref(), Ok(&time));
    assert_eq!(json::to_text(&time).as_deref(), Ok(format!("{text:?}").as_str()));
    assert_eq!(time.instant(), slow_instant(text), "{text}");
    instant_survives(time.instant());
}

fn instant_survives(instant: Instant) {
    let is_sayable = SECONDS.contains(&instant.seconds) && instant.nanos < 1_000_000_000;
    match Timestamp::try_from(instant) {
        Ok(time) => {
            assert_eq!(time.instant(), instant, "{time} is another instant");
            assert!(is_sayable, "{time} has no year of four digits");
            assert!(time.as_str().ends_with('Z'));
        }
        Err(_) => assert!(!is_sayable, "{instant:?} has no text"),
    }
}

/// The instant of a text whose form is known to be right: whole years from year 0, one at a time.
fn slow_instant(text: &str) -> Instant {
    let number = |range: std::ops::Range<usize>| text[range].parse::<i64>().expect("these are digits");
    let is_leap = |year: i64| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let (year, month) = (number(0..4), number(5..7));
    let years: i64 = (0..year).map(|year| 365 + i64::from(is_leap(year))).sum();
    let february = 28 + i64::from(is_leap(year));
    let lengths = [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let months: i64 = lengths.iter().take(usize::try_from(month).expect("it is small") - 1).sum();
    let day = number(8..10);
    assert!(
        day >= 1 && lengths.get(usize::try_from(month - 1).expect("from 1")).is_some_and(|last| day <= *last),
        "{text}"
    );
    let (time, fraction_and_zone) = (&text[11..19], &text[19..]);
    let zone_at = fraction_and_zone.find(['Z', 'z', '+', '-']).expect("there is a zone");
    let (fraction, zone) = fraction_and_zone.split_at(zone_at);
    let clock = |text: &str| -> Vec<i64> {
        text.split(':').map(|part| part.parse().expect("these are digits")).collect()
    };
    let of_day = clock(time).iter().fold(0, |sum, part| sum * 60 + part);
    assert!((0..86_400).contains(&of_day), "{text}");
    let offset = match zone.split_at(1) {
        ("+", offset) => clock(offset).iter().fold(0, |sum, part| sum * 60 + part) * 60,
        ("-", offset) => clock(offset).iter().fold(0, |sum, part| sum * 60 + part) * -60,
        _ => 0,
    };
    let digits = format!("{:0<9.9}", fraction.trim_start_matches('.'));
    let seconds = *SECONDS.start() + (years + months + day - 1) * 86_400 + of_day - offset;
    Instant { seconds, nanos: digits.parse().expect("these are digits") }
}

/// A text comes through the door exactly if it looks like its id, and comes out as it went in.
pub(crate) fn ids(input: &[u8]) {
    let text = &*String::from_utf8_lossy(input);
    let lower = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let any = |c: char| c.is_ascii_alphanumeric();
    let shaped = |most: usize, first: &dyn Fn(char) -> bool, others: &str| {
        text.len() <= most && text.starts_with(first) && text.chars().all(|c| first(c) || others.contains(c))
    };
    let tagged = |tag: &str| {
        let digits = text.strip_prefix(tag).unwrap_or_default();
        digits.len() == 16 && digits.chars().all(|c| "0123456789abcdef".contains(c))
    };
    id::<MatterId>(text, MatterId::as_str, shaped(64, &lower, "._-"));
    id::<StreamId>(text, StreamId::as_str, shaped(128, &any, "._:/-"));
    id::<RowKind>(text, RowKind::as_str, shaped(64, &lower, "_."));
    id::<PrincipalId>(text, PrincipalId::as_str, shaped(64, &any, "._@-"));
    id::<IdemKey>(
        text,
        IdemKey::as_str,
        !text.is_empty() && text.len() <= 128 && text.chars().all(|c| ('!'..='~').contains(&c)),
    );
    id::<FoldId>(text, FoldId::as_str, shaped(64, &lower, "_"));
    id::<HoldId>(text, HoldId::as_str, shaped(64, &any, "._-"));
    id::<EnvelopeId>(text, EnvelopeId::as_str, tagged("env_"));
    id::<RequestId>(text, RequestId::as_str, tagged("req_"));
    id::<SessionId>(text, SessionId::as_str, tagged("sess_"));
}

fn id<T>(text: &str, as_str: fn(&T) -> &str, is_one: bool)
where
    T: for<'a> TryFrom<&'a str, Error = NotAnId>
        + TryFrom<String, Error = NotAnId>
        + FromStr<Err = NotAnId>
        + Display
        + Debug
        + PartialEq
        + serde::Serialize,
{
    let read: Result<T, NotAnId> = T::try_from(text);
    assert_eq!(T::try_from(text.to_owned()), read);
    assert_eq!(T::from_str(text), read);
    assert_eq!(read.is_ok(), is_one, "{read:?}");
    match read {
        Ok(id) => {
            assert_eq!((as_str(&id), id.to_string().as_str()), (text, text));
            let written = json::parse(json::to_text(&id).expect("an id is a string").as_bytes());
            assert_eq!(written.ok(), Some(text.into()));
        }
        Err(refusal) => {
            assert!(refusal.text.chars().count() <= 80 && text.starts_with(&refusal.text), "{refusal}")
        }
    }
}

/// Exactly the right number of lowercase digits comes through, and comes out as it went in. No signature panics.
pub(crate) fn digest_key_signature(input: &[u8]) {
    let text = &*String::from_utf8_lossy(input);
    let is_hex = |length: usize| text.len() == length && text.chars().all(|c| "0123456789abcdef".contains(c));
    let digest = Digest::try_from(text);
    assert_eq!(digest.is_ok(), is_hex(64));
    if let Ok(digest) = digest {
        assert_eq!((digest.to_string().as_str(), String::from(digest).as_str()), (text, text));
        assert_eq!(Digest::from_bytes(*digest.as_bytes()), digest);
    }
    let signature = Signature::try_from(text);
    assert_eq!(signature.is_ok(), is_hex(128));
    if let Ok(signature) = signature {
        assert_eq!(signature.to_string(), text);
        assert_eq!(Signature::from_bytes(*signature.as_bytes()), signature);
    }
    if let Ok(key) = PublicKey::try_from(text) {
        assert!(is_hex(64));
        assert_eq!(key.to_string(), text);
        assert_eq!(PublicKey::try_from(*key.as_bytes()), Ok(key));
    }
    if let Some((key, rest)) = input.split_first_chunk::<32>()
        && let Some((signature, message)) = rest.split_first_chunk::<64>()
        && let Ok(key) = PublicKey::try_from(*key)
    {
        let forged = key.verify(message, &Signature::from_bytes(*signature)).is_err();
        assert!(forged, "somebody found a signature");
    }
    let mut hasher = Hasher::new();
    input
        .chunks(usize::from(input.first().copied().unwrap_or(0)) * 5 + 1)
        .for_each(|piece| hasher.put(piece));
    assert_eq!(hasher.finish(), Digest::of(input), "a digest depends on how the bytes came");
}

/// A word is read as a value whose own word is read the same, whatever dialect it came from.
pub(crate) fn words(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let strict = |read: Option<String>| {
        if let Some(word) = read {
            assert_eq!(word, text);
        }
    };
    let written = |read: Option<Result<String, _>>| {
        read.map(|word| word.expect("a word is a string").trim_matches('"').to_owned())
    };
    strict(written(Source::try_from(text).ok().map(|word| json::to_text(&word))));
    strict(written(Speaker::try_from(text).ok().map(|word| json::to_text(&word))));
    strict(DataClass::try_from(text).ok().map(|word| word.as_str().to_owned()));
    strict(Taint::try_from(text).ok().map(|word| word.as_str().to_owned()));
    strict(Code::try_from(text).ok().map(|word| word.to_string()));
    if let Ok(reason) = TerminalReason::try_from(text) {
        assert_eq!(TerminalReason::try_from(reason.as_str()), Ok(reason));
    }
    if let Ok(status) = GoalStatus::try_from(text) {
        assert_eq!(GoalStatus::try_from(status.as_str()), Ok(status));
    }
    if let Ok(kind) = InterruptKind::try_from(text) {
        assert_eq!(InterruptKind::try_from(kind.as_str()), Ok(kind));
    }
}

/// A score is finite, near what it was, a fixed point and never negative zero.
pub(crate) fn score(input: &[u8]) {
    let text = std::str::from_utf8(input).ok().and_then(|text| text.parse().ok());
    let bits = input.first_chunk().map(|bytes| f64::from_le_bytes(*bytes));
    for value in [text, bits].into_iter().flatten() {
        let Ok(score) = Score::try_from(value) else {
            assert!(!value.is_finite(), "{value} is refused");
            continue;
        };
        let rounded = score.value();
        assert!(
            rounded.is_finite() && rounded.to_bits() != (-0.0_f64).to_bits(),
            "{value} becomes {rounded}"
        );
        // Half of the last decimal, and what a double of this size can't say.
        let nearness = 5e-7 + value.abs() * f64::EPSILON;
        assert!((rounded - value).abs() <= nearness, "{value} becomes {rounded}");
        assert_eq!(Score::try_from(rounded), Ok(score), "{value} is rounded twice");
        let printed = json::to_text(&score).expect("a score can be written");
        assert_eq!(printed.parse::<f64>().map(f64::to_bits), Ok(rounded.to_bits()), "{printed}");
    }
}
