//! The words of the commands about runs.
//! Owns: options and their help. Must not: act.

use clap::{Args, Subcommand};
use std::path::PathBuf;

/// What a run works with.
#[derive(Args, Clone, Debug)]
pub(crate) struct Working {
    /// default, six-agent, ragstream, or a file
    #[arg(long, default_value = "default", hide_default_value = true, value_name = "NAME|FILE")]
    pub(crate) pipeline: String,
    /// Who answers: extractive or one of models list
    #[arg(long, default_value = "extractive", value_name = "NAME")]
    pub(crate) model: String,
    /// A folder of sources that the run may read
    #[arg(long, value_name = "DIR", num_args = 1..)]
    pub(crate) sources: Vec<PathBuf>,
    /// A store of memory that a model which writes is told of; may be repeated
    #[arg(long, value_name = "FILE")]
    pub(crate) memory: Vec<String>,
    /// Run the programs that the pipeline names
    #[arg(long)]
    pub(crate) allow_programs: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Run {
    /// The task's folder, or its task.toml
    #[arg(value_name = "TASK")]
    pub(crate) task: PathBuf,
    /// Who answers, instead of whom the task names
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// Run the programs that the pipeline names
    #[arg(long)]
    pub(crate) allow_programs: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Task {
    /// Make a folder with a task that runs as it is, to be changed
    #[command(after_help = "Example:\n  countersign task new my-memo")]
    New {
        /// The folder, which must not be there yet
        #[arg(value_name = "DIR")]
        dir: PathBuf,
    },
    /// See whether a task can be run, without running it
    #[command(
        after_help = "Every mistake is told with its line. schemas/task.v1.schema.json says what a task is.

Example:
  countersign task check examples/lease-memo"
    )]
    Check {
        /// The task's folder, or its task.toml
        #[arg(value_name = "TASK")]
        task: PathBuf,
    },
}

#[derive(Args, Debug)]
pub(crate) struct Ask {
    /// What is asked
    pub(crate) prompt: String,
    #[command(flatten)]
    pub(crate) working: Working,
}

#[derive(Args, Debug)]
pub(crate) struct Process {
    /// The envelope, or - for standard input
    #[arg(value_name = "FILE|-", default_value = "-")]
    pub(crate) file: String,
    /// Go on by one stage only
    #[arg(long)]
    pub(crate) step: bool,
    /// Print the envelope over many lines
    #[arg(long)]
    pub(crate) pretty: bool,
    #[command(flatten)]
    pub(crate) working: Working,
}

#[derive(Args, Debug)]
#[command(
    group(clap::ArgGroup::new("said").required(true)),
    override_usage = "countersign answer <RUN> --id <ID> <--value|--choose|--approve|--deny>"
)]
pub(crate) struct Answer {
    /// The run
    pub(crate) run: String,
    /// What was asked, as the run names it
    #[arg(long, value_name = "ID")]
    pub(crate) id: String,
    /// Answer in words
    #[arg(long, value_name = "TEXT", group = "said")]
    pub(crate) value: Option<String>,
    /// Take one of the next steps that are offered: retry, give up
    #[arg(long, value_name = "STEP", group = "said")]
    pub(crate) choose: Option<String>,
    /// Give leave
    #[arg(long, group = "said")]
    pub(crate) approve: bool,
    /// Give no leave: the run ends, and what it asked leave for is not done
    #[arg(long, group = "said")]
    pub(crate) deny: bool,
    /// Run the programs that the pipeline names
    #[arg(long)]
    pub(crate) allow_programs: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Runs {
    /// Print the runs, the newest first
    #[command(after_help = "Example:\n  countersign runs list --json")]
    List,
    /// Print what happened in a run, and where it stands
    #[command(
        after_help = "With --json: the timeline and the envelope as it is now.\n\nExample:\n  countersign runs show run_0123456789abcdef"
    )]
    Show {
        /// The run
        run: String,
    },
    /// Go on with a run whose process ended in the middle
    #[command(
        after_help = "An agent that changes nothing is called again; what became of any other is a question for a person.

Example:
  countersign runs resume run_0123456789abcdef"
    )]
    Resume {
        /// The run
        run: String,
        /// Run the programs that the pipeline names
        #[arg(long)]
        allow_programs: bool,
    },
}
