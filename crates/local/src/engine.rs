//! Running a model in the process: one answer at a time, on a thread of its own.
//! Owns: the model port's side, who waits, and the thread. Must not: hold up whoever polls, or go on when nobody
//! listens.
//!
//! The same request gives the same bytes on the same machine. Another processor may round otherwise, as the matrices are
//! multiplied with what it has.

mod answer;
mod llama;
mod weights;

use crate::header;
use crate::words::Words;
use answer::Answering;
use countersign_durable::{Links, open_regular};
use countersign_record::code::Code;
use countersign_record::digest::Digest;
use countersign_runtime::ports::model::{About, Delta, Deltas, Model, NoAnswer, Request, Site};
use futures_util::stream;
use llama::Llama;
use std::path::Path;
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio_util::sync::{CancellationToken, DropGuard};

/// How many may wait while one is answered.
const WAITING_MAX: usize = 16;
/// How many pieces of an answer may lie unread.
const UNREAD_MAX: usize = 64;

/// Why a model can't be opened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Its file can't be used.
    #[error(transparent)]
    File(#[from] header::Error),
    /// Its weights are not taken.
    #[error("the weights of the model can't be used")]
    Weights,
}

impl Error {
    /// The stable code.
    #[must_use]
    pub fn code(&self) -> Code {
        Code::ModelConfig
    }
}

/// A model that is run here.
pub struct Local {
    about: About,
    digest: Digest,
    whole: Arc<Whole>,
    /// Who is answered or waits.
    places: Arc<Semaphore>,
    /// Whose turn it is.
    turn: Arc<Semaphore>,
}

/// A model and its words.
struct Whole {
    llama: Llama,
    words: Words,
}

impl std::fmt::Debug for Local {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Local")
            .field("about", &self.about)
            .field("digest", &self.digest)
            .finish_non_exhaustive()
    }
}

impl Local {
    /// Loads a model. `name` is what it is called from here on. It takes up to twice the memory of the file, and blocks
    /// while the file is read.
    ///
    /// # Errors
    /// It is no model that is run here.
    pub fn open(path: &Path, name: &str) -> Result<Self, Error> {
        let unreadable = |error: std::io::Error| header::Error::Unreadable(error.kind());
        let (file, length) = open_regular(path, Links::Followed).map_err(unreadable)?;
        let (llama, words, digest) = weights::load(file, length)?;
        let about = About { provider: "local".to_owned(), model: name.to_owned(), site: Site::HereSlowly };
        Ok(Local {
            about,
            digest,
            whole: Arc::new(Whole { llama, words }),
            places: Arc::new(Semaphore::new(WAITING_MAX + 1)),
            turn: Arc::new(Semaphore::new(1)),
        })
    }

    /// The SHA-256 of the file, as it was loaded.
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// How many tokens it can look at, question and answer together.
    #[must_use]
    pub fn context(&self) -> usize {
        self.whole.llama.shape().context
    }
}

impl Model for Local {
    fn about(&self) -> &About {
        &self.about
    }

    /// See the port. Where no seed is given, the request's hash is it.
    fn stream_chat<'a>(&'a self, request: &'a Request, cancel: &'a CancellationToken) -> Deltas<'a> {
        let asked = Stage::Asked { local: self, request };
        Box::pin(stream::unfold(asked, move |stage| async move {
            tokio::select! {
                biased;
                () = cancel.cancelled() => None,
                next = stage.next() => next,
            }
        }))
    }
}

/// How far an answer is. Dropping it ends the thread.
enum Stage<'a> {
    Asked { local: &'a Local, request: &'a Request },
    Running { pieces: mpsc::Receiver<Result<Delta, NoAnswer>>, stop: DropGuard },
    Ended,
}

type Next<'a> = Option<(Result<Delta, NoAnswer>, Stage<'a>)>;

impl<'a> Stage<'a> {
    async fn next(self) -> Next<'a> {
        let (mut pieces, stop) = match self {
            Stage::Asked { local, request } => match local.begin(request).await {
                Ok(running) => running,
                Err(error) => return Some((Err(error), Stage::Ended)),
            },
            Stage::Running { pieces, stop } => (pieces, stop),
            Stage::Ended => return None,
        };
        Some(match pieces.recv().await {
            Some(Ok(Delta::Text(text))) => (Ok(Delta::Text(text)), Stage::Running { pieces, stop }),
            Some(Ok(Delta::End(ended))) => (Ok(Delta::End(ended)), Stage::Ended),
            Some(Err(error)) => (Err(error), Stage::Ended),
            None => (Err(no_answer(Code::ModelReply, "the model broke off")), Stage::Ended),
        })
    }
}

impl Local {
    /// Waits for its turn and starts the thread. The thread keeps the turn until it is really over.
    async fn begin(
        &self,
        request: &Request,
    ) -> Result<(mpsc::Receiver<Result<Delta, NoAnswer>>, DropGuard), NoAnswer> {
        let busy = || no_answer(Code::ModelBusy, "too many wait for the model");
        let place = Arc::clone(&self.places).try_acquire_owned().map_err(|_| busy())?;
        let turn = Arc::clone(&self.turn).acquire_owned().await.map_err(|_| busy())?;
        let (to, pieces) = mpsc::channel(UNREAD_MAX);
        let stop = CancellationToken::new();
        let answering =
            Answering { whole: Arc::clone(&self.whole), request: request.clone(), stop: stop.clone() };
        let thread = std::thread::Builder::new().name("local-model".to_owned());
        let started = thread.spawn(move || run(&answering, &to, (place, turn)));
        match started {
            Ok(_) => Ok((pieces, stop.drop_guard())),
            Err(_) => Err(no_answer(Code::ModelBusy, "there is no thread for the model")),
        }
    }
}

/// Answers on this thread. Whoever listens hears of an error unless they have gone.
fn run(
    answering: &Answering,
    to: &mpsc::Sender<Result<Delta, NoAnswer>>,
    held: (OwnedSemaphorePermit, OwnedSemaphorePermit),
) {
    if let Err(error) = answering.answer(&mut |delta| to.blocking_send(Ok(delta)).is_ok()) {
        drop(to.blocking_send(Err(error)));
    }
    drop(held);
}

fn no_answer(code: Code, message: &str) -> NoAnswer {
    NoAnswer { code, message: message.to_owned(), attempts: 1 }
}
