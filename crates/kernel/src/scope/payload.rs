//! What A0 hands over.
//! Owns: the payload's shape, in the seed's words. Must not: decide.

use super::input::File;
use alloc::string::String;
use alloc::vec::Vec;
use countersign_record::digest::Digest;
use countersign_record::json::Number;
use serde::Serialize;

/// The payload of A0's envelope.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Payload {
    /// The files that may be used, the best first.
    pub eligible_files: Vec<Eligible>,
    /// The files that are to be shown whole.
    pub candidate_files_block: Candidates,
    /// What was decided about every file, by path.
    pub trace: Vec<Traced>,
    /// Why there is nothing to go on with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<Failure>,
    /// What the lock names and the manifest does not have.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", serde(default))]
    pub missing: Vec<String>,
}

/// A file that may be used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Eligible {
    /// Where it is.
    pub path: String,
    /// Why: the seed's word, and what was found.
    pub reason: Vec<String>,
    /// SHA-256 of its bytes.
    pub sha256: Digest,
    /// When it was changed, in seconds since 1970, as the manifest says it.
    pub mtime: Number,
}

impl Eligible {
    pub(super) fn of(file: &File, reason: Vec<String>) -> Self {
        Eligible { path: file.path.clone(), reason, sha256: file.sha256, mtime: file.mtime.clone() }
    }
}

/// The files that are to be shown whole.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Candidates {
    /// Their paths.
    pub files: Vec<String>,
}

/// What was decided about a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Traced {
    /// Where it is.
    pub path: String,
    /// What.
    pub decision: Decision,
    /// Why.
    pub reason: Vec<String>,
}

/// Whether a file may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "UPPERCASE")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Decision {
    /// It may.
    Kept,
    /// It may not.
    Dropped,
}

/// Why there is nothing to go on with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Failure {
    /// No file may be used.
    EmptyEligibility,
    /// The lock names a file that is not there, or none.
    LockMiss,
}
