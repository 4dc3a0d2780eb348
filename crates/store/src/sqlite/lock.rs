//! One process writes a matter.
//! Owns: how long its lock is waited for, and what a refusal is called. Must not: be taken to read.

use super::failure;
use countersign_durable::{Lock, NotTaken};
use countersign_record::id::MatterId;
use countersign_runtime::ports::ledger::Error;
use std::path::Path;
use std::time::Duration;

/// How long a lock that another holds is waited for, unless told otherwise: whoever has nothing to write gives it back
/// within [`IDLE_MAX`], so it is held for longer by whoever writes without a pause only.
pub(super) const PATIENCE: Duration = Duration::from_secs(20);
/// How long it is waited for to keep a fold's state, which only saves time.
pub(super) const PATIENCE_TO_KEEP: Duration = Duration::from_millis(200);
/// How long a writer that has nothing to do keeps the lock: opening the ledger again takes longer than an append, and
/// appends come in bursts.
pub(super) const IDLE_MAX: Duration = Duration::from_millis(20);

/// How long whoever writes without a pause keeps it while others wait.
pub(super) const HELD_MAX: Duration = Duration::from_millis(50);
/// How long it then leaves it alone: those who wait look every few milliseconds.
pub(super) const GIVE_WAY: Duration = Duration::from_millis(12);

/// Takes the lock, or says who has it. `None` if the directory is gone: another has taken an empty ledger back.
///
/// The writer writes its pid again after each commit ([`Lock::tell`]): SQLite makes a commit visible through shared
/// memory, which nobody can wait for, so this write is what wakes followers in other processes (see `follow`).
pub(super) fn take(path: &Path, matter: &MatterId, patience: Duration) -> Result<Option<Lock>, Error> {
    match Lock::take(path, patience) {
        Ok(lock) => Ok(Some(lock)),
        Err(NotTaken::Held { pid }) => Err(Error::Locked { matter: matter.clone(), pid }),
        Err(NotTaken::Gone) => Ok(None),
        Err(NotTaken::NotRegular) => {
            Err(Error::Corrupt { place: path.display().to_string(), why: "it is no regular file".into() })
        }
        Err(NotTaken::Io(error)) => Err(failure::of_io(path, &error)),
    }
}
