//! Whether a sentence says no more than the words that it cites.
//! Owns: what must agree: most of the words, every number and name, how often it is denied. Must not: know what is true.
//!
//! This is no proof: it compares words. What a claim of a work product is held to is stricter ([`crate::claim::bearing`]).

use crate::relevance::stems;
use crate::sentences::sentences;
use crate::sift::NUMBERS;
use alloc::collections::BTreeSet;
use alloc::string::String;

/// The part of a sentence's words that must be its source's too, in thousandths.
const SHARED_MIN: usize = 600;
/// Words that turn a sentence into its opposite.
const DENIALS: [&str; 16] = [
    "cannot", "kein", "keine", "keinem", "keinen", "keiner", "neither", "never", "nicht", "nie", "no",
    "nobody", "none", "nor", "not", "without",
];

/// Whether a source says what a sentence says.
#[must_use]
pub fn supports(source: &str, sentence: &str) -> bool {
    if source.trim() == sentence.trim() {
        return true;
    }
    let (said, held) = (set(sentence), set(source));
    let shared = said.intersection(&held).count();
    let is_shared = !said.is_empty() && shared * 1_000 >= said.len() * SHARED_MIN;
    // A source may be several sentences, and only one of them is denied.
    let nearest = sentences(source).max_by_key(|one| set(one).intersection(&said).count()).unwrap_or(source);
    is_shared && particulars(sentence).is_subset(&held) && denials(sentence) == denials(nearest)
}

fn set(text: &str) -> BTreeSet<String> {
    stems(text).into_iter().collect()
}

/// What a sentence can't have from anywhere but its source: numbers, also in words, and names (capitals that no sentence begins
/// with).
fn particulars(sentence: &str) -> BTreeSet<String> {
    let mut words = sentence.split_whitespace();
    let first = words.next().filter(|word| is_number(word));
    let is_one = |word: &&str| {
        let letters = word.trim_start_matches(|letter: char| !letter.is_alphanumeric());
        letters.starts_with(char::is_uppercase) || is_number(word)
    };
    first.into_iter().chain(words.filter(is_one)).flat_map(stems).collect()
}

/// Whether a word has a digit, or is a number itself: small ones have the stem of their digits.
fn is_number(word: &str) -> bool {
    let has_digit = |text: &str| text.contains(|letter: char| letter.is_ascii_digit());
    has_digit(word) || stems(word).iter().any(|stem| has_digit(stem) || NUMBERS.contains(&stem.as_str()))
}

fn denials(sentence: &str) -> usize {
    let words = sentence.split(|letter: char| !letter.is_alphanumeric() && letter != '\'' && letter != '’');
    let is_one = |word: &str| {
        let word = word.to_lowercase();
        DENIALS.contains(&word.as_str()) || word.ends_with("n't") || word.ends_with("n’t")
    };
    words.filter(|word| is_one(word)).count()
}

#[cfg(test)]
#[path = "support_tests.rs"]
mod tests;
