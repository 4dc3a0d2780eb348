//! The deterministic memory read (SPEC-006) over files.
//! Owns: opening stores, sharing the work between cores, putting the parts together. Must not: let the number of
//! threads, or the order in which they end, change a byte of the package.

mod lines;
mod package;
mod part;

pub use package::Package;

use countersign_durable::{self as durable, Links};
use countersign_kernel::recall::package::Reason;
use countersign_kernel::recall::{Excerpt, Input, Plan, Refusal, Selection, Trust, Verdict, path};
use countersign_record::json;
use countersign_runtime::ports::{Answer, memory};
use lines::{Piece, Store};
use part::{Candidate, Name, Part};
use std::fs::File;
use std::io::{self, Read};
use std::num::NonZero;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A store is read in pieces of this size, unless somebody asks for another one.
const PIECE_BYTES: NonZero<u64> = NonZero::new(2 * 1024 * 1024).unwrap();
/// Places in a piece are counted in 32 bits.
const PIECE_BYTES_MAX: NonZero<u64> = NonZero::new(1024 * 1024 * 1024).unwrap();
/// A trust snapshot is a governed document.
const SNAPSHOT_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// How the work is shared. It changes how long a read takes, and not a byte of what it gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sharing {
    /// How many threads read.
    pub threads: NonZero<usize>,
    /// How much of a store one of them takes at a time.
    pub piece_bytes: NonZero<u64>,
}

impl Default for Sharing {
    /// As many threads as there are cores.
    fn default() -> Self {
        let threads = std::thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN);
        Sharing { threads, piece_bytes: PIECE_BYTES }
    }
}

/// Memory stores as files: what the runtime reads memory through.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stores {
    sharing: Sharing,
}

impl memory::Memory for Stores {
    fn read(&self, input: Input) -> Answer<'_, Result<Box<dyn memory::Package>, Refusal>> {
        let sharing = self.sharing;
        let reading = move || -> Result<Box<dyn memory::Package>, Refusal> {
            // Hashed here, where nobody else is kept waiting.
            Ok(Box::new(read_shared(&input, sharing)?.hashed()))
        };
        Box::pin(async move {
            match tokio::task::spawn_blocking(reading).await {
                Ok(read) => read,
                Err(error) => match error.try_into_panic() {
                    Ok(panic) => std::panic::resume_unwind(panic),
                    // The executor is ending, and whoever waits for this ends with it.
                    Err(_) => std::future::pending().await,
                },
            }
        })
    }
}

/// Reads the stores of the input and selects from them, on every core.
///
/// # Errors
/// As [`read_shared`].
pub fn read(input: &Input) -> Result<Package, Refusal> {
    read_shared(input, Sharing::default())
}

/// Reads the stores of the input and selects from them.
///
/// # Errors
/// A store or the trust snapshot can't be used; checked in this order.
pub fn read_shared(input: &Input, sharing: Sharing) -> Result<Package, Refusal> {
    let paths = path::stores(&input.store_paths);
    let stores = paths.into_iter().map(Store::new).collect::<Result<Vec<_>, _>>()?;
    let plan = Plan::new(input, read_trust(input)?);
    let parts = scan(&plan, &stores, sharing)?;
    let order = part::merged(&parts);
    let mut selection = Selection::new(input.budget);
    let mut excerpts = Vec::new();
    let mut reader = Rereader { plan: &plan, open: None };
    let mut rest = None;
    for one in part::ordered(&parts, &order) {
        let (Some(candidate), Some(store)) = (one.candidate(), stores.get(one.part.store as usize)) else {
            continue;
        };
        match selection.next(candidate.tokens) {
            Verdict::Selected => excerpts.push(reader.excerpt(store, candidate, one.name)?),
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
    Ok(Package {
        query,
        query_hash,
        budget,
        used,
        stores,
        parts,
        order,
        excerpts,
        rest,
        hash: OnceLock::new(),
    })
}

fn read_trust(input: &Input) -> Result<Trust, Refusal> {
    let filter = &input.trust_filter;
    let Some(path) = &filter.trust_snapshot_path else { return Ok(Trust::default()) };
    let unusable = |why: String| Refusal::TrustSnapshot { path: path.clone(), why };
    let (file, _) =
        durable::open_regular(Path::new(path), Links::Followed).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => unusable("there is no such file".into()),
            _ => unusable(lines::why(&error)),
        })?;
    let mut bytes = Vec::new();
    let read = file.take(SNAPSHOT_BYTES_MAX + 1).read_to_end(&mut bytes);
    read.map_err(|error| unusable(error.kind().to_string()))?;
    let snapshot = json::parse(&bytes).map_err(|error| unusable(error.without_text()))?;
    Trust::read(&snapshot, &filter.deny_classifications).map_err(unusable)
}

/// What one thread read, each part with the number of its piece; or the piece that it could not read.
type Share = Result<Vec<(usize, Part)>, (usize, Refusal)>;

/// Looks at every line of every store. The parts come back in reading order, whoever read them.
fn scan(plan: &Plan, stores: &[Store], sharing: Sharing) -> Result<Vec<Part>, Refusal> {
    let Sharing { threads, piece_bytes } = sharing;
    let piece_bytes = piece_bytes.min(PIECE_BYTES_MAX);
    let ranges: Vec<Piece> =
        stores.iter().enumerate().flat_map(|(at, store)| store.ranges(at, piece_bytes.get())).collect();
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(range) = ranges.get(at) else { return Ok(done) };
            done.push((at, Part::read(plan, stores, range).map_err(|refusal| (at, refusal))?));
        }
    };
    let others = threads.get().min(ranges.len()).saturating_sub(1);
    let shares: Vec<Share> = std::thread::scope(|scope| {
        // A machine that has no thread to give has the calling one.
        let helper = || std::thread::Builder::new().spawn_scoped(scope, work).ok();
        let helpers: Vec<_> = (0..others).map_while(|_| helper()).collect();
        let own = work();
        let helped = helpers
            .into_iter()
            .map(|helper| helper.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        std::iter::once(own).chain(helped).collect()
    });
    let (mut parts, mut refusals) = (Vec::with_capacity(ranges.len()), Vec::new());
    for share in shares {
        match share {
            Ok(share) => parts.extend(share),
            Err(refused) => refusals.push(refused),
        }
    }
    // Pieces are taken in order and each is ended: the first that can't be read is the same whoever was faster.
    if let Some((_, refusal)) = refusals.into_iter().min_by_key(|(at, _)| *at) {
        return Err(refusal);
    }
    parts.sort_unstable_by_key(|(at, _)| *at);
    Ok(parts.into_iter().map(|(_, part)| part).collect())
}

/// Reads the lines of selected candidates again: keeping every text until the order is known would take the memory of
/// the whole store.
struct Rereader<'a> {
    plan: &'a Plan,
    /// The store of the last one; the next one is often there too.
    open: Option<(&'a str, File)>,
}

impl<'a> Rereader<'a> {
    fn excerpt(&mut self, store: &'a Store, candidate: &Candidate, name: Name) -> Result<Excerpt, Refusal> {
        let refusal = |error: io::Error| store.refusal(&error);
        let (_, file) = match self.open.take() {
            Some((path, file)) if path == store.path => self.open.insert((path, file)),
            Some(_) | None => self.open.insert((&store.path, store.open().map_err(refusal)?)),
        };
        let mut line = vec![0; candidate.length as usize];
        file.read_exact_at(&mut line, candidate.offset).map_err(refusal)?;
        let changed = || Refusal::StoreChanged { path: store.path.clone() };
        self.plan.excerpt(&line, name.record_hash).ok_or_else(changed)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests fail by panicking")]
mod tests {
    use super::*;
    use countersign_testkit::scratch::Scratch;

    /// Two stores go wrong, each on a thread of its own: the first of them is told, whoever was faster.
    #[test]
    fn the_first_trouble_is_told_whoever_finds_it() {
        let scratch = Scratch::new();
        let place = |name: &str| scratch.path().join(name).to_str().unwrap().to_owned();
        let stores = [place("a"), place("b")].map(|path| {
            std::fs::write(&path, "x\n".repeat(50_000)).unwrap();
            Store::new(path).unwrap()
        });
        std::fs::write(place("a"), "x\n".repeat(49_999)).unwrap();
        std::fs::write(place("b"), "").unwrap();
        let document = json::parse(br#"{"query":"x","store_paths":["a"],"budget":{"max_excerpt_tokens":1}}"#);
        let plan = Plan::new(&Input::read(&document.unwrap()).unwrap(), Trust::default());
        let (threads, piece_bytes) = (NonZero::new(2).unwrap(), NonZero::new(1 << 20).unwrap());
        for _ in 0..100 {
            let refusal = scan(&plan, &stores, Sharing { threads, piece_bytes }).unwrap_err();
            assert_eq!(refusal, Refusal::StoreChanged { path: place("a") });
        }
    }
}
