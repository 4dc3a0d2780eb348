//! Which sentences answer a question.
//! Owns: their scores, in whole numbers. Must not: change a sentence.

use super::Limits;
use crate::chunk::{Chunk, Form};
use crate::relevance::{Part, Stems, WHOLE, stems};
use crate::sentences::spans;
use crate::sift::CONTEXT_WORTH;
use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

/// Sentences that are looked at.
const CANDIDATES_MAX: usize = 20_000;
/// What a term is worth that stands in the sentence before or behind.
const NEIGHBOUR_WORTH: u64 = 350;
/// What the sentence itself must cover, in thousandths.
const OWN_MIN: u64 = 150;
/// What a sentence gains that has the kind of answer which is asked for, in thousandths.
const KIND_GAIN: u64 = 200;

/// A sentence that may be quoted.
pub(super) struct Candidate<'a> {
    /// Which piece.
    pub(super) at: usize,
    /// Where in it.
    pub(super) span: Range<usize>,
    text: &'a str,
    own: Stems,
    /// Headings, the file's name, the line that leads a list in.
    above: Stems,
    beside: Stems,
    words: usize,
}

impl Candidate<'_> {
    /// What it says, and what it stands under.
    pub(super) fn stems(&self) -> impl Iterator<Item = &String> {
        self.own.iter().chain(&self.above)
    }
}

/// A sentence that is quoted.
pub(super) struct Chosen<'c, 'a> {
    pub(super) candidate: &'c Candidate<'a>,
    pub(super) coverage: u64,
}

/// The sentences of the pieces.
pub(super) fn candidates<'a>(chunks: &[&'a Chunk]) -> Vec<Candidate<'a>> {
    let mut all = Vec::new();
    for (at, chunk) in chunks.iter().enumerate() {
        of_chunk(at, chunk, &mut all);
        if all.len() >= CANDIDATES_MAX {
            break;
        }
    }
    all
}

fn of_chunk<'a>(at: usize, chunk: &'a Chunk, all: &mut Vec<Candidate<'a>>) {
    let above: Stems =
        chunk.headings.iter().flat_map(|heading| stems(heading)).chain(stems(&chunk.path)).collect();
    let found: Vec<(Range<usize>, &str, Vec<String>)> = spans(&chunk.text)
        .map(|span| bare(&chunk.text, span))
        .map(|span| {
            let text = chunk.text.get(span.clone()).unwrap_or_default();
            (span, text, stems(text))
        })
        .filter(|(_, text, _)| !is_heading(chunk, text))
        .collect();
    let mut lead: Option<&Vec<String>> = None;
    for (number, (span, text, own)) in found.iter().enumerate() {
        let mut above = above.clone();
        if let Some(lead) = lead {
            above.extend(lead.iter().cloned());
        }
        let before = number.checked_sub(1).and_then(|number| found.get(number));
        let beside =
            before.into_iter().chain(found.get(number + 1)).flat_map(|(_, _, stems)| stems.iter().cloned());
        // What leads a list in is above its items, until the next paragraph.
        if text.ends_with(':') {
            lead = Some(own);
        } else if !is_item(&chunk.text, span.start) {
            lead = None;
        }
        if own.len() >= 2 {
            all.push(Candidate {
                at,
                span: span.clone(),
                text,
                words: own.len(),
                own: own.iter().cloned().collect(),
                above,
                beside: beside.collect(),
            });
        }
    }
}

/// The sentence without the mark of an item before it.
fn bare(text: &str, span: Range<usize>) -> Range<usize> {
    let sentence = text.get(span.clone()).unwrap_or_default();
    let rest = sentence.strip_prefix(['-', '*', '+', '•']).filter(|rest| rest.starts_with([' ', '\t']));
    match rest {
        Some(rest) => span.end - rest.trim_start().len()..span.end,
        None => span,
    }
}

/// Whether the line that a sentence begins in is an item.
fn is_item(text: &str, start: usize) -> bool {
    let before = text.get(..start).unwrap_or_default();
    let line = before.rsplit('\n').next().unwrap_or_default().trim_start();
    let first = text.get(start..).unwrap_or_default();
    line.starts_with(['-', '*', '+', '•', '|'])
        || first.starts_with(|letter: char| letter.is_ascii_digit() || letter == '(' || letter == '|')
}

/// A heading is no sentence, and neither is what draws a line.
fn is_heading(chunk: &Chunk, text: &str) -> bool {
    let is_marked = Form::of(&chunk.path) == Form::Markdown && text.starts_with('#');
    let title = text.split('\n').next().unwrap_or_default().trim();
    is_marked
        || !text.chars().any(char::is_alphanumeric)
        || (text.len() <= title.len() && chunk.headings.iter().any(|heading| heading == title))
}

/// The best sentences, the best first; the same words once.
pub(super) fn best<'c, 'a>(
    part: &Part,
    candidates: &'c [Candidate<'a>],
    limits: &Limits,
) -> Vec<Chosen<'c, 'a>> {
    let mut ranked: Vec<(u64, usize, u64)> = Vec::new();
    for (number, one) in candidates.iter().enumerate() {
        let own = part.coverage(&[(&one.own, WHOLE)]);
        if own < OWN_MIN {
            continue;
        }
        let texts = [(&one.own, WHOLE), (&one.above, CONTEXT_WORTH), (&one.beside, NEIGHBOUR_WORTH)];
        let coverage = part.coverage(&texts);
        if coverage >= limits.coverage_min {
            ranked.push((score(part, one, own, coverage), number, coverage));
        }
    }
    ranked.sort_by(|(one, here, _), (other, there, _)| other.cmp(one).then(here.cmp(there)));
    let least = ranked.first().map_or(0, |(best, ..)| best * limits.of_best_min / WHOLE);
    let mut said: BTreeSet<String> = BTreeSet::new();
    let mut chosen = Vec::new();
    for (_, number, coverage) in ranked.into_iter().take_while(|(score, ..)| *score >= least) {
        let Some(candidate) = candidates.get(number) else { continue };
        if chosen.len() < limits.quotes_max && said.insert(crate::words::spaced(candidate.text)) {
            chosen.push(Chosen { candidate, coverage });
        }
    }
    chosen
}

/// What the sentence covers itself counts most; long sentences have many words by chance.
fn score(part: &Part, one: &Candidate<'_>, own: u64, coverage: u64) -> u64 {
    let kind = if part.kind.is_in(one.text) { WHOLE + KIND_GAIN } else { WHOLE };
    let length = (one.words as u64).clamp(6, 400);
    (own * 2 + coverage * 3) * kind / (30 + (length * 16).isqrt())
}
