//! Blobs: storing, erasing, holding.
//! Owns: its cases. Must not: look for the bytes on disk; that is each store's own test.

use super::{Bench, Case, admin, viewer};
use crate::drafts::{batch, blob, draft};
use countersign_record::code::Code;
use countersign_record::digest::Digest;
use countersign_record::hold::{self, Held};
use countersign_record::id::HoldId;
use countersign_record::json::Json;
use countersign_record::row::Sealed;
use countersign_runtime::ports::ledger::{Blob, Error};

pub(super) const CASES: &[Case] = &[
    ("a blob comes back as it was", |bench| Box::pin(comes_back(bench))),
    ("an erased blob is gone and its receipt stays", |bench| Box::pin(erased(bench))),
    ("a receipt must be one", |bench| Box::pin(receipts(bench))),
    ("a hold keeps a blob", |bench| Box::pin(held(bench))),
    ("erased bytes can be appended again", |bench| Box::pin(again(bench))),
];

async fn comes_back(mut bench: Bench) {
    let contents: [&[u8]; 3] = [b"", b"small", &[7; 100_000]];
    let mut draft = draft("run:1", "source.read", Json::Null);
    draft.blobs = contents.map(blob).into();
    let rows = vec![draft.clone().seal().unwrap(), draft.seal().unwrap()];
    bench.append(batch(rows)).await.unwrap();
    bench.harness.reopen();
    for content in contents {
        let found = bench.ledger().blob(&viewer(), Digest::of(content)).await.unwrap();
        assert_eq!(found, Blob::Present(content.to_vec()));
    }
    let unknown = Digest::of(b"unknown");
    assert_eq!(bench.ledger().blob(&viewer(), unknown).await, Err(Error::BlobUnknown { digest: unknown }));
    assert_eq!(bench.all().await[1].blobs.iter().map(|one| one.size).collect::<Vec<_>>(), [0, 5, 100_000]);
    bench.assert_sound().await;
}

/// Appends a row that names a blob of `content`.
async fn put(bench: &Bench, content: &[u8]) -> Digest {
    let mut draft = draft("run:1", "source.read", Json::Null);
    draft.blobs = vec![blob(content)];
    bench.append(batch(vec![draft.seal().unwrap()])).await.unwrap();
    Digest::of(content)
}

fn receipt(digest: Digest) -> Sealed {
    draft(hold::STREAM, hold::ERASED, hold::erased(&digest, "asked for")).seal().unwrap()
}

async fn erase(bench: &Bench, digest: Digest) -> Result<u64, Error> {
    bench.ledger().erase(&admin(), digest, receipt(digest)).await.map(|erasure| erasure.receipt.seq)
}

async fn erased(mut bench: Bench) {
    let digest = put(&bench, b"secret").await;
    let other = put(&bench, b"other").await;
    let erasure = bench.ledger().erase(&admin(), digest, receipt(digest)).await.unwrap();
    let stamp = erasure.receipt;
    assert!(erasure.is_purged);
    assert_eq!((stamp.seq, stamp.stream_seq), (3, 1));
    for _ in 0..2 {
        assert_eq!(bench.ledger().blob(&viewer(), digest).await.unwrap(), Blob::Erased { receipt: 3 });
        assert_eq!(bench.ledger().blob(&viewer(), other).await.unwrap(), Blob::Present(b"other".to_vec()));
        assert_eq!(erase(&bench, digest).await, Err(Error::Erased { digest, receipt: 3 }));
        bench.assert_sound().await;
        bench.harness.reopen();
    }
    let rows = bench.all().await;
    assert_eq!(rows.len(), 3, "a refused erasure leaves no receipt");
    assert_eq!(rows[0].blobs[0].digest, digest, "the row keeps the name");
    assert_eq!((rows[2].kind.as_str(), rows[2].hash), (hold::ERASED, stamp.hash));
}

async fn receipts(bench: Bench) {
    let digest = put(&bench, b"secret").await;
    let wrong_kind = draft("ledger", "note.taken", hold::erased(&digest, "")).seal().unwrap();
    for bad in [wrong_kind, receipt(Digest::of(b"another"))] {
        let refused = bench.ledger().erase(&admin(), digest, bad).await.unwrap_err();
        assert_eq!(refused.code(), Code::LedgerBatch);
    }
    assert_eq!(bench.ledger().blob(&viewer(), digest).await.unwrap(), Blob::Present(b"secret".to_vec()));
    let unknown = Digest::of(b"unknown");
    assert_eq!(erase(&bench, unknown).await, Err(Error::BlobUnknown { digest: unknown }));
    assert_eq!(bench.head().await.seq, 1);
}

async fn held(bench: Bench) {
    let (held, free) = (put(&bench, b"held").await, put(&bench, b"free").await);
    let hold_id = |name: &str| HoldId::try_from(name).unwrap();
    let place = async |name: &str, what: Held| {
        let row = draft(hold::STREAM, hold::PLACED, hold::placed(&hold_id(name), what, "litigation"));
        bench.ledger().append(&admin(), batch(vec![row.seal().unwrap()])).await.unwrap();
    };
    let release = async |name: &str| {
        let row = draft(hold::STREAM, hold::RELEASED, hold::released(&hold_id(name), "settled"));
        bench.ledger().append(&admin(), batch(vec![row.seal().unwrap()])).await.unwrap();
    };
    place("one", Held::Blob(held)).await;
    place("all", Held::Matter).await;
    assert_eq!(erase(&bench, free).await, Err(Error::Held { digest: free, hold: hold_id("all") }));
    release("all").await;
    erase(&bench, free).await.unwrap();
    assert_eq!(erase(&bench, held).await, Err(Error::Held { digest: held, hold: hold_id("one") }));
    assert_eq!(bench.ledger().blob(&viewer(), held).await.unwrap(), Blob::Present(b"held".to_vec()));
    release("one").await;
    erase(&bench, held).await.unwrap();
    bench.assert_sound().await;
}

async fn again(mut bench: Bench) {
    let digest = put(&bench, b"secret").await;
    let first = erase(&bench, digest).await.unwrap();
    put(&bench, b"secret").await;
    assert_eq!(bench.ledger().blob(&viewer(), digest).await.unwrap(), Blob::Present(b"secret".to_vec()));
    bench.assert_sound().await;
    let second = erase(&bench, digest).await.unwrap();
    assert_eq!((first, second), (2, 4));
    bench.harness.reopen();
    assert_eq!(bench.ledger().blob(&viewer(), digest).await.unwrap(), Blob::Erased { receipt: 4 });
    bench.assert_sound().await;
}
