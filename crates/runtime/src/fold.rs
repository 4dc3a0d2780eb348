//! Brings a view up to date from the ledger.
//! Owns: starting from a kept state, going on from there, keeping the new one. Must not: know any view.

use crate::ports::ledger::{Error, Ledger, Snapshot};
use countersign_record::access::MatterAccess;
use countersign_record::chain::Head;
use countersign_record::id::FoldId;
use countersign_views::Fold;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};

/// A state is kept again when this many rows have come since the last one.
const KEEP_EVERY_ROWS: u64 = 1_000;

/// The state of a view and the row it stands at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folded<F> {
    /// The state.
    pub view: F,
    /// The last row in it; `None` before the first.
    pub head: Option<Head>,
    /// How many rows had to be read for it.
    pub read: u64,
}

/// The view `F` of a matter, as of its last row.
///
/// # Errors
/// The ledger can't be read, or holds a row that can't be decoded.
pub async fn current<F: Fold>(ledger: &dyn Ledger, access: &MatterAccess) -> Result<Folded<F>, Error> {
    let fold = FoldId::try_from(F::NAME).map_err(|error| Error::Archive { why: error.to_string() })?;
    let kept = ledger.kept(access, &fold, F::VERSION).await?;
    let start = kept
        .and_then(|kept| F::load(&kept.bytes).map(|view| Folded { view, head: Some(kept.head), read: 0 }));
    let start = start.unwrap_or_else(|| Folded { view: F::default(), head: None, read: 0 });
    let after = start.head.map_or(0, |head| head.seq);
    let state = Arc::new(Mutex::new((start, None)));
    let shared = Arc::clone(&state);
    let visitor = move |seq, row: Result<countersign_record::row::RowRef<'_>, String>| {
        let mut state = shared.lock().unwrap_or_else(PoisonError::into_inner);
        match row {
            Ok(row) => {
                state.0.view.apply(&row);
                state.0.head = Some(Head { seq, hash: row.hash });
                state.0.read += 1;
                ControlFlow::Continue(())
            }
            Err(why) => {
                state.1 = Some(Error::RowCorrupt { seq, why });
                ControlFlow::Break(())
            }
        }
    };
    ledger.scan(access, after, Box::new(visitor)).await?;
    let folded = taken(&state)?;
    keep(ledger, access, &fold, &folded).await;
    Ok(folded)
}

/// What the visitor has made, once the scan is over.
fn taken<F: Fold>(state: &Mutex<(Folded<F>, Option<Error>)>) -> Result<Folded<F>, Error> {
    let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
    match state.1.take() {
        Some(error) => Err(error),
        None => Ok(std::mem::replace(&mut state.0, Folded { view: F::default(), head: None, read: 0 })),
    }
}

/// Keeping a state only saves time, so a ledger that can't take it now (another process writes, the disk is
/// full) costs nothing but that.
async fn keep<F: Fold>(ledger: &dyn Ledger, access: &MatterAccess, fold: &FoldId, folded: &Folded<F>) {
    if let (Some(head), true) = (folded.head, folded.read >= KEEP_EVERY_ROWS) {
        let snapshot = Snapshot { head, bytes: folded.view.save() };
        drop(ledger.keep(access, fold, F::VERSION, snapshot).await);
    }
}
