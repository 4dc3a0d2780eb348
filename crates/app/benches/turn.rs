//! What a turn costs beside its model: rows, commits, the checkpoint.
//! Peers: bare SQLite with as many rows and commits and as many files that are replaced durably, in the same run; one session
//! instead of many.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a bench fails by panicking")]

use countersign_kernel::policy::Policy;
use countersign_kernel::session::Bounds;
use countersign_record::access::{Access, MatterAccess, Role};
use countersign_record::id::{MatterId, SessionName};
use countersign_record::json;
use countersign_record::row::Sealed;
use countersign_record::session::UnixTime;
use countersign_record::time::Timestamp;
use countersign_record::trace::Redactor;
use countersign_record::upcast;
use countersign_runtime::clock::Clock;
use countersign_runtime::ports::Answer;
use countersign_runtime::ports::ledger::Ledger;
use countersign_runtime::ports::model::{About, Delta, Deltas, Ended, Finish, Model, Request, Site, Usage};
use countersign_runtime::ports::session::{Decision, Person, Question, Screen, Signs, Trace, Trouble};
use countersign_runtime::session::registry::Registry;
use countersign_runtime::session::{Office, Said, Session};
use countersign_store::Sqlite;
use countersign_store::sessions::{Kept, Sessions};
use countersign_testkit::bench::{Bar, Bench, Side};
use countersign_tools::{Sandbox, registry};
use futures_util::stream;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

const SESSIONS: usize = 200;
/// What a turn may make durable, whatever it does: the intent, the outcome, the checkpoint.
const COMMITS_MAX: u32 = 3;
const WRITE: &str = "Yes.<<<TOOL_CALLS_JSON>>>[{\"id\":\"t1\",\"tool\":\"fs.write_text\",\"args\":\
    {\"path\":\"note.txt\",\"text\":\"It ends in May.\",\"overwrite\":true}}]<<<END_TOOL_CALLS_JSON>>>";

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    let scratch = Scratch::new();
    let mut bench = Bench::default();
    for (what, replies, rows) in [
        ("a turn that answers (turns)", &["It ends in May."][..], 4),
        ("a turn that writes a file (turns)", &[WRITE, "Done."][..], 8),
    ] {
        // The checkpoint, and what the tool writes.
        let files = replies.len();
        let desk = Desk::new(&scratch.0.join(format!("alone-{rows}")), replies);
        let mut session = runtime.block_on(desk.open("alone"));
        let commits = runtime.block_on(turn(&mut session));
        bench.print(
            &format!("{what}, durable commits"),
            &format!("countersign {commits}"),
            &format!("at most {COMMITS_MAX}"),
            f64::from(COMMITS_MAX) / f64::from(commits),
            Bar::AtLeast(1.0),
        );
        let ours = Side::timed("countersign", |times| runtime.block_on(turns(&mut session, times)));
        let mut bare = Bare::new(&scratch.0, rows, commits - 1, files);
        let name = format!("bare SQLite, commits: {}, files replaced: {files}", commits - 1);
        let peer = Side::timed(&name, |times| (0..times).map(|_| bare.turn()).sum());
        bench.compare(what, ours, peer, Bar::AtLeast(0.3));
    }
    let desk = Desk::new(&scratch.0.join("many"), &[WRITE, "Done."]);
    let mut sessions: Vec<Session> =
        (0..SESSIONS).map(|number| runtime.block_on(desk.open(&format!("s{number}")))).collect();
    let mut one = runtime.block_on(desk.open("one"));
    let many =
        Side::timed("200 sessions at once", |times| runtime.block_on(turns_of_all(&mut sessions, times)));
    let peer = Side::timed("1 session", |times| runtime.block_on(turns(&mut one, times)));
    bench.compare("turns that write a file, in many sessions (turns)", many, peer, Bar::AtLeast(1.0));
    bench.finish();
}

async fn turn(session: &mut Session) -> u32 {
    let cancel = CancellationToken::new();
    let (mut screen, mut trace) = (Nowhere, Nowhere);
    let said = Said {
        text: "When does the lease end?",
        data_class: None,
        screen: &mut screen,
        trace: &mut trace,
        trace_name: "none".to_owned(),
        cancel: &cancel,
    };
    session.turn(said).await.unwrap().commits
}

async fn turns(session: &mut Session, times: u64) -> Duration {
    let start = Instant::now();
    for _ in 0..times {
        turn(session).await;
    }
    start.elapsed()
}

/// `times` turns in all, scaled from as many in each session.
async fn turns_of_all(sessions: &mut Vec<Session>, times: u64) -> Duration {
    let each = times.div_ceil(SESSIONS as u64);
    let start = Instant::now();
    let tasks: Vec<_> = sessions
        .drain(..)
        .map(|mut session| {
            tokio::spawn(async move {
                turns(&mut session, each).await;
                session
            })
        })
        .collect();
    for task in tasks {
        sessions.push(task.await.unwrap());
    }
    start.elapsed().mul_f64(times as f64 / (each * SESSIONS as u64) as f64)
}

/// What the sessions share.
struct Desk {
    office: Office,
    replies: Vec<&'static str>,
    sessions: Sessions,
}

impl Desk {
    fn new(dir: &Path, replies: &[&'static str]) -> Self {
        let root = dir.join("root");
        fs::create_dir_all(&root).unwrap();
        let sandbox = Sandbox::with_launcher(&root, Path::new("/nonexistent")).unwrap();
        let tools = registry(&sandbox, Arc::new(|| Timestamp::try_from("2026-01-02T03:04:05Z"))).unwrap();
        let ledger: Arc<dyn Ledger> = Arc::new(Sqlite::open(&dir.join("data"), upcast::LEDGER));
        let policy = Policy::read(json::parse(b"{\"allow\":[\"fs:write\"]}").unwrap()).unwrap();
        let office = Office {
            ledger,
            access: access(),
            clock: Arc::new(Clock::new(None, Some(7), [0; 32])),
            policy: Arc::new(policy),
            tools: Arc::new(Registry::new(tools).unwrap()),
            model: Arc::new(Replies::new(replies)),
            recall: None,
            remembers: None,
            person: Arc::new(Nowhere),
            signs: Arc::new(Nowhere),
            root: String::new(),
            root_class: countersign_record::row::DataClass::Public,
            redactor: Redactor::default(),
            bounds: Bounds::default(),
            tokens_max: 1_000,
        };
        Desk { office, replies: replies.to_vec(), sessions: Sessions::at(&dir.join("sessions")) }
    }

    /// A session with a model of its own: each says its replies in turn.
    async fn open(&self, name: &str) -> Session {
        let name = SessionName::try_from(name).unwrap();
        let (writer, found) = self.sessions.open(&name).unwrap();
        let mut office = self.office.clone();
        office.model = Arc::new(Replies::new(&self.replies));
        let keeper = Arc::new(Kept::new(writer));
        Session::open(office, keeper, name, found.checkpoint).await.unwrap().0
    }
}

fn access() -> MatterAccess {
    let matter = MatterId::try_from("bench").unwrap();
    let principal = "bench".try_into().unwrap();
    Access::new(principal, BTreeMap::from([(matter.clone(), Role::Admin)])).to(&matter).unwrap()
}

/// A model that says the same again and again.
struct Replies {
    about: About,
    replies: Vec<&'static str>,
    given: AtomicU64,
}

impl Replies {
    fn new(replies: &[&'static str]) -> Self {
        let about = About { provider: "scripted".into(), model: "bench".into(), site: Site::Here };
        Replies { about, replies: replies.to_vec(), given: AtomicU64::new(0) }
    }
}

impl Model for Replies {
    fn about(&self) -> &About {
        &self.about
    }

    fn stream_chat<'a>(&'a self, _: &'a Request, _: &'a CancellationToken) -> Deltas<'a> {
        let given = usize::try_from(self.given.fetch_add(1, Ordering::Relaxed)).unwrap();
        let text = self.replies[given % self.replies.len()].to_owned();
        let ended = Ended { finish: Finish::Stop, usage: Usage::default() };
        Box::pin(stream::iter([Ok(Delta::Text(text)), Ok(Delta::End(ended))]))
    }
}

/// Where nothing is shown, asked or signed.
struct Nowhere;

impl Screen for Nowhere {
    fn text(&mut self, _: &str) {}

    fn started(&mut self, _: &str, _: &str) {}

    fn ended(&mut self, _: &str, _: Option<&str>, _: Duration) {}

    fn note(&mut self, _: &str) {}
}

impl Trace for Nowhere {
    fn put(&mut self, _: UnixTime, _: String) {}
}

impl Signs for Nowhere {
    fn sign(&self, decision: Sealed) -> Result<Sealed, Trouble> {
        Ok(decision)
    }
}

impl Person for Nowhere {
    fn is_there(&self) -> bool {
        false
    }

    fn decide<'a>(&'a self, _: &'a Question) -> Answer<'a, Decision> {
        Box::pin(async { Decision::Nobody })
    }
}

/// The same durability and nothing else: rows of the same size in as many commits, and files that are replaced.
struct Bare {
    connection: rusqlite::Connection,
    dir: PathBuf,
    rows: usize,
    commits: u32,
    files: usize,
}

impl Bare {
    fn new(scratch: &Path, rows: usize, commits: u32, files: usize) -> Self {
        let dir = scratch.join(format!("bare-{rows}"));
        fs::create_dir(&dir).unwrap();
        let connection = rusqlite::Connection::open(dir.join("rows.sqlite")).unwrap();
        let tables = "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
            CREATE TABLE rows (seq INTEGER PRIMARY KEY, payload BLOB, hash BLOB) STRICT;";
        connection.execute_batch(tables).unwrap();
        Bare { connection, dir, rows, commits, files }
    }

    fn turn(&mut self) -> Duration {
        let start = Instant::now();
        for _ in 0..self.commits {
            self.connection.execute_batch("BEGIN IMMEDIATE").unwrap();
            let mut statement =
                self.connection.prepare_cached("INSERT INTO rows (payload, hash) VALUES (?, ?)").unwrap();
            for _ in 0..self.rows.div_ceil(self.commits as usize) {
                statement.execute(rusqlite::params![[7_u8; 400], [7_u8; 32]]).unwrap();
            }
            drop(statement);
            self.connection.execute_batch("COMMIT").unwrap();
        }
        // As a checkpoint is kept: written beside, synced, the one before moved away, renamed, the directory synced.
        let [new, current, previous] = ["new", "current", "previous"].map(|name| self.dir.join(name));
        for _ in 0..self.files {
            let mut file = File::create(&new).unwrap();
            file.write_all(&[b'x'; 6_000]).unwrap();
            file.sync_all().unwrap();
            if current.exists() {
                fs::rename(&current, &previous).unwrap();
            }
            fs::rename(&new, &current).unwrap();
            File::open(&self.dir).unwrap().sync_all().unwrap();
        }
        start.elapsed()
    }
}

/// A directory on the disk that holds the target directory, gone at the end. Not in `/tmp`, which may be memory.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("turn-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Scratch(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}
