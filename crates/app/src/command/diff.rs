//! `countersign diff`: what differs between two runs.
//! Owns: the words. Must not: compare; `countersign-work` does.

use super::process::looking;
use super::run::change;
use crate::cli::Global;
use crate::cli::governed::Diff;
use crate::failure::{Exit, Failure};
use crate::output::{self, BAD, BOLD, FAINT, GOOD, Line, PLAIN, Sheet};
use crate::place::Place;
use crate::tasks;
use countersign_govern::types::wire::Wire;
use countersign_record::code::Code;
use countersign_record::id::RunId;
use countersign_record::json::Json;
use countersign_runtime::run::{self, Bench};
use countersign_runtime::work::Work;
use countersign_work::call;
use countersign_work::compare::{Artifact, Compared, Pair, Side, compare, revisions};
use serde::Serialize;
use std::sync::Arc;

#[derive(Serialize)]
struct Told<'a> {
    same: bool,
    run_diff: Json,
    artifacts: Vec<Product<'a>>,
    outcomes: Vec<Stands<'a>>,
    plans: Vec<Stands<'a>>,
    findings: Vec<Stands<'a>>,
    cost: Stands<'a>,
    reliance: Vec<Stands<'a>>,
}

#[derive(Serialize)]
struct Product<'a> {
    id: &'a str,
    versions: [Option<u64>; 2],
    lines_gone: usize,
    lines_new: usize,
    unified: &'a str,
}

#[derive(Serialize)]
struct Stands<'a> {
    what: &'a str,
    left: Option<&'a str>,
    right: Option<&'a str>,
    same: bool,
}

impl<'a> From<&'a Pair> for Stands<'a> {
    fn from(pair: &'a Pair) -> Self {
        let [left, right] = &pair.stands;
        Stands { what: &pair.what, left: left.as_deref(), right: right.as_deref(), same: pair.is_same() }
    }
}

impl<'a> From<&'a Artifact> for Product<'a> {
    fn from(one: &'a Artifact) -> Self {
        let [lines_gone, lines_new] = one.lines;
        Product { id: &one.id, versions: one.versions, lines_gone, lines_new, unified: &one.unified }
    }
}

pub(super) async fn run(global: &Global, command: &Diff) -> Result<Exit, Failure> {
    let bench = looking(Place::open(global)?)?;
    let left = work(&bench, &command.left).await?;
    let Some(right) = &command.right else { return own(global, &left) };
    let right = work(&bench, right).await?;
    let heads = [left.heads(), right.heads()];
    let compared = left.look(|one| {
        let [ours, theirs] = &heads;
        right.look(|other| compare(&Side { desk: one, heads: ours }, &Side { desk: other, heads: theirs }))
    });
    let compared = compared.flatten().transpose();
    let compared = compared.map_err(|error| Failure::new(Code::RunRecords, error.to_string()))?;
    let Some(compared) = compared else { return Ok(Exit::Success) };
    match global.json {
        true => output::json(&document(&compared))?,
        false => printed(&compared)?,
    }
    Ok(Exit::Success)
}

/// A change that waits for a reviewer.
#[derive(Serialize)]
struct Change {
    question: String,
    text: String,
    unified: String,
}

/// What changes within a run.
#[derive(Serialize)]
struct Own<'a> {
    waiting: &'a [Change],
    revised: Vec<Product<'a>>,
}

/// Shows what waits for a reviewer, and what each version changed of the one before.
fn own(global: &Global, work: &Work) -> Result<Exit, Failure> {
    let calls = work.look(call::open).unwrap_or_default();
    let changes = calls.into_iter().filter_map(|call| {
        let unified = change::diff(work, call.source_ref.as_ref()?)?;
        Some(Change { question: call.hard_call_id, text: call.prompt_text, unified })
    });
    let changes: Vec<Change> = changes.collect();
    let revised = work.look(revisions).unwrap_or_default();
    let revised: Vec<Artifact> =
        revised.iter().filter_map(|one| one.compared(|digest| work.text(digest))).collect();
    if global.json {
        output::json(&Own { waiting: &changes, revised: revised.iter().map(Product::from).collect() })?;
        return Ok(Exit::Success);
    }
    let mut lines = Vec::new();
    for one in &changes {
        lines.push(Line::new(BOLD, one.text.as_str()));
        lines.extend(change::lines(&one.unified).into_iter().map(Line::whole));
    }
    for one in &revised {
        let [before, after] = one.versions.map(Option::unwrap_or_default);
        lines.push(Line::new(BOLD, format!("{}: version {after} after version {before}", one.id)));
        lines.extend(change::lines(&one.unified).into_iter().map(Line::whole));
    }
    if lines.is_empty() {
        let words = "No change waits for a review, and the work has one version. With a second run, both are compared.";
        lines.push(Line::new(PLAIN, words));
    }
    Sheet::new().print(&lines)?;
    Ok(Exit::Success)
}

/// The records of a task's run.
pub(super) async fn work(bench: &Bench, run: &str) -> Result<Arc<Work>, Failure> {
    let id = RunId::try_from(run)?;
    let told = run::told(bench, &id).await?;
    let at_work = tasks::again(bench, &told).await?;
    Ok(at_work.ok_or(run::Error::NoTask { run: id })?.work)
}

fn document(compared: &Compared) -> Told<'_> {
    fn all(pairs: &[Pair]) -> Vec<Stands<'_>> {
        pairs.iter().map(Stands::from).collect()
    }
    Told {
        same: compared.is_same(),
        run_diff: compared.diff.write().unwrap_or(Json::Null),
        artifacts: compared.artifacts.iter().map(Product::from).collect(),
        outcomes: all(&compared.outcomes),
        plans: all(&compared.plans),
        findings: all(&compared.findings),
        cost: Stands::from(&compared.cost),
        reliance: all(&compared.reliance),
    }
}

fn printed(compared: &Compared) -> Result<(), Failure> {
    if compared.is_same() {
        return output::line("Nothing differs.");
    }
    let mut lines = Vec::new();
    for one in compared.artifacts.iter().filter(|one| !one.unified.is_empty()) {
        lines.extend(change::lines(&one.unified).into_iter().map(Line::whole));
    }
    let parts = [
        ("outcome", compared.outcomes.as_slice()),
        ("plan", &compared.plans),
        ("finding", &compared.findings),
        ("cost", std::slice::from_ref(&compared.cost)),
        ("reliance", &compared.reliance),
    ];
    for (part, pairs) in parts {
        for pair in pairs.iter().filter(|one| !one.is_same()) {
            let [left, right] =
                pair.stands.each_ref().map(|one| one.as_deref().unwrap_or("not there").to_owned());
            let line = Line::new(FAINT, format!("{part:<9} ")).and(PLAIN, format!("{}: ", pair.what));
            lines.push(line.and(BAD, left).and(PLAIN, " → ").and(GOOD, right).hanging(10));
        }
    }
    Sheet::new().print(&lines)
}
