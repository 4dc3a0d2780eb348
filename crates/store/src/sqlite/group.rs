//! Requests that share a commit.
//! Owns: how many of them, and who gets which answer. Must not: keep anybody waiting for company longer than the
//! company saves.

use super::append::{Pen, Request};
use super::writer::{Command, Reply};
use countersign_runtime::ports::ledger::{Appended, Error};
use std::collections::VecDeque;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TryRecvError;

/// What one transaction takes in at most; one request is always taken whole.
const REQUESTS_MAX: usize = 1_024;
const ROWS_MAX: usize = 10_000;
const BYTES_MAX: usize = 8 * 1024 * 1024;
/// However long a commit takes, nobody waits longer than this for neighbours to share it with.
const WAIT_MAX: Duration = Duration::from_millis(1);

/// What the last group tells about the next one.
///
/// Appenders that were just answered come back within microseconds, while a commit takes hundreds of them. Taking
/// only what waits at that moment would split them into two groups that take turns, each half as large as it
/// could be; so the writer waits for as many as there were, but never longer than half of a commit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Company {
    /// Those who were answered and those who waited meanwhile.
    pub(super) appenders: usize,
    /// How long the last commit took.
    pub(super) commit: Duration,
}

impl Company {
    /// How long it is worth waiting for the next of them.
    pub(super) fn patience(self) -> Duration {
        (self.commit / 2).min(WAIT_MAX)
    }
}

/// Requests that are done. Taking one apart frees a dozen pieces of another thread's memory: done where nobody
/// waits for it, while the writer itself waits.
#[derive(Debug, Default)]
pub(super) struct Spent(VecDeque<Request>);

impl Spent {
    /// Does a little of it, or lets another thread run.
    pub(super) fn pass_time(&mut self) {
        if self.0.pop_front().is_none() {
            std::thread::yield_now();
        }
    }

    /// Does all of it but the last so many. A writer that never waits would keep every request otherwise.
    pub(super) fn keep_last(&mut self, kept: usize) {
        let done = self.0.len().saturating_sub(kept);
        self.0.drain(..done);
    }
}

/// The requests of one transaction.
#[derive(Debug)]
pub(super) struct Group {
    replies: Vec<Reply<Appended>>,
    answers: Vec<Result<Appended, Error>>,
    rows: usize,
    bytes: usize,
}

impl Group {
    /// A group of one, whose request is given to [`Group::fill`].
    pub(super) fn of(reply: Reply<Appended>) -> Self {
        Group { replies: vec![reply], answers: Vec::new(), rows: 0, bytes: 0 }
    }

    /// Whom it holds.
    pub(super) fn len(&self) -> usize {
        self.replies.len()
    }

    /// Appends the first request, then what waits and what is about to, in order, up to the limits: each is
    /// worked on while the next is still on its way. Gives back a command that is no part of the group.
    pub(super) fn fill(
        &mut self,
        pen: &mut Pen<'_>,
        first: Request,
        commands: &mut mpsc::Receiver<Command>,
        company: Company,
        spent: &mut Spent,
    ) -> Result<Option<Command>, rusqlite::Error> {
        self.append(pen, first, spent)?;
        let (start, patience) = (Instant::now(), company.patience());
        while self.len() < REQUESTS_MAX && self.rows < ROWS_MAX && self.bytes < BYTES_MAX {
            match commands.try_recv() {
                // Whoever has stopped waiting before the work began has no row written behind their back.
                Ok(Command::Append { reply, .. }) if reply.is_closed() => {}
                Ok(Command::Append { request, reply }) => {
                    self.replies.push(reply);
                    self.append(pen, request, spent)?;
                }
                Ok(other) => return Ok(Some(other)),
                Err(TryRecvError::Empty) if self.len() < company.appenders && start.elapsed() < patience => {
                    spent.pass_time();
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
        request: Request,
        spent: &mut Spent,
    ) -> Result<(), rusqlite::Error> {
        self.rows += request.batch.rows.len();
        self.bytes += request.bytes();
        self.answers.push(pen.append(&request)?);
        spent.0.push_back(request);
        Ok(())
    }

    /// Tells everybody what came of it: their own answer if the group is durable, else why it is not.
    pub(super) fn answer(self, outcome: Result<(), Error>) {
        match outcome {
            Ok(()) => {
                for (reply, answer) in self.replies.into_iter().zip(self.answers) {
                    drop(reply.send(answer));
                }
            }
            Err(error) => {
                for reply in self.replies {
                    drop(reply.send(Err(error.clone())));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use countersign_testkit::drafts::{batch, row};

    #[test]
    fn what_is_done_is_not_kept_for_ever() {
        let mut spent = Spent::default();
        for _ in 0..10 {
            spent.0.push_back(Request::new(batch(vec![row("run:1", "a")])).unwrap());
        }
        spent.keep_last(4);
        assert_eq!(spent.0.len(), 4);
        spent.pass_time();
        spent.keep_last(4);
        assert_eq!(spent.0.len(), 3);
        spent.keep_last(0);
        assert!(spent.0.is_empty());
    }
}
