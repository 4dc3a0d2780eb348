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
use tokio::sync::oneshot::error::TryRecvError;

/// A disk that takes longer than this makes waking up cheap beside it.
const AWAKE_MAX: Duration = Duration::from_millis(1);

/// Who waits for a writer.
#[derive(Debug)]
pub(super) struct Vigil {
    /// Where there is one core only, whoever stays awake keeps the writer from it.
    cores: usize,
    waiting: AtomicUsize,
    is_kept: AtomicBool,
    /// When the last answer came.
    answered: Mutex<Option<Instant>>,
}

impl Vigil {
    pub(super) fn new(cores: usize) -> Self {
        Vigil {
            cores,
            waiting: AtomicUsize::new(0),
            is_kept: AtomicBool::new(false),
            answered: Mutex::new(None),
        }
    }

    /// Waits for an answer; nothing, if whoever was to give it is gone.
    pub(super) async fn answer<T>(&self, mut answer: oneshot::Receiver<T>) -> Option<T> {
        let waiting = Waiting::new(self);
        if self.cores > 1
            && (waiting.has_company() || self.was_just_answered())
            && let Some(_kept) = Kept::new(self)
        {
            let start = Instant::now();
            while start.elapsed() < AWAKE_MAX {
                match answer.try_recv() {
                    Ok(answer) => return Some(self.answered(answer)),
                    // It must not be asked again.
                    Err(TryRecvError::Closed) => return None,
                    Err(TryRecvError::Empty) => tokio::task::yield_now().await,
                }
            }
        }
        answer.await.ok().map(|answer| self.answered(answer))
    }

    fn answered<T>(&self, answer: T) -> T {
        *self.answered.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
        answer
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

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn who_is_gone_gives_no_answer() {
        for cores in [1, 2] {
            let vigil = Vigil::new(cores);
            // The second one stays awake, and the answer is not there, or gone, when it looks.
            for _ in 0..3 {
                let (reply, answer) = oneshot::channel();
                reply.send(7).unwrap();
                assert_eq!(vigil.answer(answer).await, Some(7));
                let (reply, answer) = oneshot::channel::<u8>();
                drop(reply);
                assert_eq!(vigil.answer(answer).await, None);
                let (reply, answer) = oneshot::channel::<u8>();
                let gone = async {
                    tokio::task::yield_now().await;
                    drop(reply);
                };
                assert_eq!(tokio::join!(vigil.answer(answer), gone).0, None);
            }
        }
    }
}
