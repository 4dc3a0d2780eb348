//! A run that one process after the other carries on.
//! Owns: what a process is given, what the person answers. Must not: look at what it came to.

use super::outside::{Disk, Fault, Kind, Programs, Ran, Shared, Speaks};
use super::scenes::{Scene, Voice};
use crate::desk::{self, Desk};
use crate::enforcing::{self, Enforcement};
use countersign_govern::types::added::policy::CapabilityState;
use countersign_govern::types::cost::CostDimension;
use countersign_govern::types::wire::Wire;
use countersign_kernel::chunk::{self, chunks};
use countersign_kernel::grant::Approver;
use countersign_kernel::pipeline::{Pipeline, Stage};
use countersign_kernel::run::{Answer, Doing, HARD_CALL, Stop, StopKind};
use countersign_kernel::scope::File;
use countersign_models::Extractive;
use countersign_record::canonical::Score;
use countersign_record::digest::Digest;
use countersign_record::id::RunId;
use countersign_record::json::{self, Json, Number, Object};
use countersign_record::label::Label;
use countersign_record::row::{DataClass, Sealed};
use countersign_record::state::{GenericEnvelope, Minted};
use countersign_record::time::Timestamp;
use countersign_runtime::agents::{Means, Past, built_in};
use countersign_runtime::ports::agent::Agent;
use countersign_runtime::ports::command::Commands;
use countersign_runtime::ports::ledger::{self, Journal, Ledger};
use countersign_runtime::ports::model::Model;
use countersign_runtime::ports::session::{Signs, Trouble};
use countersign_runtime::ports::sources::{Eligible, Hit, Manifest, NotRead, Retrieved, Sources};
use countersign_runtime::purse::Purses;
use countersign_runtime::replay::{self, Recorded};
use countersign_runtime::run::mind::Mind;
use countersign_runtime::run::{self, Bench, Commanding, Driver, Error, Setup};
use countersign_runtime::work::{Opening, Work};
use countersign_work::command::Effect;
use countersign_work::cost::{Amounts, UNIT};
use countersign_work::score::Seen;
use countersign_work::task;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use tokio_util::sync::CancellationToken;

/// What the matter may spend, where its runs have one purse: more than any of them takes.
const CAP: u64 = 1_000_000 * UNIT;
/// Where the evidence goes.
const LEAVES_FOR: &str = "evidence.json";
const EXPORT: &str = "evidence.export_package";

/// The sources of a task, all of them of use.
struct Texts(Vec<(String, String)>);

impl Texts {
    fn text_of(&self, path: &str) -> String {
        self.0.iter().find(|(one, _)| one == path).map(|(_, text)| text.clone()).unwrap()
    }
}

impl Sources for Texts {
    fn manifest<'a>(&'a self) -> countersign_runtime::ports::Answer<'a, Result<Manifest, NotRead>> {
        let file = |(path, text): &(String, String)| File {
            path: path.clone(),
            sha256: Digest::of(text.as_bytes()),
            mtime: Number::try_from(1_750_000_000_u64).unwrap(),
            tags: Vec::new(),
        };
        let files = self.0.iter().map(file).collect();
        Box::pin(async { Ok(Manifest { files, skipped: Vec::new() }) })
    }

    fn text<'a>(
        &'a self,
        file: &'a Eligible,
    ) -> countersign_runtime::ports::Answer<'a, Result<String, NotRead>> {
        Box::pin(async { Ok(self.text_of(&file.path)) })
    }

    fn retrieve<'a>(
        &'a self,
        _: &'a str,
        files: &'a [Eligible],
    ) -> countersign_runtime::ports::Answer<'a, Result<Retrieved, NotRead>> {
        let pieces = files
            .iter()
            .flat_map(|file| chunks(&file.path, &self.text_of(&file.path), chunk::Limits::default()));
        let hit = |(at, chunk)| Hit {
            chunk,
            bm25_rank: Some(at + 1),
            embedding_rank: None,
            score: Score::of_halves(1),
        };
        let hits: Vec<Hit> = pieces.enumerate().map(hit).collect();
        let pieces = hits.len() as u64;
        Box::pin(async move { Ok(Retrieved { pieces, counts: BTreeMap::new(), hits, unread: Vec::new() }) })
    }

    fn label(&self, _: &str) -> Label {
        Label::USER
    }
}

struct Unsigned;

impl Signs for Unsigned {
    fn sign(&self, decision: Sealed) -> Result<Sealed, Trouble> {
        Ok(decision)
    }
}

/// What came into being outside: files that left.
pub(super) type Files = BTreeMap<String, Vec<Json>>;

/// A run, whoever carries it on.
pub(super) struct Carried<'s> {
    pub(super) scene: &'s Scene,
    pub(super) desk: Desk,
    pub(super) id: Option<RunId>,
    pub(super) books: Shared,
    /// What programs come to, where that is to be as another time.
    pub(super) script: Option<Vec<Ran>>,
    process: usize,
    /// Questions that the person was asked, by their names.
    pub(super) questions: BTreeSet<String>,
    /// How often the person had something done again that nobody saw the end of, or that failed.
    pub(super) agains: usize,
    pub(super) files: Files,
}

/// What a process is given.
struct Given {
    journal: Arc<dyn Journal>,
    model: Arc<dyn Model>,
    commands: Arc<dyn Commands>,
}

impl<'s> Carried<'s> {
    pub(super) fn new(scene: &'s Scene) -> Self {
        Carried {
            scene,
            desk: Desk::in_memory(&[]),
            id: None,
            books: Shared::default(),
            script: None,
            process: 0,
            questions: BTreeSet::new(),
            agains: 0,
            files: Files::new(),
        }
    }

    fn texts(&self) -> Texts {
        let text = |id: &str| self.scene.sources.iter().find(|(one, _)| *one == id).unwrap().1.to_owned();
        Texts(self.scene.task.sources.iter().map(|one| (one.path.clone(), text(&one.id))).collect())
    }

    pub(super) fn purse(&self, journal: Arc<dyn Journal>) -> Purses {
        Purses { journal, access: self.desk.access(), clock: self.clock() }
    }

    fn clock(&self) -> Arc<countersign_runtime::clock::Clock> {
        let (day, hour) = (2 + self.process / 24, self.process % 24);
        desk::clock(&format!("2026-01-{day:02}T{hour:02}:00:00Z"))
    }

    fn bench(&self, given: &Given, work: Option<Arc<Work>>) -> Bench {
        let clock = self.clock();
        let mind = Mind {
            model: Arc::clone(&given.model),
            matter: self.desk.access().matter().clone(),
            policy: self.desk.policy.hash().unwrap(),
            clock: Arc::clone(&clock),
        };
        let past = Past {
            history: None,
            history_class: DataClass::Internal,
            stores: None,
            journal: Arc::clone(&given.journal),
            access: self.desk.access(),
        };
        let sources: Arc<dyn Sources> = Arc::new(self.texts());
        if let Some(work) = work.as_ref().filter(|_| self.scene.is_capped) {
            work.fund(self.purse(Arc::clone(&given.journal)));
        }
        let means = Means {
            mind,
            sources: Some(Arc::clone(&sources)),
            past,
            clock: Arc::clone(&clock),
            work: work.clone(),
            commands: Some(Arc::clone(&given.commands)),
        };
        let agent = |stage: &Stage| {
            let name = match stage.name.as_str() {
                "contract" | "draft" | "critic" | "revision" | "integration" => {
                    format!("task_{}", stage.name)
                }
                other => other.to_owned(),
            };
            let agent: Arc<dyn Agent> = match name.as_str() {
                enforcing::NAME => Arc::new(Enforcement(means.clone())),
                name => built_in(name, &means).unwrap(),
            };
            (stage.name.clone(), agent)
        };
        Bench {
            journal: Arc::clone(&given.journal),
            access: self.desk.access(),
            clock,
            signs: Arc::new(Unsigned),
            agents: pipeline().stages.iter().map(agent).collect(),
            sources: Some(sources),
            work,
        }
    }

    fn opening(&self) -> Opening {
        let texts = self.texts();
        let sources = self.scene.task.sources.iter();
        let sources = sources.map(|one| texts.text_of(&one.path).into_bytes()).collect();
        let capability = |id: &str| CapabilityState {
            capability_id: id.to_owned(),
            version: "1".to_owned(),
            healthy: true,
        };
        let mut capabilities =
            ["draft", "evaluate", "quote_sources", "revise_by_quotes", "judge_by_rubric", "write_code"]
                .map(capability)
                .to_vec();
        capabilities.extend(task::granted(&self.scene.task).iter().map(|one| capability(one.as_str())));
        Opening { sources, files: BTreeMap::new(), capabilities, heads: BTreeMap::new() }
    }

    /// The records of the run, as its rows tell them; nothing, if nothing of it is durable.
    pub(super) async fn recorded(&self) -> Option<Work> {
        let run = self.id.as_ref()?;
        let access = self.desk.access();
        let task = self.scene.task.clone();
        match Work::read(&*self.desk.ledger, &access, run, task, BTreeMap::new()).await {
            Ok(work) => Some(work),
            Err(error) if is_nothing(&error) => None,
            Err(error) => panic!("{}: {error}", self.scene.name),
        }
    }

    /// What a process is given in which this goes wrong.
    fn given(&self, faults: &[Fault], cancel: &CancellationToken) -> Given {
        let find = |kinds: &[Kind]| faults.iter().find(|fault| kinds.contains(&fault.kind)).copied();
        let disk = Disk {
            ledger: Arc::clone(&self.desk.ledger),
            fault: find(&Kind::DISK),
            cancel: cancel.clone(),
            books: self.books.clone(),
            count: Mutex::default(),
        };
        let model: Arc<dyn Model> = match self.scene.voice {
            Voice::Quotes => Arc::new(Extractive::new()),
            Voice::Here | Voice::Elsewhere => {
                Arc::new(Speaks::new(self.scene, find(&[Kind::Mute]), self.books.clone()))
            }
        };
        let (script, books) = (self.script.as_deref(), self.books.clone());
        let commands = Programs::new(self.scene, find(&Kind::PROGRAM), script, books);
        Given { journal: Arc::new(disk), model, commands: Arc::new(commands) }
    }

    /// One process carries the run on; whether it is over. It is not, where something failed that a process can't go on without.
    pub(super) async fn process(&mut self, faults: &[Fault]) -> bool {
        if self.process == 0 && self.scene.is_capped {
            let ledger: Arc<dyn Journal> = Arc::<dyn Ledger>::clone(&self.desk.ledger);
            let caps = [CostDimension::InputTokens, CostDimension::OutputTokens];
            let caps: Amounts = caps.into_iter().map(|one| (one, CAP)).collect();
            self.purse(ledger).cap(&caps).await.unwrap();
        }
        self.process += 1;
        let cancel = CancellationToken::new();
        let given = self.given(faults, &cancel);
        let mut driver = self.opened(given).await;
        // A person who was asked because of a fault comes back later, now and then.
        let leaves_at_once = self.process.is_multiple_of(2) && !faults.is_empty();
        let ended = self.driven(&mut driver, leaves_at_once, &cancel).await;
        self.books.lock().close();
        match ended {
            Ok(is_over) => is_over,
            Err(Error::Ledger(ledger::Error::Closed) | Error::Stopped) => false,
            Err(error) => panic!("{}: {error}", self.scene.name),
        }
    }

    /// Everything that the run put down comes out byte for byte when it is decided again from what was handed over.
    pub(super) async fn replays(&self) {
        let given = self.given(&[], &CancellationToken::new());
        let recorded = Recorded::read(&self.bench(&given, None), self.id.as_ref().unwrap()).await;
        let work = Arc::new(Work::new(self.scene.task.clone(), self.opening()));
        let bench = self.bench(&given, Some(Arc::clone(&work)));
        let walked = replay::walk(&bench, &work, &recorded.unwrap().unwrap()).unwrap();
        assert_eq!(walked.difference, None, "{}", self.scene.name);
        assert!(walked.records > 0 && walked.events > 0, "{}", self.scene.name);
    }

    async fn opened(&mut self, given: Given) -> Driver {
        let looking = self.bench(&given, None);
        let told = match &self.id {
            Some(id) => match run::told(&looking, id).await {
                Ok(told) => Some(told),
                Err(error) if is_nothing(&error) => None,
                Err(error) => panic!("{}: {error}", self.scene.name),
            },
            None => None,
        };
        let recorded = self.recorded().await;
        // The rows of a run and its records are durable together.
        assert_eq!(told.is_some(), recorded.is_some(), "{}", self.scene.name);
        if let (Some(told), Some(work)) = (told, recorded) {
            return Driver::open(self.bench(&given, Some(Arc::new(work))), told).unwrap();
        }
        let work = Arc::new(Work::new(self.scene.task.clone(), self.opening()));
        let minted = Minted {
            envelope_id: "env_0000000000000001".to_owned().try_into().unwrap(),
            request_id: "req_0000000000000001".to_owned().try_into().unwrap(),
            session_id: "sess_0000000000000001".to_owned().try_into().unwrap(),
            received_at: Timestamp::try_from("2026-01-02T00:00:00Z").unwrap(),
        };
        let reading = GenericEnvelope::read(task::envelope(&self.scene.task, "ada"), minted).unwrap();
        let bench = self.bench(&given, Some(work));
        let setup = Setup { task: self.scene.task.write(), ..Setup::default() };
        let driver = Driver::begin(bench, pipeline(), reading, &setup, Label::USER).unwrap();
        self.id = Some(driver.id().clone());
        driver
    }

    /// Whether it is over.
    async fn driven(
        &mut self,
        driver: &mut Driver,
        leaves_at_once: bool,
        cancel: &CancellationToken,
    ) -> Result<bool, Error> {
        loop {
            match driver.run().doing.clone() {
                Doing::Over if self.scene.leaves => {
                    self.exported(driver).await?;
                    return Ok(true);
                }
                Doing::Over => return Ok(true),
                Doing::Ready | Doing::Called { .. } => driver.drive(cancel).await?,
                Doing::Waiting(_) if cancel.is_cancelled() => return Ok(false),
                Doing::Waiting(stop) if leaves_at_once && stop.reason != HARD_CALL => return Ok(false),
                Doing::Waiting(stop) => {
                    let answer = self.answer(&stop);
                    driver.answer(&stop.id, answer, Approver::Anybody).await?;
                }
            }
        }
    }

    /// The person has the evidence leave, as the program does it: what was begun is taken up, and what is done is not done again.
    async fn exported(&mut self, driver: &mut Driver) -> Result<(), Error> {
        let request =
            Json::from(Object::from([("destination", Json::from(LEAVES_FOR)), ("confirmed", true.into())]));
        let commanding = Commanding {
            command: EXPORT,
            key: "leaves",
            request: &request,
            needs_another: false,
            steps: &[],
            seen: &Seen::default(),
        };
        let begins = |_: &_, _: &_| -> Result<Driver, Error> { panic!("nothing is begun") };
        let (ruling, _) = driver.command(&commanding, begins).await?;
        if let Effect::Export { destination, document } = ruling.effect {
            // What is about to leave stands in the ledger before it does.
            assert!(!self.desk.of_kind("govern.side_effect_ledger_entry").await.is_empty());
            let there = self.files.entry(destination).or_default();
            if there.last() != Some(&document) {
                there.push(document);
            }
            driver.finished(&commanding, true).await?;
        }
        Ok(())
    }

    /// What the person says.
    fn answer(&mut self, stop: &Stop) -> Answer {
        self.questions.insert(stop.id.clone());
        let offered = |wanted: &str| stop.next_steps.iter().find(|one| one.starts_with(wanted)).cloned();
        match stop.kind {
            StopKind::Confirmation => Answer::Approve,
            StopKind::Clarification => panic!("{}: {stop:?}", self.scene.name),
            StopKind::Escalation => {
                let chosen = ["prefer-addendum", "send", "grant-tenfold", "accept", "yes", "stop"]
                    .iter()
                    .find_map(|one| offered(one));
                match chosen {
                    Some(option) => Answer::Choose(option),
                    None if stop.reason == HARD_CALL => panic!("{}: {stop:?}", self.scene.name),
                    None => {
                        self.agains += 1;
                        Answer::Retry
                    }
                }
            }
        }
    }
}

/// Whether nothing of a run is durable. A ledger that can't be read is another thing.
fn is_nothing(error: &Error) -> bool {
    matches!(error, Error::Missing { .. } | Error::Ledger(ledger::Error::Missing { .. }))
}

/// The pipeline of tasks, as it ships.
fn pipeline() -> Arc<Pipeline> {
    let table: serde_json::Value = toml::from_str(include_str!("../../../pipelines/task.toml")).unwrap();
    Arc::new(Pipeline::read(json::parse(table.to_string().as_bytes()).unwrap()).unwrap())
}
