//! How a task's run stands: its health, findings, evidence, chains, board, costs, and what waits for a person.
//! Owns: reading a run's records, and what is said of every page. Must not: derive; `countersign-work` does.

mod body;
mod budget;
mod lines;
mod waiting;

pub(super) use budget::run as budget;

use super::process::looking;
use crate::cli::Global;
use crate::failure::{Exit, Failure};
use crate::output::{self, BOLD, FAINT, Line, Sheet};
use crate::place::Place;
use crate::tasks;
use countersign_govern::types::read_models::DerivedReadModelRecordReadModelKind as ReadModel;
use countersign_record::canonical;
use countersign_record::code::Code;
use countersign_record::id::RunId;
use countersign_record::json::Json;
use countersign_record::time::Timestamp;
use countersign_runtime::purse::Purses;
use countersign_runtime::run::{self, Bench};
use countersign_runtime::work::Work;
use countersign_work::desk::Desk;
use countersign_work::page::{self, Header};
use countersign_work::purse::Purse;
use serde::Serialize;
use std::sync::Arc;

/// A page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Page {
    Health,
    Findings,
    Review,
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
            Page::Attention => Some(ReadModel::AttentionLedger),
            Page::Evidence => Some(ReadModel::EvidencePackage),
            Page::Chain => Some(ReadModel::EvaluationChainView),
            Page::Budget => Some(ReadModel::BudgetNarrative),
            // An inbox is a matter's: none is put down by a run. What there is to look over is put down piece by piece.
            Page::Findings | Page::Review | Page::Board => None,
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
    /// What it is made of, where no run puts it down.
    #[serde(skip_serializing_if = "Option::is_none")]
    made_of: Option<MadeOf>,
    body: &'a Json,
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
    #[serde(flatten)]
    made_of: MadeOf,
}

#[derive(Serialize)]
pub(super) struct MadeOf {
    /// What is derived when it is asked for is current.
    #[serde(skip_serializing_if = "Option::is_none")]
    validity: Option<&'static str>,
    input_manifest_hash: String,
    inputs: Vec<String>,
}

impl MadeOf {
    /// What is derived now from what is named.
    pub(super) fn of(inputs: Vec<String>) -> Self {
        let named = Json::Array(inputs.iter().map(|one| one.as_str().into()).collect());
        let input_manifest_hash = String::from(canonical::hash_as_written(&named));
        MadeOf { validity: Some("current"), input_manifest_hash, inputs }
    }
}

impl From<Header> for MadeOf {
    fn from(header: Header) -> Self {
        MadeOf {
            validity: Some("current"),
            input_manifest_hash: header.manifest_hash,
            inputs: header.inputs.iter().map(|one| one.as_str().to_owned()).collect(),
        }
    }
}

impl From<Header> for PutDown {
    fn from(header: Header) -> Self {
        PutDown {
            id: header.id.clone(),
            validity: if header.until.is_none() { "current" } else { "stale" },
            counts: header.until.is_none(),
            from: header.from,
            until: header.until,
            ended_by: header.ended_by.as_ref().map(|one| one.as_str().to_owned()),
            made_of: MadeOf { validity: None, ..MadeOf::from(header) },
        }
    }
}

/// A task's run: where it stands, and its records.
struct Read {
    told: run::Told,
    work: Arc<Work>,
    /// What all runs of the matter may spend.
    purse: Purse,
    /// When it was read.
    now: Option<Timestamp>,
    global: Global,
}

/// Shows a page of a run.
pub(super) async fn run(global: &Global, page: Page, run: &str) -> Result<Exit, Failure> {
    let bench = looking(Place::open(global)?)?;
    let id = RunId::try_from(run)?;
    let read = read(global, &bench, &id).await?;
    let read = read.ok_or_else(|| Failure::new(Code::CommandTask, format!("{id} is no run of a task")))?;
    let filled = Filled::of(page, &read)?;
    match global.json {
        true => output::json(&filled.told(page, &read))?,
        false => filled.print(global, page, &read)?,
    }
    Ok(Exit::Success)
}

/// Shows what waits for a person, in one run or in all.
pub(super) async fn attention(global: &Global, run: Option<&str>) -> Result<Exit, Failure> {
    if let Some(run) = run {
        return self::run(global, Page::Attention, run).await;
    }
    let bench = looking(Place::open(global)?)?;
    let mut all = Vec::new();
    for listed in run::list(&*bench.journal, &bench.access).await? {
        let id = RunId::try_from(listed.run.as_str())?;
        let Some(read) = read(global, &bench, &id).await? else { continue };
        let filled = Filled::of(Page::Attention, &read)?;
        if filled.body.as_array().is_some_and(|due| !due.is_empty()) {
            all.push((read, filled));
        }
    }
    if global.json {
        let told: Vec<Told<'_>> = all.iter().map(|(read, one)| one.told(Page::Attention, read)).collect();
        output::json(&told)?;
        return Ok(Exit::Success);
    }
    if all.is_empty() {
        output::line("Nothing waits for a person.")?;
    }
    for (read, filled) in &all {
        let title = filled.fresh.task().title.as_str();
        Sheet::new().print(&[Line::new(BOLD, title).and(FAINT, format!("  {}", read.told.id)).whole()])?;
        filled.print(global, Page::Attention, read)?;
    }
    Ok(Exit::Success)
}

async fn read(global: &Global, bench: &Bench, run: &RunId) -> Result<Option<Read>, Failure> {
    let told = run::told(bench, run).await?;
    let Some(at_work) = tasks::again(bench, &told).await? else { return Ok(None) };
    let (journal, access) = (Arc::clone(&bench.journal), bench.access.clone());
    let purse = Purses { journal, access, clock: Arc::clone(&bench.clock) }.read().await?;
    let now = bench.clock.now().ok();
    Ok(Some(Read { told, work: at_work.work, purse, now, global: global.clone() }))
}

/// A page with what stands on it.
struct Filled {
    fresh: Desk,
    footing: Footing,
    as_of: u64,
    body: Json,
}

/// What a page rests on.
pub(super) enum Footing {
    /// The run put something down for it.
    PutDown(Header),
    /// It is derived whenever somebody asks.
    Asked(Header),
    Records,
}

impl Filled {
    fn of(page: Page, read: &Read) -> Result<Self, Failure> {
        let unshown =
            |error: countersign_work::desk::Error| Failure::new(Code::RunUnreadable, error.to_string());
        let missing = || Failure::new(Code::RunUnreadable, format!("{} has no records", read.told.id));
        let records = read.work.look(Desk::clone).ok_or_else(missing)?;
        let (footing, as_of) = (Footing::of(page, &records).map_err(unshown)?, records.end());
        let fresh = match page {
            // What there is to look over is named as it is on record, so that whoever looks can open each.
            Page::Review => records,
            Page::Health
            | Page::Findings
            | Page::Attention
            | Page::Evidence
            | Page::Chain
            | Page::Board
            | Page::Budget => page::fresh(&records).map_err(unshown)?,
        };
        let body = body::body(page, &fresh, read);
        Ok(Filled { fresh, footing, as_of, body })
    }

    fn told<'a>(&'a self, page: Page, read: &'a Read) -> Told<'a> {
        Told {
            run: read.told.id.as_str(),
            task: &self.fresh.task().id,
            page: format!("{page:?}").to_lowercase(),
            as_of: self.as_of,
            put_down: match &self.footing {
                Footing::PutDown(header) => Some(PutDown::from(header.clone())),
                Footing::Asked(_) | Footing::Records => None,
            },
            made_of: match &self.footing {
                Footing::Asked(header) => Some(MadeOf::from(header.clone())),
                Footing::PutDown(_) | Footing::Records => None,
            },
            body: &self.body,
        }
    }

    fn print(&self, global: &Global, page: Page, read: &Read) -> Result<(), Failure> {
        let sheet = Sheet::new();
        let run = read.told.id.as_str();
        let shown = Shown { global, run, fresh: &self.fresh, work: &read.work, purse: Some(&read.purse) };
        let mut all = lines::lines(page, &sheet, &shown, &self.body);
        all.push(Line::new(FAINT, self.footing.words(self.as_of)));
        sheet.print(&all)
    }
}

/// A run that a page is shown of.
struct Shown<'a> {
    global: &'a Global,
    run: &'a str,
    /// Its records, with every page derived anew.
    fresh: &'a Desk,
    /// The texts that they name.
    work: &'a Work,
    /// What all runs of the matter may spend.
    purse: Option<&'a Purse>,
}

/// Letters of a hash that tell it apart for an eye.
const HASH_CHARS: usize = 12;

impl Footing {
    fn of(page: Page, desk: &Desk) -> Result<Self, countersign_work::desk::Error> {
        if page == Page::Findings {
            return Ok(page::inbox(desk)?.map_or(Footing::Records, Footing::Asked));
        }
        if page == Page::Review {
            return page::reviewable(desk).map(|(_, header)| Footing::Asked(header));
        }
        if page == Page::Board {
            return page::board(desk).map(Footing::Asked);
        }
        let header = page.model().and_then(|model| page::header(desk, model));
        Ok(header.map_or(Footing::Records, Footing::PutDown))
    }

    /// What a page rests on, in a line.
    pub(super) fn words(&self, as_of: u64) -> String {
        let of = format!("From the run's records up to place {as_of}");
        let made_of = |Header { manifest_hash, inputs, .. }: &Header| {
            let hash = manifest_hash.get(..HASH_CHARS).unwrap_or(manifest_hash);
            format!("({}, manifest {hash}…)", output::count(inputs.len() as u64, "input"))
        };
        match self {
            Footing::Records => format!("{of}."),
            Footing::Asked(header) => format!("{of} {}.", made_of(header)),
            Footing::PutDown(header) => {
                let validity = match header.until {
                    None => "current".to_owned(),
                    Some(until) => format!("stale since {until}"),
                };
                format!("{of}; what was put down at {} is {validity} {}.", header.from, made_of(header))
            }
        }
    }
}
