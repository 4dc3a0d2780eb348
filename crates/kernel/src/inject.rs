//! A1: the files that a prompt names, shown whole or as what they declare.
//! Owns: which files, in which mode, and the ❖FILES block. Must not: rank files, read one, or show bytes that are not those
//! of the manifest.

mod pack;

use crate::chunk::Form;
use crate::scope::{File, Payload};
use crate::words::{folded, place, spaced};
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_record::digest::Digest;
use serde::Serialize;

/// The first line of the block.
pub const HEADER: &str = "❖ FILES";

/// How much is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a file that is shown whole; a longer one is packed.
    pub full_bytes_max: usize,
    /// Bytes of a packed file.
    pub pack_bytes_max: usize,
    /// Files.
    pub files_max: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { full_bytes_max: 16 * 1024, pack_bytes_max: 8 * 1024, files_max: 32 }
    }
}

/// A file that is to be shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Wanted {
    /// Where it is.
    pub path: String,
    /// SHA-256 of its bytes, as the manifest says.
    pub sha256: Digest,
    /// Why: a word, and what was found.
    pub reason: Vec<String>,
}

/// A file that is to be shown, with its text; none, if it is no text or could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Given<'a> {
    /// Which.
    pub wanted: Wanted,
    /// What it says.
    pub text: Option<&'a str>,
}

/// The block.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Block {
    /// The files that are shown, in order.
    pub files: Vec<Injected>,
    /// Those that are not.
    pub left_out: Vec<LeftOut>,
}

/// A file that is shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Injected {
    /// Where it is.
    pub path: String,
    /// SHA-256 of its bytes.
    pub sha256: Digest,
    /// Whole or packed.
    pub mode: Mode,
    /// Why.
    pub reason: Vec<String>,
    /// What is shown of it.
    pub text: String,
}

/// How much of a file is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Mode {
    /// All of it.
    Full,
    /// Signatures and headings, with the numbers of their lines.
    Pack,
}

impl Mode {
    fn word(self) -> &'static str {
        match self {
            Mode::Full => "FULL",
            Mode::Pack => "PACK",
        }
    }
}

/// A file that is not shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// Where it is.
    pub path: String,
    /// Why.
    pub reason: Vec<String>,
}

/// The files that are to be shown, in A0's order: those that a lock names, and code and configurations that the prompt
/// names.
#[must_use]
pub fn wanted(prompt: &str, manifest: &[File], scope: &Payload) -> Vec<Wanted> {
    let (as_written, words) = (folded(prompt), spaced(prompt));
    let eligible: BTreeSet<&str> = scope.eligible_files.iter().map(|file| file.path.as_str()).collect();
    let locked: BTreeSet<&str> = scope
        .eligible_files
        .iter()
        .filter(|file| file.reason.first().is_some_and(|reason| reason == "KEPT:lock"))
        .map(|file| file.path.as_str())
        .collect();
    let mut found = Vec::new();
    for path in &scope.candidate_files_block.files {
        let Some(file) = manifest.iter().find(|file| file.path == *path) else { continue };
        // What stands in the block and is not eligible is there by a lock alone.
        let is_locked = locked.contains(path.as_str()) || !eligible.contains(path.as_str());
        let reason = match is_locked {
            true => Some(reason("lock", "the lock names it")),
            false if Form::of(path) == Form::Code => named(file, &as_written, &words),
            false => None,
        };
        if let Some(reason) = reason {
            found.push(Wanted { path: path.clone(), sha256: file.sha256, reason });
        }
    }
    found
}

/// How a prompt names a file.
fn named(file: &File, as_written: &str, words: &str) -> Option<Vec<String>> {
    for name in [file.path.as_str(), file.name()] {
        if place(as_written, &folded(name)).is_some() {
            return Some(reason("named", name));
        }
    }
    place(words, &spaced(file.stem())).map(|_| reason("title", file.stem()))
}

/// Makes the block of what was read.
#[must_use]
pub fn inject(given: &[Given<'_>], limits: &Limits) -> Block {
    let mut block = Block::default();
    for Given { wanted: Wanted { path, sha256, reason: why }, text } in given {
        let refused = match text {
            _ if block.files.len() >= limits.files_max => {
                Some(reason("max-files", &format!("{} are shown", limits.files_max)))
            }
            None => Some(reason("no-text", "it is no text in UTF-8, or can't be read")),
            Some(text) if Digest::of(text.as_bytes()) != *sha256 => {
                Some(reason("changed", "it is not the file that the manifest names"))
            }
            Some(_) => None,
        };
        match (refused, text) {
            (Some(reason), _) => block.left_out.push(LeftOut { path: path.clone(), reason }),
            (None, None) => {}
            (None, Some(text)) => {
                let (mode, text) = match text.len() <= limits.full_bytes_max {
                    true => (Mode::Full, (*text).to_string()),
                    false => (Mode::Pack, pack::pack(path, text, limits.pack_bytes_max)),
                };
                block.files.push(Injected {
                    path: path.clone(),
                    sha256: *sha256,
                    mode,
                    reason: why.clone(),
                    text,
                });
            }
        }
    }
    block
}

impl Injected {
    /// As it stands in a prompt: no text can end its own fence.
    #[must_use]
    pub fn shown(&self) -> String {
        let fence = "`".repeat(longest_run(&self.text, '`').max(2) + 1);
        let Injected { path, sha256, mode, reason, text } = self;
        let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        let why = reason.join(": ");
        format!("## {path} ({}, sha256 {sha256}, {why})\n{fence}\n{text}{end}{fence}\n", mode.word())
    }
}

impl Block {
    /// As it stands in a prompt; nothing, if there is no file.
    #[must_use]
    pub fn shown(&self) -> String {
        if self.files.is_empty() {
            return String::new();
        }
        let mut shown = format!("{HEADER}\n");
        self.files.iter().for_each(|file| shown.push_str(&file.shown()));
        shown
    }
}

fn longest_run(text: &str, mark: char) -> usize {
    text.split(|letter| letter != mark).map(str::len).max().unwrap_or(0)
}

fn reason(word: &str, detail: &str) -> Vec<String> {
    Vec::from([word.to_string(), detail.to_string()])
}

#[cfg(test)]
#[path = "inject/inject_tests.rs"]
mod tests;
