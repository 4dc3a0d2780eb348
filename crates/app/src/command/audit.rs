//! `countersign audit`: what was decided in a run, and why.
//! Owns: the words. Must not: tell what no receipt says.

use super::diff::work;
use super::process::looking;
use crate::cli::Global;
use crate::cli::governed::Audit;
use crate::failure::{Exit, Failure};
use crate::output::{self, FAINT, Line as Shown, PLAIN, Sheet};
use crate::place::Place;
use countersign_govern::types::basic::StorageRef;
use countersign_govern::types::wire::Wire;
use countersign_record::code::Code;
use countersign_record::json::Json;
use countersign_work::explain::{Decided, Explained, decisions, explain};
use serde::Serialize;

#[derive(Serialize)]
struct Line<'a> {
    decision: &'a str,
    seq: u64,
    by: &'a str,
    what: &'a str,
}

impl<'a> From<&'a Decided> for Line<'a> {
    fn from(one: &'a Decided) -> Self {
        Line { decision: one.decision.as_str(), seq: one.seq, by: &one.by, what: &one.what }
    }
}

#[derive(Serialize)]
struct Told<'a> {
    #[serde(flatten)]
    decided: Line<'a>,
    inputs: Vec<&'a str>,
    formulas: Vec<Formula<'a>>,
    checks: Vec<Check<'a>>,
    wrote: Vec<&'a str>,
    view: Json,
    trace: Json,
}

#[derive(Serialize)]
struct Formula<'a> {
    receipt: &'a str,
    formula: &'a str,
    inputs: Vec<&'a str>,
}

#[derive(Serialize)]
struct Check<'a> {
    check: &'a str,
    policy: &'a str,
    decision: &'static str,
}

fn texts(all: &[StorageRef]) -> Vec<&str> {
    all.iter().map(StorageRef::as_str).collect()
}

pub(super) async fn run(global: &Global, command: &Audit) -> Result<Exit, Failure> {
    let bench = looking(Place::open(global)?)?;
    let work = work(&bench, &command.run).await?;
    let Some(decision) = &command.decision else {
        list(global, &work.look(decisions).unwrap_or_default())?;
        return Ok(Exit::Success);
    };
    let explained = work.look(|desk| explain(desk, decision)).transpose();
    let explained = explained.map_err(|error| Failure::new(Code::RunRecords, error.to_string()))?;
    let Some(explained) = explained.flatten() else {
        let message = format!("the run has no record {}", output::plain(decision));
        return Err(Failure::new(Code::AuditMissing, message));
    };
    match global.json {
        true => output::json(&document(&explained))?,
        false => printed(&explained)?,
    }
    Ok(Exit::Success)
}

fn list(global: &Global, all: &[Decided]) -> Result<(), Failure> {
    if global.json {
        return output::json(&all.iter().map(Line::from).collect::<Vec<_>>());
    }
    if all.is_empty() {
        output::line("Nothing was decided yet.")?;
    }
    let mut lines = Vec::new();
    for one in all {
        let line = Shown::new(FAINT, format!("{:>6}  {}  ", one.seq, one.by));
        lines.push(line.and(PLAIN, one.what.trim_end_matches(": ")).hanging(8));
        lines.push(Shown::new(FAINT, format!("        {}", one.decision.as_str())).whole());
    }
    Sheet::new().print(&lines)
}

fn document(explained: &Explained) -> Told<'_> {
    let formulas = explained.formulas.iter().map(|one| Formula {
        receipt: one.receipt.as_str(),
        formula: &one.formula,
        inputs: texts(&one.inputs),
    });
    let checks = explained.checks.iter().map(|one| Check {
        check: one.check.as_str(),
        policy: &one.policy,
        decision: one.decision,
    });
    Told {
        decided: Line::from(&explained.decided),
        inputs: texts(&explained.inputs),
        formulas: formulas.collect(),
        checks: checks.collect(),
        wrote: texts(&explained.wrote),
        view: explained.view.write().unwrap_or(Json::Null),
        trace: explained.trace.write().unwrap_or(Json::Null),
    }
}

fn printed(explained: &Explained) -> Result<(), Failure> {
    let line = |text: String| output::line(&output::plain(&text));
    let Decided { decision, seq, by, what } = &explained.decided;
    line(what.clone())?;
    line(format!("record   {} (place {seq})", decision.as_str()))?;
    line(format!("by       {by}"))?;
    for one in &explained.checks {
        line(format!("policy   {}: {}", one.policy, one.decision))?;
    }
    for one in &explained.formulas {
        line(format!("formula  {} ({})", one.formula, one.receipt.as_str()))?;
    }
    for (at, step) in explained.trace.causal_steps.iter().enumerate() {
        line(format!("step {}   {}", at + 1, step.rationale_summary))?;
        for input in &step.input_refs {
            line(format!("  in     {}", input.as_str()))?;
        }
        for output in &step.output_refs {
            line(format!("  out    {}", output.as_str()))?;
        }
        for evidence in &step.evidence_refs {
            line(format!("  shows  {}", evidence.as_str()))?;
        }
    }
    for one in &explained.wrote {
        line(format!("wrote    {}", one.as_str()))?;
    }
    Ok(())
}
