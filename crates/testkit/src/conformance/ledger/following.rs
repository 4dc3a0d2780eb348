//! Following and verifying.
//! Owns: its cases. Must not: wait by the clock.

use super::{Bench, Case, operator, viewer};
use crate::drafts::{batch, matter, row};
use countersign_record::chain::{Anchor, Damage, Head};
use countersign_record::digest::Digest;
use countersign_record::sign::{PublicKey, Signature};
use countersign_record::time::Timestamp;

pub(super) const CASES: &[Case] = &[
    ("a watcher is woken by an append", |bench| Box::pin(woken(bench))),
    ("many watchers see every end", |bench| Box::pin(many(bench))),
    ("anchors are checked", |bench| Box::pin(anchored(bench))),
];

async fn woken(bench: Bench) {
    bench.note("run:1", "a").await;
    let mut watcher = bench.ledger().watch(&viewer()).await.unwrap();
    assert_eq!(*watcher.borrow_and_update(), 1);
    assert!(!watcher.has_changed().unwrap(), "nothing has happened yet");
    let ledger = bench.ledger();
    let append =
        tokio::spawn(async move { ledger.append(&operator(), batch(vec![row("run:1", "b"); 3])).await });
    watcher.changed().await.unwrap();
    assert_eq!(*watcher.borrow_and_update(), 4);
    append.await.unwrap().unwrap();
    let row = bench.all().await.pop().unwrap();
    assert_eq!(row.seq, 4, "who is woken can read the row");
}

async fn many(bench: Bench) {
    bench.note("run:1", "a").await;
    let mut tasks = Vec::new();
    for _ in 0..4 {
        let mut watcher = bench.ledger().watch(&viewer()).await.unwrap();
        tasks.push(tokio::spawn(async move {
            let mut last = *watcher.borrow_and_update();
            while last < 21 {
                watcher.changed().await.unwrap();
                let seen = *watcher.borrow_and_update();
                assert!(seen > last, "the end never goes back");
                last = seen;
            }
        }));
    }
    for _ in 0..20 {
        bench.note("run:1", "b").await;
    }
    for task in tasks {
        task.await.unwrap();
    }
}

/// An anchor of `head`. Its signature is the caller's business, so here it is none.
fn anchor(of: &str, head: Head) -> Anchor {
    let key =
        PublicKey::try_from("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a").unwrap();
    let at = Timestamp::try_from("2026-01-02T03:04:05Z").unwrap();
    Anchor::signed(matter(of), head, at, key, Signature::from_bytes([0; 64]))
}

async fn anchored(bench: Bench) {
    bench.append(batch(vec![row("run:1", "a"); 5])).await.unwrap();
    let rows = bench.all().await;
    let third = Head { seq: 3, hash: rows[2].hash };
    let check = async |anchor: Anchor, expected: &[(u64, Damage)]| {
        let report = bench.ledger().verify(&viewer(), vec![anchor]).await.unwrap();
        let found: Vec<_> =
            report.findings.into_iter().map(|finding| (finding.seq, finding.damage)).collect();
        assert_eq!(found, expected);
    };
    check(anchor("m", third), &[]).await;
    check(anchor("m", Head { seq: 3, hash: Digest::of(b"") }), &[(3, Damage::NotAnchored)]).await;
    check(anchor("m", Head { seq: 7, hash: Digest::of(b"") }), &[(6, Damage::Truncated { to: 7 })]).await;
    check(anchor("other", third), &[(3, Damage::NotAnchored)]).await;
    let report = bench.ledger().verify(&viewer(), vec![anchor("m", third)]).await.unwrap();
    assert_eq!((report.rows, report.head), (5, bench.head().await));
}
