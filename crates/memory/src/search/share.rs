//! Work that is shared between cores.
//! Owns: the threads, who takes which block. Must not: know what the work is.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Rows in blocks that are taken one at a time, each by one core.
pub(super) struct Blocks {
    rows: usize,
    rows_per_block: usize,
    next: AtomicUsize,
}

impl Blocks {
    pub(super) fn of(rows: usize, rows_per_block: usize) -> Self {
        Blocks { rows, rows_per_block, next: AtomicUsize::new(0) }
    }

    pub(super) fn count(&self) -> usize {
        self.rows.div_ceil(self.rows_per_block)
    }

    /// The rows of a block that nobody took before.
    pub(super) fn take(&self) -> Option<Range<usize>> {
        let at = self.next.fetch_add(1, Ordering::Relaxed);
        if at >= self.count() {
            return None;
        }
        let start = at * self.rows_per_block;
        Some(start..self.rows.min(start + self.rows_per_block))
    }
}

/// Does the work on so many cores at once, this thread's among them. What each made comes back in no order that
/// means anything.
pub(super) fn among<T: Send>(cores: usize, work: impl Fn() -> T + Sync) -> Vec<T> {
    let others = cores.saturating_sub(1);
    std::thread::scope(|scope| {
        // A system that gives no more threads gets the work done by fewer.
        let start = |_| std::thread::Builder::new().spawn_scoped(scope, &work).ok();
        let helpers: Vec<_> = (0..others).filter_map(start).collect();
        let own = work();
        let helped = helpers
            .into_iter()
            .map(|helper| helper.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        std::iter::once(own).chain(helped).collect()
    })
}
