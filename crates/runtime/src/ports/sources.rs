//! The sources port: what a run may read.
//! Owns: the trait. Must not: say which files are eligible (`countersign-kernel` does).

use super::Answer;
use countersign_kernel::condense::Condensed;
use countersign_kernel::scope::File;
use countersign_kernel::sift::Sifted;
use countersign_record::code::Code;
use countersign_record::digest::Digest;
use countersign_record::label::Label;

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

/// What files say about a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gathered {
    /// How many pieces there are.
    pub pieces: usize,
    /// What became of those that were found.
    pub sifted: Sifted,
    /// What they say.
    pub condensed: Condensed,
    /// The files that could not be looked through, and why: no text, or changed since the manifest was made.
    pub unread: Vec<(String, String)>,
}

/// What a run may read.
pub trait Sources: Send + Sync {
    /// The files that there are.
    fn manifest<'a>(&'a self) -> Answer<'a, Result<Manifest, NotRead>>;

    /// What a file says; one that is not the file of this hash is refused.
    fn text<'a>(&'a self, file: &'a Eligible) -> Answer<'a, Result<String, NotRead>>;

    /// What files say about a question. `injected` are texts that a prompt shows anyway.
    fn gather<'a>(
        &'a self,
        question: &'a str,
        files: &'a [Eligible],
        injected: &'a [String],
    ) -> Answer<'a, Result<Gathered, NotRead>>;

    /// What holds for a file.
    fn label(&self, path: &str) -> Label;
}
