//! A prompt, as a model is shown it and as it may be kept.
//! Owns: which parts of a prompt are memory, and the form without them. Must not: let the shown form be stored.

use super::excerpt::Excerpt;
use super::package::Selected;
use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use countersign_record::canonical::{Hasher, Sink};
use countersign_record::digest::Digest;
use serde::Serialize;

/// A prompt in parts. It has no `Serialize`; what may be kept of it is [`Prompt::stored`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prompt {
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    Memory { excerpt: Excerpt, named: StoredExcerpt },
}

impl Prompt {
    /// A prompt without a word.
    #[must_use]
    pub fn new() -> Self {
        Prompt::default()
    }

    /// Goes on with a text that is no memory.
    #[must_use]
    pub fn text(mut self, text: impl Into<String>) -> Self {
        self.parts.push(Part::Text(text.into()));
        self
    }

    /// Goes on with the excerpt of a record.
    #[must_use]
    pub fn memory(mut self, selected: &Selected<'_>) -> Self {
        let named = StoredExcerpt {
            memory_id: selected.memory_id.to_owned(),
            record_hash: selected.record_hash,
            tokens: selected.tokens,
        };
        self.parts.push(Part::Memory { excerpt: selected.excerpt.clone(), named });
        self
    }

    /// Goes on with the excerpt of a record, every line but the first behind an indent.
    #[must_use]
    pub fn indented_memory(self, selected: &Selected<'_>, indent: &str) -> Self {
        let excerpt = selected.excerpt.indented(indent);
        self.memory(&Selected { excerpt: &excerpt, ..*selected })
    }

    /// Goes on with another prompt.
    #[must_use]
    pub fn then(mut self, other: &Prompt) -> Self {
        self.parts.extend(other.parts.iter().cloned());
        self
    }

    /// What the model gets: the parts one after the other.
    #[must_use]
    pub fn shown(&self) -> Shown {
        Shown(self.pieces().collect())
    }

    /// What may be kept: every excerpt is replaced by the name of its record.
    #[must_use]
    pub fn stored(&self) -> Stored {
        let mut hasher = Hasher::new();
        self.pieces().for_each(|piece| hasher.put(piece.as_bytes()));
        let part = |part: &Part| match part {
            Part::Text(text) => StoredPart::Text(text.clone()),
            Part::Memory { named, .. } => StoredPart::Memory(named.clone()),
        };
        Stored { parts: self.parts.iter().map(part).collect(), shown_hash: hasher.finish() }
    }

    fn pieces(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().map(|part| match part {
            Part::Text(text) => text.as_str(),
            Part::Memory { excerpt, .. } => excerpt.shown(),
        })
    }
}

/// What a model gets. As an [`Excerpt`], it is for a model's eyes: no `Serialize`, no `Display`, a `Debug` that says how
/// long it is.
#[derive(Clone, PartialEq, Eq)]
pub struct Shown(String);

impl Shown {
    /// The words, for the call of a model and for nothing that is kept.
    #[must_use]
    pub fn for_model(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Shown({} bytes)", self.0.len())
    }
}

/// A prompt without the memory that was in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(deny_unknown_fields, rename = "StoredPrompt")
)]
pub struct Stored {
    /// Its parts, in order.
    parts: Vec<StoredPart>,
    /// SHA-256 of what the model got.
    shown_hash: Digest,
}

/// One part of a prompt that is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
enum StoredPart {
    /// A text that is no memory.
    Text(String),
    /// Where an excerpt stood.
    Memory(StoredExcerpt),
}

/// What is kept of an excerpt: which record, and how much of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
struct StoredExcerpt {
    /// The record's id.
    memory_id: String,
    /// Its hash.
    record_hash: Digest,
    /// What the excerpt took.
    tokens: u64,
}

#[cfg(test)]
#[path = "prompt_tests.rs"]
mod tests;
