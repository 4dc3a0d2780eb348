//! The ledger's conformance suite: any store must pass all of it.
//! Owns: the cases and running them. Must not: look behind the port.

mod appending;
mod blobs;
mod following;
mod reading;
mod restoring;

use crate::drafts;
use countersign_record::access::{MatterAccess, Role};
use countersign_record::chain::Head;
use countersign_record::json::{Json, Object};
use countersign_record::row::Row;
use countersign_record::upcast::{Step, Upcasts};
use countersign_runtime::ports::ledger::{Appended, Batch, Error, Ledger, Query, Select};
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};

/// A store under test, with what it stands on.
pub trait Harness: Send {
    /// The ledger as it is open now.
    fn ledger(&self) -> Arc<dyn Ledger>;

    /// Closes the ledger and opens it again on the same ground.
    fn reopen(&mut self);

    /// A second, empty store on other ground.
    fn another(&self) -> Box<dyn Harness>;
}

/// The upcasts that a store under test reads with: `note.taken` has grown twice.
pub const UPCASTS: Upcasts = Upcasts {
    newest: &[("note.taken", 3)],
    steps: &[
        Step { kind: "note.taken", from: 2, apply: |old| with(old, "language", "en") },
        Step { kind: "note.taken", from: 1, apply: |old| with(old, "source", "unknown") },
    ],
};

fn with(old: Json, name: &str, value: &str) -> Json {
    match old {
        Json::Object(mut object) => {
            object.insert(name, value);
            Json::Object(object)
        }
        other => Json::Object(Object::from([("old", other), (name, value.into())])),
    }
}

/// One case: what it is called, and what it does with a fresh store.
type Case = (&'static str, fn(Bench) -> Pin<Box<dyn Future<Output = ()>>>);

/// Runs every case on a store of its own and names all that fail.
///
/// # Panics
/// A case failed.
pub fn run<H: Harness + 'static>(make: impl Fn() -> H) {
    let mut failed = Vec::new();
    let suites = [appending::CASES, blobs::CASES, reading::CASES, following::CASES, restoring::CASES];
    for (name, case) in suites.into_iter().flatten() {
        let bench = Bench { harness: Box::new(make()) };
        let result = std::thread::spawn(move || {
            let runtime =
                tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().expect("a runtime");
            runtime.block_on(case(bench));
        });
        if result.join().is_err() {
            failed.push(*name);
        }
    }
    assert!(failed.is_empty(), "the store does not conform: {failed:?}");
}

/// What a case works with.
struct Bench {
    harness: Box<dyn Harness>,
}

impl Bench {
    fn ledger(&self) -> Arc<dyn Ledger> {
        self.harness.ledger()
    }

    async fn append(&self, batch: Batch) -> Result<Appended, Error> {
        self.ledger().append(&operator(), batch).await
    }

    /// Appends one plain row to a stream.
    async fn note(&self, stream: &str, text: &str) -> Appended {
        self.append(drafts::batch(vec![drafts::row(stream, text)])).await.expect("the row is appended")
    }

    async fn head(&self) -> Head {
        self.ledger().head(&viewer()).await.expect("there is a ledger")
    }

    async fn all(&self) -> Vec<Row> {
        all_of(&*self.ledger(), &viewer()).await
    }

    async fn assert_sound(&self) {
        let report = self.ledger().verify(&viewer(), Vec::new()).await.expect("the ledger can be verified");
        assert_eq!(report.findings, [], "the ledger verifies");
    }
}

fn viewer() -> MatterAccess {
    drafts::access("m", Role::Viewer)
}

fn operator() -> MatterAccess {
    drafts::access("m", Role::Operator)
}

fn admin() -> MatterAccess {
    drafts::access("m", Role::Admin)
}

fn everything() -> Query {
    Query { select: Select::All, after: 0, up_to: u64::MAX, limit: usize::MAX }
}

/// Every row, page by page.
async fn all_of(ledger: &dyn Ledger, access: &MatterAccess) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut query = everything();
    loop {
        let page = ledger.read(access, query.clone()).await.expect("the ledger can be read");
        rows.extend(page.rows);
        match page.next {
            Some(next) => query.after = next,
            None => return rows,
        }
    }
}

/// What a walk sees, each row with its own copies.
async fn scanned(ledger: &dyn Ledger, access: &MatterAccess, after: u64) -> Vec<Row> {
    let rows = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&rows);
    let visitor = move |seq: u64, stored: Result<countersign_record::row::RowRef<'_>, String>| {
        let row = stored.expect("the row can be decoded").to_row().expect("the row can be read");
        assert_eq!(row.seq, seq);
        seen.lock().expect("one walker").push(row);
        std::ops::ControlFlow::Continue(())
    };
    ledger.scan(access, after, Box::new(visitor)).await.expect("the ledger can be walked");
    std::mem::take(&mut *rows.lock().expect("one walker"))
}
