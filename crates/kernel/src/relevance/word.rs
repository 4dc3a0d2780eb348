//! The words of a text, in one form.
//! Owns: what is a word, and what letters, numbers and signs are the same. Must not: know what a word means.
//!
//! Letters are small and without the marks above them, as the index of words has them (`unicode61 remove_diacritics 2`).

use crate::words::folded;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use icu_normalizer::DecomposingNormalizer;

/// Numbers as words, and as digits.
#[rustfmt::skip] // pairs in rows
const NUMBERS: [(&str, &str); 26] = [
    ("one", "1"), ("two", "2"), ("three", "3"), ("four", "4"), ("five", "5"), ("six", "6"), ("seven", "7"), ("eight", "8"),
    ("nine", "9"), ("ten", "10"), ("eleven", "11"), ("twelve", "12"), ("twenty", "20"), ("thirty", "30"),
    ("zwei", "2"), ("drei", "3"), ("vier", "4"), ("funf", "5"), ("sechs", "6"), ("sieben", "7"), ("acht", "8"),
    ("neun", "9"), ("zehn", "10"), ("zwolf", "12"), ("zwanzig", "20"), ("dreissig", "30"),
];
/// Signs that are words.
const SIGNS: [(char, &str); 5] =
    [('%', "percent"), ('€', "euro"), ('£', "gbp"), ('$', "usd"), ('°', "degrees")];

/// The words of a text in small letters, a small number in digits. A number is one word, with a point before its fraction and
/// without commas.
pub(super) fn words(text: &str) -> Vec<String> {
    as_said(text).into_iter().map(in_digits).collect()
}

/// The same, with numbers as they are said.
pub(super) fn as_said(text: &str) -> Vec<String> {
    let folded = folded(text);
    let mut found = Vec::new();
    let mut word = String::new();
    let mut letters = folded.chars().peekable();
    while let Some(letter) = letters.next() {
        let is_between = matches!(letter, ',' | '.')
            && word.chars().next_back().is_some_and(|last| last.is_ascii_digit())
            && letters.peek().is_some_and(char::is_ascii_digit);
        if is_ideograph(letter) {
            push(&mut found, &mut word);
            found.push(letter.to_string());
        } else if letter.is_alphanumeric() {
            word.push(without_mark(letter));
        } else if is_between && (letter == '.' || !parts_thousands(&word, letters.clone())) {
            word.push('.');
        } else if let Some((_, name)) = SIGNS.iter().find(|(sign, _)| *sign == letter) {
            push(&mut found, &mut word);
            found.push((*name).to_string());
        } else if !is_between && !is_mark(letter) {
            push(&mut found, &mut word);
        }
    }
    push(&mut found, &mut word);
    found
}

/// Whether a comma between digits only parts them: three stand behind it, and a whole number before it. Else a fraction begins.
fn parts_thousands(before: &str, behind: impl Iterator<Item = char>) -> bool {
    let last = before.rsplit(|letter: char| !letter.is_ascii_digit()).next().unwrap_or_default();
    behind.take_while(char::is_ascii_digit).count() == 3 && !last.starts_with('0') && !before.contains('.')
}

/// The plain letter below a mark. Only of Latin letters: elsewhere a mark makes another letter.
fn without_mark(letter: char) -> char {
    if !matches!(letter, '\u{c0}'..='\u{24f}' | '\u{1e00}'..='\u{1eff}') {
        return letter;
    }
    let mut bytes = [0; 4];
    let apart = DecomposingNormalizer::new_nfd().normalize(letter.encode_utf8(&mut bytes));
    apart.chars().next().filter(char::is_ascii_alphabetic).unwrap_or(letter)
}

fn is_mark(letter: char) -> bool {
    matches!(letter, '\u{300}'..='\u{36f}')
}

fn push(found: &mut Vec<String>, word: &mut String) {
    if !word.is_empty() {
        found.push(core::mem::take(word));
    }
}

/// A word, or the digits of what it counts.
pub(super) fn in_digits(word: String) -> String {
    match NUMBERS.iter().find(|(name, _)| *name == word) {
        Some((_, digits)) => (*digits).to_string(),
        None => word,
    }
}

fn is_ideograph(letter: char) -> bool {
    matches!(letter, '\u{3040}'..='\u{30FF}' | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}'
        | '\u{20000}'..='\u{3FFFF}')
}
