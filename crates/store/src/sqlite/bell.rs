//! Wakes the writer when enough requests wait.
//! Owns: one thread's sleep. Must not: be needed for progress; every wait has an end.
//!
//! A writer that is woken by each request, or that spins for them, takes the processor from the very tasks it
//! waits for. So it says how many it would like and sleeps, and the request that makes the number up wakes it.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::Thread;
use std::time::Duration;

/// The writer's bell.
#[derive(Debug, Default)]
pub(super) struct Bell {
    writer: OnceLock<Thread>,
    /// How many waiting requests wake the writer; 0 while it does not sleep.
    wanted: AtomicUsize,
}

impl Bell {
    /// Called by the writer's thread before it first waits.
    pub(super) fn belong_to_this_thread(&self) {
        // Only the writer calls this, once.
        drop(self.writer.set(std::thread::current()));
    }

    /// Called after a request was queued, of which there are `waiting` now.
    pub(super) fn ring(&self, waiting: usize) {
        let wanted = self.wanted.load(Ordering::SeqCst);
        if wanted > 0
            && waiting >= wanted
            && let Some(writer) = self.writer.get()
        {
            writer.unpark();
        }
    }

    /// Sleeps until `wanted` requests wait, but not longer than `patience`. `waiting` counts them.
    pub(super) fn wait(&self, wanted: usize, patience: Duration, waiting: impl FnOnce() -> usize) {
        self.wanted.store(wanted, Ordering::SeqCst);
        // Counted after the wish is known: whoever queued before could not have seen it.
        if waiting() < wanted {
            std::thread::park_timeout(patience);
        }
        self.wanted.store(0, Ordering::SeqCst);
    }
}
