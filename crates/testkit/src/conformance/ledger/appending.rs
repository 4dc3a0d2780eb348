//! Appending: places, conflicts, idempotency, causes, roles.
//! Owns: its cases. Must not: depend on the order in which a store takes concurrent requests.

use super::{Bench, Case, admin, operator, scanned, viewer};
use crate::drafts::{access, batch, draft, key, random_batch, row, stream};
use crate::random::Seed;
use countersign_record::access::Role;
use countersign_record::chain::genesis;
use countersign_record::code::Code;
use countersign_record::hold::{self, Held};
use countersign_record::id::HoldId;
use countersign_record::row::{Cause, Sealed};
use countersign_record::time::Timestamp;
use countersign_runtime::ports::ledger::{Appended, BATCH_ROWS_MAX, Batch, Error};
use std::collections::BTreeMap;

pub(super) const CASES: &[Case] = &[
    ("a matter is missing until the first append", |bench| Box::pin(missing(bench))),
    ("places are dense and hashes chain", |bench| Box::pin(dense(bench))),
    ("a conflict refuses one request and leaves no trace", |bench| Box::pin(conflict(bench))),
    ("one of two rivals wins", |bench| Box::pin(rivals(bench))),
    ("a repeated request gets the first result", |bench| Box::pin(repeat(bench))),
    ("rivals with one key append once", |bench| Box::pin(one_key(bench))),
    ("a cause stands before its effect", |bench| Box::pin(causes(bench))),
    ("batches have limits", |bench| Box::pin(limits(bench))),
    ("roles are held", |bench| Box::pin(roles(bench))),
    ("matters do not meet", |bench| Box::pin(matters(bench))),
    ("acknowledged rows are there after reopening", |bench| Box::pin(reopened(bench))),
];

fn expecting(rows: Vec<Sealed>, expected: &[(&str, u64)]) -> Batch {
    Batch { expected: expected.iter().map(|(name, at)| (stream(name), *at)).collect(), ..batch(rows) }
}

async fn missing(bench: Bench) {
    let is_missing = |error: Error| assert_eq!(error.code(), Code::LedgerMissing, "{error}");
    let check = async |bench: &Bench| {
        let (ledger, viewer) = (bench.ledger(), viewer());
        is_missing(ledger.head(&viewer).await.unwrap_err());
        is_missing(ledger.read(&viewer, super::everything()).await.unwrap_err());
        is_missing(ledger.verify(&viewer, Vec::new()).await.unwrap_err());
        is_missing(ledger.watch(&viewer).await.unwrap_err());
        is_missing(ledger.blob(&viewer, genesis(viewer.matter())).await.unwrap_err());
    };
    check(&bench).await;
    let refused = bench.append(expecting(vec![row("run:1", "a")], &[("run:1", 5)])).await.unwrap_err();
    assert_eq!(refused.code(), Code::LedgerConflict);
    check(&bench).await;
    bench.note("run:1", "a").await;
    assert_eq!(bench.head().await.seq, 1);
}

async fn dense(bench: Bench) {
    let seed = Seed::of("places are dense", 11);
    let mut random = seed.random();
    let mut ends: BTreeMap<String, u64> = BTreeMap::new();
    let mut stamps = Vec::new();
    for _ in 0..40 {
        let batch = random_batch(&mut random, stamps.len() as u64, 6);
        let streams: Vec<String> = batch.rows.iter().map(|row| row.draft().stream.to_string()).collect();
        let appended = bench.append(batch).await.unwrap();
        assert!(!appended.repeated);
        assert_eq!(appended.rows.len(), streams.len());
        for (stamp, stream) in appended.rows.iter().zip(streams) {
            let end = ends.entry(stream).or_default();
            *end += 1;
            assert_eq!((stamp.seq, stamp.stream_seq), (stamps.len() as u64 + 1, *end));
            stamps.push(*stamp);
        }
    }
    let rows = scanned(&*bench.ledger(), &viewer(), 0).await;
    let mut prev = genesis(viewer().matter());
    for (row, stamp) in rows.iter().zip(&stamps) {
        assert_eq!(
            (row.seq, row.stream_seq, row.hash, row.prev_hash),
            (stamp.seq, stamp.stream_seq, stamp.hash, prev)
        );
        prev = row.hash;
    }
    let head = bench.head().await;
    assert_eq!((head.seq, head.hash), (stamps.len() as u64, prev));
    bench.assert_sound().await;
}

async fn conflict(bench: Bench) {
    bench.note("run:1", "first").await;
    let head = bench.head().await;
    let rows = vec![row("run:2", "a"), row("run:1", "b")];
    let refused = bench.append(expecting(rows.clone(), &[("run:1", 0)])).await.unwrap_err();
    assert_eq!(refused, Error::Conflict { stream: stream("run:1"), expected: 0, found: 1 });
    assert_eq!(bench.head().await, head);
    let appended = bench.append(expecting(rows, &[("run:1", 1), ("run:2", 0)])).await.unwrap();
    assert_eq!(appended.rows.iter().map(|stamp| stamp.stream_seq).collect::<Vec<_>>(), [1, 2]);
    bench.assert_sound().await;
}

/// Every task reads the stream's end and appends there; each end is taken by exactly one.
async fn rivals(bench: Bench) {
    let mut tasks = Vec::new();
    for task in 0..8 {
        let ledger = bench.ledger();
        tasks.push(tokio::spawn(async move {
            let mut won = Vec::new();
            for expected in 0..10 {
                let batch =
                    expecting(vec![row("run:1", &format!("{task}/{expected}"))], &[("run:1", expected)]);
                match ledger.append(&operator(), batch).await {
                    Ok(appended) => won.push(appended.rows[0].stream_seq),
                    Err(error) => assert_eq!(error.code(), Code::LedgerConflict),
                }
            }
            won
        }));
    }
    let mut won = Vec::new();
    for task in tasks {
        won.extend(task.await.unwrap());
    }
    won.sort_unstable();
    let rows = bench.all().await;
    assert_eq!(won, (1..=rows.len() as u64).collect::<Vec<_>>());
    bench.assert_sound().await;
}

fn keyed(name: &str, rows: Vec<Sealed>) -> Batch {
    Batch { idem_key: Some(key(name)), ..batch(rows) }
}

async fn repeat(mut bench: Bench) {
    bench.note("run:1", "before").await;
    let request = || keyed("k", vec![row("run:1", "a"), row("run:2", "b")]);
    let first = bench.append(request()).await.unwrap();
    assert!(!first.repeated);
    bench.note("run:1", "between").await;
    let again = Appended { repeated: true, ..first.clone() };
    assert_eq!(bench.append(request()).await.unwrap(), again);
    let mut later =
        draft("run:1", "note.taken", countersign_record::json::Object::from([("text", "a".into())]));
    later.at = Timestamp::try_from("2027-01-02T03:04:05Z").unwrap();
    let at_another_time = keyed("k", vec![later.seal().unwrap(), row("run:2", "b")]);
    assert_eq!(bench.append(at_another_time).await.unwrap(), again, "a retry has another time");
    bench.harness.reopen();
    assert_eq!(bench.append(request()).await.unwrap(), again, "keys outlive the process");
    let other = bench.append(keyed("k", vec![row("run:1", "a"), row("run:2", "c")])).await.unwrap_err();
    assert_eq!(other, Error::IdemMismatch { key: key("k"), first_seq: 2 });
    let shorter = bench.append(keyed("k", vec![row("run:1", "a")])).await.unwrap_err();
    assert_eq!(shorter.code(), Code::LedgerIdemMismatch);
    // A key that was refused is free: only what was appended takes it.
    let refused =
        Batch { idem_key: Some(key("free")), ..expecting(vec![row("run:9", "x")], &[("run:9", 7)]) };
    assert_eq!(bench.append(refused).await.unwrap_err().code(), Code::LedgerConflict);
    assert!(!bench.append(keyed("free", vec![row("run:9", "y")])).await.unwrap().repeated);
    // A repeat is answered even though its stream has moved on.
    let moved = Batch { idem_key: Some(key("moved")), ..expecting(vec![row("run:9", "z")], &[("run:9", 1)]) };
    let first = bench.append(moved.clone()).await.unwrap();
    assert_eq!(bench.append(moved).await.unwrap(), Appended { repeated: true, ..first });
    assert_eq!(bench.head().await.seq, 6);
    bench.assert_sound().await;
}

async fn one_key(bench: Bench) {
    let tasks: Vec<_> = (0..16)
        .map(|_| {
            let ledger = bench.ledger();
            tokio::spawn(async move {
                ledger.append(&operator(), keyed("k", vec![row("run:1", "a")])).await.unwrap()
            })
        })
        .collect();
    let mut firsts = 0;
    let mut stamps = Vec::new();
    for task in tasks {
        let appended = task.await.unwrap();
        firsts += usize::from(!appended.repeated);
        stamps.push(appended.rows);
    }
    assert_eq!(firsts, 1);
    assert!(stamps.iter().all(|rows| rows == &stamps[0]));
    assert_eq!(bench.head().await.seq, 1);
}

async fn causes(bench: Bench) {
    let caused = |cause| {
        let mut draft = draft("run:1", "note.taken", "effect");
        draft.cause = Some(cause);
        draft.seal().unwrap()
    };
    bench.note("run:1", "cause").await;
    for bad in [
        vec![caused(Cause::Row(0))],
        vec![caused(Cause::Row(2))],
        vec![caused(Cause::Batch(0))],
        vec![row("run:1", "a"), caused(Cause::Batch(2))],
        vec![row("run:1", "a"), caused(Cause::Row(2))],
    ] {
        assert_eq!(bench.append(batch(bad)).await.unwrap_err().code(), Code::LedgerBatch);
    }
    assert_eq!(bench.head().await.seq, 1);
    bench
        .append(batch(vec![caused(Cause::Row(1)), row("run:2", "a"), caused(Cause::Batch(1))]))
        .await
        .unwrap();
    let causes: Vec<_> = bench.all().await.iter().map(|row| row.cause).collect();
    assert_eq!(causes, [None, Some(1), None, Some(3)]);
}

async fn limits(bench: Bench) {
    assert_eq!(bench.append(batch(Vec::new())).await.unwrap_err().code(), Code::LedgerBatch);
    let one = row("run:1", "a");
    let rows = vec![one; BATCH_ROWS_MAX + 1];
    assert_eq!(bench.append(batch(rows.clone())).await.unwrap_err().code(), Code::LedgerBatch);
    let appended = bench.append(batch(rows[1..].to_vec())).await.unwrap();
    assert_eq!(appended.rows.len(), BATCH_ROWS_MAX);
    assert_eq!(bench.head().await.seq, BATCH_ROWS_MAX as u64);
}

async fn roles(bench: Bench) {
    let ledger = bench.ledger();
    let one = || batch(vec![row("run:1", "a")]);
    assert_eq!(ledger.append(&viewer(), one()).await.unwrap_err().code(), Code::AccessRole);
    for role in [Role::Operator, Role::Approver, Role::Admin] {
        ledger.append(&access("m", role), one()).await.unwrap();
    }
    let digest = genesis(viewer().matter());
    let receipt = || draft(hold::STREAM, hold::ERASED, hold::erased(&digest, "")).seal().unwrap();
    for role in [Role::Viewer, Role::Operator, Role::Approver] {
        let refused = ledger.erase(&access("m", role), digest, receipt()).await.unwrap_err();
        assert_eq!(refused.code(), Code::AccessRole);
        let refused = ledger.restore(&access("m", role), Box::new(std::iter::empty())).await.unwrap_err();
        assert_eq!(refused.code(), Code::AccessRole);
    }
    assert_eq!(ledger.erase(&admin(), digest, receipt()).await.unwrap_err().code(), Code::BlobUnknown);
    // A receipt comes in by erasing alone, and whoever may end a hold is whoever may erase.
    assert_eq!(ledger.append(&admin(), batch(vec![receipt()])).await.unwrap_err().code(), Code::LedgerBatch);
    let id = HoldId::try_from("case").unwrap();
    for payload in [hold::placed(&id, Held::Matter, "r"), hold::released(&id, "r")] {
        let kind = if payload.get("digest").is_some() { hold::PLACED } else { hold::RELEASED };
        let decision = || batch(vec![draft(hold::STREAM, kind, payload.clone()).seal().unwrap()]);
        for role in [Role::Operator, Role::Approver] {
            let refused = ledger.append(&access("m", role), decision()).await.unwrap_err();
            assert_eq!(refused.code(), Code::AccessRole);
        }
        ledger.append(&admin(), decision()).await.unwrap();
    }
    assert_eq!(bench.head().await.seq, 5);
}

async fn matters(bench: Bench) {
    let (ledger, other) = (bench.ledger(), access("other", Role::Admin));
    bench.note("run:1", "a").await;
    assert_eq!(ledger.head(&other).await.unwrap_err().code(), Code::LedgerMissing);
    let appended = ledger.append(&other, keyed("k", vec![row("run:1", "a")])).await.unwrap();
    assert_eq!((appended.rows[0].seq, appended.rows[0].stream_seq), (1, 1));
    let own = bench.append(keyed("k", vec![row("run:1", "a")])).await.unwrap();
    assert_eq!((own.rows[0].seq, own.repeated), (2, false), "a key is one matter's");
    assert_ne!(
        ledger.head(&other).await.unwrap().hash,
        bench.all().await[0].hash,
        "the hash names the matter"
    );
}

async fn reopened(mut bench: Bench) {
    let seed = Seed::of("acknowledged rows stay", 12);
    let mut random = seed.random();
    for _ in 0..5 {
        for _ in 0..5 {
            let before = bench.ledger().head(&viewer()).await.map_or(0, |head| head.seq);
            bench.append(random_batch(&mut random, before, 4)).await.unwrap();
        }
        let (head, rows) = (bench.head().await, scanned(&*bench.ledger(), &viewer(), 0).await);
        bench.harness.reopen();
        assert_eq!(bench.head().await, head);
        assert_eq!(scanned(&*bench.ledger(), &viewer(), 0).await, rows);
    }
    bench.assert_sound().await;
}
