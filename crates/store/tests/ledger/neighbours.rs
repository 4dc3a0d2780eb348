//! Damage to what one request asks about is that request's trouble alone.

use countersign_record::access::Role;
use countersign_record::code::Code;
use countersign_record::upcast;
use countersign_runtime::ports::ledger::{Batch, Journal, Ledger};
use countersign_store::Sqlite;
use countersign_testkit::drafts::{access, batch, key, row};
use countersign_testkit::scratch::Scratch;
use std::sync::Arc;

fn keyed() -> Batch {
    Batch { idem_key: Some(key("k")), ..batch(vec![row("run:1", "kept")]) }
}

#[tokio::test]
async fn a_damaged_request_refuses_no_neighbour() {
    let (scratch, admin) = (Scratch::new(), access("m", Role::Admin));
    let ledger = Sqlite::open(scratch.path(), upcast::LEDGER);
    ledger.append(&admin, keyed()).await.unwrap();
    ledger.append(&admin, batch(vec![row("run:1", "last")])).await.unwrap();
    drop(ledger);
    let file = scratch.path().join("matters/m/ledger.sqlite");
    let connection = rusqlite::Connection::open(file).unwrap();
    connection.execute("UPDATE rows SET data_class = 99 WHERE seq = 1", []).unwrap();
    drop(connection);

    let ledger = Arc::new(Sqlite::open(scratch.path(), upcast::LEDGER));
    let mut tasks = Vec::new();
    for number in 0..32 {
        let (ledger, admin) = (Arc::clone(&ledger), admin.clone());
        tasks.push(tokio::spawn(async move {
            let asked = if number == 7 { keyed() } else { batch(vec![row("run:2", "neighbour")]) };
            (number, ledger.append(&admin, asked).await)
        }));
    }
    for task in tasks {
        match task.await.unwrap() {
            (7, answer) => assert_eq!(answer.unwrap_err().code(), Code::LedgerCorrupt),
            (_, answer) => drop(answer.unwrap()),
        }
    }
    assert_eq!(ledger.head(&admin).await.unwrap().seq, 33);
}
