//! Brings a view up to date from the ledger.
//! Owns: starting from a kept state, going on from there, keeping the new one, and holding a kept one against the
//! rows. Must not: know any view.

use crate::ports::ledger::{Error, Ledger, Snapshot};
use countersign_record::access::MatterAccess;
use countersign_record::chain::{Damage, Finding, Head};
use countersign_record::id::FoldId;
use countersign_record::row::RowRef;
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
    let fold = id_of::<F>()?;
    let kept = ledger.kept(access, &fold, F::VERSION).await?;
    let start = kept
        .and_then(|kept| F::load(&kept.bytes).map(|view| Folded { view, head: Some(kept.head), read: 0 }));
    let folded = up_to(ledger, access, start.unwrap_or_else(Folded::start), u64::MAX).await?;
    keep(ledger, access, &fold, &folded).await;
    Ok(folded)
}

/// Folds the kept state of `F` again from the first row: the chain does not cover it, and a changed one would show
/// what never happened.
///
/// # Errors
/// The ledger can't be read, or holds a row that can't be decoded.
pub async fn check<F: Fold>(ledger: &dyn Ledger, access: &MatterAccess) -> Result<Option<Finding>, Error> {
    let Some(kept) = ledger.kept(access, &id_of::<F>()?, F::VERSION).await? else { return Ok(None) };
    let folded = up_to(ledger, access, Folded::<F>::start(), kept.head.seq).await?;
    let damage = || Damage::StateChanged { view: F::NAME.into() };
    Ok((folded.view.save() != kept.bytes).then(|| Finding { seq: kept.head.seq, damage: damage() }))
}

fn id_of<F: Fold>() -> Result<FoldId, Error> {
    FoldId::try_from(F::NAME).map_err(|error| Error::Archive { why: error.to_string() })
}

impl<F: Fold> Folded<F> {
    fn start() -> Self {
        Folded { view: F::default(), head: None, read: 0 }
    }
}

/// Goes on from a state to a row.
async fn up_to<F: Fold>(
    ledger: &dyn Ledger,
    access: &MatterAccess,
    from: Folded<F>,
    last: u64,
) -> Result<Folded<F>, Error> {
    let after = from.head.map_or(0, |head| head.seq);
    let state = Arc::new(Mutex::new((from, None)));
    let shared = Arc::clone(&state);
    let visitor = move |seq, row: Result<RowRef<'_>, String>| {
        let mut state = shared.lock().unwrap_or_else(PoisonError::into_inner);
        match row {
            _ if seq > last => ControlFlow::Break(()),
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
    let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
    match state.1.take() {
        Some(error) => Err(error),
        None => Ok(std::mem::replace(&mut state.0, Folded::start())),
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
