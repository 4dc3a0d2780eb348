//! Sentences that speak of the same and say something else.
//! Owns: finding them among many. Must not: say who is right; `words` says whether two disagree.

use super::words::{FEW_SHARED_MIN, Words, disagree};
use crate::chunk::Chunk;
use crate::sentences::visible;
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde::Serialize;

/// Sentences that are told for one with which they disagree.
const TOLD_MAX: usize = 4;

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
    words: Words,
}

/// The pairs of sentences of different pieces that disagree. Only those are held against each other that share terms, so
/// all may be: there are as many as the pieces that may be quoted have.
pub(super) fn find(chunks: &[(usize, &Chunk)]) -> Vec<Contradiction> {
    let all =
        chunks.iter().flat_map(|(at, chunk)| visible(&chunk.text).map(move |span| read(*at, chunk, span)));
    let all: Vec<Sentence<'_>> = all.filter(|one| one.words.terms.len() >= FEW_SHARED_MIN).collect();
    let mut having: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    let mut pairs: Vec<(usize, usize)> = Vec::new();
    for (number, one) in all.iter().enumerate() {
        let mut shared: BTreeMap<usize, usize> = BTreeMap::new();
        for term in &one.words.terms {
            let those = having.entry(term).or_default();
            for other in those.iter() {
                *shared.entry(*other).or_default() += 1;
            }
            those.push(number);
        }
        let disagrees = |(other, shared): &(usize, usize)| {
            all.get(*other)
                .is_some_and(|other| other.at != one.at && disagree(&other.words, &one.words, *shared))
        };
        pairs.extend(shared.into_iter().filter(disagrees).map(|(other, _)| (other, number)));
    }
    pairs.sort_unstable();
    // A sentence with which very many disagree is told with a few of them; whoever disagrees is told.
    let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
    pairs.retain(|(one, other)| {
        let mut count = |at: usize| {
            let count = counts.entry(at).or_default();
            *count += 1;
            *count
        };
        count(*one).min(count(*other)) <= TOLD_MAX
    });
    let told = |(one, other): (usize, usize)| {
        Some(Contradiction { sides: [side(all.get(one)?), side(all.get(other)?)] })
    };
    pairs.into_iter().filter_map(told).collect()
}

fn read<'a>(at: usize, chunk: &'a Chunk, span: core::ops::Range<usize>) -> Sentence<'a> {
    let words = Words::of(chunk.text.get(span.clone()).unwrap_or_default());
    Sentence { at, chunk, span, words }
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
