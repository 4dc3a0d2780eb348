//! The words of `countersign scope`.
//! Owns: its options and their help. Must not: act.

use clap::{Args, ValueEnum};
use std::path::PathBuf;

#[derive(Args, Debug)]
pub(crate) struct Scope {
    /// The input, or - for standard input
    #[arg(value_name = "FILE|-", required_unless_present = "dir", conflicts_with = "dir")]
    pub(crate) file: Option<String>,
    /// Make the manifest of this folder instead
    #[arg(long, value_name = "DIR", requires = "prompt")]
    pub(crate) dir: Option<PathBuf>,
    /// What the user says
    #[arg(long, value_name = "TEXT", requires = "dir", conflicts_with = "file")]
    pub(crate) prompt: Option<String>,
    /// A file that is never eligible
    #[arg(long, value_name = "PATH", requires = "dir", conflicts_with = "file")]
    pub(crate) off: Vec<String>,
    /// A file that stays whatever matches
    #[arg(long, value_name = "PATH", requires = "dir", conflicts_with = "file")]
    pub(crate) include: Vec<String>,
    /// A file that goes whatever matches
    #[arg(long, value_name = "PATH", requires = "dir", conflicts_with = "file")]
    pub(crate) exclude: Vec<String>,
    /// Use this file and no other; may be given several times
    #[arg(long, value_name = "PATH", requires = "dir", conflicts_with = "file")]
    pub(crate) lock: Vec<String>,
    /// A pattern of paths that match
    #[arg(long, value_name = "REGEX", requires = "dir", conflicts_with = "file")]
    pub(crate) pattern: Vec<String>,
    /// Words that mean the same
    #[arg(long, value_name = "TERM=TERM", requires = "dir", conflicts_with = "file")]
    pub(crate) alias: Vec<String>,
    /// How many files may stay
    #[arg(long, value_name = "N", requires = "dir", conflicts_with = "file")]
    pub(crate) max_files: Option<u64>,
    /// Where nothing matches: none, or all_on for every file
    #[arg(
        long,
        value_enum,
        value_name = "WORD",
        requires = "dir",
        conflicts_with = "file",
        hide_possible_values = true
    )]
    pub(crate) fallback: Option<Fallback>,
    /// Read every file, also those whose hash is known
    #[arg(long, requires = "dir", conflicts_with = "file")]
    pub(crate) no_cache: bool,
}

/// What happens where nothing matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(crate) enum Fallback {
    None,
    AllOn,
}
