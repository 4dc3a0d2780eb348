//! Where the ledger ends, for whoever waits.
//! Owns: the one place that watchers look at. Must not: go back.

use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::watch;

/// The end of a matter's ledger, as far as this process knows.
#[derive(Debug)]
pub(super) struct News {
    last: watch::Sender<u64>,
    writing: AtomicBool,
}

impl News {
    pub(super) fn new() -> Self {
        News { last: watch::Sender::new(0), writing: AtomicBool::new(false) }
    }

    /// Wakes the watchers if the ledger has grown.
    pub(super) fn publish(&self, seq: u64) {
        self.last.send_if_modified(|last| {
            let grown = seq > *last;
            if grown {
                *last = seq;
            }
            grown
        });
    }

    /// Wakes the watchers though there is nothing new.
    pub(super) fn stir(&self) {
        self.last.send_modify(|_| {});
    }

    /// Starts watching.
    pub(super) fn subscribe(&self) -> watch::Receiver<u64> {
        self.last.subscribe()
    }

    /// Whether anybody watches.
    pub(super) fn is_watched(&self) -> bool {
        self.last.receiver_count() > 0
    }

    /// Resolves when nobody watches.
    pub(super) async fn unwatched(&self) {
        self.last.closed().await;
    }

    /// Notes whether this process holds the lock.
    pub(super) fn set_writing(&self, writing: bool) {
        self.writing.store(writing, Ordering::Release);
    }

    /// Whether this process holds it.
    pub(super) fn is_writing(&self) -> bool {
        self.writing.load(Ordering::Acquire)
    }
}
