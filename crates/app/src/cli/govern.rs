//! The words of `countersign lint`, `conformance` and `formula`.
//! Owns: their options and their help. Must not: act.

use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Args, Debug)]
pub(crate) struct Lint {
    /// The bundle, or - for standard input
    #[arg(value_name = "BUNDLE|-")]
    pub(crate) bundle: String,
    /// Also fail where a record does not have the members of its type
    #[arg(long)]
    pub(crate) strict: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Conformance {
    /// Fixtures of this folder instead of those that come with the program
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
    /// Only this area; may be given several times
    #[arg(long, value_name = "AREA")]
    pub(crate) area: Vec<String>,
}

#[derive(Subcommand, Debug)]
pub(crate) enum Formula {
    /// All formulas
    List,
    /// One formula: its text, inputs, policies and test vectors
    Show {
        /// Which one
        #[arg(value_name = "ID")]
        id: String,
    },
    /// A value, with its receipt
    #[command(
        after_help = "Example:\n  echo '{\"hits\":8,\"trials\":10}' | countersign formula eval wilson_interval_v1 -"
    )]
    Eval {
        /// Which formula
        #[arg(value_name = "ID")]
        id: String,
        /// The inputs, a JSON object, or - for standard input
        #[arg(value_name = "FILE|-")]
        inputs: String,
        /// The record that shall have the value
        #[arg(long, value_name = "KIND:ID", default_value = "value:1")]
        output_ref: String,
    },
}
