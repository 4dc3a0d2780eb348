//! The words of `countersign chat`, `session`, `capability`, `trace` and `tools`.
//! Owns: their commands, options and help. Must not: act.

use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

/// What a session works with.
#[derive(Args, Clone, Debug)]
pub(crate) struct Working {
    /// The model, as models list shows it
    #[arg(long, env = "COUNTERSIGN_CHAT_MODEL", hide_env = true)]
    #[arg(default_value = "extractive", value_name = "NAME")]
    pub(crate) model: String,
    /// What file tools and commands see; a directory of the matter's own if none is named
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,
    /// A memory store that prompts may be given from (JSON lines, SPEC-006), neither beneath --root nor in the data directory
    #[arg(long, value_name = "FILE")]
    pub(crate) memory: Vec<String>,
    /// The policy (TOML); that of the matter if none is named, else the default
    #[arg(long, value_name = "FILE")]
    pub(crate) policy: Option<PathBuf>,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct Chat {
    /// The session to go on with, or to begin
    #[arg(long, short, default_value = "main", value_name = "NAME")]
    pub(crate) session: String,
    /// Say this, print the answer and end
    #[arg(long, short, value_name = "TEXT")]
    pub(crate) message: Option<String>,
    /// How far what is said may travel: public, internal, privileged or local_only; as the policy says if not named
    #[arg(long, value_enum, value_name = "CLASS", hide_possible_values = true)]
    pub(crate) class: Option<Class>,
    #[command(flatten)]
    pub(crate) working: Working,
}

/// How far something may travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(crate) enum Class {
    /// Anybody may see it
    Public,
    /// The organisation may
    Internal,
    /// The people of the matter may; a host needs a confirmation
    Privileged,
    /// It never leaves the machine
    LocalOnly,
}

/// What became of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Found {
    /// It was done
    Happened,
    /// It was not done
    DidNotHappen,
    /// Nobody can say
    Unknown,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Session {
    /// Print the sessions of the matter
    #[command(after_help = "Example:\n  countersign session list --json")]
    List,
    /// Print a session: its state, what was said last, what is granted and what waits
    #[command(after_help = "Example:\n  countersign session show main")]
    Show {
        /// Its name
        name: String,
        #[command(flatten)]
        under: Under,
    },
    /// Say what became of a call whose end nobody saw; the session then goes on
    #[command(
        after_help = "When the process ends between the beginning and the end of a call that changes something, only a \
person can find out whether it was done. Until then the session does not go on, and nothing is done twice.

Example:
  countersign session settle main --call t1 --found happened --as ana"
    )]
    Settle {
        /// The session
        name: String,
        /// The call, as session show names it
        #[arg(long, value_name = "ID")]
        call: String,
        /// What you found: happened, did-not-happen or unknown
        #[arg(long, value_enum, hide_possible_values = true)]
        found: Found,
        #[command(flatten)]
        under: Under,
    },
    /// Print what models replied, one JSON object a line, for a recorded model to play back
    #[command(
        after_help = "Replies are found by the hash of what was asked: a session that is taken again with the same words, \
tools and files gets the same replies, and anything else gets none.

Example:
  countersign session replies main > tape.jsonl
  countersign models add tape --provider recorded --file tape.jsonl"
    )]
    Replies {
        /// The session
        name: String,
    },
    /// Take back what the last turn said; what it did stands, and is named
    #[command(after_help = "Example:\n  countersign session undo main")]
    Undo {
        /// The session
        name: String,
        #[command(flatten)]
        under: Under,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Capability {
    /// Print what is granted and what waits for an answer
    #[command(after_help = "Example:\n  countersign capability list --session main")]
    List {
        #[command(flatten)]
        of: Of,
        /// The model that leave: is about
        #[arg(long, default_value = "extractive", value_name = "NAME")]
        model: String,
    },
    /// Grant something to a session, for a time
    #[command(
        after_help = "A grant is bound to the person who uses it, to the tools as they are, to the policy as it is and to \
its time; with --once also to the arguments of the call that asked. Change one and it is void. What lets a session go to a \
model is asked for a turn, so it is granted for a time or in the chat.

  fs:write              write files beneath the root
  shell                 run commands of the list, held by the kernel
  net:example.org       reach this host, on its usual ports, wherever its name leads,
                        also within your own network
  net                   reach any host that has a public address
  leave:api.example     send privileged content to this host

Examples:
  countersign capability grant net:example.org --for 2h
  countersign capability grant fs:write --once --as ana"
    )]
    Grant {
        /// What
        capability: String,
        #[command(flatten)]
        to: To,
        /// How long: 90s, 30m, 8h, 7d; as the policy says if nothing is given
        #[arg(long = "for", value_name = "TIME")]
        time: Option<String>,
        /// For the one call that asked for it
        #[arg(long)]
        once: bool,
        /// Which call, where several have asked, as capability list shows it
        #[arg(long, value_name = "CALL", requires = "once")]
        call: Option<String>,
        /// The model that leave: is about
        #[arg(long, default_value = "extractive", value_name = "NAME")]
        model: String,
    },
    /// Say no to what was asked for
    #[command(after_help = "Example:\n  countersign capability deny net:example.org --reason 'not needed'")]
    Deny {
        /// What
        capability: String,
        #[command(flatten)]
        of: Of,
        /// Why
        #[arg(long)]
        reason: Option<String>,
    },
    /// Take back every grant of something
    #[command(after_help = "Example:\n  countersign capability revoke net:example.org")]
    Revoke {
        /// What
        capability: String,
        #[command(flatten)]
        of: Of,
        /// Why
        #[arg(long)]
        reason: Option<String>,
    },
}

/// What a session works under.
#[derive(Args, Clone, Debug)]
pub(crate) struct Under {
    /// The policy that the session works under, if not that of the matter
    #[arg(long, value_name = "FILE")]
    pub(crate) policy: Option<PathBuf>,
}

/// Whose capabilities.
#[derive(Args, Clone, Debug)]
pub(crate) struct Of {
    /// The session
    #[arg(long, short, default_value = "main", value_name = "NAME")]
    pub(crate) session: String,
    #[command(flatten)]
    pub(crate) under: Under,
}

/// To whom something is granted.
#[derive(Args, Clone, Debug)]
pub(crate) struct To {
    /// The session
    #[arg(long, short, default_value = "main", value_name = "NAME")]
    pub(crate) session: String,
    /// Who may use it; whoever asked for it if nobody is named, else you
    #[arg(long, value_name = "PERSON")]
    pub(crate) acting: Option<String>,
    /// The policy that it is granted under, if not that of the matter
    #[arg(long, value_name = "FILE")]
    pub(crate) policy: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Trace {
    /// Print the events of a turn; without a name, the traces there are
    #[command(after_help = "With --json: one document, {session, turn, events, unreadable}.

Examples:
  countersign trace show
  countersign trace show main__turn-3")]
    Show {
        /// The trace
        name: Option<String>,
    },
    /// Print the events of a turn as they come, to its end
    #[command(
        after_help = "With --json: one event a line. If whoever writes the trace is gone before the turn has an end, it ends \
with exit code 1.

Example:
  countersign trace tail main__turn-3"
    )]
    Tail {
        /// The trace; the newest if none is named
        name: Option<String>,
        /// End with the last event instead of waiting for more
        #[arg(long)]
        no_follow: bool,
    },
}

/// What `chat` prints below its options.
pub(crate) const CHAT: &str = "At a terminal: the answer streams, calls are shown as they are made, and what is not granted is asked \
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
  echo 'What does the lease say about the roof?' | countersign chat --json";
