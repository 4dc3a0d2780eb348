//! Holds the governed records of a ledger to the contract.
//! Owns: reading them. Must not: judge; `govern` does.

use crate::ports::ledger::{Error, Glance, Ledger, Query, Select};
use countersign_govern::audit::{self, Audit, Found, Limits, Log, Pass, Raw, has_own_settings, is_governed};
use countersign_govern::world::Held;
use countersign_record::access::MatterAccess;
use countersign_record::id::{RowKind, StreamId};
use countersign_record::json::Names;
use countersign_record::time::Instant;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What is asked of an audit.
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    /// The time up to which is looked; else the latest time of a row.
    pub now: Option<Instant>,
    /// Whether members are looked for that no type has.
    pub is_strict: bool,
    /// Whether the log is held to what a whole one must agree on with itself.
    pub is_whole: bool,
    /// How much is held.
    pub limits: Limits,
}

impl Default for Asked {
    fn default() -> Self {
        Asked { now: None, is_strict: false, is_whole: false, limits: Limits::LEDGER }
    }
}

/// What an audit found.
#[derive(Debug)]
pub struct Audited {
    /// Rows of the ledger.
    pub rows: u64,
    /// Those of them that are governed records.
    pub governed: u64,
    /// What is wrong; the rows are those of the ledger.
    pub found: Found,
}

/// What a pass over the ledger counts.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    rows: u64,
    governed: u64,
    latest: Option<Instant>,
}

/// Checks a ledger by every rule, up to the row that is its last one now, or that was at the time that is asked for. `seen` is told how many rows were looked at.
///
/// # Errors
/// The ledger can't be read, or holds a row that can't be decoded.
pub async fn ledger(
    ledger: &dyn Ledger,
    access: &MatterAccess,
    asked: Asked,
    seen: impl Fn(u64) + Clone + Send + 'static,
) -> Result<Audited, Error> {
    let mut end = ledger.head(access).await?.seq;
    if let Some(until) = asked.now {
        end = last_until(ledger, access, end, until).await?;
    }
    let of_all = of_all(ledger, access, end, asked.now).await?;
    let mut now = asked.now.or(last_time(ledger, access, end).await?);
    loop {
        let log = Log { now, end };
        let mut audit = Audit::new(log, asked.limits, of_all.clone());
        if asked.is_strict {
            audit = audit.strict();
        }
        if asked.is_whole {
            audit = audit.whole();
        }
        let mut count = None;
        loop {
            let passes = audit.passes();
            if passes.is_empty() {
                break;
            }
            let (passes, counted) = scan(ledger, access, (end, asked.now), passes, seen.clone()).await?;
            count = count.or(Some(counted));
            for mut pass in passes {
                for group in pass.groups() {
                    for stream in &group.streams {
                        let stream = StreamId::try_from(stream.as_str())
                            .map_err(|error| Error::Archive { why: error.to_string() })?;
                        let select = Select::Stream(stream);
                        let see = move |pass: &mut Pass, row: Raw<'_>| {
                            if is_there(row.at, asked.now) {
                                pass.group_row(row);
                            }
                        };
                        pass = show(ledger, access, end, select, pass, see).await?;
                    }
                    pass.group_end(&group);
                }
                audit.done(pass);
            }
        }
        let count = count.unwrap_or_default();
        // Nearly always the last row is the latest. Where it is not, rules were asked at a time that is over.
        if asked.now.is_none() && count.latest != now {
            now = count.latest;
            continue;
        }
        return Ok(Audited { rows: count.rows, governed: count.governed, found: audit.finish() });
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Shows all rows to some passes.
async fn scan(
    ledger: &dyn Ledger,
    access: &MatterAccess,
    (end, until): (u64, Option<Instant>),
    passes: Vec<Pass>,
    seen: impl Fn(u64) + Send + 'static,
) -> Result<(Vec<Pass>, Count), Error> {
    let state = Arc::new(Mutex::new((passes, Count::default(), None)));
    let shared = Arc::clone(&state);
    let glancer = move |seq, row: Result<Glance<'_>, String>| {
        if seq > end {
            return ControlFlow::Break(());
        }
        let (passes, count, error) = &mut *lock(&shared);
        let row = match row {
            Ok(row) => row,
            Err(why) => {
                *error = Some(Error::RowCorrupt { seq, why });
                return ControlFlow::Break(());
            }
        };
        let raw = raw(row);
        count.rows = seq;
        count.latest = count.latest.max(raw.at);
        if is_governed(raw.kind) && is_there(raw.at, until) {
            count.governed += 1;
            passes.iter_mut().for_each(|pass| pass.row(raw));
        }
        if seq.is_multiple_of(SEEN_ROWS) {
            seen(seq);
        }
        ControlFlow::Continue(())
    };
    ledger.glance(access, 0, Box::new(glancer)).await?;
    let (passes, count, error) = &mut *lock(&state);
    match error.take() {
        Some(error) => Err(error),
        None => Ok((std::mem::take(passes), *count)),
    }
}

/// So many rows are looked at before it is told.
const SEEN_ROWS: u64 = 8_192;

fn raw(row: Glance<'_>) -> Raw<'_> {
    let Glance { seq, stream, stream_seq: place, kind, at, payload } = row;
    Raw { seq, stream, place, kind, at: Instant::read(at), payload }
}

/// Shows the governed records of a selection to something, in order.
async fn show<T: Send + 'static>(
    ledger: &dyn Ledger,
    access: &MatterAccess,
    up_to: u64,
    select: Select,
    to: T,
    mut see: impl FnMut(&mut T, Raw<'_>) + Send + 'static,
) -> Result<T, Error> {
    let state = Arc::new(Mutex::new((Some(to), None)));
    let shared = Arc::clone(&state);
    let glancer = move |seq, row: Result<Glance<'_>, String>| {
        let (to, error) = &mut *lock(&shared);
        match (row, to) {
            (Ok(row), Some(to)) => {
                if is_governed(row.kind) {
                    see(to, raw(row));
                }
                ControlFlow::Continue(())
            }
            (Err(why), _) => {
                *error = Some(Error::RowCorrupt { seq, why });
                ControlFlow::Break(())
            }
            (Ok(_), None) => ControlFlow::Break(()),
        }
    };
    ledger.glance_at(access, select, up_to, Box::new(glancer)).await?;
    let (to, error) = &mut *lock(&state);
    match (to.take(), error.take()) {
        (Some(to), None) => Ok(to),
        (_, Some(error)) => Err(error),
        (None, None) => Err(Error::Archive { why: "what is shown was taken away".to_owned() }),
    }
}

/// What all runs go by, in order. What holds no record is told when it is met.
async fn of_all(
    ledger: &dyn Ledger,
    access: &MatterAccess,
    up_to: u64,
    until: Option<Instant>,
) -> Result<Vec<Held>, Error> {
    let mut found = (Vec::new(), Names::default());
    for known in audit::of_all() {
        for from in ["govern", "external.govern"] {
            let kind = RowKind::try_from(format!("{from}.{}", known.snake).as_str())
                .map_err(|error| Error::Archive { why: error.to_string() })?;
            let keep = move |(all, names): &mut (Vec<Held>, Names), row: Raw<'_>| {
                if !has_own_settings(row.stream) && is_there(row.at, until) {
                    all.extend(audit::read(row, names));
                }
            };
            found = show(ledger, access, up_to, Select::Kind(kind), found, keep).await?;
        }
    }
    let (mut all, _) = found;
    all.sort_by_key(Held::seq);
    Ok(all)
}

/// Whether a row was written by a time.
fn is_there(at: Option<Instant>, until: Option<Instant>) -> bool {
    at.zip(until).is_none_or(|(at, until)| at <= until)
}

/// The last row that was written by a time.
async fn last_until(
    ledger: &dyn Ledger,
    access: &MatterAccess,
    end: u64,
    until: Instant,
) -> Result<u64, Error> {
    let last = Arc::new(Mutex::new(0));
    let shared = Arc::clone(&last);
    let glancer = move |seq, row: Result<Glance<'_>, String>| {
        if seq > end {
            return ControlFlow::Break(());
        }
        // What can't be read is told when it is met.
        if row.ok().is_none_or(|row| is_there(Instant::read(row.at), Some(until))) {
            *lock(&shared) = seq;
        }
        ControlFlow::Continue(())
    };
    ledger.glance(access, 0, Box::new(glancer)).await?;
    let last = *lock(&last);
    Ok(last)
}

/// The time of the last row.
async fn last_time(ledger: &dyn Ledger, access: &MatterAccess, end: u64) -> Result<Option<Instant>, Error> {
    let query = Query { select: Select::All, after: end.saturating_sub(1), up_to: end, limit: 1 };
    let page = ledger.read(access, query).await?;
    Ok(page.rows.last().map(|row| row.at.instant()))
}
