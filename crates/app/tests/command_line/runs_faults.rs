//! A run whose ledger stops taking rows, at every place: it opens again, and ends as if nothing had been.
//! Owns: the default pipeline in this process, on a folder of its own. Must not: forgive a byte.

use crate::desk::{self, Desk, Fails};
use countersign_kernel::chunk::{self, chunks};
use countersign_kernel::pipeline::Pipeline;
use countersign_kernel::run::Doing;
use countersign_kernel::scope::File;
use countersign_models::Extractive;
use countersign_record::canonical::Score;
use countersign_record::digest::Digest;
use countersign_record::id::RunId;
use countersign_record::json::{self, Number};
use countersign_record::label::Label;
use countersign_record::row::{DataClass, Sealed};
use countersign_record::state::{GenericEnvelope, Minted, Reading};
use countersign_record::time::{Instant, Timestamp};
use countersign_runtime::agents::{Means, Past, built_in};
use countersign_runtime::clock::{Clock, TICK_NANOS};
use countersign_runtime::ports::Answer;
use countersign_runtime::ports::ledger::{Journal, Ledger};
use countersign_runtime::ports::session::{Signs, Trouble};
use countersign_runtime::ports::sources::{Eligible, Hit, Manifest, NotRead, Retrieved, Sources};
use countersign_runtime::run::mind::Mind;
use countersign_runtime::run::{self, Bench, Driver, Error, Setup};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use tokio_util::sync::CancellationToken;

const BEGAN: &str = "2026-01-02T03:04:05Z";
const QUESTION: &str = "When does the lease of the harbour end?";
const STAGES: [&str; 7] = ["perception", "intent", "plan", "execution", "draft", "critic", "integration"];

/// A folder whose files are all of use.
struct Folder(PathBuf);

impl Folder {
    fn file(&self, path: &str) -> File {
        let bytes = std::fs::read(self.0.join(path)).unwrap();
        File {
            path: path.to_owned(),
            sha256: Digest::of(&bytes),
            mtime: Number::try_from(1_750_000_000_u64).unwrap(),
            tags: Vec::new(),
        }
    }

    fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.0.join(path)).unwrap()
    }
}

impl Sources for Folder {
    fn manifest<'a>(&'a self) -> Answer<'a, Result<Manifest, NotRead>> {
        let mut names: Vec<_> =
            std::fs::read_dir(&self.0).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        let files = names.iter().map(|name| self.file(name.to_str().unwrap())).collect();
        Box::pin(async { Ok(Manifest { files, skipped: Vec::new() }) })
    }

    fn text<'a>(&'a self, file: &'a Eligible) -> Answer<'a, Result<String, NotRead>> {
        Box::pin(async { Ok(self.read(&file.path)) })
    }

    fn retrieve<'a>(&'a self, _: &'a str, files: &'a [Eligible]) -> Answer<'a, Result<Retrieved, NotRead>> {
        let pieces = files
            .iter()
            .flat_map(|file| chunks(&file.path, &self.read(&file.path), chunk::Limits::default()));
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

/// A person without a key.
struct Unsigned;

impl Signs for Unsigned {
    fn sign(&self, decision: Sealed) -> Result<Sealed, Trouble> {
        Ok(decision)
    }
}

/// A matter with a folder that says something.
fn room() -> Desk {
    let desk = Desk::new(&[]);
    desk.put(
        "lease.md",
        "# Lease\n\nThe lease of the harbour ends on 31 May 2027.\nThe rent is 900 euros.\n",
    );
    desk.put("boats.md", "# Boats\n\nThe harbour has forty berths.\n");
    desk
}

fn pipeline() -> Arc<Pipeline> {
    let table: serde_json::Value = toml::from_str(include_str!("../../pipelines/default.toml")).unwrap();
    Arc::new(Pipeline::read(json::parse(table.to_string().as_bytes()).unwrap()).unwrap())
}

/// The bench of a process that begins now.
fn bench(desk: &Desk, journal: Arc<dyn Journal>, now: &str) -> Bench {
    let clock = desk::clock(now);
    let mind = Mind {
        model: Arc::new(Extractive::new()),
        matter: desk.access().matter().clone(),
        policy: desk.policy.hash().unwrap(),
        clock: Arc::clone(&clock),
    };
    let sources: Arc<dyn Sources> = Arc::new(Folder(desk.root()));
    let past = Past {
        history: None,
        history_class: DataClass::Internal,
        stores: None,
        journal: Arc::clone(&journal),
        access: desk.access(),
    };
    let means = Means {
        mind,
        sources: Some(sources),
        past,
        clock: Arc::<Clock>::clone(&clock),
        work: None,
        commands: None,
    };
    let agents = STAGES.map(|name| (name.to_owned(), built_in(name, &means).unwrap()));
    Bench {
        journal,
        access: desk.access(),
        clock,
        signs: Arc::new(Unsigned),
        agents: agents.into(),
        sources: None,
        work: None,
    }
}

fn reading() -> Reading {
    let minted = Minted {
        envelope_id: "env_0000000000000001".to_owned().try_into().unwrap(),
        request_id: "req_0000000000000001".to_owned().try_into().unwrap(),
        session_id: "sess_0000000000000001".to_owned().try_into().unwrap(),
        received_at: Timestamp::try_from(BEGAN).unwrap(),
    };
    let document = json::parse(format!("{{\"raw_input\":\"{QUESTION}\",\"x\":1.50}}").as_bytes()).unwrap();
    GenericEnvelope::read(document, minted).unwrap()
}

fn begun(bench: Bench) -> Driver {
    Driver::begin(bench, pipeline(), reading(), &Setup::default(), Label::USER).unwrap()
}

async fn driven(driver: &mut Driver) -> Result<String, Error> {
    driver.drive(&CancellationToken::new()).await?;
    assert_eq!(driver.run().doing, Doing::Over);
    Ok(json::to_text(&driver.run().envelope).unwrap())
}

/// A moment later, as a clock that was not interrupted has it.
fn after(at: &Timestamp) -> String {
    let Instant { seconds, nanos } = at.instant();
    let nanos = nanos + TICK_NANOS;
    let later = Instant { seconds: seconds + i64::from(nanos / 1_000_000_000), nanos: nanos % 1_000_000_000 };
    Timestamp::try_from(later).unwrap().to_string()
}

/// Another process goes on with the run: its envelope at the end.
async fn gone_on(desk: &Desk, id: &RunId) -> String {
    let ledger: Arc<dyn Journal> = Arc::<dyn Ledger>::clone(&desk.ledger);
    match run::told(&bench(desk, Arc::clone(&ledger), BEGAN), id).await {
        // Nothing of it is durable.
        Err(Error::Missing { .. } | Error::Ledger(_)) => {
            driven(&mut begun(bench(desk, ledger, BEGAN))).await.unwrap()
        }
        Err(error) => panic!("{error}"),
        Ok(told) => match &told.run.doing {
            Doing::Over => json::to_text(&told.run.envelope).unwrap(),
            Doing::Called { since, .. } => {
                let bench = bench(desk, ledger, &after(since));
                driven(&mut Driver::open(bench, told).unwrap()).await.unwrap()
            }
            doing @ (Doing::Ready | Doing::Waiting(_)) => panic!("no such state is durable: {doing:?}"),
        },
    }
}

/// The stages that were called, as the rows tell it.
async fn called(desk: &Desk) -> Vec<String> {
    let rows = desk.of_kind("run.called").await;
    rows.iter().map(|row| desk::member(&row.payload, "stage").to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn whichever_append_fails_the_run_ends_in_the_same_bytes() {
    let whole = room();
    let journal = Fails::after(Arc::<dyn Ledger>::clone(&whole.ledger), u32::MAX);
    let expected = driven(&mut begun(bench(&whole, journal.clone(), BEGAN))).await.unwrap();
    let appends = u32::MAX - journal.left.load(Ordering::SeqCst);
    assert!(expected.contains("31 May 2027") && expected.contains("completed_successfully"), "{expected}");
    assert_eq!(
        (called(&whole).await, appends as usize),
        (STAGES.map(str::to_owned).to_vec(), STAGES.len() + 1)
    );
    let rows = whole.told().await;
    for lost in 0..appends {
        for faults in [Fails::after, Fails::unheard] {
            let desk = room();
            let mut driver = begun(bench(&desk, faults(Arc::<dyn Ledger>::clone(&desk.ledger), lost), BEGAN));
            let id = driver.id().clone();
            let error = driven(&mut driver).await.unwrap_err();
            assert!(matches!(error, Error::Ledger(_)), "{error}");
            // What is durable is told, and nothing else.
            if let Ok(kept) = driver.kept().await {
                let at = usize::try_from(lost).unwrap();
                assert!(kept.envelope.processing_history.len() + 1 >= at, "{lost}");
            }
            drop(driver);
            assert_eq!(gone_on(&desk, &id).await, expected, "append {lost}");
            assert_eq!(called(&desk).await, STAGES, "append {lost}");
            assert_eq!(desk.told().await, rows, "append {lost}: each row once, with the same hash");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn two_that_go_on_with_one_run_do_not_both_count() {
    let desk = room();
    let ledger: Arc<dyn Journal> = Arc::<dyn Ledger>::clone(&desk.ledger);
    let mut driver = begun(bench(&desk, Arc::clone(&ledger), BEGAN));
    driver.step(&CancellationToken::new()).await.unwrap();
    let told = run::told(&bench(&desk, Arc::clone(&ledger), BEGAN), driver.id()).await.unwrap();
    let mut other = Driver::open(bench(&desk, Arc::clone(&ledger), "2026-01-03T00:00:00Z"), told).unwrap();
    driven(&mut driver).await.unwrap();
    let rows = desk.told().await;
    let error = other.step(&CancellationToken::new()).await.unwrap_err();
    assert_eq!(error.code().as_str(), "ledger.conflict", "{error}");
    assert_eq!(desk.told().await, rows);
    assert_eq!(other.kept().await.unwrap(), *driver.run());
}
