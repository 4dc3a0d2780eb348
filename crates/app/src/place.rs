//! Where a command works: the data directory, the matter, the clock, who acts.
//! Owns: turning global options into ports. Must not: create anything before a command writes.

use crate::cli::Global;
use crate::failure::Failure;
use countersign_record::access::{Access, MatterAccess, Role};
use countersign_record::code::Code;
use countersign_record::id::{MatterId, PrincipalId};
use countersign_record::time::Timestamp;
use countersign_record::upcast;
use countersign_runtime::clock::Clock;
use countersign_store::Sqlite;
use countersign_store::keys::Keyring;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Everything a command needs to act.
pub(crate) struct Place {
    pub(crate) ledger: Sqlite,
    pub(crate) keys: Keyring,
    pub(crate) access: MatterAccess,
    pub(crate) clock: Clock,
    /// Where the matters are.
    pub(crate) root: PathBuf,
}

impl Place {
    pub(crate) fn open(global: &Global) -> Result<Self, Failure> {
        let matter = MatterId::try_from(global.matter.as_str())?;
        let principal = PrincipalId::try_from(global.principal.as_str())?;
        // Whoever can run us on this directory can also open its files, so the local user may do everything in
        // the matter that was named, and nothing in any other.
        let access = Access::new(principal, BTreeMap::from([(matter.clone(), Role::Admin)]))
            .to(&matter)
            .map_err(|refused| Failure::new(refused.code(), refused.to_string()))?;
        let root = store_root(global)?;
        Ok(Place {
            ledger: Sqlite::open(&root, upcast::LEDGER),
            keys: Keyring::open(&global.data),
            access,
            clock: clock(global)?,
            root,
        })
    }

    pub(crate) fn now(&self) -> Result<Timestamp, Failure> {
        self.clock.now().map_err(|_| outside("the clock"))
    }

    pub(crate) fn matter(&self) -> &MatterId {
        self.access.matter()
    }
}

/// The clock that the options ask for.
pub(crate) fn clock(global: &Global) -> Result<Clock, Failure> {
    let invalid = |error| Failure::new(Code::TimeInvalid, format!("--now: {error}"));
    let now = global.now.as_deref().map(Timestamp::try_from).transpose().map_err(invalid)?;
    // What is written is UTC, and an offset may carry a time of the first or last year out of all that can be said.
    if let Some(now) = &now
        && Timestamp::try_from(now.instant()).is_err()
    {
        return Err(outside("--now"));
    }
    Ok(Clock::new(now.as_ref(), global.seed, entropy()?))
}

fn outside(what: &str) -> Failure {
    let message = "the time is outside the years 0000 to 9999 in UTC, which are all that can be written";
    Failure::new(Code::TimeInvalid, format!("{what}: {message}"))
}

/// Thirty-two bytes nobody can guess.
pub(crate) fn entropy() -> Result<[u8; 32], Failure> {
    let mut bytes = [0; 32];
    match getrandom::fill(&mut bytes) {
        Ok(()) => Ok(bytes),
        Err(error) => Err(Failure::new(Code::FileUnreadable, format!("the machine's randomness: {error}"))),
    }
}

fn store_root(global: &Global) -> Result<PathBuf, Failure> {
    match global.store.as_deref() {
        None => Ok(global.data.clone()),
        Some(url) => match url.strip_prefix("sqlite:") {
            Some(path) if !path.is_empty() => Ok(PathBuf::from(path.strip_prefix("//").unwrap_or(path))),
            Some(_) | None => Err(Failure::new(
                Code::LedgerUnknownStore,
                format!("--store {url}: only sqlite:DIR is known"),
            )),
        },
    }
}
