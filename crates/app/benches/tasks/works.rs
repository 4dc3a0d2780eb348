//! A task that is run in this process, as `countersign run` does it.
//! Owns: the bench, the agents and the sources of each run, as the binary puts them together. Must not: decide.

use crate::enforcing::{self, Enforcement};
use crate::texts::Texts;
use countersign_govern::types::added::policy::CapabilityState;
use countersign_govern::types::wire::Wire;
use countersign_kernel::pipeline::{Pipeline, Stage};
use countersign_kernel::policy::Policy;
use countersign_kernel::run::Doing;
use countersign_models::Extractive;
use countersign_record::access::{Access, MatterAccess, Role};
use countersign_record::id::MatterId;
use countersign_record::json;
use countersign_record::label::Label;
use countersign_record::row::{DataClass, Sealed};
use countersign_record::state::{GenericEnvelope, Minted, TerminalReason};
use countersign_record::upcast;
use countersign_runtime::agents::{Means, Past, built_in};
use countersign_runtime::clock::Clock;
use countersign_runtime::ports::agent::Agent;
use countersign_runtime::ports::ledger::Journal;
use countersign_runtime::ports::session::{Signs, Trouble};
use countersign_runtime::ports::sources::Sources;
use countersign_runtime::purse::Purses;
use countersign_runtime::run::mind::Mind;
use countersign_runtime::run::{Bench, Driver, Setup};
use countersign_runtime::work::{Opening, Work};
use countersign_store::Sqlite;
use countersign_work::task::{self, Source, Task};
use countersign_work::{outcome, rely};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

const MATTER: &str = "bench";
const CAPABILITIES: [&str; 4] = ["draft", "evaluate", "quote_sources", "revise_by_quotes"];

/// A ledger, and a task that is run in it.
pub(crate) struct Works {
    journal: Arc<dyn Journal>,
    clock: Arc<Clock>,
    pipeline: Arc<Pipeline>,
    task: Task,
    /// The texts of its sources, in the order of the task.
    sources: Vec<Vec<u8>>,
}

impl Works {
    pub(crate) fn new(place: &Path, task: Task, sources: Vec<Vec<u8>>) -> Self {
        let table: serde_json::Value = toml::from_str(include_str!("../../pipelines/task.toml")).unwrap();
        let pipeline = Pipeline::read(json::parse(table.to_string().as_bytes()).unwrap()).unwrap();
        let journal = Arc::new(Sqlite::open(place, upcast::LEDGER));
        let clock = Arc::new(Clock::new(None, Some(7), [0; 32]));
        Works { journal, clock, pipeline: Arc::new(pipeline), task, sources }
    }

    /// One run, from the task to its packet.
    pub(crate) async fn run(&self) {
        let id = |prefix: &str| format!("{prefix}_{}", self.clock.fresh(prefix));
        let minted = Minted {
            envelope_id: id("env").try_into().unwrap(),
            request_id: id("req").try_into().unwrap(),
            session_id: id("sess").try_into().unwrap(),
            received_at: self.clock.now().unwrap(),
        };
        let reading = GenericEnvelope::read(task::envelope(&self.task, "bench"), minted).unwrap();
        let work = Arc::new(Work::new(self.task.clone(), self.opening()));
        let bench = self.bench(&work, &reading.envelope);
        let setup = Setup { task: self.task.write(), ..Setup::default() };
        let mut driver =
            Driver::begin(bench, Arc::clone(&self.pipeline), reading, &setup, Label::USER).unwrap();
        driver.drive(&CancellationToken::new()).await.unwrap();
        assert_eq!(driver.run().doing, Doing::Over, "{:?}", driver.run().envelope.ending);
        let ending = &driver.run().envelope.ending;
        assert_eq!(ending.terminal_reason, Some(TerminalReason::CompletedSuccessfully));
        let is_done = work.look(|desk| {
            let mut outcomes = desk.task().outcomes.iter();
            outcomes.all(|one| outcome::state(desk, &one.id).as_str() == "satisfied")
                && rely::last(desk).is_some()
        });
        assert_eq!(is_done, Some(true));
    }

    fn opening(&self) -> Opening {
        let capability = |id: &str| CapabilityState {
            capability_id: id.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            healthy: true,
        };
        Opening {
            sources: self.sources.clone(),
            files: BTreeMap::new(),
            capabilities: CAPABILITIES.map(capability).to_vec(),
            heads: BTreeMap::new(),
        }
    }

    fn bench(&self, work: &Arc<Work>, envelope: &GenericEnvelope) -> Bench {
        let (access, clock) = (access(), Arc::clone(&self.clock));
        work.fund(Purses {
            journal: Arc::clone(&self.journal),
            access: access.clone(),
            clock: Arc::clone(&clock),
        });
        let texts: BTreeMap<&str, &Vec<u8>> =
            self.task.sources.iter().map(|one| one.id.as_str()).zip(&self.sources).collect();
        let bytes = |source: &Source| texts.get(source.id.as_str()).map(|bytes| (*bytes).clone());
        let sources: Arc<dyn Sources> =
            Arc::new(Texts::new(&self.task, bytes, &envelope.identity.received_at));
        let mind = Mind {
            model: Arc::new(Extractive::new()),
            matter: access.matter().clone(),
            policy: Policy::default().hash().unwrap(),
            clock: Arc::clone(&clock),
        };
        let past = Past {
            history: None,
            history_class: DataClass::Internal,
            stores: None,
            journal: Arc::clone(&self.journal),
            access: access.clone(),
        };
        let means = Means {
            mind,
            sources: Some(Arc::clone(&sources)),
            past,
            clock: Arc::clone(&clock),
            work: Some(Arc::clone(work)),
            commands: None,
        };
        Bench {
            journal: Arc::clone(&self.journal),
            access,
            clock,
            signs: Arc::new(Unsigned),
            agents: self
                .pipeline
                .stages
                .iter()
                .map(|stage| (stage.name.clone(), agent(stage, &means)))
                .collect(),
            sources: Some(sources),
            work: Some(Arc::clone(work)),
        }
    }
}

fn agent(stage: &Stage, means: &Means) -> Arc<dyn Agent> {
    match &stage.agent {
        countersign_kernel::pipeline::Agent::BuiltIn { name } if name == enforcing::NAME => {
            Arc::new(Enforcement(means.clone()))
        }
        countersign_kernel::pipeline::Agent::BuiltIn { name } => built_in(name, means).unwrap(),
        other => panic!("{other:?} is no agent of a task"),
    }
}

fn access() -> MatterAccess {
    let matter = MatterId::try_from(MATTER).unwrap();
    let principal = "bench".try_into().unwrap();
    Access::new(principal, BTreeMap::from([(matter.clone(), Role::Admin)])).to(&matter).unwrap()
}

/// Nobody decides anything here.
struct Unsigned;

impl Signs for Unsigned {
    fn sign(&self, decision: Sealed) -> Result<Sealed, Trouble> {
        Ok(decision)
    }
}

/// How many transactions were committed meanwhile. SQLite counts them in the shared memory of the log, in the third word of
/// its header; nobody else writes this ledger.
pub(crate) fn commits<T>(place: &Path, work: impl FnOnce() -> T) -> u32 {
    let shared = place.join("matters").join(MATTER).join("ledger.sqlite-shm");
    let count = || {
        let mut header = [0; 12];
        match File::open(&shared) {
            Ok(mut file) => file.read_exact(&mut header).unwrap(),
            Err(_) => return 0,
        }
        u32::from_ne_bytes([header[8], header[9], header[10], header[11]])
    };
    let before = count();
    work();
    count().wrapping_sub(before)
}
