//! Durable appends against bare SQLite: the same durability, the same batch size, the same columns, no checks.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a bench fails by panicking")]

mod rows;

use countersign_record::row::Draft;
use countersign_runtime::ports::ledger::Journal;
use countersign_testkit::bench::{Bar, Bench, Side};
use rows::{Scratch, access, batch, draft, open, row};
use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

const TASKS: usize = 32;
const PAYLOAD: usize = 300;

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    let scratch = Scratch::new("append");
    let mut bench = Bench::default();

    let fsync = Side::timed("append + fdatasync of 4 KiB", |times| probe(&scratch, times));
    let one_row = Side::timed("bare SQLite, 1 row a commit", |times| bare(&scratch, "probe", times, 1));
    bench.compare("the machine's fsync probe", one_row, fsync, Bar::None);

    let ledger = Arc::new(open(&scratch.0.join("single")));
    let single = |times| runtime.block_on(append_alone(&ledger, times));
    let peer = |times| bare(&scratch, "single", times, 1);
    let (single, peer) = (Side::timed("countersign", single), Side::timed("bare SQLite", peer));
    bench.compare("durable appends, 1 appender, 1 row each (rows)", single, peer, Bar::AtLeast(1.0 / 1.3));

    let ledger = Arc::new(open(&scratch.0.join("many")));
    let many = |times| runtime.block_on(append_together(&ledger, times));
    let peer = |times| bare(&scratch, "many", times, TASKS as u64);
    let (many, peer) = (Side::timed("countersign", many), Side::timed("bare SQLite, 32 rows a commit", peer));
    bench.compare("durable appends, 32 tasks, 1 row each (rows)", many, peer, Bar::AtLeast(0.7));
    // Where the difference comes from: the same 32 tasks in front of bare SQLite, handed over through a channel.
    let ledger = Arc::new(open(&scratch.0.join("handed")));
    let many = |times| runtime.block_on(append_together(&ledger, times));
    let peer = |times| runtime.block_on(bare_behind_a_channel(&scratch, times));
    let (many, peer) = (Side::timed("countersign", many), Side::timed("bare SQLite behind a channel", peer));
    bench.compare(
        "durable appends, 32 tasks, against as many in front of bare SQLite (rows)",
        many,
        peer,
        Bar::None,
    );
    // The limit that handing over between threads sets on this machine, whatever stands behind the channel.
    let handed = |times| runtime.block_on(bare_behind_a_channel(&scratch, times));
    let peer = |times| bare(&scratch, "limit", times, TASKS as u64);
    let (handed, peer) =
        (Side::timed("bare SQLite behind a channel", handed), Side::timed("bare SQLite", peer));
    bench.compare("the limit of 32 tasks in front of one writer (rows)", handed, peer, Bar::None);
    bench.finish();
}

fn probe(scratch: &Scratch, times: u64) -> Duration {
    let path = scratch.0.join("probe");
    let mut file = std::fs::OpenOptions::new().create(true).append(true).open(&path).unwrap();
    let start = Instant::now();
    for _ in 0..times {
        file.write_all(&[7; 4096]).unwrap();
        file.sync_data().unwrap();
    }
    let took = start.elapsed();
    std::fs::remove_file(path).unwrap();
    took
}

async fn append_alone(ledger: &Arc<countersign_store::Sqlite>, times: u64) -> Duration {
    let access = access();
    let start = Instant::now();
    for number in 0..usize::try_from(times).unwrap() {
        ledger.append(&access, batch(vec![row(0, number, PAYLOAD)])).await.unwrap();
    }
    start.elapsed()
}

/// 32 tasks, each with one row on its way at a time; `times` rows in all. What a caller has to say is there
/// before the clock starts; making its canonical bytes and hashes is part of appending.
async fn append_together(ledger: &Arc<countersign_store::Sqlite>, times: u64) -> Duration {
    let each = usize::try_from(times).unwrap() / TASKS + 1;
    let said: Vec<Vec<Draft>> =
        (0..TASKS).map(|task| (0..each).map(|number| draft(task, number, PAYLOAD)).collect()).collect();
    let start = Instant::now();
    let tasks: Vec<_> = said
        .into_iter()
        .map(|drafts| {
            let ledger = Arc::clone(ledger);
            tokio::spawn(async move {
                let access = access();
                for draft in drafts {
                    ledger.append(&access, batch(vec![draft.seal().unwrap()])).await.unwrap();
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    // Slightly more rows than asked for were appended; the time is scaled to what was asked.
    start.elapsed().mul_f64(times as f64 / (each * TASKS) as f64)
}

/// One table, no index.
fn open_bare(scratch: &Scratch, name: &str) -> rusqlite::Connection {
    let connection = rusqlite::Connection::open(scratch.0.join(format!("bare-{name}.sqlite"))).unwrap();
    connection
        .execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
             CREATE TABLE IF NOT EXISTS rows (
                 seq INTEGER PRIMARY KEY, stream INTEGER, stream_seq INTEGER, kind INTEGER, version INTEGER, at TEXT,
                 actor TEXT, proof INTEGER, cause INTEGER, idem_key TEXT, data_class INTEGER, taint INTEGER,
                 payload BLOB, payload_hash BLOB, prev_hash BLOB, hash BLOB) STRICT;",
        )
        .unwrap();
    connection
}

const INSERT: &str =
    "INSERT INTO rows (stream, stream_seq, kind, version, at, actor, proof, data_class, taint, payload,
    payload_hash, prev_hash, hash) VALUES (?, ?, 1, 1, ?, 'bench', 0, 1, 4, ?, ?, ?, ?)";

fn insert(statement: &mut rusqlite::CachedStatement<'_>, stream: i64, number: i64, payload: &[u8]) {
    let (at, hash) = ("2025-12-10T10:00:00.123456Z", [7_u8; 32]);
    statement.execute(rusqlite::params![stream, number, at, payload, hash, hash, hash]).unwrap();
}

/// 32 tasks hand finished payloads to a thread that inserts and commits what is there, and is all there is.
async fn bare_behind_a_channel(scratch: &Scratch, times: u64) -> Duration {
    type Asked = (Vec<u8>, tokio::sync::oneshot::Sender<()>);
    let connection = open_bare(scratch, "channel");
    let (send, mut asked) = tokio::sync::mpsc::channel::<Asked>(1_024);
    let writer = std::thread::spawn(move || {
        while let Some(first) = asked.blocking_recv() {
            connection.execute_batch("BEGIN IMMEDIATE").unwrap();
            let mut statement = connection.prepare_cached(INSERT).unwrap();
            let mut answered = Vec::new();
            let mut next = Some(first);
            // As the ledger does: those who were just answered are waited for.
            let start = Instant::now();
            while answered.len() < TASKS && start.elapsed() < Duration::from_micros(200) {
                match next.take().or_else(|| asked.try_recv().ok()) {
                    Some((payload, reply)) => {
                        insert(&mut statement, 1, 1, &payload);
                        answered.push(reply);
                    }
                    None => std::thread::yield_now(),
                }
            }
            drop(statement);
            connection.execute_batch("COMMIT").unwrap();
            answered.into_iter().for_each(|reply| reply.send(()).unwrap());
        }
    });
    let each = usize::try_from(times).unwrap() / TASKS + 1;
    let payload = row(0, 0, PAYLOAD).payload().to_vec();
    let start = Instant::now();
    let tasks: Vec<_> = (0..TASKS)
        .map(|_| {
            let (send, payload) = (send.clone(), payload.clone());
            tokio::spawn(async move {
                for _ in 0..each {
                    let (reply, answer) = tokio::sync::oneshot::channel();
                    send.send((payload.clone(), reply)).await.unwrap();
                    answer.await.unwrap();
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    let took = start.elapsed().mul_f64(times as f64 / (each * TASKS) as f64);
    drop(send);
    writer.join().unwrap();
    took
}

/// Inserts finished rows: nothing is hashed, checked or made durable twice.
fn bare(scratch: &Scratch, name: &str, times: u64, rows_per_commit: u64) -> Duration {
    let connection = open_bare(scratch, name);
    let sealed = row(0, 0, PAYLOAD);
    let start = Instant::now();
    let mut left = times;
    while left > 0 {
        let rows = left.min(rows_per_commit);
        connection.execute_batch("BEGIN IMMEDIATE").unwrap();
        let mut statement = connection.prepare_cached(INSERT).unwrap();
        for at in 0..rows {
            insert(&mut statement, (at % TASKS as u64).cast_signed(), left.cast_signed(), sealed.payload());
        }
        drop(statement);
        connection.execute_batch("COMMIT").unwrap();
        left -= rows;
    }
    start.elapsed()
}
