//! Waiting for more of a trace.
//! Owns: sleeping in the kernel until a file is written or let go. Must not: poll.

use super::Traces;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fd::OwnedFd;
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags};
use rustix::io::Errno;
use std::io;
use std::mem::MaybeUninit;

/// Events that are taken from the kernel at once, in bytes.
const EVENTS_BYTES: usize = 1_024;

/// One trace, watched from now on. When the process that writes it ends, however it ends, the kernel closes the file: that is
/// an event too.
#[derive(Debug)]
pub struct Watch(OwnedFd);

impl Watch {
    /// Watches a trace. What was written before is no event: look once more after this.
    ///
    /// # Errors
    /// It can't be watched.
    pub fn on(traces: &Traces, name: &str) -> io::Result<Self> {
        let inotify = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
        let flags =
            WatchFlags::MODIFY | WatchFlags::CLOSE_WRITE | WatchFlags::DELETE_SELF | WatchFlags::DONT_FOLLOW;
        inotify::add_watch(&inotify, traces.path(name), flags)?;
        Ok(Watch(inotify))
    }

    /// Waits until something has happened to it since the last time.
    ///
    /// # Errors
    /// The system refuses.
    pub fn wait(&self) -> io::Result<()> {
        loop {
            match poll(&mut [PollFd::new(&self.0, PollFlags::IN)], None) {
                Ok(_) => break,
                Err(Errno::INTR) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
        let mut space = [MaybeUninit::uninit(); EVENTS_BYTES];
        let mut events = inotify::Reader::new(&self.0, &mut space);
        loop {
            match events.next() {
                Ok(event) if event.events().contains(ReadFlags::IGNORED) => {
                    return Err(io::Error::from(io::ErrorKind::NotFound));
                }
                Ok(_) => {}
                Err(Errno::WOULDBLOCK) => return Ok(()),
                Err(Errno::INTR) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
    }
}
