//! `countersign runs`: what was run, and what happened in it.
//! Owns: the list, the timeline, going on with a run that was left. Must not: fold a row itself.

use super::pages::MadeOf;
use super::process::{Desk, Seat, ended, looking, over, printed};
use super::run::{driven, left, product, standing};
use crate::cli::Global;
use crate::cli::run::Runs;
use crate::failure::{Exit, Failure};
use crate::office;
use crate::output::{self, BOLD, CARE, FAINT, Line, PLAIN, Sheet, moment};
use crate::place::Place;
use crate::signals::Cancelling;
use anstyle::Style;
use countersign_kernel::run::{Doing, StopKind};
use countersign_record::chain::Head;
use countersign_record::id::RunId;
use countersign_record::json::Json;
use countersign_record::state::GenericEnvelope;
use countersign_runtime::ports::ledger::Ledger;
use countersign_runtime::run::{self, Bench, Line as Event, Listed, Standing, Told};
use serde::Serialize;

pub(super) async fn run(global: &Global, command: Runs) -> Result<Exit, Failure> {
    match command {
        Runs::List => list(global).await,
        Runs::Show { run } => show(global, &run).await,
        Runs::Resume { run, allow_programs } => {
            let opens = |name: &str| office::model(global, name).map(|(model, _)| model);
            let seat = Seat { global, bench: looking(Place::open(global)?)?, opens: &opens };
            let (desk, told) = Desk::again(seat, allow_programs, &run).await?;
            let work = desk.work();
            match (told.standing(), &work) {
                (Standing::Waiting, Some(work)) => {
                    let mut driver = desk.open(told)?;
                    driver.lapse().await?;
                    return super::run::told(global, driver.id(), driver.run(), work, ended(driver.run()));
                }
                (Standing::Waiting, None) => return printed(&told.run, !global.json, ended(&told.run)),
                (Standing::Over, work) => {
                    // What of its work could not be written when it ended is written now.
                    work.iter().try_for_each(|work| product::put(global, &told.id, work))?;
                    return Err(over());
                }
                (Standing::Open, _) => {}
            }
            let mut driver = desk.open(told)?;
            let cancelling = Cancelling::new()?;
            if let Some(work) = &work {
                return match driven(global, &mut driver, work, &cancelling.token).await {
                    Ok(()) => super::run::told(global, driver.id(), driver.run(), work, ended(driver.run())),
                    Err(error) => Err(left(global, &driver, error).await),
                };
            }
            match driver.drive(&cancelling.token).await {
                Ok(()) => printed(driver.run(), !global.json, ended(driver.run())),
                Err(error) => printed(&driver.kept().await?, !global.json, Err(error.into())),
            }
        }
    }
}

/// All runs of a matter, with what the list is derived from: the ledger as it was when somebody asked.
#[derive(Serialize)]
struct AllRuns<'a> {
    matter: &'a str,
    page: &'static str,
    /// The place in the matter's ledger up to which it was derived.
    as_of: u64,
    made_of: MadeOf,
    runs: &'a [Listed],
}

async fn list(global: &Global) -> Result<Exit, Failure> {
    let place = Place::open(global)?;
    let head = place.ledger.head(&place.access).await.ok();
    let bench = looking(place)?;
    let runs = run::list(&*bench.journal, &bench.access).await?;
    if global.json {
        // Of a ledger that is not there yet there is no head.
        let named = |head: &Head| format!("ledger:{}@{}#{}", global.matter, head.seq, head.hash);
        let made_of = MadeOf::of(head.iter().map(named).collect());
        let (matter, page, as_of) = (global.matter.as_str(), "runs", head.map_or(0, |head| head.seq));
        output::json(&AllRuns { matter, page, as_of, made_of, runs: &runs })?;
    } else if runs.is_empty() {
        output::line("No runs yet: countersign run TASK begins one.")?;
    }
    let mut lines = Vec::new();
    for listed in runs.iter().filter(|_| !global.json) {
        let line = Line::new(PLAIN, format!("{}  ", listed.run));
        let line = line.and(FAINT, format!("{}  ", moment(listed.began_at.as_str())));
        let line = line.and(PLAIN, format!("{}  ", listed.pipeline));
        lines.push(line.and(look(listed.standing), stands(&bench, listed).await?).whole());
        // A goal may have many lines: they are run together, and cut at the end of the screen.
        let title = listed.title.as_deref().map(|one| one.split_whitespace().collect::<Vec<_>>().join(" "));
        let title = title.filter(|one| !one.is_empty()).map(|one| Line::new(PLAIN, format!("  {one}")));
        lines.extend(title.map(|line| line.hanging(2).within(1)));
        if listed.standing == Standing::Open {
            let resume = global.typed(&format!("runs resume {}", listed.run));
            lines.push(Line::new(FAINT, format!("  if nobody carries it on: {resume}")).whole());
        }
    }
    Sheet::new().print(&lines)?;
    Ok(Exit::Success)
}

/// Where a run stands, and why. A person or a policy has ended what was denied: who and what is in its words.
async fn stands(bench: &Bench, listed: &Listed) -> Result<String, Failure> {
    let word = word(listed.standing);
    Ok(match (listed.standing, listed.reason.as_deref()) {
        (_, None) => word.to_owned(),
        (Standing::Over, Some("completed_successfully")) => "done".to_owned(),
        (Standing::Over, Some(reason @ "denied_by_policy")) => {
            let told = run::told(bench, &RunId::try_from(listed.run.as_str())?).await?;
            let words = told.run.envelope.ending.termination_reason.unwrap_or_default();
            format!("{word}: {}", standing::ended(reason, &words))
        }
        (_, Some(reason)) => format!("{word} ({})", reason.replace('_', " ")),
    })
}

/// How a standing looks.
fn look(standing: Standing) -> Style {
    match standing {
        Standing::Open | Standing::Waiting => CARE,
        Standing::Over => PLAIN,
    }
}

fn word(standing: Standing) -> &'static str {
    match standing {
        Standing::Open => "open",
        Standing::Waiting => "waits",
        Standing::Over => "over",
    }
}

/// A run with its timeline.
#[derive(Serialize)]
pub(crate) struct Shown<'a> {
    run: &'a RunId,
    pipeline: &'a str,
    standing: Standing,
    model: &'a str,
    sources: &'a [String],
    timeline: &'a [Event],
    envelope: &'a GenericEnvelope,
}

impl<'a> From<&'a Told> for Shown<'a> {
    fn from(told: &'a Told) -> Self {
        Shown {
            run: &told.id,
            pipeline: &told.pipeline.name,
            standing: told.standing(),
            model: &told.setup.model,
            sources: &told.setup.sources,
            timeline: &told.lines,
            envelope: &told.run.envelope,
        }
    }
}

async fn show(global: &Global, id: &str) -> Result<Exit, Failure> {
    let bench = looking(Place::open(global)?)?;
    let told = run::told(&bench, &RunId::try_from(id)?).await?;
    if global.json {
        output::json(&Shown::from(&told))?;
        return Ok(Exit::Success);
    }
    Sheet::new().print(&timeline(global, &told))?;
    Ok(Exit::Success)
}

/// The run in lines, as a person reads it.
fn timeline(global: &Global, told: &Told) -> Vec<Line> {
    let envelope = &told.run.envelope;
    let first = Line::new(BOLD, format!("{}  {}  ", told.id, told.pipeline.name));
    let mut lines = vec![first.and(look(told.standing()).bold(), word(told.standing())).whole()];
    lines.push(Line::new(FAINT, "  asked: ").and(PLAIN, envelope.identity.raw_input.as_str()).hanging(9));
    for line in &told.lines {
        let text = |name: &str| line.payload.get(name).and_then(Json::as_str).unwrap_or_default();
        let what = match line.kind.as_str() {
            "run.began" => format!("began      envelope {}", text("envelope_id")),
            "run.called" => format!("called     {}", text("stage")),
            "run.returned" => {
                let hash = text("payload_hash").get(..12).unwrap_or_default();
                let leads = match text("next") {
                    "" => String::new(),
                    next => format!("to {next}"),
                };
                let said = [text("reason"), &leads].join("  ");
                format!("{:<10} {}  payload {hash}  {}", text("status"), text("stage"), said.trim_start())
            }
            "run.moved" => format!("to         {}", text("to")),
            "run.stopped" => format!("stopped    {}  {}  {}", text("stage"), text("reason"), text("id")),
            "run.answered" => format!("answered   {} by {}", text("answer"), text("by")),
            "run.ended" => format!("ended      {}", text("reason")),
            "workspace.externalized" => format!("sent       {}  {}", text("destination_ref"), text("status")),
            other => other.strip_prefix("run.").unwrap_or(other).to_owned(),
        };
        let line = Line::new(FAINT, format!("  {:>6}  {}  ", line.seq, line.at));
        lines.push(line.and(PLAIN, what.trim_end()).whole());
    }
    match &told.run.doing {
        Doing::Waiting(stop) => {
            lines.push(Line::new(CARE.bold(), format!("waits for a person: {}", stop.message)));
            let said: &[String] = match stop.kind {
                StopKind::Confirmation => &["--approve".to_owned(), "--deny".to_owned()],
                StopKind::Clarification => &["--value TEXT".to_owned()],
                StopKind::Escalation => {
                    let first = stop.next_steps.first().map_or("retry", String::as_str);
                    &[format!("--choose {}", output::quoted(first))]
                }
            };
            lines.extend(said.iter().map(|said| {
                let answer = global.typed(&format!("answer {} --id {} {said}", told.id, stop.id));
                Line::new(FAINT, "  answer   ").and(PLAIN, answer).whole()
            }));
            lines.push(Line::new(FAINT, "  options  ").and(PLAIN, stop.next_steps.join(", ")).hanging(11));
        }
        Doing::Ready | Doing::Called { .. } => {
            let resume = global.typed(&format!("runs resume {}", told.id));
            lines.push(Line::new(CARE, format!("is open: {resume}")).whole());
        }
        Doing::Over => {
            let reason = envelope.ending.termination_reason.clone();
            lines.extend(reason.map(|reason| Line::new(PLAIN, reason)));
        }
    }
    lines
}
