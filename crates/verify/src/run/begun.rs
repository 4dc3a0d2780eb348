//! What a run begins with: the pipeline that its task names, the first envelope as the task makes it, and what was put down beside it.
//! Owns: holding these to the task. Must not: decide what comes then.

use super::{CHECK, Untold, document, first_of, minted, same, wrong};
use crate::case::{Bytes, Case, Text};
use crate::found::Found;
use crate::report::{Check, Place};
use crate::run::Told;
use crate::table;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_govern::member::Member;
use countersign_govern::task::PIPELINE;
use countersign_kernel::pipeline::{Agent, Pipeline, Stage, shipped};
use countersign_kernel::run::Run;
use countersign_record::canonical;
use countersign_record::code::Code;
use countersign_record::digest::Digest;
use countersign_record::id::RunId;
use countersign_record::json::{self, Json, Object};
use countersign_record::row::Row;
use countersign_record::run_kind;
use countersign_record::state::{GenericEnvelope, Minted};

/// What the first row says, and what is put down beside its pipeline.
const SAID: [&str; 7] =
    ["run", "envelope_id", "request_id", "session_id", "state_hash", "pipeline", "pipeline_hash"];
const SETUP: [&str; 9] =
    ["dir", "files", "forked_from", "heads", "memory", "model", "nearest", "sources", "task"];
/// The envelope, the pipeline and what was put down: without these nothing behind them can be derived.
const DOCUMENTS: usize = 3;
/// Where the envelope names its run.
const RUN: &str = "run_id";

/// The first of the documents that a run begins with which is kept back, by its place among them.
pub(crate) fn kept_back(case: &Case<'_>) -> Option<(usize, Digest)> {
    let first = case.events.first()?;
    let documents = first.blobs.iter().take(DOCUMENTS).map(|blob| blob.digest);
    let file = own_file(case).and_then(|path| case.files.get(path)).copied();
    documents.chain(file).enumerate().find(|(_, digest)| case.bytes(digest) == Bytes::Withheld)
}

/// The file of the task's folder that its pipeline is.
pub(crate) fn own_file<'p>(case: &Case<'p>) -> Option<&'p str> {
    case.task.0.text("work.pipeline").filter(|named| !is_shipped(named))
}

fn is_shipped(named: &str) -> bool {
    shipped::SHIPPED.iter().any(|(name, _)| *name == named)
}

/// A run begins with its own row, and nothing of what it began with is kept back.
pub(super) fn there(case: &Case<'_>, first: &Row, found: &mut Found) -> Result<(), Untold> {
    if first.kind.as_str() != run_kind::BEGAN {
        return Err(wrong(first, "/kind", "a run begins with run.began"));
    }
    let Some((nth, _)) = kept_back(case) else {
        found.right(Check::Completeness);
        return Ok(());
    };
    let path = if nth < DOCUMENTS { format!("/blobs/{nth}") } else { "/predicate/files".to_string() };
    let message = "what the run began with is withheld: nothing that follows can be derived";
    found.wrong(Code::VerifyIncomplete, Check::Completeness, at(first, &path), message);
    Ok(())
}

/// What a run began with. The pipeline is kept also where the rest can't be read: by it what was handed over is looked at.
pub(super) fn begun(
    case: &Case<'_>,
    first: &Row,
    told: &mut Told,
    found: &mut Found,
) -> Result<(Pipeline, Run), Untold> {
    let pipeline = Pipeline::read(document(case, first, 1)?);
    let pipeline = pipeline.map_err(|troubles| wrong(first, "/blobs/1", first_of(&troubles)))?;
    let hash = first.blobs.get(1).map(|blob| String::from(blob.digest)).unwrap_or_default();
    told.pipeline = Some(pipeline.clone());
    named(case, first, &pipeline, &hash, found);
    held(case, first, &pipeline, found);
    set_up(case, first, &document(case, first, 2)?, told, found);
    let stated = document(case, first, 0)?;
    let unreadable = |why: String| wrong(first, "/blobs/0", why);
    let minted = minted(&first.at).ok_or_else(|| unreadable("there is no time".to_string()))?;
    let envelope = GenericEnvelope::read(stated.clone(), minted);
    let envelope = envelope.map_err(|troubles| unreadable(first_of(&troubles)))?.envelope;
    let state = envelope.hash().map(String::from).unwrap_or_default();
    let identity = &envelope.identity;
    for (name, expected) in SAID.into_iter().zip([
        case.run.as_str(),
        identity.envelope_id.as_str(),
        identity.request_id.as_str(),
        identity.session_id.as_str(),
        state.as_str(),
        pipeline.name.as_str(),
        hash.as_str(),
    ]) {
        let path = format!("/payload/{name}");
        same(first, &path, Some(expected.into()), first.payload.at(name).cloned(), found);
    }
    only(first, "/payload", &first.payload, &SAID, found);
    received(case, first, &pipeline, (&stated, &envelope), found);
    Ok((pipeline, Run::of(envelope)))
}

fn at(first: &Row, path: &str) -> Place {
    Place { row: Some(first.seq), path: Some(path.to_string()), ..Place::default() }
}

fn only(first: &Row, path: &str, document: &Json, known: &[&str], found: &mut Found) {
    let members = document.as_object().into_iter().flat_map(Object::iter);
    match members.map(|(name, _)| name).find(|name| !known.contains(name)) {
        None => found.right(CHECK),
        Some(name) => {
            let place = at(first, &format!("{path}/{name:.80}"));
            found.wrong(Code::VerifyRun, CHECK, place, "no run begins with such a member");
        }
    }
}

/// The pipeline is the one that the task names: one that ships, or a file of its folder, which has a name of its own.
fn named(case: &Case<'_>, first: &Row, pipeline: &Pipeline, hash: &str, found: &mut Found) {
    let place = || at(first, "/payload/pipeline");
    let Some(path) = own_file(case) else {
        let named = case.task.0.text("work.pipeline").unwrap_or(PIPELINE);
        let message = match (pipeline.name == named, shipped::is_other(named, hash)) {
            (true, false) => return found.right(CHECK),
            (true, true) => "the pipeline that ships under this name is another".to_string(),
            (false, _) => format!("the task goes by the pipeline {named}"),
        };
        return found.wrong(Code::VerifyRun, CHECK, place(), message);
    };
    if is_shipped(&pipeline.name) {
        let message = "it is a file of the task, by the name of a pipeline that ships";
        found.wrong(Code::VerifyRun, CHECK, place(), message);
    }
    let bytes = case.files.get(path).map_or(Bytes::Missing, |digest| case.bytes(digest));
    let Text::Here(text) = bytes.text() else {
        // What is not there is told where the files of the task are looked at.
        return found.withheld(CHECK);
    };
    let again = table::read(text).and_then(|document| Pipeline::read(document).ok());
    let again = again.and_then(|again| canonical::to_bytes_of(&again).ok());
    match again.is_some_and(|bytes| String::from(Digest::of(&bytes)) == hash) {
        true => found.right(CHECK),
        false => {
            let message = format!("it is not the pipeline in {path:.200}, which the task names");
            found.wrong(Code::VerifyRun, CHECK, place(), message);
        }
    }
}

/// The agent that holds code to its CodeSpec, the one that looks at the work, and where it finds what was drafted.
const ENFORCER: &str = "enforcement";
const EVALUATOR: &str = "task_critic";
const DRAFT: &str = "draft";

/// Code is held to its CodeSpec on every way to whoever looks at it.
fn held(case: &Case<'_>, first: &Row, pipeline: &Pipeline, found: &mut Found) {
    let is = |stage: &Stage, agent: &str| matches!(&stage.agent, Agent::BuiltIn { name } if name == agent);
    let is_bypassed = pipeline.is_bypassed(
        |stage| is(stage, ENFORCER) && stage.output_key == ENFORCER,
        |stage| stage.output_key == DRAFT,
        |stage| is(stage, EVALUATOR),
    );
    let has_code = case.task.artifacts().any(|one| one.0.text("codespec").is_some());
    match has_code && is_bypassed {
        false => found.right(CHECK),
        true => {
            let message = "code may come to whoever looks at it without being held to its CodeSpec";
            found.wrong(Code::VerifyRun, CHECK, at(first, "/payload/pipeline"), message);
        }
    }
}

/// What was put down beside the pipeline is of this task, and of a fork where the run begins with work.
fn set_up(case: &Case<'_>, first: &Row, setup: &Json, told: &mut Told, found: &mut Found) {
    only(first, "/blobs/2", setup, &SETUP, found);
    let heads = setup.get("heads").and_then(Json::as_object).into_iter().flat_map(Object::iter);
    told.heads = heads.filter_map(|(id, hash)| Some((id.to_string(), hash.as_str()?.to_string()))).collect();
    let forked = setup.get("forked_from").map(|one| one.as_str().unwrap_or_default());
    let is_run = |id: &str| id != case.run.as_str() && RunId::try_from(id.to_string()).is_ok();
    if forked.is_some_and(|id| !is_run(id)) {
        let place = at(first, "/blobs/2/forked_from");
        found.wrong(Code::VerifyRun, CHECK, place, "no run that it could be forked from has this name");
    }
    let is_of_task = told.heads.keys().all(|id| case.task.artifact(id).is_some());
    match is_of_task && (forked.is_some() || told.heads.is_empty()) {
        true => found.right(CHECK),
        false => {
            let place = at(first, "/blobs/2/heads");
            let message = "only a fork begins with work, and with that of its task";
            found.wrong(Code::VerifyRun, CHECK, place, message);
        }
    }
    let files = case.files.iter().map(|(path, digest)| (path.as_str(), String::from(*digest).into()));
    let files: Object = files.collect();
    let begun_with = setup.at("files").cloned().unwrap_or_else(|| Object::new().into());
    let all = [
        ("/predicate/task", setup.at("task") == Some(case.task.0)),
        ("/predicate/files", begun_with == Json::Object(files)),
    ];
    for (path, is_same) in all {
        match is_same {
            true => found.right(Check::Statement),
            false => {
                let message = "it is not what the run began with";
                found.wrong(Code::VerifyStatement, Check::Statement, at(first, path), message);
            }
        }
    }
}

/// The first envelope is the one that the task makes: its names, and when it was received, are told; all else follows.
fn received(
    case: &Case<'_>,
    first: &Row,
    pipeline: &Pipeline,
    (stated, envelope): (&Json, &GenericEnvelope),
    found: &mut Found,
) {
    let identity = &envelope.identity;
    let minted = Minted {
        envelope_id: identity.envelope_id.clone(),
        request_id: identity.request_id.clone(),
        session_id: identity.session_id.clone(),
        received_at: identity.received_at.clone(),
    };
    let expected =
        GenericEnvelope::read(asked(case, first.actor.as_str()), minted).ok().and_then(|reading| {
            let mut expected = Run::begun(pipeline, reading).envelope;
            expected.metadata.insert(RUN, case.run.as_str());
            json::value_of(&expected).ok()
        });
    let expected = expected.unwrap_or(Json::Null);
    let both = [&expected, stated].into_iter().filter_map(Json::as_object);
    let names: BTreeSet<&str> = both.flat_map(Object::iter).map(|(name, _)| name).collect();
    for name in names {
        let path = format!("/blobs/0/{name}");
        same(first, &path, expected.get(name).cloned(), stated.get(name).cloned(), found);
    }
    if identity.received_at.instant() > first.at.instant() {
        let place = at(first, "/blobs/0/received_at");
        found.wrong(Code::VerifyRun, CHECK, place, "it was received after its run began");
    }
}

/// What a task asks its run for, as the run is told it.
fn asked(case: &Case<'_>, principal: &str) -> Json {
    let task = case.task.0;
    let sections = task.list("artifacts").iter().flat_map(|one| one.list("sections"));
    let mut goals: Vec<&str> = Vec::new();
    for ask in sections.filter_map(|one| one.text("ask")) {
        if !goals.contains(&ask) {
            goals.push(ask);
        }
    }
    let goal = task.text("goal").unwrap_or_default();
    if goals.is_empty() {
        goals.push(goal);
    }
    let list = Json::Array(goals.iter().map(|goal| (*goal).into()).collect());
    let status: Object = goals.iter().map(|goal| (*goal, Json::from("pending"))).collect();
    let mut metadata = Object::new();
    if let Some(code) = case.task.artifacts().find(|one| one.is_code()) {
        let language = code.0.text("language").unwrap_or("python");
        let filename = code.0.text("filename").or_else(|| code.path()).unwrap_or_default();
        let pinned = Object::from([
            ("codespec_path", Json::from(code.0.text("codespec").unwrap_or_default())),
            ("task", Object::from([("language", Json::from(language))]).into()),
            ("stop", Object::from([("filename", Json::from(filename))]).into()),
        ]);
        metadata.insert("artifact", pinned);
    }
    let mut document = Object::from([
        ("raw_input", Json::from(goal)),
        ("user_id", principal.into()),
        ("all_goals", list.clone()),
        ("remaining_goals", list),
        ("goal_completion_status", status.into()),
        ("metadata", metadata.into()),
    ]);
    for name in ["max_iterations", "max_llm_calls", "max_agent_hops"] {
        if let Some(limit) = task.at("limits").and_then(|limits| limits.get(name)) {
            document.insert(name, limit.clone());
        }
    }
    document.into()
}
