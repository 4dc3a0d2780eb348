//! What is a time, and when it is.

use super::*;
use proptest::prelude::*;

fn instant(text: &str) -> Option<(i64, u32)> {
    Timestamp::try_from(text).ok().map(|time| (time.instant().seconds, time.instant().nanos))
}

#[test]
fn known_instants() {
    let check = |text, expected| assert_eq!(instant(text), expected, "{text}");
    check("1970-01-01T00:00:00Z", Some((0, 0)));
    check("2025-12-10T10:00:00Z", Some((1_765_360_800, 0)));
    check("2025-12-10T10:00:00.123456+05:30", Some((1_765_341_000, 123_456_000)));
    check("2000-02-29t23:59:59.999999999999z", Some((951_868_799, 999_999_999)));
    check("0000-01-01T00:00:00Z", Some((-62_167_219_200, 0)));
    check("1969-12-31T23:59:59-00:00", Some((-1, 0)));
}

#[test]
fn refused() {
    for text in [
        "",
        "2025-12-10",
        "2025-12-10T10:00:00",
        "2025-12-10 10:00:00Z",
        "2025-12-10T10:00:60Z",
        "2025-13-10T10:00:00Z",
        "2025-02-29T10:00:00Z",
        "2025-12-10T24:00:00Z",
        "2025-12-10T10:00:00.Z",
        "2025-12-10T10:00:00+5:30",
        "2025-12-10T10:00:00+24:00",
        "2025-12-10T10:00:00Z ",
        "2025-12-10T10:00Z",
        "+2025-12-10T10:00:00Z",
        "2025-12-1٠T10:00:00Z",
        "2025-12-10T10:00:00,5Z",
    ] {
        assert_eq!(instant(text), None, "{text:?}");
    }
    assert_eq!(instant(&std::format!("2025-12-10T10:00:00.{}Z", "1".repeat(99))), None);
}

#[test]
fn instants_have_one_text() {
    for (seconds, nanos, text) in [
        (-62_167_219_200, 0, "0000-01-01T00:00:00Z"),
        (253_402_300_799, 999_999_999, "9999-12-31T23:59:59.999999999Z"),
        (0, 500_000_000, "1970-01-01T00:00:00.5Z"),
        (951_782_400, 10, "2000-02-29T00:00:00.00000001Z"),
        (-1, 120_000_000, "1969-12-31T23:59:59.12Z"),
    ] {
        assert_eq!(Timestamp::try_from(Instant { seconds, nanos }).unwrap().as_str(), text);
    }
}

proptest! {
    #[test]
    fn every_instant_survives_its_text(seconds in -62_167_219_200i64..253_402_300_800, nanos in 0u32..1_000_000_000) {
        let instant = Instant { seconds, nanos };
        let time = Timestamp::try_from(instant).unwrap();
        prop_assert_eq!((time.instant(), Instant::read(time.as_str())), (instant, Some(instant)));
    }

    #[test]
    fn no_text_panics(text in "\\PC*") {
        if let Ok(time) = Timestamp::try_from(text.clone()) {
            prop_assert_eq!(time.as_str(), text);
        }
    }
}
