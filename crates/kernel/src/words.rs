//! Words in a text, whatever their case and spelling.
//! Owns: folding, and where a term stands as a word. Must not: know what the words are for.

use alloc::string::String;
use icu_casemap::CaseMapper;
use icu_normalizer::ComposingNormalizer;

/// The text as it is compared: composed, without case.
#[must_use]
pub fn folded(text: &str) -> String {
    let folded = CaseMapper::new().fold_string(text);
    ComposingNormalizer::new_nfc().normalize(&folded).into_owned()
}

/// The same with a single space for whatever stands between words, and none at the ends.
#[must_use]
pub fn spaced(text: &str) -> String {
    let mut spaced = String::with_capacity(text.len());
    for word in folded(text).split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty()) {
        if !spaced.is_empty() {
            spaced.push(' ');
        }
        spaced.push_str(word);
    }
    spaced
}

/// Where a term stands as a word; both are folded. Nothing stands nowhere.
#[must_use]
pub fn place(text: &str, term: &str) -> Option<usize> {
    if term.is_empty() {
        return None;
    }
    text.match_indices(term).map(|(at, _)| at).find(|at| {
        let before = text.get(..*at).and_then(|text| text.chars().next_back());
        let after = text.get(at + term.len()..).and_then(|text| text.chars().next());
        !is_one_word(before, term.chars().next()) && !is_one_word(term.chars().next_back(), after)
    })
}

/// Whether two neighbours belong to one word. Scripts without capitals (Chinese, Arabic, Hindi) may stand without a
/// space, so there a term is found wherever it stands.
fn is_one_word(left: Option<char>, right: Option<char>) -> bool {
    let is_cased = |letter: char| letter.is_lowercase() || letter.is_uppercase() || letter.is_numeric();
    left.is_some_and(is_cased) && right.is_some_and(is_cased)
}
