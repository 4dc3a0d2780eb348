//! How a task's run stands: its health, findings, evidence, chains, board, costs, and what waits for a person.
//! Owns: reading a run's records, and what is said of every page. Must not: derive; `countersign-work` does.

mod body;
mod budget;
mod lines;

pub(super) use budget::run as budget;

use super::process::looking;
use crate::cli::Global;
use crate::failure::{Exit, Failure};
use crate::output::{self, FAINT, Line, Sheet};
use crate::place::Place;
use crate::tasks;
use countersign_govern::types::read_models::DerivedReadModelRecordReadModelKind as ReadModel;
use countersign_record::code::Code;
use countersign_record::id::RunId;
use countersign_record::json::Json;
use countersign_runtime::run::{self, Bench};
use countersign_runtime::work::Work;
use countersign_work::desk::Desk;
use countersign_work::page::{self, Header};
use serde::Serialize;
use std::sync::Arc;

/// A page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Page {
    Health,
    Findings,
    Attention,
    Evidence,
    Chain,
    Board,
    Budget,
}

impl Page {
    /// The read model that it is, if it is one of the contract's.
    fn model(self) -> Option<ReadModel> {
        match self {
            Page::Health => Some(ReadModel::TaskHealthCard),
            Page::Findings => Some(ReadModel::FindingsInbox),
            Page::Attention => Some(ReadModel::AttentionLedger),
            Page::Evidence => Some(ReadModel::EvidencePackage),
            Page::Chain => Some(ReadModel::EvaluationChainView),
            Page::Budget => Some(ReadModel::BudgetNarrative),
            Page::Board => None,
        }
    }
}

/// A page as it is told in JSON.
#[derive(Serialize)]
struct Told<'a> {
    run: &'a str,
    task: &'a str,
    page: String,
    /// The place in the run's records up to which it was derived.
    as_of: u64,
    /// What the run put down for it last.
    #[serde(skip_serializing_if = "Option::is_none")]
    put_down: Option<PutDown>,
    body: Json,
}

#[derive(Serialize)]
struct PutDown {
    id: String,
    /// `current`, or `stale` since something that it rests on changed.
    validity: &'static str,
    counts: bool,
    from: u64,
    until: Option<u64>,
    ended_by: Option<String>,
    input_manifest_hash: String,
    inputs: Vec<String>,
}

impl From<Header> for PutDown {
    fn from(header: Header) -> Self {
        PutDown {
            id: header.id,
            validity: if header.until.is_none() { "current" } else { "stale" },
            counts: header.until.is_none(),
            from: header.from,
            until: header.until,
            ended_by: header.ended_by.map(|one| one.as_str().to_owned()),
            input_manifest_hash: header.manifest_hash,
            inputs: header.inputs.iter().map(|one| one.as_str().to_owned()).collect(),
        }
    }
}

/// Shows a page of a run.
pub(super) async fn run(global: &Global, page: Page, run: &str) -> Result<Exit, Failure> {
    let work = work(global, run).await?;
    shown(global, page, run, &work)
}

/// Shows what waits for a person, in one run or in all.
pub(super) async fn attention(global: &Global, run: Option<&str>) -> Result<Exit, Failure> {
    if let Some(run) = run {
        return self::run(global, Page::Attention, run).await;
    }
    let bench = looking(Place::open(global)?)?;
    let mut is_any = false;
    for listed in run::list(&*bench.journal, &bench.access).await? {
        let Some(work) = read(&bench, &RunId::try_from(listed.run.as_str())?).await? else { continue };
        let is_due = work.look(|desk| !body::is_empty(Page::Attention, desk)).unwrap_or(false);
        if is_due {
            is_any = true;
            shown(global, Page::Attention, listed.run.as_str(), &work)?;
        }
    }
    if !is_any && !global.json {
        output::line("Nothing waits for a person.")?;
    }
    Ok(Exit::Success)
}

/// The records of a task's run.
pub(super) async fn work(global: &Global, run: &str) -> Result<Arc<Work>, Failure> {
    let bench = looking(Place::open(global)?)?;
    let id = RunId::try_from(run)?;
    let work = read(&bench, &id).await?;
    work.ok_or_else(|| Failure::new(Code::CommandTask, format!("{id} is no run of a task")))
}

async fn read(bench: &Bench, run: &RunId) -> Result<Option<Arc<Work>>, Failure> {
    let told = run::told(bench, run).await?;
    Ok(tasks::again(bench, &told).await?.map(|at_work| at_work.work))
}

fn shown(global: &Global, page: Page, run: &str, work: &Work) -> Result<Exit, Failure> {
    let unshown = |error: countersign_work::desk::Error| Failure::new(Code::RunUnreadable, error.to_string());
    let missing = || Failure::new(Code::RunUnreadable, format!("{run} has no records"));
    let fresh = work.look(page::fresh).ok_or_else(missing)?.map_err(unshown)?;
    let (header, as_of) = work
        .look(|desk| (page.model().and_then(|model| page::header(desk, model)), desk.end()))
        .ok_or_else(missing)?;
    let body = body::body(page, &fresh, work);
    if global.json {
        let told = Told {
            run,
            task: &fresh.task().id,
            page: format!("{page:?}").to_lowercase(),
            as_of,
            put_down: header.map(PutDown::from),
            body,
        };
        output::json(&told)?;
        return Ok(Exit::Success);
    }
    let sheet = Sheet::new();
    let mut all = lines::lines(page, &sheet, &Shown { global, run, fresh: &fresh, work }, &body);
    all.push(Line::new(FAINT, footing(header.as_ref(), as_of)));
    sheet.print(&all)?;
    Ok(Exit::Success)
}

/// A run that a page is shown of.
struct Shown<'a> {
    global: &'a Global,
    run: &'a str,
    /// Its records, with every page derived anew.
    fresh: &'a Desk,
    /// The texts that they name.
    work: &'a Work,
}

/// Letters of a hash that tell it apart for an eye.
const HASH_CHARS: usize = 12;

/// What a page rests on, in a line.
fn footing(header: Option<&Header>, as_of: u64) -> String {
    let of = format!("From the run's records up to place {as_of}");
    let Some(Header { from, until, manifest_hash, inputs, .. }) = header else { return format!("{of}.") };
    let validity = match until {
        None => "current".to_owned(),
        Some(until) => format!("stale since {until}"),
    };
    let hash = manifest_hash.get(..HASH_CHARS).unwrap_or(manifest_hash);
    let inputs = output::count(inputs.len() as u64, "input");
    format!("{of}; what was put down at {from} is {validity} ({inputs}, manifest {hash}…).")
}
