//! Kills a writer again and again: what it acknowledged is there, nothing is torn, and whatever was on its way can
//! be sent again without being appended twice.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod support;

use countersign_record::digest::Digest;
use countersign_record::id::IdemKey;
use countersign_record::json::Object;
use countersign_record::row::Row;
use countersign_runtime::ports::ledger::{Appended, Batch, Blob, Ledger, Stamp};
use countersign_testkit::drafts::{batch, blob, draft, key};
use countersign_testkit::random::{Random, Seed};
use countersign_testkit::scratch::Scratch;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use support::{Another, admin, asked, block_on, open, say, scanned};

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
            draft.blobs = vec![blob(format!("{name}/{at}").repeat(random.index(1..2_000)).as_bytes())];
        }
        draft.seal().unwrap()
    });
    Batch { idem_key: Some(key(name)), ..batch(rows.collect()) }
}

/// The writer, in a process of its own: appends from several tasks and says what was acknowledged.
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

#[test]
fn nothing_acknowledged_is_lost_and_nothing_is_torn() {
    let seed = Seed::of("crash", 61);
    let mut random = seed.random();
    let scratch = Scratch::new();
    let mut acknowledged: BTreeMap<String, String> = BTreeMap::new();
    let (start, mut rounds) = (Instant::now(), 0);
    while rounds < ROUNDS && (rounds < ROUNDS / 2 || start.elapsed() < TIME_MAX) {
        let mut child = Another::start("child", &[scratch.path().to_str().unwrap(), &rounds.to_string()]);
        // Killed after so many acknowledgements, wherever the writer is then.
        for _ in 0..random.within(0..60) {
            let line = child.line().expect("the child goes on until it is killed");
            note(&mut acknowledged, &line);
        }
        child.child.kill().unwrap();
        child.child.wait().unwrap();
        // What it had said before it died was acknowledged too; the last line may be cut.
        while let Some(line) = child.line() {
            if line.rsplit_once(':').is_some_and(|(_, hash)| Digest::try_from(hash).is_ok()) {
                note(&mut acknowledged, &line);
            }
        }
        check(scratch.path(), rounds, &mut acknowledged);
        rounds += 1;
    }
    assert!(!acknowledged.is_empty());
}

fn note(acknowledged: &mut BTreeMap<String, String>, line: &str) {
    let (name, stamps) = line.split_once(' ').unwrap();
    acknowledged.insert(name.to_owned(), stamps.to_owned());
}

/// Looks at the ledger after a crash, and sends again what may or may not have been appended.
fn check(root: &Path, round: usize, acknowledged: &mut BTreeMap<String, String>) {
    block_on(async {
        let ledger = open(root);
        let Ok(head) = ledger.head(&admin()).await else {
            assert!(acknowledged.is_empty(), "the ledger is gone");
            return;
        };
        let report = ledger.verify(&admin(), Vec::new()).await.unwrap();
        assert_eq!((report.findings, report.head), (Vec::new(), head));
        let rows = scanned(&ledger, &admin()).await;
        let requests = by_request(&rows);
        for (name, stamps) in acknowledged.iter() {
            let found =
                requests.get(&key(name)).unwrap_or_else(|| panic!("{name} was acknowledged and is gone"));
            let found: Vec<String> = found.iter().map(|row| format!("{}:{}", row.seq, row.hash)).collect();
            assert_eq!(found.join(","), *stamps, "{name}");
        }
        for (name, found) in &requests {
            check_whole(&ledger, name, found).await;
        }
        // The next request of each task was on its way or was never sent; both are sent again.
        for task in 0..TASKS {
            let next =
                (0..).find(|number| !acknowledged.contains_key(&format!("{round}-{task}-{number}"))).unwrap();
            let name = format!("{round}-{task}-{next}");
            let was_there = requests.get(&key(&name));
            let appended = ledger.append(&admin(), request(&name)).await.unwrap();
            assert_eq!(appended.repeated, was_there.is_some(), "{name} is appended exactly once");
            if let Some(rows) = was_there {
                let rows: Vec<Stamp> = rows.iter().map(|row| stamp(row)).collect();
                assert_eq!(appended.rows, rows);
            }
            acknowledged.insert(name, stamps(&appended));
        }
    });
}

fn stamp(row: &Row) -> Stamp {
    Stamp { seq: row.seq, stream_seq: row.stream_seq, hash: row.hash }
}

fn by_request(rows: &[Row]) -> BTreeMap<IdemKey, Vec<&Row>> {
    let mut requests: BTreeMap<IdemKey, Vec<&Row>> = BTreeMap::new();
    for row in rows {
        requests.entry(row.idem_key.clone().expect("every request has a key")).or_default().push(row);
    }
    requests
}

/// A request is there with all its rows, side by side, and their blobs.
async fn check_whole(ledger: &dyn Ledger, name: &IdemKey, found: &[&Row]) {
    let asked = request(name.as_str());
    assert_eq!(found.len(), asked.rows.len(), "{name} is torn");
    for (at, (row, asked)) in found.iter().zip(&asked.rows).enumerate() {
        assert_eq!(row.seq, found[0].seq + at as u64);
        assert_eq!(row.payload_hash, asked.payload_hash());
        for blob in &asked.draft().blobs {
            let stored = ledger.blob(&admin(), blob.digest()).await.unwrap();
            assert_eq!(stored, Blob::Present(blob.bytes().to_vec()));
        }
    }
}
