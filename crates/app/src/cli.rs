//! The command line's words.
//! Owns: commands, options and their help, with an example in each. Must not: act.
//!
//! Help is wrapped to the terminal, so prose has no line breaks of its own; examples fit into 80 columns as they
//! are, and so does an option with its default, which would otherwise break inside the brackets.

pub(crate) mod enforce;
pub(crate) mod govern;
pub(crate) mod memory;
pub(crate) mod models;
pub(crate) mod run;
pub(crate) mod scope;
pub(crate) mod serve;
pub(crate) mod session;

use clap::{Args, Parser, Subcommand, ValueEnum};
use memory::Memory;
use models::Models;
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
of these names, COUNTERSIGN_MODEL for --model of the memory commands.")]
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
    #[arg(default_value = ".countersign", value_name = "DIR")]
    pub(crate) data: PathBuf,
    /// The matter; none sees another's rows
    #[arg(long, global = true, env = "COUNTERSIGN_MATTER", hide_env = true)]
    #[arg(default_value = "default", value_name = "ID")]
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

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Check, canonicalise and hash envelopes
    #[command(subcommand, after_help = "Example:\n  countersign envelope validate handoff.json")]
    Envelope(Envelope),
    /// The record itself: append, read, follow, verify, export
    #[command(subcommand, after_help = "Example:\n  countersign ledger verify")]
    Ledger(Ledger),
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
    /// Runs over HTTP, on this machine
    #[command(after_help = serve::AFTER)]
    Serve(serve::Serve),
    /// Talk with a model that has tools, in a session that is kept
    #[command(
        after_help = "At a terminal: the answer streams, calls are shown as they are made, and what is not granted is asked \
for. /help lists the commands of the chat; Ctrl-C cancels the turn, not the session. Piped: a line that begins with /help, /tools, /state or /exit is a command, /grant, \
/revoke and /undo are refused, and every other line is said, also one that begins with a slash; the answer goes to standard \
output and the rest to standard error; nobody can be asked, so what is not granted waits for countersign capability grant, \
and the exit code is 3. With --json: one document for each turn.

A policy (--policy FILE, or policy.toml in the matter's directory):
  allow = [\"fs:read\", \"memory:read\"]         # needs no grant
  hosts = [\"example.org\"]                    # what net is for; all, if absent
  approver = \"somebody_else\"                 # or anybody, if absent
  rounds = 8                                 # how often a turn asks the model
  grant_seconds = 28800                      # how long a grant holds: 8 hours
  user_class = \"internal\"                    # of what is said
  files_class = \"internal\"                   # of files without a rule
  files = { \"hr/\" = \"local_only\" }           # of files beneath the root
  stores = { \"notes.jsonl\" = \"privileged\" }  # of memory stores

Classes are public, internal, privileged and local_only. What each member may be is in schemas/policy.v1.schema.json. \
/grant, and an approval for the session, hold for grant_seconds.

Examples:
  countersign chat
  countersign chat --session lease --root contracts --memory notes.jsonl
  echo 'What does the lease say about the roof?' | countersign chat --json"
    )]
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
        after_help = "Example:\n  echo '{\"inputs\":[\"external_untrusted\"]}' | countersign derive taint -"
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
pub(crate) enum Ledger {
    /// Append rows of kinds that begin with external., one JSON object a line
    #[command(
        after_help = "Each line is a row with stream, kind and payload and, if wanted, version, data_class, taint, \
cause, expected (where the stream must end), idem_key and blobs ([{\"text\":…}]). Each row is durable before it is \
acknowledged on standard output, and an error of a row says how many were appended. With --atomic or --blob, none is \
before the input has ended.

Example:
  echo '{\"stream\":\"notes\",\"kind\":\"external.note\",\"payload\":\"lease received\"}' |
    countersign ledger append -"
    )]
    Append {
        /// The rows, or - for standard input
        #[arg(value_name = "FILE|-")]
        file: String,
        /// Append all lines or none (at most 10,000 and 64 MiB)
        #[arg(long)]
        atomic: bool,
        /// Store this file as a blob of the one row that is given
        #[arg(long, value_name = "FILE")]
        blob: Vec<String>,
    },
    /// Print rows as JSON lines
    #[command(after_help = "Example:\n  countersign ledger rows --stream notes --after 10 --limit 5")]
    Rows(Rows),
    /// Print the last rows, then each new one as it comes
    #[command(
        after_help = "Examples:\n  countersign ledger tail\n  countersign ledger tail --after 0 --count 3"
    )]
    Tail {
        /// Begin after this row instead of near the end
        #[arg(long, value_name = "SEQ")]
        after: Option<u64>,
        /// How many rows to show before following
        #[arg(short = 'n', long = "lines", default_value_t = 10, value_name = "N")]
        lines: u64,
        /// End when so many rows were printed
        #[arg(long, value_name = "N")]
        count: Option<u64>,
        /// Only rows of this stream
        #[arg(long, value_name = "STREAM")]
        stream: Option<String>,
        /// Only rows of this kind
        #[arg(long, value_name = "KIND")]
        kind: Option<String>,
        /// End with the last row instead of waiting for more
        #[arg(long)]
        no_follow: bool,
    },
    /// Count what is in the ledger
    #[command(after_help = "Example:\n  countersign ledger summary --json")]
    Summary,
    /// Find any changed, removed, inserted, reordered or missing row; exit 1 if there is one
    #[command(after_help = "Example:\n  countersign ledger verify --anchor 2025-12-10.anchor.json")]
    Verify {
        /// A signed head that was kept elsewhere; finds what was cut off or written anew
        #[arg(long, value_name = "FILE")]
        anchor: Vec<String>,
        /// A key that may have signed an anchor, beside this data directory's own
        #[arg(long, value_name = "KEY")]
        trusted_key: Vec<String>,
    },
    /// Print the signed head of the ledger; keep it where the ledger is not
    #[command(after_help = "Example:\n  countersign ledger anchor > 2025-12-10.anchor.json")]
    Anchor,
    /// Write the whole ledger into a new directory: manifest.json, rows.jsonl, blobs/
    #[command(after_help = "Example:\n  countersign ledger export archive/")]
    Export {
        /// The directory to make
        #[arg(value_name = "DIR")]
        dir: PathBuf,
    },
    /// Make an empty matter's ledger from an export, whole or not at all
    #[command(after_help = "Example:\n  countersign ledger import archive/ --data restored")]
    Import {
        /// The directory that an export made
        #[arg(value_name = "DIR")]
        dir: PathBuf,
    },
    /// Print a blob's bytes
    #[command(
        after_help = "With --json: digest, size (in bytes), encoding and data. The encoding is utf-8 where the bytes \
are a text, which data then is, and base64 (RFC 4648, padded) where they are not.

Examples:
  countersign ledger blob 9f86d081… > lease.pdf
  countersign ledger blob 9f86d081… --json"
    )]
    Blob {
        /// Its SHA-256
        digest: String,
    },
    /// Erase a blob's bytes; the row that names it stays, and a receipt is appended
    #[command(
        after_help = "Sessions that said it are told again without it, and their traces are removed; a session that is open \
must be ended first. What was summed up from it into memory is another text, and stays.

Example:
  countersign ledger erase 9f86d081… --reason 'request of the client' --as ana"
    )]
    Erase {
        /// Its SHA-256
        digest: String,
        /// Why
        #[arg(long)]
        reason: String,
    },
    /// Legal holds: what can't be erased
    #[command(subcommand, after_help = "Example:\n  countersign ledger hold list")]
    Hold(Hold),
}

#[derive(Args, Debug)]
pub(crate) struct Rows {
    /// Only rows of this stream
    #[arg(long, value_name = "STREAM", conflicts_with = "kind")]
    pub(crate) stream: Option<String>,
    /// Only rows of this kind
    #[arg(long, value_name = "KIND")]
    pub(crate) kind: Option<String>,
    /// Only rows after this one
    #[arg(long, default_value_t = 0, value_name = "SEQ")]
    pub(crate) after: u64,
    /// Only rows up to and with this one
    #[arg(long, value_name = "SEQ")]
    pub(crate) up_to: Option<u64>,
    /// At most so many
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<u64>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Hold {
    /// Keep a blob, or every blob of the matter, from being erased
    #[command(
        after_help = "Example:\n  countersign ledger hold place case-17 --reason 'litigation' --as ana"
    )]
    Place {
        /// The hold's name
        id: String,
        /// One blob; without it the hold covers all
        #[arg(long, value_name = "SHA256")]
        digest: Option<String>,
        /// Why
        #[arg(long)]
        reason: String,
    },
    /// End a hold
    #[command(
        after_help = "Example:\n  countersign ledger hold release case-17 --reason 'case closed' --as ana"
    )]
    Release {
        /// The hold's name
        id: String,
        /// Why
        #[arg(long)]
        reason: String,
    },
    /// Print the holds in force
    #[command(after_help = "Example:\n  countersign ledger hold list --json")]
    List,
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
