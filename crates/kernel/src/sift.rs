//! A3: which retrieved pieces a prompt keeps, and why.
//! Owns: the gate. Must not: change the order of the pieces, or hide that two of them disagree.

mod contradiction;
mod words;

pub use contradiction::{Contradiction, Side};
pub use words::Words;
pub(crate) use words::{NUMBERS, is_unit};

use crate::chunk::Chunk;
use crate::relevance::{Asked, Stems, WHOLE, stems};
use crate::words::spaced;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde::Serialize;

/// What a heading or a file's name is worth where the piece itself does not say a term.
pub(crate) const CONTEXT_WORTH: u64 = 750;

/// How strict the gate is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How much of a question a piece must cover, in thousandths.
    pub strictness: u64,
    /// How many pieces stay.
    pub kept_max: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { strictness: 150, kept_max: 24 }
    }
}

/// What was decided about the pieces.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Sifted {
    /// Each piece, in the order they came.
    pub decided: Vec<Decided>,
    /// Where pieces that may be quoted disagree.
    pub contradictions: Vec<Contradiction>,
}

/// What was decided about a piece.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Decided {
    /// Which of those that came, from 0.
    pub at: usize,
    /// Whether it stays.
    pub decision: Decision,
    /// Why: a word, and what was found.
    pub reason: Vec<String>,
    /// How much of the question it covers, in thousandths.
    pub coverage: u64,
}

/// Whether a piece stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Decision {
    /// It stays.
    Kept,
    /// It goes.
    Dropped,
}

/// The word for a piece that goes because the prompt shows its file whole.
pub const IN_FILES: &str = "DROPPED:in-files";

impl Sifted {
    /// The places of those that stay, in order.
    pub fn kept(&self) -> impl Iterator<Item = usize> {
        self.decided.iter().filter(|one| one.decision == Decision::Kept).map(|one| one.at)
    }

    /// The places of those that may be quoted: those that stay, and those that the prompt shows anyway.
    pub fn quotable(&self) -> impl Iterator<Item = usize> {
        let is_quotable = |one: &&Decided| {
            one.decision == Decision::Kept || one.reason.first().is_some_and(|word| word == IN_FILES)
        };
        self.decided.iter().filter(is_quotable).map(|one| one.at)
    }
}

/// What a term is worth that only the opening of the file says.
pub(crate) const OPENING_WORTH: u64 = 350;

/// What a piece says, what it is under, and how its file begins.
pub(crate) struct Said {
    pub(crate) own: Stems,
    pub(crate) above: Stems,
    pub(crate) opening: Stems,
}

impl Said {
    pub(crate) fn of(chunk: &Chunk) -> Self {
        let above = chunk.headings.iter().flat_map(|heading| stems(heading));
        Said {
            own: stems(&chunk.text).into_iter().collect(),
            above: above.chain(stems(&chunk.path)).collect(),
            opening: stems(&chunk.opening).into_iter().collect(),
        }
    }
}

/// Weighs the terms of a question by how many of all pieces have them.
#[cfg(test)]
pub(crate) fn weigh(asked: &mut Asked, chunks: &[Chunk]) {
    // A term that stands above every piece of a file tells none of them from the others.
    let said = |chunk: &Chunk| {
        let Said { mut own, above, opening } = Said::of(chunk);
        own.extend(above);
        own.extend(opening);
        own
    };
    let all: Vec<Stems> = chunks.iter().map(said).collect();
    asked.weigh(&all);
}

/// Keeps or drops each piece. `injected` are the texts that the prompt shows anyway.
#[must_use]
pub fn sift(asked: &Asked, chunks: &[&Chunk], injected: &[&str], limits: &Limits) -> Sifted {
    let injected: Vec<String> = injected.iter().map(|text| spaced(text)).collect();
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut decided = Vec::with_capacity(chunks.len());
    for (at, chunk) in chunks.iter().enumerate() {
        let said = Said::of(chunk);
        let cover = |part: &crate::relevance::Part| {
            part.coverage(&[(&said.own, WHOLE), (&said.above, CONTEXT_WORTH), (&said.opening, OPENING_WORTH)])
        };
        let coverage = asked.parts.iter().map(cover).max().unwrap_or(0);
        let words = spaced(&chunk.text);
        let same = seen.get(&words).and_then(|at| chunks.get(*at));
        let (decision, reason) = if words.is_empty() {
            (Decision::Dropped, reason("DROPPED:empty", "it has no words"))
        } else if let Some(same) = same {
            (
                Decision::Dropped,
                reason("DROPPED:duplicate", &format!("{} says it word for word", place(same))),
            )
        } else if coverage < limits.strictness {
            let detail = format!("{coverage} of {WHOLE}, and {} are needed", limits.strictness);
            (Decision::Dropped, reason("DROPPED:strictness", &detail))
        } else if injected.iter().any(|text| crate::words::place(text, &words).is_some()) {
            (Decision::Dropped, reason(IN_FILES, "the files that are shown whole say it"))
        } else {
            (Decision::Kept, reason("KEPT:relevant", &format!("{coverage} of {WHOLE}")))
        };
        if decision == Decision::Kept {
            seen.insert(words, at);
        }
        decided.push(Decided { at, decision, reason, coverage });
    }
    bound(&mut decided, limits.kept_max);
    let mut sifted = Sifted { decided, contradictions: Vec::new() };
    let quotable: Vec<usize> = sifted.quotable().collect();
    sifted.contradictions = contradictions(chunks, &quotable);
    flag(&mut sifted);
    sifted
}

/// Drops those that cover least of the question, and of these the later ones, where more would stay than may.
fn bound(decided: &mut [Decided], kept_max: usize) {
    let mut kept: Vec<&mut Decided> =
        decided.iter_mut().filter(|one| one.decision == Decision::Kept).collect();
    kept.sort_by_key(|one| (core::cmp::Reverse(one.coverage), one.at));
    for one in kept.into_iter().skip(kept_max) {
        one.decision = Decision::Dropped;
        let detail = format!("{kept_max} stay, which cover no less than {} of {WHOLE}", one.coverage);
        one.reason = reason("DROPPED:max-chunks", &detail);
    }
}

/// Where pieces disagree, of those at the places that may be quoted.
#[must_use]
pub fn contradictions(chunks: &[&Chunk], quotable: &[usize]) -> Vec<Contradiction> {
    let pieces: Vec<(usize, &Chunk)> =
        quotable.iter().filter_map(|at| chunks.get(*at).map(|chunk| (*at, *chunk))).collect();
    contradiction::find(&pieces)
}

/// Notes at each piece with whom it disagrees. It stays: a person must see both.
fn flag(sifted: &mut Sifted) {
    for Contradiction { sides } in &sifted.contradictions {
        let [first, second] = sides;
        for (one, other) in [(first, second), (second, first)] {
            if let Some(decided) = sifted.decided.get_mut(one.at) {
                decided.reason.push(format!(
                    "FLAGGED:contradiction {}:{} says otherwise",
                    other.path, other.first_line
                ));
            }
        }
    }
}

fn place(chunk: &Chunk) -> String {
    format!("{}:{}-{}", chunk.path, chunk.first_line, chunk.last_line)
}

fn reason(word: &str, detail: &str) -> Vec<String> {
    Vec::from([word.to_string(), detail.to_string()])
}

#[cfg(test)]
#[path = "sift/sift_tests.rs"]
mod tests;
