//! Holds the governed records of a ledger to the contract, part by part.
//! Owns: reading them. Must not: judge; `govern` does.

use crate::ports::ledger::{Error, Ledger, PAGE_ROWS_MAX, Query, Select};
use countersign_govern::audit::{Audit, Group, Placed, is_shared, kind_of};
use countersign_govern::check::Diagnostic;
use countersign_govern::kind::Kind;
use countersign_govern::world::Draft;
use countersign_record::access::MatterAccess;
use countersign_record::id::StreamId;
use countersign_record::json::{self, Json};
use countersign_record::row::RowRef;
use countersign_record::time::Instant;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};

/// What an audit found.
#[derive(Debug)]
pub struct Audited {
    /// Rows of the ledger.
    pub rows: u64,
    /// Those of them that are governed records.
    pub governed: u64,
    /// What is wrong; the rows are those of the ledger.
    pub found: Vec<Diagnostic>,
}

/// What a scan does with a governed record: its stream, its type, its place and itself.
type Taken = Box<dyn FnMut(&str, &'static Kind, Placed) + Send>;

/// Checks a ledger by every rule, as of a time or else of its last row. Memory is that of the rows that are looked at together: what all runs
/// go by, the runs that go on beside each other, and those that name each other.
///
/// # Errors
/// The ledger can't be read, or holds a row that can't be decoded.
pub async fn ledger(
    ledger: &dyn Ledger,
    access: &MatterAccess,
    now: Option<Instant>,
) -> Result<Audited, Error> {
    // What all runs go by must be known before the first of them is looked at.
    let shared = Arc::new(Mutex::new((Vec::new(), now)));
    let keep = Arc::clone(&shared);
    let (rows, last) =
        scan(ledger, access, is_shared, Box::new(move |_, _, placed| lock(&keep).0.push(placed))).await?;
    let (first, now) = std::mem::take(&mut *lock(&shared));
    let audit = Arc::new(Mutex::new((Audit::new(first, now.or(last)), 0_u64)));
    let take = Arc::clone(&audit);
    let each: Taken = Box::new(move |stream, _, (seq, draft)| {
        let mut audit = lock(&take);
        audit.0.row(stream, seq, draft);
        audit.1 += 1;
    });
    scan(ledger, access, |kind| !is_shared(kind), each).await?;
    let groups = lock(&audit).0.groups();
    for group in groups {
        let rows = streams(ledger, access, &group).await?;
        lock(&audit).0.group(&group, rows);
    }
    let (audit, governed) = std::mem::replace(&mut *lock(&audit), (Audit::new(Vec::new(), None), 0));
    Ok(Audited { rows, governed, found: audit.finish() })
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Shows the governed records of some types; gives how many rows there are, and the latest time.
async fn scan(
    ledger: &dyn Ledger,
    access: &MatterAccess,
    is_wanted: fn(&Kind) -> bool,
    mut each: Taken,
) -> Result<(u64, Option<Instant>), Error> {
    let state = Arc::new(Mutex::new((0_u64, None, None)));
    let shared = Arc::clone(&state);
    let visitor = move |seq, row: Result<RowRef<'_>, String>| {
        let mut state = lock(&shared);
        state.0 = seq;
        let row = match row {
            Ok(row) => row,
            Err(why) => {
                state.2 = Some(Error::RowCorrupt { seq, why });
                return ControlFlow::Break(());
            }
        };
        let at = Instant::read(row.at);
        state.1 = state.1.max(at);
        let Some(kind) = kind_of(row.kind).filter(|kind| is_wanted(kind)) else {
            return ControlFlow::Continue(());
        };
        match json::parse(row.payload) {
            Ok(record) => {
                each(row.stream, kind, (seq, draft(kind, at, record)));
                ControlFlow::Continue(())
            }
            Err(error) => {
                state.2 = Some(Error::RowCorrupt { seq, why: error.to_string() });
                ControlFlow::Break(())
            }
        }
    };
    ledger.scan(access, 0, Box::new(visitor)).await?;
    let mut state = lock(&state);
    match state.2.take() {
        Some(error) => Err(error),
        None => Ok((state.0, state.1)),
    }
}

fn draft(kind: &Kind, at: Option<Instant>, record: Json) -> Draft {
    Draft { kind: kind.name.to_owned(), id: None, at, record }
}

/// The governed records of some streams that are not shared, in order.
async fn streams(ledger: &dyn Ledger, access: &MatterAccess, group: &Group) -> Result<Vec<Placed>, Error> {
    let mut rows: Vec<Placed> = Vec::new();
    for stream in &group.streams {
        let stream =
            StreamId::try_from(stream.as_str()).map_err(|error| Error::Archive { why: error.to_string() })?;
        let mut after = Some(0);
        while let Some(from) = after {
            let query = Query {
                select: Select::Stream(stream.clone()),
                after: from,
                up_to: u64::MAX,
                limit: PAGE_ROWS_MAX,
            };
            let page = ledger.read(access, query).await?;
            for row in page.rows {
                if let Some(kind) = kind_of(row.kind.as_str()).filter(|kind| !is_shared(kind)) {
                    rows.push((row.seq, draft(kind, Some(row.at.instant()), row.payload)));
                }
            }
            after = page.next;
        }
    }
    rows.sort_by_key(|(seq, _)| *seq);
    Ok(rows)
}
