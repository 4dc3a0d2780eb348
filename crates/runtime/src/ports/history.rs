//! The history port: what a run may know of the conversation before it.
//! Owns: the trait. Must not: say which turns those are (`countersign-kernel` does).

use super::Answer;
use super::sources::NotRead;
use countersign_record::canonical::Score;
use countersign_record::digest::Digest;
use countersign_record::turn::MemoryTurn;

/// What the conversation gives for a prompt.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recalled {
    /// The last turns, the oldest first.
    pub turns: Vec<MemoryTurn>,
    /// What may be pointed to, and is never quoted.
    pub pointers: Vec<Pointer>,
    /// What a person must know: lines that are no turns, an index that can't be used.
    pub troubles: Vec<String>,
}

/// A piece of an earlier turn.
#[derive(Clone, Debug, PartialEq)]
pub struct Pointer {
    /// Its name.
    pub id: String,
    /// SHA-256 of its text.
    pub hash: Digest,
    /// How well it fits.
    pub score: Score,
    /// What it is about.
    pub tags: Vec<String>,
}

/// The conversation of a matter.
pub trait History: Send + Sync {
    /// What a prompt may know of it. `injected` are the files that stand in the prompt.
    fn recall<'a>(&'a self, query: &'a str, injected: &'a [String]) -> Answer<'a, Result<Recalled, NotRead>>;
}
