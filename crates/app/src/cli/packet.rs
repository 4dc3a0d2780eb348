//! The words of `countersign packet` and `countersign verify`.
//! Owns: their options and their help. Must not: act.

use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub(crate) enum Packet {
    /// Show what a reliance packet says: status, scope, limits, claims and where they stand, decisions, cost
    #[command(
        after_help = "A run is looked up in the data directory; a file is read as it is, and `countersign verify` says whether it is so.

Exit codes: 0 the work is safe to rely on within its scope, 1 it is limited or not safe, or there is no such run, 2 it is no packet.

Examples:
  countersign packet show run_0123456789abcdef
  countersign packet show memo.packet.json --json"
    )]
    Show {
        /// The run, or the file of a packet
        #[arg(value_name = "RUN|FILE")]
        packet: String,
    },
    /// Put a run's reliance packet into one signed file, for somebody else to verify
    #[command(
        after_help = "The file holds every row of the run, the texts they are about, and the formulas; rows of others stand in it by their \
hash only. What is privileged stays here unless --privileged says otherwise, and what is local_only always does: such texts are named by \
their digest. Where every source stays here, so does the packet: it was written from them. It is signed with the key of --as, or with the key of this data directory where there is none.

It leaves as the task's externalization policy says: with \"confirm\" only if --yes says that you let it, with \"never\" not at all. \
That it left, with which sources, where to and who let it, is on record in the run, for each file.

--html writes one page for people, which needs nothing but itself and prints well. Without --out the page carries the signed file, so \
that a reader can verify it; with --out it names the file by its digest.

Examples:
  countersign packet export run_0123456789abcdef --yes --out memo.packet.json
  countersign packet export run_0123456789abcdef --yes --html memo.html"
    )]
    Export {
        /// The run
        #[arg(value_name = "RUN")]
        run: String,
        /// The file, which must not be there yet
        #[arg(long, value_name = "FILE", required_unless_present = "html")]
        out: Option<PathBuf>,
        /// The page for people, which must not be there yet
        #[arg(long, value_name = "FILE")]
        html: Option<PathBuf>,
        /// Keep these bytes here, by their digest; may be repeated
        #[arg(long, value_name = "DIGEST")]
        withhold: Vec<String>,
        /// Let privileged texts leave
        #[arg(long)]
        privileged: bool,
        /// You let it leave, where the task's policy asks a person
        #[arg(long)]
        yes: bool,
    },
}

#[derive(Args, Debug)]
pub(crate) struct Verify {
    /// The packet, or - for standard input
    #[arg(value_name = "FILE|-")]
    pub(crate) file: String,
    /// A key that must have signed it, or a file with one; may be repeated
    #[arg(long, value_name = "KEY|FILE")]
    pub(crate) trusted_key: Vec<String>,
}

/// What `verify` prints below its options.
pub(crate) const AFTER: &str = "Nothing but the file is looked at: no data directory, no network. Every hash, link and signature is \
checked, the run is decided again, and every score, status, finding and list is derived again from the task, the texts and the answers.

Exit codes: 0 everything that is in it follows from its records (what is withheld is told), 1 something does not, no trusted key has \
signed it, or it says itself that it can't be relied on any more, 2 it is no packet. Without --trusted-key nobody vouches for who signed, \
which the first lines say.

Examples:
  countersign verify memo.packet.json
  countersign verify memo.packet.json --trusted-key ana.pub --json";
