//! The command line's words.
//! Owns: commands, options and their help, with an example in each. Must not: act.
//!
//! Help is wrapped to the terminal, so prose has no line breaks of its own; examples fit into 80 columns as they
//! are, and so does an option with its default, which would otherwise break inside the brackets.

pub(crate) mod enforce;
pub(crate) mod govern;
pub(crate) mod governed;
pub(crate) mod ledger;
pub(crate) mod memory;
pub(crate) mod models;
pub(crate) mod packet;
pub(crate) mod pages;
pub(crate) mod run;
pub(crate) mod scope;
pub(crate) mod serve;
pub(crate) mod session;

use crate::output::quoted;
use clap::{Args, Parser, Subcommand, ValueEnum};
use memory::Memory;
use models::Models;
use std::ffi::OsStr;
use std::path::PathBuf;

/// Agent work you can put your name to.
#[derive(Debug, Parser)]
#[command(name = "countersign", version, propagate_version = true, arg_required_else_help = true)]
#[command(after_help = "Examples:
  countersign envelope validate handoff.json
  countersign ledger verify --anchor yesterday.json
  countersign explain json.duplicate_name

Exit codes:
  0  success
  1  a refusal, a failed check or a limited result
  2  bad input
  3  a run that waits for a person
An error is one JSON document on standard error, and explain says more about its code.

Environment: COUNTERSIGN_DATA, COUNTERSIGN_MATTER, COUNTERSIGN_STORE and COUNTERSIGN_AS stand in for the options \
of these names, COUNTERSIGN_MODEL for --model of the memory commands. Colours are for terminals; NO_COLOR turns them off.")]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Options that work everywhere.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Options of every command")]
pub(crate) struct Global {
    /// The data directory
    #[arg(long, global = true, env = "COUNTERSIGN_DATA", hide_env = true)]
    #[arg(default_value = DATA, value_name = "DIR")]
    pub(crate) data: PathBuf,
    /// The matter; none sees another's rows
    #[arg(long, global = true, env = "COUNTERSIGN_MATTER", hide_env = true)]
    #[arg(default_value = MATTER, value_name = "ID")]
    pub(crate) matter: String,
    /// Where ledgers are, if not in --data: sqlite:DIR
    #[arg(long, global = true, env = "COUNTERSIGN_STORE", hide_env = true, value_name = "URL")]
    pub(crate) store: Option<String>,
    /// Who acts, and signs if there is a key
    #[arg(long = "as", global = true, env = "COUNTERSIGN_AS", hide_env = true)]
    #[arg(default_value = "local", value_name = "NAME")]
    pub(crate) principal: String,
    /// Start a virtual clock here; each reading moves it on
    #[arg(long, global = true, value_name = "RFC3339")]
    pub(crate) now: Option<String>,
    /// Make ids reproducible
    #[arg(long, global = true, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Print JSON instead of text
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

impl Global {
    /// A command that a user can type as it is, for the same data directory and matter.
    pub(crate) fn typed(&self, command: &str) -> String {
        let is_said = |name: &str, value: &OsStr| std::env::var_os(name).is_some_and(|said| said == *value);
        let mut text = format!("countersign {command}");
        if self.matter != MATTER && !is_said("COUNTERSIGN_MATTER", self.matter.as_ref()) {
            text = format!("{text} --matter {}", quoted(&self.matter));
        }
        if self.data != *DATA && !is_said("COUNTERSIGN_DATA", self.data.as_ref()) {
            text = format!("{text} --data {}", quoted(&self.data.to_string_lossy()));
        }
        text
    }
}

/// The data directory and the matter where nobody says otherwise.
const DATA: &str = ".countersign";
const MATTER: &str = "default";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Check, canonicalise and hash envelopes
    #[command(subcommand, after_help = "Example:\n  countersign envelope validate handoff.json")]
    Envelope(Envelope),
    /// The record itself: append, read, follow, verify, export
    #[command(subcommand, after_help = "Example:\n  countersign ledger verify")]
    Ledger(ledger::Ledger),
    /// Which files a prompt may use, and why (A0)
    #[command(
        after_help = "The input has prompt and manifest ([{path, sha256, mtime, tags}]) and, if wanted, toggles, lock, include, exclude, \
patterns, aliases, priority_tags, max_files, fallback, request_id and turn_id. What goes out is an SR2 envelope: the eligible files, the \
best first, and a reason for every file of the manifest. The exit code is 1 if no file is eligible (EMPTY_ELIGIBILITY), and 3 if a lock \
names a file that is not there (LOCK_MISS).

With --dir the manifest is made of a folder, without what git ignores there. No link is followed; what can't be read is told. Hashes are \
kept in the matter's directory, and used again while a file did not change.

Examples:
  countersign scope question.json
  countersign scope --dir contracts --prompt 'When does the lease end?'"
    )]
    Scope(scope::Scope),
    /// Whether a draft is what its CodeSpec asks for (A5)
    #[command(after_help = enforce::AFTER)]
    Enforce(enforce::Enforce),
    /// What is remembered, and what of it a prompt may read
    #[command(subcommand, after_help = "Example:\n  countersign memory read question.json")]
    Memory(Memory),
    /// Who answers: the models, and how they are reached
    #[command(subcommand, after_help = "Example:\n  countersign models list")]
    Models(Models),
    /// Run a task: a folder with a task.toml in, the work and its reliance packet out
    #[command(
        after_help = "Exit codes: 0 the work is safe to rely on within its scope, 1 it is limited or not safe, 3 the run waits for a person \
(countersign answer), 2 the task can't be used.

Examples:
  countersign run examples/lease-memo
  countersign run examples/notice-conflict --json"
    )]
    Run(run::Run),
    /// The reliance packet of a run: shown, as a signed file, as a page
    #[command(
        subcommand,
        after_help = "Examples:\n  countersign packet show run_0123456789abcdef\n  countersign packet export run_0123456789abcdef --out memo.packet.json"
    )]
    Packet(packet::Packet),
    /// Whether a reliance packet is what it says, from the file alone
    #[command(after_help = packet::AFTER)]
    Verify(packet::Verify),
    /// Make a task's folder, or see whether one can be run
    #[command(subcommand, after_help = "Example:\n  countersign task check examples/lease-memo")]
    Task(run::Task),
    /// Ask a question of folders; every sentence of the answer says where it stands
    #[command(
        after_help = "The embedded model needs no network: it quotes what the sources say and cites each quote, and where they say nothing it \
says so (exit 1). Everything that was done is a run in the ledger.

Examples:
  countersign ask 'When does the lease end?' --sources contracts
  countersign ask 'Who may enter the roof?' --sources contracts minutes --json"
    )]
    Ask(run::Ask),
    /// Carry on a run: its envelope in, the advanced envelope out
    #[command(
        after_help = "The envelope is a GenericEnvelope, in any of its dialects; standard output always carries one for input that is \
valid, and standard error says what else there is: run.waiting (exit 3), run.over, run.bound, run.denied and run.failed (exit 1). An envelope \
that this command printed goes on with the run that it belongs to; every other one begins a run.

A pipeline's file names its stages, who works in each, and where each output leads; schemas/pipeline.v1.schema.json says more.

Examples:
  echo '{\"raw_input\":\"When does the lease end?\"}' | countersign process --pretty
  countersign process --step --pipeline six-agent < state.json"
    )]
    Process(run::Process),
    /// Answer what a run waits for, and let it go on
    #[command(
        after_help = "The run names what it asks (runs show, or the error of the command that stopped). An answer counts once; one that is \
late, or to something else, changes nothing.

Examples:
  countersign answer run_0123456789abcdef --id stop_0123456789abcdef \\
    --value 'the lease of 2024'
  countersign answer run_0123456789abcdef --id stop_0123456789abcdef --approve"
    )]
    Answer(run::Answer),
    /// What was run: the list, the timeline of one, going on with one
    #[command(subcommand, after_help = "Example:\n  countersign runs show run_0123456789abcdef")]
    Runs(run::Runs),
    /// How a task's run is doing
    #[command(after_help = pages::HEALTH)]
    Health(pages::OfRun),
    /// What was found wrong in a task's run, and how it stands
    #[command(after_help = pages::FINDINGS)]
    Findings(pages::OfRun),
    /// All there is to look over in a task's run: findings, revisions, decisions
    #[command(after_help = pages::REVIEW)]
    Review(pages::OfRun),
    /// What waits for a person, in one run or in all
    #[command(after_help = pages::ATTENTION)]
    Attention(pages::OfRuns),
    /// Every claim of a task's work, and the places that bear on it
    #[command(after_help = pages::EVIDENCE)]
    Evidence(pages::OfRun),
    /// Who evaluated each outcome, what they said, and what it came to
    #[command(after_help = pages::CHAIN)]
    Chain(pages::OfRun),
    /// What happened in a task's run, for whoever follows it
    #[command(after_help = pages::BOARD)]
    Board(pages::OfRun),
    /// What a run costs, and what all runs of the matter may spend
    #[command(after_help = "Example:\n  countersign budget show")]
    Budget(pages::OfBudget),
    /// What people may do to a task's run: the commands, and giving one
    #[command(subcommand, name = "command", after_help = governed::COMMAND)]
    Governed(governed::Commands),
    /// Keep the versions that count now, to go back to or to fork from
    #[command(after_help = governed::CHECKPOINT)]
    Checkpoint(governed::Checkpoint),
    /// Begin another run from a checkpoint of one
    #[command(after_help = governed::FORK)]
    Fork(governed::Fork),
    /// Go through a run again, and say whether it comes to the same
    #[command(after_help = governed::REPLAY)]
    Replay(governed::Replay),
    /// What differs between two runs
    #[command(after_help = governed::DIFF)]
    Diff(governed::Diff),
    /// What was decided in a run, and why, from its receipts
    #[command(after_help = governed::AUDIT)]
    Audit(governed::Audit),
    /// Runs over HTTP, on this machine
    #[command(after_help = serve::AFTER)]
    Serve(serve::Serve),
    /// Talk with a model that has tools, in a session that is kept
    #[command(after_help = session::CHAT)]
    Chat(session::Chat),
    /// Sessions: what they know, what was left open, taking a turn back
    #[command(subcommand, after_help = "Example:\n  countersign session show main")]
    Session(session::Session),
    /// What a session's agent may do: list, grant, deny, revoke
    #[command(subcommand, after_help = "Example:\n  countersign capability grant net:example.org --for 2h")]
    Capability(session::Capability),
    /// The tools that a session has, what each needs and what it changes
    #[command(
        after_help = "Beside these, memory.read is there in a chat with --memory.\n\nExample:\n  countersign tools --json"
    )]
    Tools,
    /// The events of turns
    #[command(subcommand, after_help = "Example:\n  countersign trace show main__turn-1")]
    Trace(session::Trace),
    /// Who may sign
    #[command(subcommand, after_help = "Example:\n  countersign principal add ana")]
    Principal(Principal),
    /// Who may ask the server for what
    #[command(subcommand, after_help = "Example:\n  countersign token add ana --role approver")]
    Token(serve::Token),
    /// What is wrong with governed records, by validation codes
    #[command(after_help = "Examples:\n  countersign lint bundle.json\n  countersign lint --ledger")]
    Lint(govern::Lint),
    /// Run the fixtures of every validation code and of every kind of the contract
    #[command(
        after_help = "Examples:\n  countersign conformance\n  countersign conformance --json --area taint --area kinds"
    )]
    Conformance(govern::Conformance),
    /// The registered formulas: their texts, and values with receipts
    #[command(subcommand, after_help = "Example:\n  countersign formula eval wilson_interval_v1 inputs.json")]
    Formula(govern::Formula),
    /// A status of the contract, derived with a receipt
    #[command(
        after_help = "Each KIND is a registered formula: countersign formula list says which, countersign formula show ID what it \
takes.\n\nExample:\n  echo '{\"inputs\":[\"external_untrusted\"]}' | countersign derive taint -"
    )]
    Derive(govern::Derive),
    /// What a code means and what to do about it
    #[command(after_help = "Examples:\n  countersign explain ledger.conflict\n  countersign explain --list")]
    Explain {
        /// The code, as an error names it
        #[arg(value_name = "CODE", required_unless_present = "list")]
        code: Option<String>,
        /// Print every code instead
        #[arg(long, conflicts_with = "code")]
        list: bool,
    },
    /// What this machine supports, each with a fix
    #[command(after_help = "Example:\n  countersign doctor --data /srv/countersign")]
    Doctor,
    /// Print shell completions
    #[command(after_help = "Example:\n  countersign completions bash > /etc/bash_completion.d/countersign")]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

/// Which envelope a document should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    /// Find out from its members
    Auto,
    /// One handoff between agents
    Sr2,
    /// The state of a run: a GenericEnvelope
    Generic,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Envelope {
    /// Say everything that is wrong with an envelope; exit 1 if anything is
    #[command(
        after_help = "An sr2 envelope is one handoff between agents; a generic one is the state of a run.

Examples:
  countersign envelope validate handoff.json --files .
  cat state.json | countersign envelope validate - --json"
    )]
    Validate {
        /// The document, or - for standard input
        #[arg(value_name = "FILE|-")]
        file: String,
        /// sr2, generic, or auto: what its members say
        #[arg(long, value_enum, default_value_t = Kind::Auto, hide_possible_values = true)]
        kind: Kind,
        /// Also check the files that an SR2 envelope names, relative to this directory
        #[arg(long, value_name = "DIR")]
        files: Option<PathBuf>,
    },
    /// Print the canonical form (RFC 8785) of any JSON document, without a line's end
    #[command(after_help = "Example:\n  countersign envelope canonical handoff.json | sha256sum")]
    Canonical {
        /// The document, or - for standard input
        #[arg(value_name = "FILE|-")]
        file: String,
    },
    /// Print the SHA-256 of the canonical form
    #[command(
        after_help = "A number that RFC 8785 would change is refused, except in a generic envelope, where it is \
hashed with the digits it came with.

Example:
  countersign envelope hash handoff.json"
    )]
    Hash {
        /// The document, or - for standard input
        #[arg(value_name = "FILE|-")]
        file: String,
        /// sr2, generic, or auto: what its members say
        #[arg(long, value_enum, default_value_t = Kind::Auto, hide_possible_values = true)]
        kind: Kind,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Principal {
    /// Make a key pair for a name; decisions made --as that name are signed from then on
    #[command(after_help = "Example:\n  countersign principal add ana")]
    Add {
        /// The name
        name: String,
    },
    /// Print the names and their public keys
    #[command(after_help = "Example:\n  countersign principal list --json")]
    List,
    /// Say whose a public key is, without having the private one
    #[command(after_help = "Example:\n  countersign principal trust ben 3b6a27bc…")]
    Trust {
        /// The name
        name: String,
        /// The public key: 64 hexadecimal digits
        key: String,
    },
}
