//! A4: what kept pieces say about a question, as facts, constraints and open issues.
//! Owns: choosing the sentences. Must not: write a word that no piece says: every fact is a quote with its place.

mod choose;

use crate::chunk::Chunk;
use crate::relevance::Asked;
use crate::sift::Contradiction;
use alloc::collections::BTreeSet;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::ops::Range;
use countersign_record::digest::Digest;
use serde::Serialize;

/// How much is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How much of a question a sentence must cover with what it stands under, in thousandths; below it nothing is said.
    pub coverage_min: u64,
    /// How much of what the best sentence scores another must score, in thousandths.
    pub of_best_min: u64,
    /// Quotes for each question.
    pub quotes_max: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { coverage_min: 300, of_best_min: 650, quotes_max: 5 }
    }
}

/// What is known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Condensed {
    /// What is so.
    pub facts: Vec<Fact>,
    /// What must or must not be.
    pub constraints: Vec<Fact>,
    /// What is not known, or not agreed on.
    pub open_issues: Vec<OpenIssue>,
    /// What comes closest to questions that nothing answers.
    pub closest: Vec<Close>,
}

/// A sentence that comes close to a question. It may well be about something else: it is for a person to look at, and no part of
/// an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Close {
    /// The question.
    pub question: String,
    /// The sentence.
    pub fact: Fact,
}

impl Condensed {
    /// All quotes, the best first.
    #[must_use]
    pub fn quotes(&self) -> Vec<&Fact> {
        let mut all: Vec<&Fact> = self.facts.iter().chain(&self.constraints).collect();
        all.sort_by_key(|fact| fact.rank);
        all
    }
}

/// A sentence of a source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fact {
    /// The words, exactly as they stand there.
    pub text: String,
    /// Where.
    pub citation: Citation,
    /// Its place among all quotes, the best is 0.
    pub rank: usize,
    /// How much of the question it covers, in thousandths.
    pub coverage: u64,
}

/// Where a quote stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Citation {
    /// The file.
    pub path: String,
    /// The first line, from 1.
    pub first_line: usize,
    /// The last line.
    pub last_line: usize,
    /// Where in the file, in bytes.
    pub bytes: Range<usize>,
    /// SHA-256 of the piece that it was taken from.
    pub sha256: Digest,
}

/// What is open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum OpenIssue {
    /// No source answers it.
    Nothing {
        /// The question.
        question: String,
    },
    /// These words of it are in none of the quotes.
    NotFound {
        /// The question.
        question: String,
        /// The words.
        terms: Vec<String>,
    },
    /// Sources disagree.
    Contradiction {
        /// The two sentences.
        between: Contradiction,
    },
}

/// Says what the pieces say about a question whose terms were weighed.
#[must_use]
pub fn condense(
    asked: &Asked,
    kept: &[&Chunk],
    contradictions: &[Contradiction],
    limits: &Limits,
) -> Condensed {
    let candidates = choose::candidates(kept);
    let mut condensed = Condensed::default();
    let (mut said, mut shown) = (Vec::new(), Vec::new());
    let mut rank = 0;
    for part in &asked.parts {
        let chosen = choose::best(part, &candidates, limits);
        if chosen.is_empty() {
            for one in choose::widened(choose::nearest(part, &candidates), &mut shown) {
                let Some(chunk) = kept.get(one.candidate.at) else { continue };
                let fact = fact(chunk, &one.span, condensed.closest.len(), one.coverage);
                condensed.closest.push(Close { question: part.text.clone(), fact });
            }
            condensed.open_issues.push(OpenIssue::Nothing { question: part.text.clone() });
            continue;
        }
        let found: BTreeSet<String> = chosen.iter().flat_map(|one| one.candidate.stems()).cloned().collect();
        let missing: Vec<String> = part.missing(&found).map(str::to_string).collect();
        if !missing.is_empty() {
            condensed.open_issues.push(OpenIssue::NotFound { question: part.text.clone(), terms: missing });
        }
        for one in choose::widened(chosen, &mut said) {
            let Some(chunk) = kept.get(one.candidate.at) else { continue };
            let fact = fact(chunk, &one.span, rank, one.coverage);
            rank += 1;
            match is_constraint(&fact.text) {
                true => condensed.constraints.push(fact),
                false => condensed.facts.push(fact),
            }
        }
    }
    if asked.parts.is_empty() {
        condensed.open_issues.push(OpenIssue::Nothing { question: String::new() });
    }
    let quoted = |side: &crate::sift::Side| {
        condensed.quotes().iter().any(|fact| {
            fact.citation.path == side.path
                && (side.quote.contains(&fact.text) || fact.text.contains(&side.quote))
        })
    };
    let open: Vec<OpenIssue> = contradictions
        .iter()
        .filter(|one| one.sides.iter().any(quoted))
        .map(|one| OpenIssue::Contradiction { between: one.clone() })
        .collect();
    condensed.open_issues.extend(open);
    condensed
}

fn fact(chunk: &Chunk, span: &Range<usize>, rank: usize, coverage: u64) -> Fact {
    let (first_line, last_line) = chunk.lines_of(span);
    Fact {
        text: chunk.text.get(span.clone()).unwrap_or_default().to_string(),
        citation: Citation {
            path: chunk.path.clone(),
            first_line,
            last_line,
            bytes: chunk.bytes.start + span.start..chunk.bytes.start + span.end,
            sha256: chunk.sha256,
        },
        rank,
        coverage,
    }
}

/// Words of a duty, a ban or a bound.
const DUTIES: &[&str] = &[
    "must",
    "shall",
    "may not",
    "may only",
    "is required",
    "are required",
    "required to",
    "prohibited",
    "forbidden",
    "not permitted",
    "not allowed",
    "no later than",
    "at least",
    "at most",
    "not exceed",
    "no more than",
    "only if",
    "mandatory",
    "muss",
    "müssen",
    "darf nicht",
    "dürfen nicht",
    "darf nur",
    "verboten",
    "untersagt",
    "nicht gestattet",
    "spätestens",
    "höchstens",
    "mindestens",
    "verpflichtet",
];

fn is_constraint(text: &str) -> bool {
    let words = crate::words::spaced(text);
    DUTIES.iter().any(|duty| crate::words::place(&words, duty).is_some())
}

#[cfg(test)]
#[path = "condense/condense_tests.rs"]
mod tests;
