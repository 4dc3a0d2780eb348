//! Requests that share a commit.
//! Owns: how many of them, and who gets which answer. Must not: keep anybody waiting for company longer than the
//! company saves.

use super::append::{Pen, Request};
use super::writer::Command;
use countersign_runtime::ports::ledger::{Appended, Error};
use std::num::NonZero;
use std::time::{Duration, Instant};
use tokio::sync::mpsc::error::TryRecvError;
use tokio::sync::{mpsc, oneshot};

/// What one transaction takes in at most; one request is always taken whole.
const REQUESTS_MAX: usize = 1_024;
const ROWS_MAX: usize = 10_000;
const BYTES_MAX: usize = 8 * 1024 * 1024;
/// However long a commit takes, nobody waits longer than this for neighbours to share it with.
const WAIT_MAX: Duration = Duration::from_millis(1);
/// How often a core is told to wait before it is looked again: less than a microsecond.
const SPINS: u32 = 20;

/// How many cores there are to append and to write on.
pub(super) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, NonZero::get)
}

/// Lets a moment pass in which a request may come. Giving the core away for so short a time, with another one free
/// for whoever sends the request, costs more than the moment.
pub(super) fn pause(cores: usize) {
    if cores > 1 {
        (0..SPINS).for_each(|_| std::hint::spin_loop());
    } else {
        std::thread::yield_now();
    }
}

/// What the last group tells about the next one.
///
/// Appenders that were just answered come back within microseconds, while a commit takes hundreds of them. Taking
/// only what waits at that moment would split them into two groups that take turns, each half as large as it
/// could be; so the writer waits for as many as there were, but never longer than half of a commit, and not for a
/// straggler when the others are there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Company {
    /// Those who were answered and those who waited meanwhile.
    pub(super) appenders: usize,
    /// How long the last commit took.
    pub(super) commit: Duration,
    /// How long after the last answer the next request came.
    pub(super) gap: Duration,
    /// How many cores there are to append and to write on.
    pub(super) cores: usize,
}

impl Company {
    /// How long it is worth waiting for the first of them, and for all.
    pub(super) fn patience(self) -> Duration {
        (self.commit / 2).min(WAIT_MAX)
    }

    /// Whether the next request is nearer than waking the writer's thread would be: several append at once, or one who comes
    /// back at once, as a run does from stage to stage.
    pub(super) fn is_near(self) -> bool {
        self.appenders > 1 || self.gap < self.patience()
    }

    /// How long it is worth waiting for the next of them.
    fn patience_for_next(self) -> Duration {
        self.patience() / 4
    }
}

/// What is answered to an appender.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) appended: Result<Appended, Error>,
    /// The request itself. Taking it apart frees a dozen pieces of memory of the thread that made it: so it goes back
    /// there, and the writer can go on.
    pub(super) request: Request,
}

/// Where the answer goes.
pub(super) type Asker = oneshot::Sender<Answer>;

/// The requests of one transaction.
#[derive(Debug, Default)]
pub(super) struct Group {
    members: Vec<(Asker, Answer)>,
    rows: usize,
    bytes: usize,
}

impl Group {
    /// Whom it holds.
    pub(super) fn len(&self) -> usize {
        self.members.len()
    }

    /// Appends the first request, then what waits and what is about to, in order, up to the limits: each is
    /// worked on while the next is still on its way. Gives back a command that is no part of the group.
    pub(super) fn fill(
        &mut self,
        pen: &mut Pen<'_>,
        first: (Request, Asker),
        commands: &mut mpsc::Receiver<Command>,
        company: Company,
    ) -> Result<Option<Command>, rusqlite::Error> {
        self.append(pen, first)?;
        let start = Instant::now();
        let mut last = start;
        while self.len() < REQUESTS_MAX && self.rows < ROWS_MAX && self.bytes < BYTES_MAX {
            match commands.try_recv() {
                // Whoever has stopped waiting before the work began has no row written behind their back.
                Ok(Command::Append { reply, .. }) if reply.is_closed() => {}
                Ok(Command::Append { request, reply }) => {
                    self.append(pen, (request, reply))?;
                    last = Instant::now();
                }
                Ok(other) => return Ok(Some(other)),
                Err(TryRecvError::Empty)
                    if self.len() < company.appenders
                        && start.elapsed() < company.patience()
                        && last.elapsed() < company.patience_for_next() =>
                {
                    pause(company.cores);
                }
                Err(TryRecvError::Empty | TryRecvError::Disconnected) => break,
            }
        }
        Ok(None)
    }

    /// A refusal has left no trace, so it does not undo the others.
    fn append(
        &mut self,
        pen: &mut Pen<'_>,
        (request, asker): (Request, Asker),
    ) -> Result<(), rusqlite::Error> {
        self.rows += request.batch.rows.len();
        self.bytes += request.bytes();
        let appended = pen.append(&request);
        // It is answered whatever comes of it, and so it is in the group even if the transaction ends here.
        let (appended, ended) = match appended {
            Ok(appended) => (appended, Ok(())),
            Err(error) => (Err(Error::Closed), Err(error)),
        };
        self.members.push((asker, Answer { appended, request }));
        ended
    }

    /// Tells everybody what came of it: their own answer if the group is durable, else why it is not.
    pub(super) fn answer(self, outcome: &Result<(), Error>) {
        for (asker, answer) in self.members {
            let answer = match outcome {
                Ok(()) => answer,
                Err(error) => Answer { appended: Err(error.clone()), ..answer },
            };
            drop(asker.send(answer));
        }
    }
}
