//! Requests that wait together share one commit, and each gets its own answer.
//! Owns: counting the commits in the log. Must not: depend on how fast anything is.

use crate::support::{admin, block_on, database, open, scanned};
use countersign_record::code::Code;
use countersign_record::row::{Cause, Sealed};
use countersign_runtime::ports::Answer;
use countersign_runtime::ports::ledger::{Appended, Batch, Error, Journal, Ledger};
use countersign_store::Sqlite;
use countersign_testkit::drafts::{batch, draft, key, row, stream};
use countersign_testkit::scratch::Scratch;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, mpsc};
use std::task::{Context, Poll, Waker};

/// The commits in the log. A frame has 24 bytes of header and a page; the second number of the header is not 0 in
/// the last frame of a commit, the third and fourth are those of the log unless the frame is an old log's.
fn commits(database: &Path) -> usize {
    let log = std::fs::read(database.with_file_name("ledger.sqlite-wal")).unwrap();
    let number = |at: usize| u32::from_be_bytes(log[at..at + 4].try_into().unwrap());
    let page = usize::try_from(number(8)).unwrap();
    assert!(page >= 512, "this is a log");
    let frames = (32..log.len()).step_by(24 + page);
    let of_this_log = frames.take_while(|at| log[at + 8..at + 16] == log[16..24]);
    of_this_log.filter(|at| number(at + 4) != 0).count()
}

/// Sends the requests so that they all wait when the writer takes the first: it is busy with an import until then.
async fn together(ledger: &Arc<Sqlite>, requests: Vec<Batch>) -> Vec<Result<Appended, Error>> {
    let (begun, has_begun) = tokio::sync::oneshot::channel();
    let (release, released) = mpsc::channel::<()>();
    let mut begun = Some(begun);
    let pieces = std::iter::from_fn(move || {
        begun.take().unwrap().send(()).unwrap();
        released.recv().unwrap();
        Some(Err(Error::Archive { why: "it was only to keep the writer busy".into() }))
    });
    let importer = Arc::clone(ledger);
    let import = tokio::spawn(async move { importer.restore(&admin(), Box::new(pieces)).await });
    has_begun.await.unwrap();
    let access = admin();
    let mut waiting: Vec<Answer<'_, _>> = Vec::new();
    for request in requests {
        // A task may only do so much before it lets others run; here everything is to happen at once.
        let mut answer: Answer<'_, _> = Box::pin(tokio::task::unconstrained(ledger.append(&access, request)));
        let polled = answer.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        assert!(matches!(polled, Poll::Pending), "the writer is busy");
        waiting.push(answer);
    }
    release.send(()).unwrap();
    assert_eq!(import.await.unwrap().unwrap_err().code(), Code::ArchiveInvalid);
    let mut answers = Vec::new();
    for answer in waiting {
        answers.push(answer.await);
    }
    answers
}

#[test]
fn requests_that_wait_share_one_commit() {
    let scratch = Scratch::new();
    block_on(async {
        let ledger = Arc::new(open(scratch.path()));
        let requests = (0..500).map(|at| batch(vec![row("run:1", &at.to_string()), row("run:2", "b")]));
        let answers = together(&ledger, requests.collect()).await;
        for (at, answer) in answers.into_iter().enumerate() {
            let places: Vec<u64> = answer.unwrap().rows.iter().map(|stamp| stamp.seq).collect();
            assert_eq!(places, [2 * at as u64 + 1, 2 * at as u64 + 2], "in the order in which they came");
        }
        assert_eq!(commits(&database(scratch.path())), 1);
        // And the count can tell: requests that come one after the other have a commit each.
        for more in 1..4 {
            ledger.append(&admin(), batch(vec![row("run:1", "alone")])).await.unwrap();
            assert_eq!(commits(&database(scratch.path())), 1 + more);
        }
    });
}

fn expecting(rows: Vec<Sealed>, end: u64) -> Batch {
    Batch { expected: BTreeMap::from([(stream("run:1"), end)]), ..batch(rows) }
}

fn keyed(name: &str, text: &str) -> Batch {
    Batch { idem_key: Some(key(name)), ..batch(vec![row("run:2", text)]) }
}

fn caused(by: u64) -> Batch {
    let mut draft = draft("run:2", "note.taken", "effect");
    draft.cause = Some(Cause::Row(by));
    batch(vec![draft.seal().unwrap()])
}

/// One group, in which requests are refused in every way that only the writer can tell, between others.
#[test]
fn a_refusal_in_a_group_touches_no_neighbour() {
    let scratch = Scratch::new();
    block_on(async {
        let ledger = Arc::new(open(scratch.path()));
        let (conflict, bad_cause) = (Err(Code::LedgerConflict), Err(Code::LedgerBatch));
        let group = [
            (expecting(vec![row("run:1", "no")], 1), conflict.clone()),
            (expecting(vec![row("run:1", "first")], 0), Ok(vec![1])),
            (expecting(vec![row("run:1", "no"), row("run:3", "no")], 0), conflict.clone()),
            (keyed("k", "a"), Ok(vec![2])),
            (keyed("k", "b"), Err(Code::LedgerIdemMismatch)),
            (keyed("k", "a"), Ok(vec![2])),
            (caused(3), bad_cause.clone()),
            (caused(2), Ok(vec![3])),
            (caused(0), bad_cause.clone()),
            (caused(u64::MAX), bad_cause),
            (expecting(vec![row("run:1", "second"), row("run:3", "new")], 1), Ok(vec![4, 5])),
            (batch(vec![row("run:3", "last")]), Ok(vec![6])),
            (expecting(vec![row("run:3", "no")], 3), conflict),
        ];
        let (requests, expected): (Vec<Batch>, Vec<Result<Vec<u64>, Code>>) = group.into_iter().unzip();
        let answers = together(&ledger, requests).await;
        let told: Vec<Result<Vec<u64>, Code>> = answers
            .into_iter()
            .map(|answer| match answer {
                Ok(appended) => Ok(appended.rows.iter().map(|stamp| stamp.seq).collect()),
                Err(error) => Err(error.code()),
            })
            .collect();
        assert_eq!(told, expected);
        assert_eq!(commits(&database(scratch.path())), 1);
        let rows = scanned(&*ledger, &admin()).await;
        let places: Vec<(&str, u64)> = rows.iter().map(|row| (row.stream.as_str(), row.stream_seq)).collect();
        assert_eq!(
            places,
            [("run:1", 1), ("run:2", 1), ("run:2", 2), ("run:1", 2), ("run:3", 1), ("run:3", 2)]
        );
        assert!(ledger.verify(&admin(), Vec::new()).await.unwrap().is_sound());
    });
}

/// A group of nothing but refusals leaves no ledger, and none of them holds the next one up.
#[test]
fn a_group_of_refusals_leaves_nothing() {
    let scratch = Scratch::new();
    block_on(async {
        let ledger = Arc::new(open(scratch.path()));
        let requests = (0..20).map(|_| expecting(vec![row("run:1", "no")], 7)).collect();
        for answer in together(&ledger, requests).await {
            assert_eq!(answer.unwrap_err().code(), Code::LedgerConflict);
        }
        assert_eq!(ledger.head(&admin()).await.unwrap_err().code(), Code::LedgerMissing);
        assert!(!database(scratch.path()).exists());
        ledger.append(&admin(), expecting(vec![row("run:1", "yes")], 0)).await.unwrap();
    });
}
