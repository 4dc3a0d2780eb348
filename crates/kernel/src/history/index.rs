//! What is known of a published index: `history_index_meta.json`.
//! Owns: its members and their checks. Must not: read or write it.

use alloc::string::String;
use alloc::vec::Vec;
use countersign_record::code::Code;
use countersign_record::digest::Digest;
use countersign_record::fields::{Fields, Trouble};
use countersign_record::json::Json;
use serde::Serialize;

/// The version of this document.
const VERSION: &str = "1.0";
/// The last generation: a snapshot has fifteen digits for it, and there is always a next one.
pub const GENERATION_MAX: u64 = 999_999_999_999_998;

/// What stands for the embedder of an index that was empty from the beginning.
pub const NO_EMBEDDER: &str = "none";

/// One generation of the index.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Index {
    /// The version of this document.
    pub version: String,
    /// Counts up with each one that is published, from 1.
    pub generation: u64,
    /// Vectors in the snapshot.
    pub count: u64,
    /// Numbers of a vector.
    pub dimension: u64,
    /// What made them: vectors of two makers can't be compared.
    pub embedder: String,
    /// SHA-256 of the snapshot.
    pub sha256: Digest,
    /// What the index may hold.
    pub caps: Caps,
    /// How much of the log it has seen.
    pub indexed: Indexed,
    /// What stands before this byte of the log was cleared and is never indexed again.
    pub cleared_before_offset: u64,
    /// Items that had to go because the index was full, since it was begun.
    pub evicted: u64,
    /// Lines that are no turns, those after the clearing.
    pub bad_lines: BadLines,
}

/// Lines that are no turns: the first of them, and how many there are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct BadLines {
    /// How many.
    pub count: u64,
    /// The first [`BAD_LINES_MAX`] of them.
    pub first: Vec<BadLine>,
}

/// How many bad lines are kept with their places.
pub const BAD_LINES_MAX: usize = 100;

/// A line of the log that is no turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct BadLine {
    /// Its number, from 1.
    pub line: u64,
    /// Where it begins, in bytes.
    pub offset: u64,
    /// What is wrong with it: a code, and where in the line; never a piece of it.
    pub why: String,
}

impl BadLines {
    /// Notes one more.
    pub fn note(&mut self, bad: BadLine) {
        self.count += 1;
        if self.first.len() < BAD_LINES_MAX {
            self.first.push(bad);
        }
    }

    fn read(fields: &mut Fields<'_>) -> Option<Self> {
        let count = fields.integer("count");
        let first = fields.objects("first", |bad| {
            let (line, offset, why) = (bad.integer("line"), bad.integer("offset"), bad.filled("why"));
            bad.deny_unknown();
            Some(BadLine { line: line?, offset: offset?, why: why? })
        });
        fields.deny_unknown();
        Some(BadLines { count: count?, first: first? })
    }
}

/// What the index may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Caps {
    /// Vectors; the least important go first.
    pub vectors_max: u64,
}

impl Default for Caps {
    /// What an index may hold where nobody has said so.
    fn default() -> Self {
        Caps { vectors_max: 100_000 }
    }
}

/// How much of the log an index has seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Indexed {
    /// Whole lines up to this byte.
    pub bytes: u64,
    /// How many lines those are.
    pub lines: u64,
    /// By what a log that was exchanged is known: SHA-256 of the bytes before that place, as many as a landmark has.
    pub landmark: Digest,
}

impl Indexed {
    /// Nothing of it.
    #[must_use]
    pub fn nothing() -> Self {
        Indexed { bytes: 0, lines: 0, landmark: Digest::of(b"") }
    }
}

impl Index {
    /// A generation.
    #[must_use]
    pub fn version() -> String {
        VERSION.into()
    }

    /// What made the vectors, if anything ever did.
    #[must_use]
    pub fn made_by(&self) -> Option<&str> {
        Some(self.embedder.as_str()).filter(|name| *name != NO_EMBEDDER)
    }

    /// Reads the document.
    ///
    /// # Errors
    /// It is none.
    pub fn read(value: Json) -> Result<Self, Vec<Trouble>> {
        let mut fields = Fields::taking(value).map_err(|trouble| Vec::from([trouble]))?;
        let version = fields.filled("version");
        if version.as_deref().is_some_and(|version| version != VERSION) {
            fields.trouble("version", Code::FieldInvalid, "version 1.0 is needed");
        }
        let counts = ["generation", "count", "dimension", "cleared_before_offset", "evicted"]
            .map(|name| fields.integer(name));
        if counts.first().copied().flatten().is_some_and(|generation| generation > GENERATION_MAX) {
            fields.trouble("generation", Code::FieldInvalid, "a generation has at most fifteen digits");
        }
        let embedder = fields.filled("embedder");
        let sha256 = fields.parse("sha256", |text| Digest::try_from(text));
        let caps = fields.object("caps", |caps| {
            let vectors_max = caps.integer("vectors_max");
            caps.deny_unknown();
            Some(Caps { vectors_max: vectors_max? })
        });
        let indexed = fields.object("indexed", |indexed| {
            let [bytes, lines] = ["bytes", "lines"].map(|name| indexed.integer(name));
            let landmark = indexed.parse("landmark", |text| Digest::try_from(text));
            indexed.deny_unknown();
            Some(Indexed { bytes: bytes?, lines: lines?, landmark: landmark? })
        });
        let bad_lines = fields.object("bad_lines", BadLines::read);
        fields.deny_unknown();
        fields.finish()?;
        let [generation, count, dimension, cleared_before_offset, evicted] = counts;
        let read = || {
            Some(Index {
                version: version?,
                generation: generation?,
                count: count?,
                dimension: dimension?,
                embedder: embedder?,
                sha256: sha256?,
                caps: caps?,
                indexed: indexed?,
                cleared_before_offset: cleared_before_offset?,
                evicted: evicted?,
                bad_lines: bad_lines?,
            })
        };
        read().ok_or_else(Vec::new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use countersign_record::json;

    #[test]
    fn a_generation_survives_its_document() {
        let index = Index {
            version: Index::version(),
            generation: 3,
            count: 2,
            dimension: 384,
            embedder: "hashed".into(),
            sha256: Digest::of(b"snapshot"),
            caps: Caps { vectors_max: 9 },
            indexed: Indexed::nothing(),
            cleared_before_offset: 4,
            evicted: 1,
            bad_lines: BadLines {
                count: 7,
                first: Vec::from([BadLine { line: 3, offset: 120, why: "json.syntax at byte 4".into() }]),
            },
        };
        let text = json::to_text(&index).unwrap();
        assert_eq!(Index::read(json::parse(text.as_bytes()).unwrap()), Ok(index));
        let other = text.replace("\"1.0\"", "\"2.0\"");
        assert!(Index::read(json::parse(other.as_bytes()).unwrap()).is_err());
    }
}
