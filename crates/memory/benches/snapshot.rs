//! Opening a snapshot of 100,000 x 384 against 10 ms: the head is checked, nothing is copied.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a bench fails by panicking")]

use countersign_memory::snapshot::{self, Snapshot, Table};
use countersign_record::json::{Json, Object};
use countersign_testkit::bench::{Bar, Bench, Side};
use countersign_testkit::scratch::Scratch;
use std::fs::File;
use std::time::{Duration, Instant};

const ROWS: usize = 100_000;
const DIMENSION: usize = 384;
const OPEN_MAX: Duration = Duration::from_millis(10);
const TIMES: u32 = 200;

fn main() {
    let ids: Vec<String> = (0..ROWS).map(|row| format!("turn-{row:06}")).collect();
    let meta = vec![Json::Object(Object::from([("source", "user".into())])); ROWS];
    let vectors: Vec<f32> = (0..ROWS * DIMENSION).map(|at| (at % 1_009) as f32 / 1_009.0).collect();
    let table = Table { ids: &ids, meta: &meta, vectors: &vectors, dimension: DIMENSION };
    let scratch = Scratch::new();
    let path = scratch.path().join("history_store.pkl");
    let digest = snapshot::write(&table, &mut File::create(&path).unwrap()).unwrap();
    let mut bench = Bench::default();

    let start = Instant::now();
    for _ in 0..TIMES {
        let snapshot = Snapshot::open(&path).unwrap();
        assert_eq!((snapshot.count(), snapshot.vectors().len()), (ROWS, vectors.len()));
    }
    let took = start.elapsed() / TIMES;
    let ours = format!("countersign {:.3} ms", took.as_secs_f64() * 1e3);
    let ratio = OPEN_MAX.as_secs_f64() / took.as_secs_f64();
    bench.print("snapshot of 100,000 x 384: open", &ours, "at most 10 ms", ratio, Bar::AtLeast(1.0));

    let snapshot = Snapshot::open(&path).unwrap();
    assert!(snapshot.vectors() == vectors.as_slice(), "the vectors are those that were written");
    snapshot.verify(digest).unwrap();
    let labels = Side::new("labels", || assert_eq!(snapshot.labels().unwrap().ids.len(), ROWS));
    let hash = Side::new("SHA-256 of the file", || snapshot.verify(digest).unwrap());
    bench.compare("snapshot of 100,000 x 384: labels decoded, whole file verified", labels, hash, Bar::None);
    bench.finish();
}
