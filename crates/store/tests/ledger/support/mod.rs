//! What the store's tests share: a ledger in a scratch directory, and its files.
//! Owns: opening, reading whole ledgers as bytes.

pub(crate) mod meanwhile;

use countersign_durable::Lock;
use countersign_record::access::{MatterAccess, Role};
use countersign_record::row::{self, Row};
use countersign_record::upcast;
use countersign_runtime::ports::ledger::{Blob, Error, Ledger, Query, Select};
use countersign_store::Sqlite;
use countersign_testkit::drafts;
use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

pub(crate) fn open(root: &Path) -> Sqlite {
    Sqlite::open(root, upcast::LEDGER)
}

/// A ledger that does not wait for one that another has.
pub(crate) fn impatient(root: &Path) -> Sqlite {
    open(root).waiting(Duration::ZERO)
}

/// The lock of a matter, held as a process that writes without a pause holds it.
pub(crate) fn held(root: &Path) -> Lock {
    let lock = Lock::take(&root.join("matters/m/ledger.lock"), Duration::from_secs(60)).unwrap();
    lock.sign().unwrap();
    lock
}

/// Runs something async to its end.
pub(crate) fn block_on<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    runtime.block_on(work)
}

pub(crate) fn admin() -> MatterAccess {
    drafts::access("m", Role::Admin)
}

pub(crate) fn database(root: &Path) -> PathBuf {
    root.join("matters/m/ledger.sqlite")
}

/// Every row, exactly as it is stored.
pub(crate) async fn scanned(ledger: &dyn Ledger, access: &MatterAccess) -> Vec<Row> {
    let rows = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&rows);
    let visitor = move |_: u64, stored: Result<row::RowRef<'_>, String>| {
        seen.lock().unwrap().push(stored.unwrap().to_row().unwrap());
        ControlFlow::Continue(())
    };
    ledger.scan(access, 0, Box::new(visitor)).await.unwrap();
    std::mem::take(&mut *rows.lock().unwrap())
}

/// Every row of a selection, page by page.
pub(crate) async fn selected(
    ledger: &dyn Ledger,
    access: &MatterAccess,
    select: Select,
    limit: usize,
) -> Result<Vec<Row>, Error> {
    let mut query = Query { select, after: 0, up_to: u64::MAX, limit };
    let mut rows = Vec::new();
    loop {
        let page = ledger.read(access, query.clone()).await?;
        rows.extend(page.rows);
        match page.next {
            // Every page brings rows, so this ends.
            Some(next) if next > query.after => query.after = next,
            Some(next) => panic!("a page that leads from {} to {next}", query.after),
            None => return Ok(rows),
        }
    }
}

/// Every way to select some of the rows, with those that it should give.
pub(crate) fn selections(rows: &[Row]) -> Vec<(Select, Vec<Row>)> {
    let mut streams: BTreeMap<_, Vec<Row>> = BTreeMap::new();
    let mut kinds: BTreeMap<_, Vec<Row>> = BTreeMap::new();
    for row in rows {
        streams.entry(row.stream.clone()).or_default().push(row.clone());
        kinds.entry(row.kind.clone()).or_default().push(row.clone());
    }
    let streams = streams.into_iter().map(|(name, rows)| (Select::Stream(name), rows));
    streams.chain(kinds.into_iter().map(|(name, rows)| (Select::Kind(name), rows))).collect()
}

/// All that can be read of a matter, as bytes.
pub(crate) async fn everything(ledger: &dyn Ledger, access: &MatterAccess) -> Vec<u8> {
    let mut bytes = format!("{:?}\n", ledger.head(access).await).into_bytes();
    let Ok(_) = ledger.head(access).await else { return bytes };
    let rows = scanned(ledger, access).await;
    let mut named = BTreeSet::new();
    for row in &rows {
        bytes.extend(row::line(row).unwrap());
        bytes.push(b'\n');
        named.extend(row.blobs.iter().map(|blob| blob.digest));
    }
    for digest in named {
        match ledger.blob(access, digest).await {
            Ok(Blob::Present(content)) => bytes.extend(content),
            other => bytes.extend(format!("{other:?}").into_bytes()),
        }
    }
    bytes
}

/// Every file below a directory, by its path from there, with its bytes.
pub(crate) fn files(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut dirs = vec![dir.to_path_buf()];
    while let Some(next) = dirs.pop() {
        for entry in std::fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                dirs.push(path);
            } else {
                found.insert(path.strip_prefix(dir).unwrap().to_path_buf(), std::fs::read(&path).unwrap());
            }
        }
    }
    found
}

/// A reader that stands still in the middle of a walk, and keeps old pages alive.
pub(crate) struct Holding {
    release: std::sync::mpsc::Sender<()>,
    reading: tokio::task::JoinHandle<()>,
}

impl Holding {
    /// Begins to read; when this returns, the reader holds on.
    pub(crate) async fn on(ledger: &std::sync::Arc<countersign_store::Sqlite>) -> Self {
        let (begun, has_begun) = tokio::sync::oneshot::channel();
        let (release, released) = std::sync::mpsc::channel::<()>();
        let reader = std::sync::Arc::clone(ledger);
        let reading = tokio::spawn(async move {
            let mut begun = Some(begun);
            let visitor = move |_: u64, _: Result<countersign_record::row::RowRef<'_>, String>| {
                if let Some(begun) = begun.take() {
                    begun.send(()).unwrap();
                    released.recv().unwrap();
                }
                std::ops::ControlFlow::Continue(())
            };
            reader.scan(&admin(), 0, Box::new(visitor)).await.unwrap();
        });
        has_begun.await.unwrap();
        Holding { release, reading }
    }

    /// Lets go, and ends.
    pub(crate) async fn end(self) {
        self.release.send(()).unwrap();
        self.reading.await.unwrap();
    }
}
