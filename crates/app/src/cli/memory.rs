//! The words of `countersign memory`.
//! Owns: its commands, options and their help. Must not: act.

use clap::{Args, Subcommand};
use countersign_record::turn::Speaker;
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub(crate) enum Memory {
    /// Select from memory stores under a budget, the same way every time (SPEC-006)
    #[command(
        after_help = "The input names the query, the stores and the budget. The package that is printed lists every \
record that was selected, with its excerpt, and every line that was not, with the reason. Stores are JSON lines, \
are never written to and may be larger than memory.

With --receipt, the read is recorded: one row of the kind memory.read, with the hash of the query, the stores, how \
many records were selected and the hash of the package, and nothing of what they say. The row is durable before the \
package is printed. A read that fails leaves no row.

Examples:
  echo '{\"query\": \"roof repair\", \"store_paths\": [\"notes.jsonl\"],
        \"budget\": {\"max_excerpt_tokens\": 400}}' | countersign memory read -
  countersign memory read question.json --receipt --as ana"
    )]
    Read {
        /// The input, or - for standard input
        #[arg(value_name = "FILE|-")]
        file: String,
        /// Append a row about the read to the ledger of the matter
        #[arg(long)]
        receipt: bool,
    },
    /// Add a turn to the conversation; it is durable before it is acknowledged
    #[command(
        after_help = "The input is a MemoryTurn, whose timestamp, goal and provenance are filled in where they are \
missing; with --role it is the text alone. A reply that was made elsewhere joins as external. When the turn is \
acknowledged, what is new is embedded and the index published, unless --no-index leaves that for later. An index \
that another model made is left alone: name that model, or make the index anew with `memory index`.

A line that a crash cut short is mended first: completed if only its end was missing, else put aside.

Examples:
  echo 'Is the lease signed?' | countersign memory append - --role user
  countersign memory append turn.json --tag lease --about lease.md"
    )]
    Append(Append),
    /// Show what a prompt would get from the conversation, with every reason
    #[command(
        after_help = "The last turns come back word for word. Earlier ones are pointed to and never quoted: by what \
they say (three parts) and how long ago that was (one part). Each piece that is left out has a reason: LOCK, OFF, \
recent, duplicate, max-items, token-budget. --json lists the first 10,000 of them, and counts all.

An alias file has groups of words that mean the same: a line of a .txt (NVH = vehicle acoustics), a row of a .csv, \
or lists in a .json ({\"NVH\": [\"vehicle acoustics\"]}).

A line that is no turn, and a snapshot that is damaged, are told with their place, and what is whole is used; the \
exit code is then 3. --json prints an SR2 envelope.

Examples:
  countersign memory recall 'rent of the warehouse' -k 3
  countersign memory recall 'NVH report' --aliases terms.csv --off old.md --json"
    )]
    Recall(Recall),
    /// Bring the index up to the end of the conversation
    #[command(
        after_help = "Only what is new is embedded. With another --model everything is. What is beyond --cap goes, \
the least important first, and is listed.

Example:
  countersign memory index --model models/potion"
    )]
    Index(Conversing),
    /// Forget everything up to now: it is never recalled or indexed again
    #[command(
        after_help = "The index is emptied, and it is written down up to where; the log stays as it is. There is no \
way back.

Example:
  countersign memory clear --yes"
    )]
    Clear {
        /// Forget it, for good; nothing is done without this
        #[arg(long)]
        yes: bool,
        #[command(flatten)]
        dir: Dir,
    },
    /// How the conversation and its index stand
    #[command(after_help = "Example:\n  countersign memory status --json")]
    Status(Dir),
    /// Snapshots of vectors: history_store.pkl, and what NumPy reads
    #[command(subcommand, after_help = "Example:\n  countersign memory snapshot show history_store.pkl")]
    Snapshot(Snapshot),
}

#[derive(Debug, Subcommand)]
pub(crate) enum Snapshot {
    /// Print a snapshot's size, its SHA-256 and its first ids
    #[command(
        after_help = "The file is never run as a pickle: it is read as data if its layout is one that is known, \
and refused otherwise.

Example:
  countersign memory snapshot show history_store.pkl --json"
    )]
    Show {
        /// The snapshot
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// Write a snapshot for NumPy, without pickle
    #[command(after_help = "A .npz holds emb, ids and meta, the last two as the bytes of a JSON list: \
json.loads(bytes(npz[\"ids\"])). A .npy holds the vectors alone. Nothing is overwritten.

Examples:
  countersign memory snapshot export history_store.pkl --to history.npz
  countersign memory snapshot export history_store.pkl --to vectors.npy")]
    Export {
        /// The snapshot
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// The file to make: .npz or .npy
        #[arg(long, value_name = "OUT")]
        to: PathBuf,
    },
    /// Make a snapshot from a file of Python's: .npz, .npy or .pkl
    #[command(
        after_help = "A .pkl is what pickle.dump writes for {\"ids\": [str], \"meta\": [dict], \"emb\": float32 \
array} with protocol 4 or 5; every other pickle is refused. In a .npz, ids may also be an array of text. A .npy has \
no labels: the ids are then the numbers of the rows. Nothing is overwritten.

Example:
  countersign memory snapshot import history.npz --to history_store.pkl"
    )]
    Import {
        /// The file to read
        #[arg(value_name = "IN")]
        file: PathBuf,
        /// The snapshot to make
        #[arg(long, value_name = "FILE.pkl")]
        to: PathBuf,
    },
}

/// A cap that a snapshot's format has room for.
const CAP_MAX: u64 = 250_000;

/// Where a conversation is.
#[derive(Args, Clone, Debug)]
pub(crate) struct Dir {
    /// The conversation's directory, if not the matter's
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
}

/// Where a conversation is, and how it is indexed.
#[derive(Args, Clone, Debug)]
pub(crate) struct Conversing {
    #[command(flatten)]
    pub(crate) dir: Dir,
    /// A directory with a static embedding model
    #[arg(long, value_name = "DIR", env = "COUNTERSIGN_MODEL", hide_env = true)]
    pub(crate) model: Option<PathBuf>,
    /// Vectors the index may hold; as before if not given, 100000 at first
    #[arg(long, value_name = "N")]
    #[arg(value_parser = clap::value_parser!(u64).range(0..=CAP_MAX))]
    pub(crate) cap: Option<u64>,
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
    #[arg(long, conflicts_with = "cap")]
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
    #[arg(value_parser = clap::value_parser!(u16).range(0..=1_000))]
    pub(crate) turns: u16,
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
    /// The model that the index was made with
    #[arg(long, value_name = "DIR", env = "COUNTERSIGN_MODEL", hide_env = true)]
    pub(crate) model: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) dir: Dir,
}
