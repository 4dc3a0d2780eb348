//! The words of the commands that show how a task's run stands.
//! Owns: options and their help. Must not: act.

use clap::{Args, Subcommand};

/// What is said of all pages, with an example of one.
macro_rules! after {
    ($name:literal) => {
        concat!(
            "Everything is derived from the run's records when it is asked for. Standard output says up to which place of \
them, whether what the run put down for it still counts, and with --json what it is derived from.

Example:
  countersign ",
            $name,
            " run_0123456789abcdef"
        )
    };
}

pub(crate) const HEALTH: &str = after!("health");
pub(crate) const FINDINGS: &str = after!("findings");
pub(crate) const REVIEW: &str = after!("review");
pub(crate) const ATTENTION: &str = after!("attention");
pub(crate) const EVIDENCE: &str = after!("evidence");
pub(crate) const CHAIN: &str = after!("chain");
pub(crate) const BOARD: &str = after!("board");

#[derive(Args, Debug)]
pub(crate) struct OfRun {
    /// The run
    #[arg(value_name = "RUN")]
    pub(crate) run: String,
}

#[derive(Args, Debug)]
pub(crate) struct OfRuns {
    /// The run; all runs of tasks without it
    #[arg(value_name = "RUN")]
    pub(crate) run: Option<String>,
}

#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true, arg_required_else_help = true)]
pub(crate) struct OfBudget {
    /// The run, as with show
    #[arg(value_name = "RUN")]
    pub(crate) run: Option<String>,
    #[command(subcommand)]
    pub(crate) command: Option<Budget>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Budget {
    /// What a run costs, or what the matter may spend and has spent
    #[command(after_help = "Example:\n  countersign budget show run_0123456789abcdef")]
    Show {
        /// The run; the matter without it
        #[arg(value_name = "RUN")]
        run: Option<String>,
    },
    /// Set what all runs of the matter may spend together, from now on
    #[command(
        after_help = "A run holds what a step may cost before it takes it, and what is held counts as spent for all others. A step that \
would go beyond a cap is not taken: the run asks a person. What is not named has no cap.

Example:
  countersign budget cap --usd 20 --calls 500"
    )]
    Cap(Caps),
}

#[derive(Args, Debug)]
#[command(
    group(clap::ArgGroup::new("cap").required(true).multiple(true)),
    override_usage = "countersign budget cap --none\n       countersign budget cap --usd AMOUNT, --calls COUNT, ..."
)]
pub(crate) struct Caps {
    /// No cap at all from now on
    #[arg(long, group = "cap", conflicts_with_all = ["usd", "calls", "input_tokens", "output_tokens"])]
    pub(crate) none: bool,
    /// Dollars, with six decimals at most
    #[arg(long, value_name = "AMOUNT", group = "cap")]
    pub(crate) usd: Option<String>,
    /// Questions to models elsewhere
    #[arg(long, value_name = "COUNT", group = "cap")]
    pub(crate) calls: Option<u64>,
    /// Tokens that go in
    #[arg(long, value_name = "COUNT", group = "cap")]
    pub(crate) input_tokens: Option<u64>,
    /// Tokens that come out
    #[arg(long, value_name = "COUNT", group = "cap")]
    pub(crate) output_tokens: Option<u64>,
}
