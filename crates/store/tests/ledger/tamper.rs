//! Whatever somebody does to the file with other tools, `verify` finds it and names the row.

use crate::support::{admin, block_on, database, open, scanned};
use countersign_record::chain::{Anchor, Head, genesis};
use countersign_record::code::Code;
use countersign_record::digest::Digest;
use countersign_record::hold;
use countersign_record::id::PrincipalId;
use countersign_record::json::{Json, Object};
use countersign_record::row::{PackedBlobs, Row};
use countersign_record::time::Timestamp;
use countersign_runtime::ports::ledger::{Batch, Journal, Ledger};
use countersign_store::keys::Keyring;
use countersign_testkit::drafts::{batch, blob, draft, key, matter, random_batch, row};
use countersign_testkit::random::Seed;
use countersign_testkit::scratch::Scratch;
use rusqlite::{Connection, params};
use std::path::Path;

/// A ledger with a bit of everything, and how to make copies of it to be tampered with.
struct Original {
    scratch: Scratch,
    rows: Vec<Row>,
    anchor: Anchor,
}

/// A copy of the ledger. What only stands in its log is in the file first: whoever closes last may be a reader, who leaves it.
fn copied(root: &Path) -> Scratch {
    Connection::open(database(root))
        .unwrap()
        .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
        .unwrap();
    let copy = Scratch::new();
    std::fs::create_dir_all(copy.path().join("matters/m")).unwrap();
    std::fs::copy(database(root), database(copy.path())).unwrap();
    copy
}

impl Original {
    fn new() -> Self {
        let scratch = Scratch::new();
        let keys = Keyring::open(scratch.path());
        let signer = PrincipalId::try_from("tester").unwrap();
        keys.add(&signer, [7; 32]).unwrap();
        let seed = Seed::of("a ledger to be tampered with", 51);
        let mut random = seed.random();
        let rows = block_on(async {
            let ledger = open(scratch.path());
            let mut before = 0;
            for at in 0..14 {
                let mut batch = random_batch(&mut random, before, 3);
                batch.idem_key = (at % 3 == 0).then(|| key(&format!("key-{at}")));
                before += ledger.append(&admin(), batch).await.unwrap().rows.len() as u64;
            }
            let decision =
                draft("run:1", "call.approved", Object::from([("call", "1".into())])).seal().unwrap();
            let signed = keys.sign_decision(&signer, &matter("m"), decision).unwrap();
            let mut naming = draft("run:1", "source.read", Json::Null);
            naming.blobs = vec![blob(b"blob to be changed"), blob(b"blob to be erased")];
            let mut naming_again = naming.clone();
            naming_again.blobs = vec![blob(b"blob to be changed")];
            let rows = vec![signed, naming.seal().unwrap(), naming_again.seal().unwrap()];
            ledger.append(&admin(), batch(rows)).await.unwrap();
            let erased = Digest::of(b"blob to be erased");
            let receipt = draft(hold::STREAM, hold::ERASED, hold::erased(&erased, "")).seal().unwrap();
            ledger.erase(&admin(), erased, receipt).await.unwrap();
            for _ in 0..4 {
                ledger.append(&admin(), random_batch(&mut random, before, 2)).await.unwrap();
            }
            scanned(&ledger, &admin()).await
        });
        let last = rows.last().unwrap();
        let at = Timestamp::try_from("2026-02-03T04:05:06Z").unwrap();
        let head = Head { seq: last.seq, hash: last.hash };
        let anchor = keys.anchor(&matter("m"), head, &at, [9; 32]).unwrap();
        Original { scratch, rows, anchor }
    }

    /// Tampers with a copy and gives what `verify` finds, by code and row.
    fn tampered(&self, anchors: Vec<Anchor>, tamper: impl FnOnce(&Connection)) -> Vec<(Code, u64)> {
        let copy = copied(self.scratch.path());
        let connection = Connection::open(database(copy.path())).unwrap();
        tamper(&connection);
        connection.close().unwrap();
        verify(copy.path(), anchors)
    }

    fn check(&self, what: &str, expected: (Code, u64), tamper: impl FnOnce(&Connection)) {
        let found = self.tampered(Vec::new(), tamper);
        assert!(found.contains(&expected), "{what}: {expected:?} is not among {found:?}");
    }

    fn last(&self) -> u64 {
        self.rows.len() as u64
    }

    /// The first row of which this holds.
    fn first(&self, holds: impl Fn(&Row) -> bool) -> u64 {
        self.rows.iter().find(|row| holds(row)).unwrap().seq
    }
}

fn verify(root: &Path, anchors: Vec<Anchor>) -> Vec<(Code, u64)> {
    let report = block_on(async { open(root).verify(&admin(), anchors).await }).unwrap();
    report.findings.iter().map(|finding| (finding.damage.code(), finding.seq)).collect()
}

fn set_head(connection: &Connection, head: Head) {
    let seq = i64::try_from(head.seq).unwrap();
    connection.execute("UPDATE head SET seq = ?1, hash = ?2", params![seq, head.hash.as_bytes()]).unwrap();
}

#[test]
fn an_untouched_copy_is_sound() {
    let original = Original::new();
    assert_eq!(original.tampered(vec![original.anchor.clone()], |_| {}), []);
}

#[test]
fn every_changed_column_is_found() {
    let original = Original::new();
    let seed = Seed::of("changed columns", 52);
    let mut random = seed.random();
    // Each changes one column of a row to another value that its type allows.
    let changes = [
        "stream = stream % (SELECT max(id) FROM streams) + 1, stream_seq = stream_seq + 100000",
        "stream_seq = stream_seq + 100000",
        "stream = 99",
        "kind = kind % (SELECT max(id) FROM kinds) + 1",
        "kind = 99",
        "version = version + 1",
        "version = -1",
        "at = '2020-01-01T00:00:00Z'",
        "at = 'yesterday'",
        "actor = 'somebody'",
        "actor = cast(x'ff' as text)",
        "proof = (proof + 1) % 2, key = NULL, signature = NULL",
        "proof = 9",
        "key = x'00'",
        "signature = x'00'",
        "cause = coalesce(cause, 0) + 1",
        "idem_key = coalesce(idem_key, '') || 'x'",
        "data_class = (data_class + 1) % 4",
        "data_class = 4",
        "taint = (taint + 1) % 5",
        "taint = -1",
        "payload_hash = randomblob(32)",
        "payload_hash = x'00'",
        "prev_hash = randomblob(32)",
        "hash = randomblob(32)",
        "hash = x'00'",
        "blobs = randomblob(40)",
        "blobs = randomblob(39)",
        "payload = cast(payload || ' ' as blob)",
        "payload = x'ff'",
        "payload = x''",
    ];
    for change in changes {
        for _ in 0..3 {
            let seq = random.within(1..original.last() + 1);
            original.check(&format!("{change} of row {seq}"), (Code::ChainChanged, seq), |connection| {
                let sql = format!("UPDATE rows SET {change} WHERE seq = ?1");
                assert_eq!(connection.execute(&sql, [i64::try_from(seq).unwrap()]).unwrap(), 1);
            });
        }
    }
}

#[test]
fn a_renamed_stream_or_kind_is_found() {
    let original = Original::new();
    let first = original.first(|row| row.stream == original.rows[0].stream);
    original.check("a renamed stream", (Code::ChainChanged, first), |connection| {
        let name = original.rows[0].stream.as_str();
        connection.execute("UPDATE streams SET name = 'renamed' WHERE name = ?1", [name]).unwrap();
    });
    let first = original.first(|row| row.kind == original.rows[0].kind);
    original.check("a lost kind", (Code::ChainChanged, first), |connection| {
        connection.execute("DELETE FROM kinds WHERE name = ?1", [original.rows[0].kind.as_str()]).unwrap();
    });
}

/// Moves the rows from `from` on by `by` places, as somebody would who wants the places dense again.
fn renumber(connection: &Connection, from: u64, by: i64) {
    let from = i64::try_from(from).unwrap();
    connection.execute("UPDATE rows SET seq = -(seq + ?2) WHERE seq >= ?1", [from, by]).unwrap();
    connection.execute("UPDATE rows SET seq = -seq WHERE seq < 0", []).unwrap();
}

#[test]
fn removed_rows_are_found() {
    let original = Original::new();
    for seq in 1..original.last() {
        original.check("a removed row", (Code::ChainRemoved, seq), |connection| {
            connection.execute("DELETE FROM rows WHERE seq = ?1", [i64::try_from(seq).unwrap()]).unwrap();
        });
        original.check("a removed and closed row", (Code::ChainRemoved, seq), |connection| {
            connection.execute("DELETE FROM rows WHERE seq = ?1", [i64::try_from(seq).unwrap()]).unwrap();
            renumber(connection, seq + 1, -1);
        });
    }
}

#[test]
fn inserted_rows_are_found() {
    let original = Original::new();
    for seq in 2..=original.last() {
        original.check("an inserted row", (Code::ChainInserted, seq), |connection| {
            renumber(connection, seq, 1);
            copy_row(connection, 1, seq);
        });
    }
    for strange in [0_i64, -5] {
        original.check("a row before the first", (Code::ChainInserted, 0), |connection| {
            copy_row(connection, 1, 1_000_000);
            connection.execute("UPDATE rows SET seq = ?1 WHERE seq = 1000000", [strange]).unwrap();
        });
    }
}

/// Copies a row to another place, with a stream place that nobody has.
fn copy_row(connection: &Connection, from: u64, to: u64) {
    let (from, to) = (i64::try_from(from).unwrap(), i64::try_from(to).unwrap());
    let sql = "INSERT INTO rows SELECT ?2, stream, stream_seq + 500000, kind, version, at, actor, proof, key, signature,
               cause, NULL, data_class, taint, payload_hash, prev_hash, hash, blobs, payload FROM rows WHERE seq = ?1";
    connection.execute(sql, [from, to]).unwrap();
}

#[test]
fn swapped_rows_are_found() {
    let original = Original::new();
    let seed = Seed::of("swapped rows", 53);
    let mut random = seed.random();
    for _ in 0..20 {
        let first = random.within(1..original.last());
        let second = random.within(first + 1..original.last() + 1);
        let found = original.tampered(Vec::new(), |connection| {
            let (first, second) = (i64::try_from(first).unwrap(), i64::try_from(second).unwrap());
            connection.execute("UPDATE rows SET seq = -1 WHERE seq = ?1", [first]).unwrap();
            connection.execute("UPDATE rows SET seq = ?1 WHERE seq = ?2", [first, second]).unwrap();
            connection.execute("UPDATE rows SET seq = ?1 WHERE seq = -1", [second]).unwrap();
        });
        for seq in [first, second] {
            assert!(found.contains(&(Code::ChainReordered, seq)), "{first} and {second} swapped: {found:?}");
        }
    }
}

#[test]
fn a_cut_tail_is_found() {
    let original = Original::new();
    let last = original.last();
    let cut = |connection: &Connection, keep: u64| {
        connection.execute("DELETE FROM rows WHERE seq > ?1", [i64::try_from(keep).unwrap()]).unwrap();
    };
    for keep in [last - 1, last / 2, 1] {
        let kept = original.rows[usize::try_from(keep).unwrap() - 1].hash;
        original.check("a naive cut", (Code::ChainTruncated, keep + 1), |connection| cut(connection, keep));
        let patched = |connection: &Connection| {
            cut(connection, keep);
            set_head(connection, Head { seq: keep, hash: kept });
        };
        let anchored = original.tampered(vec![original.anchor.clone()], patched);
        assert!(
            anchored.contains(&(Code::ChainTruncated, keep + 1)),
            "a patched cut, with an anchor: {anchored:?}"
        );
        // Without an anchor a cut of unkeyed rows leaves nothing behind that could tell: that is what anchors are for.
        let unanchored = original.tampered(Vec::new(), patched);
        assert!(!unanchored.contains(&(Code::ChainTruncated, keep + 1)), "{unanchored:?}");
    }
    original.check("a head that was set back", (Code::ChainInserted, last), |connection| {
        set_head(
            connection,
            Head { seq: last - 1, hash: original.rows[usize::try_from(last).unwrap() - 2].hash },
        );
    });
    original.check("a head with another hash", (Code::ChainChanged, last), |connection| {
        set_head(connection, Head { seq: last, hash: genesis(&matter("m")) });
    });
}

#[test]
fn tampered_blobs_are_found() {
    let original = Original::new();
    let (changed, erased) = (Digest::of(b"blob to be changed"), Digest::of(b"blob to be erased"));
    let naming = original.first(|row| row.blobs.iter().any(|blob| blob.digest == changed));
    let with = |digest: Digest, sql: &'static str| {
        move |connection: &Connection| {
            assert_eq!(connection.execute(sql, [digest.as_bytes()]).unwrap(), 1);
        }
    };
    let change = "UPDATE blobs SET bytes = cast('blob to be CHANGED' as blob) WHERE digest = ?1";
    original.check("changed bytes", (Code::BlobChanged, naming), with(changed, change));
    let lengthen = "UPDATE blobs SET bytes = cast('longer bytes than before' as blob) WHERE digest = ?1";
    original.check("longer bytes", (Code::BlobChanged, naming), with(changed, lengthen));
    let delete = "DELETE FROM blobs WHERE digest = ?1";
    original.check("a deleted blob", (Code::BlobMissing, naming), with(changed, delete));
    original.check("the next row that names it", (Code::BlobMissing, naming + 1), with(changed, delete));
    let empty = "UPDATE blobs SET bytes = NULL WHERE digest = ?1";
    original.check("emptied without a receipt", (Code::BlobMissing, naming), with(changed, empty));
    let excuse = "UPDATE blobs SET bytes = NULL, receipt = (SELECT receipt FROM blobs WHERE receipt IS NOT NULL) \
                  WHERE digest = ?1";
    original.check("emptied with another's receipt", (Code::BlobMissing, naming), with(changed, excuse));
    let forget = "UPDATE blobs SET receipt = NULL WHERE digest = ?1";
    original.check("a forgotten receipt", (Code::BlobMissing, naming), with(erased, forget));
    let elsewhere = "UPDATE blobs SET receipt = 1 WHERE digest = ?1";
    original.check("a receipt that is none", (Code::BlobMissing, naming), with(erased, elsewhere));
}

#[test]
fn tampered_requests_are_found() {
    let original = Original::new();
    let first = original.first(|row| row.idem_key.is_some());
    let name = original.rows[usize::try_from(first).unwrap() - 1].idem_key.clone().unwrap();
    for change in [
        "DELETE FROM idem WHERE key = ?1",
        "UPDATE idem SET first_seq = first_seq + 1 WHERE key = ?1",
        "UPDATE idem SET count = count + 1 WHERE key = ?1",
    ] {
        original.check(change, (Code::ChainChanged, first), |connection| {
            assert_eq!(connection.execute(change, [name.as_str()]).unwrap(), 1);
        });
    }
    original.check("a key that was never used", (Code::ChainChanged, 2), |connection| {
        connection.execute("INSERT INTO idem VALUES ('strange', NULL, 2, 1)", []).unwrap();
    });
}

/// An index that hides rows from a page, or shows them twice, while every row is as it was.
#[test]
fn tampered_indexes_are_found() {
    let scratch = Scratch::new();
    block_on(async {
        let ledger = open(scratch.path());
        let rows = (0..2_500).map(|at| row(&format!("run:{}", at % 7), "a")).collect();
        ledger.append(&admin(), batch(rows)).await.unwrap();
        assert!(ledger.verify(&admin(), Vec::new()).await.unwrap().is_sound());
    });
    for change in [
        "DELETE FROM lists WHERE what = 0 AND id = 3 AND first > 1000",
        "DELETE FROM lists WHERE what = 1 AND first = 1",
        "UPDATE lists SET first = first + 1 WHERE what = 0 AND id = 2 AND first < 1000",
        "UPDATE lists SET rest = substr(rest, 3) WHERE what = 0 AND id = 2 AND first < 1000",
        "UPDATE lists SET rest = substr(rest, 2) WHERE what = 0 AND id = 2 AND first < 1000",
        "UPDATE lists SET rest = cast(rest || x'ffff' as blob) WHERE what = 1 AND first = 1",
        "UPDATE lists SET id = id + 100 WHERE what = 0 AND id = 2 AND first < 1000",
        "INSERT INTO lists VALUES (1, 1, 2500, x'')",
        "UPDATE head SET indexed = indexed - 1",
        "UPDATE head SET indexed = indexed + 1",
    ] {
        let copy = copied(scratch.path());
        let connection = Connection::open(database(copy.path())).unwrap();
        assert_eq!(connection.execute(change, []).unwrap(), 1, "{change}");
        connection.close().unwrap();
        assert_eq!(verify(copy.path(), Vec::new()), [(Code::LedgerIndex, 0)], "{change}");
    }
}

/// Writes rows from `from` on anew with hashes that fit, as somebody would who knows how they are made.
fn rewrite(connection: &Connection, rows: &[Row], from: u64, change: impl Fn(&mut Row)) -> Head {
    let mut head = Head { seq: 0, hash: genesis(&matter("m")) };
    for row in rows {
        let mut row = row.clone();
        if row.seq == from {
            change(&mut row);
        }
        row.prev_hash = head.hash;
        let payload = countersign_record::canonical::to_bytes(&row.payload).unwrap();
        row.payload_hash = Digest::of(&payload);
        let packed = PackedBlobs::pack(row.blobs.iter().copied());
        row.hash =
            row.as_stored(&payload, PackedBlobs::try_from(packed.as_slice()).unwrap()).computed_hash("m");
        head = Head { seq: row.seq, hash: row.hash };
        connection
            .execute(
                "UPDATE rows SET payload = ?2, payload_hash = ?3, prev_hash = ?4, hash = ?5, actor = ?6 WHERE seq = ?1",
                params![
                    i64::try_from(row.seq).unwrap(),
                    payload,
                    row.payload_hash.as_bytes(),
                    row.prev_hash.as_bytes(),
                    row.hash.as_bytes(),
                    row.actor.as_str()
                ],
            )
            .unwrap();
    }
    head
}

#[test]
fn a_rewritten_tail_is_found_by_an_anchor_alone() {
    let original = Original::new();
    let seed = Seed::of("a rewritten tail", 54);
    let mut random = seed.random();
    let signed = original.first(|row| row.kind.as_str() == "call.approved");
    for _ in 0..6 {
        let from = random.within(1..original.last() + 1);
        // A signed row can't be rewritten unnoticed; that is the next test.
        if from == signed || original.rows[usize::try_from(from).unwrap() - 1].kind.as_str() == hold::ERASED {
            continue;
        }
        let tamper = |connection: &Connection| {
            let head = rewrite(connection, &original.rows, from, |row| row.payload = "rewritten".into());
            set_head(connection, head);
        };
        assert_eq!(
            original.tampered(Vec::new(), tamper),
            [],
            "from {from}: a consistent history is consistent"
        );
        let anchored = original.tampered(vec![original.anchor.clone()], tamper);
        assert_eq!(anchored, [(Code::ChainRewritten, original.last())], "from {from}");
    }
    let last = original.last();
    original.check("a rewritten last row, its head forgotten", (Code::ChainChanged, last), |connection| {
        rewrite(connection, &original.rows, last, |row| row.payload = "rewritten".into());
    });
}

#[test]
fn a_forged_decision_is_found() {
    let original = Original::new();
    let signed = original.first(|row| row.kind.as_str() == "call.approved");
    for change in
        [(|row: &mut Row| row.payload = Object::from([("call", "2".into())]).into()) as fn(&mut Row), |row| {
            row.actor = PrincipalId::try_from("boss").unwrap()
        }]
    {
        let found = original.tampered(Vec::new(), |connection| {
            let head = rewrite(connection, &original.rows, signed, change);
            set_head(connection, head);
        });
        assert_eq!(found, [(Code::ChainSignature, signed)], "hashes can be made anew, signatures can't");
    }
    original.check("a forged signature", (Code::ChainSignature, signed), |connection| {
        let sql = "UPDATE rows SET signature = randomblob(64) WHERE seq = ?1";
        connection.execute(sql, [i64::try_from(signed).unwrap()]).unwrap();
    });
}

/// A repeat is answered from the stored rows; where they were taken away, it is refused rather than invented.
#[test]
fn a_request_whose_rows_are_gone_is_not_answered() {
    let original = Original::new();
    let copy = copied(original.scratch.path());
    let first = original.first(|row| row.idem_key.is_some());
    let written = &original.rows[usize::try_from(first).unwrap() - 1];
    let connection = Connection::open(database(copy.path())).unwrap();
    connection.execute("DELETE FROM rows WHERE seq = ?1", [i64::try_from(first).unwrap()]).unwrap();
    connection.close().unwrap();
    let request = Batch { idem_key: written.idem_key.clone(), ..batch(vec![row("a", "b")]) };
    let refused = block_on(async { open(copy.path()).append(&admin(), request).await }).unwrap_err();
    assert_eq!(refused.code(), Code::LedgerCorrupt);
}
