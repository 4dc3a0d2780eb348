//! `countersign token`: who may ask the server of a data directory for what.
//! Owns: making, listing and revoking them, and what is printed. Must not: show a token twice.

use super::capability::seconds;
use crate::cli::Global;
use crate::cli::serve::Token as Command;
use crate::failure::{Exit, Failure};
use crate::output;
use crate::place;
use crate::tokens::{For, Token, Tokens};
use countersign_record::access::Role;
use countersign_record::code::Code;
use countersign_record::id::{MatterId, PrincipalId};
use countersign_record::time::{Instant, Timestamp};
use serde::Serialize;

#[derive(Serialize)]
struct Shown<'a> {
    id: &'a str,
    principal: &'a str,
    matter: &'a str,
    role: String,
    made_at: &'a Timestamp,
    expires_at: Option<&'a Timestamp>,
    revoked_at: Option<&'a Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    token: Option<&'a str>,
}

impl<'a> From<&'a Token> for Shown<'a> {
    fn from(token: &'a Token) -> Self {
        Shown {
            id: &token.id,
            principal: token.principal.as_str(),
            matter: token.matter.as_str(),
            role: token.role.to_string(),
            made_at: &token.made_at,
            expires_at: token.expires_at.as_ref(),
            revoked_at: token.revoked_at.as_ref(),
            token: None,
        }
    }
}

pub(super) fn run(global: &Global, command: Command) -> Result<Exit, Failure> {
    let tokens = Tokens::of(&global.data);
    match command {
        Command::Add { name, role, time } => {
            let wanted = wanted(global, &name, role.into())?;
            let expires_at = time.map(|time| expiry(&time, wanted.made_at.instant())).transpose()?;
            let (token, secret) = tokens.add(For { expires_at, ..wanted })?;
            if global.json {
                output::json(&Shown { token: Some(secret.expose()), ..Shown::from(&token) })?;
            } else {
                output::line(&line(&token))?;
                output::line(secret.expose())?;
            }
        }
        Command::List => {
            let all = tokens.list()?;
            if global.json {
                output::json(&all.iter().map(Shown::from).collect::<Vec<_>>())?;
            } else if all.is_empty() {
                output::line("No tokens yet: countersign serve makes the first one.")?;
            } else {
                all.iter().try_for_each(|token| output::line(&line(token)))?;
            }
        }
        Command::Revoke { id } => {
            let token = tokens.revoke(&id, &now(global)?)?;
            if global.json { output::json(&Shown::from(&token))? } else { output::line(&line(&token))? }
        }
    }
    Ok(Exit::Success)
}

/// A token for somebody in the matter that is named, without an end.
pub(super) fn wanted(global: &Global, name: &str, role: Role) -> Result<For, Failure> {
    Ok(For {
        principal: PrincipalId::try_from(name)?,
        matter: MatterId::try_from(global.matter.as_str())?,
        role,
        made_at: now(global)?,
        expires_at: None,
    })
}

fn now(global: &Global) -> Result<Timestamp, Failure> {
    place::clock(global)?
        .now()
        .map_err(|error| Failure::new(Code::TimeInvalid, format!("the clock: {error}")))
}

fn expiry(time: &str, from: Instant) -> Result<Timestamp, Failure> {
    let invalid = |message: &str| Failure::new(Code::UsageInvalid, message);
    let seconds = seconds(time).map_err(|failure| invalid(&failure.message))?;
    let too_long = || invalid("--for: the time ends after the year 9999");
    let seconds = i64::try_from(seconds).ok().and_then(|seconds| from.seconds.checked_add(seconds));
    let instant = Instant { seconds: seconds.ok_or_else(too_long)?, ..from };
    Timestamp::try_from(instant).map_err(|_| too_long())
}

fn line(token: &Token) -> String {
    let Token { id, principal, matter, role, .. } = token;
    let until = match (&token.revoked_at, &token.expires_at) {
        (Some(at), _) => format!("revoked at {at}"),
        (None, Some(at)) => format!("until {at}"),
        (None, None) => "until it is revoked".to_owned(),
    };
    format!("{id}  {principal}  {role} in {matter}  {until}")
}
