//! Wakes this process's watchers when another process appends.
//! Owns: one thread per watched matter, which sleeps in the kernel. Must not: poll, or outlive the last watcher.
//!
//! SQLite shows a commit to others through shared memory, and a mapping can't be waited for. So the writer writes
//! its lock file again after each commit (`Lock::tell`), and when its process dies the kernel closes that file:
//! either is an inotify event, and after either the new head can be read.

use super::failure;
use super::matter::Core;
use countersign_runtime::ports::ledger::Error;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fd::OwnedFd;
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags};
use rustix::io::Errno;
use std::io::{PipeReader, PipeWriter};
use std::mem::MaybeUninit;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The follower that runs, by number: one that ends late must not be taken for its successor.
#[derive(Debug, Default)]
pub(super) struct Following(Mutex<Running>);

#[derive(Debug, Default)]
struct Running {
    started: u64,
    now: Option<u64>,
}

impl Following {
    fn lock(&self) -> MutexGuard<'_, Running> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that the follower of this number has ended, or is about to.
    fn ended(&self, number: u64) {
        let mut running = self.lock();
        running.now = running.now.filter(|now| *now != number);
    }
}

impl Following {
    /// Starts a follower unless one runs. Called inside the runtime, after the watcher has subscribed.
    pub(super) fn ensure(core: &Arc<Core>) -> Result<(), Error> {
        let mut running = core.following.lock();
        if running.now.is_some() {
            return Ok(());
        }
        let number = running.started + 1;
        let place = &core.files.dir;
        let io = |error: std::io::Error| failure::of_io(place, &error);
        let inotify =
            inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).map_err(|errno| io(errno.into()))?;
        inotify::add_watch(&inotify, place, WatchFlags::MODIFY | WatchFlags::CLOSE_WRITE)
            .map_err(|errno| io(errno.into()))?;
        let (stopped, stop) = std::io::pipe().map_err(io)?;
        let follower = Arc::clone(core);
        std::thread::Builder::new()
            .name(format!("follow {}", core.matter))
            .spawn(move || {
                follow(&follower, &inotify, &stopped);
                // The next watcher starts another, should this one have ended by itself.
                follower.following.ended(number);
                // Whoever waits for it looks again, and finds out why: the directory may be gone.
                follower.news.stir();
            })
            .map_err(io)?;
        tokio::spawn(until_unwatched(Arc::clone(core), number, stop));
        *running = Running { started: number, now: Some(number) };
        Ok(())
    }
}

/// Holds the pipe's end: when this ends, or the runtime is torn down, the thread sees the other end close.
async fn until_unwatched(core: Arc<Core>, number: u64, stop: PipeWriter) {
    loop {
        core.news.unwatched().await;
        let mut running = core.following.lock();
        // A new watcher subscribes before it asks for a follower, so under the lock this can't be missed.
        if !core.news.is_watched() {
            running.now = running.now.filter(|now| *now != number);
            drop(stop);
            return;
        }
    }
}

fn follow(core: &Core, inotify: &OwnedFd, stopped: &PipeReader) {
    loop {
        let mut fds = [PollFd::new(inotify, PollFlags::IN), PollFd::new(stopped, PollFlags::IN)];
        match poll(&mut fds, None) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(_) => return,
        }
        if !fds[1].revents().is_empty() || !drain(inotify) {
            return;
        }
        // An unreadable ledger is told to whoever reads it; a watcher only waits.
        if let Ok(head) = core.head() {
            core.news.publish(head.seq);
        }
    }
}

/// Takes the events that are there; `false` if there will be none any more.
fn drain(inotify: &OwnedFd) -> bool {
    let mut buffer = [MaybeUninit::uninit(); 4_096];
    let mut events = inotify::Reader::new(inotify, &mut buffer);
    loop {
        match events.next() {
            Ok(event) if event.events().contains(ReadFlags::IGNORED) => return false,
            Ok(_) | Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => return true,
            Err(_) => return false,
        }
    }
}
