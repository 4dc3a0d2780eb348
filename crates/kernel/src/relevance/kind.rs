//! What kind of answer a question wants, and the questions that stand in one.
//! Owns: the words that say so, and what in a text looks like such an answer. Must not: answer.

use crate::words::{place, spaced};
use alloc::string::String;
use alloc::vec::Vec;

/// What kind of answer a question wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A time.
    When,
    /// How long something lasts.
    HowLong,
    /// A number, or an amount.
    HowMuch,
    /// A person or a body.
    Who,
    /// A reason.
    Why,
    /// Anything.
    Any,
}

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];
const WEEKDAYS: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
const UNITS: [&str; 16] = [
    "second",
    "seconds",
    "minute",
    "minutes",
    "hour",
    "hours",
    "day",
    "days",
    "week",
    "weeks",
    "month",
    "months",
    "year",
    "years",
    "quarter",
    "milliseconds",
];
const NUMBERS: [&str; 26] = [
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "fifteen", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety", "hundred",
    "thousand", "million", "half", "twice",
];
const REASONS: [&str; 10] =
    ["because", "since", "due", "cause", "caused", "reason", "therefore", "so", "led", "result"];
const ROLES: [&str; 22] = [
    "manager",
    "officer",
    "director",
    "team",
    "board",
    "committee",
    "lead",
    "head",
    "engineer",
    "tenant",
    "landlord",
    "supplier",
    "customer",
    "employee",
    "owner",
    "chair",
    "auditor",
    "council",
    "department",
    "party",
    "contractor",
    "president",
];

/// What people say for each kind; of phrases that begin alike the one above counts.
const ASKING: &[(Kind, &[&str])] = &[
    (
        Kind::HowLong,
        &[
            "how long",
            "how many days",
            "how many months",
            "how many years",
            "how many weeks",
            "how many hours",
            "how quickly",
            "how soon",
            "how fast",
            "how early",
            "how far ahead",
        ],
    ),
    (
        Kind::HowMuch,
        &[
            "how much",
            "how many",
            "how large",
            "how big",
            "how high",
            "how far",
            "how old",
            "how steep",
            "how heavy",
            "how hot",
            "how often",
            "what percentage",
            "what is the maximum",
            "what is the minimum",
            "what price",
            "what amount",
            "cost",
        ],
    ),
    (
        Kind::When,
        &[
            "when",
            "what date",
            "which date",
            "what day",
            "which day",
            "by when",
            "what time",
            "which month",
            "deadline",
        ],
    ),
    (Kind::Who, &["who", "whom", "whose", "which person"]),
    (Kind::Why, &["why", "what caused", "for what reason", "what was the cause", "root cause"]),
];

impl Kind {
    /// What a question wants.
    #[must_use]
    pub fn of(question: &str) -> Self {
        let words = spaced(question);
        // What stands first decides: "who was there when" asks for a person.
        let first = ASKING.iter().flat_map(|(kind, phrases)| {
            phrases.iter().filter_map(|phrase| place(&words, phrase)).map(move |at| (at, *kind))
        });
        first.min_by_key(|(at, _)| *at).map_or(Kind::Any, |(_, kind)| kind)
    }

    /// Whether a word of a question only says what kind of answer it wants.
    pub(super) fn is_about(self, word: &str) -> bool {
        let words: &[&str] = match self {
            Kind::When => &["date", "day", "time"],
            Kind::HowLong => &["quickly", "fast", "days", "months", "years", "weeks", "hours"],
            Kind::HowMuch => &["large", "big", "high", "percentage", "number", "amount"],
            Kind::Who => &["person", "people", "name"],
            Kind::Why => &["reason"],
            Kind::Any => &[],
        };
        words.contains(&word)
    }

    /// Whether a text looks as if it could hold such an answer.
    #[must_use]
    pub fn is_in(self, text: &str) -> bool {
        let words = spaced(text);
        let any = |all: &[&str]| words.split(' ').any(|word| all.contains(&word));
        let has_digit = text.bytes().any(|byte| byte.is_ascii_digit());
        match self {
            Kind::When => {
                (has_digit && (any(&MONTHS) || has_year(&words) || any(&UNITS) || has_clock(text)))
                    || any(&WEEKDAYS)
                    || (any(&NUMBERS) && any(&UNITS))
            }
            Kind::HowLong => any(&UNITS) && (has_digit || any(&NUMBERS)),
            Kind::HowMuch => has_digit || any(&NUMBERS),
            Kind::Who => any(&ROLES) || has_name(text),
            Kind::Why => any(&REASONS),
            Kind::Any => true,
        }
    }
}

fn has_year(words: &str) -> bool {
    words.split(' ').any(|word| {
        word.len() == 4
            && (word.starts_with("19") || word.starts_with("20"))
            && word.bytes().all(|byte| byte.is_ascii_digit())
    })
}

/// Digits, a colon, digits.
fn has_clock(text: &str) -> bool {
    text.as_bytes()
        .windows(3)
        .any(|three| matches!(three, [a, b':', b] if a.is_ascii_digit() && b.is_ascii_digit()))
}

/// A capital that is not at the beginning.
fn has_name(text: &str) -> bool {
    text.split_whitespace().skip(1).any(|word| {
        let mut letters = word.chars();
        letters.next().is_some_and(char::is_uppercase) && letters.next().is_some_and(char::is_lowercase)
    })
}

/// Words that begin a question of their own behind "and".
const BEGINNINGS: [&str; 14] = [
    "what", "when", "who", "whom", "where", "why", "how", "which", "by when", "for how", "at what",
    "in what", "does", "is",
];

/// The questions that stand in a text. A text that asks nothing is one.
pub(super) fn parts(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    for sentence in text.split_inclusive(['?', ';', '\n']) {
        let mut rest = sentence;
        while let Some(at) = next_and(rest) {
            let (first, more) = rest.split_at(at);
            parts.push(first);
            rest = more.get(" and ".len()..).unwrap_or_default();
        }
        parts.push(rest);
    }
    parts.retain(|part| part.chars().any(char::is_alphanumeric));
    parts
}

/// Where a question of its own begins behind an "and".
fn next_and(text: &str) -> Option<usize> {
    let lower: String = text.chars().map(|letter| letter.to_ascii_lowercase()).collect();
    lower.match_indices(" and ").map(|(at, _)| at).find(|at| {
        let rest = lower.get(at + " and ".len()..).unwrap_or_default();
        BEGINNINGS
            .iter()
            .any(|word| rest.strip_prefix(word).is_some_and(|rest| rest.starts_with([' ', '\'', '?'])))
    })
}
