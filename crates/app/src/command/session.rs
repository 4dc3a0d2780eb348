//! `countersign session`, `capability`, `tools`: sessions seen and governed from outside.
//! Owns: asking, and what is printed. Must not: decide whether something may be granted.

use crate::cli::Global;
use crate::cli::session::{Capability as Command, Found, Session as SessionCommand, Working};
use crate::failure::{Exit, Failure};
use crate::office::{Desk, Rooms};
use crate::output;
use countersign_kernel::gate::Capability;
use countersign_kernel::grant::Request;
use countersign_record::code::Code;
use countersign_record::deed::Fate;
use countersign_record::digest::Digest;
use countersign_record::id::{PrincipalId, SessionName};
use countersign_record::session::{ChatMessage, Role, State};
use countersign_record::time::Timestamp;
use countersign_runtime::ports::Answer;
use countersign_runtime::ports::session::{Decision, Person, Question};
use countersign_runtime::session::{GrantFor, Recovered, Session};
use serde::Serialize;
use std::path::PathBuf;
use std::sync::Arc;

/// Where there is nobody to ask.
pub(super) struct Nobody;

impl Person for Nobody {
    fn decide<'a>(&'a self, _: &'a Question) -> Answer<'a, Decision> {
        Box::pin(async { Decision::Nobody })
    }
}

fn working(model: &str, policy: Option<PathBuf>) -> Working {
    Working { model: model.to_owned(), root: None, memory: Vec::new(), policy }
}

/// A session that is looked at or decided about. It must have been begun.
struct Opened {
    session: Session,
    recovered: Recovered,
}

impl Opened {
    /// Takes the session: nobody else is in the middle of a turn.
    async fn whole(global: &Global, name: &str) -> Result<Self, Failure> {
        let (desk, name) = begun(global, name, working("extractive", None)).await?;
        let kept = desk.take(&name)?;
        let (session, recovered) = desk.session(&name, &kept).await?;
        Ok(Opened { session, recovered })
    }
}

async fn begun(global: &Global, name: &str, working: Working) -> Result<(Desk, SessionName), Failure> {
    let name = SessionName::try_from(name)?;
    let desk = Desk::new(global, &working, Arc::new(Nobody))?;
    let is_there = Rooms::of(global)?.sessions().names()?.contains(&name);
    match is_there || Session::is_recorded(&desk.office()?, &name).await? {
        true => Ok((desk, name)),
        false => Err(Failure::new(Code::SessionMissing, format!("there is no session {name}"))),
    }
}

pub(super) async fn run(global: &Global, command: SessionCommand) -> Result<Exit, Failure> {
    match command {
        SessionCommand::List => list(global),
        SessionCommand::Show { name } => show(global, &name).await,
        SessionCommand::Settle { name, call, found } => {
            let mut opened = Opened::whole(global, &name).await?;
            let fate = match found {
                Found::Happened => Fate::Happened,
                Found::DidNotHappen => Fate::DidNotHappen,
                Found::Unknown => Fate::Unknown,
            };
            let left = opened.session.settle(&call, fate).await?.unsettled.len();
            told(
                global,
                &format!("{call}: {}", fate.as_str()),
                &Settled { call: &call, fate: fate.as_str(), left },
            )
        }
        SessionCommand::Replies { name } => {
            for reply in decided(global, &name).await?.replies().await? {
                output::json(&reply)?;
            }
            Ok(Exit::Success)
        }
        SessionCommand::Undo { name } => {
            let mut opened = Opened::whole(global, &name).await?;
            let undone = opened.session.undo().await?;
            let standing = match undone.standing.as_slice() {
                [] => String::new(),
                standing => format!("; what it did stands: {}", output::plain(&standing.join("; "))),
            };
            told(global, &format!("turn {} was taken back{standing}", undone.turn), &undone)
        }
    }
}

#[derive(Serialize)]
struct Settled<'a> {
    call: &'a str,
    fate: &'static str,
    left: usize,
}

fn told<T: Serialize>(global: &Global, line: &str, document: &T) -> Result<Exit, Failure> {
    match global.json {
        true => output::json(document)?,
        false => output::line(line)?,
    }
    Ok(Exit::Success)
}

fn list(global: &Global) -> Result<Exit, Failure> {
    let sessions = Rooms::of(global)?.sessions();
    let names = sessions.names()?;
    if global.json {
        output::json(&names)?;
    } else if names.is_empty() {
        output::line("No sessions yet: countersign chat begins one.")?;
    }
    for name in names.iter().filter(|_| !global.json) {
        let state = match sessions.read(name) {
            Ok(found) => {
                found.checkpoint.map_or("new".to_owned(), |kept| format!("revision {}", kept.revision))
            }
            Err(error) => error.to_string(),
        };
        output::line(&format!("{name}  {}", output::plain(&state)))?;
    }
    Ok(Exit::Success)
}

#[derive(Serialize)]
struct Shown<'a> {
    session: &'a SessionName,
    revision: u64,
    turn: u64,
    data_class: &'static str,
    state: &'a State,
    recent_messages: &'a [ChatMessage],
    unsettled: Vec<Unsettled>,
    notes: &'a [String],
}

#[derive(Serialize)]
struct Unsettled {
    call: String,
    tool: String,
    summary: String,
}

async fn show(global: &Global, name: &str) -> Result<Exit, Failure> {
    let Opened { session, recovered } = Opened::whole(global, name).await?;
    match global.json {
        true => show_document(&session, &recovered)?,
        false => show_text(&session, &recovered)?,
    }
    Ok(if recovered.unsettled.is_empty() { Exit::Success } else { Exit::Waiting })
}

/// A session as one document.
pub(super) fn show_document(session: &Session, recovered: &Recovered) -> Result<(), Failure> {
    let unsettled = recovered.unsettled.iter().map(|open| Unsettled {
        call: open.call.clone(),
        tool: open.tool.clone(),
        summary: open.summary.clone(),
    });
    output::json(&Shown {
        session: session.name(),
        revision: session.revision(),
        turn: session.past().turn,
        data_class: session.past().label.data_class.as_str(),
        state: &session.state_now()?,
        recent_messages: session.messages(),
        unsettled: unsettled.collect(),
        notes: &recovered.notes,
    })
}

fn show_text(session: &Session, recovered: &Recovered) -> Result<(), Failure> {
    let class = session.past().label.data_class.as_str();
    output::line(&format!(
        "{}  revision {}, turn {}, {class}",
        session.name(),
        session.revision(),
        session.past().turn
    ))?;
    recovered.notes.iter().try_for_each(|note| output::line(&format!("note: {}", output::plain(note))))?;
    for open in &recovered.unsettled {
        let summary = output::plain(&open.summary);
        output::line(&format!(
            "unsettled: {} ({}): {summary}",
            output::plain(&open.call),
            output::plain(&open.tool)
        ))?;
    }
    show_state(&session.state_now()?)?;
    for message in session.messages() {
        let who = match message.role {
            Role::System => "system",
            Role::User => "user",
            Role::Assistant => "assistant",
            Role::Tool => "tool",
        };
        let text: String = output::plain(&message.content).chars().take(200).collect();
        output::line(&format!("{who:>9}  {text}"))?;
    }
    Ok(())
}

/// The state, a line per list that is not empty.
pub(super) fn show_state(state: &State) -> Result<(), Failure> {
    let lists = [
        ("goals", &state.goals),
        ("open loops", &state.open_loops),
        ("decisions", &state.decisions),
        ("constraints", &state.constraints),
        ("memory tags", &state.memory_tags),
        ("memory refs", &state.memory_refs),
        ("granted", &state.capabilities_granted),
        ("pending", &state.capabilities_pending),
    ];
    for (name, list) in lists {
        if !list.is_empty() {
            output::line(&format!("{name:>12}  {}", output::plain(&list.join(" · "))))?;
        }
    }
    if !state.episode_summary.is_empty() {
        output::line(&format!("     summary  {}", output::plain(&state.episode_summary)))?;
    }
    Ok(())
}

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

pub(super) async fn capability(global: &Global, command: Command) -> Result<Exit, Failure> {
    match command {
        Command::List { session } => listed(global, &session).await,
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
            let what = asked
                .and_then(|request| request.summary)
                .map(|summary| format!(", to {}", output::plain(&summary)));
            let what = what.unwrap_or_default();
            let line = format!(
                "{} is granted to {} until {}{what}",
                grant.capability, grant.acting, grant.expires_at
            );
            told(global, &line, &grant)
        }
        Command::Deny { capability, session, reason } => {
            let capability = read(&capability)?;
            decided(global, &session).await?.deny(&capability, reason).await?;
            told(
                global,
                &format!("{capability} is denied"),
                &Decided { capability: capability.as_str(), decision: "denied" },
            )
        }
        Command::Revoke { capability, session, reason } => {
            let capability = read(&capability)?;
            decided(global, &session).await?.revoke(&capability, reason).await?;
            told(
                global,
                &format!("{capability} is revoked"),
                &Decided { capability: capability.as_str(), decision: "revoked" },
            )
        }
    }
}

/// A decision that says no.
#[derive(Serialize)]
pub(super) struct Decided<'a> {
    pub(super) capability: &'a str,
    pub(super) decision: &'static str,
}

async fn decided(global: &Global, name: &str) -> Result<Session, Failure> {
    let (desk, name) = begun(global, name, working("extractive", None)).await?;
    deciding(&desk, &name).await
}

/// A session to decide about: its own writer may be at work at the same time.
async fn deciding(desk: &Desk, name: &SessionName) -> Result<Session, Failure> {
    Ok(Session::seen(desk.office()?, name.clone()).await?)
}

fn read(text: &str) -> Result<Capability, Failure> {
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
    match (asked.pop(), asked.is_empty()) {
        (Some(request), true) => Ok(request.clone()),
        (Some(_), false) => Err(nothing(format!(
            "--once: several calls have asked for {capability}; name one with --call, as capability list shows it"
        ))),
        (None, _) => Err(nothing(format!("--once: no such call has asked for {capability}"))),
    }
}

/// A call that asked, by the first digits of its arguments' hash.
fn call_name(request: &Request) -> String {
    request.arguments.map(|hash| hash.to_string().chars().take(8).collect()).unwrap_or_default()
}

/// Who is waiting for it; if nobody is, whoever grants it.
fn whoever_asked(session: &Session, capability: &Capability) -> PrincipalId {
    let requests = session.past().grants.requests();
    let asked = requests.iter().find(|request| request.capability == *capability);
    asked.map_or_else(|| session.office().access.principal().clone(), |request| request.acting.clone())
}

/// `90s`, `30m`, `8h`, `7d`.
fn seconds(text: &str) -> Result<u64, Failure> {
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

async fn listed(global: &Global, name: &str) -> Result<Exit, Failure> {
    let session = decided(global, name).await?;
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
    let pending = session.past().grants.requests().iter().map(|request| RequestShown {
        capability: request.capability.to_string(),
        call: request.arguments.map(|_| call_name(request)),
        turn: request.turn,
        summary: request.summary.clone(),
    });
    let shown = Capabilities { granted: granted.collect(), pending: pending.collect() };
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
        output::line(&format!("pending  {}  turn {}{call}{summary}", request.capability, request.turn))?;
    }
    Ok(Exit::Success)
}

#[derive(Serialize)]
struct ToolShown<'a> {
    #[serde(flatten)]
    definition: &'a countersign_record::tool::Definition,
    definition_hash: Digest,
}

/// The tools that a session has.
pub(super) fn tools(global: &Global) -> Result<Exit, Failure> {
    let desk = Desk::new(global, &working("extractive", None), Arc::new(Nobody))?;
    show_tools(global, &desk)
}

pub(super) fn show_tools(global: &Global, desk: &Desk) -> Result<Exit, Failure> {
    let office = desk.office()?;
    let shown: Vec<ToolShown<'_>> = office
        .tools
        .iter()
        .map(|(_, entry)| ToolShown { definition: entry.tool.definition(), definition_hash: entry.hash })
        .collect();
    if global.json {
        output::json(&shown)?;
        return Ok(Exit::Success);
    }
    for tool in shown {
        use countersign_record::tool::{Effect, Needs};
        let definition = tool.definition;
        let needs = match &definition.needs {
            Needs::Nothing => "nothing".to_owned(),
            Needs::Capability(name) => name.clone(),
            Needs::Host => "net:<host>".to_owned(),
        };
        let effect = match definition.effect {
            Effect::None => "changes nothing",
            Effect::Reversible => "reversible",
            Effect::Irreversible => "irreversible",
            Effect::Idempotent => "idempotent",
        };
        output::line(&format!(
            "{:<14} needs {needs}, {effect}\n    {}",
            definition.name.as_str(),
            definition.description
        ))?;
    }
    Ok(Exit::Success)
}
