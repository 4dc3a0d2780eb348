//! `countersign session`, `tools`: sessions seen and settled from outside.
//! Owns: asking, and what is printed. Must not: decide what became of a call.

use crate::cli::Global;
use crate::cli::session::{Found, Session as SessionCommand, Working};
use crate::failure::{Exit, Failure};
use crate::office::{Desk, Rooms};
use crate::output;
use countersign_kernel::gate::Capability;
use countersign_record::code::Code;
use countersign_record::deed::Fate;
use countersign_record::digest::Digest;
use countersign_record::id::SessionName;
use countersign_record::session::{ChatMessage, Role, State};
use countersign_runtime::ports::Answer;
use countersign_runtime::ports::session::{Decision, Person, Question};
use countersign_runtime::session::{Recovered, Session, Unsettled};
use serde::Serialize;
use std::path::PathBuf;
use std::sync::Arc;

/// Where there is nobody to ask.
pub(super) struct Nobody;

impl Person for Nobody {
    fn is_there(&self) -> bool {
        false
    }

    fn decide<'a>(&'a self, _: &'a Question) -> Answer<'a, Decision> {
        Box::pin(async { Decision::Nobody })
    }
}

pub(super) fn working(model: &str, policy: Option<PathBuf>) -> Working {
    Working { model: model.to_owned(), root: None, memory: Vec::new(), policy }
}

/// A session that is looked at or decided about. It must have been begun.
struct Opened {
    session: Session,
    recovered: Recovered,
}

impl Opened {
    /// Takes the session: nobody else is in the middle of a turn.
    async fn whole(global: &Global, name: &str, policy: Option<PathBuf>) -> Result<Self, Failure> {
        let (desk, name) = begun(global, name, working("extractive", policy)).await?;
        let kept = desk.take(&name)?;
        let (session, recovered) = desk.session(&name, &kept).await?;
        Ok(Opened { session, recovered })
    }

    /// Looks at the session, also while somebody else has it: what is durable by now.
    async fn seen(global: &Global, name: &str, policy: Option<PathBuf>) -> Result<Self, Failure> {
        let (desk, name) = begun(global, name, working("extractive", policy)).await?;
        let sessions = Rooms::of(global)?.sessions();
        let in_use = sessions.is_in_use(&name);
        // The checkpoint first: the rows that are read after it know at least as much.
        let (checkpoint, trouble) = match sessions.read(&name) {
            Ok(found) => (found.checkpoint, found.trouble),
            Err(error) => (None, Some(error.to_string())),
        };
        let seen = deciding(&desk, &name).await?;
        let (session, mut recovered) = seen.looked_at(checkpoint, in_use.is_some()).await?;
        recovered.notes.extend(in_use.map(|error| error.to_string()));
        recovered.notes.extend(trouble);
        Ok(Opened { session, recovered })
    }
}

/// Has a session whose checkpoint is gone told again from the ledger.
pub(super) async fn told_again(global: &Global, name: &SessionName) -> Result<(), Failure> {
    Opened::whole(global, name.as_str(), None).await.map(drop)
}

pub(super) async fn begun(
    global: &Global,
    name: &str,
    working: Working,
) -> Result<(Desk, SessionName), Failure> {
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
        SessionCommand::Show { name, under } => show(global, &name, under.policy).await,
        SessionCommand::Settle { name, call, found, under } => {
            let mut opened = Opened::whole(global, &name, under.policy).await?;
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
        SessionCommand::Undo { name, under } => {
            let mut opened = Opened::whole(global, &name, under.policy).await?;
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

pub(super) fn told<T: Serialize>(global: &Global, line: &str, document: &T) -> Result<Exit, Failure> {
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
    unsettled: &'a [Unsettled],
    notes: &'a [String],
}

async fn show(global: &Global, name: &str, policy: Option<PathBuf>) -> Result<Exit, Failure> {
    let Opened { session, recovered } = Opened::seen(global, name, policy).await?;
    match global.json {
        true => show_document(&session, &recovered)?,
        false => show_text(&session, &recovered)?,
    }
    Ok(if recovered.unsettled.is_empty() { Exit::Success } else { Exit::Waiting })
}

/// A session as one document.
pub(super) fn show_document(session: &Session, recovered: &Recovered) -> Result<(), Failure> {
    output::json(&Shown {
        session: session.name(),
        revision: session.revision(),
        turn: session.past().turn,
        data_class: session.past().label.data_class.as_str(),
        state: &session.state_now()?,
        recent_messages: session.messages(),
        unsettled: &recovered.unsettled,
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

async fn decided(global: &Global, name: &str) -> Result<Session, Failure> {
    let (desk, name) = begun(global, name, working("extractive", None)).await?;
    deciding(&desk, &name).await
}

/// A session to decide about: its own writer may be at work at the same time.
pub(super) async fn deciding(desk: &Desk, name: &SessionName) -> Result<Session, Failure> {
    Ok(Session::seen(desk.office()?, name.clone()).await?)
}

/// A capability, with what a person should know before granting it.
pub(super) fn with_caution(capability: &str) -> String {
    let read = Capability::try_from(capability).ok();
    let caution = read.and_then(|capability| capability.caution()).map(|caution| format!(" ({caution})"));
    format!("{capability}{}", caution.unwrap_or_default())
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
