//! Sentences that speak of the same and say something else.
//! Owns: seeing other numbers and a "not" more. Must not: say who is right.

use crate::chunk::Chunk;
use crate::relevance::stems;
use crate::sentences::spans;
use alloc::collections::BTreeSet;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde::Serialize;

/// Sentences that are held against each other: each pair is.
const SENTENCES_MAX: usize = 400;
/// Contradictions that are told.
const FOUND_MAX: usize = 50;
/// Terms that both must have.
const SHARED_MIN: usize = 4;

/// Words that turn a sentence into its opposite.
const NEGATIONS: [&str; 7] = ["not", "no", "never", "neither", "nor", "without", "cannot"];
const NUMBERS: [&str; 20] = [
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelv",
    "fifteen", "twenti", "thirti", "forti", "fifti", "sixti", "nineti", "hundr",
];
/// Words that every sentence may have.
const FREQUENT: [&str; 40] = [
    "a", "an", "and", "ani", "ar", "as", "at", "be", "been", "by", "for", "from", "ha", "had", "have", "in",
    "is", "it", "its", "of", "on", "or", "shall", "than", "that", "the", "thei", "thi", "to", "wa", "were",
    "which", "will", "with", "must", "mai", "within", "after", "befor", "each",
];

/// Two sentences that disagree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Contradiction {
    /// The two, in the order in which their pieces came.
    pub sides: [Side; 2],
}

/// One of two sentences that disagree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Side {
    /// Which piece, from 0.
    pub at: usize,
    /// Its file.
    pub path: String,
    /// The sentence's first line.
    pub first_line: usize,
    /// Its last line.
    pub last_line: usize,
    /// The sentence, word for word.
    pub quote: String,
}

struct Sentence<'a> {
    at: usize,
    chunk: &'a Chunk,
    span: core::ops::Range<usize>,
    terms: BTreeSet<String>,
    numbers: BTreeSet<String>,
    is_negated: bool,
}

/// The pairs of sentences of different pieces that disagree.
pub(super) fn find(chunks: &[(usize, &Chunk)]) -> Vec<Contradiction> {
    let all =
        chunks.iter().flat_map(|(at, chunk)| spans(&chunk.text).map(move |span| read(*at, chunk, span)));
    let all: Vec<Sentence<'_>> =
        all.filter(|one| one.terms.len() >= SHARED_MIN).take(SENTENCES_MAX).collect();
    let mut found = Vec::new();
    for (number, one) in all.iter().enumerate() {
        for other in all.iter().skip(number + 1).filter(|other| other.at != one.at) {
            if found.len() < FOUND_MAX && disagree(one, other) {
                found.push(Contradiction { sides: [side(one), side(other)] });
            }
        }
    }
    found
}

fn read<'a>(at: usize, chunk: &'a Chunk, span: core::ops::Range<usize>) -> Sentence<'a> {
    let text = chunk.text.get(span.clone()).unwrap_or_default();
    let (mut terms, mut numbers, mut is_negated) = (BTreeSet::new(), BTreeSet::new(), false);
    for stem in stems(text) {
        if NEGATIONS.contains(&stem.as_str()) {
            is_negated = !is_negated;
        } else if stem.starts_with(|letter: char| letter.is_ascii_digit()) || NUMBERS.contains(&stem.as_str())
        {
            numbers.insert(stem);
        } else if !FREQUENT.contains(&stem.as_str()) {
            terms.insert(stem);
        }
    }
    Sentence { at, chunk, span, terms, numbers, is_negated }
}

/// They share most of their words, and differ in a number or a "not".
fn disagree(one: &Sentence<'_>, other: &Sentence<'_>) -> bool {
    let shared = one.terms.intersection(&other.terms).count();
    let all = one.terms.len() + other.terms.len() - shared;
    if shared < SHARED_MIN || shared * 10 < all * 6 {
        return false;
    }
    let numbers_differ = !one.numbers.is_empty()
        && !other.numbers.is_empty()
        && !one.numbers.is_subset(&other.numbers)
        && !other.numbers.is_subset(&one.numbers);
    // A "not" more or less, and else nearly the same words.
    let turned = one.is_negated != other.is_negated && one.numbers == other.numbers && shared * 10 >= all * 8;
    numbers_differ || turned
}

fn side(sentence: &Sentence<'_>) -> Side {
    let (first_line, last_line) = sentence.chunk.lines_of(&sentence.span);
    Side {
        at: sentence.at,
        path: sentence.chunk.path.clone(),
        first_line,
        last_line,
        quote: sentence.chunk.text.get(sentence.span.clone()).unwrap_or_default().to_string(),
    }
}
