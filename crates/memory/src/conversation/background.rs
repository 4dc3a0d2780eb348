//! Indexes while others go on.
//! Owns: the thread, and that nudges which come while it works are not lost. Must not: keep anybody waiting who does not
//! ask for its end.

use super::{Conversation, Error, Update, update};
use crate::embed::Embedder;
use countersign_kernel::history::Caps;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;

/// The thread that keeps an index up to date.
#[derive(Debug)]
pub struct Indexer {
    bell: SyncSender<()>,
    thread: JoinHandle<Option<Result<Update, Error>>>,
}

impl Indexer {
    /// Starts the thread. It does nothing before the first nudge.
    ///
    /// # Errors
    /// There is no thread to be had.
    pub fn start(
        conversation: Conversation,
        embedder: Box<dyn Embedder>,
        caps: Caps,
    ) -> std::io::Result<Self> {
        let (bell, rings) = sync_channel(1);
        let work = move || run(&conversation, embedder.as_ref(), caps, &rings);
        let thread = std::thread::Builder::new().name("history index".into()).spawn(work)?;
        Ok(Indexer { bell, thread })
    }

    /// Says that there may be something new; returns at once. One that comes while an update goes on leads to another
    /// update after it, and a second one to no more than that.
    pub fn nudge(&self) {
        match self.bell.try_send(()) {
            // Full: an update that begins later than now is already asked for. Gone: `finish` tells why.
            Ok(()) | Err(TrySendError::Full(()) | TrySendError::Disconnected(())) => {}
        }
    }

    /// Waits until everything that was nudged for is done, and ends the thread. Gives back what the last update did;
    /// `None` if there was none.
    #[must_use]
    pub fn finish(self) -> Option<Result<Update, Error>> {
        let Indexer { bell, thread } = self;
        drop(bell);
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

fn run(
    conversation: &Conversation,
    embedder: &dyn Embedder,
    caps: Caps,
    rings: &Receiver<()>,
) -> Option<Result<Update, Error>> {
    let mut last = None;
    while rings.recv().is_ok() {
        last = Some(update(conversation, embedder, caps));
    }
    last
}
