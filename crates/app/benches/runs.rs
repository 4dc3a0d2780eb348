//! What a run costs beside its agents: handoffs in memory, durable runs of five stages, `process` from start to end.
//! Peer: LangGraph with its SQLite checkpointer, the same five stages, each durable before the next, in another process that
//! times itself (COUNTERSIGN_BENCH_PYTHON names an interpreter that has it; `./bench` sets it).
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a bench fails by panicking")]

#[path = "runs/cold.rs"]
mod cold;
#[path = "runs/memory.rs"]
mod memory;
#[path = "runs/peer.rs"]
mod peer;

use countersign_kernel::pipeline::{self, Limits, Pipeline, Stage};
use countersign_record::access::{Access, MatterAccess, Role};
use countersign_record::id::MatterId;
use countersign_record::json::{self, Json, Object};
use countersign_record::label::Label;
use countersign_record::row::Sealed;
use countersign_record::state::{GenericEnvelope, Minted, TerminalReason};
use countersign_record::upcast;
use countersign_runtime::clock::Clock;
use countersign_runtime::ports::Answer;
use countersign_runtime::ports::agent::{Agent, Given, Handoff, Said, Unseen};
use countersign_runtime::ports::ledger::Journal;
use countersign_runtime::ports::session::{Signs, Trouble};
use countersign_runtime::run::{self, Bench as Works, Driver, Setup};
use countersign_store::Sqlite;
use countersign_testkit::bench::{Bar, Bench, Side};
use memory::InMemory;
use peer::LangGraph;
use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

const STAGES: [&str; 5] = ["one", "two", "three", "four", "five"];
const MATTER: &str = "bench";
const AT_ONCE: u64 = 100;
/// So many runs in a round, or there would not be a hundred at once for most of it.
const OURS_LEAST: u64 = 4_000;
const THEIRS_LEAST: u64 = 200;
/// And so many one after the other: our ledger is closed while the peer has its turn, and a log that still grows is slower.
const OURS_ALONE_LEAST: u64 = 2_000;
/// Handoffs that are validated, hashed and recorded in a second.
const HANDOFFS_LEAST: f64 = 50_000.0;
/// Runs in a round of handoffs in memory, and rounds.
const RUNS: u64 = 2_000;
const ROUNDS: usize = 9;

/// As in the binary.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    let scratch = Scratch::new();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let mut bench = Bench::default();
    // `cargo bench … -- memory` measures that alone.
    let wants = |part: &str| {
        let named = ["memory", "durable", "cold"].map(|part| std::env::args().any(|word| word == part));
        named == [false; 3] || std::env::args().any(|word| word == part)
    };
    if wants("memory") {
        in_memory(&mut bench, &runtime);
    }
    if wants("durable") {
        durable(&mut bench, &runtime, &scratch.0);
    }
    if wants("cold") {
        cold::measure(&mut bench, &scratch.0);
    }
    bench.finish();
}

/// The whole way of a handoff, but for the disk: what an agent hands over is read as an envelope, decided upon, hashed,
/// chained, kept.
fn in_memory(bench: &mut Bench, runtime: &Runtime) {
    let journal = Arc::new(InMemory::default());
    let desk = Desk::new(Arc::clone(&journal) as Arc<dyn Journal>);
    let mut rates: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            journal.forget();
            let took = runtime.block_on(desk.runs(RUNS));
            assert_eq!(journal.handoffs(), RUNS * STAGES.len() as u64);
            (RUNS * STAGES.len() as u64) as f64 / took.as_secs_f64()
        })
        .collect();
    rates.sort_by(f64::total_cmp);
    let median = rates[ROUNDS / 2];
    bench.print(
        "handoffs in runs of five stages: validated, hashed, recorded in memory",
        &format!("countersign {:.1} k/s", median / 1e3),
        "50 k/s",
        median / HANDOFFS_LEAST,
        Bar::AtLeast(1.0),
    );
}

fn durable(bench: &mut Bench, runtime: &Runtime, scratch: &Path) {
    let one = "durable runs of five stages without effects, one at a time (runs)";
    let many = "the same, 100 at once, each round in a new ledger (runs); aim: 100";
    let desk = Desk::on_disk(&scratch.join("alone"));
    let commits = commits(&scratch.join("alone"), || runtime.block_on(desk.runs(100))) / 100.0;
    let Ok(python) = std::env::var("COUNTERSIGN_BENCH_PYTHON") else {
        let missing = "COUNTERSIGN_BENCH_PYTHON is not set";
        bench.print(one, "not measured", missing, 0.0, Bar::AtLeast(6.0));
        bench.print(many, "not measured", missing, 0.0, Bar::AtLeast(60.0));
        return;
    };
    let mut peer = LangGraph::new(&python, scratch, 1);
    let name = format!("countersign, {commits:.1} commits a run,");
    let ours =
        Side::timed(&name, |times| scaled(times, OURS_ALONE_LEAST, |runs| runtime.block_on(desk.runs(runs))));
    let theirs = Side::timed("LangGraph", |times| peer.took(times));
    bench.compare(one, ours, theirs, Bar::AtLeast(6.0));
    drop(peer);
    runtime.block_on(desk.check());

    let place = scratch.join("many");
    let mut desk = Arc::new(Desk::on_disk(&place));
    let shared = self::commits(&place, || runtime.block_on(desk.runs_at_once(OURS_LEAST)));
    let mut peer = LangGraph::new(&python, scratch, AT_ONCE);
    let name = format!("countersign, {:.2} commits a run,", shared / OURS_LEAST as f64);
    let mut round = 0;
    let ours = Side::timed(&name, |times| {
        // In a ledger of its own: it would else hold twenty times the runs of the peer's, and the larger the slower.
        round += 1;
        desk = Arc::new(Desk::on_disk(&scratch.join(format!("many-{round}"))));
        scaled(times, OURS_LEAST, |runs| runtime.block_on(desk.runs_at_once(runs)))
    });
    let theirs = Side::timed("LangGraph", |times| scaled(times, THEIRS_LEAST, |runs| peer.took(runs)));
    bench.compare(many, ours, theirs, Bar::AtLeast(60.0));
    runtime.block_on(desk.check());
}

/// The time that `times` would take, measured on at least `least` of them.
fn scaled(times: u64, least: u64, work: impl FnOnce(u64) -> Duration) -> Duration {
    let really = times.max(least);
    work(really).mul_f64(times as f64 / really as f64)
}

/// How many transactions were committed meanwhile. SQLite counts them in the shared memory of the log, in the third word of
/// its header; nobody else writes this ledger.
fn commits<T>(place: &Path, work: impl FnOnce() -> T) -> f64 {
    let shared = place.join("matters").join(MATTER).join("ledger.sqlite-shm");
    let count = || {
        let mut header = [0; 12];
        match fs::File::open(&shared) {
            Ok(mut file) => file.read_exact(&mut header).unwrap(),
            Err(_) => return 0,
        }
        u32::from_ne_bytes([header[8], header[9], header[10], header[11]])
    };
    let before = count();
    work();
    f64::from(count().wrapping_sub(before))
}

/// What runs are carried on with.
struct Desk {
    works: Arc<Works>,
    pipeline: Arc<Pipeline>,
    document: Json,
    /// One of them, at its end.
    last: std::sync::Mutex<Option<Driver>>,
}

impl Desk {
    fn on_disk(dir: &Path) -> Self {
        Desk::new(Arc::new(Sqlite::open(dir, upcast::LEDGER)))
    }

    fn new(journal: Arc<dyn Journal>) -> Self {
        let agent = |name: &&str| {
            let agent: Arc<dyn Agent> = Arc::new(Trivial::new(name));
            ((*name).to_owned(), agent)
        };
        let works = Works {
            journal,
            access: access(),
            clock: Arc::new(Clock::new(None, Some(7), [0; 32])),
            signs: Arc::new(Unsigned),
            agents: STAGES.iter().map(agent).collect(),
            sources: None,
            work: None,
        };
        let document = json::parse(br#"{"raw_input":"Do it.","user_id":"u"}"#).unwrap();
        Desk {
            works: Arc::new(works),
            pipeline: Arc::new(five_stages()),
            document,
            last: std::sync::Mutex::default(),
        }
    }

    /// One run, from a document to its end.
    async fn run(&self) -> Driver {
        let clock = &self.works.clock;
        let id = |prefix: &str| format!("{prefix}_{}", clock.fresh(prefix));
        let minted = Minted {
            envelope_id: id("env").try_into().unwrap(),
            request_id: id("req").try_into().unwrap(),
            session_id: id("sess").try_into().unwrap(),
            received_at: clock.now().unwrap(),
        };
        let reading = GenericEnvelope::read(self.document.clone(), minted).unwrap();
        let setup = Setup::default();
        let (works, pipeline) = (Arc::clone(&self.works), Arc::clone(&self.pipeline));
        let mut driver = Driver::begin(works, pipeline, reading, &setup, Label::USER).unwrap();
        driver.drive(&CancellationToken::new()).await.unwrap();
        let envelope = &driver.run().envelope;
        assert_eq!(envelope.ending.terminal_reason, Some(TerminalReason::CompletedSuccessfully));
        assert_eq!(envelope.progress.outputs.len(), STAGES.len());
        driver
    }

    async fn runs(&self, times: u64) -> Duration {
        let start = Instant::now();
        for _ in 0..times {
            let last = self.run().await;
            *self.last.lock().unwrap() = Some(last);
        }
        start.elapsed()
    }

    async fn runs_at_once(self: &Arc<Self>, times: u64) -> Duration {
        let left = Arc::new(AtomicU64::new(times));
        let start = Instant::now();
        let worker = |_| {
            let (desk, left) = (Arc::clone(self), Arc::clone(&left));
            let take = |left: u64| left.checked_sub(1);
            tokio::spawn(async move {
                while left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok() {
                    let last = desk.run().await;
                    *desk.last.lock().unwrap() = Some(last);
                }
            })
        };
        let workers: Vec<_> = (0..AT_ONCE).map(worker).collect();
        for worker in workers {
            worker.await.unwrap();
        }
        start.elapsed()
    }

    /// What was measured was kept: the rows of a run tell it as it ended.
    async fn check(&self) {
        let last = self.last.lock().unwrap().take().unwrap();
        let told = run::told(&self.works, last.id()).await.unwrap();
        assert_eq!(told.run, *last.run());
    }
}

fn access() -> MatterAccess {
    let matter = MatterId::try_from(MATTER).unwrap();
    let principal = "bench".try_into().unwrap();
    Access::new(principal, BTreeMap::from([(matter.clone(), Role::Admin)])).to(&matter).unwrap()
}

fn five_stages() -> Pipeline {
    let stage = |(at, name): (usize, &&str)| Stage {
        name: (*name).to_owned(),
        output_key: (*name).to_owned(),
        agent: pipeline::Agent::BuiltIn { name: "trivial".to_owned() },
        rules: Vec::new(),
        default_next: STAGES.get(at + 1).map(|next| (*next).to_owned()),
        error_next: None,
    };
    let stages = STAGES.iter().enumerate().map(stage).collect();
    Pipeline { name: "five".to_owned(), stages, limits: Limits::default() }
}

/// An agent with nothing to do. It hands over an envelope that nobody has checked yet, another one in each run.
struct Trivial {
    said: Object,
}

impl Trivial {
    fn new(name: &str) -> Self {
        let text = format!(
            "{{\"agent\":\"{name}\",\"goal\":\"Do it.\",\"timestamp\":\"2026-01-02T03:04:05Z\",\"turn_id\":1,\
             \"source\":\"external\",\"version\":\"1.0\",\"escalate\":false,\"reason\":null,\
             \"provenance\":{{\"files\":[],\"history_refs\":[],\"eligibility\":[]}},\"payload\":{{\"done\":true}}}}"
        );
        match json::parse(text.as_bytes()).unwrap() {
            Json::Object(said) => Trivial { said },
            other => panic!("{other:?}"),
        }
    }
}

impl Agent for Trivial {
    fn unseen(&self, _: Given<'_>) -> Unseen {
        Unseen::Repeatable
    }

    fn is_silent(&self) -> bool {
        true
    }

    fn act<'a>(&'a self, given: Given<'a>, _: &'a CancellationToken) -> Answer<'a, Said> {
        let mut said = self.said.clone();
        said.insert("request_id", given.envelope.identity.request_id.as_str());
        let handoff = Handoff::Theirs(Json::Object(said));
        let said = Said { handoff, llm_calls: 0, label: Label::NOTHING, receipts: Vec::new() };
        Box::pin(std::future::ready(said))
    }
}

/// Nobody decides anything here.
struct Unsigned;

impl Signs for Unsigned {
    fn sign(&self, decision: Sealed) -> Result<Sealed, Trouble> {
        Ok(decision)
    }
}

/// A directory on the disk that holds the target directory, gone at the end. Not in `/tmp`, which may be memory.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("runs-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Scratch(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}
