//! The deterministic memory read (SPEC-006) over files.
//! Owns: opening stores, sharing the work between cores, putting the parts together. Must not: let the number of
//! threads, or the order in which they end, change a byte of the package.

mod lines;
mod package;
mod part;

pub use package::{Package, Receipt};

use countersign_kernel::recall::package::Reason;
use countersign_kernel::recall::{Input, Key, Plan, Refusal, Selection, Trust, Verdict, path};
use countersign_record::json;
use lines::{Range, Store};
use part::{Candidate, Part};
use rustix::fs::OFlags;
use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::num::NonZero;
use std::os::unix::fs::OpenOptionsExt;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A store is read in pieces of this size, by as many threads as there are cores.
const RANGE_BYTES: u64 = 4 * 1024 * 1024;
/// A trust snapshot is a governed document.
const SNAPSHOT_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// Reads the stores of the input and selects from them.
///
/// # Errors
/// The input, a store or the trust snapshot can't be used; checked in this order.
pub fn read(input: &Input) -> Result<Package, Refusal> {
    let paths = path::stores(&input.store_paths);
    let mut stores = Vec::with_capacity(paths.len());
    for path in paths {
        let (file, length) = open(&path)?;
        stores.push(Store { path, file, length });
    }
    let plan = Plan::new(input, read_trust(input)?);
    let parts = scan(&plan, &stores)?;
    let ordered = ordered(&parts, &stores);
    let mut selection = Selection::new(input.budget);
    let mut excerpts = Vec::new();
    let mut rest = None;
    for candidate in &ordered {
        match selection.next(candidate.tokens) {
            Verdict::Selected => excerpts.push(excerpt(&plan, &stores, candidate)?),
            // Selection stops here: what holds for this one holds for all after it.
            Verdict::BudgetExhausted => rest = Some(Reason::BudgetExhausted),
            Verdict::MaxItemsReached => rest = Some(Reason::MaxItemsReached),
        }
        if rest.is_some() {
            break;
        }
    }
    let (query, query_hash) = (input.query.clone(), plan.query_hash());
    let (budget, used) = (input.budget, selection.used());
    Ok(Package { query, query_hash, budget, used, stores, parts, ordered, excerpts, rest })
}

/// Opens a regular file, and says how long it is at this moment: what is appended later is not part of the read.
fn open(path: &str) -> Result<(File, u64), Refusal> {
    let unreadable = |why: String| Refusal::StoreUnreadable { path: path.into(), why };
    // Without it, a pipe of this name would hold us for ever.
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path);
    let file = file.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Refusal::StoreMissing { path: path.into() },
        kind => unreadable(kind.to_string()),
    })?;
    let about = file.metadata().map_err(|error| unreadable(error.kind().to_string()))?;
    if !about.is_file() {
        return Err(unreadable("it is no regular file".into()));
    }
    Ok((file, about.len()))
}

fn read_trust(input: &Input) -> Result<Trust, Refusal> {
    let filter = &input.trust_filter;
    let Some(path) = &filter.trust_snapshot_path else { return Ok(Trust::default()) };
    let unusable = |why: String| Refusal::TrustSnapshot { path: path.clone(), why };
    let (file, _) = open(path).map_err(|refusal| match refusal {
        Refusal::StoreUnreadable { why, .. } => unusable(why),
        _ => unusable("there is no such file".into()),
    })?;
    let mut bytes = Vec::new();
    let read = file.take(SNAPSHOT_BYTES_MAX + 1).read_to_end(&mut bytes);
    read.map_err(|error| unusable(error.kind().to_string()))?;
    let snapshot = json::parse(&bytes).map_err(|error| unusable(error.to_string()))?;
    Trust::read(&snapshot, &filter.deny_classifications).map_err(unusable)
}

/// Looks at every line of every store. The parts come back in reading order, whoever read them.
fn scan(plan: &Plan, stores: &[Store]) -> Result<Vec<Part>, Refusal> {
    let ranges: Vec<Range> =
        stores.iter().enumerate().flat_map(|(at, store)| store.ranges(at, RANGE_BYTES)).collect();
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(range) = ranges.get(at) else { return Ok(done) };
            done.push((at, Part::read(plan, stores, range)?));
        }
    };
    let others = cores.min(ranges.len()).saturating_sub(1);
    let shares: Vec<Result<Vec<(usize, Part)>, Refusal>> = std::thread::scope(|scope| {
        let helpers: Vec<_> = (0..others).map(|_| scope.spawn(work)).collect();
        let own = work();
        let helped = helpers
            .into_iter()
            .map(|helper| helper.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        std::iter::once(own).chain(helped).collect()
    });
    let mut parts = Vec::with_capacity(ranges.len());
    for share in shares {
        parts.extend(share?);
    }
    parts.sort_unstable_by_key(|(at, _)| *at);
    Ok(parts.into_iter().map(|(_, part)| part).collect())
}

/// Every candidate, in the contract's order. Each part is in order already, so this only merges.
fn ordered(parts: &[Part], stores: &[Store]) -> Vec<Candidate> {
    let mut all = Vec::with_capacity(parts.iter().map(|part| part.candidates.len()).sum());
    for (at, part) in parts.iter().enumerate() {
        let number = u32::try_from(at).unwrap_or(u32::MAX);
        all.extend(part.candidates.iter().map(|candidate| Candidate { part: number, ..*candidate }));
    }
    let id = |one: &Candidate| parts.get(one.part as usize).map_or("", |part| part.text(one.id));
    let key = |one: &Candidate| key(one, id(one), stores);
    all.sort_by(|a, b| key(a).order(&key(b)));
    all
}

fn key<'a>(one: &Candidate, memory_id: &'a str, stores: &'a [Store]) -> Key<'a> {
    let store_path = stores.get(one.store as usize).map_or("", |store| &store.path);
    Key { score: one.score, at: one.at, store_path, memory_id, record_hash: one.record_hash }
}

/// Reads the line of a selected candidate again: keeping every text until the order is known would take the memory
/// of the whole store.
fn excerpt(plan: &Plan, stores: &[Store], candidate: &Candidate) -> Result<String, Refusal> {
    let Some(store) = stores.get(candidate.store as usize) else { return Ok(String::new()) };
    let changed = || Refusal::StoreChanged { path: store.path.clone() };
    let line = store.line(candidate.offset, candidate.length).map_err(|_| changed())?;
    plan.excerpt(&line, candidate.record_hash).ok_or_else(changed)
}
