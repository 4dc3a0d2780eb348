//! The words of `countersign lint`, `conformance` and `formula`.
//! Owns: their options and their help. Must not: act.

use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

#[derive(Args, Debug)]
pub(crate) struct Lint {
    /// The bundle, or - for standard input
    #[arg(value_name = "BUNDLE|-", required_unless_present = "ledger", conflicts_with = "ledger")]
    pub(crate) bundle: Option<String>,
    /// The governed records of the matter's ledger instead of a bundle
    #[arg(long)]
    pub(crate) ledger: bool,
    /// Also fail where a reference names a record that the bundle lacks
    #[arg(long, conflicts_with = "ledger")]
    pub(crate) whole: bool,
    /// Also fail where a record does not have the members of its type
    #[arg(long, conflicts_with = "ledger")]
    pub(crate) strict: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Conformance {
    /// Fixtures of this folder instead of those that come with the program
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
    /// Only this area, or kinds; may be given several times
    #[arg(long, value_name = "AREA")]
    pub(crate) area: Vec<String>,
}

#[derive(Subcommand, Debug)]
pub(crate) enum Formula {
    /// All formulas
    #[command(after_help = "Example:\n  countersign formula list --json")]
    List,
    /// One formula: its text, inputs, policies and test vectors
    #[command(after_help = "Example:\n  countersign formula show claim_support_v1")]
    Show {
        /// Which one
        #[arg(value_name = "ID")]
        id: String,
    },
    /// A value, with its receipt
    #[command(after_help = "Example:\n  countersign formula eval wilson_interval_v1 inputs.json")]
    Eval {
        /// Which formula
        #[arg(value_name = "ID")]
        id: String,
        /// The inputs, a JSON object, or - for standard input
        #[arg(value_name = "FILE|-")]
        inputs: String,
        /// The record of the value
        #[arg(long, value_name = "KIND:ID", default_value = "value:1")]
        output_ref: String,
    },
}

#[derive(Args, Debug)]
pub(crate) struct Derive {
    /// What is derived
    #[arg(value_enum, value_name = "KIND")]
    pub(crate) kind: Derivation,
    /// The inputs, a JSON object, or - for standard input
    #[arg(value_name = "FILE|-")]
    pub(crate) inputs: String,
    /// The record of the value
    #[arg(long, value_name = "KIND:ID", default_value = "value:1")]
    pub(crate) output_ref: String,
}

/// What can be derived; each is a registered formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Derivation {
    Chain,
    ClaimSupport,
    Sufficiency,
    Quality,
    Weights,
    Reliance,
    Taint,
    Reputation,
    Novelty,
    Template,
    Calibration,
    TieBreak,
}

impl Derivation {
    /// The formula that it is.
    pub(crate) fn formula(self) -> &'static str {
        match self {
            Derivation::Chain => "pattern_c_resolution_v1",
            Derivation::ClaimSupport => "claim_support_v1",
            Derivation::Sufficiency => "sufficiency_route_v1",
            Derivation::Quality => "quality_index_v1",
            Derivation::Weights => "criterion_weights_v1",
            Derivation::Reliance => "reliance_status_v1",
            Derivation::Taint => "taint_join_v1",
            Derivation::Reputation => "sub_agent_reputation_score_v1",
            Derivation::Novelty => "novelty_v1",
            Derivation::Template => "template_match_score_v1",
            Derivation::Calibration => "planner_confidence_brier_score",
            Derivation::TieBreak => "concurrency_tie_break_v1",
        }
    }
}
