//! What the tests of sessions share: a matter on disk, a model that plays replies, people who answer.
//! Owns: the fixtures. Must not: stand in for the ledger, the checkpoints or the tools, which are the real ones.

mod faults;
mod played;

pub(crate) use faults::{Fails, Forgets, Stuck};
pub(crate) use played::{Answers, Played, calls, notes};

use countersign_kernel::policy::Policy;
use countersign_kernel::session::Bounds;
use countersign_record::access::{Access, MatterAccess, Role};
use countersign_record::id::{MatterId, PrincipalId, RowKind, SessionName, StreamId};
use countersign_record::json::{self, Json};
use countersign_record::row::{Row, Sealed};
use countersign_record::time::Timestamp;
use countersign_record::trace::Redactor;
use countersign_record::upcast;
use countersign_runtime::clock::Clock;
use countersign_runtime::memory_read::Recall;
use countersign_runtime::ports::ledger::{self, Blob, Journal, Ledger, PAGE_ROWS_MAX, Query, Select};
use countersign_runtime::ports::session::{Keeper, Remembers, Screen, Signs, Trouble};
use countersign_runtime::ports::tool::Tool;
use countersign_runtime::session::memory::MemoryTool;
use countersign_runtime::session::registry::Registry;
use countersign_runtime::session::{Error, Office, Recovered, Said, Session, Turned};
use countersign_store::Sqlite;
use countersign_store::sessions::{Kept, Sessions};
use countersign_store::traces::Traces;
use countersign_testkit::scratch::Scratch;
use countersign_tools::{Sandbox, registry};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Stands in what must not get anywhere.
pub(crate) const CANARY: &str = "CANARY-51c2-harbour-lease";
/// Where a remote model is.
pub(crate) const HOST: &str = "models.example";

/// A matter on disk, and all that a session needs.
pub(crate) struct Desk {
    scratch: Scratch,
    pub(crate) ledger: Arc<dyn Ledger>,
    /// What sessions get instead of the ledger, if something is to go wrong with it.
    pub(crate) journal: Option<Arc<dyn Journal>>,
    pub(crate) clock: Arc<Clock>,
    pub(crate) policy: Policy,
    pub(crate) tools: Vec<Arc<dyn Tool>>,
    pub(crate) model: Arc<Played>,
    pub(crate) person: Arc<Answers>,
    pub(crate) stores: BTreeMap<String, countersign_record::row::DataClass>,
    pub(crate) remembers: Option<Arc<dyn Remembers>>,
    pub(crate) redactor: Redactor,
    pub(crate) bounds: Bounds,
    pub(crate) principal: &'static str,
}

impl Desk {
    /// A new matter, a model in this process that plays these replies, and nobody to ask.
    pub(crate) fn new(replies: &[&str]) -> Self {
        Desk::on(Scratch::new(), replies)
    }

    /// The same with files in memory, for tests in which only the process fails.
    pub(crate) fn in_memory(replies: &[&str]) -> Self {
        Desk::on(Scratch::in_memory(), replies)
    }

    fn on(scratch: Scratch, replies: &[&str]) -> Self {
        fs::create_dir(scratch.path().join("root")).unwrap();
        let ledger = Arc::new(Sqlite::open(&scratch.path().join("data"), upcast::LEDGER));
        let clock = clock("2026-01-02T03:04:05Z");
        Desk {
            scratch,
            ledger,
            journal: None,
            clock,
            policy: Policy::default(),
            tools: Vec::new(),
            model: Arc::new(Played::here(replies)),
            person: Arc::new(Answers::nobody()),
            stores: BTreeMap::new(),
            remembers: None,
            redactor: Redactor::default(),
            bounds: Bounds::default(),
            principal: "ada",
        }
    }

    /// The same with other replies.
    pub(crate) fn play(&mut self, replies: &[&str]) {
        self.model = Arc::new(Played::here(replies));
    }

    /// The same from a model elsewhere.
    pub(crate) fn play_remote(&mut self, replies: &[&str]) {
        self.model = Arc::new(Played::remote(HOST, replies));
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.scratch.path().join("root")
    }

    /// Where the ledger, the checkpoints and the traces are.
    pub(crate) fn data(&self) -> PathBuf {
        self.scratch.path().join("data")
    }

    pub(crate) fn put(&self, path: &str, text: &str) {
        fs::write(self.root().join(path), text).unwrap();
    }

    pub(crate) fn access(&self) -> MatterAccess {
        access(self.principal)
    }

    pub(crate) fn recall(&self) -> Option<Recall> {
        let memory = Arc::new(countersign_memory::recall::Stores::default());
        let recall = Recall { memory, stores: self.stores.clone(), places: BTreeMap::new(), tokens_max: 500 };
        Some(recall).filter(|recall| !recall.stores.is_empty())
    }

    pub(crate) fn office(&self) -> Office {
        let sandbox = Sandbox::with_launcher(&self.root(), Path::new("/nonexistent/launcher")).unwrap();
        let now = Arc::new(|| Timestamp::try_from("2026-01-02T03:04:05Z"));
        let mut tools = registry(&sandbox, now).unwrap();
        tools.extend(self.tools.iter().cloned());
        let journal = self.journal.clone();
        let ledger = journal.unwrap_or_else(|| Arc::<dyn Ledger>::clone(&self.ledger));
        let (access, clock) = (self.access(), Arc::clone(&self.clock));
        if let Some(recall) = self.recall() {
            let tool = MemoryTool::new(recall, Arc::clone(&ledger), access.clone(), Arc::clone(&clock));
            tools.push(Arc::new(tool.unwrap()));
        }
        Office {
            ledger,
            access,
            clock,
            policy: Arc::new(self.policy.clone()),
            tools: Arc::new(Registry::new(tools).unwrap()),
            model: self.model.clone(),
            recall: self.recall(),
            remembers: self.remembers.clone(),
            person: self.person.clone(),
            signs: Arc::new(Unsigned),
            root: String::new(),
            root_class: countersign_record::row::DataClass::Public,
            redactor: self.redactor.clone(),
            bounds: self.bounds,
            tokens_max: 1_000,
        }
    }

    pub(crate) fn sessions(&self) -> Sessions {
        Sessions::at(&self.data().join("sessions"))
    }

    /// Opens a session as its one writer.
    pub(crate) async fn open(&self, name: &str) -> (Session, Recovered) {
        let (writer, found) = self.sessions().open(&session_name(name)).unwrap();
        let keeper = Arc::new(Kept::new(writer));
        Session::open(self.office(), keeper, session_name(name), found.checkpoint).await.unwrap()
    }

    /// The same with a keeper before the real one.
    pub(crate) async fn open_through(
        &self,
        name: &str,
        wrap: impl FnOnce(Arc<dyn Keeper>) -> Arc<dyn Keeper>,
    ) -> Result<(Session, Recovered), Error> {
        let (writer, found) = self.sessions().open(&session_name(name)).unwrap();
        let keeper = wrap(Arc::new(Kept::new(writer)));
        Session::open(self.office(), keeper, session_name(name), found.checkpoint).await
    }

    /// The checkpoint as it is on disk.
    pub(crate) fn checkpoint(&self, name: &str) -> countersign_record::session::Checkpoint {
        self.sessions().read(&session_name(name)).unwrap().checkpoint.unwrap()
    }

    pub(crate) fn traces(&self) -> Traces {
        Traces::at(&self.data().join("traces"))
    }

    /// Takes a turn that must succeed.
    pub(crate) async fn say(&self, session: &mut Session, text: &str) -> Turned {
        self.try_say(session, text).await.unwrap()
    }

    pub(crate) async fn try_say(&self, session: &mut Session, text: &str) -> Result<Turned, Error> {
        self.say_until(session, text, &CancellationToken::new()).await.0
    }

    /// Takes a turn, and gives what the screen saw too.
    pub(crate) async fn say_until(
        &self,
        session: &mut Session,
        text: &str,
        cancel: &CancellationToken,
    ) -> (Result<Turned, Error>, Seen) {
        let mut seen = Seen::default();
        let (trace_name, mut trace) = self.traces().begin(session.name(), session.past().turn + 1);
        let said = Said { text, data_class: None, screen: &mut seen, trace: &mut trace, trace_name, cancel };
        let turned = session.turn(said).await;
        drop(trace);
        (turned, seen)
    }

    pub(crate) async fn select(&self, select: Select) -> Vec<Row> {
        let (mut rows, mut after) = (Vec::new(), 0);
        loop {
            let query = Query { select: select.clone(), after, up_to: u64::MAX, limit: PAGE_ROWS_MAX };
            let page = match self.ledger.read(&self.access(), query).await {
                Ok(page) => page,
                Err(ledger::Error::Missing { .. }) => return rows,
                Err(error) => panic!("{error}"),
            };
            rows.extend(page.rows);
            match page.next {
                Some(next) => after = next,
                None => return rows,
            }
        }
    }

    pub(crate) async fn rows(&self) -> Vec<Row> {
        self.select(Select::All).await
    }

    pub(crate) async fn of_kind(&self, kind: &str) -> Vec<Row> {
        self.select(Select::Kind(RowKind::try_from(kind).unwrap())).await
    }

    /// The kinds of a stream's rows, without what stands before the dot.
    pub(crate) async fn kinds(&self, stream: &str) -> Vec<String> {
        let rows = self.select(Select::Stream(StreamId::try_from(stream).unwrap())).await;
        rows.iter().map(|row| row.kind.as_str().split_once('.').unwrap().1.to_owned()).collect()
    }

    pub(crate) async fn blob(&self, row: &Row, at: usize) -> String {
        let digest = row.blobs[at].digest;
        match self.ledger.blob(&self.access(), digest).await.unwrap() {
            Blob::Present(bytes) => String::from_utf8(bytes).unwrap(),
            Blob::Erased { .. } => panic!("erased"),
        }
    }

    /// The statuses of all receipts, in order.
    pub(crate) async fn receipts(&self) -> Vec<String> {
        let rows = self.of_kind(countersign_record::deed::EXTERNALIZED).await;
        rows.iter().map(|row| member(&row.payload, "status").to_owned()).collect()
    }

    /// All rows as a text, with the blobs they name.
    pub(crate) async fn told(&self) -> String {
        let mut told = String::new();
        for row in self.rows().await {
            let payload = json::to_text(&row.payload).unwrap();
            told.push_str(&format!(
                "{} {}#{} {} {} {} {}/{}\n  {payload}\n",
                row.seq,
                row.stream,
                row.stream_seq,
                row.kind,
                row.at,
                row.actor,
                row.data_class.as_str(),
                row.taint.as_str()
            ));
            for at in 0..row.blobs.len() {
                told.push_str(&format!("  blob: {:?}\n", self.blob(&row, at).await));
            }
            told.push_str(&format!("  hash: {}\n", row.hash));
        }
        told
    }

    /// Whether a text stands in any file of the data directory, or in what the ledger gives back.
    pub(crate) async fn finds(&self, text: &str) -> Vec<String> {
        let mut found = Vec::new();
        look(&self.data(), text.as_bytes(), &mut found);
        if self.told().await.contains(text) {
            found.push("the rows".to_owned());
        }
        found
    }
}

fn look(dir: &Path, text: &[u8], found: &mut Vec<String>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            look(&path, text, found);
        } else if fs::read(&path).unwrap().windows(text.len()).any(|window| window == text) {
            found.push(path.display().to_string());
        }
    }
}

pub(crate) fn clock(now: &str) -> Arc<Clock> {
    let now = Timestamp::try_from(now).unwrap();
    Arc::new(Clock::new(Some(&now), Some(7), [0; 32]))
}

pub(crate) fn access(principal: &str) -> MatterAccess {
    let matter = MatterId::try_from("harbour").unwrap();
    let principal = PrincipalId::try_from(principal).unwrap();
    Access::new(principal, BTreeMap::from([(matter.clone(), Role::Admin)])).to(&matter).unwrap()
}

pub(crate) fn session_name(name: &str) -> SessionName {
    SessionName::try_from(name).unwrap()
}

/// A member of an object, as a text.
pub(crate) fn member<'a>(value: &'a Json, name: &str) -> &'a str {
    value.get(name).and_then(Json::as_str).unwrap_or_default()
}

/// The policy of a text.
pub(crate) fn policy(text: &str) -> Policy {
    Policy::read(json::parse(text.as_bytes()).unwrap()).unwrap()
}

/// A person without a key.
struct Unsigned;

impl Signs for Unsigned {
    fn sign(&self, decision: Sealed) -> Result<Sealed, Trouble> {
        Ok(decision)
    }
}

/// What a screen saw.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) text: String,
    pub(crate) notes: Vec<String>,
    pub(crate) tools: Vec<String>,
}

impl Screen for Seen {
    fn text(&mut self, text: &str) {
        self.text.push_str(text);
    }

    fn started(&mut self, tool: &str, summary: &str) {
        self.tools.push(format!("{tool}: {summary}"));
    }

    fn ended(&mut self, tool: &str, error: Option<&str>, _: Duration) {
        self.tools.push(format!("{tool} ended: {}", error.unwrap_or("done")));
    }

    fn note(&mut self, text: &str) {
        self.notes.push(text.to_owned());
    }
}
