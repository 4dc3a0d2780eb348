//! The words of the commands about the record itself.
//! Owns: options and their help. Must not: act.

use clap::{Args, Subcommand};
use std::path::PathBuf;

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
        /// Append all lines or none (at most 50,000 and 64 MiB)
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
