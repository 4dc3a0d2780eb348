//! Every code that a user can meet: one table.
//! Owns: the code's words, its severity, how it is explained and mended. Must not: be decided by anything but
//! the variant; a code once released keeps its meaning.

mod table;

pub use table::Code;

use crate::json::Object;
use alloc::string::String;
use core::fmt;
use serde::Serialize;
use serde::ser::Serializer;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Worth knowing.
    Note,
    /// Something falls short, the rest stands.
    Warning,
    /// What was asked was not done, nothing was changed.
    Error,
    /// What is stored can't be relied on as it is.
    Critical,
}

impl Severity {
    /// The word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
            Severity::Critical => "critical",
        }
    }
}

/// What the table says of one code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The code as users see it.
    pub name: &'static str,
    /// The part of the product that speaks.
    pub area: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// In a few words.
    pub title: &'static str,
    /// What happened, and why it matters.
    pub explanation: &'static str,
    /// What to do.
    pub fix: &'static str,
}

/// What a command prints on standard error when it fails.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ErrorForm {
    /// The error.
    pub error: ErrorBody,
}

/// One error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ErrorBody {
    /// The stable code; `docs/codes/` has a page for each.
    pub code: Code,
    /// What happened, for people.
    pub message: String,
    /// What happened, for programs.
    pub details: Object,
}

/// A name that is no code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no such code")]
pub struct UnknownCode;

impl Code {
    /// The code as users see it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.entry().name
    }
}

impl TryFrom<&str> for Code {
    type Error = UnknownCode;

    fn try_from(name: &str) -> Result<Self, UnknownCode> {
        Code::ALL.iter().copied().find(|code| code.as_str() == name).ok_or(UnknownCode)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeSet;

    #[test]
    fn every_entry_teaches() {
        let mut names = BTreeSet::new();
        for code in Code::ALL {
            let entry = code.entry();
            assert!(names.insert(entry.name), "{} stands twice", entry.name);
            assert_eq!(Code::try_from(entry.name), Ok(*code));
            assert!(entry.name.starts_with(entry.area), "{} does not begin with its area", entry.name);
            assert!(
                entry
                    .name
                    .bytes()
                    .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"_.".contains(&b)),
                "{}",
                entry.name
            );
            for (what, text) in [("explanation", entry.explanation), ("fix", entry.fix)] {
                assert!(text.len() >= 20 && text.ends_with('.'), "{}: the {what} is no sentence", entry.name);
            }
            assert!(!entry.title.ends_with('.') && entry.title.len() >= 8, "{}", entry.name);
        }
    }
}
