//! What kind of answer a question wants, and the questions that stand in one.
//! Owns: what in a text looks like such an answer. Must not: answer.

mod tables;

use super::tongue::Tongue;
use crate::words::{place, spaced};
use alloc::string::String;
use alloc::vec::Vec;
use tables::{
    ASKING, BEGINNINGS, MOMENTS, MONEY, MONTHS, NUMBERS, OPENING, PAYING, PRICES, REASONS, REFERENCES, ROLES,
    TIMES, TITLES, UNITS, WEEKDAYS,
};

/// What kind of answer a question wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A time.
    When,
    /// How long something lasts.
    HowLong,
    /// How often something happens.
    HowOften,
    /// A number, or an amount.
    HowMuch,
    /// An amount of money.
    Price,
    /// A person or a body.
    Who,
    /// A reason.
    Why,
    /// Anything.
    Any,
}

impl Kind {
    /// What a question wants.
    #[must_use]
    pub fn of(question: &str) -> Self {
        let words = spaced(question);
        // What stands first decides: "who was there when" asks for a person.
        let first = ASKING.iter().flat_map(|(kind, phrases)| {
            phrases.iter().filter_map(|phrase| place(&words, phrase)).map(move |at| (at, *kind))
        });
        let first = first.min_by_key(|(at, _)| *at);
        match first.map_or(Kind::Any, |(_, kind)| kind) {
            Kind::HowMuch if words.split(' ').any(|word| PAYING.contains(&word)) => Kind::Price,
            Kind::When if first.is_some_and(|(at, _)| is_circumstance(&words, at)) => Kind::Any,
            Kind::Any if is_priced(&words) => Kind::Price,
            kind => kind,
        }
    }

    /// Whether a word of a question only says what kind of answer it wants; in the form of `relevance::words`.
    pub(super) fn is_about(self, word: &str) -> bool {
        let words: &[&str] = match self {
            Kind::When => &["date", "day", "time", "year", "datum", "uhr", "jahr"],
            Kind::HowLong => &[
                "quickly", "fast", "days", "months", "years", "weeks", "hours", "lange", "lang", "schnell",
                "tage", "wochen", "monate", "jahre", "stunden",
            ],
            Kind::HowOften => &["often", "frequently", "times", "oft", "haufig"],
            Kind::HowMuch | Kind::Price => &[
                "large",
                "big",
                "high",
                "percentage",
                "number",
                "amount",
                "hoch",
                "gross",
                "viel",
                "viele",
                "weit",
                "teuer",
            ],
            Kind::Who => &["person", "people", "name"],
            Kind::Why => &["reason", "grund"],
            Kind::Any => &[],
        };
        words.contains(&word)
    }

    /// Whether an answer shows by its form: a date, a number, a name.
    #[must_use]
    pub fn is_told_by_form(self) -> bool {
        match self {
            Kind::HowLong | Kind::HowOften | Kind::HowMuch | Kind::Price | Kind::Who | Kind::When => true,
            Kind::Why | Kind::Any => false,
        }
    }

    /// Whether a text looks as if it could hold such an answer to a question. What the question itself says is none.
    #[must_use]
    pub fn is_in(self, text: &str, question: &str) -> bool {
        let (words, asked) = (spaced(text), spaced(question));
        let asked: Vec<&str> = asked.split(' ').collect();
        let any = |all: &[&str]| words.split(' ').any(|word| all.contains(&word));
        let has_digit = text.bytes().any(|byte| byte.is_ascii_digit());
        match self {
            Kind::When => {
                has_date(&words)
                    || has_clock(text)
                    || any(&WEEKDAYS)
                    || ((has_digit || any(NUMBERS)) && any(UNITS))
                    || any(MOMENTS)
            }
            Kind::HowLong => has_span(&words) || any(MOMENTS),
            Kind::HowOften => any(TIMES),
            Kind::HowMuch => has_quantity(text, &asked),
            Kind::Price => {
                text.contains(['€', '£', '$', '%']) || (any(MONEY) && (has_digit || !any(NUMBERS)))
            }
            Kind::Who if is_named_by_role(&asked) => has_name(text, &asked),
            Kind::Who => has_role(&words, &asked) || has_name(text, &asked) || is_done_by(&words),
            Kind::Why => any(REASONS),
            Kind::Any => true,
        }
    }
}

/// Whether a text is nothing but a date or numbers, which say nothing alone.
pub(super) fn is_bare(text: &str) -> bool {
    let words = spaced(text);
    let is_empty = |word: &str| {
        word.bytes().all(|byte| byte.is_ascii_digit()) || MONTHS.contains(&word) || WEEKDAYS.contains(&word)
    };
    !words.is_empty() && words.split(' ').all(is_empty)
}

/// Whether a "when" only says under which circumstances: "Which gloves are worn when it is handled?"
fn is_circumstance(words: &str, at: usize) -> bool {
    let begins = words.split(' ').next().unwrap_or_default();
    at > 0 && words.get(at..).is_some_and(|rest| rest.starts_with("when")) && OPENING.contains(&begins)
}

/// Whether a question wants money: "What does it cost", "What fee", "What is the rent of it".
fn is_priced(words: &str) -> bool {
    let words: Vec<&str> = words.split(' ').collect();
    let word = |at: usize| words.get(at).copied().unwrap_or_default();
    let costs = words.iter().position(|word| matches!(*word, "cost" | "costs"));
    let is_verb = costs.is_some_and(|at| {
        words
            .iter()
            .take(at)
            .any(|word| matches!(*word, "does" | "did" | "do" | "would" | "will" | "can" | "could"))
    });
    let is_asked_for = PRICES.contains(&word(1)) && matches!(word(0), "what" | "which");
    let is_named = word(0) == "what"
        && matches!(word(1), "is" | "was" | "are" | "were")
        && word(2) == "the"
        && words.iter().skip(3).take(2).any(|word| PRICES.contains(word));
    is_verb || (is_asked_for && !matches!(word(2), "centre" | "center")) || is_named
}

/// A number, and soon behind it what is counted is time: "thirty working days", not "40 metres per hour".
fn has_span(words: &str) -> bool {
    let words: Vec<&str> = words.split(' ').collect();
    let is_number =
        |word: &str| NUMBERS.contains(&word) || word.starts_with(|letter: char| letter.is_ascii_digit());
    words.iter().enumerate().filter(|(_, word)| is_number(word)).any(|(at, _)| {
        let behind = words.iter().skip(at + 1).take(3);
        let counted = behind.take_while(|word| !matches!(**word, "per" | "a" | "each" | "pro" | "je"));
        counted.into_iter().any(|word| UNITS.contains(word))
    })
}

/// A month beside a number, or a year.
fn has_date(words: &str) -> bool {
    let words: Vec<&str> = words.split(' ').collect();
    let is_number = |word: Option<&&str>| {
        word.is_some_and(|word| word.starts_with(|letter: char| letter.is_ascii_digit()))
    };
    let is_dated =
        |at: usize| is_number(at.checked_sub(1).and_then(|at| words.get(at))) || is_number(words.get(at + 1));
    words.iter().enumerate().any(|(at, word)| {
        is_year(word) || (MONTHS.contains(word) && (is_dated(at) || !matches!(*word, "may" | "march")))
    })
}

fn is_year(word: &str) -> bool {
    word.len() == 4
        && (word.starts_with("19") || word.starts_with("20"))
        && word.bytes().all(|byte| byte.is_ascii_digit())
}

/// Digits, a colon, digits.
fn has_clock(text: &str) -> bool {
    text.as_bytes()
        .windows(3)
        .any(|three| matches!(three, [a, b':', b] if a.is_ascii_digit() && b.is_ascii_digit()))
}

/// A number that counts or measures something: not that of an item, a clause, a day or a year, and not the question's own.
fn has_quantity(text: &str, asked: &[&str]) -> bool {
    let tokens: Vec<&str> = text.split_whitespace().collect();
    let words: Vec<String> = tokens.iter().map(|token| spaced(token)).collect();
    let word = |at: Option<usize>| at.and_then(|at| words.get(at)).map_or("", String::as_str);
    tokens.iter().enumerate().any(|(at, token)| {
        let own = word(Some(at));
        if own.split(' ').any(|part| NUMBERS.contains(&part) && part != "one" && !asked.contains(&part)) {
            return true;
        }
        let bare = token.trim_matches(|letter: char| letter.is_ascii_punctuation() || !letter.is_ascii());
        let is_number = bare.starts_with(|letter: char| letter.is_ascii_digit());
        let (before, behind) = (word(at.checked_sub(1)), word(Some(at + 1)));
        let begins = before.is_empty() && (token.ends_with(['.', ')']) || (at == 0 && bare.contains('.')));
        let is_named = REFERENCES.contains(&before)
            || token.contains('§')
            || tokens.get(at.wrapping_sub(1)) == Some(&"§");
        is_number
            && !begins
            && !is_named
            && !token.contains(':')
            && !is_year(bare)
            && !asked.contains(&own)
            && !MONTHS.contains(&behind)
            && !(MONTHS.contains(&before) && before != "may")
    })
}

fn has_role(words: &str, asked: &[&str]) -> bool {
    words.split(' ').filter(|word| !asked.contains(word)).any(|word| {
        ROLES.contains(&word)
            || word.strip_suffix('s').is_some_and(|one| ROLES.contains(&one) && !asked.contains(&one))
    })
}

/// Whether the question says the role and wants the name: "Who is the chief engineer?"
fn is_named_by_role(asked: &[&str]) -> bool {
    matches!(asked, ["who" | "wer", "is" | "was" | "ist" | "war", rest @ ..] if rest.iter().any(|word| ROLES.contains(word)))
}

/// "by a plumber", "durch eine Fachkraft".
fn is_done_by(words: &str) -> bool {
    ["by a", "by an", "by the", "durch die", "durch den", "durch eine", "durch einen", "durch das"]
        .iter()
        .any(|by| place(words, by).is_some())
}

/// A capital that is not at a beginning, or two of them behind each other. German gives one to every noun: there only two
/// count, or one behind a title.
fn has_name(text: &str, asked: &[&str]) -> bool {
    let is_german = Tongue::of(text) == Tongue::German;
    let (mut begins, mut last_is_name, mut last_is_title) = (true, false, false);
    for token in text.split_whitespace() {
        let bare = token.trim_matches(|letter: char| !letter.is_alphanumeric());
        let word = spaced(bare);
        let mut letters = bare.chars();
        let is_capital =
            letters.next().is_some_and(char::is_uppercase) && letters.next().is_some_and(char::is_lowercase);
        let is_title = TITLES.contains(&word.as_str());
        let is_plain = MONTHS.contains(&word.as_str())
            || WEEKDAYS.contains(&word.as_str())
            || super::STOP_WORDS.contains(&word.as_str())
            || word.split(' ').any(|part| asked.contains(&part));
        let is_name = is_capital && !is_plain && !is_title;
        if is_name && (last_is_name || last_is_title || (!begins && !is_german)) {
            return true;
        }
        begins = token.ends_with(['.', ':', '|', '!', '?', ';', '"']) && !is_title;
        (last_is_name, last_is_title) = (is_name && !token.ends_with([',', ';', ':', '|']), is_title);
    }
    false
}

/// The questions that stand in a text. A text that asks nothing is one.
pub(super) fn parts(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    for sentence in text.split_inclusive(['?', ';', '\n']) {
        let mut rest = sentence;
        while let Some((at, length)) = next_and(rest) {
            let (first, more) = rest.split_at(at);
            parts.push(first);
            rest = more.get(length..).unwrap_or_default();
        }
        parts.push(rest);
    }
    parts.retain(|part| part.chars().any(char::is_alphanumeric));
    parts
}

/// Where a question of its own begins behind an "and", and how long that is.
fn next_and(text: &str) -> Option<(usize, usize)> {
    let lower: String = text.chars().map(|letter| letter.to_ascii_lowercase()).collect();
    let begins = |at: usize, and: &str| {
        let rest = lower.get(at + and.len()..).unwrap_or_default();
        BEGINNINGS
            .iter()
            .any(|word| rest.strip_prefix(word).is_some_and(|rest| rest.starts_with([' ', '\'', '?'])))
    };
    let found = |and: &'static str| {
        lower.match_indices(and).map(|(at, _)| at).find(|at| begins(*at, and)).map(|at| (at, and.len()))
    };
    [" and ", " und "].into_iter().filter_map(found).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_asked_for() {
        for (question, expected) in [
            ("How much does a ticket cost?", Kind::Price),
            ("How many cars can it carry?", Kind::HowMuch),
            ("How often is it cleaned?", Kind::HowOften),
            ("Bis wann ist die Miete zu zahlen?", Kind::When),
            ("Wer war da, und wann?", Kind::Who),
            ("Wie lange dauert es?", Kind::HowLong),
            ("Weshalb fiel sie aus?", Kind::Why),
            ("Is it so?", Kind::Any),
            ("Which gloves are worn when it is handled?", Kind::Any),
            ("In which year was it built?", Kind::When),
            ("What fee was agreed on?", Kind::Price),
            ("What would a new one cost us?", Kind::Price),
            ("What is the monthly rent?", Kind::Price),
            ("What is included in the rent?", Kind::Any),
            ("Which cost centre belongs to Hamburg?", Kind::Any),
            ("What is the deadline for it?", Kind::When),
            ("Can you tell me who did it?", Kind::Who),
            ("In May 2026, who did it?", Kind::Who),
        ] {
            assert_eq!(Kind::of(question), expected, "{question}");
        }
    }

    #[test]
    fn kinds_are_told_by_form() {
        for (kind, text, question, expected) in [
            (Kind::Who, "The Landlord keeps the roof.", "Who keeps the roof?", true),
            (Kind::Who, "Samir Haddad voted against.", "Who voted?", true),
            (Kind::Who, "| Oil spill | weekly | Chief engineer |", "Who is the chief engineer?", false),
            (Kind::Who, "Die Tombola macht Frau Liebig.", "Wer macht die Tombola?", true),
            (Kind::Who, "Die Laube darf im Garten stehen.", "Wer baut die Laube?", false),
            (Kind::Who, "It is fitted by a plumber.", "Who may fit it?", true),
            (Kind::HowMuch, "Water came in above flat 31 on 24 January 2025.", "How many flats?", false),
            (Kind::HowMuch, "5.1 It holds 84 cars.", "How many cars?", true),
            (Kind::HowMuch, "5.1 It holds cars.", "How many cars?", false),
            (Kind::HowMuch, "The P-117 leaked.", "How many pumps?", false),
            (Kind::When, "It may end.", "When does it end?", false),
            (Kind::When, "It ends on 3 May.", "When does it end?", true),
            (Kind::Price, "It takes 3 days.", "What does it cost?", false),
            (Kind::Price, "Sie kostet 3 Euro.", "Was kostet sie?", true),
            (Kind::HowOften, "It is cleaned every week.", "How often?", true),
            (Kind::HowLong, "It lasts thirty working days.", "How long does it last?", true),
            (Kind::HowLong, "2 Jahre", "Wie lange?", true),
            (Kind::HowLong, "The warranty runs for 24 months.", "How long is it valid?", true),
            (Kind::HowLong, "Rated flow: 40 metres per hour.", "How long does it last?", false),
        ] {
            assert_eq!(kind.is_in(text, question), expected, "{text} {question}");
        }
    }
}
