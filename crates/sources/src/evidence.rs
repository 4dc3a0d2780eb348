//! What some pieces of files say about a question, step by step: retrieval, the gate (A3), the condenser (A4).
//! Owns: the order of the steps. Must not: decide in any of them.

use crate::retrieve::{self, Error, Hit, Index};
use countersign_kernel::chunk::Chunk;
use countersign_kernel::condense::{self, Condensed, condense};
use countersign_kernel::history::Lexicon;
use countersign_kernel::relevance::Asked;
use countersign_kernel::sift::{self, Sifted, sift};

/// How much each step may take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Of retrieval.
    pub retrieve: retrieve::Limits,
    /// Of the gate.
    pub sift: sift::Limits,
    /// Of the condenser.
    pub condense: condense::Limits,
}

/// What each step gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// The pieces that were found, the best first.
    pub hits: Vec<Hit>,
    /// What became of each of them, in the same order.
    pub sifted: Sifted,
    /// What they say.
    pub condensed: Condensed,
}

/// Says what the pieces of an index say about a question. `injected` are texts that the prompt shows anyway.
///
/// # Errors
/// The index can't be asked.
pub fn gather(
    question: &str,
    aliases: &Lexicon,
    index: &Index<'_>,
    chunks: &[Chunk],
    injected: &[&str],
    limits: &Limits,
) -> Result<Evidence, Error> {
    let mut asked = Asked::new(question, aliases);
    index.weigh(&mut asked)?;
    let hits = index.retrieve(question, &asked, &limits.retrieve)?;
    let found: Vec<&Chunk> = hits.iter().filter_map(|hit| chunks.get(hit.chunk)).collect();
    let sifted = sift(&asked, &found, injected, &limits.sift);
    let kept: Vec<&Chunk> = sifted.kept().filter_map(|at| found.get(at).copied()).collect();
    let condensed = condense(&asked, &kept, &sifted.contradictions, &limits.condense);
    Ok(Evidence { hits, sifted, condensed })
}
