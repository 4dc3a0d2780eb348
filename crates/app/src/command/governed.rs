//! A task's run that a command is given to, whichever words it was given in.
//! Owns: holding the run meanwhile, what follows outside of the ledger, telling what became of it. Must not: decide; the run does.

use super::commands::OLD;
use super::process::{looking, minted};
use super::run::{product, standing};
use crate::charge::Charge;
use crate::cli::Global;
use crate::failure::{Exit, Failure};
use crate::office::{self, Rooms};
use crate::output;
use crate::place::Place;
use crate::tasks;
use countersign_durable::{sync_dir, write_new};
use countersign_govern::decide::command::Outcome;
use countersign_govern::decide::replay::Step;
use countersign_govern::types::basic::StorageRef;
use countersign_govern::types::checkpoint::TaskRunFork;
use countersign_govern::types::wire::Wire;
use countersign_kernel::grant::Approver;
use countersign_kernel::run::Doing;
use countersign_record::code::Code;
use countersign_record::digest::Digest;
use countersign_record::id::RunId;
use countersign_record::json::{self, Json, Object};
use countersign_record::state::GenericEnvelope;
use countersign_runtime::replay::Recorded;
use countersign_runtime::run::{self, Bench, Commanding, Driver, Setup};
use countersign_runtime::work::Work;
use countersign_work::command::{Effect, Ruling};
use countersign_work::desk::{Desk as Records, reference};
use countersign_work::task;
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Who may read what was exported.
const MODE: u32 = 0o600;

/// A task's run, held while commands are given to it.
pub(super) struct Governed {
    driver: Driver,
    bench: Arc<Bench>,
    pub(super) work: Arc<Work>,
    recorded: Recorded,
    steps: Vec<Step>,
    charge: Charge,
    /// Where runs are held.
    runs: PathBuf,
    needs_another: bool,
}

/// What became of a command.
pub(super) struct Ruled {
    pub(super) run: RunId,
    pub(super) command: String,
    pub(super) key: String,
    pub(super) ruling: Ruling,
    /// What waits for whoever gave it.
    pub(super) next: Option<String>,
    /// Files that were compared with what was taken in, and how each came out.
    pub(super) compared: Vec<(String, &'static str)>,
    /// Why the run's packet does not hold any more, where a new one can be made.
    fallen: Option<String>,
}

impl Governed {
    /// Takes a run; nobody carries it on meanwhile.
    pub(super) async fn open(global: &Global, run: &str) -> Result<Self, Failure> {
        let mut bench = looking(Place::open(global)?)?;
        let id = RunId::try_from(run)?;
        // Nobody is held up by the name of a run that there is not.
        run::told(&bench, &id).await?;
        let rooms = Rooms::of(global)?;
        let charge = Charge::take(&rooms.runs(), &id)?;
        let recorded = Recorded::read(&bench, &id).await?.ok_or(run::Error::NoTask { run: id.clone() })?;
        let steps = recorded.steps()?;
        let at_work = tasks::again(&bench, &recorded.told).await?;
        let work = at_work.ok_or(run::Error::NoTask { run: id })?.work;
        bench.work = Some(Arc::clone(&work));
        let bench = Arc::new(bench);
        let driver = Driver::open(Arc::clone(&bench), recorded.told.clone())?;
        let needs_another = office::policy(&rooms, None)?.approver == Approver::SomebodyElse;
        let runs = rooms.runs();
        Ok(Governed { driver, bench, work, recorded, steps, charge, runs, needs_another })
    }

    /// The folder of the task, as it is named here.
    pub(super) fn folder(&self) -> Option<PathBuf> {
        self.recorded.told.setup.sources.first().map(|dir| self.charge.path(dir))
    }

    /// Gives a command. Without a key it has one of its own.
    pub(super) async fn give(
        self,
        global: &Global,
        command: &str,
        request: &Json,
        key: Option<String>,
    ) -> Result<Ruled, Failure> {
        self.give_out(global, (command, request), key, written).await
    }

    /// The same; what leaves is written by somebody else.
    pub(super) async fn give_out(
        mut self,
        global: &Global,
        (command, request): (&str, &Json),
        key: Option<String>,
        writes: impl FnOnce(&Path, &Json) -> Result<(), Failure>,
    ) -> Result<Ruled, Failure> {
        let id = self.driver.id().clone();
        // Another process may begin its names where this one did; each place in a run's records has a name of its own.
        let purpose = format!("command {id} {}", self.work.end());
        let key = key.unwrap_or_else(|| format!("key_{}", self.bench.clock.fresh(&purpose)));
        let (steps, needs_another) = (std::mem::take(&mut self.steps), self.needs_another);
        let seen = self.recorded.seen();
        let commanding =
            Commanding { command, key: &key, request, needs_another, steps: &steps, seen: &seen };
        let (bench, recorded, work) = (&self.bench, &self.recorded, &self.work);
        let mut charge = None;
        let begins = |fork: &TaskRunFork, heads: &BTreeMap<String, Digest>| -> Result<Driver, Failure> {
            let driver = forked(global, bench, work, recorded, (fork, heads))?;
            let taken = Charge::take(&self.runs, driver.id())?;
            taken.begins_as(&self.charge)?;
            charge = Some(taken);
            Ok(driver)
        };
        let (mut ruling, begun) = self.driver.command(&commanding, begins).await?;
        if let Effect::Export { destination, document } = &ruling.effect {
            let (left, before) = (writes(Path::new(destination), document), self.work.end());
            ruling.receipt = self.driver.finished(&commanding, left.is_ok()).await?;
            left?;
            ruling.records.extend(self.work.look(|desk| since(desk, before)).unwrap_or_default());
        }
        if ruling.outcome == Outcome::Accepted && !ruling.is_repeated {
            product::put(global, &id, &self.work)?;
        }
        let fallen = self.work.look(standing::to_renew).flatten();
        let next = match (begun, &self.driver.run().doing) {
            (Some(new), _) => Some(global.typed(&format!("runs resume {}", new.id()))),
            (None, Doing::Ready) => Some(global.typed(&format!("runs resume {id}"))),
            (None, Doing::Over) if fallen.is_some() => {
                Some(global.typed(&format!("command run reliance.renew_packet --run {id}")))
            }
            (None, Doing::Called { .. } | Doing::Waiting(_) | Doing::Over) => None,
        };
        let (command, compared) = (command.to_owned(), Vec::new());
        Ok(Ruled { run: id, command, key, ruling, next, compared, fallen })
    }
}

/// The run that begins from what another one kept.
fn forked(
    global: &Global,
    bench: &Bench,
    work: &Work,
    recorded: &Recorded,
    (fork, heads): (&TaskRunFork, &BTreeMap<String, Digest>),
) -> Result<Driver, Failure> {
    let mut kept = BTreeMap::new();
    for (artifact, digest) in heads {
        let bytes = work.content(digest);
        let bytes =
            bytes.ok_or_else(|| Failure::new(Code::RunErased, "a version of the checkpoint was erased"))?;
        kept.insert(artifact.clone(), bytes.to_vec());
    }
    let told = &recorded.told;
    let new = tasks::anew(recorded, tasks::capabilities(&recorded.task), kept)?;
    let reading =
        GenericEnvelope::read(task::envelope(&recorded.task, &global.principal), minted(&bench.clock)?)
            .map_err(|troubles| Failure::troubles(Code::TaskInvalid, "the task", &troubles))?;
    let setup = Setup { forked_from: Some(told.id.to_string()), heads: heads.clone(), ..told.setup.clone() };
    let bench = Bench {
        journal: Arc::clone(&bench.journal),
        access: bench.access.clone(),
        clock: Arc::clone(&bench.clock),
        signs: Arc::clone(&bench.signs),
        agents: BTreeMap::new(),
        sources: None,
        work: Some(Arc::new(new)),
    };
    let id = RunId::try_from(fork.new_run_id.as_str())?;
    Ok(Driver::begin_as(bench, id, Arc::clone(&told.pipeline), reading, &setup, told.label)?)
}

/// The records behind a place, but for the last one: the receipt.
fn since(desk: &Records, place: u64) -> Vec<StorageRef> {
    let rows = (place + 1..desk.end()).zip(desk.rows_after(place));
    rows.filter_map(|(seq, row)| reference(&row.kind, &row.name(seq)).ok()).collect()
}

/// Writes what leaves. The same bytes in the same place are from a try whose end nobody saw.
fn written(path: &Path, document: &Json) -> Result<(), Failure> {
    let text =
        json::to_text(document).map_err(|error| Failure::new(Code::OutputFailed, error.to_string()))?;
    let bytes = json::indented(&text).into_bytes();
    let failed = |error: std::io::Error| Failure::file(&path.to_string_lossy(), &error);
    match write_new(path, MODE, &bytes) {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            let is_same = std::fs::read(path).is_ok_and(|there| there == bytes);
            return if is_same { Ok(()) } else { Err(failed(error)) };
        }
        Err(error) => return Err(failed(error)),
    }
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    sync_dir(dir).map_err(failed)
}

impl Ruled {
    /// The run that was begun.
    pub(super) fn fork(&self) -> Option<&TaskRunFork> {
        match &self.ruling.effect {
            Effect::Forked { fork, .. } => Some(fork),
            Effect::Nothing
            | Effect::Answered { .. }
            | Effect::Export { .. }
            | Effect::Previewed(_)
            | Effect::Cancelled => None,
        }
    }

    /// The record of a kind that it wrote, by its name.
    pub(super) fn wrote(&self, kind: &str) -> Option<&str> {
        self.ruling.records.iter().find_map(|one| one.as_str().strip_prefix(kind)?.strip_prefix(':'))
    }

    /// That it was carried out.
    pub(super) fn accepted(&self) -> Result<(), Failure> {
        let code = match self.ruling.outcome {
            Outcome::Accepted => return Ok(()),
            Outcome::PolicyDenied => Code::CommandDenied,
            Outcome::NotFound => Code::CommandMissing,
            Outcome::WrongState => Code::CommandState,
        };
        let reasons = self.ruling.reasons.iter().map(|one| Json::from(one.as_str())).collect();
        let message = format!("{}: {}", self.command, self.ruling.reasons.join("; "));
        // What the registry has for such a state is said of nothing in particular; what was found is.
        let shown = match self.ruling.reasons.is_empty() {
            true => self.ruling.shown.clone().unwrap_or_default(),
            false => sentence(&self.ruling.reasons.join("; ")),
        };
        Err(Failure::new(code, output::plain(&message))
            .with("run", self.run.as_str())
            .with("receipt", self.ruling.receipt.receipt_id.as_str())
            .with("reasons", Json::Array(reasons))
            .with("shown", shown))
    }

    /// Prints it; a refusal is told as one.
    pub(super) fn told(&self, global: &Global) -> Result<Exit, Failure> {
        self.accepted()?;
        if global.json {
            output::json(&self.json())?;
            return Ok(Exit::Success);
        }
        for line in self.lines() {
            output::line(&output::plain(&line))?;
        }
        Ok(Exit::Success)
    }
    fn lines(&self) -> Vec<String> {
        let Ruled { run, command, ruling, .. } = self;
        let again = if ruling.is_repeated { " before, so nothing was done now" } else { "" };
        let mut lines = vec![format!("{command} was carried out{again}.")];
        lines.push(format!("run      {run}"));
        if !matches!(ruling.effect, Effect::Previewed(_)) {
            lines.push(format!("receipt  {} (key {})", ruling.receipt.receipt_id, self.key));
        }
        if !ruling.records.is_empty() {
            lines.push(format!("wrote    {}", output::count(ruling.records.len() as u64, "record")));
        }
        if !ruling.made_old.is_empty() {
            let old: Vec<&str> = ruling.made_old.iter().map(|one| one.as_str()).collect();
            lines.push(format!("touches  {}", old.join(", ")));
        }
        lines.extend(self.compared.iter().map(|(path, how)| format!("{how:<12}{path}")));
        if self.compared.iter().any(|(_, how)| *how == OLD) {
            let words = "What is out of date stays so for this run, also where its file is what was taken in: begin another run of its task.";
            lines.push(words.to_owned());
        }
        lines.extend(ruling.shown.clone());
        match &ruling.effect {
            Effect::Nothing => {}
            Effect::Answered { question, option } => lines.push(format!("answered {question}: {option}")),
            Effect::Forked { fork, .. } => lines.extend(told_fork(fork)),
            Effect::Export { destination, .. } => lines.push(format!("left     {destination}")),
            Effect::Previewed(preview) => lines.extend(preview.steps.iter().map(|one| format!("  {one}"))),
            Effect::Cancelled => lines.push("The run is over.".to_owned()),
        }
        lines.extend(self.fallen.as_ref().map(|why| format!("The packet no longer holds: {why}.")));
        lines.extend(self.next.as_ref().map(|next| format!("next     {next}")));
        lines
    }

    fn json(&self) -> Json {
        let ruling = &self.ruling;
        let texts = |all: Vec<&str>| Json::Array(all.into_iter().map(Json::from).collect());
        let mut told = Object::from([
            ("run", Json::from(self.run.as_str())),
            ("command", self.command.as_str().into()),
            ("key", self.key.as_str().into()),
            ("repeated", Json::Bool(ruling.is_repeated)),
            ("receipt", ruling.receipt.write().unwrap_or(Json::Null)),
            ("records", texts(ruling.records.iter().map(|one| one.as_str()).collect())),
            ("made_old", texts(ruling.made_old.iter().map(|one| one.as_str()).collect())),
        ]);
        match &ruling.effect {
            Effect::Nothing | Effect::Cancelled => {}
            Effect::Answered { question, option } => {
                let pair = [("question", Json::from(question.as_str())), ("option", option.as_str().into())];
                told.insert("answered", Object::from(pair));
            }
            Effect::Forked { fork, .. } => drop(told.insert("fork", fork.write().unwrap_or(Json::Null))),
            Effect::Export { destination, .. } => drop(told.insert("left", destination.as_str())),
            Effect::Previewed(preview) => {
                told.insert("preview", preview.write().unwrap_or(Json::Null));
            }
        }
        if !self.compared.is_empty() {
            let files = self.compared.iter().map(|(path, how)| (path.as_str(), Json::from(*how)));
            told.insert("files", files.collect::<Object>());
        }
        if let Some(next) = &self.next {
            told.insert("next", next.as_str());
        }
        told.into()
    }
}

/// Words as a sentence.
fn sentence(words: &str) -> String {
    let mut letters = words.chars();
    let first = letters.next().map(|letter| letter.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", letters.as_str())
}

/// A fork, with everything that it can't undo.
pub(super) fn told_fork(fork: &TaskRunFork) -> Vec<String> {
    let mut lines = vec![format!("forked   {} from {}", fork.new_run_id, fork.forked_from_checkpoint_ref)];
    if fork.irrevocable_side_effects_at_fork.is_empty() {
        lines.push("Nothing was done outside that can't be undone.".to_owned());
    }
    for one in &fork.irrevocable_side_effects_at_fork {
        lines.push(format!(
            "stays    {} ({}, {})",
            one.kind.replace('_', " "),
            one.side_effect_id,
            one.receipt_ref.as_str()
        ));
    }
    lines
}
