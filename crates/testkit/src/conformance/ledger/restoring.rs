//! Restoring a ledger from its pieces.
//! Owns: its cases. Must not: know the form of an archive.

use super::{Bench, Case, admin, operator, scanned, viewer};
use crate::drafts::{access, batch, blob, draft, key, random_batch, row};
use crate::random::Seed;
use countersign_record::access::Role;
use countersign_record::code::Code;
use countersign_record::hold;
use countersign_record::json::Json;
use countersign_record::row::{BlobBytes, Row, Sealed};
use countersign_runtime::ports::ledger::{Appended, Batch, Blob, Error, Ledger, Piece};
use std::collections::BTreeSet;

pub(super) const CASES: &[Case] = &[
    ("a restored ledger is the same ledger", |bench| Box::pin(same(bench))),
    ("what does not hold together is not restored", |bench| Box::pin(refused(bench))),
    ("requests are remembered through a restore", |bench| Box::pin(remembered(bench))),
];

/// What an export holds.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Parts {
    blobs: Vec<BlobBytes>,
    rows: Vec<Row>,
}

async fn parts(ledger: &dyn Ledger) -> Parts {
    let rows = scanned(ledger, &viewer(), 0).await;
    let mut blobs = Vec::new();
    let mut seen = BTreeSet::new();
    for named in rows.iter().flat_map(|row| &row.blobs) {
        if seen.insert(named.digest)
            && let Blob::Present(bytes) = ledger.blob(&viewer(), named.digest).await.unwrap()
        {
            blobs.push(blob(&bytes));
        }
    }
    Parts { blobs, rows }
}

async fn restore(ledger: &dyn Ledger, into: &str, parts: Parts) -> Result<u64, Error> {
    let blobs = parts.blobs.into_iter().map(|blob| Ok(Piece::Blob(blob)));
    let rows = parts.rows.into_iter().map(|row| Ok(Piece::Row(Box::new(row))));
    ledger.restore(&access(into, Role::Admin), Box::new(blobs.chain(rows))).await.map(|head| head.seq)
}

fn naming(blobs: &[&[u8]]) -> Sealed {
    let mut draft = draft("run:1", "source.read", Json::Null);
    draft.blobs = blobs.iter().map(|bytes| blob(bytes)).collect();
    draft.seal().unwrap()
}

/// Writes a bit of everything, and takes it apart.
async fn written(bench: &Bench) -> Parts {
    let seed = Seed::of("restoring", 31);
    let mut random = seed.random();
    let mut before = 0;
    for at in 0..15 {
        let mut batch = random_batch(&mut random, before, 4);
        batch.idem_key = random.once_in(2).then(|| key(&format!("key-{at}")));
        before += bench.append(batch).await.unwrap().rows.len() as u64;
    }
    bench.append(batch(vec![naming(&[b"to be erased", b"kept", b"back again"])])).await.unwrap();
    for gone in [b"to be erased".as_slice(), b"back again"] {
        let digest = blob(gone).digest();
        let receipt = draft(hold::STREAM, hold::ERASED, hold::erased(&digest, "")).seal().unwrap();
        bench.ledger().erase(&admin(), digest, receipt).await.unwrap();
    }
    bench.append(batch(vec![naming(&[b"back again"])])).await.unwrap();
    parts(&*bench.ledger()).await
}

async fn same(bench: Bench) {
    let parts_written = written(&bench).await;
    let refused = restore(&*bench.ledger(), "m", parts_written.clone()).await.unwrap_err();
    assert_eq!(refused.code(), Code::LedgerNotEmpty);
    assert_eq!(parts(&*bench.ledger()).await, parts_written, "nothing was mixed in");
    let mut copy = Bench { harness: bench.harness.another() };
    restore(&*copy.ledger(), "m", parts_written.clone()).await.unwrap();
    for _ in 0..2 {
        assert_eq!(copy.head().await, bench.head().await);
        assert_eq!(parts(&*copy.ledger()).await, parts_written);
        copy.assert_sound().await;
        let erased = blob(b"to be erased").digest();
        assert_eq!(copy.ledger().blob(&viewer(), erased).await, bench.ledger().blob(&viewer(), erased).await);
        copy.harness.reopen();
    }
    let (ours, theirs) = (bench.note("run:1", "more").await, copy.note("run:1", "more").await);
    assert_eq!(ours, theirs, "the copy goes on as the original does");
}

async fn refused(bench: Bench) {
    let good = written(&bench).await;
    let copy = Bench { harness: bench.harness.another() };
    let check = async |what: &str, change: &dyn Fn(&mut Parts), code: Code| {
        let mut parts = good.clone();
        change(&mut parts);
        let error = restore(&*copy.ledger(), "m", parts).await.unwrap_err();
        assert_eq!(error.code(), code, "{what}: {error}");
        assert_eq!(
            copy.ledger().head(&viewer()).await.unwrap_err().code(),
            Code::LedgerMissing,
            "{what} leaves nothing"
        );
    };
    check("nothing", &|parts| *parts = Parts { blobs: Vec::new(), rows: Vec::new() }, Code::ArchiveInvalid)
        .await;
    check("no first row", &|parts| drop(parts.rows.remove(0)), Code::ArchiveInvalid).await;
    check("no middle row", &|parts| drop(parts.rows.remove(5)), Code::ArchiveInvalid).await;
    check("rows in another order", &|parts| parts.rows.swap(3, 4), Code::ArchiveInvalid).await;
    check("a changed payload", &|parts| parts.rows[4].payload = "changed".into(), Code::ChainChanged).await;
    check("a changed actor", &|parts| parts.rows[4].actor = "other".try_into().unwrap(), Code::ChainChanged)
        .await;
    let end = good.rows.len() - 1;
    check("a changed hash", &|parts| parts.rows[end].hash = parts.rows[end].prev_hash, Code::ChainChanged)
        .await;
    check("a changed stream place", &|parts| parts.rows[4].stream_seq += 1, Code::ArchiveInvalid).await;
    check("an effect before its cause", &|parts| parts.rows[4].cause = Some(9), Code::ArchiveInvalid).await;
    check("a missing blob", &|parts| parts.blobs.retain(|one| one.bytes() != b"kept"), Code::BlobMissing)
        .await;
    check("a strange blob", &|parts| parts.blobs.push(blob(b"strange")), Code::ArchiveInvalid).await;
    check("an erased blob", &|parts| parts.blobs.push(blob(b"to be erased")), Code::ArchiveInvalid).await;
    let foreign = restore(&*copy.ledger(), "other", good.clone()).await.unwrap_err();
    assert_eq!(foreign.code(), Code::ChainChanged, "a row's hash names its matter");
    let broken = std::iter::once(Err(Error::Archive { why: "the disk broke".into() }));
    let error = copy.ledger().restore(&admin(), Box::new(broken)).await.unwrap_err();
    assert_eq!(error.code(), Code::ArchiveInvalid);
    restore(&*copy.ledger(), "m", good.clone()).await.unwrap();
    assert_eq!(parts(&*copy.ledger()).await, good, "after all that the good one is taken");
}

async fn remembered(bench: Bench) {
    let request =
        |text: &str| Batch { idem_key: Some(key("k")), ..batch(vec![row("run:1", "a"), row("run:2", text)]) };
    let first = bench.append(request("b")).await.unwrap();
    bench.note("run:1", "c").await;
    let another = bench.harness.another();
    let copy = another.ledger();
    restore(&*copy, "m", parts(&*bench.ledger()).await).await.unwrap();
    let again = copy.append(&operator(), request("b")).await.unwrap();
    assert_eq!(again, Appended { repeated: true, ..first });
    let other = copy.append(&operator(), request("x")).await.unwrap_err();
    assert_eq!(other, Error::IdemMismatch { key: key("k"), first_seq: 1 });
}
