//! Runs of tasks in which something goes wrong, at places that a seed thinks of: they end as if nothing had been, or ask.
//! Owns: small tasks with different ends, the processes that carry one run on after each other, the faults. Must not: forgive a lost or
//! doubled effect, or a record that breaks the contract.

use crate::desk::{self, Desk, Fails, Played};
use countersign_govern::check::{Severity, check};
use countersign_govern::reach;
use countersign_govern::types::cost::{TaskCostRecord, TaskCostRecordCostClass as Class};
use countersign_govern::types::wire::Wire;
use countersign_kernel::chunk::{self, chunks};
use countersign_kernel::pipeline::Pipeline;
use countersign_kernel::run::{Answer, Doing, HARD_CALL, Stop, StopKind};
use countersign_kernel::scope::File;
use countersign_models::Extractive;
use countersign_record::canonical::Score;
use countersign_record::digest::Digest;
use countersign_record::id::RunId;
use countersign_record::json::{self, Number};
use countersign_record::label::Label;
use countersign_record::row::{DataClass, Sealed};
use countersign_record::state::{GenericEnvelope, Minted};
use countersign_record::time::Timestamp;
use countersign_runtime::agents::{Means, Past, built_in};
use countersign_runtime::ports::ledger::{Blob, Journal, Ledger, PAGE_ROWS_MAX, Query, Select};
use countersign_runtime::ports::model::Model;
use countersign_runtime::ports::session::{Signs, Trouble};
use countersign_runtime::ports::sources::{Eligible, Hit, Manifest, NotRead, Retrieved, Sources};
use countersign_runtime::run::mind::Mind;
use countersign_runtime::run::{self, Bench, Driver, Error, Setup};
use countersign_runtime::work::{Opening, Work};
use countersign_testkit::forge::{file, key};
use countersign_verify::packet::{self, Content, Entry, Parts, Statement};
use countersign_verify::report::Outcome as Verdict;
use countersign_verify::verify;
use countersign_work::task::Task;
use countersign_work::{artifact, outcome, rely};
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Seeds, if nobody says how many: `COUNTERSIGN_SIMULATION_SEEDS`.
const SEEDS: u64 = 1_000;
/// Of so many runs in which something went wrong the packet of one is verified: that takes longer than the run.
const VERIFIED_EACH: u64 = 23;
/// Processes that carry on one run, at most.
const PROCESSES_MAX: usize = 24;

/// What a task is run with, and what a model says that it names.
struct Scene {
    name: &'static str,
    sources: &'static [(&'static str, &'static str)],
    /// Nothing for the model that quotes.
    replies: &'static [&'static str],
    is_remote: bool,
}

const LEASE: &str = "# Lease\n\nThe lease of the warehouse ends on 31 May 2027.\n\n\
    The lease of the warehouse ends early if the rent stays unpaid for 60 days.\n\nThe rent is 900 euros a month.\n";
const ADDENDUM: &str = "# Addendum\n\nThe lease of the warehouse ends on 30 June 2028.\n";

const PLAIN: &str = r#"{
  "schema_version": "1.0", "id": "lease-memo", "title": "Memo", "goal": "Say when the lease ends.",
  "artifacts": [{"id": "memo", "path": "memo.md", "kind": "markdown", "title": "Memo",
    "sections": [{"id": "term", "heading": "Term", "ask": "When does the lease of the warehouse end?", "quotes": 1}]}],
  "sources": [{"id": "lease", "path": "sources/lease.md", "kind": "document", "trust_basis": "user_supplied",
    "verified_by": "ana", "tier": 2}],
  "outcomes": [{"id": "term-stated", "statement": "The memo says when the lease ends.", "section": "term",
    "criteria": [
      {"id": "has-term", "text": "There is a section on the term.", "basis": "deterministic_check", "required": true,
        "check": {"kind": "section", "heading": "Term"}, "threshold": 1},
      {"id": "grounded", "text": "Every sentence stands in a source.", "basis": "source_grounded", "required": true,
        "threshold": 1, "weight": 3}]}]
}"#;

/// The text of the memo, as a model writes it.
const WRITTEN: &str =
    "# Memo\n\n## Term\n\nThe lease of the warehouse ends on 31 May 2027. [sources/lease.md:3]\n";

fn scenes() -> Vec<(Scene, String)> {
    let lease: &[(&str, &str)] = &[("lease", LEASE)];
    let both: &[(&str, &str)] = &[("lease", LEASE), ("addendum", ADDENDUM)];
    let scene = |name, sources, replies, is_remote| Scene { name, sources, replies, is_remote };
    let with = |members: &str| PLAIN.replace(r#""outcomes": ["#, &format!("{members}, \"outcomes\": ["));
    let more = r#"{"id": "two-quotes", "text": "The term is told with what may change it.", "basis": "deterministic_check",
        "required": true, "check": {"kind": "mentions", "all": ["60 days"]}, "threshold": 1},
      {"id": "grounded""#;
    let second = r#""tier": 2}, {"id": "addendum", "path": "sources/addendum.md", "kind": "document",
        "trust_basis": "user_supplied", "verified_by": "ana", "tier": 2}"#;
    vec![
        (scene("passes", lease, &[], false), PLAIN.to_owned()),
        (scene("is mended", lease, &[], false), PLAIN.replace(r#"{"id": "grounded""#, more)),
        (
            scene("asks which source counts", both, &[], false),
            with(r#""policies": {"claim_support": {"contradiction": "human_review_required"}}"#)
                .replace(r#""tier": 2}"#, second),
        ),
        (
            scene("is agreed on first", lease, &[], false),
            with(r#""policies": {"approval": {"contract": "required"}}"#),
        ),
        (scene("is written by a model", lease, &[WRITTEN], false), PLAIN.to_owned()),
        (scene("is written elsewhere", lease, &[WRITTEN], true), PLAIN.to_owned()),
        (scene("has a small budget", lease, &[WRITTEN], false), with(r#""budget": {"output_tokens": 100}"#)),
    ]
}

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

/// How the ledger fails one process.
#[derive(Clone, Copy, Debug)]
enum Fault {
    /// It takes so many appends and then no more.
    After(u32),
    /// The same, but the first that fails is durable.
    Unheard(u32),
    /// The model does not answer its next question.
    Mute,
    /// A signal comes.
    Stop,
}

/// What a run came to.
#[derive(Debug, PartialEq, Eq)]
struct End {
    states: Vec<&'static str>,
    status: Option<&'static str>,
    texts: Vec<(String, u64, String)>,
}

/// A run, whoever carries it on.
struct Carried<'s> {
    scene: &'s Scene,
    task: Task,
    desk: Desk,
    id: Option<RunId>,
    process: usize,
    /// Questions to the model that were made, and how often a person had one made again.
    asked: usize,
    agains: usize,
}

impl<'s> Carried<'s> {
    fn new(scene: &'s Scene, task: &str) -> Self {
        let task = Task::read_whole(&json::parse(task.as_bytes()).unwrap()).unwrap();
        Carried { scene, task, desk: Desk::in_memory(&[]), id: None, process: 0, asked: 0, agains: 0 }
    }

    fn texts(&self) -> Texts {
        let text = |id: &str| self.scene.sources.iter().find(|(one, _)| *one == id).unwrap().1.to_owned();
        Texts(self.task.sources.iter().map(|one| (one.path.clone(), text(&one.id))).collect())
    }

    fn model(&self, is_mute: bool) -> Option<Arc<Played>> {
        let replies: Vec<&str> = if is_mute {
            vec![crate::desk::FAIL]
        } else {
            self.scene.replies.iter().copied().cycle().take(9).collect()
        };
        (!self.scene.replies.is_empty()).then(|| {
            Arc::new(match self.scene.is_remote {
                true => Played::remote(crate::desk::HOST, &replies),
                false => Played::here(&replies),
            })
        })
    }

    fn bench(&self, journal: Arc<dyn Journal>, model: Arc<dyn Model>, work: Option<Arc<Work>>) -> Bench {
        let clock = desk::clock(&format!("2026-01-02T{:02}:00:00Z", self.process));
        let mind = Mind {
            model,
            matter: self.desk.access().matter().clone(),
            policy: self.desk.policy.hash().unwrap(),
            clock: Arc::clone(&clock),
        };
        let past = Past {
            history: None,
            history_class: DataClass::Internal,
            stores: None,
            journal: Arc::clone(&journal),
            access: self.desk.access(),
        };
        let sources: Arc<dyn Sources> = Arc::new(self.texts());
        let means = Means {
            mind,
            sources: Some(Arc::clone(&sources)),
            past,
            clock: Arc::clone(&clock),
            work: work.clone(),
            commands: None,
        };
        let pipeline = pipeline();
        let agent = |stage: &countersign_kernel::pipeline::Stage| {
            let name = match stage.name.as_str() {
                "contract" | "draft" | "critic" | "revision" | "integration" => {
                    format!("task_{}", stage.name)
                }
                other => other.to_owned(),
            };
            Some((stage.name.clone(), built_in(&name, &means)?))
        };
        Bench {
            journal,
            access: self.desk.access(),
            clock,
            signs: Arc::new(Unsigned),
            agents: pipeline.stages.iter().filter_map(agent).collect(),
            sources: Some(sources),
            work,
        }
    }

    fn opening(&self) -> Opening {
        let texts = self.texts();
        let sources = self.task.sources.iter().map(|one| texts.text_of(&one.path).into_bytes()).collect();
        let capability = |id: &str| countersign_govern::types::added::policy::CapabilityState {
            capability_id: id.to_owned(),
            version: "1".to_owned(),
            healthy: true,
        };
        let capabilities =
            ["draft", "evaluate", "quote_sources", "revise_by_quotes"].map(capability).to_vec();
        Opening { sources, files: BTreeMap::new(), capabilities, heads: BTreeMap::new() }
    }

    /// The records of the run, as its rows tell them; nothing, if nothing of it is durable.
    async fn recorded(&self) -> Option<Work> {
        let run = self.id.as_ref()?;
        let access = self.desk.access();
        let read = Work::read(&*self.desk.ledger, &access, run, self.task.clone(), BTreeMap::new()).await;
        read.ok()
    }

    /// One process carries the run on, until it is over or its ledger fails.
    async fn process(&mut self, fault: Option<Fault>) -> Option<End> {
        self.process += 1;
        let ledger: Arc<dyn Journal> = Arc::<dyn Ledger>::clone(&self.desk.ledger);
        let journal: Arc<dyn Journal> = match fault {
            Some(Fault::After(appends)) => Fails::after(ledger, appends),
            Some(Fault::Unheard(appends)) => Fails::unheard(ledger, appends),
            Some(Fault::Mute | Fault::Stop) | None => ledger,
        };
        let is_mute = matches!(fault, Some(Fault::Mute));
        let played = self.model(is_mute);
        let model: Arc<dyn Model> = match &played {
            Some(played) => played.clone(),
            None => Arc::new(Extractive::new()),
        };
        let mut driver = self.opened(journal, model).await;
        let cancel = CancellationToken::new();
        if matches!(fault, Some(Fault::Stop)) {
            cancel.cancel();
        }
        let ended = self.driven(&mut driver, is_mute, &cancel).await;
        self.asked += played.map_or(0, |played| played.requests().len());
        match ended {
            Ok(true) => Some(self.end().await),
            Ok(false) | Err(Error::Ledger(_) | Error::Stopped) => None,
            Err(error) => panic!("{}: {error}", self.scene.name),
        }
    }

    async fn opened(&mut self, journal: Arc<dyn Journal>, model: Arc<dyn Model>) -> Driver {
        let recorded = self.recorded().await;
        let looking = self.bench(Arc::clone(&journal), Arc::clone(&model), None);
        let told = match &self.id {
            Some(id) => run::told(&looking, id).await.ok(),
            None => None,
        };
        if let (Some(told), Some(work)) = (told, recorded) {
            let work = Arc::new(work);
            return Driver::open(self.bench(journal, model, Some(work)), told).unwrap();
        }
        // Nothing of it is durable.
        let work = Arc::new(Work::new(self.task.clone(), self.opening()));
        let minted = Minted {
            envelope_id: "env_0000000000000001".to_owned().try_into().unwrap(),
            request_id: "req_0000000000000001".to_owned().try_into().unwrap(),
            session_id: "sess_0000000000000001".to_owned().try_into().unwrap(),
            received_at: Timestamp::try_from("2026-01-02T00:00:00Z").unwrap(),
        };
        let reading = GenericEnvelope::read(self.task.envelope("ada"), minted).unwrap();
        let bench = self.bench(journal, model, Some(work));
        let setup = Setup { task: self.task.write(), ..Setup::default() };
        let driver = Driver::begin(bench, pipeline(), reading, &setup, Label::USER).unwrap();
        self.id = Some(driver.id().clone());
        driver
    }

    /// Whether it is over. Where the model says nothing the person comes back later.
    async fn driven(
        &mut self,
        driver: &mut Driver,
        is_mute: bool,
        cancel: &CancellationToken,
    ) -> Result<bool, Error> {
        loop {
            match driver.run().doing.clone() {
                Doing::Over => return Ok(true),
                Doing::Ready | Doing::Called { .. } => driver.drive(cancel).await?,
                Doing::Waiting(stop) if is_mute && stop.reason == "model_failed" => return Ok(false),
                Doing::Waiting(stop) => {
                    let answer = self.answer(&stop);
                    driver.answer(&stop.id, answer, countersign_kernel::grant::Approver::Anybody).await?;
                }
            }
        }
    }

    /// What the person says.
    fn answer(&mut self, stop: &Stop) -> Answer {
        let offered = |wanted: &str| stop.next_steps.iter().find(|one| one.starts_with(wanted)).cloned();
        match stop.kind {
            StopKind::Confirmation => Answer::Approve,
            StopKind::Clarification => panic!("{}: {stop:?}", self.scene.name),
            StopKind::Escalation => {
                let chosen = ["prefer-addendum", "send", "grant-tenfold", "accept"]
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

    /// Anybody can verify the packet of the run, whatever went wrong on the way.
    async fn verifies(&self, seed: u64) {
        let (access, run) = (self.desk.access(), self.id.clone().unwrap());
        let (mut rows, mut after) = (Vec::new(), Some(0));
        while let Some(place) = after {
            let query = Query { select: Select::All, after: place, up_to: u64::MAX, limit: PAGE_ROWS_MAX };
            let page = self.desk.ledger.read(&access, query).await.unwrap();
            rows.extend(page.rows);
            after = page.next;
        }
        let mut blobs = BTreeMap::new();
        for named in rows.iter().flat_map(|row| &row.blobs) {
            let Blob::Present(bytes) = self.desk.ledger.blob(&access, named.digest).await.unwrap() else {
                panic!("nothing was erased");
            };
            let (digest, size, content) = (named.digest, named.size, Content::Present(bytes));
            blobs.insert(digest, packet::Blob { digest, size, content });
        }
        let statement = Statement::of(Parts {
            matter: access.matter().clone(),
            run,
            made_at: Timestamp::try_from("2026-01-05T00:00:00Z").unwrap(),
            made_by: access.principal().clone(),
            made_with: "countersign".to_owned(),
            task: self.task.write().unwrap(),
            files: BTreeMap::new(),
            rows: rows.into_iter().map(|row| Entry::Whole(Box::new(row))).collect(),
            anchor: None,
            blobs: blobs.into_values().collect(),
        });
        let report = verify(&file(&statement.unwrap(), &key(1)), &[]);
        assert_eq!(
            report.result,
            Verdict::Verified,
            "{}: seed {seed}: {:?}",
            self.scene.name,
            report.failures
        );
    }

    /// What the run came to; every record of it keeps the contract.
    async fn end(&self) -> End {
        let work = self.recorded().await.unwrap();
        let end = work.look(|desk| {
            let world = desk.world();
            let wrong: Vec<String> = check(&world)
                .iter()
                .filter(|one| one.severity == Severity::Error)
                .map(|one| format!("{} {} {}", one.row, one.code, one.message))
                .chain(reach::contradictions(&world).iter().map(|one| format!("{} {}", one.row, one.message)))
                .collect();
            assert!(wrong.is_empty(), "{}: {wrong:?}", self.scene.name);
            let is_question = |one: &TaskCostRecord| one.cost_class == Class::LogicalLlmWork;
            let counted = desk.all::<TaskCostRecord>().filter(is_question).count();
            assert!(counted <= self.asked, "{}: {counted} of {}", self.scene.name, self.asked);
            let heads = desk.task().artifacts.iter().filter_map(|one| artifact::head(desk, &one.id));
            let states = desk.task().outcomes.iter().map(|one| outcome::state(desk, &one.id).as_str());
            let status = rely::last(desk).map(|packet| packet.reliance_derivation.status.as_str());
            (states.collect(), status, heads.collect::<Vec<_>>())
        });
        let (states, status, heads) = end.unwrap();
        let text = |head: artifact::Version| {
            (self.desk.access().matter().to_string(), head.number, work.text(&head.content).unwrap())
        };
        End { states, status, texts: heads.into_iter().map(text).collect() }
    }
}

/// The pipeline of tasks; none of these has code, which the enforcer looks at.
fn pipeline() -> Arc<Pipeline> {
    let mut table: serde_json::Value = toml::from_str(include_str!("../../pipelines/task.toml")).unwrap();
    let stages = table["stages"].as_array_mut().unwrap();
    stages.retain(|stage| stage["name"] != "enforcement");
    stages.iter_mut().filter(|stage| stage["name"] == "draft").for_each(|stage| {
        stage["default_next"] = "critic".into();
    });
    Arc::new(Pipeline::read(json::parse(table.to_string().as_bytes()).unwrap()).unwrap())
}

/// The next number of a seed.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// Carries a run on, with the faults that a seed thinks of; without a seed nothing goes wrong.
async fn carried(scene: &Scene, task: &str, seed: Option<u64>) -> (End, usize, usize) {
    let mut run = Carried::new(scene, task);
    let mut state = seed.unwrap_or_default();
    let faults = if seed.is_some() { 1 + next(&mut state) % 4 } else { 0 };
    for at in 0..PROCESSES_MAX {
        let fault = (at < usize::try_from(faults).unwrap()).then(|| {
            let appends = u32::try_from(next(&mut state) % 14).unwrap();
            match next(&mut state) % 5 {
                0 | 1 => Fault::After(appends),
                2 | 3 => Fault::Unheard(appends),
                _ => Fault::Mute,
            }
        });
        if let Some(end) = run.process(fault).await {
            if let Some(seed) = seed.filter(|seed| seed % VERIFIED_EACH == 0) {
                run.verifies(seed).await;
            }
            return (end, run.asked, run.agains);
        }
    }
    panic!("{}: seed {seed:?}: it does not end", scene.name);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_fails_a_run_ends_as_without_it_or_asks() {
    let seeds = std::env::var("COUNTERSIGN_SIMULATION_SEEDS").ok().and_then(|seeds| seeds.parse().ok());
    let scenes = Arc::new(scenes());
    let mut whole = Vec::new();
    for (scene, task) in scenes.iter() {
        let (end, asked, _) = carried(scene, task, None).await;
        assert!(end.status.is_some(), "{}: {end:?}", scene.name);
        assert_eq!(asked, scene.replies.len(), "{}", scene.name);
        whole.push(end);
    }
    let whole = Arc::new(whole);
    let mut working = tokio::task::JoinSet::new();
    for half in 0..2_u64 {
        let (scenes, whole) = (Arc::clone(&scenes), Arc::clone(&whole));
        working.spawn(async move {
            for seed in (half..seeds.unwrap_or(SEEDS)).step_by(2) {
                let at = usize::try_from(seed).unwrap() % scenes.len();
                let (scene, task) = &scenes[at];
                let (end, asked, agains) = carried(scene, task, Some(seed)).await;
                assert_eq!(end, whole[at], "{}: seed {seed}", scene.name);
                if scene.is_remote {
                    // What left the machine left it once, and again only if a person said so.
                    assert!(asked <= scene.replies.len() + agains, "seed {seed}: {asked} after {agains}");
                }
            }
        });
    }
    while let Some(done) = working.join_next().await {
        done.unwrap();
    }
}

/// Who stops a run gets it back as it was, however often: it goes on from there to the same end.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_is_stopped_goes_on() {
    for (scene, task) in scenes().iter().filter(|(scene, _)| scene.replies.is_empty()) {
        let (whole, ..) = carried(scene, task, None).await;
        let mut run = Carried::new(scene, task);
        for _ in 0..3 {
            let stopped = run.process(Some(Fault::Stop)).await;
            assert_eq!(stopped, None, "{}", scene.name);
        }
        let end = run.process(None).await;
        assert_eq!(end.as_ref(), Some(&whole), "{}", scene.name);
        run.verifies(0).await;
    }
}
