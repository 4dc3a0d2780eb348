//! The words of the commands on what is governed: commands, checkpoints, forks, replays, comparing, explaining.
//! Owns: options and their help. Must not: act.

use clap::{Args, Subcommand, ValueEnum};
use countersign_govern::types::replay::TaskReplayMode;
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub(crate) enum Commands {
    /// Print every command: what it does, needs and writes, what it is asked with
    #[command(
        after_help = "With --json: also the schemas, the policy checks, how it can fail, and what is shown where it can't be carried \
out.\n\nExample:\n  countersign command list --json"
    )]
    List,
    /// Give a command to a task's run
    #[command(
        after_help = "The request is one JSON object (command list has its members); without --request it is empty. What a command writes is \
durable with its receipt or not at all. The same key with the same request gives the same receipt again and does nothing.

source.recheck needs no request: the files of the task's folder are read, and their hashes handed over.

Exit codes: 0 it was carried out, 1 it was refused (command.denied, command.missing, command.state; that it was asked for is on record), \
2 there is no such command, or the request does not fit it.

Examples:
  countersign command run reliance.review_packet --run run_0123456789abcdef
  countersign command run source.recheck --run run_0123456789abcdef
  echo '{\"destination\":\"evidence.json\",\"confirmed\":true}' |
    countersign command run evidence.export_package \\
    --run run_0123456789abcdef --request -"
    )]
    Run {
        /// The command, as command list has it
        #[arg(value_name = "ID")]
        id: String,
        /// The run
        #[arg(long, value_name = "RUN")]
        run: String,
        /// What is asked, or - for standard input
        #[arg(long, value_name = "FILE|-")]
        request: Option<String>,
        /// By which a second try is known
        #[arg(long, value_name = "KEY")]
        key: Option<String>,
        /// Where the task's files are, if not where the run began
        #[arg(long, value_name = "DIR")]
        folder: Option<PathBuf>,
    },
}

/// What `command` prints below its subcommands.
pub(crate) const COMMAND: &str = "Example:\n  countersign command list";

#[derive(Args, Debug)]
pub(crate) struct Checkpoint {
    /// The run
    #[arg(value_name = "RUN")]
    pub(crate) run: String,
    /// What it is called by people
    #[arg(long, value_name = "TEXT")]
    pub(crate) name: Option<String>,
    /// Print the checkpoints instead
    #[arg(long, conflicts_with = "name")]
    pub(crate) list: bool,
}

/// What `checkpoint` prints below its options.
pub(crate) const CHECKPOINT: &str =
    "A checkpoint keeps the versions that count now. One is made by itself whenever every outcome of a \
work product is satisfied.

Examples:
  countersign checkpoint run_0123456789abcdef --name 'before the review'
  countersign checkpoint run_0123456789abcdef --list";

#[derive(Args, Debug)]
pub(crate) struct Fork {
    /// The run
    #[arg(value_name = "RUN")]
    pub(crate) run: String,
    /// By its id or its name; the last one if absent
    #[arg(long, value_name = "CHECKPOINT")]
    pub(crate) checkpoint: Option<String>,
    /// Why
    #[arg(long, value_name = "TEXT", default_value = "to try another way", hide_default_value = true)]
    pub(crate) reason: String,
}

/// What `fork` prints below its options.
pub(crate) const FORK: &str = "The new run begins with the versions that the checkpoint keeps, and runs resume carries it on; the other \
run stays as it is. What was done outside and can't be undone is listed: it stays done. What people decided in the other run is not \
carried over.

Example:
  countersign fork run_0123456789abcdef --reason 'with another judge'";

/// How a run is gone through again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(crate) enum Mode {
    AuditReconstruction,
    SimulationFromRecordedOutputs,
    DeterministicReexecution,
    BestEffortRerun,
}

impl From<Mode> for TaskReplayMode {
    fn from(mode: Mode) -> Self {
        match mode {
            Mode::AuditReconstruction => TaskReplayMode::AuditReconstruction,
            Mode::SimulationFromRecordedOutputs => TaskReplayMode::SimulationFromRecordedOutputs,
            Mode::DeterministicReexecution => TaskReplayMode::DeterministicReexecution,
            Mode::BestEffortRerun => TaskReplayMode::BestEffortRerun,
        }
    }
}

#[derive(Args, Debug)]
pub(crate) struct Replay {
    /// The run
    #[arg(value_name = "RUN")]
    pub(crate) run: String,
    /// How; audit_reconstruction if absent
    #[arg(long, value_enum, value_name = "MODE", default_value_t = Mode::AuditReconstruction)]
    #[arg(hide_default_value = true, hide_possible_values = true)]
    pub(crate) mode: Mode,
    /// Who answers in a best_effort_rerun, instead of who did
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
}

/// What `replay` prints below its options.
pub(crate) const REPLAY: &str = "Modes:
  audit_reconstruction              every stage is decided again from what was
                                    recorded, every record compared
  simulation_from_recorded_outputs  the same, with recorded outputs for agents'
  deterministic_reexecution         stages run again; refused if one does not
                                    give the same each time
  best_effort_rerun                 stages run again, with --model if given

Nothing is sent, no program is started, and nothing of the run changes. What came of it stands in a stream of its own, replay/ID: the \
request, each step, and where it came out differently.

Exit codes: 0 everything came out the same, 1 something differs (replay.diverged names the first) or the mode promises what a step can't \
give (replay.refused).

Examples:
  countersign replay run_0123456789abcdef
  countersign replay run_0123456789abcdef --mode deterministic_reexecution";

#[derive(Args, Debug)]
pub(crate) struct Diff {
    /// A run
    #[arg(value_name = "RUN")]
    pub(crate) left: String,
    /// Another; without it, the change of the first that waits for a review, and what its versions changed
    #[arg(value_name = "RUN")]
    pub(crate) right: Option<String>,
}

/// What `diff` prints below its options.
pub(crate) const DIFF: &str = "Work products line by line, then what else differs: outcomes, plans, findings, cost, reliance. Of one \
run, the changes that wait for a reviewer: from the version that counts to the one that is proposed. The exit code is 0 whether there \
are differences or not.

Examples:
  countersign diff run_0123456789abcdef run_fedcba9876543210
  countersign diff run_0123456789abcdef";

#[derive(Args, Debug)]
pub(crate) struct Audit {
    /// The run
    #[arg(value_name = "RUN")]
    pub(crate) run: String,
    /// Explain this one: a reference, as the list prints it
    #[arg(long, value_name = "REF")]
    pub(crate) decision: Option<String>,
}

/// What `audit` prints below its options.
pub(crate) const AUDIT: &str =
    "Only what receipts say is told: what went in, which formulas and policies, who decided, in words that \
were written for a reader.

Examples:
  countersign audit run_0123456789abcdef
  countersign audit run_0123456789abcdef \\
    --decision task_reliance_packet:run_0123456789abcdef.packet.210";
