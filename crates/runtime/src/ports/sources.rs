//! The sources port: what a run may read.
//! Owns: the trait. Must not: say which files are eligible (`countersign-kernel` does).

use super::Answer;
use countersign_kernel::chunk::Chunk;
use countersign_kernel::scope::File;
use countersign_record::canonical::Score;
use countersign_record::code::Code;
use countersign_record::digest::Digest;
use countersign_record::label::Label;
use std::collections::BTreeMap;

/// Why something could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct NotRead {
    /// The stable code.
    pub code: Code,
    /// The words, at most a line.
    pub message: String,
}

/// The files that there are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Manifest {
    /// Them, by path.
    pub files: Vec<File>,
    /// What is there and can't be read: its path, and why.
    pub skipped: Vec<(String, String)>,
}

/// A file that is to be looked through, exactly the one of this hash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Eligible {
    /// Where it is.
    pub path: String,
    /// SHA-256 of its bytes.
    pub sha256: Digest,
}

/// The pieces of files that a question is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Retrieved {
    /// How many pieces there are in all.
    pub pieces: u64,
    /// How many of them have each word that the question is weighed by.
    pub counts: BTreeMap<String, u64>,
    /// Those that were found, the best first.
    pub hits: Vec<Hit>,
    /// The files that could not be looked through, and why: no text, or changed since the manifest was made.
    pub unread: Vec<(String, String)>,
}

/// A piece that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    /// The piece.
    pub chunk: Chunk,
    /// Its place by words, from 1.
    pub bm25_rank: Option<usize>,
    /// Its place by vectors, from 1.
    pub embedding_rank: Option<usize>,
    /// The two joined.
    pub score: Score,
}

/// What a run may read.
pub trait Sources: Send + Sync {
    /// The files that there are.
    fn manifest<'a>(&'a self) -> Answer<'a, Result<Manifest, NotRead>>;

    /// What a file says; one that is not the file of this hash is refused.
    fn text<'a>(&'a self, file: &'a Eligible) -> Answer<'a, Result<String, NotRead>>;

    /// The pieces of files that a question is about.
    fn retrieve<'a>(
        &'a self,
        question: &'a str,
        files: &'a [Eligible],
    ) -> Answer<'a, Result<Retrieved, NotRead>>;

    /// What holds for a file.
    fn label(&self, path: &str) -> Label;
}
