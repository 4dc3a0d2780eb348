//! One matter: its files, its readers, its writer, its watchers.
//! Owns: which of them is open. Must not: share any of them with another matter.

use super::append::Request;
use super::follow::Following;
use super::group;
use super::news::News;
use super::readers::{Readers, Stop};
use super::schema::Files;
use super::vigil::Vigil;
use super::writer::{Command, Reply, Writer};
use countersign_record::chain::Head;
use countersign_record::id::MatterId;
use countersign_runtime::ports::ledger::{Appended, Error};
use rusqlite::Connection;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{Semaphore, oneshot, watch};

/// Reads that go on at the same time, each with a thread and a connection of its own; others wait their turn.
const READS_MAX: usize = 64;

/// What reading and following need.
#[derive(Debug)]
pub(super) struct Core {
    pub(super) matter: MatterId,
    pub(super) files: Files,
    pub(super) news: Arc<News>,
    pub(super) following: Following,
    readers: Readers,
}

impl Core {
    /// Reads in one snapshot, in this thread.
    pub(super) fn read<T>(
        &self,
        work: impl FnOnce(&Connection, Head) -> Result<T, Stop>,
    ) -> Result<T, Error> {
        self.readers.read(&self.files, &self.matter, work)
    }

    /// The last row.
    pub(super) fn head(&self) -> Result<Head, Error> {
        self.read(|_, head| Ok(head))
    }
}

/// One matter.
pub(super) struct Matter {
    core: Arc<Core>,
    reads: Arc<Semaphore>,
    writer: Mutex<Option<Writer>>,
    vigil: Vigil,
    /// How long another's lock is waited for.
    patience: Duration,
}

impl Matter {
    pub(super) fn new(root: &Path, matter: MatterId, patience: Duration) -> Self {
        let files = Files::of(root, matter.as_str());
        let core = Core {
            matter,
            files,
            news: Arc::new(News::new()),
            following: Following::default(),
            readers: Readers::default(),
        };
        Matter {
            core: Arc::new(core),
            reads: Arc::new(Semaphore::new(READS_MAX)),
            writer: Mutex::new(None),
            vigil: Vigil::new(group::cores()),
            patience,
        }
    }

    /// Reads in one snapshot, on a thread that may block.
    pub(super) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection, Head) -> Result<T, Stop> + Send + 'static,
    ) -> Result<T, Error> {
        let turn = Arc::clone(&self.reads).acquire_owned().await.map_err(|_| Error::Closed)?;
        let core = Arc::clone(&self.core);
        // A read that panics, or a runtime that ends, gives no answer.
        let read = tokio::task::spawn_blocking(move || {
            // Whoever stops waiting does not stop the read: its turn ends when the thread is free again.
            let _turn = turn;
            core.read(work)
        });
        read.await.unwrap_or(Err(Error::Closed))
    }

    /// Has the writer do something, and waits for its answer.
    pub(super) async fn write<T>(&self, command: impl FnOnce(Reply<T>) -> Command) -> Result<T, Error> {
        self.asked(command).await?
    }

    /// Has the writer append.
    pub(super) async fn append(&self, request: Request) -> Result<Appended, Error> {
        let answer = self.asked(|reply| Command::Append { request, reply }).await?;
        drop(answer.request);
        answer.appended
    }

    async fn asked<T>(&self, command: impl FnOnce(oneshot::Sender<T>) -> Command) -> Result<T, Error> {
        let queue = self.queue()?;
        let (reply, answer) = oneshot::channel();
        queue.send(command(reply)).await.map_err(|_| Error::Closed)?;
        drop(queue);
        self.vigil.answer(answer).await.ok_or(Error::Closed)
    }

    fn queue(&self) -> Result<tokio::sync::mpsc::Sender<Command>, Error> {
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let started = match &mut *writer {
            Some(started) if started.is_alive() => started,
            // One that has ended by a bug of ours left the ledger as its last commit did; another can go on.
            Some(_) | None => {
                let core = &self.core;
                let (matter, files) = (core.matter.clone(), core.files.clone());
                let fresh = Writer::start(matter, files, Arc::clone(&core.news), self.patience)?;
                writer.insert(fresh)
            }
        };
        started.queue().ok_or(Error::Closed)
    }

    /// Whether closing it would take nothing from anybody: it is not written now, and nobody watches it.
    pub(super) fn is_idle(&self) -> bool {
        !self.core.news.is_writing() && !self.core.news.is_watched()
    }

    /// Starts watching.
    pub(super) async fn watch(&self) -> Result<watch::Receiver<u64>, Error> {
        let mut receiver = self.core.news.subscribe();
        // Asked before following: there is nothing to follow where there is no ledger.
        self.read(|_, _| Ok(())).await?;
        // Even while this process writes: as soon as it gives the lock back, another may.
        Following::ensure(&self.core)?;
        // Read after following has begun, so that nothing falls between the two.
        let head = self.read(|_, head| Ok(head)).await?;
        self.core.news.publish(head.seq);
        receiver.mark_unchanged();
        Ok(receiver)
    }
}

impl Drop for Matter {
    fn drop(&mut self) {
        // The readers go first: the last connection to close is then the writer's, which leaves the file without a log.
        self.core.readers.close();
        drop(self.writer.lock().unwrap_or_else(PoisonError::into_inner).take());
    }
}
