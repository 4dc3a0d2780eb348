//! The server: who may ask it, what it does for them, what it answers.
//! Owns: what requests share, and the routes. Must not: do anything that a command does not do as well.

mod body;
mod guard;
pub(crate) mod listen;
mod openapi;
mod process;
mod replies;
mod runs;

pub(crate) use openapi::description;

use crate::cli::Global;
use crate::cli::run::Working;
use crate::command::process::{Opens, Seat};
use crate::failure::Failure;
use crate::office;
use crate::place::Place;
use crate::tokens::Tokens;
use axum::Router;
use axum::middleware;
use countersign_record::access::{MatterAccess, Role};
use countersign_record::code::Code;
use countersign_runtime::clock::Clock;
use countersign_runtime::ports::model::Model;
use countersign_runtime::run::Bench;
use countersign_store::Sqlite;
use countersign_store::keys::Keyring;
use guard::Own;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// How many requests that do work are taken at once; each may hold a body of the greatest size.
const WORK_MAX: usize = 64;

/// What requests share.
pub(crate) struct Server {
    global: Global,
    working: Working,
    ledger: Arc<Sqlite>,
    keys: Keyring,
    clock: Arc<Clock>,
    tokens: Tokens,
    own: Own,
    /// How long a client has to send a request, and a request waits for its turn.
    timeout: Duration,
    /// Opened once each: a model in this process may be large.
    models: Mutex<BTreeMap<String, Arc<dyn Model>>>,
    room: Arc<Semaphore>,
    /// What goes on even if whoever asked has left.
    tasks: TaskTracker,
    /// Ends what is at work.
    cancel: CancellationToken,
}

impl Server {
    pub(crate) fn new(
        global: &Global,
        working: &Working,
        timeout: Duration,
        address: SocketAddr,
    ) -> Result<Self, Failure> {
        let Place { ledger, keys, clock, .. } = Place::open(global)?;
        Ok(Server {
            global: global.clone(),
            working: working.clone(),
            ledger: Arc::new(ledger),
            keys,
            clock: Arc::new(clock),
            tokens: Tokens::of(&global.data),
            own: Own::new(address),
            timeout,
            models: Mutex::new(BTreeMap::new()),
            room: Arc::new(Semaphore::new(WORK_MAX)),
            tasks: TaskTracker::new(),
            cancel: CancellationToken::new(),
        })
    }

    /// The model of a name, opened once.
    pub(crate) fn model(&self, name: &str) -> Result<Arc<dyn Model>, Failure> {
        let mut models = self.models.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(model) = models.get(name) {
            return Ok(Arc::clone(model));
        }
        let (model, _) = office::model(&self.global, name)?;
        models.insert(name.to_owned(), Arc::clone(&model));
        Ok(model)
    }

    /// The options as whoever asks would have given them.
    fn global_of(&self, access: &MatterAccess) -> Global {
        Global {
            matter: access.matter().to_string(),
            principal: access.principal().to_string(),
            ..self.global.clone()
        }
    }

    /// The one ledger of the server, for whoever asks.
    fn bench(&self, access: &MatterAccess) -> Bench {
        Bench {
            journal: self.ledger.clone(),
            access: access.clone(),
            clock: Arc::clone(&self.clock),
            signs: Arc::new(office::Signer::new(self.keys.clone(), access)),
            agents: BTreeMap::new(),
            sources: None,
            work: None,
        }
    }

    /// Waits for a turn.
    async fn room(&self) -> Result<OwnedSemaphorePermit, Failure> {
        let turn = tokio::time::timeout(self.timeout, Arc::clone(&self.room).acquire_owned()).await;
        turn.ok().and_then(Result::ok).ok_or_else(|| {
            Failure::new(Code::HttpBusy, format!("{WORK_MAX} requests are at work, and none of them ended"))
        })
    }

    /// Does work to its end, whether or not whoever asked for it waits.
    async fn finish<T, W>(&self, work: W) -> Result<T, Failure>
    where
        T: Send + 'static,
        W: Future<Output = Result<T, Failure>> + Send + 'static,
    {
        self.tasks.spawn(work).await.unwrap_or_else(|_| {
            Err(Failure::new(Code::HttpFailed, "the server could not do it, and does not know why"))
        })
    }
}

/// The endpoints, and what describes them.
fn routes() -> (Router<Arc<Server>>, utoipa::openapi::OpenApi) {
    OpenApiRouter::with_openapi(openapi::opening())
        .routes(routes!(process::process))
        .routes(routes!(runs::list))
        .routes(routes!(runs::show))
        .routes(routes!(runs::answer))
        .routes(routes!(openapi::openapi))
        .routes(routes!(replies::healthz))
        .split_for_parts()
}

/// Everything that is answered, behind the guard.
fn router(server: &Arc<Server>) -> Router {
    let (endpoints, _) = routes();
    endpoints
        .fallback(replies::no_path)
        .method_not_allowed_fallback(replies::no_method)
        .layer(middleware::from_fn_with_state(Arc::clone(server), guard::guard))
        .with_state(Arc::clone(server))
}

/// Holds if the token's role may do it.
fn require(access: &MatterAccess, needs: Role) -> Result<(), Failure> {
    access.require(needs).map_err(|refused| Failure::new(refused.code(), refused.to_string()))
}

/// Whoever asks, as the work of a command sees them.
fn seat<'a>(server: &Server, global: &'a Global, access: &MatterAccess, opens: Opens<'a>) -> Seat<'a> {
    Seat { global, bench: server.bench(access), opens }
}
