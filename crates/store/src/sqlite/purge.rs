//! Erased bytes that may still be in the log.
//! Owns: when it is next tried to empty the log, and what those who wait are told. Must not: keep appenders waiting for
//! a reader that does not let go.

use super::erase;
use super::writer::Reply;
use countersign_runtime::ports::ledger::{Erasure, Stamp};
use rusqlite::Connection;
use std::time::{Duration, Instant};

/// How long an erasure waits for readers to let go of the log before it is answered all the same.
const WAIT_MAX: Duration = Duration::from_secs(5);
/// The time between two attempts: at first, and at most. It doubles with each.
const PAUSE_MIN: Duration = Duration::from_millis(5);
const PAUSE_MAX: Duration = Duration::from_secs(1);

/// What is still to be purged.
#[derive(Debug, Default)]
pub(super) struct Purge {
    due: Option<Due>,
    waiting: Vec<Waiting>,
}

#[derive(Clone, Copy, Debug)]
struct Due {
    next: Instant,
    pause: Duration,
}

/// An erasure that somebody waits for.
#[derive(Debug)]
struct Waiting {
    receipt: Stamp,
    until: Instant,
    reply: Reply<Erasure>,
}

impl Purge {
    /// The log may hold erased bytes.
    pub(super) fn set_due(&mut self) {
        self.due = Some(Due { next: Instant::now(), pause: PAUSE_MIN });
    }

    /// An erasure is durable; it is answered when its bytes are gone.
    pub(super) fn owe(&mut self, receipt: Stamp, reply: Reply<Erasure>) {
        self.set_due();
        self.waiting.push(Waiting { receipt, until: Instant::now() + WAIT_MAX, reply });
    }

    /// How long to wait for a command before [`Purge::attend`] is called again; `None` if nothing is due.
    pub(super) fn pause(&self) -> Option<Duration> {
        let answers = self.waiting.iter().map(|one| one.until);
        let next = self.due.map(|due| due.next).into_iter().chain(answers).min();
        next.map(|next| next.saturating_duration_since(Instant::now()))
    }

    /// Copies the log into the file and empties it, if it is time to try, so that no byte of an erased blob is left in
    /// either. Only then is an erasure answered; or when the disk fails, or a reader never lets go: the receipt
    /// stands, but its promise is kept later, and the answer says so.
    pub(super) fn attend(&mut self, connection: Option<&Connection>) {
        let now = Instant::now();
        let mut is_failed = connection.is_none();
        if let (Some(due), Some(connection)) = (self.due, connection)
            && due.next <= now
        {
            let purged = erase::purge(connection);
            is_failed = purged.is_err();
            let pause = (due.pause * 2).min(PAUSE_MAX);
            self.due = (!matches!(purged, Ok(true))).then(|| Due { next: Instant::now() + due.pause, pause });
        }
        let is_purged = self.due.is_none() && !is_failed;
        if connection.is_none() {
            // Whoever opens the ledger again looks at its log.
            self.due = None;
        }
        let answered = self.waiting.extract_if(.., |one| is_purged || is_failed || one.until <= now);
        for Waiting { receipt, reply, .. } in answered {
            drop(reply.send(Ok(Erasure { receipt, is_purged })));
        }
    }

    /// The last attempt, and an answer to everybody.
    pub(super) fn end(mut self, connection: Option<&Connection>) {
        if self.due.is_some() {
            self.set_due();
        }
        self.waiting.iter_mut().for_each(|one| one.until = Instant::now());
        self.attend(connection);
    }

    /// There is no log any more.
    pub(super) fn forget(&mut self) {
        self.due = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use countersign_record::digest::Digest;
    use countersign_testkit::scratch::Scratch;
    use tokio::sync::oneshot;

    fn log_with_a_reader(scratch: &Scratch) -> (Connection, Connection) {
        let place = scratch.path().join("db");
        let writer = Connection::open(&place).unwrap();
        writer
            .execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE t(a); INSERT INTO t VALUES (1)")
            .unwrap();
        let reader = Connection::open(&place).unwrap();
        reader.execute_batch("BEGIN; SELECT * FROM t").unwrap();
        reader.query_row("SELECT a FROM t", [], |_| Ok(())).unwrap();
        writer.execute_batch("INSERT INTO t VALUES (2)").unwrap();
        (writer, reader)
    }

    /// While a reader holds on, attempts become rare: an append is not kept waiting by each of them.
    #[test]
    fn attempts_become_rare_and_the_last_one_is_made() {
        let scratch = Scratch::new();
        let (writer, reader) = log_with_a_reader(&scratch);
        let mut purge = Purge::default();
        assert_eq!(purge.pause(), None);
        let (reply, mut answer) = oneshot::channel();
        purge.owe(Stamp { seq: 1, stream_seq: 1, hash: Digest::of(b"") }, reply);
        for attempt in 0..3 {
            purge.due = purge.due.map(|due| Due { next: Instant::now(), ..due });
            purge.attend(Some(&writer));
            let due = purge.due.unwrap();
            assert!(due.next > Instant::now() || attempt == 0);
            assert_eq!(due.pause, PAUSE_MIN * 2_u32.pow(attempt + 1));
        }
        // It is not time, so nothing is tried.
        let before = purge.due.unwrap().pause;
        purge.due = Some(Due { next: Instant::now() + PAUSE_MAX, pause: before });
        purge.attend(Some(&writer));
        assert_eq!(purge.due.unwrap().pause, before);
        assert!(answer.try_recv().is_err(), "nobody is told that the bytes are gone");
        reader.execute_batch("COMMIT").unwrap();
        purge.end(Some(&writer));
        assert!(answer.try_recv().unwrap().unwrap().is_purged);
    }

    #[test]
    fn without_a_connection_everybody_is_answered_and_nothing_is_due() {
        let mut purge = Purge::default();
        let (reply, mut answer) = oneshot::channel();
        purge.owe(Stamp { seq: 1, stream_seq: 1, hash: Digest::of(b"") }, reply);
        purge.attend(None);
        assert!(!answer.try_recv().unwrap().unwrap().is_purged);
        assert_eq!(purge.pause(), None);
    }
}
