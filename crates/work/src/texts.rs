//! The texts that records are about: of sources, and of the versions that count.
//! Owns: finding them by their hashes. Must not: keep one.

use crate::artifact::{self, Version};
use crate::claims::{self, Claimed, Source};
use crate::desk::{Desk, Error};
use crate::evaluate;
use crate::task::Artifact;
use crate::workspace;
use alloc::string::String;
use alloc::vec::Vec;
use countersign_record::digest::Digest;

/// Gives the bytes of a hash.
pub type Contents<'a> = &'a dyn Fn(&Digest) -> Option<Vec<u8>>;

/// The text of a source, as it was taken in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Read {
    /// As the task calls it.
    pub id: String,
    /// Its path in the task.
    pub path: String,
    /// What it says.
    pub text: String,
}

/// The texts of the sources that may support something, in the order of the task.
#[must_use]
pub fn read(desk: &Desk, contents: Contents<'_>) -> Vec<Read> {
    let records = desk.task().sources.iter().filter(|source| source.tier() > 0);
    let text = |id: &str| text_of(contents, &workspace::hash_of(desk, id)?);
    records
        .filter_map(|one| Some(Read { id: one.id.clone(), path: one.path.clone(), text: text(&one.id)? }))
        .collect()
}

/// The same, so that sentences are found in them.
#[must_use]
pub fn sources(texts: &[Read]) -> Vec<Source<'_>> {
    texts.iter().map(|one| Source::new(&one.id, &one.path, &one.text)).collect()
}

fn text_of(contents: Contents<'_>, digest: &Digest) -> Option<String> {
    contents(digest).and_then(|bytes| String::from_utf8(bytes).ok())
}

/// The version of an artifact that counts, with its text.
#[derive(Clone, Debug, PartialEq)]
pub struct Head {
    /// The work product.
    pub artifact: Artifact,
    /// Its version.
    pub version: Version,
    /// Its text.
    pub text: String,
    /// What it claims, once somebody has looked.
    pub claims: Vec<Claimed>,
}

impl Head {
    /// As an evaluation takes it.
    #[must_use]
    pub fn seen(&self) -> evaluate::Head<'_> {
        evaluate::Head {
            artifact: &self.artifact.id,
            version: &self.version,
            text: &self.text,
            claims: &self.claims,
        }
    }
}

/// The versions that count, with their texts.
#[must_use]
pub fn heads(desk: &Desk, contents: Contents<'_>) -> Vec<Head> {
    let head = |one: &Artifact| {
        let version = artifact::head(desk, &one.id)?;
        let text = text_of(contents, &version.content)?;
        Some(Head { artifact: one.clone(), version, text, claims: Vec::new() })
    };
    desk.task().artifacts.iter().filter_map(head).collect()
}

/// The versions that count, with every claim of theirs looked at.
///
/// # Errors
/// Something can't be written.
pub fn checked(desk: &mut Desk, contents: Contents<'_>) -> Result<Vec<Head>, Error> {
    let mut all = heads(desk, contents);
    let texts = read(desk, contents);
    let sources = sources(&texts);
    for head in &mut all {
        head.claims = claims::check(desk, &head.artifact, &head.text, &sources)?;
    }
    Ok(all)
}
