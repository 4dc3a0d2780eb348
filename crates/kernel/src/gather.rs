//! What pieces that were found say about a question: the gate (A3), then the condenser (A4).
//! Owns: which pieces go from the one to the other. Must not: decide in either.

use crate::chunk::Chunk;
use crate::condense::{self, Condensed, condense};
use crate::relevance::Asked;
use crate::sift::{self, Sifted, sift};
use alloc::vec::Vec;

/// How much each step may take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Of the gate.
    pub sift: sift::Limits,
    /// Of the condenser.
    pub condense: condense::Limits,
}

/// What each step gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gathered {
    /// What became of each piece, in the order they came.
    pub sifted: Sifted,
    /// What they say.
    pub condensed: Condensed,
}

/// Says what pieces say about a question whose terms were weighed. `injected` are texts that the prompt shows anyway: their
/// pieces need no second place in it, and are quoted all the same, because every sentence of an answer cites a piece.
#[must_use]
pub fn gather(asked: &Asked, found: &[Chunk], injected: &[&str], limits: &Limits) -> Gathered {
    let found: Vec<&Chunk> = found.iter().collect();
    let sifted = sift(asked, &found, injected, &limits.sift);
    let quotable: Vec<&Chunk> = sifted.quotable().filter_map(|at| found.get(at).copied()).collect();
    let condensed = condense(asked, &quotable, &sifted.contradictions, &limits.condense);
    Gathered { sifted, condensed }
}
