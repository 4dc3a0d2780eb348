//! Copies of a text that is erased from the ledger: checkpoints and traces of sessions.
//! Owns: whose they are, and that they go. Must not: decide that something is erased.

use crate::cli::Global;
use crate::command::session;
use crate::failure::Failure;
use crate::office::Rooms;
use crate::place::Place;
use countersign_record::code::Code;
use countersign_record::deed;
use countersign_record::digest::Digest;
use countersign_record::id::SessionName;
use countersign_record::row::RowRef;
use countersign_runtime::ports::ledger::{self, Ledger};
use countersign_store::sessions::Session;
use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// The sessions that hold a copy, taken so that nobody goes on with one meanwhile.
pub(super) struct Copies(BTreeMap<SessionName, Session>);

impl Copies {
    /// Those of a blob. A session that somebody has open is refused: it would write its copy again.
    pub(super) async fn of(global: &Global, place: &Place, digest: Digest) -> Result<Self, Failure> {
        let sessions = Rooms::of(global)?.sessions();
        let mut copies = BTreeMap::new();
        for name in naming(place, digest).await? {
            let taken = sessions.take(&name)?;
            copies.insert(name, taken);
        }
        Ok(Copies(copies))
    }

    /// Removes them, and has the sessions told again from the ledger.
    pub(super) async fn forget(self, global: &Global) -> Result<Vec<SessionName>, Failure> {
        let rooms = Rooms::of(global)?;
        let traces = rooms.traces();
        if !self.0.is_empty() {
            // What was typed, and pages that were fetched: both are only kept to save time.
            for path in rooms.spares() {
                remove(&path)?;
            }
        }
        for (name, session) in &self.0 {
            session.forget()?;
            traces.forget(name).map_err(|error| {
                Failure::new(Code::FileUnreadable, format!("the traces of {name} can't be removed: {error}"))
            })?;
        }
        let names: Vec<SessionName> = self.0.into_keys().collect();
        for name in &names {
            session::told_again(global, name).await?;
        }
        Ok(names)
    }
}

fn remove(path: &Path) -> Result<(), Failure> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(Failure::file(&path.display().to_string(), &error))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

/// The sessions whose rows name a blob.
async fn naming(place: &Place, digest: Digest) -> Result<BTreeSet<SessionName>, Failure> {
    let names = Arc::new(Mutex::new(BTreeSet::new()));
    let found = Arc::clone(&names);
    let visitor = move |_: u64, row: Result<RowRef<'_>, String>| {
        // A row that can't be decoded names nothing; `ledger verify` tells of it.
        if let Ok(row) = row
            && row.blobs.iter().any(|blob| blob.digest == digest)
        {
            found.lock().unwrap_or_else(PoisonError::into_inner).extend(deed::session_of(row.stream));
        }
        ControlFlow::Continue(())
    };
    match place.ledger.scan(&place.access, 0, Box::new(visitor)).await {
        Ok(()) | Err(ledger::Error::Missing { .. }) => {}
        Err(error) => return Err(error.into()),
    }
    Ok(std::mem::take(&mut *names.lock().unwrap_or_else(PoisonError::into_inner)))
}
