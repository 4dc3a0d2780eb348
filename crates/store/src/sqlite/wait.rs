//! Waiting for a command, but not for ever.
//! Owns: sleeping until one comes or time is up. Must not: poll.

use super::writer::Command;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

/// What came of waiting.
pub(super) enum Received {
    Command(Command),
    /// Time is up.
    Nothing,
    /// Nobody will send one.
    End,
}

/// Wakes a thread that is parked.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// The next command, if one comes within `patience`.
pub(super) fn received(commands: &mut mpsc::Receiver<Command>, patience: Duration) -> Received {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let start = Instant::now();
    loop {
        match commands.poll_recv(&mut Context::from_waker(&waker)) {
            Poll::Ready(Some(command)) => return Received::Command(command),
            Poll::Ready(None) => return Received::End,
            Poll::Pending => {}
        }
        match patience.checked_sub(start.elapsed()).filter(|left| !left.is_zero()) {
            Some(left) => thread::park_timeout(left),
            None => return Received::Nothing,
        }
    }
}
