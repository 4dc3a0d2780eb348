//! `countersign audit`: what was decided in a run, and why.
//! Owns: the words. Must not: tell what no receipt says.

use super::diff::work;
use super::packet::{Keep, parts};
use super::pages::{Footing, MadeOf};
use super::process::looking;
use crate::cli::Global;
use crate::cli::governed::Audit;
use crate::failure::{Exit, Failure};
use crate::output::{self, BOLD, FAINT, Line as Shown, PLAIN, Sheet};
use crate::place::Place;
use countersign_govern::types::basic::StorageRef;
use countersign_govern::types::wire::Wire;
use countersign_record::code::Code;
use countersign_record::id::RunId;
use countersign_record::json::{self, Json, Object};
use countersign_record::row::DataClass;
use countersign_runtime::run;
use countersign_runtime::work::Work;
use countersign_verify::computed::{Computed, computed};
use countersign_work::explain::{self, Cited, Decided, Explained, decisions};
use countersign_work::page;
use serde::Serialize;
use std::collections::BTreeMap;

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
    /// Why, in words that everybody may read.
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<&'a str>,
    inputs: Vec<Input<'a>>,
    formulas: Vec<Formula<'a>>,
    checks: Vec<Check<'a>>,
    wrote: Vec<&'a str>,
    view: Json,
    trace: Json,
}

#[derive(Serialize)]
struct Input<'a> {
    record: &'a str,
    seq: u64,
    what: &'a str,
}

#[derive(Serialize)]
struct Formula<'a> {
    receipt: &'a str,
    formula: &'a str,
    inputs: Vec<&'a str>,
    /// What it was given and what it gave, where they could be gathered again with the hashes of the receipt.
    #[serde(skip_serializing_if = "Option::is_none")]
    given: Option<&'a Object>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<&'a Json>,
}

#[derive(Serialize)]
struct Check<'a> {
    check: &'a str,
    policy: &'a str,
    decision: &'static str,
}

/// What was found behind the receipts of formulas, by their names.
type Values = BTreeMap<String, Computed>;

fn texts(all: &[StorageRef]) -> Vec<&str> {
    all.iter().map(StorageRef::as_str).collect()
}

pub(super) async fn run(global: &Global, command: &Audit) -> Result<Exit, Failure> {
    let bench = looking(Place::open(global)?)?;
    let work = work(&bench, &command.run).await?;
    let Some(decision) = &command.decision else {
        list(global, &command.run, &work)?;
        return Ok(Exit::Success);
    };
    let is_decision = |desk: &_| decisions(desk).iter().any(|one| one.decision.as_str() == decision.as_str());
    let is_decision = work.look(is_decision).unwrap_or(false);
    let explained = work.look(|desk| explain::explain(desk, decision)).transpose();
    let explained = explained.map_err(|error| Failure::new(Code::RunRecords, error.to_string()))?;
    let Some(explained) = explained.flatten() else {
        let message = format!("the run has no record {}", output::plain(decision));
        return Err(Failure::new(Code::AuditMissing, message));
    };
    if !is_decision {
        let all = global.typed(&format!("audit {}", command.run));
        let message = format!("{} decides nothing; {all} lists what does", output::plain(decision));
        return Err(Failure::new(Code::FieldInvalid, message));
    }
    let id = RunId::try_from(command.run.as_str())?;
    let setup = run::told(&bench, &id).await?.setup;
    // What is only looked at here does not leave.
    let keep = Keep { may_leave: DataClass::LocalOnly, kept: &[] };
    let values = computed(&parts(&Place::open(global)?, &id, setup, &keep).await?);
    match global.json {
        true => output::json(&document(&explained, &values))?,
        false => printed(&explained, &values)?,
    }
    Ok(Exit::Success)
}

/// What was decided, with what the list is derived from.
#[derive(Serialize)]
struct Listed<'a> {
    run: &'a str,
    page: &'static str,
    as_of: u64,
    made_of: MadeOf,
    decisions: Vec<Line<'a>>,
}

fn list(global: &Global, run: &str, work: &Work) -> Result<(), Failure> {
    let looked = work.look(|desk| {
        let all = decisions(desk);
        page::audit(desk, &all).map(|header| (all, header, desk.end()))
    });
    let looked = looked.transpose().map_err(|error| Failure::new(Code::RunRecords, error.to_string()))?;
    let Some((all, header, as_of)) = looked else {
        return Err(Failure::new(Code::RunRecords, format!("{run} has no records")));
    };
    if global.json {
        let (made_of, decisions) = (MadeOf::from(header), all.iter().map(Line::from).collect());
        return output::json(&Listed { run, page: "audit", as_of, made_of, decisions });
    }
    if all.is_empty() {
        output::line("Nothing was decided yet.")?;
    }
    let mut lines = Vec::new();
    for one in &all {
        let line = Shown::new(FAINT, format!("{:>6}  {}  ", one.seq, one.by));
        lines.push(line.and(PLAIN, one.what.trim_end_matches(": ")).hanging(8));
        lines.push(Shown::new(FAINT, format!("  {}", one.decision.as_str())).whole());
    }
    lines.push(Shown::new(FAINT, Footing::Asked(header).words(as_of)));
    Sheet::new().print(&lines)
}

fn document<'a>(explained: &'a Explained, values: &'a Values) -> Told<'a> {
    let formulas = explained.formulas.iter().map(|one| {
        let computed = behind(values, one);
        Formula {
            receipt: one.receipt.as_str(),
            formula: &one.formula,
            inputs: texts(&one.inputs),
            given: computed.map(|one| &one.inputs),
            value: computed.map(|one| &one.value),
        }
    });
    let checks = explained.checks.iter().map(|one| Check {
        check: one.check.as_str(),
        policy: &one.policy,
        decision: one.decision,
    });
    let input = |one: &'a Cited| Input { record: one.record.as_str(), seq: one.seq, what: &one.what };
    Told {
        decided: Line::from(&explained.decided),
        why: explained.why.as_deref(),
        inputs: explained.inputs.iter().map(input).collect(),
        formulas: formulas.collect(),
        checks: checks.collect(),
        wrote: texts(&explained.wrote),
        view: explained.view.write().unwrap_or(Json::Null),
        trace: explained.trace.write().unwrap_or(Json::Null),
    }
}

/// What a receipt's formula was given and gave.
fn behind<'v>(values: &'v Values, formula: &explain::Computed) -> Option<&'v Computed> {
    let id = formula.receipt.as_str().split_once(':').map(|(_, id)| id)?;
    values.get(id)
}

/// Columns of what a line is about.
const NAME_COLUMNS: usize = 9;

fn say(name: &str, text: impl Into<String>) -> Shown {
    Shown::new(FAINT, format!("{name:<NAME_COLUMNS$}")).and(PLAIN, text).hanging(NAME_COLUMNS)
}

fn printed(explained: &Explained, values: &Values) -> Result<(), Failure> {
    let Decided { decision, seq, by, what } = &explained.decided;
    let mut lines = vec![Shown::new(BOLD, what.trim_end_matches(": "))];
    lines.push(say("by", by.as_str()));
    lines.extend(explained.why.as_deref().map(|why| say("why", why)));
    lines.push(say("record", format!("{} (place {seq})", decision.as_str())).whole());
    for one in &explained.checks {
        lines.push(say("policy", format!("{}: {}", one.policy, one.decision)));
    }
    for one in &explained.formulas {
        lines.extend(formula(one, behind(values, one))?);
    }
    for one in &explained.inputs {
        let line = say("from", format!("{} ", one.what));
        lines.push(line.and(FAINT, format!("{} (place {})", one.record.as_str(), one.seq)).whole());
    }
    lines.extend(explained.wrote.iter().map(|one| say("wrote", one.as_str()).whole()));
    Sheet::new().print(&lines)
}

/// A formula with what it was given and what it gave.
fn formula(one: &explain::Computed, computed: Option<&Computed>) -> Result<Vec<Shown>, Failure> {
    let written = |value: &Json| {
        json::to_text(value).map_err(|error| Failure::new(Code::OutputFailed, error.to_string()))
    };
    let receipt = |line: Shown| line.and(FAINT, format!(" ({})", one.receipt.as_str())).whole();
    let Some(computed) = computed else {
        let words = format!("{}, of values that can't be gathered again here", one.formula);
        return Ok(vec![receipt(say("formula", words))]);
    };
    let gave = format!("{} gives {}", one.formula, written(&computed.value)?);
    let mut lines = vec![receipt(say("formula", gave))];
    for (name, value) in computed.inputs.iter() {
        lines.push(say("  given", format!("{name} {}", written(value)?)).within(GIVEN_ROWS_MAX));
    }
    Ok(lines)
}

/// Rows of what a formula was given; `--json` has all.
const GIVEN_ROWS_MAX: usize = 3;
