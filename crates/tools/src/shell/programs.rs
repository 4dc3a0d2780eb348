//! The programs that may be run, and what they may be given.
//! Owns: the table. Must not: have an interpreter, or an option that starts a program, writes a file or reads a list of
//! files from a file.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The value of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Value {
    /// It has none.
    None,
    /// A number.
    Count,
    /// Any text; it names no file.
    Text,
    /// What is looked for, or a script: the first operand is a path then.
    Pattern,
    /// One of these words.
    OneOf(&'static [&'static str]),
}

/// What stands beside the options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operands {
    /// Nothing.
    None,
    /// Texts, which begin at the first word: there are no options.
    Texts,
    /// Paths.
    Paths,
    /// A pattern, unless an option gave one, and paths.
    PatternThenPaths,
    /// A script of `sed`, unless an option gave one, and paths.
    ScriptThenPaths,
}

/// One program.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) name: &'static str,
    /// What it is always given, first.
    pub(super) fixed: &'static [&'static str],
    pub(super) short: &'static [(char, Value)],
    pub(super) long: &'static [(&'static str, Value)],
    /// Whether `-5` is short for `-n 5`.
    pub(super) takes_bare_count: bool,
    pub(super) operands: Operands,
}

/// Their names, for people.
pub(crate) const NAMES: [&str; 11] =
    ["cat", "echo", "grep", "head", "ls", "pwd", "rg", "sed", "sort", "tail", "wc"];
/// Where programs are, whatever the environment says.
const DIRS: [&str; 2] = ["/usr/bin", "/bin"];
const WHEN: Value = Value::OneOf(&["never", "auto", "always"]);

#[rustfmt::skip] // a line per option would hide the programs
const PROGRAMS: &[Program] = &[
    Program {
        name: "cat", fixed: &[], takes_bare_count: false, operands: Operands::Paths,
        short: &[('A', Value::None), ('b', Value::None), ('E', Value::None), ('n', Value::None), ('s', Value::None),
            ('T', Value::None), ('v', Value::None)],
        long: &[("number", Value::None), ("number-nonblank", Value::None), ("show-all", Value::None),
            ("show-ends", Value::None), ("show-tabs", Value::None), ("squeeze-blank", Value::None)],
    },
    Program { name: "echo", fixed: &[], short: &[], long: &[], takes_bare_count: false, operands: Operands::Texts },
    Program {
        // Pipes and devices are passed over: nobody would write into a pipe.
        name: "grep", fixed: &["--color=never", "-D", "skip"], takes_bare_count: false,
        operands: Operands::PatternThenPaths,
        short: &[('A', Value::Count), ('B', Value::Count), ('C', Value::Count), ('E', Value::None), ('F', Value::None),
            ('G', Value::None), ('H', Value::None), ('I', Value::None), ('L', Value::None), ('P', Value::None),
            ('a', Value::None), ('b', Value::None), ('c', Value::None), ('e', Value::Pattern), ('h', Value::None),
            ('i', Value::None), ('l', Value::None), ('m', Value::Count), ('n', Value::None), ('o', Value::None),
            ('q', Value::None), ('r', Value::None), ('s', Value::None), ('v', Value::None), ('w', Value::None),
            ('x', Value::None), ('y', Value::None), ('Z', Value::None), ('z', Value::None)],
        long: &[("after-context", Value::Count), ("before-context", Value::Count), ("context", Value::Count),
            ("count", Value::None), ("exclude", Value::Text), ("exclude-dir", Value::Text),
            ("extended-regexp", Value::None), ("files-with-matches", Value::None), ("files-without-match", Value::None),
            ("fixed-strings", Value::None), ("ignore-case", Value::None), ("include", Value::Text),
            ("invert-match", Value::None), ("line-number", Value::None), ("line-regexp", Value::None),
            ("max-count", Value::Count), ("no-filename", Value::None), ("no-messages", Value::None),
            ("only-matching", Value::None), ("quiet", Value::None), ("recursive", Value::None),
            ("regexp", Value::Pattern), ("with-filename", Value::None), ("word-regexp", Value::None),
            ("color", WHEN)],
    },
    Program {
        name: "head", fixed: &[], takes_bare_count: true, operands: Operands::Paths,
        short: &[('c', Value::Count), ('n', Value::Count), ('q', Value::None), ('v', Value::None), ('z', Value::None)],
        long: &[("bytes", Value::Count), ("lines", Value::Count), ("quiet", Value::None), ("verbose", Value::None)],
    },
    Program {
        name: "ls", fixed: &["--color=never"], takes_bare_count: false, operands: Operands::Paths,
        short: &[('1', Value::None), ('A', Value::None), ('C', Value::None), ('F', Value::None), ('R', Value::None),
            ('S', Value::None), ('X', Value::None), ('a', Value::None), ('d', Value::None), ('g', Value::None),
            ('h', Value::None), ('i', Value::None), ('l', Value::None), ('m', Value::None), ('n', Value::None),
            ('o', Value::None), ('p', Value::None), ('r', Value::None), ('s', Value::None), ('t', Value::None),
            ('u', Value::None), ('c', Value::None), ('v', Value::None), ('x', Value::None)],
        long: &[("all", Value::None), ("almost-all", Value::None), ("directory", Value::None),
            ("full-time", Value::None), ("group-directories-first", Value::None), ("human-readable", Value::None),
            ("recursive", Value::None), ("reverse", Value::None), ("size", Value::None), ("color", WHEN)],
    },
    Program {
        name: "pwd", fixed: &[], takes_bare_count: false, operands: Operands::None,
        short: &[('L', Value::None), ('P', Value::None)], long: &[],
    },
    Program {
        // One thread and one order; nothing from a settings file or from above the root, and no program for what is packed.
        name: "rg", fixed: &["--no-config", "--color=never", "--no-mmap", "--sort=path", "--no-pre", "--no-search-zip",
            "--no-ignore-parent", "--no-ignore-global"],
        takes_bare_count: false, operands: Operands::PatternThenPaths,
        short: &[('A', Value::Count), ('B', Value::Count), ('C', Value::Count), ('F', Value::None), ('H', Value::None),
            ('I', Value::None), ('N', Value::None), ('S', Value::None), ('U', Value::None), ('a', Value::None),
            ('c', Value::None), ('e', Value::Pattern), ('g', Value::Text), ('i', Value::None), ('l', Value::None),
            ('m', Value::Count), ('n', Value::None), ('o', Value::None), ('q', Value::None), ('s', Value::None),
            ('t', Value::Text), ('T', Value::Text), ('u', Value::None), ('v', Value::None), ('w', Value::None),
            ('x', Value::None)],
        long: &[("after-context", Value::Count), ("before-context", Value::Count), ("column", Value::None),
            ("context", Value::Count), ("count", Value::None), ("files", Value::None),
            ("files-with-matches", Value::None), ("files-without-match", Value::None), ("fixed-strings", Value::None),
            ("glob", Value::Text), ("heading", Value::None), ("hidden", Value::None), ("iglob", Value::Text),
            ("ignore-case", Value::None), ("invert-match", Value::None), ("json", Value::None),
            ("line-number", Value::None), ("line-regexp", Value::None), ("max-columns", Value::Count),
            ("max-count", Value::Count), ("max-depth", Value::Count), ("multiline", Value::None),
            ("no-filename", Value::None), ("no-heading", Value::None), ("no-ignore", Value::None),
            ("no-line-number", Value::None), ("only-matching", Value::None), ("quiet", Value::None),
            ("regexp", Value::Pattern), ("smart-case", Value::None), ("stats", Value::None), ("text", Value::None),
            ("type", Value::Text), ("type-not", Value::Text), ("unrestricted", Value::None), ("vimgrep", Value::None),
            ("with-filename", Value::None), ("word-regexp", Value::None), ("color", WHEN)],
    },
    Program {
        // GNU's own refusal of `e`, `r` and `w`, beside the rules of `sed.rs`.
        name: "sed", fixed: &["--sandbox"], takes_bare_count: false, operands: Operands::ScriptThenPaths,
        short: &[('E', Value::None), ('e', Value::Pattern), ('n', Value::None), ('r', Value::None), ('s', Value::None),
            ('u', Value::None), ('z', Value::None)],
        long: &[("expression", Value::Pattern), ("null-data", Value::None), ("quiet", Value::None),
            ("regexp-extended", Value::None), ("separate", Value::None), ("silent", Value::None)],
    },
    Program {
        // One thread. What does not fit into memory would need a temporary file, which can't be written.
        name: "sort", fixed: &["--parallel=1"], takes_bare_count: false, operands: Operands::Paths,
        short: &[('b', Value::None), ('c', Value::None), ('d', Value::None), ('f', Value::None), ('g', Value::None),
            ('h', Value::None), ('i', Value::None), ('k', Value::Text), ('n', Value::None), ('r', Value::None),
            ('s', Value::None), ('t', Value::Text), ('u', Value::None), ('V', Value::None), ('z', Value::None)],
        long: &[("check", Value::None), ("field-separator", Value::Text), ("human-numeric-sort", Value::None),
            ("ignore-case", Value::None), ("key", Value::Text), ("numeric-sort", Value::None),
            ("reverse", Value::None), ("stable", Value::None), ("unique", Value::None), ("version-sort", Value::None)],
    },
    Program {
        name: "tail", fixed: &[], takes_bare_count: true, operands: Operands::Paths,
        short: &[('c', Value::Count), ('n', Value::Count), ('q', Value::None), ('v', Value::None), ('z', Value::None)],
        long: &[("bytes", Value::Count), ("lines", Value::Count), ("quiet", Value::None), ("verbose", Value::None)],
    },
    Program {
        name: "wc", fixed: &[], takes_bare_count: false, operands: Operands::Paths,
        short: &[('L', Value::None), ('c', Value::None), ('l', Value::None), ('m', Value::None), ('w', Value::None)],
        long: &[("bytes", Value::None), ("chars", Value::None), ("lines", Value::None),
            ("max-line-length", Value::None), ("words", Value::None)],
    },
];

/// The rules of a program.
pub(super) fn named(name: &str) -> Option<&'static Program> {
    PROGRAMS.iter().find(|program| program.name == name)
}

/// The file of a program.
pub(crate) fn find(name: &str) -> Option<PathBuf> {
    DIRS.iter().map(|dir| Path::new(dir).join(name)).find(|path| {
        path.metadata().is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_program_is_named() {
        assert_eq!(PROGRAMS.iter().map(|program| program.name).collect::<Vec<_>>(), NAMES);
    }
}
