//! A file that holds more than a ledger does: triggers, tables and bytes of other hands.

use crate::support::{Holding, admin, block_on, database, open};
use countersign_record::code::Code;
use countersign_record::digest::Digest;
use countersign_record::hold;
use countersign_record::json::Json;
use countersign_runtime::ports::ledger::{Blob, Journal, Ledger};
use countersign_testkit::drafts::{batch, blob, draft, row};
use countersign_testkit::scratch::Scratch;
use rusqlite::{Connection, params};
use std::sync::Arc;

const BYTES: &[u8] = b"what a row names";

/// A ledger that was closed, with a blob that is there and one that was erased.
fn ledger() -> Scratch {
    let scratch = Scratch::new();
    block_on(async {
        let ledger = open(scratch.path());
        let mut naming = draft("run:1", "source.read", Json::Null);
        naming.blobs = vec![blob(BYTES), blob(b"erased")];
        ledger.append(&admin(), batch(vec![naming.seal().unwrap(), row("run:1", "a")])).await.unwrap();
        let digest = Digest::of(b"erased");
        let receipt = draft(hold::STREAM, hold::ERASED, hold::erased(&digest, "asked for")).seal().unwrap();
        ledger.erase(&admin(), digest, receipt).await.unwrap();
    });
    scratch
}

#[test]
fn objects_of_other_hands_are_refused_by_readers_and_writers() {
    for change in [
        "CREATE TRIGGER t AFTER INSERT ON rows BEGIN DELETE FROM rows WHERE seq = new.seq - 1; END",
        "CREATE VIEW kept AS SELECT 1",
        "CREATE TABLE notes(text TEXT)",
        "CREATE INDEX by_actor ON rows(actor)",
        "DROP INDEX blobs_by_digest",
        "ALTER TABLE rows ADD COLUMN note TEXT",
        "ALTER TABLE snapshots RENAME TO shots",
    ] {
        let scratch = ledger();
        let connection = Connection::open(database(scratch.path())).unwrap();
        connection.execute_batch(change).unwrap();
        connection.close().unwrap();
        let before = std::fs::read(database(scratch.path())).unwrap();
        block_on(async {
            let ledger = open(scratch.path());
            for refused in [
                ledger.head(&admin()).await.map(drop),
                ledger.verify(&admin(), Vec::new()).await.map(drop),
                ledger.append(&admin(), batch(vec![row("run:1", "b")])).await.map(drop),
            ] {
                assert_eq!(refused.unwrap_err().code(), Code::LedgerCorrupt, "{change}");
            }
        });
        assert!(before == std::fs::read(database(scratch.path())).unwrap(), "{change}: the file was touched");
    }
}

#[test]
fn bytes_that_no_row_names_are_found() {
    let copy_of_erased = "INSERT INTO blobs(digest, size, bytes) VALUES (?1, 6, ?2)";
    for (what, change, bytes) in [
        ("never recorded", copy_of_erased, &b"smuggled in"[..]),
        (
            "the erased record's bytes, in a record below it",
            "INSERT INTO blobs(id, digest, size, bytes) VALUES (0, ?1, 6, ?2)",
            b"erased",
        ),
    ] {
        let scratch = ledger();
        let connection = Connection::open(database(scratch.path())).unwrap();
        connection.execute(change, params![Digest::of(bytes).as_bytes(), bytes]).unwrap();
        connection.close().unwrap();
        let report = block_on(async { open(scratch.path()).verify(&admin(), Vec::new()).await }).unwrap();
        let found: Vec<Code> = report.findings.iter().map(|finding| finding.damage.code()).collect();
        assert_eq!(found, [Code::BlobUnnamed], "{what}");
        assert!(report.findings[0].message().contains(&Digest::of(bytes).to_string()), "{what}");
    }
}

/// Putting the bytes back behind the receipt undoes the erasure, not its record.
#[test]
fn erased_bytes_that_are_back_are_found() {
    let scratch = ledger();
    let connection = Connection::open(database(scratch.path())).unwrap();
    let back = "UPDATE blobs SET bytes = ?2, receipt = NULL WHERE digest = ?1";
    let digest = Digest::of(b"erased");
    assert_eq!(connection.execute(back, params![digest.as_bytes(), b"erased"]).unwrap(), 1);
    connection.close().unwrap();
    let report = block_on(async { open(scratch.path()).verify(&admin(), Vec::new()).await }).unwrap();
    let found: Vec<_> = report.findings.iter().map(|one| (one.seq, one.damage.code())).collect();
    assert_eq!(found, [(3, Code::BlobUnnamed)]);
}

/// Damage beside the rows is mended as `explain` says: by an export, which an import takes.
#[test]
fn what_is_wrong_beside_the_rows_is_mended_by_an_export() {
    for (code, change) in [
        (Code::LedgerIndex, "UPDATE head SET indexed = 1"),
        (Code::LedgerIndex, "INSERT INTO kinds(name) VALUES ('hidden text')"),
        (Code::LedgerIndex, "INSERT INTO head VALUES (2, 0, x'00', 0)"),
        (Code::BlobUnnamed, "INSERT INTO blobs(digest, size, bytes) VALUES (zeroblob(32), 1, x'00')"),
        (Code::BlobUnnamed, "INSERT INTO blobs(digest, size, receipt) VALUES (zeroblob(32), 1, 2)"),
        (Code::BlobUnnamed, "UPDATE blobs SET bytes = 'erased', receipt = NULL WHERE receipt IS NOT NULL"),
    ] {
        let change = change.replace("'erased'", "CAST('erased' AS BLOB)");
        let scratch = ledger();
        let connection = Connection::open(database(scratch.path())).unwrap();
        assert_eq!(connection.execute(&change, []).unwrap(), 1, "{change}");
        connection.close().unwrap();
        let (archive, mended) = (scratch.path().join("archive"), Scratch::new());
        block_on(async {
            let damaged = open(scratch.path());
            let report = damaged.verify(&admin(), Vec::new()).await.unwrap();
            assert_eq!(report.findings[0].damage.code(), code, "{change}");
            let head = countersign_store::archive::export(&damaged, &admin(), &archive).await.unwrap();
            let ledger = open(mended.path());
            assert_eq!(countersign_store::archive::import(&ledger, &admin(), &archive).await.unwrap(), head);
            assert!(ledger.verify(&admin(), Vec::new()).await.unwrap().is_sound(), "{change}");
        });
    }
}

/// A list that lost a stream must not let its next row take a place that is taken.
#[test]
fn nothing_is_appended_to_a_stream_that_has_lost_its_list() {
    for change in ["UPDATE head SET indexed = 3", "UPDATE head SET indexed = 100"] {
        let scratch = ledger();
        let connection = Connection::open(database(scratch.path())).unwrap();
        assert_eq!(connection.execute(change, []).unwrap(), 1);
        connection.close().unwrap();
        block_on(async {
            let ledger = open(scratch.path());
            let refused = ledger.append(&admin(), batch(vec![row("run:1", "b")])).await.unwrap_err();
            assert_eq!(refused.code(), Code::LedgerCorrupt, "{change}");
            assert_eq!(ledger.head(&admin()).await.unwrap().seq, 3, "{change}");
        });
    }
}

#[test]
fn bytes_of_other_hands_get_no_receipt() {
    let scratch = ledger();
    let (bytes, digest) = (b"smuggled in", Digest::of(b"smuggled in"));
    let connection = Connection::open(database(scratch.path())).unwrap();
    let put = "INSERT INTO blobs(digest, size, bytes) VALUES (?1, 11, ?2)";
    connection.execute(put, params![digest.as_bytes(), bytes]).unwrap();
    connection.close().unwrap();
    let receipt = draft(hold::STREAM, hold::ERASED, hold::erased(&digest, "asked for")).seal().unwrap();
    let refused = block_on(async { open(scratch.path()).erase(&admin(), digest, receipt).await });
    assert_eq!(refused.unwrap_err().code(), Code::BlobUnknown);
}

#[test]
fn more_than_a_hundred_strange_blobs_are_counted() {
    let scratch = ledger();
    let connection = Connection::open(database(scratch.path())).unwrap();
    for at in 0..150_u8 {
        let put = "INSERT INTO blobs(digest, size, bytes) VALUES (zeroblob(32), 1, ?1)";
        connection.execute(put, [[at]]).unwrap();
    }
    connection.close().unwrap();
    let report = block_on(async { open(scratch.path()).verify(&admin(), Vec::new()).await }).unwrap();
    assert_eq!((report.findings.len(), report.unlisted), (100, 50));
}

/// Whoever keeps a state of a view is a reader, and keeps nobody from writing.
#[test]
fn keeping_a_state_gives_the_lock_back() {
    let scratch = ledger();
    block_on(async {
        let (reader, writer) = (open(scratch.path()), open(scratch.path()));
        let head = reader.head(&admin()).await.unwrap();
        let fold = countersign_record::id::FoldId::try_from("a_view").unwrap();
        let state = countersign_runtime::ports::ledger::Snapshot { head, bytes: vec![1] };
        reader.keep(&admin(), &fold, 1, state.clone()).await.unwrap();
        writer.append(&admin(), batch(vec![row("run:1", "b")])).await.unwrap();
        assert_eq!(reader.kept(&admin(), &fold, 1).await.unwrap(), Some(state));
    });
}

/// The erasure is answered even if a reader never ends; the answer says that bytes are left, and for how long.
#[test]
fn an_erasure_does_not_wait_for_ever() {
    let scratch = ledger();
    block_on(async {
        let ledger = Arc::new(open(scratch.path()));
        let digest = Digest::of(BYTES);
        let reader = Holding::on(&ledger).await;
        let receipt = draft(hold::STREAM, hold::ERASED, hold::erased(&digest, "asked for")).seal().unwrap();
        let erasure = ledger.erase(&admin(), digest, receipt).await.unwrap();
        assert!(!erasure.is_purged);
        assert_eq!(
            ledger.blob(&admin(), digest).await.unwrap(),
            Blob::Erased { receipt: erasure.receipt.seq }
        );
        assert!(holds_bytes(&scratch), "the reader keeps the log from being emptied");
        reader.end().await;
        // Closing empties the log.
        drop(ledger);
    });
    assert!(!holds_bytes(&scratch));
}

fn holds_bytes(scratch: &Scratch) -> bool {
    let database = database(scratch.path());
    let log = database.with_extension("sqlite-wal");
    [database, log].iter().any(|file| {
        std::fs::read(file).is_ok_and(|bytes| bytes.windows(BYTES.len()).any(|window| window == BYTES))
    })
}
