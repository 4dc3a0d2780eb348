//! Holds the governed records of a ledger to the contract, part by part.
//! Owns: reading them. Must not: judge; `govern` does.

use crate::ports::ledger::{Error, Ledger, PAGE_ROWS_MAX, Query, Select};
use countersign_govern::audit::{Audit, BATCH, Group, Placed, is_shared, kind_of};
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

/// What a scan does with a governed record: its stream, its place and itself.
type Taken = Box<dyn FnMut(&str, Placed) + Send>;

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
        scan(ledger, access, is_shared, Box::new(move |_, placed| lock(&keep).0.push(placed))).await?;
    let (first, now) = std::mem::take(&mut *lock(&shared));
    let of_all = first.len() as u64;
    let audit = Arc::new(Mutex::new((Audit::new(first, now.or(last), BATCH), of_all)));
    let take = Arc::clone(&audit);
    let each: Taken = Box::new(move |stream, (seq, draft)| {
        let mut audit = lock(&take);
        audit.0.row(stream, seq, draft);
        audit.1 += 1;
    });
    scan(ledger, access, |stream, kind| !is_shared(stream, kind), each).await?;
    let groups = lock(&audit).0.groups();
    for group in groups {
        let rows = streams(ledger, access, &group).await?;
        lock(&audit).0.group(&group, rows);
    }
    let (audit, governed) = std::mem::replace(&mut *lock(&audit), (Audit::new(Vec::new(), None, BATCH), 0));
    Ok(Audited { rows, governed, found: audit.finish() })
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Shows the governed records of some types; gives how many rows there are, and the latest time.
async fn scan(
    ledger: &dyn Ledger,
    access: &MatterAccess,
    is_wanted: fn(&str, &Kind) -> bool,
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
        let Some(kind) = kind_of(row.kind).filter(|kind| is_wanted(row.stream, kind)) else {
            return ControlFlow::Continue(());
        };
        match json::parse(row.payload).map(|payload| draft(kind, at, payload)) {
            Ok(Some(draft)) => {
                each(row.stream, (seq, draft));
                ControlFlow::Continue(())
            }
            Ok(None) => {
                state.2 = Some(Error::RowCorrupt { seq, why: NO_RECORD.to_owned() });
                ControlFlow::Break(())
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

const NO_RECORD: &str =
    "a governed record is an object with a record, and an id where its type has no member for that";

/// What a payload holds: `{"record": {…}, "id"?: "…"}`, as a row of a bundle does.
fn draft(kind: &Kind, at: Option<Instant>, payload: Json) -> Option<Draft> {
    let Json::Object(mut members) = payload else { return None };
    let id = members.get("id").and_then(Json::as_str).map(str::to_owned);
    let record = members.remove("record")?;
    record.as_object()?;
    Some(Draft { kind: kind.name.to_owned(), id, at, record })
}

/// The governed records of some streams, in order.
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
                if let Some(kind) =
                    kind_of(row.kind.as_str()).filter(|kind| !is_shared(stream.as_str(), kind))
                {
                    let at = Some(row.at.instant());
                    rows.extend(draft(kind, at, row.payload).map(|draft| (row.seq, draft)));
                }
            }
            after = page.next;
        }
    }
    rows.sort_by_key(|(seq, _)| *seq);
    Ok(rows)
}
