//! `countersign replay`: a run gone through again.
//! Owns: which agents work in it, the rows of it, telling what came of it. Must not: send anything, or touch the run.

use super::process::{Desk, Opens, Seat, looking, minted};
use crate::cli::Global;
use crate::cli::governed::{Mode, Replay};
use crate::cli::run::Working;
use crate::failure::{Exit, Failure};
use crate::office;
use crate::output::{self, BAD, GOOD, Line, PLAIN, Sheet};
use crate::pipelines::Found;
use crate::place::Place;
use crate::signals::Cancelling;
use crate::tasks;
use countersign_govern::decide::replay::{Compared, Step, Treatment};
use countersign_govern::types::basic::{Instant, V10};
use countersign_govern::types::replay::{
    ReplayDivergenceRecord, ReplayDivergenceRecordDivergenceKind as Divergence, TaskReplayMode,
    TaskReplayRequest,
};
use countersign_kernel::pipeline::{Agent as Kind, Stage};
use countersign_models::Extractive;
use countersign_record::code::Code;
use countersign_record::id::RunId;
use countersign_record::json;
use countersign_record::row::Sealed;
use countersign_record::state::GenericEnvelope;
use countersign_record::time::Timestamp;
use countersign_runtime::clock::Clock;
use countersign_runtime::ports::ledger::Ledger;
use countersign_runtime::ports::model::Model;
use countersign_runtime::ports::session::{Signs, Trouble};
use countersign_runtime::replay::{self, Difference, Recorded, Scratch, Walked};
use countersign_runtime::run::{self, Bench, Driver};
use countersign_work::travel::replay::{Ask, request, treated, words};
use serde::Serialize;
use std::path::PathBuf;
use std::sync::Arc;

/// A replay, as it is told.
#[derive(Serialize)]
struct Told {
    replay: String,
    run: RunId,
    mode: &'static str,
    /// Whether everything came out as it was recorded.
    same: bool,
    /// What was decided again and came out as it was written, where that was compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    decided: Option<Decided>,
    steps: Vec<StepTold>,
    #[serde(skip_serializing_if = "Option::is_none")]
    difference: Option<Difference>,
    divergences: Vec<Diverged>,
}

#[derive(Serialize)]
struct Decided {
    events: u64,
    records: u64,
}

#[derive(Serialize)]
struct StepTold {
    step: String,
    treatment: &'static str,
    same: bool,
}

#[derive(Serialize)]
struct Diverged {
    step: String,
    kind: &'static str,
    explanation: String,
}

/// What a replay came to, before it is compared.
struct Gone {
    gave: Vec<Option<String>>,
    walked: Option<Walked>,
}

pub(super) async fn run(global: &Global, command: &Replay) -> Result<Exit, Failure> {
    let id = RunId::try_from(command.run.as_str())?;
    let place = Place::open(global)?;
    let end = place.ledger.head(&place.access).await?.seq;
    let bench = looking(place)?;
    let recorded = Recorded::read(&bench, &id).await?.ok_or(run::Error::NoTask { run: id.clone() })?;
    let steps = recorded.steps()?;
    let at = now(&bench)?;
    let model = command.model.clone().unwrap_or_else(|| recorded.told.setup.model.clone());
    let mode = TaskReplayMode::from(command.mode);
    // Another process may begin its names where this one did; each place in the ledger has a name of its own.
    let replay_id = format!("replay_{}", bench.clock.fresh(&format!("replay {id} {end}")));
    let is_other_model = model != recorded.told.setup.model;
    let ask = Ask { id: &replay_id, task: &recorded.task.id, run: id.as_str(), mode, is_other_model };
    let request = request(&ask, &at);
    let treatments =
        treated(&request, &steps).map_err(|refusal| run::Error::Replay { why: refusal.to_string() })?;
    let gone = match command.mode {
        Mode::AuditReconstruction | Mode::SimulationFromRecordedOutputs => walked(global, &recorded)?,
        Mode::DeterministicReexecution | Mode::BestEffortRerun => {
            rerun(global, &recorded, &treatments, model).await?
        }
    };
    let mut compared = replay::compared(&request, &steps, &gone.gave, &at)?;
    let difference = gone.walked.as_ref().and_then(|walked| walked.difference.clone());
    if let Some(difference) = &difference {
        record(&mut compared, difference, (&request, &steps, gone.gave.len()), &at);
    }
    replay::keep(&*bench.journal, &bench.access, &request, &compared, &at).await?;
    told(global, id, &request, (&steps, &treatments), compared, gone.walked)
}

fn now(bench: &Bench) -> Result<Timestamp, Failure> {
    bench.clock.now().map_err(|error| Failure::new(Code::TimeInvalid, format!("the clock: {error}")))
}

/// What a run is gone through with: its own agents, beside the ledger.
fn aside(
    global: &Global,
    recorded: &Recorded,
    model: &str,
    opens: Opens<'_>,
) -> Result<(Bench, Arc<Scratch>), Failure> {
    let told = &recorded.told;
    let scratch = Arc::new(Scratch::default());
    let mut bench = looking(Place::open(global)?)?;
    bench.journal = scratch.clone();
    bench.signs = Arc::new(Nobody);
    let began = told.lines.first().map(|line| &line.at);
    bench.clock = Arc::new(Clock::new(began, Some(0), [0; 32]));
    let mut at_work = tasks::replayed(recorded)?;
    if model != told.setup.model {
        at_work.replies = None;
    }
    let working = Working {
        pipeline: String::new(),
        model: model.to_owned(),
        sources: Vec::new(),
        memory: Vec::new(),
        // Where everything is only decided again, programs hand over what they did then and are not started; whatever else goes
        // through a run again refuses them before.
        allow_programs: true,
    };
    let found = Found { pipeline: (*told.pipeline).clone(), dir: PathBuf::from(&told.setup.dir) };
    let desk = Desk::at_work(Seat { global, bench, opens }, &working, found, at_work)?;
    Ok((desk.bench(), scratch))
}

/// Signs nothing: nobody decides in a replay.
struct Nobody;

impl Signs for Nobody {
    fn sign(&self, decision: Sealed) -> Result<Sealed, Trouble> {
        Ok(decision)
    }
}

/// Decides everything again from what was recorded. No model is ever asked for that.
fn walked(global: &Global, recorded: &Recorded) -> Result<Gone, Failure> {
    let opens = |_: &str| -> Result<Arc<dyn Model>, Failure> { Ok(Arc::new(Extractive::new())) };
    let (bench, _) = aside(global, recorded, &recorded.told.setup.model, &opens)?;
    let work = bench.work.clone().ok_or(run::Error::NoTask { run: recorded.told.id.clone() })?;
    let walked = replay::walk(&bench, &work, recorded)?;
    Ok(Gone { gave: walked.gave.clone(), walked: Some(walked) })
}

/// Drives the run once more.
async fn rerun(
    global: &Global,
    recorded: &Recorded,
    treatments: &[Treatment],
    model: String,
) -> Result<Gone, Failure> {
    // What a program does nobody can take back, and a replay does nothing outside.
    let is_program = |stage: &&Stage| matches!(stage.agent, Kind::Process { .. } | Kind::Mcp { .. });
    if let Some(stage) = recorded.told.pipeline.stages.iter().find(is_program) {
        let why = format!("the stage {} is a program, and a replay starts none", stage.name);
        return Err(run::Error::Replay { why }.into());
    }
    let opens = |name: &str| office::model(global, name).map(|(model, _)| replay::muted(model));
    let (mut bench, scratch) = aside(global, recorded, &model, &opens)?;
    bench.agents = replay::replaying(&bench.agents, recorded, treatments, &bench.clock);
    let told = &recorded.told;
    let first = recorded.happened.first().map_or(&told.run.envelope, |one| &one.before.envelope);
    let document =
        json::value_of(first).map_err(|error| Failure::new(Code::RunUnreadable, error.to_string()))?;
    let reading = GenericEnvelope::read(document, minted(&bench.clock)?)
        .map_err(|troubles| Failure::troubles(Code::RunUnreadable, "the run's envelope", &troubles))?;
    let (id, pipeline) = (told.id.clone(), Arc::clone(&told.pipeline));
    let mut driver = Driver::begin_as(bench, id, pipeline, reading, &told.setup, told.label)?;
    let cancelling = Cancelling::new()?;
    let gave = replay::rerun(&mut driver, &scratch, recorded, &cancelling.token).await?;
    Ok(Gone { gave, walked: None })
}

/// Writes down what differs in a record: what the step handed over may still be the same.
fn record(
    compared: &mut Compared,
    difference: &Difference,
    (request, steps, decided): (&TaskReplayRequest, &[Step], usize),
    at: &Timestamp,
) {
    let Some(step) = steps.get(decided.min(steps.len().saturating_sub(1))) else { return };
    let Difference { row, what, path, why } = difference;
    compared.divergences.push(ReplayDivergenceRecord {
        divergence_id: format!("{}.row.{row}", request.replay_request_id),
        replay_request_id: request.replay_request_id.clone(),
        divergence_kind: Divergence::ToolOutputDrift,
        source_step_ref: step.step_ref.clone(),
        original_output_hash: step.output_hash.clone(),
        replay_output_hash: None,
        explanation: format!("row {row} ({what}) {path}: {why}"),
        created_at: Instant::from(at),
        schema_version: V10,
    });
}

fn told(
    global: &Global,
    run: RunId,
    request: &TaskReplayRequest,
    (steps, treatments): (&[Step], &[Treatment]),
    compared: Compared,
    walked: Option<Walked>,
) -> Result<Exit, Failure> {
    let differs = |step: &Step| compared.divergences.iter().any(|one| one.source_step_ref == step.step_ref);
    let step = |(step, treatment): (&Step, &Treatment)| StepTold {
        step: step.step_ref.as_str().to_owned(),
        treatment: words(*treatment),
        same: !differs(step),
    };
    let steps = steps.iter().zip(treatments).map(step).collect();
    let diverged = |one: &ReplayDivergenceRecord| Diverged {
        step: one.source_step_ref.as_str().to_owned(),
        kind: one.divergence_kind.as_str(),
        explanation: one.explanation.clone(),
    };
    let told = Told {
        replay: request.replay_request_id.clone(),
        run,
        mode: request.replay_mode.as_str(),
        same: compared.divergences.is_empty(),
        decided: walked.as_ref().map(|walked| Decided { events: walked.events, records: walked.records }),
        steps,
        difference: walked.and_then(|walked| walked.difference),
        divergences: compared.divergences.iter().map(diverged).collect(),
    };
    match global.json {
        true => output::json(&told)?,
        false => printed(&told)?,
    }
    let Some(first) = told.divergences.first() else { return Ok(Exit::Success) };
    let failure = Failure::new(Code::ReplayDiverged, output::plain(&first.explanation))
        .with("replay", told.replay.as_str())
        .with("step", first.step.as_str())
        .with_count("divergences", told.divergences.len() as u64);
    Err(match &told.difference {
        Some(difference) => failure.with_count("row", difference.row).with("path", difference.path.as_str()),
        None => failure,
    })
}

fn printed(told: &Told) -> Result<(), Failure> {
    let (style, result) = match told.same {
        true => (GOOD, "came to the same"),
        false => (BAD, "came out differently"),
    };
    let first = format!("{} of {} {result}.", told.mode.replace('_', " "), told.run);
    let mut lines = vec![Line::new(style.bold(), first)];
    if let Some(Decided { events, records }) = &told.decided {
        lines.push(Line::new(
            PLAIN,
            format!(
                "{} and {} decided again, as they were written.",
                output::count(*events, "event"),
                output::count(*records, "record")
            ),
        ));
    }
    let own = format!("{}.", told.run);
    for one in &told.steps {
        let (style, mark) = if one.same { (GOOD, "  ✓ ") } else { (BAD, "  ✗ ") };
        let text = format!("{}: {}", one.step.replace(&own, ""), one.treatment);
        lines.push(Line::new(style, mark).and(PLAIN, text).hanging(4));
    }
    for one in &told.divergences {
        let text = format!("{} ({})", one.explanation, one.kind.replace('_', " "));
        lines.push(Line::new(BAD, "  ! ").and(PLAIN, text).hanging(4));
    }
    lines.push(Line::named("replay", told.replay.as_str()).whole());
    Sheet::new().print(&lines)
}
