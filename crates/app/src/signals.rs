//! The signals that end what is at work.
//! Owns: hearing them. Must not: say what ends.

use crate::failure::Failure;
use crate::output;
use countersign_record::code::Code;
use std::time::Duration;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::{CancellationToken, DropGuard};

/// How long what is at work has to end after a signal; a second one ends it at once.
const PATIENCE: Duration = Duration::from_secs(2);

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
                () = over.cancelled() => return,
            }
            // Whoever waits for something ends by itself. Who is in the middle of a long look does not hear it: what is durable stays,
            // as after a crash, and is gone on from.
            tokio::select! {
                () = signals.next() => {}
                () = tokio::time::sleep(PATIENCE) => {}
                () = over.cancelled() => return,
            }
            std::process::exit(output::stopped());
        };
        drop(tokio::spawn(listening));
        Ok(Cancelling { token, _listening: done.drop_guard() })
    }
}
