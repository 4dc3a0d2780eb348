//! The SQLite store against the ledger port's conformance suite.

use countersign_runtime::ports::ledger::Ledger;
use countersign_store::Sqlite;
use countersign_testkit::conformance::ledger::{Harness, UPCASTS, run};
use countersign_testkit::scratch::Scratch;
use std::sync::Arc;

struct OnDisk {
    ledger: Option<Arc<Sqlite>>,
    scratch: Arc<Scratch>,
}

impl OnDisk {
    fn new() -> Self {
        let scratch = Arc::new(Scratch::new());
        OnDisk { ledger: Some(open(&scratch)), scratch }
    }
}

fn open(scratch: &Scratch) -> Arc<Sqlite> {
    Arc::new(Sqlite::open(scratch.path(), UPCASTS))
}

impl Harness for OnDisk {
    fn ledger(&self) -> Arc<dyn Ledger> {
        let ledger: Arc<Sqlite> = Arc::clone(self.ledger.as_ref().expect("it is open"));
        ledger
    }

    fn reopen(&mut self) {
        // Closed before it is opened: a matter has one writer.
        let closed = self.ledger.take().and_then(Arc::into_inner);
        assert!(closed.is_some(), "nobody else holds the ledger");
        drop(closed);
        self.ledger = Some(open(&self.scratch));
    }

    fn another(&self) -> Box<dyn Harness> {
        Box::new(OnDisk::new())
    }
}

#[test]
fn sqlite_conforms() {
    run(OnDisk::new);
}
