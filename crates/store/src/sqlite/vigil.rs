//! Waiting for the writer's answer.
//! Owns: that one of those who wait stays awake. Must not: keep more than one awake, or that one for long.
//!
//! When a commit ends, all who share it go on at once. If every thread of the executor sleeps by then, waking the first
//! of them takes a good part of what the commit itself took, and the writer waits meanwhile. So one of those who wait
//! asks again and again, and gives way to whatever else there is to do each time; the others sleep. Who waits alone does so
//! too where answers follow each other closely, as they do for a run from stage to stage.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;
use tokio::sync::oneshot::error::{RecvError, TryRecvError};

/// A disk that takes longer than this makes waking up cheap beside it.
const AWAKE_MAX: Duration = Duration::from_millis(1);

/// Who waits for a writer.
#[derive(Debug, Default)]
pub(super) struct Vigil {
    waiting: AtomicUsize,
    is_kept: AtomicBool,
    /// When the last answer came.
    answered: Mutex<Option<Instant>>,
}

impl Vigil {
    /// Waits for an answer.
    pub(super) async fn answer<T>(&self, mut answer: oneshot::Receiver<T>) -> Result<T, RecvError> {
        let waiting = Waiting::new(self);
        let mut answered = None;
        if (waiting.has_company() || self.was_just_answered())
            && let Some(_kept) = Kept::new(self)
        {
            let start = Instant::now();
            while answered.is_none() && start.elapsed() < AWAKE_MAX {
                match answer.try_recv() {
                    Ok(answer) => answered = Some(answer),
                    Err(TryRecvError::Closed) => break,
                    Err(TryRecvError::Empty) => tokio::task::yield_now().await,
                }
            }
        }
        let answer = match answered {
            Some(answer) => answer,
            None => answer.await?,
        };
        *self.answered.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
        Ok(answer)
    }

    fn was_just_answered(&self) -> bool {
        let answered = self.answered.lock().unwrap_or_else(PoisonError::into_inner);
        answered.is_some_and(|at| at.elapsed() < AWAKE_MAX)
    }
}

/// One who waits. Ends with the future, however that ends.
struct Waiting<'a>(&'a Vigil);

impl<'a> Waiting<'a> {
    fn new(vigil: &'a Vigil) -> Self {
        vigil.waiting.fetch_add(1, Ordering::Relaxed);
        Waiting(vigil)
    }

    fn has_company(&self) -> bool {
        self.0.waiting.load(Ordering::Relaxed) > 1
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The one who stays awake.
struct Kept<'a>(&'a Vigil);

impl<'a> Kept<'a> {
    fn new(vigil: &'a Vigil) -> Option<Self> {
        (!vigil.is_kept.swap(true, Ordering::Relaxed)).then(|| Kept(vigil))
    }
}

impl Drop for Kept<'_> {
    fn drop(&mut self) {
        self.0.is_kept.store(false, Ordering::Relaxed);
    }
}
