//! `countersign command`: what people may do to a task's run, and doing it.
//! Owns: the list in words, reading a request. Must not: decide.

use super::governed::Governed;
use crate::cli::Global;
use crate::cli::governed::Commands;
use crate::failure::{Exit, Failure};
use crate::input;
use crate::output;
use crate::tasks;
use countersign_govern::table::commands::{self, Command, Write};
use countersign_govern::types::added::showing::CommandReceipt;
use countersign_govern::types::wire::Wire;
use countersign_record::code::Code;
use countersign_record::json::{Json, Object};
use countersign_work::command::Command as Asked;
use countersign_work::desk::Desk;
use countersign_work::task::{Source, Task};
use countersign_work::workspace;
use std::path::PathBuf;

/// The command that leaves an outcome out.
const SKIP: &str = "task.skip";
/// The command whose request is what files are now.
const RECHECK: &str = "source.recheck";

pub(super) async fn run(global: &Global, command: Commands) -> Result<Exit, Failure> {
    let Commands::Run { id, run, request, key, folder } = command else { return list(global) };
    if commands::find(&id).is_none() {
        return Err(Failure::new(
            Code::CommandUnknown,
            format!("there is no command {}", output::plain(&id)),
        ));
    }
    let key = key.map(named).transpose()?;
    let request = request.as_deref().map(input::document).transpose()?;
    let governed = Governed::open(global, &run).await?;
    let request = match request {
        Some(request) if id == RECHECK => looked_at(request, recheck(&governed, folder)?)?,
        Some(request) => request,
        None if id == RECHECK => recheck(&governed, folder)?,
        None => Object::new().into(),
    };
    let request = if id == SKIP { named_by_task(&governed, &run, request)? } else { request };
    let compared = if id == RECHECK { compared(&governed, &request) } else { Vec::new() };
    let mut ruled = governed.give(global, &id, &request, key).await?;
    ruled.compared = compared;
    ruled.told(global)
}

/// Characters of a key, at most.
const KEY_CHARS_MAX: usize = 200;

/// A key that a second try can be known by, and that can be read where it is told.
fn named(key: String) -> Result<String, Failure> {
    let chars = key.chars().count();
    let is_read = !key.trim().is_empty() && output::plain(&key) == key;
    match (1..=KEY_CHARS_MAX).contains(&chars) && is_read {
        true => Ok(key),
        false => {
            let message = format!("--key has one to {KEY_CHARS_MAX} characters that can be read");
            Err(Failure::new(Code::FieldInvalid, message))
        }
    }
}

/// What a source is whose file is what was taken in, and that is out of date for its run all the same: its time is over, or it was
/// another one in between.
pub(super) const OLD: &str = "out of date";

/// Each source whose file was looked at, and what it is to the one that was taken in.
fn compared(governed: &Governed, request: &Json) -> Vec<(String, &'static str)> {
    let one = |desk: &Desk, source: &Source| {
        let now = request.get("found").and_then(|found| found.get(&source.id)?.as_str());
        let taken = workspace::hash_of(desk, &source.id).map(String::from);
        let gone = request.get("gone").and_then(Json::as_array).unwrap_or_default();
        let is_gone = gone.iter().any(|one| one.as_str() == Some(source.id.as_str()));
        match (now, is_gone) {
            (_, true) => Some("gone"),
            (Some(now), false) if taken.as_deref() == Some(now) => {
                Some(if workspace::is_stale(desk, &source.id) { OLD } else { "unchanged" })
            }
            (Some(_), false) => Some("changed"),
            (None, false) => None,
        }
    };
    let all = |desk: &Desk| {
        let known = desk.task().sources.iter().filter(|source| source.tier() > 0);
        known.filter_map(|source| Some((source.path.clone(), one(desk, source)?))).collect()
    };
    governed.work.look(all).unwrap_or_default()
}

/// A request that names an outcome as the task does, with the reference that the command takes. A name that the task does not have
/// could be no reference either.
fn named_by_task(governed: &Governed, run: &str, request: Json) -> Result<Json, Failure> {
    let Json::Object(mut members) = request else { return Ok(request) };
    let task = governed.work.task();
    match members.get("target_ref").and_then(Json::as_str).map(str::to_owned) {
        Some(id) if task.outcome(&id).is_some() => {
            members.insert("target_ref", format!("outcome_record:{run}.{id}"));
        }
        Some(id) if !id.contains(':') => {
            let all: Vec<&str> = task.outcomes.iter().map(|one| one.id.as_str()).collect();
            let message = format!(
                "/target_ref: the task has no outcome {}; it has {}",
                output::plain(&id),
                all.join(", ")
            );
            let all = all.into_iter().map(Json::from).collect();
            return Err(Failure::new(Code::CommandRequest, message).with("outcomes", Json::Array(all)));
        }
        Some(_) | None => {}
    }
    Ok(members.into())
}

/// What the files of the run's sources are now.
fn recheck(governed: &Governed, folder: Option<PathBuf>) -> Result<Json, Failure> {
    let dir = folder.map(|dir| tasks::folder_of(&dir)).or_else(|| governed.folder()).unwrap_or_default();
    let task = governed.work.look(|desk| desk.task().clone());
    let task = task.unwrap_or_else(|| Task::clone(&governed.work.task()));
    let (found, gone) = tasks::found(&dir, &task)?;
    let found: Object =
        found.iter().map(|(id, hash)| (id.as_str(), Json::from(String::from(*hash)))).collect();
    let gone = gone.iter().map(|id| Json::from(id.as_str())).collect();
    Ok(Object::from([("found", Json::from(found)), ("gone", Json::Array(gone))]).into())
}

/// What files are is what was read of them: a request may say it too, and nothing else. One that is none is refused by its schema.
fn looked_at(request: Json, read: Json) -> Result<Json, Failure> {
    let Some(asked) = request.as_object() else { return Ok(request) };
    if asked.iter().any(|(name, _)| !["found", "gone"].contains(&name)) {
        return Ok(request);
    }
    let found = asked.get("found").and_then(Json::as_object).into_iter().flat_map(Object::iter);
    let is_other =
        |(id, hash): &(&str, &Json)| read.get("found").and_then(|found| found.get(id)) != Some(*hash);
    let others = found.filter(is_other).map(|(id, _)| id.to_owned());
    let gone = asked.get("gone").and_then(Json::as_array).unwrap_or_default();
    let is_gone =
        |one: &&Json| read.get("gone").and_then(Json::as_array).is_some_and(|all| all.contains(one));
    let there =
        gone.iter().filter(|one| !is_gone(one)).map(|one| one.as_str().unwrap_or_default().to_owned());
    let wrong: Vec<String> = others.chain(there).collect();
    if wrong.is_empty() {
        return Ok(read);
    }
    let message = format!(
        "the files are not what the request says ({}): leave the request out, and they are read",
        output::plain(&wrong.join(", "))
    );
    Err(Failure::new(Code::CommandRequest, message)
        .with("sources", Json::Array(wrong.iter().map(|one| one.as_str().into()).collect())))
}

fn list(global: &Global) -> Result<Exit, Failure> {
    if global.json {
        output::json(&Json::Array(commands::all().map(entry).collect()))?;
        return Ok(Exit::Success);
    }
    for command in commands::all() {
        output::line(&format!("{}  {}", command.id, command.does))?;
        output::line(&format!("  needs  {}", command.needs))?;
        let members = members(command);
        if !members.is_empty() {
            output::line(&format!("  asked  {}", members.join(", ")))?;
        }
        let writes: Vec<String> = command.writes.iter().map(|one| written(*one)).collect();
        if !writes.is_empty() {
            output::line(&format!("  writes {}", writes.join(", ")))?;
        }
        let old: Vec<&str> = command.invalidations().into_iter().collect();
        if !old.is_empty() {
            output::line(&format!("  old    {}", old.join(", ")))?;
        }
    }
    Ok(Exit::Success)
}

/// What a command writes, in words.
fn written(one: Write) -> String {
    match one {
        Write::Record(kind) => kind.to_owned(),
        Write::Transition(subject) => format!("{} of {subject}", one.kind()),
    }
}

fn schema(command: &Command) -> Json {
    let found = Asked::all().into_iter().find(|(id, _)| *id == command.id);
    found.map_or(Json::Null, |(_, schema)| schema())
}

/// What a command is asked with; what need not be said is in brackets.
fn members(command: &Command) -> Vec<String> {
    let schema = schema(command);
    let required = schema.get("required").and_then(Json::as_array).unwrap_or_default();
    let names = schema.get("properties").and_then(Json::as_object).into_iter().flat_map(Object::iter);
    names
        .map(|(name, _)| match required.iter().any(|one| one.as_str() == Some(name)) {
            true => name.to_owned(),
            false => format!("[{name}]"),
        })
        .collect()
}

/// A command as a document: what a `TaskCommandRegistryEntry` has, by its names, and what else is registered of it.
fn entry(command: &'static Command) -> Json {
    let texts = |all: &[&str]| Json::Array(all.iter().map(|one| Json::from(*one)).collect());
    let schema_ref =
        |id: &str| Object::from([("schema_id", Json::from(id)), ("semantic_version", "1.0.0".into())]);
    let states = &command.states;
    let mut kinds: Vec<&str> = command.writes.iter().map(|one| one.kind()).collect();
    kinds.dedup();
    let writes: Vec<String> = command.writes.iter().map(|one| written(*one)).collect();
    let writes: Vec<&str> = writes.iter().map(String::as_str).collect();
    let old: Vec<&str> = command.invalidations().into_iter().collect();
    Object::from([
        ("command_id", Json::from(command.id)),
        ("request_schema_ref", schema_ref(command.request).into()),
        ("response_schema_ref", schema_ref(command.response).into()),
        ("durable_write", command.durable_write.as_str().into()),
        ("required_policy_checks", texts(command.policy_checks)),
        ("idempotency_key_required", Json::Bool(command.is_keyed)),
        ("telemetry_event_kind", command.telemetry.into()),
        ("read_model_invalidations", texts(&old)),
        ("failure_codes", texts(command.failure_codes)),
        ("owning_doc", command.owner.into()),
        ("schema_version", "1.0".into()),
        ("writes_event_kinds", texts(&kinds)),
        ("empty_state_behavior", states.empty.into()),
        ("blocked_state_behavior", states.blocked.into()),
        ("degraded_state_behavior", states.degraded.into()),
        ("error_state_behavior", states.error.into()),
        ("does", command.does.into()),
        ("needs", command.needs.into()),
        ("writes", texts(&writes)),
        ("request_schema", schema(command)),
        ("response_schema", CommandReceipt::schema()),
    ])
    .into()
}
