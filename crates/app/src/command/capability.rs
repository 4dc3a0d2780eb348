//! `countersign capability`: what is granted to a session, and what waits for an answer.
//! Owns: reading what is asked for, and what is printed. Must not: decide whether something may be granted.

use super::session::{Nobody, begun, deciding, told, with_caution, working};
use crate::cli::Global;
use crate::cli::session::{Capability as Command, Of};
use crate::failure::{Exit, Failure};
use crate::office::Desk;
use crate::output;
use countersign_kernel::gate::Capability;
use countersign_kernel::grant::Request;
use countersign_record::code::Code;
use countersign_record::id::{PrincipalId, SessionName};
use countersign_record::time::Timestamp;
use countersign_runtime::session::{GrantFor, Session};
use serde::Serialize;
use std::sync::Arc;

#[derive(Serialize)]
struct Capabilities {
    granted: Vec<GrantShown>,
    pending: Vec<RequestShown>,
}

#[derive(Serialize)]
struct GrantShown {
    capability: String,
    by: PrincipalId,
    acting: PrincipalId,
    expires_at: String,
    once: bool,
    /// Why it does not count now; for the tools it was given for.
    void: Option<String>,
}

#[derive(Serialize)]
struct RequestShown {
    capability: String,
    /// The call that asked, for `grant --once --call`.
    call: Option<String>,
    turn: u64,
    summary: Option<String>,
}

pub(super) async fn run(global: &Global, command: Command) -> Result<Exit, Failure> {
    match command {
        Command::List { of, model } => listed(global, of, &model).await,
        Command::Grant { capability, to, time, once, call, model } => {
            let capability = read(&capability)?;
            let name = SessionName::try_from(to.session.as_str())?;
            let desk = Desk::new(global, &working(&model, to.policy), Arc::new(Nobody))?;
            let mut session = deciding(&desk, &name).await?;
            let asked = if once { Some(asked(&session, &capability, call.as_deref())?) } else { None };
            let arguments = asked.as_ref().and_then(|request| request.arguments);
            let acting = match to.acting {
                Some(acting) => PrincipalId::try_from(acting)?,
                None => whoever_asked(&session, &capability),
            };
            let seconds = time.as_deref().map(seconds).transpose()?;
            let grant = session.grant(GrantFor { capability, acting, arguments, seconds }).await?;
            let what = match asked {
                Some(request) => summary_of(&session, &request).await?,
                None => None,
            };
            let what = what.map(|what| format!(", to {}", output::plain(&what))).unwrap_or_default();
            let line = format!(
                "{} is granted to {} until {}{what}",
                grant.capability, grant.acting, grant.expires_at
            );
            told(global, &line, &grant)
        }
        Command::Deny { capability, of, reason } => {
            let capability = read(&capability)?;
            seen(global, of, "extractive").await?.deny(&capability, reason).await?;
            told(
                global,
                &format!("{capability} is denied"),
                &Decided { capability: capability.as_str(), decision: "denied" },
            )
        }
        Command::Revoke { capability, of, reason } => {
            let capability = read(&capability)?;
            seen(global, of, "extractive").await?.revoke(&capability, reason).await?;
            told(
                global,
                &format!("{capability} is revoked"),
                &Decided { capability: capability.as_str(), decision: "revoked" },
            )
        }
    }
}

/// A session to look at and to decide about, under the policy that it works under.
async fn seen(global: &Global, of: Of, model: &str) -> Result<Session, Failure> {
    let (desk, name) = begun(global, &of.session, working(model, of.under.policy)).await?;
    deciding(&desk, &name).await
}

/// A decision that says no.
#[derive(Serialize)]
pub(super) struct Decided<'a> {
    pub(super) capability: &'a str,
    pub(super) decision: &'static str,
}

/// Reads the name of one, as a person types it.
pub(super) fn read(text: &str) -> Result<Capability, Failure> {
    Capability::try_from(text)
        .map_err(|error| Failure::new(Code::CapabilityInvalid, format!("{}: {error}", output::plain(text))))
}

/// The one call that asked. Where several have, the person says which: the last one may not be the one that was seen.
fn asked(session: &Session, capability: &Capability, call: Option<&str>) -> Result<Request, Failure> {
    let nothing = |message: String| Failure::new(Code::SessionNothing, message);
    let requests = session.past().grants.requests();
    let mut asked: Vec<&Request> = requests
        .iter()
        .filter(|request| request.capability == *capability && request.arguments.is_some())
        .filter(|request| call.is_none_or(|call| call_name(request) == call))
        .collect();
    // The turn that asked is over: a word for it would fit no other.
    if asked.iter().any(|request| is_for_a_turn(request)) {
        let message = format!("--once: {capability} was asked for a turn that is over; grant it with --for");
        return Err(Failure::new(Code::CapabilityTurn, message));
    }
    match (asked.pop(), asked.is_empty()) {
        (Some(request), true) => Ok(request.clone()),
        (Some(_), false) => Err(nothing(format!(
            "--once: several calls have asked for {capability}; name one with --call, as capability list shows it"
        ))),
        (None, _) => Err(nothing(format!("--once: no such call has asked for {capability}"))),
    }
}

/// Whether a session was to be sent to its model: that is asked for a turn, and not for a call that could be made later.
fn is_for_a_turn(request: &Request) -> bool {
    request.from == "model"
}

/// A call that asked, by the first digits of its arguments' hash.
fn call_name(request: &Request) -> String {
    request.arguments.map(|hash| hash.to_string().chars().take(8).collect()).unwrap_or_default()
}

/// What exactly a call that asked would do.
async fn summary_of(session: &Session, request: &Request) -> Result<Option<String>, Failure> {
    match request.summary {
        Some(summary) => Ok(Some(session.text(summary).await?)),
        None => Ok(None),
    }
}

/// Who is waiting for it; if nobody is, whoever grants it.
fn whoever_asked(session: &Session, capability: &Capability) -> PrincipalId {
    let requests = session.past().grants.requests();
    let asked = requests.iter().find(|request| request.capability == *capability);
    asked.map_or_else(|| session.office().access.principal().clone(), |request| request.acting.clone())
}

/// `90s`, `30m`, `8h`, `7d`.
pub(super) fn seconds(text: &str) -> Result<u64, Failure> {
    let invalid = || Failure::new(Code::CapabilityExpiry, "--for takes a time such as 90s, 30m, 8h or 7d");
    let (number, unit) = text.split_at_checked(text.len().saturating_sub(1)).ok_or_else(invalid)?;
    let factor = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3_600,
        "d" => 86_400,
        _ => return Err(invalid()),
    };
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    let number: u64 = number.parse().ok().filter(|_| is_number).ok_or_else(invalid)?;
    number.checked_mul(factor).ok_or_else(invalid)
}

async fn listed(global: &Global, of: Of, model: &str) -> Result<Exit, Failure> {
    let session = seen(global, of, model).await?;
    let now =
        session.office().clock.now().map_err(|error| Failure::new(Code::TimeInvalid, error.to_string()))?;
    let granted = session.past().grants.all().iter().map(|grant| GrantShown {
        capability: grant.capability.to_string(),
        by: grant.by.clone(),
        acting: grant.acting.clone(),
        expires_at: Timestamp::try_from(grant.expires).map(|time| time.to_string()).unwrap_or_default(),
        once: grant.is_for_one_call(),
        void: session.why_void(grant, now.instant()),
    });
    let mut pending = Vec::new();
    for request in session.past().grants.requests() {
        pending.push(RequestShown {
            capability: request.capability.to_string(),
            call: request.arguments.filter(|_| !is_for_a_turn(request)).map(|_| call_name(request)),
            turn: request.turn,
            summary: summary_of(&session, request).await?,
        });
    }
    let shown = Capabilities { granted: granted.collect(), pending };
    if global.json {
        output::json(&shown)?;
        return Ok(Exit::Success);
    }
    if shown.granted.is_empty() && shown.pending.is_empty() {
        output::line("Nothing is granted, and nothing waits for an answer.")?;
    }
    for grant in &shown.granted {
        let once = if grant.once { ", once" } else { "" };
        let void = grant.void.as_ref().map(|why| format!("  VOID: {why}")).unwrap_or_default();
        output::line(&format!(
            "granted  {}  to {} by {} until {}{once}{void}",
            grant.capability, grant.acting, grant.by, grant.expires_at
        ))?;
    }
    for request in &shown.pending {
        let summary =
            request.summary.as_ref().map(|text| format!(": {}", output::plain(text))).unwrap_or_default();
        let call = request.call.as_ref().map(|call| format!("  call {call}")).unwrap_or_default();
        let capability = with_caution(&request.capability);
        output::line(&format!("pending  {capability}  turn {}{call}{summary}", request.turn))?;
    }
    Ok(Exit::Success)
}
