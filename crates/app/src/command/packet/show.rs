//! `countersign packet show`: what a reliance packet says, on a screen.
//! Owns: the lines. Must not: say more than the packet does; `countersign verify` says whether it is so.

use super::super::run::screen::{of_severity, of_status};
use super::files::{Folder, Now, edited};
use super::{Keep, RunId, looking, statement, whole};
use crate::cli::Global;
use crate::failure::{Exit, Failure};
use crate::input;
use crate::output::{self, BAD, BOLD, CARE, FAINT, GOOD, Line, PLAIN, Sheet};
use crate::place::Place;
use crate::tasks;
use countersign_govern::types::basic::DataClass as DataClassOf;
use countersign_govern::types::externalization::WorkspaceExternalizationKind as Kind;
use countersign_govern::types::reliance::RelianceStatus as Status;
use countersign_record::code::Code;
use countersign_record::json::Json;
use countersign_record::row::DataClass;
use countersign_runtime::run::{self, Bench};
use countersign_verify::dsse::{BYTES_MAX, Envelope};
use countersign_verify::packet::Statement;
use countersign_verify::summary::{Answered, Change, Claim, Decision, Outcome, Summary};
use countersign_work::outside::{self, Going, Held};
use countersign_work::task::Source;
use serde::Serialize;
use std::io::Read;

/// Claims that are listed; `--json` has all.
const CLAIMS_MAX: usize = 16;
/// Characters of each text in a line about a change.
const CHANGE_CHARS_MAX: usize = 60;
/// Rows of a decision and its reason; `--json` has all.
const DECISION_ROWS_MAX: usize = 3;
/// Columns of what a line is about.
const NAME_COLUMNS: usize = 10;
/// Columns of a claim's words, at least.
const CLAIM_COLUMNS_MIN: usize = 24;
/// Characters of a hash that tell it apart for an eye.
const HASH_CHARS: usize = 16;

/// Rows that hold a packet.
const PACKET: &str = "govern.task_reliance_packet";

pub(super) async fn run(global: &Global, packet: &str) -> Result<Exit, Failure> {
    let (statement, next, folder) = match RunId::try_from(packet) {
        Ok(run) => {
            let bench = looking(Place::open(global)?)?;
            let told = run::told(&bench, &run).await?;
            let held = held(&bench, &told).await?;
            let folder = Folder::of(global, &run, &told.setup)?;
            // What is only shown here does not leave.
            let keep = Keep { may_leave: DataClass::LocalOnly, kept: &[] };
            let mut statement = statement(&Place::open(global)?, &run, told.setup, &keep).await?;
            // Nothing is made by being shown.
            let mut packets = statement.ledger.rows.iter().filter_map(whole);
            if let Some(row) = packets.rfind(|row| row.kind.as_str() == PACKET).cloned() {
                (statement.made_at, statement.made_by) = (row.at, row.actor);
            }
            let of_run = |words: &str| global.typed(&format!("{words} --run {run}"));
            let next = Next {
                sound: match &held {
                    Some(_) => None,
                    None => Some(global.typed(&format!("packet export {run} --yes --out FILE --html FILE"))),
                },
                held,
                fallen: of_run("command run reliance.renew_packet"),
                changed: of_run("command run source.recheck"),
            };
            (statement, next, folder)
        }
        Err(_) => (read(packet)?, Next::only(format!("countersign verify {packet}")), None),
    };
    let summary = Summary::of(&statement);
    let now = Now::of(folder.as_ref(), &summary);
    let held = next.held;
    let next = match (&summary.fallen, &now) {
        (Some(_), _) => Some(next.fallen),
        (None, Now::Others(_)) => Some(next.changed),
        (None, Now::Same | Now::Unseen) => next.sound,
    };
    let work_changed = edited(folder.as_ref(), &summary);
    let is_other = !work_changed.is_empty();
    if global.json {
        output::json(&Shown { summary: &summary, files: now.told(), work_changed, cannot_leave: held })?;
    } else {
        let sheet = Sheet::new();
        sheet.print(&about(&work_changed))?;
        let mut all = lines(&sheet, &summary, &now);
        all.extend(held.map(|why| say("stays", format!("here: {why}"))));
        all.extend(next.map(|next| say("next", next).whole()));
        sheet.print(&all)?;
    }
    Ok(match (summary.status.as_str(), &summary.fallen, &now) {
        _ if is_other => Exit::Limited,
        ("safe_to_rely_within_scope", None, Now::Same | Now::Unseen) => Exit::Success,
        (_, _, _limited) => Exit::Limited,
    })
}

/// What can be done next, as things stand.
struct Next {
    /// Where it may leave.
    sound: Option<String>,
    /// Why it may not.
    held: Option<String>,
    fallen: String,
    changed: String,
}

impl Next {
    /// One thing, whatever has become of the packet.
    fn only(next: String) -> Self {
        Next { sound: Some(next.clone()), held: None, fallen: next.clone(), changed: next }
    }
}

/// Why a packet would not leave if it were exported as it usually is: without its privileged texts, and confirmed by whoever does it.
async fn held(bench: &Bench, told: &run::Told) -> Result<Option<String>, Failure> {
    let Some(at_work) = tasks::again(bench, told).await? else { return Ok(None) };
    let goes = |one: &&Source| matches!(one.class(), DataClassOf::Public | DataClassOf::Internal);
    let task = at_work.work.task();
    let sources = task.sources.iter().filter(goes).map(|one| one.id.clone()).collect::<Vec<_>>();
    let going = Going { kind: Kind::ExportBundle, sources: Some(&sources), destination: None };
    Ok(match at_work.work.look(|desk| outside::may(desk, &going)) {
        Some(Err(Held::Never(_))) => Some("the task's policy says that it is never exported".to_owned()),
        Some(Err(Held::Class { class, .. })) => Some(format!(
            "no source may leave as it is, and what was written from them stays with those that are {}",
            class.as_str()
        )),
        Some(Err(Held::Unknown(_) | Held::Unconfirmed | Held::Kept) | Ok(_)) | None => None,
    })
}

/// What is shown, for programs.
#[derive(Serialize)]
struct Shown<'a> {
    #[serde(flatten)]
    summary: &'a Summary,
    /// What the files of its sources are now.
    files: Json,
    /// Files of the work that are not what it is about any more.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    work_changed: Vec<String>,
    /// Why it would not be exported.
    #[serde(skip_serializing_if = "Option::is_none")]
    cannot_leave: Option<String>,
}

/// What is told before all else where the work has been changed behind its packet.
pub(super) fn about(work_changed: &[String]) -> Vec<Line> {
    let told = |path: &String| {
        let words = format!("! {path} has been changed: the packet is not about it.");
        Line::new(BAD.bold(), words).and(PLAIN, " What it is about lies beside it, in versions.").hanging(2)
    };
    work_changed.iter().map(told).collect()
}

/// The statement in a file.
fn read(path: &str) -> Result<Statement, Failure> {
    let mut bytes = Vec::new();
    let limit = BYTES_MAX as u64 + 1;
    let read = input::open(path)?.take(limit).read_to_end(&mut bytes);
    read.map_err(|error| Failure::file(path, &error))?;
    let wrong = |why: String| Failure::new(Code::VerifyFile, format!("{path}: {why}"));
    let envelope = Envelope::read(&bytes).map_err(|error| wrong(error.to_string()))?;
    let reading = Statement::read(&envelope.payload).map_err(|error| wrong(error.to_string()))?;
    match reading.spoilt.first() {
        Some(spoilt) => Err(wrong(format!("{}: {}", spoilt.path, spoilt.message))),
        None => Ok(reading.statement),
    }
}

/// A line with what it is about before it.
fn say(name: &str, text: impl Into<String>) -> Line {
    Line::new(FAINT, format!("{name:<NAME_COLUMNS$}")).and(PLAIN, text).hanging(NAME_COLUMNS)
}

fn lines(sheet: &Sheet, summary: &Summary, now: &Now) -> Vec<Line> {
    let origin = &summary.origin;
    let style = Status::find(&summary.status).map_or(PLAIN, of_status);
    let status = match (&summary.fallen, now) {
        (None, Now::Others(files)) => {
            let words = format!("Sources have changed since this packet was made ({}).", files.join(", "));
            Line::new(BAD.bold(), words).and(PLAIN, format!(" The packet says: {}", summary.status_words))
        }
        (None, Now::Same | Now::Unseen) => Line::new(style.bold(), summary.status_words.as_str())
            .and(PLAIN, format!(" {}", summary.explanation)),
        (Some(why), _) => Line::new(BAD.bold(), format!("This packet no longer holds: {why}."))
            .and(PLAIN, format!(" When it was made it said: {}", summary.status_words)),
    };
    let mut all = vec![
        Line::new(BOLD, summary.title.as_str()),
        status,
        say("scope", summary.scope.as_str()),
        say("packet", format!("{}, made {} by {}", summary.lifecycle, origin.made_at, origin.made_by)),
    ];
    if matches!((now, &summary.fallen), (Now::Unseen, None)) {
        all.push(say("files", "nobody has looked whether the sources are still the same: they are not here"));
    }
    for one in &summary.products {
        all.push(say("work", format!("{} (version {})", one.name, one.version)));
    }
    for one in &summary.outcomes {
        all.extend(outcome(one, &summary.changes));
    }
    all.extend(summary.changes.iter().filter(|one| one.outcome.is_none()).map(changed));
    all.push(limits(summary));
    for one in &summary.findings {
        let style = of_severity(&one.severity);
        let line = say("", "").and(style, "! ").and(PLAIN, format!("{} ", one.text));
        all.push(line.and(style, format!("({})", one.severity)).hanging(NAME_COLUMNS + 2).within(2));
    }
    all.extend(claims(sheet, &summary.claims));
    if summary.decisions.is_empty() {
        all.push(say("decided", "the records of the run hold no decision of a person"));
    }
    all.extend(summary.decisions.iter().flat_map(decision));
    if let Some(budget) = &summary.budget {
        all.push(say("cost", budget.summary.as_str()));
        all.push(say("", budget.compared.as_str()));
    }
    for one in &summary.checkpoints {
        all.push(say("kept", format!("{}: {}", one.versions.join(", "), one.label)).within(1));
    }
    if !summary.withheld.is_empty() {
        all.push(say("withheld", output::count(summary.withheld.len() as u64, "text")));
    }
    for one in &summary.products {
        all.push(say("sha256", format!("{} {}", short(&one.sha256.to_string()), one.name)));
    }
    let rows = format!("rows {} to {}", origin.first_seq, origin.head.seq);
    all.push(say("", format!("{} {rows} of matter {}", short(&origin.head.hash.to_string()), origin.matter)));
    all
}

/// What limits the work.
fn limits(summary: &Summary) -> Line {
    let limits = summary.limitations.join("; ");
    let is_safe = summary.status == Status::SafeToRelyWithinScope.as_str();
    let line = match (limits.is_empty(), &summary.fallen) {
        (true, None) => match &summary.still_open {
            Some(open) => say("limits", "none; ").and(CARE, open.as_str()),
            None if is_safe => say("limits", "none"),
            None => say("limits", "none besides what stands above"),
        },
        (true, Some(_)) => say("limits", "").and(BAD, "it must not be relied on any more"),
        (false, _) => say("limits", "").and(CARE, limits),
    };
    // The status is that of a task that asks for something else than the one that was written.
    match &summary.changed {
        Some(words) => line.and(CARE, format!("; {words}")),
        None => line,
    }
}

/// What the work claims. What does not stand comes first: it is what a reader looks for.
fn claims(sheet: &Sheet, all: &[Claim]) -> Vec<Line> {
    let (good, bad): (Vec<&Claim>, Vec<&Claim>) = all.iter().partition(|one| one.status == "supported");
    let unheld = all.iter().filter(|one| one.status == "not_checked").count();
    let besides =
        if unheld == 0 { String::new() } else { format!("; {unheld} besides are not held against them") };
    let held = all.len() - unheld;
    let mut lines = vec![say("claims", format!("{} of {held} stand in the sources{besides}", good.len()))];
    lines.extend(bad.into_iter().chain(good).take(CLAIMS_MAX).map(|one| claim(sheet, one)));
    let more = all.len().saturating_sub(CLAIMS_MAX) as u64;
    if more > 0 {
        lines.push(say("", format!("… and {} more (--json)", output::count(more, "claim"))));
    }
    lines
}

/// A claim on one row: of its words as many as there is room for beside its places.
fn claim(sheet: &Sheet, claim: &Claim) -> Line {
    let (style, mark) = if claim.status == "supported" { (GOOD, "✓ ") } else { (BAD, "✗ ") };
    let words = claim.text.as_deref().unwrap_or("(withheld)");
    let line = say("", "").and(style, mark);
    if claim.status != "supported" {
        return line
            .and(PLAIN, words)
            .and(style, format!(" ({})", claim.words))
            .hanging(NAME_COLUMNS + 2)
            .within(3);
    }
    let mut places = claim.places.iter().map(|one| one.at.as_str());
    let first = places.next().unwrap_or("nowhere");
    let more = match places.count() {
        0 => String::new(),
        more => format!(" +{more}"),
    };
    let tail = format!("  {first}{more}");
    let room = sheet.columns().saturating_sub(NAME_COLUMNS + 2 + tail.chars().count());
    line.and(PLAIN, shortened(words, room.max(CLAIM_COLUMNS_MIN))).and(FAINT, tail).hanging(NAME_COLUMNS + 2)
}

/// Something that was asked for, how it stands, and what people changed in it.
fn outcome(outcome: &Outcome, changes: &[Change]) -> Vec<Line> {
    let style = match outcome.state.as_str() {
        "satisfied" => GOOD,
        "superseded" => BAD,
        _open => CARE,
    };
    let line = say("asked", outcome.statement.as_str()).and(style, format!(" ({})", outcome.words));
    let own = changes.iter().filter(|one| one.outcome.as_deref() == Some(outcome.id.as_str()));
    [line].into_iter().chain(own.map(changed)).collect()
}

/// Something that a person changed in what is asked. Texts are cut, and never what a number was and is.
fn changed(change: &Change) -> Line {
    let cut = |text: &str| {
        let cut = shortened(text, CHANGE_CHARS_MAX);
        if cut.ends_with('…') && text.ends_with('”') { format!("{cut}”") } else { cut }
    };
    let words = change.words(cut);
    let style = if change.is_less { BAD } else { CARE };
    say("", "").and(style, format!("changed by {}: {words}", change.by)).hanging(NAME_COLUMNS + 2)
}

/// What a person decided, why, and what it was about.
fn decision(decision: &Decision) -> Vec<Line> {
    let Decision { row, at, who, proof, what, answered, about, why, .. } = decision;
    let why = why.as_deref().map(|why| format!(", because: {why}")).unwrap_or_default();
    let done = match answered {
        Some(Answered { question, answer, .. }) => format!("{answer}{why} — {question}"),
        None => format!("{}{why}", what.trim_end_matches('.')),
    };
    let first = say("decided", format!("{who} ({proof}), {at}, row {row}: {done}")).within(DECISION_ROWS_MAX);
    // What was changed of the task stands with the outcomes.
    let is_edit = decision.command.as_deref() == Some("contract_review.edit");
    let rest = about.iter().filter(|_| !is_edit);
    let rest = rest.map(|one| say("", format!("  {one}")).hanging(NAME_COLUMNS + 2).within(2));
    [first].into_iter().chain(rest).collect()
}

fn short(hash: &str) -> String {
    format!("{}…", hash.get(..HASH_CHARS).unwrap_or(hash))
}

/// A text on one line of at most so many characters.
fn shortened(text: &str, chars_max: usize) -> String {
    let flat: String =
        text.split_inclusive('\n').map(|part| part.trim_end_matches('\n')).collect::<Vec<_>>().join(" ");
    match flat.char_indices().nth(chars_max) {
        None => flat,
        Some(_) => {
            let head: String = flat.chars().take(chars_max.saturating_sub(1)).collect();
            format!("{}…", head.trim_end())
        }
    }
}
