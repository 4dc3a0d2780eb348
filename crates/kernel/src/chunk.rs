//! Cuts a file into pieces that can be found and cited.
//! Owns: where a piece begins and ends, and what it is under. Must not: lose a byte: the pieces are the file.
//!
//! Markdown is cut at headings and paragraphs, code at blocks that begin at the margin, other texts at paragraphs and
//! lines that look like headings.

mod form;

pub use form::Form;

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::ops::Range;
use countersign_record::digest::Digest;
use form::{Block, blocks};
use serde::Serialize;

/// Characters of a file that are its opening.
const OPENING_CHARS_MAX: usize = 300;

/// How large pieces are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a piece at most; at least four, so that any character has room.
    pub bytes_max: usize,
    /// Pieces of a file; what is behind them is left out, and the caller told.
    pub chunks_max: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { bytes_max: 1_200, chunks_max: 100_000 }
    }
}

/// A piece of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Chunk {
    /// The file.
    pub path: String,
    /// The first of its lines, from 1.
    pub first_line: usize,
    /// The last of its lines.
    pub last_line: usize,
    /// Where it stands in the file, in bytes.
    pub bytes: Range<usize>,
    /// SHA-256 of its bytes.
    pub sha256: Digest,
    /// The headings that it is under, the outermost first.
    pub headings: Vec<String>,
    /// How the file begins, which often says what it is about.
    pub opening: String,
    /// Its bytes.
    pub text: String,
}

impl Chunk {
    /// The lines of a piece of its text, given in bytes from its beginning.
    #[must_use]
    pub fn lines_of(&self, span: &Range<usize>) -> (usize, usize) {
        let before = newlines(self.text.get(..span.start).unwrap_or_default());
        let within = newlines(self.text.get(span.clone()).unwrap_or_default());
        (self.first_line + before, self.first_line + before + within)
    }
}

/// The pieces of a file, in order. Together they are its text, unless there are more than the limit.
#[must_use]
pub fn chunks(path: &str, text: &str, limits: Limits) -> Vec<Chunk> {
    let bytes_max = limits.bytes_max.max(4);
    let mut pieces: Vec<(Range<usize>, Vec<String>)> = Vec::new();
    for Block { span, headings, begins } in blocks(Form::of(path), text) {
        match pieces.last_mut() {
            Some((last, _)) if !begins && span.end - last.start <= bytes_max => last.end = span.end,
            Some(_) | None => {
                let parts = split(text, &span, bytes_max);
                pieces.extend(parts.into_iter().map(|part| (part, headings.clone())));
            }
        }
    }
    let opening: String =
        text.trim_start_matches('\u{feff}').trim_start().chars().take(OPENING_CHARS_MAX).collect();
    let mut line = 1;
    pieces
        .into_iter()
        .take(limits.chunks_max)
        .map(|(bytes, headings)| {
            let piece = text.get(bytes.clone()).unwrap_or_default();
            let first_line = line;
            line += newlines(piece);
            // The end of a line belongs to that line.
            let last_line = if piece.ends_with('\n') { line - 1 } else { line };
            Chunk {
                path: path.to_string(),
                first_line,
                last_line,
                sha256: Digest::of(piece.as_bytes()),
                bytes,
                headings,
                opening: opening.clone(),
                text: piece.to_string(),
            }
        })
        .collect()
}

fn newlines(text: &str) -> usize {
    text.bytes().filter(|byte| *byte == b'\n').count()
}

/// A block in parts that fit: they end with a line, else with a sentence or a word, else between two characters.
fn split(text: &str, span: &Range<usize>, bytes_max: usize) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let mut start = span.start;
    while span.end - start > bytes_max {
        let hard =
            (start..=start + bytes_max).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(span.end);
        let room = text.get(start..hard).unwrap_or_default();
        let behind = |found: Option<usize>, length: usize| {
            found.map(|at| at + length).filter(|at| *at * 2 > room.len())
        };
        let length = behind(room.rfind('\n'), 1)
            .or_else(|| behind(room.rfind(". "), 2))
            .or_else(|| behind(room.rfind(' '), 1))
            .unwrap_or(room.len())
            .max(1);
        parts.push(start..start + length);
        start += length;
    }
    parts.push(start..span.end);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::format;

    fn cut(path: &str, text: &str, bytes_max: usize) -> Vec<Chunk> {
        chunks(path, text, Limits { bytes_max, ..Limits::default() })
    }

    fn shown(path: &str, text: &str, bytes_max: usize) -> Vec<String> {
        let one = |one: Chunk| {
            format!("{}-{} {} {:?}", one.first_line, one.last_line, one.headings.join(">"), one.text)
        };
        cut(path, text, bytes_max).into_iter().map(one).collect()
    }

    #[test]
    fn markdown_is_cut_at_headings_and_paragraphs() {
        let text = "Intro.\n\n# Lease\n\nOne.\n\nTwo.\n## Term\nThree.\n```\n# no heading\n\nx\n```\n# Rent\nFour.\n";
        assert_eq!(
            shown("a.md", text, 1_000),
            [
                "1-2  \"Intro.\\n\\n\"",
                "3-7 Lease \"# Lease\\n\\nOne.\\n\\nTwo.\\n\"",
                "8-14 Lease>Term \"## Term\\nThree.\\n```\\n# no heading\\n\\nx\\n```\\n\"",
                "15-16 Rent \"# Rent\\nFour.\\n\"",
            ]
        );
        let small = shown("a.md", text, 17);
        assert_eq!(small[1], "3-6 Lease \"# Lease\\n\\nOne.\\n\\n\"");
        assert_eq!(small[2], "7-7 Lease \"Two.\\n\"");
        let underlined = "Lease\n=====\nOne.\n\nTerm\n----\nTwo.\n";
        assert_eq!(
            shown("a.md", underlined, 1_000),
            ["1-4 Lease \"Lease\\n=====\\nOne.\\n\\n\"", "5-7 Lease>Term \"Term\\n----\\nTwo.\\n\""]
        );
    }

    #[test]
    fn code_is_cut_at_blocks_that_begin_at_the_margin() {
        let text = "use a;\n\n/// Doc.\nfn one() {\n\n    x\n}\n\nfn two() {}\n";
        assert_eq!(
            shown("a.rs", text, 30),
            [
                "1-2  \"use a;\\n\\n\"",
                "3-8  \"/// Doc.\\nfn one() {\\n\\n    x\\n}\\n\\n\"",
                "9-9  \"fn two() {}\\n\""
            ]
        );
    }

    #[test]
    fn texts_are_cut_at_paragraphs_and_headings() {
        let text = "LEASE\n\n1. TERM\n\nIt ends in May.\nIt began.\n\n2. RENT\n\nIt is due.";
        assert_eq!(
            shown("a.txt", text, 1_000),
            [
                "1-2 LEASE \"LEASE\\n\\n\"",
                "3-7 LEASE>1. TERM \"1. TERM\\n\\nIt ends in May.\\nIt began.\\n\\n\"",
                "8-10 LEASE>2. RENT \"2. RENT\\n\\nIt is due.\"",
            ]
        );
    }

    #[test]
    fn a_quote_knows_its_lines() {
        let chunk = cut("a.md", "x\n\n# H\nOne\ntwo. Three.\n", 1_000).remove(1);
        let at = chunk.text.find("One").unwrap();
        assert_eq!(chunk.lines_of(&(at..at + 8)), (4, 5));
        assert_eq!(chunk.lines_of(&(at + 9..at + 15)), (5, 5));
    }

    proptest! {
        #[test]
        fn the_pieces_are_the_file(
            text in "([a-z#\\-|= .{}]{0,12}(\n|\r\n|\n\n)?){0,40}|(\u{e9}|\u{1f600}|a|\n){0,80}",
            name in "a\\.(md|rs|txt|json|py)",
            bytes_max in 4_usize..200,
        ) {
            let all = cut(&name, &text, bytes_max);
            let (mut at, mut line) = (0, 1);
            for chunk in &all {
                prop_assert_eq!(chunk.bytes.start, at);
                prop_assert_eq!(chunk.first_line, line);
                prop_assert_eq!(&text[chunk.bytes.clone()], chunk.text.as_str());
                prop_assert!(!chunk.text.is_empty() && chunk.text.len() <= bytes_max);
                prop_assert_eq!(chunk.sha256, Digest::of(chunk.text.as_bytes()));
                prop_assert!(chunk.last_line >= chunk.first_line);
                at = chunk.bytes.end;
                line += newlines(&chunk.text);
            }
            prop_assert_eq!(at, text.len());
            prop_assert_eq!(&all, &cut(&name, &text, bytes_max));
        }
    }
}
