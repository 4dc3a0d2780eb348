//! Whether a sentence says no more than the words that it cites.
//! Owns: what must agree: most of the words, every number and name, and whether it is denied. Must not: know what is true.
//!
//! This is no proof. A sentence that turns its source round in the same words comes through; one that brings in a number, a
//! date or a name of its own does not.

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
    is_shared && particulars(sentence).is_subset(&held) && is_denied(sentence) == is_denied(nearest)
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

fn is_denied(sentence: &str) -> bool {
    let words = sentence.split(|letter: char| !letter.is_alphanumeric() && letter != '\'' && letter != '’');
    let is_one = |word: &str| {
        let word = word.to_lowercase();
        DENIALS.contains(&word.as_str()) || word.ends_with("n't") || word.ends_with("n’t")
    };
    words.filter(|word| is_one(word)).count() % 2 == 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_a_source_says() {
        let lease = "The lease of the harbour ends on 31 May 2027. The rent is not due in winter.";
        for (sentence, expected) in [
            (lease, true),
            ("The lease of the harbour ends on 31 May 2027.", true),
            ("The harbour's lease ends on 31 May 2027", true),
            ("The rent is not due in winter.", true),
            ("The lease ends in June.", false),
            ("The lease of the harbour ends on 31 May 2028.", false),
            ("The lease of the harbour does not end on 31 May 2027.", false),
            ("The lease of the harbour doesn't end on 31 May 2027.", false),
            ("The rent is due in winter.", false),
            ("The lease of Bergen ends on 31 May 2027.", false),
            ("Nobody pays anything for berths.", false),
            ("2028 is when the lease of the harbour ends.", false),
            ("", false),
        ] {
            assert_eq!(supports(lease, sentence), expected, "{sentence}");
        }
        let notice = "The tenant gives six months' written notice, and pays twenty euros.";
        assert!(supports(notice, "The tenant gives six months' written notice."));
        assert!(supports(notice, "The tenant gives 6 months' written notice."));
        assert!(!supports(notice, "The tenant gives three months' written notice."));
        assert!(!supports(notice, "The tenant gives six months' written notice, and pays thirty euros."));
        let german = "Die Kündigungsfrist beträgt drei Monate.";
        assert!(!supports(german, "Die Kündigungsfrist beträgt sechs Monate."));
        assert!(supports(german, "Die Kündigungsfrist beträgt drei Monate"));
        assert!(!supports(german, "Die Kündigungsfrist beträgt nicht drei Monate."));
    }

    proptest! {
        #[test]
        fn a_sentence_of_the_source_is_supported(sentence in "[A-Z][a-z]{2,8}( [a-z0-9]{2,8}){1,6}\\.") {
            prop_assert!(supports(&sentence, &sentence));
        }
    }
}
