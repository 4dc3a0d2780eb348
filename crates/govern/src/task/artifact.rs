//! The work products that a task asks for.
//! Owns: their members. Must not: write one.

use crate::{record, words};
use alloc::string::String;
use alloc::vec::Vec;

words! {
    /// What an artifact is.
    ArtifactKind { Markdown = "markdown", Json = "json", Code = "code" }
}

record! {
    /// A work product.
    Artifact: value {
        id: String,
        path: String,
        kind: ArtifactKind,
        title: Option<String>,
        from: Option<String>,
        codespec: Option<String>,
        language: Option<String>,
        filename: Option<String>,
        sections: Option<Vec<Section>>,
    }
}

record! {
    /// A section that is drafted.
    Section: value {
        id: String,
        heading: String,
        ask: String,
        quotes: Option<u64>,
    }
}

/// Quotes of a section in a first draft, where nothing is said.
pub(super) const QUOTES_DEFAULT: u64 = 3;
/// Quotes of a section, at most.
pub const QUOTES_MAX: u64 = 20;

impl Artifact {
    /// Its sections.
    #[must_use]
    pub fn sections(&self) -> &[Section] {
        self.sections.as_deref().unwrap_or_default()
    }

    /// The section of an id.
    #[must_use]
    pub fn section(&self, id: &str) -> Option<&Section> {
        self.sections().iter().find(|one| one.id == id)
    }
}

impl Section {
    /// How many quotes its first draft takes.
    #[must_use]
    pub fn quotes(&self) -> u64 {
        self.quotes.unwrap_or(QUOTES_DEFAULT).clamp(1, QUOTES_MAX)
    }
}
