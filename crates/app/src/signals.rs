//! The signals that end what is at work.
//! Owns: hearing them. Must not: say what ends.

use crate::failure::Failure;
use countersign_record::code::Code;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::{CancellationToken, DropGuard};

/// An interrupt, or the wish that the process ends.
pub(crate) struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    pub(crate) fn new() -> Result<Self, Failure> {
        let refused = |error: std::io::Error| Failure::new(Code::FileUnreadable, format!("signals: {error}"));
        Ok(Signals {
            interrupt: signal(SignalKind::interrupt()).map_err(refused)?,
            terminate: signal(SignalKind::terminate()).map_err(refused)?,
        })
    }

    pub(crate) async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

/// What is cancelled by the first signal, as long as this is kept.
pub(crate) struct Cancelling {
    pub(crate) token: CancellationToken,
    _listening: DropGuard,
}

impl Cancelling {
    pub(crate) fn new() -> Result<Self, Failure> {
        let mut signals = Signals::new()?;
        let (token, done) = (CancellationToken::new(), CancellationToken::new());
        let (cancel, over) = (token.clone(), done.clone());
        let listening = async move {
            tokio::select! {
                () = signals.next() => cancel.cancel(),
                () = over.cancelled() => {}
            }
        };
        drop(tokio::spawn(listening));
        Ok(Cancelling { token, _listening: done.drop_guard() })
    }
}
