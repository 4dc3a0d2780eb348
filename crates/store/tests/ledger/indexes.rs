//! What the ledger remembers beside its rows: damage of it is told, and nothing is appended on top of it.

use crate::support::{admin, block_on, database, files, open};
use countersign_record::code::Code;
use countersign_runtime::ports::ledger::{Journal, Ledger};
use countersign_testkit::drafts::{batch, draft, row};
use countersign_testkit::scratch::Scratch;
use rusqlite::Connection;
use std::fs;

/// A name stands in its table and in the index of the table. A byte of either is flipped in the file itself.
#[test]
fn a_damaged_name_is_found() {
    let scratch = Scratch::new();
    block_on(async {
        let found = draft("run:needle-stream", "needle.kind", "a").seal().unwrap();
        let rows = vec![row("run:1", "a"), found, row("run:2", "a")];
        open(scratch.path()).append(&admin(), batch(rows)).await.unwrap();
    });
    let whole = fs::read(database(scratch.path())).unwrap();
    for name in ["run:needle-stream", "needle.kind"] {
        let found = whole.windows(name.len()).enumerate().filter(|(_, window)| *window == name.as_bytes());
        let places: Vec<usize> = found.map(|(at, _)| at).collect();
        assert_eq!(places.len(), 2, "{name} stands in the table and in the index");
        for place in places {
            let mut damaged = whole.clone();
            damaged[place + 5] ^= 1;
            let copy = Scratch::new();
            fs::create_dir_all(copy.path().join("matters/m")).unwrap();
            fs::write(database(copy.path()), damaged).unwrap();
            let verified = block_on(async { open(copy.path()).verify(&admin(), Vec::new()).await });
            assert!(!verified.is_ok_and(|report| report.is_sound()), "{name} at byte {place}");
        }
    }
}

/// The writer begins with the recorded head. Where it is not the last row, nothing is appended.
#[test]
fn nothing_is_appended_to_a_head_that_is_not_the_last_row() {
    for change in [
        "UPDATE head SET hash = zeroblob(32)",
        "UPDATE head SET seq = 9223372036854775807",
        "UPDATE head SET seq = 4",
        "UPDATE head SET seq = 2",
        "UPDATE head SET seq = 0",
        "DELETE FROM rows WHERE seq = 3",
        "DELETE FROM rows",
    ] {
        let scratch = Scratch::new();
        let rows = vec![row("run:1", "a"), row("run:2", "b"), row("run:1", "c")];
        block_on(async { open(scratch.path()).append(&admin(), batch(rows)).await }).unwrap();
        let connection = Connection::open(database(scratch.path())).unwrap();
        assert!(connection.execute(change, []).unwrap() > 0, "{change}");
        connection.close().unwrap();
        let before = files(scratch.path());
        let refused = block_on(async {
            open(scratch.path()).append(&admin(), batch(vec![row("run:1", "d")])).await.unwrap_err()
        });
        assert_eq!(refused.code(), Code::LedgerCorrupt, "{change}: {refused}");
        let database = "matters/m/ledger.sqlite".as_ref();
        assert!(files(scratch.path()).get(database as &std::path::Path) == before.get(database), "{change}");
    }
}
