//! The words of the commands about the server.
//! Owns: options and their help. Must not: act.

use super::run::Working;
use clap::{Args, Subcommand, ValueEnum};
use countersign_record::access::Role;
use std::net::SocketAddr;

/// What stands below the help of `serve`.
pub(crate) const AFTER: &str = "The same work as process, answer and runs, over HTTP/1.1: POST /api/v1/process takes a GenericEnvelope and gives the \
advanced one; GET /api/v1/runs, GET /api/v1/runs/ID and POST /api/v1/runs/ID/answer look at runs and answer what they ask. GET /openapi.json describes all \
of it.

Every request but GET /healthz needs a token: Authorization: Bearer TOKEN. The first start makes one, admin in --matter for --as, and shows it once; token \
add makes more. A token acts as one principal in one matter. Runs that are at work are finished before the server ends; a second Ctrl-C cancels them.

Examples:
  countersign serve
  countersign serve --listen 127.0.0.1:0 --sources contracts --json
  countersign serve --openapi > openapi.json";

#[derive(Args, Debug)]
pub(crate) struct Serve {
    /// The address; port 0 takes one that is free
    #[arg(long, default_value = "127.0.0.1:7878", value_name = "IP:PORT")]
    pub(crate) listen: SocketAddr,
    /// Seconds that a client has to send a request
    #[arg(long, default_value_t = 30, value_name = "N")]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub(crate) timeout: u64,
    /// Print the API's description (OpenAPI 3.1) instead
    #[arg(long)]
    pub(crate) openapi: bool,
    #[command(flatten)]
    pub(crate) working: Working,
}

/// What the bearer of a token may do; each also what the ones before it may.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RoleName {
    /// Looks at runs
    Viewer,
    /// Has envelopes processed
    Operator,
    /// Answers what runs ask
    Approver,
    /// Everything
    Admin,
}

impl From<RoleName> for Role {
    fn from(name: RoleName) -> Role {
        match name {
            RoleName::Viewer => Role::Viewer,
            RoleName::Operator => Role::Operator,
            RoleName::Approver => Role::Approver,
            RoleName::Admin => Role::Admin,
        }
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Token {
    /// Make a token, and show it once
    #[command(
        after_help = "A token acts as NAME in --matter; what NAME decides with it is signed if NAME has a key here. A viewer looks at runs, an operator also has \
envelopes processed, an approver also answers what runs ask. Only a hash is kept.

Example:
  countersign token add ana --role approver --matter lease --for 30d"
    )]
    Add {
        /// Who acts with it
        name: String,
        /// viewer, operator, approver or admin
        #[arg(long, value_enum, hide_possible_values = true)]
        role: RoleName,
        /// How long it holds, such as 8h or 30d; without it, until it is revoked
        #[arg(long = "for", value_name = "TIME")]
        time: Option<String>,
    },
    /// Print the tokens of all matters, without their secrets
    #[command(after_help = "Example:\n  countersign token list --json")]
    List,
    /// End a token
    #[command(
        after_help = "A server that is at work takes it no more from now on.\n\nExample:\n  countersign token revoke tok_0123456789ab"
    )]
    Revoke {
        /// The token, as list shows it
        id: String,
    },
}
