//! The words of `countersign memory`.
//! Owns: its commands, options and their help. Must not: act.

use clap::{Args, Subcommand};
use countersign_record::turn::Speaker;
use std::path::PathBuf;

/// Where a conversation is, and how it is indexed.
#[derive(Args, Clone, Debug)]
pub(crate) struct Conversing {
    /// The conversation's directory, if not the matter's
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
    /// A directory with a static embedding model
    #[arg(long, value_name = "DIR", env = "COUNTERSIGN_MODEL", hide_env = true)]
    pub(crate) model: Option<PathBuf>,
    /// Vectors the index may hold
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    pub(crate) cap: u64,
}

/// `memory append`.
#[derive(Args, Debug)]
pub(crate) struct Append {
    /// The turn, or - for standard input
    #[arg(value_name = "FILE|-")]
    pub(crate) file: String,
    /// The input is plain text, said by user, assistant or external
    #[arg(long, value_name = "ROLE", value_parser = |word: &str| Speaker::try_from(word))]
    pub(crate) role: Option<Speaker>,
    /// From 0 to 1: what goes last when the index is full
    #[arg(long, value_name = "NUMBER")]
    pub(crate) importance: Option<String>,
    /// A word it can be found by; may be given again
    #[arg(long, value_name = "WORD")]
    pub(crate) tag: Vec<String>,
    /// A file it speaks of; may be given again
    #[arg(long, value_name = "PATH")]
    pub(crate) about: Vec<String>,
    /// Leave the index as it is
    #[arg(long)]
    pub(crate) no_index: bool,
    #[command(flatten)]
    pub(crate) conversing: Conversing,
}

/// `memory recall`.
#[derive(Args, Debug)]
pub(crate) struct Recall {
    /// What the prompt is about
    #[arg(value_name = "QUERY")]
    pub(crate) query: String,
    /// How many of the last turns stand in it word for word
    #[arg(long, short = 'k', value_name = "K", default_value_t = 5)]
    pub(crate) turns: usize,
    /// Tokens that what is pointed to may take
    #[arg(long, value_name = "N", default_value_t = 500)]
    pub(crate) tokens: u64,
    /// Pieces that may be pointed to
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) items: u64,
    /// A file that is OFF; may be given again
    #[arg(long, value_name = "PATH")]
    pub(crate) off: Vec<String>,
    /// A file that stands in the prompt; may be given again
    #[arg(long, value_name = "PATH")]
    pub(crate) inject: Vec<String>,
    /// The prompt is locked to its files: point to nothing
    #[arg(long)]
    pub(crate) lock: bool,
    /// Words that mean the same: a .txt, .csv or .json file
    #[arg(long, value_name = "FILE")]
    pub(crate) aliases: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) conversing: Conversing,
}
