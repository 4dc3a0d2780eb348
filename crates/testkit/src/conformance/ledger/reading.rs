//! Reading: pages, walks, old rows, snapshots.
//! Owns: its cases. Must not: append but to have something to read.

use super::{Bench, Case, all_of, everything, operator, scanned, viewer};
use crate::drafts::{batch, draft, kind, random_batch, random_draft, row, stream};
use crate::random::{Random, Seed};
use countersign_record::chain::Head;
use countersign_record::code::Code;
use countersign_record::digest::Digest;
use countersign_record::id::FoldId;
use countersign_record::json::{self, Json, Object};
use countersign_record::row::Row;
use countersign_runtime::ports::ledger::{Glance, Ledger, PAGE_ROWS_MAX, Query, Select, Snapshot};
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};

pub(super) const CASES: &[Case] = &[
    ("a page holds the rows that were asked for", |bench| Box::pin(pages(bench))),
    ("pages have limits", |bench| Box::pin(page_limits(bench))),
    ("a walk starts and stops where it should", |bench| Box::pin(walks(bench))),
    ("a glance shows what a walk does", |bench| Box::pin(glances(bench))),
    ("old rows are read in today's shape", |bench| Box::pin(upcast(bench))),
    ("a snapshot of another history is not given back", |bench| Box::pin(snapshots(bench))),
    ("appends do not disturb a reader", |bench| Box::pin(undisturbed(bench))),
    ("pages are whole while others append", |bench| Box::pin(whole_pages(bench))),
];

async fn filled(bench: &Bench, random: &mut Random, batches: usize) {
    let mut before = 0;
    for _ in 0..batches {
        let appended = bench.append(random_batch(random, before, 5)).await.unwrap();
        before += appended.rows.len() as u64;
    }
}

/// Any query gives what a filter over all rows gives.
async fn pages(bench: Bench) {
    let seed = Seed::of("pages", 21);
    let mut random = seed.random();
    filled(&bench, &mut random, 40).await;
    // Enough rows that a store which finds them by an index has one.
    for _ in 0..8 {
        let rows = (0..300).map(|_| random_draft(&mut random, 1, 0).seal().unwrap()).collect();
        bench.append(batch(rows)).await.unwrap();
    }
    let all = bench.all().await;
    assert_eq!(all.len() as u64, bench.head().await.seq);
    for _ in 0..200 {
        let some_row = random.pick(&all).clone();
        let select = match random.within(0..5) {
            0 => Select::All,
            1 => Select::Stream(some_row.stream),
            2 => Select::Kind(some_row.kind),
            3 => Select::Stream(stream("run:unknown")),
            _ => Select::Kind(kind("unknown")),
        };
        let after = random.within(0..all.len() as u64 + 3);
        let up_to = if random.once_in(3) { u64::MAX } else { random.within(0..all.len() as u64 + 3) };
        let query = Query { select, after, up_to, limit: random.index(1..40) };
        let expected: Vec<Row> = all.iter().filter(|row| matches(&query, row)).cloned().collect();
        let page = bench.ledger().read(&viewer(), query.clone()).await.unwrap();
        assert_eq!(page.rows, expected[..expected.len().min(query.limit)], "{query:?}");
        match page.next {
            Some(next) => assert_eq!(Some(next), page.rows.last().map(|row| row.seq)),
            None => assert!(expected.len() <= query.limit, "{query:?} ends too early"),
        }
    }
}

fn matches(query: &Query, row: &Row) -> bool {
    let selected = match &query.select {
        Select::All => true,
        Select::Stream(stream) => row.stream == *stream,
        Select::Kind(kind) => row.kind == *kind,
    };
    selected && row.seq > query.after && row.seq <= query.up_to
}

async fn page_limits(bench: Bench) {
    bench.append(batch(vec![row("run:1", "a"); PAGE_ROWS_MAX + 5])).await.unwrap();
    let page = bench.ledger().read(&viewer(), everything()).await.unwrap();
    assert_eq!((page.rows.len(), page.next), (PAGE_ROWS_MAX, Some(PAGE_ROWS_MAX as u64)));
    let none = Query { limit: 0, ..everything() };
    let page = bench.ledger().read(&viewer(), none).await.unwrap();
    assert_eq!((page.rows.len(), page.next), (1, Some(1)), "a page of nothing would never end");
    assert_eq!(all_of(&*bench.ledger(), &viewer()).await.len(), PAGE_ROWS_MAX + 5);
}

async fn walks(bench: Bench) {
    let seed = Seed::of("walks", 22);
    filled(&bench, &mut seed.random(), 10).await;
    let all = scanned(&*bench.ledger(), &viewer(), 0).await;
    for after in 0..all.len() + 2 {
        let from = all.get(after..).unwrap_or_default();
        assert_eq!(scanned(&*bench.ledger(), &viewer(), after as u64).await, from);
    }
    let seen = Arc::new(Mutex::new(0));
    let count = Arc::clone(&seen);
    let stopping = move |_: u64, _: Result<countersign_record::row::RowRef<'_>, String>| {
        *count.lock().unwrap() += 1;
        ControlFlow::Break(())
    };
    bench.ledger().scan(&viewer(), 0, Box::new(stopping)).await.unwrap();
    assert_eq!(*seen.lock().unwrap(), 1);
}

/// A glance shows of each row what a walk shows of it.
async fn glances(bench: Bench) {
    let seed = Seed::of("glances", 23);
    filled(&bench, &mut seed.random(), 10).await;
    let all = scanned(&*bench.ledger(), &viewer(), 0).await;
    for after in [0, 1, all.len() / 2, all.len(), all.len() + 1] {
        for most in [1, all.len()] {
            let (seen, mut left) = (Arc::new(Mutex::new(Vec::new())), most);
            let see = Arc::clone(&seen);
            let glancer = move |seq: u64, row: Result<Glance<'_>, String>| {
                let row = row.unwrap();
                let stream = (row.stream.to_owned(), row.stream_seq);
                let (kind, at) = (row.kind.to_owned(), row.at.to_owned());
                see.lock().unwrap().push((seq, row.seq, stream, kind, at, json::parse(row.payload).unwrap()));
                left -= 1;
                if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            };
            bench.ledger().glance(&viewer(), after as u64, Box::new(glancer)).await.unwrap();
            let told = |row: &Row| {
                let (stream, kind) =
                    ((row.stream.as_str().to_owned(), row.stream_seq), row.kind.as_str().to_owned());
                (row.seq, row.seq, stream, kind, row.at.as_str().to_owned(), row.payload.clone())
            };
            let expected: Vec<_> = all.iter().skip(after).take(most).map(told).collect();
            assert_eq!(*seen.lock().unwrap(), expected);
        }
    }
    let streams = all.iter().map(|row| Select::Stream(row.stream.clone()));
    let kinds = all.iter().map(|row| Select::Kind(row.kind.clone()));
    let nothing = [Select::All, Select::Stream("run:none".try_into().unwrap())];
    for select in streams.chain(kinds).chain(nothing) {
        for up_to in [0, 1, all.len() as u64 / 2, all.len() as u64, u64::MAX] {
            for most in [1, all.len()] {
                glances_at(&bench, &all, (select.clone(), up_to, most)).await;
            }
        }
    }
}

/// A glance at a selection shows the rows that a walk shows and that are chosen.
async fn glances_at(bench: &Bench, all: &[Row], (select, up_to, most): (Select, u64, usize)) {
    let (seen, mut left) = (Arc::new(Mutex::new(Vec::new())), most);
    let see = Arc::clone(&seen);
    let glancer = move |seq: u64, row: Result<Glance<'_>, String>| {
        see.lock().unwrap().push((seq, row.unwrap().stream.to_owned()));
        left -= 1;
        if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    bench.ledger().glance_at(&viewer(), select.clone(), up_to, Box::new(glancer)).await.unwrap();
    let is_chosen = |row: &&Row| match &select {
        Select::All => true,
        Select::Kind(kind) => row.kind == *kind,
        Select::Stream(stream) => row.stream == *stream,
    };
    let chosen = all.iter().filter(is_chosen).filter(|row| row.seq <= up_to).take(most);
    let expected: Vec<_> = chosen.map(|row| (row.seq, row.stream.as_str().to_owned())).collect();
    assert_eq!(*seen.lock().unwrap(), expected, "{select:?} up to {up_to}");
}

async fn upcast(bench: Bench) {
    let note = |version: u32| {
        let mut draft = draft("run:1", "note.taken", Object::from([("text", "a".into())]));
        draft.version = version;
        draft.seal().unwrap()
    };
    bench.append(batch(vec![note(1), note(2), note(3)])).await.unwrap();
    let rows = bench.all().await;
    let today: [Json; 3] = [
        Object::from([("language", "en".into()), ("source", "unknown".into()), ("text", "a".into())]).into(),
        Object::from([("language", "en".into()), ("text", "a".into())]).into(),
        Object::from([("text", "a".into())]).into(),
    ];
    for (row, today) in rows.iter().zip(&today) {
        assert_eq!((&row.payload, row.version), (today, 3));
    }
    let stored = scanned(&*bench.ledger(), &viewer(), 0).await;
    assert_eq!(stored.iter().map(|row| row.version).collect::<Vec<_>>(), [1, 2, 3], "what is stored stays");
    assert_eq!(stored[0].hash, rows[0].hash);
    bench.append(batch(vec![note(4)])).await.unwrap();
    let refused = bench.ledger().read(&viewer(), Query { after: 3, ..everything() }).await.unwrap_err();
    assert_eq!(refused.code(), Code::RowTooNew);
    assert_eq!(scanned(&*bench.ledger(), &viewer(), 3).await[0].version, 4, "a walk shows what is stored");
    bench.assert_sound().await;
}

async fn snapshots(mut bench: Bench) {
    let (summary, other) = (FoldId::try_from("summary").unwrap(), FoldId::try_from("other").unwrap());
    bench.note("run:1", "a").await;
    let head = bench.head().await;
    let snapshot = Snapshot { head, bytes: b"state".to_vec() };
    let ledger = bench.ledger();
    assert_eq!(ledger.kept(&viewer(), &summary, 1).await.unwrap(), None);
    let refused = ledger.keep(&viewer(), &summary, 1, snapshot.clone()).await.unwrap_err();
    assert_eq!(refused.code(), Code::AccessRole, "what others will be shown is not a reader's to write");
    ledger.keep(&operator(), &summary, 1, snapshot.clone()).await.unwrap();
    drop(ledger);
    bench.note("run:1", "b").await;
    bench.harness.reopen();
    let ledger = bench.ledger();
    assert_eq!(ledger.kept(&viewer(), &summary, 1).await.unwrap(), Some(snapshot.clone()));
    assert_eq!(ledger.kept(&viewer(), &summary, 2).await.unwrap(), None, "another version");
    assert_eq!(ledger.kept(&viewer(), &other, 1).await.unwrap(), None, "another fold");
    let newer = Snapshot { head: bench.head().await, bytes: b"newer".to_vec() };
    ledger.keep(&operator(), &summary, 2, newer.clone()).await.unwrap();
    assert_eq!(ledger.kept(&viewer(), &summary, 2).await.unwrap(), Some(newer));
    for strange in [Head { seq: 2, hash: Digest::of(b"another history") }, Head { seq: 9, ..head }] {
        let strange = Snapshot { head: strange, bytes: Vec::new() };
        ledger.keep(&operator(), &other, 1, strange).await.unwrap();
        assert_eq!(ledger.kept(&viewer(), &other, 1).await.unwrap(), None, "another history");
    }
    assert_eq!(bench.head().await.seq, 2, "keeping is no append");
    bench.assert_sound().await;
}

/// A walk sees one state of the ledger, whatever is appended while it goes on.
async fn undisturbed(bench: Bench) {
    bench.append(batch(vec![row("run:1", "a"); 100])).await.unwrap();
    let (ledger, writer) = (bench.ledger(), bench.ledger());
    let (met, meet) = (Arc::new(std::sync::Barrier::new(2)), Arc::new(std::sync::Barrier::new(2)));
    let (in_walk, after_append) = (Arc::clone(&met), Arc::clone(&meet));
    let seen = Arc::new(Mutex::new(0));
    let count = Arc::clone(&seen);
    let walk = tokio::spawn(async move {
        let visitor = move |seq: u64, _: Result<countersign_record::row::RowRef<'_>, String>| {
            if seq == 50 {
                in_walk.wait();
                after_append.wait();
            }
            *count.lock().unwrap() += 1;
            ControlFlow::Continue(())
        };
        ledger.scan(&viewer(), 0, Box::new(visitor)).await
    });
    tokio::task::spawn_blocking(move || met.wait()).await.unwrap();
    writer.append(&operator(), batch(vec![row("run:1", "b"); 10])).await.unwrap();
    tokio::task::spawn_blocking(move || meet.wait()).await.unwrap();
    walk.await.unwrap().unwrap();
    assert_eq!(*seen.lock().unwrap(), 100);
    assert_eq!(bench.head().await.seq, 110);
}

/// One reading of a selection, page by page, while others append.
struct Reading {
    select: Select,
    /// How far was asked, and the last row when the last page was asked for: so far it must be whole.
    up_to: u64,
    last: u64,
    places: Vec<u64>,
}

async fn read_through(ledger: &dyn Ledger, random: &mut Random, select: Select) -> Reading {
    let head = ledger.head(&viewer()).await.unwrap().seq;
    let up_to = if random.once_in(2) { head } else { u64::MAX };
    let mut query = Query { select: select.clone(), after: 0, up_to, limit: 0 };
    let mut places = Vec::new();
    loop {
        query.limit = random.index(1..PAGE_ROWS_MAX + 1);
        let last = ledger.head(&viewer()).await.unwrap().seq;
        let page = ledger.read(&viewer(), query.clone()).await.unwrap();
        assert!(page.rows.iter().all(|row| matches(&query, row)), "{query:?}");
        places.extend(page.rows.iter().map(|row| row.seq));
        match page.next {
            Some(next) => query.after = next,
            None => return Reading { select, up_to, last, places },
        }
    }
}

/// Rows are found by stream and by kind, each once and in order, while so many are appended that a store which
/// indexes them in portions does so several times.
async fn whole_pages(bench: Bench) {
    const ROWS: u64 = 5_000;
    let seed = Seed::of("whole pages", 23);
    let mut random = seed.random();
    filled(&bench, &mut random, 10).await;
    let mut writers = Vec::new();
    for _ in 0..4 {
        let (ledger, mut random) = (bench.ledger(), random.fork());
        writers.push(tokio::spawn(async move {
            let mut written = 0;
            while written < ROWS / 4 {
                let count = *random.pick(&[1, 2, 7, 30, 120]);
                let rows = (0..count).map(|_| random_draft(&mut random, 1, 0).seal().unwrap()).collect();
                written += ledger.append(&operator(), batch(rows)).await.unwrap().rows.len() as u64;
            }
        }));
    }
    let some = bench.all().await;
    let streams = some.iter().map(|row| Select::Stream(row.stream.clone()));
    let selections: Vec<Select> =
        streams.chain(some.iter().map(|row| Select::Kind(row.kind.clone()))).collect();
    let mut readers = Vec::new();
    for _ in 0..3 {
        let (ledger, mut random, selections) = (bench.ledger(), random.fork(), selections.clone());
        readers.push(tokio::spawn(async move {
            let mut readings = Vec::new();
            loop {
                let is_last = ledger.head(&viewer()).await.unwrap().seq >= ROWS;
                let select = random.pick(&selections).clone();
                readings.push(read_through(&*ledger, &mut random, select).await);
                if is_last {
                    return readings;
                }
            }
        }));
    }
    for writer in writers {
        writer.await.unwrap();
    }
    let mut readings = Vec::new();
    for reader in readers {
        readings.extend(reader.await.unwrap());
    }
    assert!(readings.iter().any(|reading| reading.last < ROWS / 2), "nobody read while others appended");
    let all = bench.all().await;
    for Reading { select, up_to, last, places } in readings {
        let query = Query { select, up_to, ..everything() };
        let expected: Vec<u64> = all.iter().filter(|row| matches(&query, row)).map(|row| row.seq).collect();
        // What came after the last page was asked for may be there or not; what is there has no gap.
        assert_eq!(places, expected[..places.len().min(expected.len())], "{query:?}");
        assert!(expected.get(places.len()).is_none_or(|next| *next > last), "{query:?} ends too early");
    }
    bench.assert_sound().await;
}
