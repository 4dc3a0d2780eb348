//! What the sessions of a matter work with, put together from options.
//! Owns: where everything of a session is, the policy's file, the tools, the model. Must not: take a turn.

use crate::cli::Global;
use crate::cli::session::Working;
use crate::failure::Failure;
use crate::output;
use crate::place::Place;
use crate::remembering::{recall, stores};
use crate::roots::Claimed;
use crate::tables::Table;
use countersign_kernel::policy::Policy;
use countersign_kernel::session::Bounds;
use countersign_memory::remembered;
use countersign_models::{self as models, Extractive, Shelf};
use countersign_record::access::MatterAccess;
use countersign_record::code::Code;
use countersign_record::id::{MatterId, ModelName, PrincipalId, SessionName};
use countersign_record::row::{DataClass, Sealed};
use countersign_record::tool::Needs;
use countersign_record::trace::Redactor;
use countersign_runtime::ports::model::Model;
use countersign_runtime::ports::session::{Person, Signs, Trouble};
use countersign_runtime::ports::tool::Tool;
use countersign_runtime::session::memory::MemoryTool;
use countersign_runtime::session::registry::Registry;
use countersign_runtime::session::{self, Office, Recovered, Session};
use countersign_store::keys::Keyring;
use countersign_store::roots::Claims;
use countersign_store::sessions::{self, Found, Kept, Sessions};
use countersign_store::traces::Traces;
use countersign_tools::{self as tools_here, Sandbox};
use countersign_web::{Config, HttpGet};
use countersign_work::task::Task;
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What a model may say at most in one reply, in tokens.
const TOKENS_MAX: u32 = 4_096;
/// What the names of all files of the cache of pages begin with.
const CACHE: &str = "http-cache";
const SANDBOX_MODE: u32 = 0o700;

/// Where everything of a matter's sessions is.
pub(crate) struct Rooms {
    dir: PathBuf,
}

impl Rooms {
    pub(crate) fn of(global: &Global) -> Result<Self, Failure> {
        let matter = MatterId::try_from(global.matter.as_str())?;
        Ok(Rooms { dir: global.data.join("matters").join(matter.as_str()) })
    }

    pub(crate) fn sessions(&self) -> Sessions {
        Sessions::at(&self.dir.join("sessions"))
    }

    pub(crate) fn traces(&self) -> Traces {
        Traces::at(&self.dir.join("traces"))
    }

    /// What was typed into chats.
    pub(crate) fn history(&self) -> PathBuf {
        self.dir.join("chat-history")
    }

    fn sandbox(&self) -> PathBuf {
        self.dir.join("sandbox")
    }

    fn cache(&self) -> PathBuf {
        self.dir.join(format!("{CACHE}.sqlite"))
    }

    /// The files that only save time, and may hold what was said and read: what was typed, and pages.
    pub(crate) fn spares(&self) -> Vec<PathBuf> {
        let is_spare = |path: &PathBuf| {
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            *path == self.history() || name.starts_with(CACHE)
        };
        let entries = std::fs::read_dir(&self.dir).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).filter(is_spare).collect()
    }

    /// Where runs are held that are at work.
    pub(crate) fn runs(&self) -> PathBuf {
        self.dir.join("runs")
    }

    /// Where commands look at the work of tasks.
    pub(crate) fn looks(&self) -> PathBuf {
        self.dir.join("looks")
    }

    /// Where the work of tasks is put.
    pub(crate) fn work(&self) -> PathBuf {
        self.dir.join("work")
    }

    /// Where hashes of folders are kept.
    pub(crate) fn folders(&self) -> PathBuf {
        self.dir.join("cache").join("folders")
    }

    /// What sessions leave behind.
    pub(crate) fn memory(&self) -> PathBuf {
        self.dir.join("memory")
    }

    /// The matter's conversation.
    pub(crate) fn logs(&self) -> PathBuf {
        self.dir.join("logs")
    }

    fn policy(&self) -> PathBuf {
        self.dir.join("policy.toml")
    }
}

/// Everything but the ledger, which is opened for each turn: between turns others may write it.
pub(crate) struct Desk {
    global: Global,
    rooms: Rooms,
    policy: Arc<Policy>,
    model: Arc<dyn Model>,
    redactor: Redactor,
    root: String,
    local_tools: Vec<Arc<dyn Tool>>,
    memory: BTreeMap<String, DataClass>,
    /// Where the stores of it really are.
    places: BTreeMap<String, String>,
    person: Arc<dyn Person>,
}

impl Desk {
    pub(crate) fn new(global: &Global, working: &Working, person: Arc<dyn Person>) -> Result<Self, Failure> {
        let rooms = Rooms::of(global)?;
        let policy = Arc::new(policy(&rooms, working.policy.as_deref())?);
        let (model, redactor) = model(global, &working.model)?;
        let place = Place::open(global)?;
        let sandbox = root(&[&global.data, &place.root], &rooms, working.root.as_deref())?;
        let claims = Claims::of(&global.data, place.access.matter().clone());
        let clock = Arc::new(place.clock);
        let now = Arc::clone(&clock);
        let mut tools = tools_here::registry(&sandbox, Arc::new(move || now.now()))
            .map_err(|error| Failure::new(error.code(), error.to_string()))?;
        if working.root.is_some() {
            tools = tools.into_iter().map(|tool| claimed(tool, &claims, sandbox.root())).collect();
        }
        let apart_from = [global.data.as_path(), &place.root, sandbox.root()];
        let (memory, places) = stores(&working.memory, &policy, &apart_from, &claims)?;
        Ok(Desk {
            global: global.clone(),
            rooms,
            policy,
            model,
            redactor,
            root: sandbox.root().to_string_lossy().into_owned(),
            local_tools: tools,
            memory,
            places,
            person,
        })
    }

    pub(crate) fn traces(&self) -> Traces {
        self.rooms.traces()
    }

    /// Opens the ledger, and what needs it.
    pub(crate) fn office(&self) -> Result<Office, Failure> {
        let Place { ledger, keys, access, clock, .. } = Place::open(&self.global)?;
        let (ledger, clock) = (Arc::new(ledger), Arc::new(clock));
        let remembers = Arc::new(remembered::Sessions::at(&self.rooms.memory()));
        let recall = recall(&remembers, self.memory.clone(), self.places.clone(), self.model.as_ref());
        let mut tools = self.local_tools.clone();
        let config = Config { cache: Some(self.rooms.cache()), ..Config::default() };
        let get = HttpGet::new(config, Arc::clone(&clock))
            .map_err(|error| Failure::new(error.code(), error.to_string()))?;
        tools.push(Arc::new(get));
        if let Some(recall) = &recall {
            let tool = MemoryTool::new(recall.clone(), ledger.clone(), access.clone(), Arc::clone(&clock))?;
            tools.push(Arc::new(tool));
        }
        let tools =
            Registry::new(tools).map_err(|error| Failure::new(Code::ToolFailed, error.to_string()))?;
        let signs = Arc::new(Signer::new(keys, &access));
        Ok(Office {
            ledger,
            access,
            clock,
            policy: Arc::clone(&self.policy),
            tools: Arc::new(tools),
            model: Arc::clone(&self.model),
            recall,
            remembers: Some(remembers),
            person: Arc::clone(&self.person),
            signs,
            root: self.root.clone(),
            root_class: self.policy.class_of_root(&self.root),
            redactor: self.redactor.clone(),
            bounds: Bounds::default(),
            tokens_max: TOKENS_MAX,
        })
    }

    /// Opens a session that this process has. What was wrong with its files is among the notes.
    pub(crate) async fn session(
        &self,
        name: &SessionName,
        kept: &Kept,
    ) -> Result<(Session, Recovered), Failure> {
        let Found { checkpoint, trouble } = self.found(name, kept).await?;
        let keeper = Arc::new(kept.clone());
        let opened = Session::open(self.office()?, keeper.clone(), name.clone(), checkpoint).await;
        let ((session, mut recovered), trouble) = match opened {
            // The ledger is the truth, and has nothing of what only a checkpoint holds.
            Err(error @ session::Error::Ahead { .. }) => {
                kept.put_aside()?;
                let opened = Session::open(self.office()?, keeper, name.clone(), None).await?;
                (opened, Some(format!("{error}; put aside")))
            }
            opened => (opened?, trouble),
        };
        recovered.notes.extend(trouble.map(|trouble| format!("{trouble}; what is whole was used")));
        Ok((session, recovered))
    }

    /// The newest good revision. Where none is good the ledger has everything that was in them.
    async fn found(&self, name: &SessionName, kept: &Kept) -> Result<Found, Failure> {
        match self.rooms.sessions().read(name) {
            Ok(found) => Ok(found),
            Err(error @ sessions::Error::Unreadable { .. })
                if Session::is_recorded(&self.office()?, name).await? =>
            {
                kept.put_aside()?;
                Ok(Found { checkpoint: None, trouble: Some(format!("{error}; put aside")) })
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Takes a session to write it.
    pub(crate) fn take(&self, name: &SessionName) -> Result<Kept, Failure> {
        Ok(Kept::new(self.rooms.sessions().take(name)?))
    }
}

/// A tool that keeps to what other matters write. What needs nothing touches no file.
fn claimed(tool: Arc<dyn Tool>, claims: &Claims, root: &Path) -> Arc<dyn Tool> {
    match tool.definition().needs {
        Needs::Nothing => tool,
        Needs::Capability(_) | Needs::Host => {
            Arc::new(Claimed { tool, claims: claims.clone(), root: root.to_owned() })
        }
    }
}

/// Signs what whoever acts decides, if they have a key.
pub(crate) struct Signer {
    keys: Keyring,
    principal: PrincipalId,
    matter: MatterId,
}

impl Signer {
    pub(crate) fn new(keys: Keyring, access: &MatterAccess) -> Self {
        Signer { keys, principal: access.principal().clone(), matter: access.matter().clone() }
    }
}

impl Signs for Signer {
    fn sign(&self, decision: Sealed) -> Result<Sealed, Trouble> {
        self.keys
            .sign_decision(&self.principal, &self.matter, decision)
            .map_err(|error| Trouble { code: error.code(), message: error.to_string() })
    }
}

/// The directory that tools see. It is apart from the directories of data, but for the one that was made for it there: keys
/// and ledgers are nothing for a model.
fn root(data: &[&Path], rooms: &Rooms, named: Option<&Path>) -> Result<Sandbox, Failure> {
    let refused = |message: String| Failure::new(Code::ToolSandbox, message);
    let own = rooms.sandbox();
    let dir = named.unwrap_or(&own);
    let shown = output::plain(&dir.display().to_string());
    if named.is_none() {
        std::fs::DirBuilder::new()
            .recursive(true)
            .mode(SANDBOX_MODE)
            .create(dir)
            .map_err(|error| refused(format!("{shown}: {error}")))?;
    }
    let root = dir.canonicalize().map_err(|error| refused(format!("--root {shown}: {error}")))?;
    let is_own = real(&own).is_some_and(|own| root.starts_with(own));
    let overlaps = |data: &&Path| {
        real(data).is_none_or(|data| data.starts_with(&root) || root.starts_with(&data) && !is_own)
    };
    if data.iter().any(overlaps) {
        let message = format!(
            "--root {shown} shares files with the data directory, which no tool may see; name another --root or --data"
        );
        return Err(refused(message));
    }
    Sandbox::open(&root).map_err(|error| Failure::new(error.code(), error.to_string()))
}

/// Where a path leads, also if the end of it will only be made.
pub(crate) fn real(path: &Path) -> Option<PathBuf> {
    let whole = std::path::absolute(path).ok()?;
    // Put together from its parts: with nothing joined to it a path would end with a slash.
    let there = |above: &Path| {
        let (above, rest) = (above.canonicalize().ok()?, whole.strip_prefix(above).ok()?);
        Some(above.components().chain(rest.components()).collect())
    };
    whole.ancestors().find_map(there)
}

/// Whether whoever answers in a task can be asked; nobody has to be where replies are played.
pub(crate) fn can_answer(global: &Global, task: &Task) -> Result<(), Failure> {
    if task.replies().is_some() { Ok(()) } else { is_known(global, task.model()) }
}

/// Whether what a task's model is asked leaves this machine.
pub(crate) fn is_elsewhere(global: &Global, task: &Task) -> bool {
    let settings = || Shelf::of(&global.data).read(&ModelName::try_from(task.model()).ok()?).ok();
    task.replies().is_none() && matches!(settings(), Some(models::Settings::Remote(_)))
}

/// Whether a model of this name can be asked; it is not opened.
fn is_known(global: &Global, name: &str) -> Result<(), Failure> {
    match name {
        "extractive" => Ok(()),
        named => Ok(Shelf::of(&global.data).read(&ModelName::try_from(named)?).map(drop)?),
    }
}

/// The model of a name, and what must be kept out of traces because of it.
pub(crate) fn model(global: &Global, name: &str) -> Result<(Arc<dyn Model>, Redactor), Failure> {
    if name == "extractive" {
        return Ok((Arc::new(Extractive::new()), Redactor::default()));
    }
    let name = ModelName::try_from(name)?;
    let settings = Shelf::of(&global.data).read(&name)?;
    if let models::Settings::Local { file, sha256 } = &settings {
        return Ok((crate::command::models::local::open(file, *sha256)?, Redactor::default()));
    }
    let opened = models::open(&settings, &models::Means::default())
        .map_err(|error| Failure::new(error.code(), error.to_string()))?;
    let secrets = opened.secrets().iter().map(|key| key.expose().to_owned());
    let redactor = Redactor::new(secrets);
    Ok((Arc::from(opened.model), redactor))
}

/// The policy: the one that is named, else the matter's, else the default.
pub(crate) fn policy(rooms: &Rooms, named: Option<&Path>) -> Result<Policy, Failure> {
    let usual = rooms.policy();
    // Whatever stands there counts, also a link that leads nowhere: only where nothing is, is the default.
    let has_own =
        std::fs::symlink_metadata(&usual).map_or_else(|error| error.kind() != ErrorKind::NotFound, |_| true);
    let path = match (named, has_own) {
        (Some(_), true) => {
            let message = "the matter has a policy of its own, so --policy can't be another";
            return Err(Failure::new(Code::PolicyInvalid, message));
        }
        (Some(path), false) => path,
        (None, true) => &usual,
        (None, false) => return Ok(Policy::default()),
    };
    let name = path.to_string_lossy();
    Table::read(&name, &crate::input::text(&name)?, Code::PolicyInvalid)?.into_a(Policy::read)
}
