//! No byte of an erased blob is left in any file of the matter.

use crate::support::{Holding, admin, block_on, database, open};
use countersign_record::digest::Digest;
use countersign_record::hold;
use countersign_record::id::HoldId;
use countersign_record::json::Json;
use countersign_record::row::Sealed;
use countersign_runtime::ports::ledger::{Blob, Error, Journal, Ledger};
use countersign_testkit::drafts::{self, batch, blob, draft};
use countersign_testkit::random::{Random, Seed};
use countersign_testkit::scratch::Scratch;
use rusqlite::Connection;
use std::path::Path;
use std::sync::Arc;

fn naming(bytes: &[u8]) -> Sealed {
    let mut draft = draft("run:1", "source.read", Json::Null);
    draft.blobs = vec![blob(bytes)];
    draft.seal().unwrap()
}

fn receipt(digest: Digest) -> Sealed {
    draft(hold::STREAM, hold::ERASED, hold::erased(&digest, "")).seal().unwrap()
}

/// A blob that can be recognised wherever a piece of it is left: one random word, over and over.
fn canary(random: &mut Random, words: usize) -> (Vec<u8>, Vec<u8>) {
    let word = format!("<canary {:016x}>", random.bits()).into_bytes();
    (word.repeat(words), word)
}

fn files_with(dir: &Path, word: &[u8]) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        if bytes.windows(word.len()).any(|window| window == word) {
            found.push(path.display().to_string());
        }
    }
    found
}

/// Blobs of every size, erased in random order with appends between: when an erasure has returned, its canary is
/// in no file, and the others are all there.
#[test]
fn erased_bytes_are_in_no_file() {
    let seed = Seed::of("erased bytes", 41);
    let mut random = seed.random();
    let scratch = Scratch::new();
    let dir = scratch.path().join("matters/m");
    block_on(async {
        let ledger = open(scratch.path());
        let mut living = Vec::new();
        for round in 0..120 {
            let words = *random.pick(&[1, 3, 20, 100, 160, 400, 3_000]);
            let (bytes, word) = canary(&mut random, words);
            ledger.append(&admin(), batch(vec![naming(&bytes)])).await.unwrap();
            living.push((bytes, word));
            if round % 4 == 3 {
                let (bytes, word) = living.swap_remove(random.index(0..living.len()));
                let digest = Digest::of(&bytes);
                assert!(!files_with(&dir, &word).is_empty(), "the test looks in the right place");
                ledger.erase(&admin(), digest, receipt(digest)).await.unwrap();
                assert_eq!(files_with(&dir, &word), [""; 0]);
                if random.once_in(3) {
                    ledger.append(&admin(), batch(vec![naming(&bytes)])).await.unwrap();
                    living.push((bytes, word));
                }
            }
        }
        for (bytes, _) in &living {
            assert_eq!(ledger.blob(&admin(), Digest::of(bytes)).await.unwrap(), Blob::Present(bytes.clone()));
        }
        assert!(ledger.verify(&admin(), Vec::new()).await.unwrap().is_sound());
        while let Some((bytes, word)) = living.pop() {
            let digest = Digest::of(&bytes);
            ledger.erase(&admin(), digest, receipt(digest)).await.unwrap();
            assert_eq!(files_with(&dir, &word), [""; 0]);
        }
        assert!(ledger.verify(&admin(), Vec::new()).await.unwrap().is_sound());
    });
}

/// A reader that began before keeps the old pages alive. The erasure answers only when they are gone, and nobody
/// else waits for it.
#[test]
fn an_erasure_outwaits_a_reader() {
    let scratch = Scratch::new();
    let dir = scratch.path().join("matters/m");
    block_on(async {
        let ledger = Arc::new(open(scratch.path()));
        let (bytes, word) = canary(&mut Random::new(42), 1_000);
        ledger.append(&admin(), batch(vec![naming(&bytes)])).await.unwrap();
        let reader = Holding::on(&ledger).await;
        let eraser = Arc::clone(&ledger);
        let digest = Digest::of(&bytes);
        let mut erasing = tokio::spawn(async move { eraser.erase(&admin(), digest, receipt(digest)).await });
        // The receipt is durable and others append while the reader holds on.
        let mut watch = ledger.watch(&admin()).await.unwrap();
        watch.wait_for(|last| *last >= 2).await.unwrap();
        ledger.append(&admin(), batch(vec![drafts::row("run:2", "meanwhile")])).await.unwrap();
        assert_eq!(ledger.blob(&admin(), digest).await.unwrap(), Blob::Erased { receipt: 2 });
        assert!(!erasing.is_finished(), "the old pages are still in the log");
        reader.end().await;
        assert!((&mut erasing).await.unwrap().unwrap().is_purged);
        assert_eq!(files_with(&dir, &word), [""; 0]);
    });
}

/// The index may be damaged: what a hold keeps is kept all the same.
#[test]
fn a_hold_is_kept_when_its_index_is_lost() {
    for change in [
        "DELETE FROM lists WHERE what = 1 AND id = (SELECT id FROM kinds WHERE name = 'hold.placed')",
        "DELETE FROM lists",
    ] {
        let scratch = Scratch::new();
        let digest = Digest::of(b"kept");
        let hold = HoldId::try_from("h1").unwrap();
        let placed = draft(hold::STREAM, hold::PLACED, hold::placed(&hold, hold::Held::Matter, ""));
        block_on(async {
            let ledger = open(scratch.path());
            let mut rows = vec![naming(b"kept"), placed.seal().unwrap()];
            rows.extend((0..1_100).map(|_| drafts::row("run:1", "a")));
            ledger.append(&admin(), batch(rows)).await.unwrap();
        });
        let connection = Connection::open(database(scratch.path())).unwrap();
        assert!(connection.execute(change, []).unwrap() > 0, "{change}");
        connection.close().unwrap();
        block_on(async {
            let ledger = open(scratch.path());
            let refused = ledger.erase(&admin(), digest, receipt(digest)).await;
            assert_eq!(refused, Err(Error::Held { digest, hold }), "{change}");
            assert_eq!(ledger.blob(&admin(), digest).await.unwrap(), Blob::Present(b"kept".to_vec()));
        });
    }
}
