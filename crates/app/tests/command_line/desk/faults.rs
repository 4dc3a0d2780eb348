//! What goes wrong on purpose: a tool that never returns, a ledger and a keeper that stop working.
//! Owns: the faults; everything else is passed on to the real thing. Must not: answer in its place.

use countersign_kernel::gate::{Permitted, Place};
use countersign_record::access::MatterAccess;
use countersign_record::code::Code;
use countersign_record::digest::Digest;
use countersign_record::id::ToolName;
use countersign_record::json::{self, Json, Object};
use countersign_record::session::Checkpoint;
use countersign_record::tool::{Definition, Effect, Needs};
use countersign_runtime::ports::Answer;
use countersign_runtime::ports::ledger::{Appended, Batch, Blob, Error, Journal, Page, Query};
use countersign_runtime::ports::session::{Keeper, Trouble};
use countersign_runtime::ports::tool::{Done, NotDone, Plan, Reads, Tool};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// A tool that counts its runs, and does not return from them if it is to get stuck.
pub(crate) struct Stuck {
    pub(crate) definition: Definition,
    pub(crate) runs: AtomicU32,
    pub(crate) is_stuck: AtomicBool,
    /// Called at each run.
    pub(crate) begun: Notify,
    pub(crate) sends_to: Option<Place>,
    pub(crate) reads: Reads,
}

impl Stuck {
    pub(crate) fn new(name: &str, effect: Effect) -> Self {
        let definition = Definition {
            name: ToolName::try_from(name).unwrap(),
            description: "Sends a letter.".to_owned(),
            parameters: json::parse(b"{\"type\":\"object\"}").unwrap(),
            effect,
            needs: Needs::Nothing,
        };
        Stuck {
            definition,
            runs: AtomicU32::new(0),
            is_stuck: AtomicBool::new(false),
            begun: Notify::new(),
            sends_to: None,
            reads: Reads::Nothing,
        }
    }

    /// One that asks a host.
    pub(crate) fn of_host(name: &str, host: &str) -> Self {
        let mut tool = Stuck::new(name, Effect::Idempotent);
        tool.definition.needs = Needs::Host;
        tool.sends_to = Some(Place::try_from(host).unwrap());
        tool.reads = Reads::Outside;
        tool
    }

    pub(crate) fn stuck(self) -> Arc<Self> {
        self.is_stuck.store(true, Ordering::SeqCst);
        Arc::new(self)
    }

    pub(crate) fn runs(&self) -> u32 {
        self.runs.load(Ordering::SeqCst)
    }
}

impl Tool for Stuck {
    fn definition(&self) -> &Definition {
        &self.definition
    }

    fn plan(&self, args: &Object) -> Result<Plan, NotDone> {
        let to = args.get("to").and_then(Json::as_str).unwrap_or("nobody");
        if to == "nowhere" {
            return Err(NotDone::new(Code::ToolArguments, "there is no such place"));
        }
        let summary = format!("send a letter to {to}");
        Ok(Plan { summary, reads: self.reads.clone(), writes: None, sends_to: self.sends_to.clone() })
    }

    fn run<'a>(&'a self, call: Permitted, _: &'a CancellationToken) -> Answer<'a, Result<Done, NotDone>> {
        self.runs.fetch_add(1, Ordering::SeqCst);
        self.begun.notify_one();
        Box::pin(async move {
            if self.is_stuck.load(Ordering::SeqCst) {
                std::future::pending::<()>().await;
            }
            match call.args().get("fail") {
                Some(_) => Err(NotDone::new(Code::ToolFailed, "the letter came back")),
                None => Ok(Done::plain(Object::from([("sent", true.into())]).into())),
            }
        })
    }
}

/// A keeper that does not keep when it is told so.
pub(crate) struct Forgets {
    pub(crate) keeper: Arc<dyn Keeper>,
    pub(crate) forgets: Arc<AtomicBool>,
}

impl Keeper for Forgets {
    fn save(&self, checkpoint: Checkpoint) -> Answer<'_, Result<(), Trouble>> {
        match self.forgets.load(Ordering::SeqCst) {
            true => Box::pin(async {
                Err(Trouble { code: Code::SessionUnwritable, message: "the disk is gone".into() })
            }),
            false => self.keeper.save(checkpoint),
        }
    }
}

/// A ledger that takes so many appends and then no more, as if the process had ended.
pub(crate) struct Fails {
    pub(crate) journal: Arc<dyn Journal>,
    pub(crate) left: AtomicU32,
    /// Whether the next append that is not answered takes place all the same.
    writes_one: AtomicBool,
}

impl Fails {
    pub(crate) fn after(journal: Arc<dyn Journal>, appends: u32) -> Arc<Self> {
        Arc::new(Fails { journal, left: AtomicU32::new(appends), writes_one: AtomicBool::new(false) })
    }

    /// The same, but the first append that fails is durable, and only its answer is lost.
    pub(crate) fn unheard(journal: Arc<dyn Journal>, appends: u32) -> Arc<Self> {
        Arc::new(Fails { journal, left: AtomicU32::new(appends), writes_one: AtomicBool::new(true) })
    }
}

impl Journal for Fails {
    fn append<'a>(&'a self, access: &'a MatterAccess, batch: Batch) -> Answer<'a, Result<Appended, Error>> {
        let takes = self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
        match takes {
            Ok(_) => self.journal.append(access, batch),
            Err(_) if self.writes_one.swap(false, Ordering::SeqCst) => Box::pin(async move {
                self.journal.append(access, batch).await?;
                Err(Error::Closed)
            }),
            Err(_) => Box::pin(async { Err(Error::Closed) }),
        }
    }

    fn read<'a>(&'a self, access: &'a MatterAccess, query: Query) -> Answer<'a, Result<Page, Error>> {
        self.journal.read(access, query)
    }

    fn blob<'a>(&'a self, access: &'a MatterAccess, digest: Digest) -> Answer<'a, Result<Blob, Error>> {
        self.journal.blob(access, digest)
    }
}
