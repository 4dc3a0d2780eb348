//! The store against a simple model, and the firewall between matters.
//! Owns: which answers an order of requests explains, and all that can be had of a matter. Must not: know the order.

use crate::support::{admin, block_on, everything, files, open, scanned, selected, selections};
use countersign_record::access::{Access, MatterAccess, Role};
use countersign_record::digest::Digest;
use countersign_record::hold::{self, Held};
use countersign_record::id::{FoldId, PrincipalId};
use countersign_record::row::{self, Cause, Row};
use countersign_runtime::ports::ledger::{Appended, Batch, Error, Journal, Ledger, Snapshot};
use countersign_store::archive;
use countersign_testkit::drafts::{access, batch, draft, key, matter, random_batch, random_draft, stream};
use countersign_testkit::random::Random;
use countersign_testkit::scratch::Scratch;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What happened to one request, as the store told it.
struct Told {
    batch: Batch,
    answer: Result<Appended, Error>,
}

/// Several tasks append random batches, some with keys that others use too, some expecting places.
async fn interleaved(root: &Path, seed: u64, tasks: usize, batches: usize) -> (Vec<Told>, Vec<Row>) {
    let ledger = Arc::new(open(root));
    let mut random = Random::new(seed);
    let mut running = Vec::new();
    for _ in 0..tasks {
        let (ledger, mut random) = (Arc::clone(&ledger), random.fork());
        running.push(tokio::spawn(async move {
            let mut told = Vec::new();
            for _ in 0..batches {
                let mut batch = random_batch(&mut random, 0, 4);
                if random.once_in(3) {
                    batch.idem_key = Some(key(&format!("key-{}", random.within(0..6))));
                }
                if random.once_in(3) {
                    let expected = random.within(0..8);
                    batch.expected = BTreeMap::from([(stream("run:1"), expected)]);
                }
                let answer = ledger.append(&admin(), batch.clone()).await;
                told.push(Told { batch, answer });
            }
            told
        }));
    }
    let mut told = Vec::new();
    for task in running {
        told.extend(task.await.unwrap());
    }
    // Where every request was refused there is no ledger.
    let rows = match ledger.head(&admin()).await {
        Ok(_) => {
            assert!(ledger.verify(&admin(), Vec::new()).await.unwrap().is_sound());
            scanned(&*ledger, &admin()).await
        }
        Err(error) => {
            assert!(matches!(error, Error::Missing { .. }), "{error}");
            Vec::new()
        }
    };
    (told, rows)
}

/// Every answer is one that a ledger could give which took the requests one after the other in the order of their
/// places, and the rows are exactly those of the requests that it says it took.
fn explains(mut told: Vec<Told>, rows: &[Row]) {
    told.sort_by_key(|told| told.answer.as_ref().map_or(u64::MAX, |appended| appended.rows[0].seq));
    let mut next = 0;
    let mut keys: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    let mut ends: BTreeMap<String, u64> = BTreeMap::new();
    for told in &told {
        let Ok(appended) = &told.answer else { continue };
        let places: Vec<u64> = appended.rows.iter().map(|stamp| stamp.seq).collect();
        let name = told.batch.idem_key.as_ref().map(ToString::to_string);
        if appended.repeated {
            // Sorting is stable by place only; the first of the key may come later in the list.
            keys.entry(name.unwrap()).or_insert(places);
            continue;
        }
        for (stream, expected) in &told.batch.expected {
            assert_eq!(ends.get(stream.as_str()).copied().unwrap_or(0), *expected, "it was let in");
        }
        for (at, (asked, stamp)) in told.batch.rows.iter().zip(&appended.rows).enumerate() {
            let row = &rows[next];
            let end = ends.entry(row.stream.to_string()).or_default();
            *end += 1;
            assert_eq!((stamp.seq, stamp.stream_seq, stamp.hash), (row.seq, *end, row.hash));
            assert_eq!((row.seq, row.stream_seq), (next as u64 + 1, *end));
            assert_eq!((&row.stream, row.payload_hash), (&asked.draft().stream, asked.payload_hash()));
            assert_eq!((&row.idem_key, row.proof), (&told.batch.idem_key, asked.draft().proof));
            let cause = asked.draft().cause.map(|cause| match cause {
                Cause::Row(seq) => seq,
                Cause::Batch(of_batch) => row.seq - (at - of_batch) as u64,
            });
            assert_eq!(row.cause, cause);
            next += 1;
        }
        if let Some(name) = name {
            let known = keys.insert(name.clone(), places.clone());
            assert!(known.is_none_or(|known| known == places), "{name} was appended twice");
        }
    }
    assert_eq!(next, rows.len(), "rows that nobody was told of");
    for told in &told {
        match &told.answer {
            Ok(_) => {}
            Err(Error::Conflict { stream, expected, found }) => {
                assert_eq!(told.batch.expected.get(stream), Some(expected));
                assert!(found != expected && *found <= ends.get(stream.as_str()).copied().unwrap_or(0));
            }
            Err(Error::IdemMismatch { key, first_seq }) => assert_eq!(keys[key.as_str()][0], *first_seq),
            Err(other) => panic!("{other}"),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_interleaving_is_explained_by_one_order(seed: u64, tasks in 1..8_usize, batches in 1..12_usize) {
        let scratch = Scratch::new();
        let (told, rows) = block_on(interleaved(scratch.path(), seed, tasks, batches));
        explains(told, &rows);
    }

    #[test]
    fn what_happens_in_one_matter_leaves_the_other_alone(seed: u64, steps in 1..25_usize) {
        let scratch = Scratch::new();
        block_on(async {
            let mut random = Random::new(seed);
            let ledger = open(scratch.path());
            let (ours, theirs) = (access("ours", Role::Admin), access("theirs", Role::Admin));
            for _ in 0..4 {
                ledger.append(&ours, random_batch(&mut random, 0, 4)).await.unwrap();
            }
            // So many that some are found through the lists and some beyond them.
            let rows = (0..1_100).map(|_| random_draft(&mut random, 1, 0).seal().unwrap()).collect();
            ledger.append(&ours, batch(rows)).await.unwrap();
            let archived = archived(&scratch.path().join("archived"), &mut random).await;
            let fold = FoldId::try_from("summary").unwrap();
            let head = ledger.head(&ours).await.unwrap();
            ledger.keep(&ours, &fold, 1, Snapshot { head, bytes: b"ours".to_vec() }).await.unwrap();
            let before = all_of(&ledger, &ours, scratch.path(), "before").await;
            for _ in 0..steps {
                act(&ledger, &theirs, &mut random, &archived).await;
            }
            let after = all_of(&ledger, &ours, scratch.path(), "after").await;
            assert_eq!(before.keys().collect::<Vec<_>>(), after.keys().collect::<Vec<_>>());
            for (what, bytes) in &before {
                assert!(after[what] == *bytes, "{what} of a matter was changed from another");
            }
        });
    }
}

/// All that can be had of a matter, each with its name: rows, blobs and head, pages by stream and by kind, a
/// snapshot, an export, and what is on disk.
async fn all_of(
    ledger: &dyn Ledger,
    access: &MatterAccess,
    root: &Path,
    export: &str,
) -> BTreeMap<String, Vec<u8>> {
    let mut all = BTreeMap::from([("all".to_owned(), everything(ledger, access).await)]);
    for (select, expected) in selections(&scanned(ledger, access).await) {
        let found = selected(ledger, access, select.clone(), 300).await.unwrap();
        assert_eq!(found, expected, "{select:?}");
        let bytes = found.iter().flat_map(|row| row::line(row).unwrap()).collect();
        all.insert(format!("{select:?}"), bytes);
    }
    let fold = FoldId::try_from("summary").unwrap();
    let kept = ledger.kept(access, &fold, 1).await.unwrap().expect("it was kept");
    all.insert("snapshot".into(), kept.bytes);
    archive::export(ledger, access, &root.join(export)).await.unwrap();
    all.extend(named(files(&root.join(export)), "export"));
    // The memory that readers share is theirs to change.
    let mut on_disk = files(&root.join("matters").join(access.matter().as_str()));
    on_disk.remove(Path::new("ledger.sqlite-shm"));
    all.extend(named(on_disk, "file"));
    all
}

fn named(files: BTreeMap<PathBuf, Vec<u8>>, what: &str) -> impl Iterator<Item = (String, Vec<u8>)> {
    files.into_iter().map(move |(path, bytes)| (format!("{what} {}", path.display()), bytes))
}

/// Two archives: one of the matter `theirs`, and one of the matter `ours` with another history than ours.
async fn archived(root: &Path, random: &mut Random) -> [PathBuf; 2] {
    let ledger = open(&root.join("data"));
    let archives = ["theirs", "ours"].map(|name| (access(name, Role::Admin), root.join(name)));
    for (access, place) in &archives {
        ledger.append(access, random_batch(random, 0, 4)).await.unwrap();
        archive::export(&ledger, access, place).await.unwrap();
    }
    archives.map(|(_, place)| place)
}

/// Does something in a matter, whatever comes of it.
async fn act(ledger: &dyn Ledger, theirs: &MatterAccess, random: &mut Random, archived: &[PathBuf; 2]) {
    let blobs: Vec<Digest> = match ledger.head(theirs).await {
        Ok(_) => {
            scanned(ledger, theirs).await.iter().flat_map(|row| &row.blobs).map(|blob| blob.digest).collect()
        }
        Err(_) => Vec::new(),
    };
    match random.within(0..7) {
        0 | 1 => {
            let mut batch = random_batch(random, 0, 4);
            batch.idem_key = Some(key(&format!("key-{}", random.within(0..3))));
            drop(ledger.append(theirs, batch).await);
        }
        2 => {
            let placed = hold::placed(&"hold".try_into().unwrap(), Held::Matter, "");
            let row =
                draft(hold::STREAM, if random.once_in(2) { hold::PLACED } else { hold::RELEASED }, placed);
            drop(ledger.append(theirs, batch(vec![row.seal().unwrap()])).await);
        }
        3 if !blobs.is_empty() => {
            let digest = *random.pick(&blobs);
            let receipt = draft(hold::STREAM, hold::ERASED, hold::erased(&digest, "")).seal().unwrap();
            drop(ledger.erase(theirs, digest, receipt).await);
        }
        4 => {
            if let Ok(head) = ledger.head(theirs).await {
                let fold = FoldId::try_from("summary").unwrap();
                let snapshot = Snapshot { head, bytes: b"theirs".to_vec() };
                ledger.keep(theirs, &fold, 1, snapshot).await.unwrap();
            }
        }
        5 => {
            // It is taken if they have nothing yet.
            let is_new = ledger.head(theirs).await.is_err();
            assert_eq!(archive::import(ledger, theirs, &archived[0]).await.is_ok(), is_new);
        }
        _ => {
            // Another matter's export does not fit, and changes neither.
            assert!(archive::import(ledger, theirs, &archived[1]).await.is_err());
        }
    }
}

/// There is no way to a matter that is not in one's access, whatever one's role elsewhere.
#[test]
fn a_closed_matter_can_not_be_named() {
    let principal = PrincipalId::try_from("tester").unwrap();
    let access = Access::new(principal, BTreeMap::from([(matter("x"), Role::Admin)]));
    assert!(access.to(&matter("x")).is_ok());
    for closed in ["y", "x.", "xx", "default"] {
        assert!(access.to(&matter(closed)).is_err());
    }
}
