//! The one thread that writes a matter.
//! Owns: the queue, the lock, the transactions and who gets which answer. Must not: answer before the bytes are
//! durable, or keep anything in memory of a transaction that failed.

use super::append::{Pen, Request};
use super::erase;
use super::failure;
use super::group::{self, Answer, Asker, Company, Group};
use super::lock;
use super::news::News;
use super::purge::Purge;
use super::restore;
use super::schema::{self, Files, Found};
use super::state::{self, State};
use super::wait::{self, Received};
use countersign_durable::{self as durable, Lock};
use countersign_record::chain::{Head, genesis};
use countersign_record::digest::Digest;
use countersign_record::id::{FoldId, MatterId};
use countersign_record::row::Sealed;
use countersign_runtime::ports::ledger::{Erasure, Error, Piece, Snapshot};
use rusqlite::{Connection, params};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, oneshot};

/// Requests that may wait.
const QUEUE_MAX: usize = 1_024;

/// How often a directory may vanish between making it and locking in it before we give up.
const TRIES_MAX: usize = 16;

pub(super) type Reply<T> = oneshot::Sender<Result<T, Error>>;
pub(super) type Pieces = Box<dyn Iterator<Item = Result<Piece, Error>> + Send>;

/// What the writer is asked for.
pub(super) enum Command {
    Append { request: Request, reply: Asker },
    Erase { digest: Digest, receipt: Box<Sealed>, reply: Reply<Erasure> },
    Keep { fold: FoldId, version: u32, snapshot: Snapshot, reply: Reply<()> },
    Restore { pieces: Pieces, reply: Reply<Head> },
}

/// The way to the writer's thread. Dropping it ends the thread, after what waits is done, and gives the lock back.
pub(super) struct Writer {
    queue: Option<mpsc::Sender<Command>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    /// Starts the thread. Nothing is opened before the first command.
    pub(super) fn start(
        matter: MatterId,
        files: Files,
        news: Arc<News>,
        patience: Duration,
    ) -> Result<Self, Error> {
        let (queue, commands) = mpsc::channel(QUEUE_MAX);
        let place = files.database.clone();
        let name = format!("ledger {matter}");
        let cores = group::cores();
        let company = Company { appenders: 1, commit: Duration::ZERO, gap: Duration::MAX, cores };
        let desk = Desk {
            matter,
            files,
            news,
            patience,
            open: None,
            held: None,
            purge: Purge::default(),
            company,
            untold: false,
        };
        let thread = std::thread::Builder::new().name(name).spawn(move || desk.work(commands));
        let thread = thread.map_err(|error| failure::of_io(&place, &error))?;
        Ok(Writer { queue: Some(queue), thread: Some(thread) })
    }

    /// Whether anybody takes from the queue.
    pub(super) fn is_alive(&self) -> bool {
        self.queue.as_ref().is_some_and(|queue| !queue.is_closed())
    }

    /// The queue's entrance.
    pub(super) fn queue(&self) -> Option<mpsc::Sender<Command>> {
        self.queue.clone()
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.queue = None;
        if let Some(thread) = self.thread.take() {
            // A panic of the writer has been told to everybody who waited; there is nobody left to tell.
            drop(thread.join());
        }
    }
}

/// An open ledger. The fields are dropped in this order: the connection ends before the lock is given back.
pub(super) struct Open {
    pub(super) connection: Connection,
    /// `None` after a failure, until it is read from disk again.
    pub(super) state: Option<State>,
    pub(super) lock: Lock,
    since: Instant,
    /// The directories that opening it has made, if the ledger was not there; `None` as soon as it holds anything.
    made: Option<Vec<PathBuf>>,
}

/// The thread's own things.
struct Desk {
    matter: MatterId,
    files: Files,
    news: Arc<News>,
    /// How long another's lock is waited for.
    patience: Duration,
    open: Option<Open>,
    /// A command that was taken from the queue while a group was gathered, and is no part of it.
    held: Option<Command>,
    purge: Purge,
    company: Company,
    /// Whether followers in other processes have yet to be woken.
    untold: bool,
}

impl Desk {
    fn work(mut self, mut commands: mpsc::Receiver<Command>) {
        loop {
            let answered = Instant::now();
            let Some(command) = self.next(&mut commands) else { break };
            self.company.gap = answered.elapsed();
            match command {
                Command::Append { request, reply } => self.append(request, reply, &mut commands),
                Command::Erase { digest, receipt, reply } => self.erase(digest, &receipt, reply),
                Command::Keep { fold, version, snapshot, reply } => {
                    drop(reply.send(self.keep(&fold, version, &snapshot)));
                }
                Command::Restore { pieces, reply } => {
                    let restored = self.transact(|pen| restore::restore(pen, pieces));
                    drop(reply.send(restored));
                }
            }
        }
        self.purge.end(self.open.as_ref().map(|open| &open.connection));
    }

    /// The next command. While erased bytes wait for a reader to let go of them, time alone is a reason to wake up.
    fn next(&mut self, commands: &mut mpsc::Receiver<Command>) -> Option<Command> {
        self.tell();
        self.purge_if_due();
        self.give_way();
        if let Some(held) = self.held.take() {
            return Some(held);
        }
        while let Some(pause) = self.purge.pause() {
            match wait::received(commands, pause) {
                Received::Command(command) => return Some(command),
                Received::Nothing => self.purge_if_due(),
                Received::End => return None,
            }
        }
        if self.company.is_near() {
            let (start, patience) = (Instant::now(), self.company.patience());
            while start.elapsed() < patience {
                match commands.try_recv() {
                    Ok(command) => return Some(command),
                    Err(mpsc::error::TryRecvError::Disconnected) => return None,
                    Err(mpsc::error::TryRecvError::Empty) => group::pause(self.company.cores),
                }
            }
        }
        if self.open.is_some() {
            match wait::received(commands, lock::IDLE_MAX) {
                Received::Command(command) => return Some(command),
                // Others may have waited for it; a turn that waits for a model must not keep them.
                Received::Nothing => self.close(),
                Received::End => return None,
            }
        }
        commands.blocking_recv()
    }

    /// Lets others write who wait, also where there is always something to be written here.
    fn give_way(&mut self) {
        let is_due = |open: &Open| open.since.elapsed() >= lock::HELD_MAX && open.lock.is_wanted();
        if self.purge.pause().is_none() && self.open.as_ref().is_some_and(is_due) {
            self.close();
            std::thread::park_timeout(lock::GIVE_WAY);
        }
    }

    fn purge_if_due(&mut self) {
        self.purge.attend(self.open.as_ref().map(|open| &open.connection));
    }

    /// Wakes followers in other processes, when those who wait in this one have their answers.
    fn tell(&mut self) {
        if let Some(open) = self.open.as_ref().filter(|_| self.untold) {
            // A follower that is not woken reads the row at the next wake-up; the row itself is safe.
            drop(open.lock.tell());
        }
        self.untold = false;
    }

    fn append(&mut self, request: Request, reply: Asker, commands: &mut mpsc::Receiver<Command>) {
        if reply.is_closed() {
            return;
        }
        let company = self.company;
        let mut first = Some((request, reply));
        let (mut group, mut held, mut gathered) = (Group::default(), None, Instant::now());
        let outcome = self.transact(|pen| {
            if let Some(first) = first.take() {
                held = group.fill(pen, first, commands, company)?;
            }
            gathered = Instant::now();
            Ok(Ok(()))
        });
        self.held = held;
        let appenders = group.len() + commands.len();
        self.company = Company { appenders, commit: gathered.elapsed(), ..company };
        group.answer(&outcome);
        // No transaction was even begun.
        if let (Some((request, reply)), Err(error)) = (first, outcome) {
            drop(reply.send(Answer { appended: Err(error), request }));
        }
    }

    fn erase(&mut self, digest: Digest, receipt: &Sealed, reply: Reply<Erasure>) {
        match self.transact(|pen| erase::erase(pen, digest, receipt)) {
            Ok(stamp) => self.purge.owe(stamp, reply),
            Err(error) => drop(reply.send(Err(error))),
        }
    }

    fn keep(&mut self, fold: &FoldId, version: u32, snapshot: &Snapshot) -> Result<(), Error> {
        let Snapshot { head, bytes } = snapshot;
        self.opened(lock::PATIENCE_TO_KEEP.min(self.patience))?;
        self.transact(|pen| {
            // An older state of the same version says less than the one that is there, if that one can be of this ledger.
            let sql = "INSERT INTO snapshots(fold, version, seq, hash, bytes) VALUES (?1, ?2, ?3, ?4, ?5) \
                       ON CONFLICT(fold) DO UPDATE SET version = ?2, seq = ?3, hash = ?4, bytes = ?5 \
                       WHERE version <> ?2 OR seq <= ?3 OR seq > (SELECT seq FROM head)";
            let seq = super::columns::int(head.seq);
            pen.connection.prepare_cached(sql)?.execute(params![
                fold.as_str(),
                version,
                seq,
                head.hash.as_bytes(),
                bytes
            ])?;
            Ok(Ok(()))
        })
    }

    /// Does `work` in one transaction: all of it is durable when this returns, or nothing of it is there. The
    /// inner error of `work` is a refusal, the outer one a failure.
    fn transact<T>(
        &mut self,
        work: impl FnOnce(&mut Pen<'_>) -> Result<Result<T, Error>, rusqlite::Error>,
    ) -> Result<T, Error> {
        let (matter, files, news) = (self.matter.clone(), self.files.clone(), Arc::clone(&self.news));
        let open = self.opened(self.patience)?;
        let done = open.transact(matter.as_str(), work);
        match done {
            // Nothing but refusals: no row is in, and a ledger that was made for them must not stay.
            Ok(Ok((result, Head { seq: 0, .. }))) => {
                self.take_back();
                Ok(result)
            }
            Ok(Ok((result, head))) => {
                open.made = None;
                news.publish(head.seq);
                self.untold = true;
                Ok(result)
            }
            Ok(Err(refusal)) => {
                self.take_back();
                Err(refusal)
            }
            Err(error) => {
                let stuck = !open.roll_back();
                // Where the lock's file is gone, another may have written beside us; the ledger itself is sound.
                let error = match open.lock.is_ours(&files.lock) {
                    true => failure::of_sqlite(&files.database, &error),
                    false => Error::Locked { matter, pid: None },
                };
                let is_empty = !stuck && open.is_empty();
                if stuck {
                    self.reconnect();
                } else if is_empty {
                    self.take_back();
                }
                Err(error)
            }
        }
    }

    /// Gives the ledger back to whoever writes next, in this process or another.
    fn close(&mut self) {
        self.tell();
        self.open = None;
        self.news.set_writing(false);
    }

    /// The connection can't even roll back: a new one starts from what is on disk. The lock stays.
    fn reconnect(&mut self) {
        if let Some(Open { connection, lock, since, made, .. }) = self.open.take() {
            drop(connection);
            if let Ok(connection) = schema::open_writer(&self.files) {
                self.open = Some(Open { connection, state: None, lock, since, made });
            }
            self.news.set_writing(self.open.is_some());
        }
    }

    /// The open ledger, made if there is none. What could not be opened is tried again with the next command.
    fn opened(&mut self, patience: Duration) -> Result<&mut Open, Error> {
        if self.open.is_none() {
            // Looked at before anything is made: a file that is not ours gets no lock beside it.
            schema::recognise(&self.files)?;
            let (lock, made) = self.locked(patience)?;
            let open = self.open_in(lock, made)?;
            self.news.set_writing(true);
            self.open = Some(open);
            // A crash may have come between an erasure and the emptying of the log.
            if self.has_erased_bytes() {
                self.purge.set_due();
                self.purge_if_due();
            }
        }
        self.open.as_mut().ok_or(Error::Closed)
    }

    /// Whether the log that was found may hold some. What can't be found out is purged.
    fn has_erased_bytes(&self) -> bool {
        let has_log = std::fs::metadata(self.files.beside("-wal")).is_ok_and(|log| log.len() > 0);
        has_log && self.open.as_ref().is_some_and(|open| erase::was_ever(&open.connection).unwrap_or(true))
    }

    /// The lock, and the directories that were made to hold it. Another writer may take an empty ledger back, and
    /// with it a directory that was just seen to be there; then it is made again.
    fn locked(&self, patience: Duration) -> Result<(Lock, Vec<PathBuf>), Error> {
        let Files { dir, lock: lock_file, .. } = &self.files;
        for _ in 0..TRIES_MAX {
            let made = match durable::make_dirs(dir, 0o700) {
                Ok(made) => made,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(failure::of_io(dir, &error)),
            };
            match lock::take(lock_file, &self.matter, patience) {
                Ok(Some(lock)) => return Ok((lock, made)),
                Ok(None) => {}
                Err(error) => {
                    durable::remove_dirs(&made);
                    return Err(error);
                }
            }
        }
        Err(failure::of_io(dir, &io::ErrorKind::NotFound.into()))
    }

    /// Opens the ledger, or leaves the place as it was. What the lock guards is only touched while it is held:
    /// whoever removed another's lock file would let a second writer in beside it.
    fn open_in(&self, lock: Lock, made: Vec<PathBuf>) -> Result<Open, Error> {
        let is_new = schema::recognise(&self.files)? == Found::Nothing;
        match self.connect(&lock, is_new) {
            Ok(connection) => {
                let since = Instant::now();
                Ok(Open { connection, state: None, lock, since, made: is_new.then_some(made) })
            }
            Err(error) => {
                if is_new {
                    self.remove(lock, &made);
                }
                Err(error)
            }
        }
    }

    fn connect(&self, lock: &Lock, is_new: bool) -> Result<Connection, Error> {
        lock.sign().map_err(|error| failure::of_io(&self.files.lock, &error))?;
        if is_new {
            schema::create(&self.files, genesis(&self.matter).as_bytes())?;
        }
        let connection = schema::open_writer(&self.files)?;
        state::require_of(&connection, &self.matter, &self.files)?;
        Ok(connection)
    }

    /// Removes a ledger that nothing was ever committed to. The lock is given back when its file has no name any
    /// more: who waits for it then finds that it locks nobody out, and takes a new one.
    fn remove(&self, lock: Lock, made: &[PathBuf]) {
        for suffix in ["", "-wal", "-shm"] {
            drop(std::fs::remove_file(self.files.beside(suffix)));
        }
        drop(std::fs::remove_file(&self.files.lock));
        drop(lock);
        durable::remove_dirs(made);
    }

    /// Removes the ledger again if opening it has made it and nothing was ever committed to it.
    fn take_back(&mut self) {
        if self.open.as_ref().is_none_or(|open| open.made.is_none()) {
            return;
        }
        if let Some(Open { connection, lock, made, .. }) = self.open.take() {
            self.news.set_writing(false);
            // What was never committed to holds no erased bytes either.
            self.purge.forget();
            drop(connection);
            self.remove(lock, &made.unwrap_or_default());
        }
    }
}

impl Open {
    fn transact<T>(
        &mut self,
        matter: &str,
        work: impl FnOnce(&mut Pen<'_>) -> Result<Result<T, Error>, rusqlite::Error>,
    ) -> Result<Result<(T, Head), Error>, rusqlite::Error> {
        let connection = &self.connection;
        connection.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
        let state = match &mut self.state {
            Some(state) => state,
            None => self.state.insert(State::load(connection)?),
        };
        let before = state.head;
        // A commit may have reached the disk although it was answered as failed: what has rows is never taken back.
        if before.seq > 0 {
            self.made = None;
        }
        let worked = work(&mut Pen::new(connection, matter, state)?)?;
        let result = match worked {
            Ok(result) => result,
            Err(refusal) => {
                connection.prepare_cached("ROLLBACK")?.execute([])?;
                self.state = None;
                return Ok(Err(refusal));
            }
        };
        if state.head != before {
            state.save_head(connection)?;
        }
        connection.prepare_cached("COMMIT")?.execute([])?;
        state.forget_if_many();
        Ok(Ok((result, state.head)))
    }

    /// Whether it certainly holds nothing: a commit that failed may have reached the disk all the same.
    fn is_empty(&self) -> bool {
        let sql = "SELECT NOT EXISTS (SELECT 1 FROM rows)";
        self.connection.query_row(sql, [], |row| row.get(0)).unwrap_or(false)
    }

    /// Leaves a failed transaction; `false` if that fails too.
    fn roll_back(&mut self) -> bool {
        self.state = None;
        self.connection.is_autocommit() || self.connection.execute_batch("ROLLBACK").is_ok()
    }
}
