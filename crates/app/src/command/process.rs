//! `countersign process`: an envelope in, the envelope that agents made of it out.
//! Owns: carrying it on for whoever asks, and what the exit code says of the run. Must not: decide what a run does.

use crate::charge::Charge;
use crate::checking::Checking;
use crate::cli::Global;
use crate::cli::run::{Process, Working};
use crate::failure::{Exit, Failure};
use crate::input;
use crate::office;
use crate::output;
use crate::pipelines::{self, Found};
use crate::place::Place;
use crate::remembering;
use crate::signals::Cancelling;
use crate::sources::Folders;
use crate::tasks;
use countersign_govern::types::wire::Wire;
use countersign_kernel::policy::Policy;
use countersign_kernel::run::{Doing, Run, StopKind};
use countersign_record::code::Code;
use countersign_record::digest::Digest;
use countersign_record::id::RunId;
use countersign_record::json::{self, Json};
use countersign_record::label::Label;
use countersign_record::state::{GenericEnvelope, Minted, Reading, TerminalReason};
use countersign_runtime::agents::Means;
use countersign_runtime::clock::Clock;
use countersign_runtime::ports::command::Commands;
use countersign_runtime::ports::model::Model;
use countersign_runtime::ports::sources::Sources;
use countersign_runtime::purse::Purses;
use countersign_runtime::run::mind::Mind;
use countersign_runtime::run::{self, Bench, Driver, Met, RUN, Setup, Told};
use countersign_runtime::work::Work;
use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};
use std::path::PathBuf;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

pub(super) async fn run(global: &Global, process: &Process) -> Result<Exit, Failure> {
    let document = input::document(&process.file)?;
    let bench = looking(Place::open(global)?)?;
    let pace = if process.step { Pace::Step } else { Pace::Whole };
    let opens = |name: &str| office::model(global, name).map(|(model, _)| model);
    let cancelling = Cancelling::new()?;
    let seat = Seat { global, bench, opens: &opens };
    let Advanced { run, outcome } =
        advanced(seat, &process.working, pace, document, &cancelling.token).await?;
    printed(&run, process.pretty, outcome)
}

/// Where whoever asks sits: whose options, which ledger, how models are opened.
pub(crate) struct Seat<'a> {
    pub(crate) global: &'a Global,
    /// Without agents: they come with the pipeline.
    pub(crate) bench: Bench,
    pub(crate) opens: Opens<'a>,
}

/// Opens the model of a name.
pub(crate) type Opens<'a> = &'a (dyn Fn(&str) -> Result<Arc<dyn Model>, Failure> + Send + Sync);

/// How far a run goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pace {
    /// By one stage.
    Step,
    /// Until it ends, or a person is needed.
    Whole,
}

/// A run as it is now, and what became of it.
pub(crate) struct Advanced {
    pub(crate) run: Run,
    pub(crate) outcome: Result<Exit, Failure>,
}

/// Takes in an envelope and carries it on: the whole of `process`, but for reading and printing.
pub(crate) async fn advanced(
    seat: Seat<'_>,
    working: &Working,
    pace: Pace,
    document: Json,
    cancel: &CancellationToken,
) -> Result<Advanced, Failure> {
    let reading = GenericEnvelope::read(document, minted(&seat.bench.clock)?)
        .map_err(|troubles| Failure::troubles(Code::EnvelopeInvalid, "no GenericEnvelope", &troubles))?;
    // What has ended, or waits, is handed back as it is: nothing happens to it.
    let given = Run::of(reading.envelope.clone());
    match &given.doing {
        Doing::Over => return Ok(Advanced { run: given, outcome: Err(over()) }),
        Doing::Waiting(_) => {
            let outcome = Err(waiting(&given));
            return Ok(Advanced { run: given, outcome });
        }
        Doing::Ready | Doing::Called { .. } => {}
    }
    // Whatever is wrong besides, the envelope that came is one, and is handed back.
    let desk = match pipelines::find(&working.pipeline).and_then(|found| Desk::of(seat, working, found)) {
        Ok(desk) => desk,
        Err(error) => return Ok(Advanced { outcome: Err(error), run: given }),
    };
    // Another pipeline was meant. The run must not end for that.
    if let Err(stage) = given.stands_in(&desk.found.pipeline) {
        let message =
            format!("the pipeline {} has no stage {}", desk.found.pipeline.name, output::plain(&stage));
        return Ok(Advanced { outcome: Err(Failure::new(Code::RunStage, message)), run: given });
    }
    driven(desk, working, pace, reading, given, cancel).await
}

/// Carries on an envelope that can be: as the run that it belongs to, or a new one.
async fn driven(
    mut desk: Desk,
    working: &Working,
    pace: Pace,
    reading: Reading,
    given: Run,
    cancel: &CancellationToken,
) -> Result<Advanced, Failure> {
    let mut driver = match desk.met(&reading).await? {
        Some((told, Met::Now)) => desk.open(told)?,
        Some((told, Met::Before)) => match (&told.run.doing, pace) {
            (Doing::Called { .. }, _) | (Doing::Ready, Pace::Whole) => desk.open(told)?,
            // It was done, and whoever asked has not heard of it: nothing is done a second time.
            (Doing::Ready, Pace::Step) | (Doing::Waiting(_) | Doing::Over, _) => {
                return Ok(Advanced { outcome: ended(&told.run), run: told.run });
            }
        },
        Some((told, Met::Never)) => {
            // What it says it got from a run of ours has the class that it had there.
            desk.label = desk.label.join(told.label);
            desk.begin(working, reading)?
        }
        None => desk.begin(working, reading)?,
    };
    let gone_on = match pace {
        Pace::Step => driver.step(cancel).await,
        Pace::Whole => driver.drive(cancel).await,
    };
    Ok(match gone_on {
        Ok(()) => driver.advanced(),
        // What could not be written down did not happen; before anything is durable the envelope is the one that came.
        Err(error) => Advanced { outcome: Err(error.into()), run: driver.kept().await.unwrap_or(given) },
    })
}

/// A run at a desk: nobody else carries it on meanwhile.
pub(crate) struct Driven {
    driver: Driver,
    charge: Charge,
    /// Whether it is a task's.
    is_of_task: bool,
}

impl Driven {
    /// As it is now, and what became of it.
    pub(crate) fn advanced(&self) -> Advanced {
        Advanced { outcome: ended(self.run()), run: self.run().clone() }
    }
}

impl Deref for Driven {
    type Target = Driver;

    fn deref(&self) -> &Driver {
        &self.driver
    }
}

impl DerefMut for Driven {
    fn deref_mut(&mut self) -> &mut Driver {
        &mut self.driver
    }
}

impl Drop for Driven {
    fn drop(&mut self) {
        if self.driver.run().doing == Doing::Over && !self.is_of_task {
            self.charge.over();
        }
    }
}

/// What a desk is set up with.
struct Supplies {
    model: Arc<dyn Model>,
    sources: Option<Arc<dyn Sources>>,
    work: Option<Arc<Work>>,
    commands: Option<Arc<dyn Commands>>,
}

/// What runs are carried on with.
pub(crate) struct Desk {
    found: Found,
    bench: Bench,
    /// What holds for what is asked.
    label: Label,
    pub(super) policy: Arc<Policy>,
    /// Where runs are held.
    runs: PathBuf,
    /// The run that was begun, if it is one.
    charge: Option<Charge>,
    /// The task, and the hashes of its files, where the run is one's.
    task: Option<(Json, BTreeMap<String, Digest>)>,
}

impl Desk {
    pub(super) fn new(global: &Global, working: &Working, place: Place) -> Result<Self, Failure> {
        let opens = |name: &str| office::model(global, name).map(|(model, _)| model);
        let seat = Seat { global, bench: looking(place)?, opens: &opens };
        Desk::of(seat, working, pipelines::find(&working.pipeline)?)
    }

    /// For a run that was begun, as it was begun.
    pub(crate) async fn again(
        seat: Seat<'_>,
        allows_programs: bool,
        id: &str,
    ) -> Result<(Self, Told), Failure> {
        let id = RunId::try_from(id)?;
        // Nobody is held up by the name of a run that there is not.
        run::told(&seat.bench, &id).await?;
        let charge = Charge::take(&office::Rooms::of(seat.global)?.runs(), &id)?;
        let told = run::told(&seat.bench, &id).await?;
        let memory = told.setup.memory.iter().map(|store| charge.path(store).to_string_lossy().into_owned());
        let working = Working {
            pipeline: String::new(),
            model: told.setup.model.clone(),
            sources: told.setup.sources.iter().map(|dir| charge.path(dir)).collect(),
            memory: memory.collect(),
            allow_programs: allows_programs,
        };
        let found = Found { pipeline: (*told.pipeline).clone(), dir: charge.path(&told.setup.dir) };
        let desk = match tasks::again(&seat.bench, &told).await? {
            Some(at_work) => Desk::at_work(seat, &working, found, at_work)?,
            None => Desk::of(seat, &working, found)?,
        };
        Ok((Desk { charge: Some(charge), ..desk }, told))
    }

    fn of(seat: Seat<'_>, working: &Working, found: Found) -> Result<Self, Failure> {
        let rooms = office::Rooms::of(seat.global)?;
        let policy = Arc::new(office::policy(&rooms, None)?);
        let sources: Option<Arc<dyn Sources>> = match working.sources.as_slice() {
            [] => None,
            dirs => {
                let folders = Folders::new(dirs, &seat.global.data, rooms.folders(), Arc::clone(&policy))?;
                Some(Arc::new(folders))
            }
        };
        let model = (seat.opens)(&working.model)?;
        Desk::with(seat, working, found, Supplies { model, sources, work: None, commands: None }, policy)
    }

    /// For the run of a task.
    pub(super) fn at_work(
        seat: Seat<'_>,
        working: &Working,
        found: Found,
        at_work: tasks::AtWork,
    ) -> Result<Self, Failure> {
        let rooms = office::Rooms::of(seat.global)?;
        let policy = Arc::new(office::policy(&rooms, None)?);
        let tasks::AtWork { work, sources, replies, document, files, commands } = at_work;
        let commands = match commands {
            tasks::Run::Granted => Some(Arc::new(Checking::of(&rooms)) as Arc<dyn Commands>),
            tasks::Run::Never => None,
        };
        let model = match replies {
            Some(replies) => replies,
            None => (seat.opens)(&working.model)?,
        };
        let given = Supplies { model, sources: Some(sources), work: Some(work), commands };
        let desk = Desk::with(seat, working, found, given, policy)?;
        Ok(Desk { task: Some((document, files)), ..desk })
    }

    fn with(
        seat: Seat<'_>,
        working: &Working,
        found: Found,
        given: Supplies,
        policy: Arc<Policy>,
    ) -> Result<Self, Failure> {
        let Seat { global, mut bench, .. } = seat;
        let rooms = office::Rooms::of(global)?;
        let Supplies { model, sources, work, commands } = given;
        let mind = Mind {
            model,
            matter: bench.access.matter().clone(),
            policy: policy.hash().map_err(|error| Failure::new(Code::PolicyInvalid, error.to_string()))?,
            clock: Arc::clone(&bench.clock),
        };
        let label = Label { data_class: policy.user_class, ..Label::USER };
        let past = remembering::past(global, &policy, &working.memory, &mind, &bench)?;
        let clock = Arc::clone(&bench.clock);
        let means = Means { mind, sources: sources.clone(), past, clock, work: work.clone(), commands };
        if let Some(work) = &work {
            let (journal, access) = (Arc::clone(&bench.journal), bench.access.clone());
            work.fund(Purses { journal, access, clock: Arc::clone(&bench.clock) });
        }
        bench.work = work;
        bench.agents = found.agents(&means, working.allow_programs)?;
        bench.sources = sources;
        Ok(Desk { found, bench, label, policy, runs: rooms.runs(), charge: None, task: None })
    }

    /// What runs are carried on with here.
    pub(super) fn bench(self) -> Bench {
        self.bench
    }

    /// The governed records, where the run is a task's.
    pub(super) fn work(&self) -> Option<Arc<Work>> {
        self.bench.work.clone()
    }

    pub(super) fn begin(self, working: &Working, reading: Reading) -> Result<Driven, Failure> {
        let setup = Setup {
            model: working.model.clone(),
            sources: working.sources.iter().map(|dir| dir.to_string_lossy().into_owned()).collect(),
            memory: working.memory.clone(),
            dir: self.found.dir.to_string_lossy().into_owned(),
            task: self.task.as_ref().map(|(document, _)| document.clone()),
            files: self.task.as_ref().map(|(_, files)| files.clone()).unwrap_or_default(),
            nearest: self.bench.work.as_ref().and_then(|work| work.nearest()?.write()),
            ..Setup::default()
        };
        let label = self.label.join(self.brought(&reading.envelope));
        let is_of_task = self.bench.work.is_some();
        let driver = Driver::begin(self.bench, Arc::new(self.found.pipeline), reading, &setup, label)?;
        let charge = Charge::take(&self.runs, driver.id())?;
        charge.begins()?;
        Ok(Driven { driver, charge, is_of_task })
    }

    /// What holds for what an envelope brings along that no run of ours is known to have said: nobody knows what it was
    /// made of, so it may be made of whatever there is.
    fn brought(&self, envelope: &GenericEnvelope) -> Label {
        let progress = &envelope.progress;
        match progress.outputs.is_empty() && envelope.processing_history.is_empty() {
            true => Label::NOTHING,
            false => Label { data_class: self.policy.strictest(), ..Label::OUTSIDE },
        }
    }

    pub(crate) fn open(mut self, told: Told) -> Result<Driven, Failure> {
        let charge = match self.charge.take() {
            Some(charge) => charge,
            None => Charge::take(&self.runs, &told.id)?,
        };
        let is_of_task = self.bench.work.is_some();
        Ok(Driven { driver: Driver::open(self.bench, told)?, charge, is_of_task })
    }

    /// The run that the envelope says it belongs to, if it is one of ours, and how it stands to it. An envelope that was
    /// changed on the way is the beginning of another.
    async fn met(&mut self, reading: &Reading) -> Result<Option<(Told, Met)>, Failure> {
        let id = reading.envelope.metadata.get(RUN).and_then(Json::as_str);
        let Some(id) = id.and_then(|id| RunId::try_from(id).ok()) else { return Ok(None) };
        match run::met(&self.bench, &id, &reading.envelope).await {
            Ok((told, _)) if *told.pipeline != self.found.pipeline => Ok(Some((told, Met::Never))),
            Ok((told, Met::Never)) => Ok(Some((told, Met::Never))),
            Ok(_) => {
                // As it is once nobody else is at work on it.
                self.charge = Some(Charge::take(&self.runs, &id)?);
                Ok(Some(run::met(&self.bench, &id, &reading.envelope).await?))
            }
            Err(run::Error::Missing { .. } | run::Error::Erased { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

/// A bench without agents: enough to look at runs.
pub(super) fn looking(place: Place) -> Result<Bench, Failure> {
    let Place { ledger, keys, access, clock, .. } = place;
    let signs = Arc::new(office::Signer::new(keys, &access));
    Ok(Bench {
        journal: Arc::new(ledger),
        access,
        clock: Arc::new(clock),
        signs,
        agents: BTreeMap::new(),
        sources: None,
        work: None,
    })
}

/// What stands in for members that a document does not have.
pub(super) fn minted(clock: &Clock) -> Result<Minted, Failure> {
    let id = |prefix: &str| format!("{prefix}_{}", clock.fresh(prefix));
    Ok(Minted {
        envelope_id: id("env").try_into()?,
        request_id: id("req").try_into()?,
        session_id: id("sess").try_into()?,
        received_at: clock
            .now()
            .map_err(|error| Failure::new(Code::TimeInvalid, format!("the clock: {error}")))?,
    })
}

/// The envelope of a run, on one line.
pub(crate) fn text(run: &Run) -> Result<String, Failure> {
    json::to_text(&run.envelope).map_err(|error| Failure::new(Code::OutputFailed, error.to_string()))
}

/// Prints the envelope, whatever became of it, and says that.
pub(super) fn printed(run: &Run, is_pretty: bool, outcome: Result<Exit, Failure>) -> Result<Exit, Failure> {
    let text = text(run)?;
    output::line(&if is_pretty { json::indented(&text) } else { text })?;
    outcome
}

/// What the exit code says of a run.
pub(crate) fn ended(run: &Run) -> Result<Exit, Failure> {
    let ending = &run.envelope.ending;
    let words = || ending.termination_reason.clone().unwrap_or_default();
    match (&run.doing, ending.terminal_reason) {
        (Doing::Ready | Doing::Called { .. }, _) | (_, Some(TerminalReason::CompletedSuccessfully)) => {
            Ok(Exit::Success)
        }
        (Doing::Waiting(_), _) => Err(waiting(run)),
        (Doing::Over, reason) => {
            let code = match reason {
                Some(TerminalReason::DeniedByPolicy) => Code::RunDenied,
                Some(TerminalReason::ToolFailedRecoverably | TerminalReason::ToolFailedFatally) => {
                    Code::RunFailed
                }
                Some(
                    TerminalReason::MaxIterationsExceeded
                    | TerminalReason::MaxLlmCallsExceeded
                    | TerminalReason::MaxAgentHopsExceeded
                    | TerminalReason::MaxCriticFiresExceeded,
                ) => Code::RunBound,
                Some(
                    TerminalReason::CompletedSuccessfully
                    | TerminalReason::ClarificationRequired
                    | TerminalReason::ConfirmationRequired,
                )
                | None => Code::RunOver,
            };
            let failure = Failure::new(code, words());
            Err(match reason {
                Some(reason) => failure.with("terminal_reason", reason.as_str()),
                None => failure,
            })
        }
    }
}

pub(super) fn over() -> Failure {
    Failure::new(Code::RunOver, "the run has ended, so nothing was done")
}

/// What it waits for, and how that is answered.
fn waiting(run: &Run) -> Failure {
    let Doing::Waiting(stop) = &run.doing else { return over() };
    let asked = output::plain(&stop.message);
    let failure = Failure::new(Code::RunWaiting, format!("the run waits for a person: {asked}"))
        .with("id", stop.id.as_str())
        .with("kind", stop.kind.as_str())
        .with("reason", stop.reason.as_str())
        .with("agent", stop.agent.as_str())
        .with("request_id", stop.request_id.as_str())
        .with(
            "next_steps",
            Json::Array(stop.next_steps.iter().map(|step| Json::from(step.as_str())).collect()),
        );
    match run.envelope.metadata.get(RUN).and_then(Json::as_str) {
        Some(id) => failure.with("run", id),
        // It waits elsewhere: whoever carries the envelope answers in it.
        None => {
            let fields = match stop.kind {
                StopKind::Confirmation => "confirmation_response and confirmation_pending",
                StopKind::Clarification | StopKind::Escalation => {
                    "clarification_response and clarification_pending"
                }
            };
            failure.with("answer_in", fields)
        }
    }
}
