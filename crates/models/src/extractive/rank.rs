//! Which sentences say most about a question.
//! Owns: the terms and the score, in whole numbers. Must not: change a sentence.

use std::collections::{BTreeMap, BTreeSet};

/// Sentences that are looked at.
pub(super) const CANDIDATES_MAX: usize = 100_000;
/// Terms of a question that are looked at.
const TERMS_MAX: usize = 200;
/// A sentence must have this part of what the question's terms weigh.
const LEAST_PART: u64 = 4;
/// And this part of what the best one scores.
const BEST_PART: u64 = 2;
/// Fractions of a weight are kept.
const FINE: u64 = 1_024;

/// Words that say nothing of what a question is about.
const STOP_WORDS: [&str; 111] = [
    "a", "about", "all", "am", "an", "and", "any", "are", "as", "at", "be", "been", "but", "by", "can",
    "could", "did", "do", "does", "for", "from", "had", "has", "have", "he", "her", "his", "how", "i", "if",
    "in", "into", "is", "it", "its", "me", "my", "no", "not", "of", "on", "or", "our", "please", "say",
    "says", "she", "should", "so", "tell", "than", "that", "the", "their", "them", "there", "they", "this",
    "to", "us", "was", "we", "were", "what", "when", "where", "which", "who", "whom", "whose", "why", "will",
    "with", "would", "you", "your", "aber", "als", "auf", "aus", "bei", "das", "dem", "den", "der", "des",
    "die", "ein", "eine", "einen", "einer", "es", "für", "hat", "ich", "im", "ist", "mit", "nicht", "sich",
    "sie", "sind", "und", "uns", "von", "was", "wer", "wie", "wir", "wo", "zu",
];

/// A sentence of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Candidate<'a> {
    /// Which source.
    pub(super) source: usize,
    /// The sentence.
    pub(super) text: &'a str,
}

/// The best sentences about a question, the best first; of those that are alike, the earlier first. The same words are
/// given once.
pub(super) fn best<'a>(question: &str, candidates: &[Candidate<'a>], count_max: usize) -> Vec<Candidate<'a>> {
    let asked: BTreeSet<String> = terms(question)
        .into_iter()
        .filter(|term| !STOP_WORDS.contains(&term.as_str()))
        .take(TERMS_MAX)
        .collect();
    if asked.is_empty() {
        return Vec::new();
    }
    let matched: Vec<(BTreeSet<String>, usize)> = candidates
        .iter()
        .map(|candidate| {
            let all = terms(candidate.text);
            let length = all.len();
            (all.into_iter().filter(|term| asked.contains(term)).collect(), length)
        })
        .collect();
    let weights = weights(&asked, &matched);
    let total: u64 = weights.values().sum();
    let mut ranked: Vec<(u64, usize)> = Vec::new();
    for (at, (terms, length)) in matched.iter().enumerate() {
        let weight: u64 = terms.iter().filter_map(|term| weights.get(term.as_str())).sum();
        if weight > 0 && weight.saturating_mul(LEAST_PART) >= total {
            ranked.push((score(weight, *length), at));
        }
    }
    ranked.sort_by(|(one, here), (other, there)| other.cmp(one).then(here.cmp(there)));
    let least = ranked.first().map_or(0, |(best, _)| best / BEST_PART);
    let mut chosen: Vec<Candidate<'a>> = Vec::new();
    for (_, at) in ranked.into_iter().take_while(|(score, _)| *score >= least) {
        let Some(candidate) =
            candidates.get(at).filter(|one| !chosen.iter().any(|known| known.text == one.text))
        else {
            continue;
        };
        chosen.push(*candidate);
        if chosen.len() == count_max {
            break;
        }
    }
    chosen
}

/// A term weighs more the fewer sentences have it.
fn weights<'t>(asked: &'t BTreeSet<String>, matched: &[(BTreeSet<String>, usize)]) -> BTreeMap<&'t str, u64> {
    let mut counts: BTreeMap<&str, u64> = asked.iter().map(|term| (term.as_str(), 0)).collect();
    for term in matched.iter().flat_map(|(terms, _)| terms) {
        if let Some(count) = counts.get_mut(term.as_str()) {
            *count += 1;
        }
    }
    let all = matched.len() as u64;
    counts.into_iter().map(|(term, count)| (term, log2((all + 1) * FINE * 2 / (count + 1)).max(1))).collect()
}

/// The logarithm to the base 2 of `value / FINE`, times `FINE`; between powers of two it is a line. 0 below 1.
fn log2(value: u64) -> u64 {
    let Some(whole) = (value / FINE).checked_ilog2() else { return 0 };
    let base = FINE << whole;
    u64::from(whole) * FINE + (value - base) * FINE / base
}

/// Long sentences have many words by chance.
fn score(weight: u64, length: usize) -> u64 {
    let length = (length as u64).clamp(1, 1_000);
    weight.saturating_mul(1_000) / (20 + (length * 16).isqrt())
}

/// The terms of a text: words in small letters without the ending of a plural. A sign that is a word is one.
fn terms(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for word in text.split(|letter: char| !letter.is_alphanumeric()) {
        let mut run = String::new();
        for letter in word.chars().flat_map(char::to_lowercase) {
            if is_ideograph(letter) {
                push(&mut found, &mut run);
                found.push(letter.to_string());
            } else {
                run.push(letter);
            }
        }
        push(&mut found, &mut run);
    }
    found
}

fn push(found: &mut Vec<String>, run: &mut String) {
    let word = std::mem::take(run);
    let is_plural = word.len() > 3 && word.ends_with('s') && !word.ends_with("ss");
    match word.get(..word.len().saturating_sub(1)) {
        Some(singular) if is_plural => found.push(singular.to_owned()),
        Some(_) | None if word.is_empty() => {}
        Some(_) | None => found.push(word),
    }
}

fn is_ideograph(letter: char) -> bool {
    matches!(letter, '\u{3040}'..='\u{30FF}' | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}'
        | '\u{20000}'..='\u{3FFFF}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_are_words_in_one_form() {
        let check = |text: &str, expected: &[&str]| assert_eq!(terms(text), expected, "{text}");
        check(
            "The LEASES end; a glass-house's gas.",
            &["the", "lease", "end", "a", "glass", "house", "s", "gas"],
        );
        check("Straße ÜBER İ", &["straße", "über", "i\u{307}"]);
        check("屋根 x", &["屋", "根", "x"]);
        check("", &[]);
    }

    #[test]
    fn logarithms_in_whole_numbers() {
        for (value, expected) in
            [(0, 0), (1_023, 0), (1_024, 0), (1_536, 512), (2_048, 1_024), (8_192, 3_072)]
        {
            assert_eq!(log2(value), expected, "{value}");
        }
    }

    #[test]
    fn the_rarer_word_decides() {
        let texts =
            ["The roof is red.", "The house is old.", "The house is big.", "The roof of the house leaks."];
        let candidates: Vec<Candidate<'_>> = texts.iter().map(|text| Candidate { source: 0, text }).collect();
        let order = |question: &str| -> Vec<&str> {
            best(question, &candidates, 4).into_iter().map(|one| one.text).collect()
        };
        assert_eq!(order("Which roof of a house leaks?")[0], texts[3]);
        assert_eq!(order("What is red?"), [texts[0]]);
        assert_eq!(order("house"), [texts[1], texts[2], texts[3]]);
        assert_eq!(order("What is the?"), Vec::<&str>::new());
        assert_eq!(order("A garden, a garage, a cellar and a roof?"), Vec::<&str>::new());
    }
}
