//! Kills a writer again and again: what it acknowledged is there, nothing is torn, what it erased is gone, and
//! whatever was on its way can be sent again without being appended twice.
//! Owns: the writer, the kill, and what must hold afterwards. Must not: choose where in its work the writer dies.

use crate::support::{admin, block_on, files, open, scanned, selected, selections};
use countersign_record::digest::Digest;
use countersign_record::hold;
use countersign_record::id::IdemKey;
use countersign_record::json::Object;
use countersign_record::row::{BlobBytes, Row, RowRef, Sealed};
use countersign_runtime::ports::ledger::{Appended, Batch, Blob, Journal, Ledger, Stamp};
use countersign_testkit::another::{Another, asked, say};
use countersign_testkit::drafts::{batch, blob, draft, key, row};
use countersign_testkit::random::{Random, Seed};
use countersign_testkit::scratch::Scratch;
use std::collections::{BTreeMap, BTreeSet};
use std::io::BufRead;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

const ROUNDS: usize = 40;
const TASKS: usize = 6;
/// A round ends by the kill; this is what a child would append if nobody killed it.
const REQUESTS_MAX: usize = 10_000;
/// The rounds stop early on a slow machine, but never before half of them are done.
const TIME_MAX: Duration = Duration::from_secs(20);

/// The request of a task in a round: its key says all of it, so that the parent can make it again.
fn request(name: &str) -> Batch {
    let mut random =
        Random::new(name.bytes().fold(7, |hash, byte| hash.wrapping_mul(31).wrapping_add(u64::from(byte))));
    let rows = (0..random.index(1..5)).map(|at| {
        let mut draft = draft(
            "run:1",
            "note.taken",
            Object::from([("request", name.into()), ("at", at.to_string().into())]),
        );
        draft.stream = format!("run:{}", random.within(0..4)).as_str().try_into().unwrap();
        if random.once_in(2) {
            // Recognised wherever a piece of it is left.
            draft.blobs = vec![blob(format!("<{name}/{at}>").repeat(random.index(1..2_000)).as_bytes())];
        }
        draft.seal().unwrap()
    });
    Batch { idem_key: Some(key(name)), ..batch(rows.collect()) }
}

/// What the writer says of an erasure.
const ERASED: &str = "erased ";

/// The blobs of a request that its task erases when it was appended: one request in four.
fn to_erase(name: &str) -> Vec<Digest> {
    let number: usize = name.rsplit('-').next().unwrap().parse().unwrap();
    let request = request(name);
    let blobs = request.rows.iter().flat_map(|row| &row.draft().blobs);
    blobs.filter(|_| number % 4 == 1).map(BlobBytes::digest).collect()
}

fn receipt(digest: Digest) -> Sealed {
    draft(hold::STREAM, hold::ERASED, hold::erased(&digest, "")).seal().unwrap()
}

/// The writer, in a process of its own: appends and erases from several tasks and says what was acknowledged.
#[test]
fn child() {
    let Some(arguments) = asked() else { return };
    let [root, round] = arguments.as_slice() else { panic!("root and round") };
    block_on(async {
        let ledger = Arc::new(open(Path::new(root)));
        let mut tasks = Vec::new();
        for task in 0..TASKS {
            let (ledger, round) = (Arc::clone(&ledger), round.clone());
            tasks.push(tokio::spawn(async move {
                for number in 0..REQUESTS_MAX {
                    let name = format!("{round}-{task}-{number}");
                    let appended = ledger.append(&admin(), request(&name)).await.unwrap();
                    say(&format!("{name} {}", stamps(&appended)));
                    for digest in to_erase(&name) {
                        ledger.erase(&admin(), digest, receipt(digest)).await.unwrap();
                        say(&format!("{ERASED}{digest}"));
                    }
                }
            }));
        }
        for task in tasks {
            task.await.unwrap();
        }
    });
}

fn stamps(appended: &Appended) -> String {
    let stamps: Vec<String> =
        appended.rows.iter().map(|stamp| format!("{}:{}", stamp.seq, stamp.hash)).collect();
    stamps.join(",")
}

/// What the killed writers have acknowledged.
#[derive(Default)]
struct Acknowledged {
    requests: BTreeMap<String, String>,
    erased: BTreeSet<Digest>,
}

impl Acknowledged {
    /// Takes in what a writer said. The last line of one that was killed may be cut; then it was not said.
    fn note(&mut self, line: &str) {
        if let Some(digest) = line.strip_prefix(ERASED) {
            self.erased.extend(Digest::try_from(digest));
        } else if let Some((name, stamps)) = line.split_once(' ')
            && stamps.rsplit_once(':').is_some_and(|(_, hash)| Digest::try_from(hash).is_ok())
        {
            self.requests.insert(name.to_owned(), stamps.to_owned());
        }
    }
}

#[test]
fn nothing_acknowledged_is_lost_and_nothing_is_torn() {
    let seed = Seed::of("crash", 61);
    let mut random = seed.random();
    let scratch = Scratch::new();
    let mut acknowledged = Acknowledged::default();
    let (start, mut rounds) = (Instant::now(), 0);
    while rounds < ROUNDS && (rounds < ROUNDS / 2 || start.elapsed() < TIME_MAX) {
        let mut child =
            Another::start("crash::child", &[scratch.path().to_str().unwrap(), &rounds.to_string()]);
        // Killed after so many acknowledgements, wherever the writer is then.
        for _ in 0..random.within(0..60) {
            acknowledged.note(&child.line().expect("the child goes on until it is killed"));
        }
        child.child.kill().unwrap();
        child.child.wait().unwrap();
        // What it had said before it died was acknowledged too.
        while let Some(line) = child.line() {
            acknowledged.note(&line);
        }
        block_on(check(scratch.path(), rounds, &mut acknowledged));
        rounds += 1;
    }
    assert!(!acknowledged.requests.is_empty() && !acknowledged.erased.is_empty());
}

/// Looks at the ledger after a crash, and sends again what may or may not have been appended.
async fn check(root: &Path, round: usize, acknowledged: &mut Acknowledged) {
    let ledger = open(root);
    let Ok(head) = ledger.head(&admin()).await else {
        assert!(acknowledged.requests.is_empty(), "the ledger is gone");
        return;
    };
    let report = ledger.verify(&admin(), Vec::new()).await.unwrap();
    assert_eq!((report.findings, report.head), (Vec::new(), head));
    let rows = scanned(&ledger, &admin()).await;
    for (select, expected) in selections(&rows) {
        let found = selected(&ledger, &admin(), select.clone(), 1_000).await.unwrap();
        assert!(found == expected, "{select:?} does not give its rows");
    }
    let requests = by_request(&rows);
    for (name, stamps) in &acknowledged.requests {
        let found = requests.get(&key(name)).unwrap_or_else(|| panic!("{name} was acknowledged and is gone"));
        let found: Vec<String> = found.iter().map(|row| format!("{}:{}", row.seq, row.hash)).collect();
        assert_eq!(found.join(","), *stamps, "{name}");
    }
    let receipts = receipts(&rows);
    for digest in &acknowledged.erased {
        assert!(receipts.contains_key(digest), "{digest} was erased, and its receipt is gone");
    }
    for (name, found) in &requests {
        check_whole(&ledger, name, found, &receipts).await;
    }
    // The next request of each task was on its way or was never sent; both are sent again.
    for task in 0..TASKS {
        let is_next =
            |number: &usize| !acknowledged.requests.contains_key(&format!("{round}-{task}-{number}"));
        let name = format!("{round}-{task}-{}", (0..).find(is_next).unwrap());
        let was_there = requests.get(&key(&name));
        let appended = ledger.append(&admin(), request(&name)).await.unwrap();
        assert_eq!(appended.repeated, was_there.is_some(), "{name} is appended exactly once");
        if let Some(rows) = was_there {
            let rows: Vec<Stamp> = rows.iter().map(|row| stamp(row)).collect();
            assert_eq!(appended.rows, rows);
        }
        acknowledged.requests.insert(name, stamps(&appended));
    }
    // The ledger has been opened to write: whatever was erased before the crash is now gone from the disk.
    let left = contents(root);
    for name in requests.keys() {
        for (at, asked) in request(name.as_str()).rows.iter().enumerate() {
            let erased = asked.draft().blobs.iter().any(|blob| receipts.contains_key(&blob.digest()));
            assert!(!erased || !left.contains(&format!("{name}/{at}")), "{name}/{at} is still on the disk");
        }
    }
}

/// The blobs of which any piece is in any file, by the name in their content.
fn contents(root: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for bytes in files(&root.join("matters/m")).into_values() {
        for piece in bytes.split(|byte| *byte == b'<').skip(1) {
            let name = piece.iter().take(40).position(|byte| *byte == b'>').map(|end| &piece[..end]);
            if let Some(name) = name.and_then(|name| std::str::from_utf8(name).ok())
                && !found.contains(name)
            {
                found.insert(name.to_owned());
            }
        }
    }
    assert!(!found.is_empty(), "the search looks in the right place");
    found
}

/// The erased blobs and their receipts.
fn receipts(rows: &[Row]) -> BTreeMap<Digest, u64> {
    rows.iter()
        .filter_map(|row| Some((hold::erased_digest(row.kind.as_str(), &row.payload)?, row.seq)))
        .collect()
}

fn stamp(row: &Row) -> Stamp {
    Stamp { seq: row.seq, stream_seq: row.stream_seq, hash: row.hash }
}

fn by_request(rows: &[Row]) -> BTreeMap<IdemKey, Vec<&Row>> {
    let mut requests: BTreeMap<IdemKey, Vec<&Row>> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.kind.as_str() != hold::ERASED) {
        requests.entry(row.idem_key.clone().expect("every request has a key")).or_default().push(row);
    }
    requests
}

/// A request is there with all its rows, side by side, and their blobs are there or have a receipt.
async fn check_whole(ledger: &dyn Ledger, name: &IdemKey, found: &[&Row], receipts: &BTreeMap<Digest, u64>) {
    let asked = request(name.as_str());
    assert_eq!(found.len(), asked.rows.len(), "{name} is torn");
    for (at, (row, asked)) in found.iter().zip(&asked.rows).enumerate() {
        assert_eq!(row.seq, found[0].seq + at as u64);
        assert_eq!(row.payload_hash, asked.payload_hash());
        for blob in &asked.draft().blobs {
            let stored = ledger.blob(&admin(), blob.digest()).await.unwrap();
            let expected = match receipts.get(&blob.digest()) {
                Some(receipt) => Blob::Erased { receipt: *receipt },
                None => Blob::Present(blob.bytes().to_vec()),
            };
            assert!(stored == expected, "{name}: a blob is torn");
        }
    }
}

/// The other writer: an erasure is durable, and a reader keeps the bytes in the log, or in the file, until the end.
#[test]
fn eraser() {
    let Some(arguments) = asked() else { return };
    let [root, written] = arguments.as_slice() else { panic!("root, and how it is written") };
    block_on(async {
        let mut ledger = open(Path::new(root));
        let mut naming = draft("run:1", "source.read", "a");
        naming.blobs = vec![blob(&CANARY.repeat(500))];
        ledger.append(&admin(), batch(vec![naming.seal().unwrap()])).await.unwrap();
        if written == "in the file" {
            // Whoever closes a ledger copies its log into the file.
            drop(ledger);
            ledger = open(Path::new(root));
        }
        let ledger = Arc::new(ledger);
        let (begun, has_begun) = tokio::sync::oneshot::channel();
        let (reader, mut begun) = (Arc::clone(&ledger), Some(begun));
        let reading = tokio::spawn(async move {
            let visitor = move |_: u64, _: Result<RowRef<'_>, String>| {
                begun.take().unwrap().send(()).unwrap();
                // The parent never says anything; it kills.
                drop(std::io::stdin().lock().lines().next());
                ControlFlow::Break(())
            };
            reader.scan(&admin(), 0, Box::new(visitor)).await.unwrap();
        });
        has_begun.await.unwrap();
        let (eraser, digest) = (Arc::clone(&ledger), Digest::of(&CANARY.repeat(500)));
        let erasing = tokio::spawn(async move { eraser.erase(&admin(), digest, receipt(digest)).await });
        let mut watch = ledger.watch(&admin()).await.unwrap();
        watch.wait_for(|last| *last == 2).await.unwrap();
        say("the receipt is durable");
        reading.await.unwrap();
        erasing.await.unwrap().unwrap();
    });
}

const CANARY: &[u8] = b"<the canary that was erased>";

/// The process is killed when the erasure is committed and the bytes are not yet overwritten.
#[test]
fn what_was_erased_before_a_crash_is_purged_after_it() {
    for written in ["in the log", "in the file"] {
        let scratch = Scratch::new();
        let mut child = Another::start("crash::eraser", &[scratch.path().to_str().unwrap(), written]);
        assert_eq!(child.line().unwrap(), "the receipt is durable");
        child.child.kill().unwrap();
        child.child.wait().unwrap();
        let canary = || -> Vec<PathBuf> {
            let holds = |bytes: &[u8]| bytes.windows(CANARY.len()).any(|window| window == CANARY);
            files(scratch.path())
                .into_iter()
                .filter(|(_, bytes)| holds(bytes))
                .map(|(path, _)| path)
                .collect()
        };
        assert!(!canary().is_empty(), "{written}: it was killed before the bytes were purged");
        block_on(async {
            let (ledger, digest) = (open(scratch.path()), Digest::of(&CANARY.repeat(500)));
            let found = ledger.blob(&admin(), digest).await.unwrap();
            assert_eq!(found, Blob::Erased { receipt: 2 }, "nobody is given the bytes");
            ledger.append(&admin(), batch(vec![row("run:1", "next")])).await.unwrap();
            assert_eq!(canary(), [""; 0].map(PathBuf::from), "{written}");
            assert!(ledger.verify(&admin(), Vec::new()).await.unwrap().is_sound());
        });
    }
}
